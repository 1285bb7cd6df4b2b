"""Code within text, and the lines that it may have."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><code>git add .<br>git commit -m x</code></p>", "```\ngit add .\ngit commit -m x\n```\n"),
        ("<p><code>\n a<br>\n  b\n c\n</code></p>", "```\na\nb c\n```\n"),
        (  # the PHP manual
            '<div class="phpcode"><code><span>&lt;?php<br>&nbsp;&nbsp;$x = 1; // c<br>echo $x;</span></code></div>',
            "```php\n<?php\n  $x = 1; // c\necho $x;\n```\n",
        ),
        (
            "<code><div>for x in range(3):</div><div><br></div><div>&nbsp; print(x)</div></code>",
            "```\nfor x in range(3):\n\n  print(x)\n```\n",
        ),
        ('<code style="white-space: pre">a\n  b</code>', "```\na\n  b\n```\n"),
        ("<p><samp>login:<br>Welcome<br></samp></p>", "```\nlogin:\nWelcome\n```\n"),
        (
            "<p>Run:<br><code>first line<br>second line</code><br>then</p>",
            "Run:\n\n```\nfirst line\nsecond line\n```\n\nthen\n",
        ),
        ('<code class="language-js"><pre>a\n b</pre></code>', "```js\na\n b\n```\n"),
        ("<p>Either <code>first line<br>second line</code> or</p>", "Either `first line`\\\n`second line` or\n"),
        (
            "<table><tr><th>h<tr><td><code>first line<br>second line</code></table>",
            "| h |\n| --- |\n| `first line`<br>`second line` |\n",
        ),
        ("<h2><code>first line<br>second line</code></h2>", "## `first line second line`\n"),
        ("<p><code>a\n <span>b</span></code></p>", "`a b`\n"),
        ("<p><code><br></code>x</p>", "x\n"),
        (
            "<code>first line<br><code>second line<br><code>c<br>d</code></code></code>",
            "```\nfirst line\nsecond line\nc\nd\n```\n",
        ),
        ("<p>the <code>IO\n</code>monad</p>", "the `IO` monad\n"),
        ("<p>a<code><br></code>x</p>", "a\\\nx\n"),
    ],
)
def test_code_keeps_its_lines(html: str, expected: str) -> None:
    """Lines that are seen are lines of a code block, or of spans where a block has no place; others are joined."""
    assert markdown(html) == expected


def test_collapsible_tree_is_indented() -> None:
    """Redoc writes JSON as lists in one another, with a button to fold each."""
    html = (
        '<div class="redoc-json"><code><button>-</button><span>{</span><ul><li><div>"id": 0,</div></li>'
        '\n<li><div>"o": <button></button>{<ul><li><div>"a": [<ul><li>1</li></ul>]</div></li></ul>}</div></li></ul>'
        "<span>}</span></code></div>"
    )
    assert markdown(html) == '```\n{\n  "id": 0,\n  "o": {\n    "a": [\n      1\n    ]\n  }\n}\n```\n'


def test_code_marked_by_class_only() -> None:
    """Writerside leaves it to a script to make code of it; elsewhere such a box has elements in it."""
    assert markdown('<div class="code-block" data-lang="bash">\nls -l\ncat x\n</div>') == "```bash\nls -l\ncat x\n```\n"
    assert markdown('<div class="code-block"><p>a</p><pre>b</pre></div>') == "a\n\n```\nb\n```\n"


def test_typewriter_elements_are_code() -> None:
    """`tt` is code, but for links, which code cannot hold, and for whole pages in such letters."""
    html = (
        '<p>Use <tt>foo_X*</tt><tt></tt>, <tt>-x <i>f</i></tt>, <tt>a\nb</tt> or <tt><a href="/x">l</a></tt></p>'
        "<tt><p>all_*</p></tt>"
    )
    assert markdown(html) == ("Use `foo_X*`, `-x f`, `a b` or [l](https://example.com/x)\n\nall_*\n")


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<code><a href="#f">f</a></code>', "[`f`](#f)"),
        ('<code><a href="#f">f</a>, <a href="#g">g</a></code>', "[`f`](#f), [`g`](#g)"),
        ('<code><a href="#f">f</a>(<a href="#g">g</a>)</code>', "`f(g)`"),  # a code span has no place for them
        ('<code><a id="f">f</a></code>', "`f`"),
    ],
)
def test_links_in_code_are_kept(html: str, said: str) -> None:
    """Javadoc, pydoctor and mkdocstrings write code around links, and Markdown has links around code."""
    assert markdown(f"<p>See {html}.</p>") == f"See {said}.\n"


def test_code_in_headings_and_blocks_stays_code() -> None:
    """There the link is the heading's own, or part of what is to be copied."""
    html = '<h2><code><a href="#f">f</a></code></h2><pre><code><a href="#g">g</a></code></pre>'
    assert markdown(html) == "## `f`\n\n```\ng\n```\n"


