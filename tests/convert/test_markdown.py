"""What each kind of element becomes."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


def test_headings_are_atx() -> None:
    """Headings of all six levels are written with hashes."""
    html = "".join(f"<h{level}>Level {level}</h{level}>" for level in range(1, 7))
    assert markdown(html) == "\n\n".join(f"{'#' * level} Level {level}" for level in range(1, 7)) + "\n"


def test_script_and_style_are_removed() -> None:
    """Neither the code of a script nor a style sheet reaches the Markdown, wherever they stand."""
    html = "<style>p{color:red}</style><p>Hello <script>alert('x')</script>world</p><template><p>later</p></template>"
    assert markdown(html) == "Hello world\n"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="language-js">x</code></pre>', "js"),
        ('<pre class="lang-go"><code>x</code></pre>', "go"),
        ('<pre><code class="hljs lang-rust">x</code></pre>', "rust"),
        ('<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre></div></div>', "python3"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        (
            '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre><code>x</code></pre></div></div>',
            "ruby",
        ),
        ('<pre class="brush: java; gutter: false">x</pre>', "java"),
        ('<pre data-lang="kotlin">x</pre>', "kotlin"),
        ('<pre lang="python"><code>x</code></pre>', "python"),
        ('<pre lang="en"><code>x</code></pre>', ""),
        ('<pre class="crayon-plain-tag lang:php">x</pre>', "php"),
        ('<div class="highlight highlight-text-html-basic"><pre>x</pre></div>', "html"),
        ('<pre class="src src-emacs-lisp">x</pre>', "emacs-lisp"),
        ('<pre><code class="hljs javascript">x</code></pre>', "javascript"),
        ('<pre class="sourceCode r"><code class="sourceCode r">x</code></pre>', "r"),
        ('<div class="mw-highlight mw-highlight-lang-lua"><pre>x</pre></div>', "lua"),
        ('<pre class="EnlighterJSRAW" data-enlighter-language="ruby">x</pre>', "ruby"),
        ('<pre><code data-language="C++">x</code></pre>', "c++"),
        ('<div class="highlight-default"><div class="highlight"><pre>x</pre></div></div>', ""),
        ('<pre><code class="language-text">x</code></pre>', ""),
        ('<div class="language-css">prose<p>a</p><p>b</p><p>c</p><p>d</p><pre>x</pre></div>', ""),
    ],
)
def test_code_keeps_its_language(html: str, language: str) -> None:
    """The language is found however the page marks it, and not invented where a wrapper is no wrapper."""
    assert f"```{language}\nx\n```\n" in markdown(html)


def test_code_is_unchanged() -> None:
    """Indentation, blank lines, markup characters and line breaks inside a code block survive."""
    code = "if a &lt; b:\n    *x* = `y`\n\n\n    | z |\n"
    assert markdown(f"<pre>{code}</pre>") == "```\nif a < b:\n    *x* = `y`\n\n\n    | z |\n```\n"
    assert markdown("<pre><code><div>one</div><div>two</div></code></pre>") == "```\none\ntwo\n```\n"
    assert markdown("<pre>one<br>two</pre>") == "```\none\ntwo\n```\n"


def test_fence_in_code_does_not_end_the_block() -> None:
    """A code block that holds a fence gets a longer one."""
    assert markdown("<pre>a\n```\nb</pre>") == "````\na\n```\nb\n````\n"


@pytest.mark.parametrize(
    "html",
    [
        '<pre><span class="linenos">1</span>x\n<span class="linenos">2</span>y\n</pre>',
        '<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>'
        '<td class="code"><div><pre>x\ny</pre></div></td></tr></table>',
        '<div><pre>x\ny</pre><button class="copybtn">Copy</button></div>',
    ],
)
def test_line_numbers_and_copy_buttons_are_removed(html: str) -> None:
    """What stands beside code on the screen is not in it."""
    assert markdown(html) == "```\nx\ny\n```\n"


def test_wrapped_source_does_not_widen_a_code_span() -> None:
    """Line breaks in the source of inline code are single blanks, as on the screen."""
    assert markdown("<p><code>double\n      precision</code></p>") == "`double precision`\n"


@pytest.mark.parametrize(
    "heading",
    [
        '<h2>Name<a class="headerlink" href="#name" title="Link to this heading">¶</a></h2>',
        '<h2>Name <a href="#name" aria-hidden="true">#</a></h2>',
        '<h2><a class="anchor" href="#name"></a>Name</h2>',
        '<h2>Name<a class="hash-link" href="#name">\u200b</a></h2>',
        '<h2><a class="header" href="#name">Name</a></h2>',
        '<h2>Name<a class="permalink" href="page.html#name">link</a></h2>',
        '<h2><a href="#name"><svg viewBox="0 0 1 1"><path d="M0 0"/></svg></a>Name</h2>',
        "<h2>Name<a id='name'></a></h2>",
    ],
)
def test_heading_permalinks_are_removed(heading: str) -> None:
    """The sign beside a heading goes; the heading's own words stay."""
    assert markdown(heading) == "## Name\n"


