"""Escapes are there where they are needed, and nowhere else."""

from __future__ import annotations

import pytest
import turbohtml
from hypothesis import example, given
from hypothesis import strategies as st

from sitemirror.convert.render.escapes import drop_needless_escapes
from tests.convert.pages import markdown
from tests.convert.trees import to_html, tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snake_case and _private and C:\\dir", "snake_case and _private and C:\\dir"),
        ("__init__ and _x_", "\\_\\_init__ and \\_x_"),
        ("void*() and char *argv and 2 * 3", "void*() and char *argv and 2 * 3"),
        ("a *b* c", "a \\*b* c"),
        ("rebind<const value_type>::x", "rebind\\<const value_type>::x"),  # a tag once the underscore is bare
        ("vector<value_type> a_b", "vector<value_type> a_b"),
        ("* item", "\\* item"),
        ("- item", "\\- item"),
        ("-5 degrees", "-5 degrees"),
        ("1. item", "1\\. item"),
        ("1.5.0 is out", "1.5.0 is out"),
        ("1) item", "1\\) item"),
        ("# heading", "\\# heading"),
        ("#hashtag", "#hashtag"),
        ("> quote", "\\> quote"),
        ("---", "\\---"),
        ("a <b> c", "a \\<b> c"),
        ("x < y, <1, 2>", "x < y, <1, 2>"),
        ("Vec<&str> and HashMap<K, V>", "Vec<&str> and HashMap<K, V>"),
        ("<script src=x", "\\<script src=x"),
        ("[1] and f(a[, b])", "[1] and f(a[, b])"),
        ("[a](b)", "\\[a\\](b)"),
        ("[a]: b", "\\[a\\]: b"),
        ("[!NOTE] x [^1]", "\\[!NOTE\\] x \\[^1\\]"),
        ("~queue", "~queue"),
        ("~~gone~~", "\\~\\~gone\\~\\~"),
        ("AT&T &amp;copy;", "AT&T \\&copy;"),
        ("a\\*b", "a\\\\*b"),
        ("`x` \\d", "\\`x\\` \\d"),
        ("`<", "\\`<"),
    ],
)
def test_escaping_is_minimal(text: str, expected: str) -> None:
    """Each sign that would mean something is escaped, and no other."""
    html = "<p>" + text.replace("<", "&lt;").replace("&lt;/p", "</p")
    assert markdown(html) == expected + "\n"
    assert tree(to_html(markdown(html))) == tree(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Das ist <strong>schön</strong>, oder <em>nicht für uns</em>?", "Das ist **schön**, oder *nicht für uns*?"),
        ("<em>Привет</em>, мир <b>и всё</b>", "*Привет*, мир **и всё**"),
        ("中文 <strong>重要</strong>文", "中文 **重要**文"),
        ("x<br><em>ß</em>", "x\\\n*ß*"),
        ("2 * 3 <em>für</em> 4 * 5", "2 * 3 *für* 4 * 5"),
        ("<em>a <code>&lt;em>é&lt;/em></code> ü</em> z", "*a `<em>é</em>` ü* z"),
        ("a<em>„ü“</em>b", "a<em>„ü“</em>b"),
        ("<strong>é <em>ü</em></strong> x", "**é *ü*** x"),
        ("<strong><em>é</em></strong> x", "**_é_** x"),
        ("<em><strong>é</strong> ü</em>x", "***é** ü*x"),
        ("<strong><s>é</s></strong> x", "**~~é~~** x"),
        ("<em>é</em><strong>ü</strong> x", "*é*__ü__ x"),
        ("<em>é</em><strong>ü</strong>x", "*é*<strong>ü</strong>x"),
        ("x<strong><em>é</em></strong>x", "x<strong>_é_</strong>x"),
    ],
)
def test_emphasis_in_every_language(html: str, expected: str) -> None:
    """Stars stand for emphasis whatever letters are in it, and tags only where stars would mean something else."""
    assert markdown(f"<p>{html}") == expected + "\n"
    assert tree(to_html(markdown(f"<p>{html}"))) == tree(f"<p>{html.replace('b>', 'strong>')}")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("说<b><span>“重要”</span></b>吗", "说<strong>“重要”</strong>吗"),
        ("w<s><u>؟</u></s>", "w<s>؟</s>"),
        ("the <i>x<sub>i</sub></i>th", "the <em>x<sub>i</sub></em>th"),
        ("w<em><span><kbd>F1</kbd></span></em>", "w<em><kbd>F1</kbd></em>"),
        ("<b>°</b><wbr>w", "<strong>°</strong>w"),
        ("the <i>x<sub>i</sub></i> of", "the *x<sub>i</sub>* of"),
    ],
)
def test_emphasis_next_to_punctuation_uses_stars(html: str, expected: str) -> None:
    """Beside a letter they mark nothing there: a tag does, whatever elements the sign stands in."""
    assert markdown(f"<p>{html}") == expected + "\n"
    assert "*" not in words(to_html(expected))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>w</b><em>x</em><cite></cite>", "**w**_x_"),
        ("<b>w</b><span><em>x</em></span>", "**w**_x_"),
        ("<b>0&nbsp; </b>x", "**0**\xa0 x"),
        ("<strong><em>9 </em>w</strong>", "**_9_ w**"),
        ("x<i>a<br>’b</i>", "x*a*\\\n*’b*"),
        ("<q>#</q> <s><q>\\</q></s><b>w</b>", '"#" ~~"\\\\"~~**w**'),
        ("<samp>a</samp><code>b</code>", "`ab`"),
        ("<b><strong><span>é</span></strong></b>: x", "**__é__**: x"),
    ],
)
def test_invisible_text_changes_no_escapes(html: str, expected: str) -> None:
    """Elements that Markdown has no sign for, blanks and line breaks at the ends of emphasis do not make tags of it."""
    first = markdown(f"<p>{html}")
    assert first == expected + "\n"
    assert markdown(to_html(first)) == first