def test_linked_code_is_a_link_with_code() -> None:
    """Code holds no links, but a link may hold code; keys that are links or pictures stay so, without the keys."""
    html = '<p><code><a href="/m">MAX</a></code>, <samp><a href="/o">out</a></samp>, <code>a <a href="/b">b</a></code>'
    assert markdown(html) == "[`MAX`](https://example.com/m), [`out`](https://example.com/o), `a b`\n"
    assert markdown('<pre><code><a href="/m">x = 1</a></code></pre>') == "```\nx = 1\n```\n"
    keys = '<p><kbd><a href="/k">k</a></kbd> <kbd><img src="/i" alt="Ctrl"></kbd></p>'
    assert markdown(keys) == "[k](https://example.com/k) ![Ctrl](https://example.com/i)\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<samp>$ <kbd>ls</kbd></samp>", "`$ ls`"),
        ("<samp>x<sub>2</sub></samp>", "`x2`"),
        ("<kbd>a long text to be typed with <sup>2</sup></kbd>", "`a long text to be typed with 2`"),
        ("<kbd>F<sub>1</sub></kbd>", "<kbd>F<sub>1</sub></kbd>"),
    ],
)
def test_code_like_elements_have_no_markup(html: str, text: str) -> None:
    """Keys and what is raised in a program's output, or in what is typed, are no tags in code."""
    assert markdown(f"<p>{html}</p>") == f"{text}\n"


@pytest.mark.parametrize("tag", ["code", "tt", "samp", "kbd"])
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><C>x<br></C>then</p>", "`x`\\\nthen\n"),
        ("<p>more<C><br>x</C></p>", "more\\\n`x`\n"),
        ("<p>say <C>a=1<br>b=2</C> now</p>", "say `a=1`\\\n`b=2` now\n"),
        ("<p>say <C>f<br>&nbsp;&nbsp;g</C> now</p>", "say `f`\\\n`\xa0\xa0g` now\n"),
        (  # the Haskell report
            "<p>read: <C><br>\n&nbsp;&nbsp;f&nbsp;a<br>\n&nbsp;&nbsp;&nbsp;&nbsp;g<br>\n</C>Then more.</p>",
            "read:\n\n```\n  f a\n    g\n```\n\nThen more.\n",
        ),
        ("<h2><C>a<br>b</C> c</h2>", "## `a b` c\n"),
        (  # Graphviz
            "<table><tr><th><C>A<br>B</C><th>h<tr><td><C>s=filled<br>c=red</C><td><C>x<br></C></table>",
            "| `A`<br>`B` | h |\n| --- | --- |\n| `s=filled`<br>`c=red` | `x` |\n",
        ),
        ("<table><tr><th>A<tr><td><C>f<br>&nbsp; g</C></table>", "| A |\n| --- |\n| `f`<br>`\xa0\xa0g` |\n"),
        ("<table><tr><td><C><br>f<br>&nbsp; g<br></C></td></tr></table>", "```\nf\n  g\n```\n"),  # a box, no cell
    ],
)
def test_line_breaks_mean_the_same_in_every_kind_of_code(tag: str, html: str, expected: str) -> None:
    """Breaks and indentation stay, in and out of cells, and no word touches the next one."""
    assert markdown(html.replace("C>", f"{tag}>")) == expected