def test_headings_in_cards_are_kept() -> None:
    """A link around a heading and a paragraph becomes a linked heading and a paragraph."""
    assert markdown('<a href="/x"><h2>Card</h2><p>Text</p></a>') == "## [Card](https://example.com/x)\n\nText\n"


def test_empty_headings_and_paragraphs_are_removed() -> None:
    """Spacing by empty elements is not text."""
    assert markdown("<h2> </h2><p>a</p><p>&nbsp;</p><h3></h3><p>b</p><p>&nbsp;</p>") == "a\n\nb\n"


def test_no_break_space_in_a_heading_is_a_space() -> None:
    """`2.3.&nbsp;Name` is found by a search for `2.3. Name`."""
    assert markdown("<h2>2.3.&nbsp;<b>Long&nbsp;name</b></h2>") == "## 2.3. **Long name**\n"


def test_line_breaks_need_no_trailing_blanks() -> None:
    """A hard break survives editors that strip blanks."""
    assert markdown("<p>one<br>two</p>") == "one\\\ntwo\n"


def test_superscript_is_kept() -> None:
    """Ten to the fifth is not a hundred and five; a footnote's number and code need no mark."""
    html = '<p>10<sup>5</sup> H<sub>2</sub>O<sup><a href="#f">1</a></sup> <code>a<sup>b</sup></code></p>'
    assert markdown(html) == "10<sup>5</sup> H<sub>2</sub>O[1](#f) `ab`\n"


def test_task_lists_are_kept() -> None:
    """Boxes are kept, in the item or in a label."""
    html = "<ul><li><input type=checkbox checked> a<li><label><input type=checkbox></label> b</ul>"
    assert markdown(html) == "- [x] a\n- [ ] b\n"


def test_controls_are_removed_but_headings_in_buttons_kept() -> None:
    """Buttons and fields go; a folded section's heading is a heading, and a tab keeps its name."""
    html = (
        "<form><input value=v><select><option>one</select><textarea>t</textarea><button>Send</button></form>"
        "<h3><button aria-expanded=false>Question?</button></h3><p>Answer</p>"
        "<button role=tab>npm</button><button role=tab>Yarn</button>"
    )
    assert markdown(html) == "### Question?\n\nAnswer\n\nnpm\n\nYarn\n"


def test_markup_in_text_is_escaped() -> None:
    """A page that talks about a script gives text that is no script."""
    assert markdown("<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt;</p>") == "\\<script>alert(1)\\</script> \\&lt;\n"


def test_output_ends_with_one_newline_and_has_no_controls() -> None:
    """LF only, one at the end, no control characters however they were written."""
    html = "<p>a&#27;[31mb\x07c\r\nd&#133;e\u2028f</p>\r\n<pre>g&#13;h&#12;i\x1bj</pre>\r\n\r\n"
    text = markdown(html)
    assert text.endswith("\n```\n")
    assert not any(ord(char) < 32 and char not in "\n\t" for char in text)
    assert not set("\x7f\x85\u2028\u2029") & set(text)
    assert "a\\[31mbc d" in text


def test_drawings_keep_text_and_icons_are_removed() -> None:
    """A diagram's labels are text; an icon's title is not."""
    html = "<svg><title>icon</title><path/></svg><svg><title>t</title><text>Box</text><text>Arrow</text></svg>"
    assert markdown(html) == "Box Arrow\n"


def test_formulas_are_written_once() -> None:
    """KaTeX writes a formula for screen readers, for the eye and as TeX."""
    html = (
        '<p><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>'
        '<annotation encoding="application/x-tex">x</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true">x</span></span></p>'
    )
    assert markdown(html) == "$x$\n"


def test_old_block_elements_are_separated() -> None:
    """`center` and `legend` are blocks."""
    assert markdown("<center>a</center>b<fieldset><legend>c</legend>d</fieldset>") == "a\n\nb\n\nc\n\nd\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<b>W<strong>EIGHT</strong> of it</b>", "**W<strong>EIGHT</strong> of it**"),
        ("<em>a<i>b</i> c</em>", "*a<em>b</em> c*"),
        ("<b>粗<b>体</b>字</b>文<b>粗</b>文", "**粗<strong>体</strong>字**文**粗**文"),
        ("un<b>be</b>liev<b>able</b>", "un**be**liev**able**"),
    ],
)
def test_emphasis_inside_a_word(html: str, text: str) -> None:
    """Signs within a word end emphasis of their kind before they begin any: there, tags are written."""
    assert markdown(f"<p>{html}</p>") == f"{text}\n"