def test_line_break_before_text() -> None:
    """What is raised may have two lines, and stays in one piece."""
    assert markdown("<p>a<i><sup>b<br>c</sup></i>") == "a<em><sup>b<br>c</sup></em>\n"


def test_brackets_that_are_no_checkboxes() -> None:
    """Text that looks like a task's box stays text."""
    assert markdown("<ul><li>[x] a<li>[y] b</ul>") == "- \\[x\\] a\n- [y] b\n"


def test_code_keeps_its_backslashes() -> None:
    """What is code is left as it is, in a span, in a block and in an item."""
    html = r"<p>a\_b <code>a\_b</code></p><pre>\[x\] c\_d ``</pre><ul><li>x<pre>e\_f</pre></ul>"
    assert markdown(html) == "a\\\\_b `a\\_b`\n\n```\n\\[x\\] c\\_d ``\n```\n\n- x\n  ```\n  e\\_f\n  ```\n"


def test_code_ending_with_backslash() -> None:
    """Which backticks are escaped cannot be told without reading the line, so nothing near them is touched."""
    assert markdown(r"<p><code>C:\</code> or <code>a\_b</code>") == "`C:\\` or `a\\_b`\n"


def test_link_targets_keep_their_escapes() -> None:
    """A link's address and title are not prose."""
    html = r"""<p><a href="/a_(b_c" title='\_ "q" [x]'>t_u [v]</a>"""
    assert markdown(html) == '[t_u [v]](https://example.com/a_\\(b_c "\\\\_ \\"q\\" [x]")\n'


def test_no_break_spaces_are_not_escaped() -> None:
    """Between words they are themselves, at the end of a cell and alone in it they are nothing, in code they stay."""
    html = "<table><tr><th>a&nbsp;b:&nbsp; c&nbsp; &nbsp;</th><th>&nbsp;</th></tr></table><pre>| &amp;#160; |</pre>"
    assert markdown(html) == "| a\xa0b:\xa0 c |  |\n| --- | --- |\n\n```\n| &#160; |\n```\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>End.&nbsp;</p><p>&nbsp;Start</p>", "End.\n\nStart\n"),
        ("<ul><li>&nbsp;a<li>b&nbsp; &nbsp;</ul>", "- a\n- b\n"),
        ("<blockquote><p>Use <code>x</code>&nbsp;</p></blockquote>", "> Use `x`\n"),
        ("<p>&nbsp; &nbsp;set in</p>", "&#160; \xa0set in\n"),
        ("<p>a &amp;#160;</p><p>---&nbsp;</p>", "a \\&#160;\n\n\\---&#160;\n"),
        ("<p>&nbsp;- no item</p>", "&#160;- no item\n"),
    ],
)
def test_leading_and_trailing_no_break_spaces_are_dropped(html: str, expected: str) -> None:
    """One before the first word or any after the last go; what they keep from being read as a mark stays."""
    assert markdown(html) == expected


def test_wide_spaces_in_headings_are_not_escaped() -> None:
    """Japanese chapters and HEVEA's have one behind their number; code that speaks of the entity stays as it is."""
    html = "<h2>第1章\u3000概要</h2><h3>2.1\u2003Oars</h3><h3><code>a&amp;#8195;b</code></h3><p>a&amp;#8195;b</p>"
    assert markdown(html) == "## 第1章\u3000概要\n\n### 2.1\u2003Oars\n\n### `a&#8195;b`\n\na\\&#8195;b\n"


