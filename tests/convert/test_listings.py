"""Code blocks: their languages, their lines, and what stands beside these."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="python">x</code></pre>', "python"),  # highlight.js
        ('<pre><code class="bash ">x</code></pre>', "bash"),
        ('<pre class="code python literal-block">x</pre>', "python"),  # docutils
        ('<pre><code class="makeup elixir">x</code></pre>', "elixir"),  # ExDoc
        ('<pre class="highlight ruby tab-ruby"><code>x</code></pre>', "ruby"),  # Slate
        ('<pre><code class="js hljs">x</code></pre>', "js"),
        ('<pre><code class="ruby syntaxhl">x</code></pre>', "ruby"),  # Redmine
        ('<pre data-syntaxhighlighter-params="brush: java; gutter: false">x</pre>', "java"),  # Confluence
        ('<pre syntax="Python">x</pre>', "python"),
        ('<div class="highlight hl-ipython3"><pre>x</pre></div>', "ipython3"),  # nbconvert
        ('<div class="highlight-ipynb hl-python"><pre>x</pre></div>', "python"),  # mkdocs-jupyter
        ('<div class="highlight-myst-ansi"><pre>x</pre></div>', ""),  # what a cell of MyST-NB has printed
        ('<pre class="prettyprint linenums">x</pre>', ""),
        ('<pre class="prettyprint linenums lang-js">x</pre>', "js"),
        ('<pre class="screen">x</pre>', ""),
        ('<div class="go"><pre>x</pre></div>', ""),
    ],
)
def test_language_of_code(html: str, language: str) -> None:
    """A class name that is a language needs no prefix on code; on what is around it, it may mean anything."""
    assert markdown(html) == f"```{language}\nx\n```\n"


def test_variants_of_code_are_separate_blocks() -> None:
    """Node's manual has a switch between two module systems, and both codes in one block."""
    html = (
        '<pre><input type="checkbox"><code class="language-js mjs">import a</code>'
        '<code class="language-js cjs">const b</code> <button>copy</button></pre>'
    )
    assert markdown(html) == "```js\nimport a\n```\n\n```js\nconst b\n```\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<pre><code>a</code><code>b</code></pre>", "a\nb"),
        ("<pre><code>a</code>\n<code>b</code></pre>", "a\nb"),
        ("<pre><code>a</code> <code>b</code></pre>", "a b"),
        ("<pre>use <code>a</code><code>b</code></pre>", "use ab"),
        ('<pre><span class="line">a</span><br><span class="line">b</span><br></pre>', "a\nb"),
        ('<pre><span style="display:block">a</span><span style="display: block;">b</span></pre>', "a\nb"),
    ],
)
def test_code_in_pieces_keeps_its_lines(html: str, expected: str) -> None:
    """Elements that each hold a line end it; others stand in one."""
    assert markdown(html) == f"```\n{expected}\n```\n"


def test_tooltips_in_code_are_removed() -> None:
    """Twoslash puts the type of each name beside it, into the code."""
    html = (
        '<pre class="shiki twoslash"><code><span class="line">const <span class="twoslash-hover">'
        '<span class="twoslash-popup-container"><code class="twoslash-popup-code">const t: 1</code></span>t</span> = 1'
        "</span></code></pre>"
    )
    assert markdown(html) == "```\nconst t = 1\n```\n"