def test_literal_alerts_become_alerts() -> None:
    """A renderer that does not know alerts shows their first line; elsewhere the same words are words."""
    html = (
        "<blockquote><p>[!NOTE]\nMind <b>the</b> gap.</p></blockquote><ul><li><blockquote><p>[!TIP] x</blockquote></ul>"
    )
    assert markdown(html) == "> [!NOTE]\n> Mind **the** gap.\n\n- \n  > [!TIP]\n  > x\n"
    assert markdown("<p>[!NOTE] x</p><blockquote>a [!NOTE] x</blockquote>") == "\\[!NOTE\\] x\n\n> a \\[!NOTE\\] x\n"


SIGNS = st.text(alphabet="*_~`[]()<>!\\#&.-+=:|/ \n1aßb中é–", max_size=14)
INLINE = st.recursive(
    SIGNS.map(lambda text: text.replace("&", "&amp;").replace("<", "&lt;")),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["em", "strong", "code", "del", "span", "sub"]), inner).map(
            lambda found: f"<{found[0]}>{found[1]}</{found[0]}>"
        ),
        inner.map(lambda text: f'<a href="/x_(y)">{text}</a>'),
        st.lists(inner, max_size=3).map("".join),
        st.just("<br>"),
        st.just('<img src="/i_j" alt="[k] _l_">'),
    ),
    max_leaves=6,
)
BLOCKS = st.sampled_from(
    [
        "<p>{}</p>",
        "<h2>{}</h2>",
        "<ul><li>{}</li></ul>",
        "<ol><li><p>{}</p></li></ol>",
        "<blockquote><p>{}</p></blockquote>",
        "<table><tr><th>{}</th></tr><tr><td>{}</td></tr></table>",
        "<p>x<br>{}</p>",
        "<pre>a\\_b</pre><p>{}</p><pre>c</pre>",
    ]
)


def words(html: str) -> str:
    """The text of `html`; blanks at the edges depend on the markup around them."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    return "".join(body.text.split())


@given(BLOCKS, INLINE)
@example("<p>{}</p>", "a_ _b _c_")
@example("<p>{}</p>", "[a]<br>(b) [x]: y")
@example("<p>{}</p>", "&lt;a _b>c_ &lt;d e\\>")
@example("<p>{}</p>", "<b><i><b>[x]</b></i></b>")
def test_any_text_round_trips(block: str, inline: str) -> None:
    """Whatever a page says in words, the rendered Markdown says it in the same words."""
    html = block.replace("{}", inline)
    rendered = to_html(markdown(html))
    assert words(rendered) == words(html)


@given(BLOCKS, INLINE)
@example("<p>{}</p>", "x<br><del>ß</del>")
@example("<p>{}</p>", '<a href="/x"></a><br>1')
@example("<p>x<br>{}</p>", "<em>ß></em>")
@example("<p>x<br>{}</p>", "<em>ß*</em>")
@example("<p>{}</p>", "<em><em><em>:</em></em></em>")
@example("<p>{}</p>", "<b><i><b><code>x</code></b></i></b>")
@example("<p>{}</p>", "<b><b><b>(x) y</b></b> z</b>")
@example("<p>{}</p>", '<a href="/x_(y)"><code>]:</code></a>')
@example("<p>{}</p>", '<a href="/x"><code>]:</code></a> <a href="/y"> </a>')
@example("<p>{}</p>", "<em><em><em><em><em>(x) y</em></em></em></em> z</em>")
@example("<table><tr><th>{}</th></tr><tr><td>{}</td></tr></table>", "<span><br></span>")
@example("<table><tr><th>{}</th></tr><tr><td>{}</td></tr></table>", "<em><br></em><em></em>")
@example("<table><tr><th>{}</th></tr><tr><td>{}</td></tr></table>", '<a href="/x"><br></a><a href="/x"><br></a>')
@example("<table><tr><th>{}</th></tr><tr><td>{}</td></tr></table>", '<a href="/x">1<br><br></a>')
def test_conversion_is_idempotent(block: str, inline: str) -> None:
    """Markdown, rendered and converted again, is the same Markdown."""
    first = markdown(block.replace("{}", inline))
    assert markdown(to_html(first)) == first


def test_backticks_after_escaped_backtick() -> None:
    """They belong to no run of backticks that the paragraph has."""
    assert drop_needless_escapes("\\``x \\[a\\]") == "\\``x [a]"


def test_control_characters_are_removed() -> None:
    """With marks, escapes and a line end of its own around it."""
    assert markdown("<p>a_b\x07 x<sub>2</sub>\u2028[c]</p>") == "a_b x<sub>2</sub> [c]\n"


def test_text_after_control_character_is_escaped() -> None:
    """Without the character it does begin the line, and would be a heading, an item or a quote."""
    assert markdown("<p>\x07# a</p><p>1\x07. b</p><p>\x02> c</p>") == "\\# a\n\n1\\. b\n\n\\> c\n"