@pytest.mark.parametrize(
    "html",
    [
        '<pre class="shiki has-diff"><code class="language-js"><span class="line">a()</span>\n'
        '<span class="line diff remove">old()</span>\n<span class="line diff add">new()</span></code></pre>',
        '<pre data-language="js"><code><div class="ec-line"><div class="code">a()</div></div>'
        '<div class="ec-line del"><div class="code">old()</div></div>'
        '<div class="ec-line ins"><div class="code">new()</div></div></code></pre>',
    ],
)
def test_changed_lines_keep_their_signs(html: str) -> None:
    """Lines that a style sheet marks as added or removed say so themselves."""
    assert markdown(html) == "```diff\n a()\n-old()\n+new()\n```\n"
    assert markdown(html.replace("remove", "add").replace("del", "ins")) == "```js\na()\nold()\nnew()\n```\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<pre><code><div><span aria-hidden="true">1</span><span>import os</span></div>'
            '<div><span aria-hidden="true">2</span><span>x</span></div></code></pre>',
            "import os\nx",
        ),
        (
            '<pre><div><span class="select-none">9</span>a</div><div><span class="select-none">10</span></div>'
            '<div><span class="select-none">11</span>c</div></pre>',
            "a\n\nc",
        ),
        ("<pre><div><i>1</i>a</div><div><i>2</i>b</div><div><i>3</i>c</div></pre>", "a\nb\nc"),
        ("<pre><div><i>1</i><div>a\n</div></div><div><i>2</i><div>b</div></div></pre>", "a\nb"),
        ("<pre><div><i>1</i> a</div><div><i>2</i> b</div></pre>", "1 a\n2 b"),
        ("<pre><div><i>1</i> a</div><div><i>2</i> b</div><div><i>4</i> c</div></pre>", "1 a\n2 b\n4 c"),
        ("<pre><div>1 a</div><div>2 b</div><div>3 c</div></pre>", "1 a\n2 b\n3 c"),
    ],
)
def test_line_numbers_are_removed(html: str, expected: str) -> None:
    """An element that begins each line with its number is a line number, whatever it is called."""
    assert markdown(html) == f"```\n{expected}\n```\n"


@pytest.mark.parametrize(
    "html",
    [
        '<div class="code-example"><div class="example-header"><span class="language-name">js</span><button>C</button>'
        '</div><pre class="brush: js"><code>x</code></pre></div>',
        '<div class="codeHeader"><span class="lang">JavaScript</span></div><pre><code class="lang-js">x</code></pre>',
    ],
)
def test_language_label_is_written_once(html: str) -> None:
    """What a page shows above its code stands in the Markdown's own place for it."""
    assert markdown(f"<p>a</p>{html}") == "a\n\n```js\nx\n```\n"


def test_other_labels_above_code_are_kept() -> None:
    """A file's name, another word, or a line of the text."""
    code = '<pre><code class="language-js">x</code></pre>'
    assert markdown(f'<div class="code-header">a.js</div>{code}') == "a.js\n\n```js\nx\n```\n"
    assert markdown(f"<p>js</p>{code}") == "js\n\n```js\nx\n```\n"


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li>The same in <span class=label>Python</span> <pre><code class=language-python>a</code></pre></li></ul>",
        "<div>Run it in <span class=code-word>Python</span><pre><code class=language-python>a</code></pre></div>",
        "<div class=intro>Python</div><pre><code class=language-python>a</code></pre>",
    ],
)
def test_word_in_a_sentence_is_no_label(html: str) -> None:
    """It says the same as the code block, but the sentence needs it."""
    assert "Python" in markdown(html)


def test_collapsed_lines_are_kept() -> None:
    """Expressive Code says how many there are, which is no line."""
    html = (
        '<pre data-language="js"><code><div class="ec-line"><div class="code">a</div></div>'
        '<details class="ec-section github"><summary><div class="code">1 collapsed line</div></summary>'
        '<div class="ec-line"><div class="code">b</div></div></details></code></pre>'
    )
    assert markdown(html) == "```js\na\nb\n```\n"


def test_org_numbers_lines_with_a_colon() -> None:
    """They are no part of the code."""
    html = '<pre class="src src-sh"><span class="linenr">1: </span>a\n<span class="linenr">2: </span>b\n</pre>'
    assert markdown(html) == "```sh\na\nb\n```\n"


@pytest.mark.parametrize(
    ("attributes", "language"), [('class="brush: js-nolint"', "js"), ('data-syntax="swift"', "swift")]
)
def test_further_language_names(attributes: str, language: str) -> None:
    """MDN's, of code that is not checked, and DocC's."""
    assert markdown(f"<pre {attributes}>x</pre>") == f"```{language}\nx\n```\n"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        (
            '<div class="syntaxhighlighter php"><table><tr><td class="gutter"><div>1</div><div>2</div>'
            '</td><td class="code"><div class="container"><div class="line"><code>a</code></div><div class="line">'
            "<code>&nbsp;&nbsp;</code><code>b</code></div></div></td></tr></table></div>",
            "php",
        ),
        (
            '<div class="enlighter"><div class=""><div><span>a</span></div></div><div class=""><div>  b</div></div>'
            "</div>",
            "",
        ),
        (
            '<table class="crayon-table"><tr><td><div class="crayon-pre"><div class="crayon-line">a</div>'
            '<div class="crayon-line">  b</div></div></td></tr></table>',
            "",
        ),
    ],
    ids=["SyntaxHighlighter", "Enlighter", "Crayon"],
)
def test_code_rendered_by_plugins(html: str, language: str) -> None:
    """A box for each line, with or without its number, is one block of code, in the language that it names."""
    assert markdown(html) == f"```{language}\na\n  b\n```\n"


def test_blank_beside_line_numbers_is_removed() -> None:
    """Doxygen sets its code off from the numbers by a blank in the text."""
    lines = ("int main() {", "  return 0;", "}")
    drawn = "".join(
        f'<div class="line"><span class="lineno">    {number}</span> {line}</div>'
        for number, line in enumerate(lines, 1)
    )
    html = f'<meta name="generator" content="Doxygen 1.9.4"><h1>T</h1><div class="fragment">{drawn}</div>'
    assert markdown(html) == "# T\n\n```\nint main() {\n  return 0;\n}\n```\n"


def test_mandoc_extra_line_breaks_are_removed() -> None:
    """Its code has the lines that the manual page has, in the site's own frame too, as on Debian's site."""
    html = (
        '<div class="manual-text"><section class="Sh"><h1 class="Sh" id="X">X</h1><p class="Pp">A graph:</p>'
        "<pre>\n<br/>\n    A---B\n<br/>\n   /\nC</pre><pre><i>git rebase</i> [-i]\n<br/>\n    [--root]</pre>"
        "</section></div>"
    )
    assert (
        markdown(html) == "# X\n\nA graph:\n\n```\n    A---B\n   /\nC\n```\n\n```\ngit rebase [-i]\n    [--root]\n```\n"
    )


def test_line_breaks_in_code_are_kept() -> None:
    """Only of mandoc's pages is it known that nobody wrote it."""
    assert markdown("<pre>a\n<br>\n  b</pre>") == "```\na\n\n\n  b\n```\n"


def test_myst_line_numbers_are_removed() -> None:
    """It is numbers alone, and the code beside it has the language."""
    html = (
        '<link rel="stylesheet" href="/myst-theme.css"><article class="article"><div class="relative myst-code">'
        '<div class="myst-code-body hljs"><pre><code style="float:left;user-select:none"><span '
        'class="react-syntax-highlighter-line-number">1\n</span><span class="react-syntax-highlighter-line-number">2\n'
        '</span></code><code class="language-python">a = 1\nb = 2</code></pre></div></div></article>'
    )
    assert markdown(html, content="auto") == "```python\na = 1\nb = 2\n```\n"


def test_empty_line_of_numbered_code_is_kept() -> None:
    """Code with an item for each line has its blank ones, too."""
    html = "<pre><code><ol><li><span>a</span></li><li><span></span></li><li></li><li>  b</li></ol></code></pre>"
    assert markdown(html) == "```\na\n\n\n  b\n```\n"
    assert markdown("<pre><ul><li>a</li>\n<li></li>\n<li>b</li></ul></pre>") == "```\na\n\n\nb\n```\n"
