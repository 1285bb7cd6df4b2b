"""What manuals and references say beside their text, in the markup that their generators write."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

DOCBOOK = '<meta name="generator" content="DocBook XSL Stylesheets V1.79.1">'
DOXYGEN = '<meta name="generator" content="Doxygen 1.9.8">'
RUSTDOC = '<meta name="generator" content="rustdoc">'


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ('<strong>a</strong><span class="classifier">int, optional</span>', "**a** : int, optional"),
        ('Term<span class="classifier">one</span><span class="classifier">two</span>', "**Term** : one : two"),
        (
            'Term <span class="classifier-delimiter">:</span> <span class="classifier">one</span>',
            "**Term** : one",
        ),
        ("<strong>a</strong> (int)", "**a** (int)"),
        ("<code>a</code> or <strong>b</strong>", "`a` or **b**"),
        ("<code>a</code> or b", "**`a` or b**"),
    ],
)
def test_kind_of_a_term_is_beside_it(term: str, text: str) -> None:
    """Classifiers are parted by the colons that a style sheet shows, and what the page says in bold stays as it is."""
    assert markdown(f"<dl><dt>{term}</dt><dd><p>Said.</p></dd></dl>") == f"- {text}\n\n  Said.\n"


def test_footnote_cited_twice_has_no_back_links() -> None:
    """The numbers that lead back to where a note is cited are no part of it."""
    html = (
        '<p>x <a class="footnote-reference brackets" href="#f1" id="id1" role="doc-noteref">[1]</a> y '
        '<a class="footnote-reference brackets" href="#f1" id="id2" role="doc-noteref">[1]</a></p>'
        '<aside class="footnote brackets" id="f1" role="doc-footnote"><span class="label">'
        '<span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></span><span class="backrefs">'
        '(<a role="doc-backlink" href="#id1">1</a>,<a role="doc-backlink" href="#id2">2</a>)</span><p>Text.</p></aside>'
    )
    assert markdown(html) == "x [^1] y [^1]\n\n[^1]: Text.\n"


def test_rust_fields_are_separated() -> None:
    """A field without a word on it is a paragraph, of a struct as of an enum's variant."""
    html = (
        '<span id="structfield.a" class="structfield section-header"><a href="#structfield.a" class="anchor">§</a>'
        '<code>a: u8</code></span><span id="structfield.b" class="structfield section-header"><code>b: u16</code>'
        "</span>"
        '<div class="sub-variant-field"><span id="variant.A.field.x" class="section-header"><code>x: u8</code></span>'
        "</div>"
    )
    assert markdown(f"{RUSTDOC}{html}") == "`a: u8`\n\n`b: u16`\n\n`x: u8`\n"


def test_rust_margin_is_removed() -> None:
    """The link to the source goes with the version and the dot in front of it."""
    html = (
        '<section id="method.f" class="method"><span class="rightside"><span class="since" title="Stable since Rust '
        'version 1.0.0">1.0.0</span> · <a class="src" href="../src/a.rs.html">Source</a></span>'
        '<h4 class="code-header">pub fn <a href="#method.f" class="fn">f</a>()</h4></section>'
    )
    assert markdown(f"{RUSTDOC}{html}") == "#### `pub fn f()`\n"


def test_doxygen_labels_are_separated() -> None:
    """They are boxes on the page."""
    html = (
        '<div class="memproto"><table class="mlabels"><tr><td class="mlabels-left"><table class="memname"><tr>'
        '<td class="memname">int f</td><td>(</td><td class="paramname">)</td></tr></table></td>'
        '<td class="mlabels-right"><span class="mlabels"><span class="mlabel">static</span>'
        '<span class="mlabel">constexpr</span></span></td></tr></table></div>'
    )
    assert markdown(f"{DOXYGEN}{html}") == "`int f() static constexpr`\n"


def test_template_keeps_its_parameters() -> None:
    """Doxygen has them in a row of their own, above the declaration."""
    html = (
        '<table class="memberdecls"><tr class="memitem:a1"><td class="memTemplParams" colspan="2">'
        'template&lt;class T&gt; </td></tr><tr class="memitem:a1"><td class="memTemplItemLeft">T&#160;</td>'
        '<td class="memTemplItemRight"><a class="el" href="#a1">twice</a> (T x)</td></tr><tr class="memdesc:a1">'
        '<td class="mdescLeft">&#160;</td><td class="mdescRight">Doubles.<br></td></tr><tr class="memitem:a2">'
        '<td class="memItemLeft">int&#160;</td><td class="memItemRight"><a href="#a2">g</a> ()</td></tr></table>'
    )
    said = "- [`template<class T> T twice (T x)`](#a1)\n\n  Doubles.\n\n- [`int g ()`](#a2)\n"
    assert markdown(f"{DOXYGEN}{html}") == said


def test_adjacent_emphasis_is_merged() -> None:
    """Napoleon cuts the type of a parameter at each comma."""
    assert markdown("<p>(<em>int</em><em>, </em><em>optional</em>)</p>") == "(*int, optional*)\n"
    assert markdown("<p><strong>a</strong><strong>, </strong><strong>b</strong>c</p>") == "**a, b**c\n"


def test_horizontal_lists_are_definitions() -> None:
    """AsciiDoc's lists with terms on the left are tables on the page, and say the same as those with terms above."""
    html = (
        '<div class="hdlist"><table><tr><td class="hdlist1"><code>-a</code></td><td class="hdlist2"><p>All.</p>'
        '<div class="listingblock"><div class="content"><pre>ls -a</pre></div></div></td></tr><tr><td class="hdlist1">'
        'b\n<br>\n</td><td class="hdlist2"><p>Bs.</p></td></tr></table></div>'
    )
    assert markdown(html) == "- `-a`\n\n  All.\n\n  ```\n  ls -a\n  ```\n\n- **b**\n\n  Bs.\n"
    docbook = (
        '<div class="horizontal"><table class="horizontal" border="0"><colgroup><col><col></colgroup><tbody><tr><td><p>'
        '<code class="literal">-a</code></p></td><td><p>All.</p></td></tr></tbody></table></div>'
    )
    assert markdown(f"{DOCBOOK}{docbook}") == "- `-a`\n\n  All.\n"


@pytest.mark.parametrize("generator", ["Asciidoctor 2.0.18", "Antora 3.1.7"])
@pytest.mark.parametrize("arrow", ['<i class="fa fa-angle-right caret"></i>', '<b class="caret">&#8250;</b>'])
def test_menu_path_has_arrows(generator: str, arrow: str) -> None:
    """The arrow is an icon or a bold sign."""
    html = f'<span class="menuseq"><b class="menu">File</b>&#160;{arrow} <b class="menuitem">Save</b></span>'
    assert markdown(f'<meta name="generator" content="{generator}"><p>{html}</p>') == "**File** › **Save**\n"


def test_quote_in_a_table_becomes_quote() -> None:
    """DocBook has a table for each quote of which it knows who said it."""
    html = (
        '<div class="blockquote"><table border="0" class="blockquote" summary="Block quote"><tr><td width="10%"> </td>'
        '<td width="80%"><p>Words.</p></td><td width="10%"> </td></tr><tr><td width="10%"> </td>'
        '<td colspan="2" align="right">--<span class="attribution">A. Nyone</span></td></tr></table></div>'
    )
    assert markdown(f"{DOCBOOK}{html}") == "> Words.\n>\n> — A. Nyone\n"


def test_docbook_function_is_code() -> None:
    """It stands in a table if it is long, in a paragraph if it is not."""
    html = (
        '<div class="funcsynopsis"><pre class="funcsynopsisinfo">#include &lt;a.h&gt;</pre><table border="0" '
        'summary="Function synopsis"><tr><td><code class="funcdef">int <b class="fsfunc">max</b>(</code></td>'
        '<td>int <var class="pdparam">a</var>, </td></tr><tr><td> </td><td>int <var class="pdparam">b</var>'
        '<code>)</code>;</td></tr></table><div class="funcprototype-spacer"> </div><p><code class="funcdef">int '
        '<b class="fsfunc">f</b>(</code>int <var class="pdparam">a</var><code>)</code>;</p></div>'
    )
    assert markdown(html) == "```\n#include <a.h>\n```\n\n`int max(int a, int b);`\n\n`int f(int a);`\n"


def test_docbook_callouts_are_numbered() -> None:
    """Number and remark are cells of a table, and what else a remark holds stays with it."""
    number = '<td width="5%"><p><a href="#co{0}"><img src="{0}.png" alt="{0}" border="0"></a> </p></td>'
    html = (
        f'<div class="calloutlist"><table border="0" summary="Callout list"><tr>{number.format(1)}<td><p>One.</p></td>'
        f'</tr><tr>{number.format(2)}<td><p>Two</p><pre class="screen">x</pre></td></tr></table></div>'
    )
    assert markdown(html) == "1. One.\n2. Two\n   ```\n   x\n   ```\n"


def test_callout_list_stays_together() -> None:
    """Asciidoctor has them in a list if it has no icons for their numbers; a table in one of them is no reason."""
    html = '<div class="colist arabic"><ol><li><p>One.</p><table><tr><th>a</th></tr></table></li></ol></div>'
    assert markdown(html) == "1. One.\n   | a |\n   | --- |\n"


def test_keys_marked_by_class_only() -> None:
    """DocBook writes them in bold."""
    html = '<p><span class="keycap"><strong>Ctrl</strong></span>+<span class="keycap"><strong>C</strong></span></p>'
    assert markdown(f"{DOCBOOK}{html}") == "<kbd>Ctrl</kbd>+<kbd>C</kbd>\n"


def test_other_titles_are_bold() -> None:
    """Sphinx has rubrics, topics and sidebars, whose titles are paragraphs."""
    html = (
        '<p class="rubric">Notes</p><p>n</p><aside class="sidebar"><p class="sidebar-title">Side</p><p>s</p></aside>'
        '<aside class="topic"><p class="topic-title"><strong>Topic</strong></p><p>t</p></aside>'
    )
    page = f'<link rel="stylesheet" href="_static/pygments.css"><div class="body" role="main"><h1>x</h1>{html}</div>'
    assert markdown(page) == ("# x\n\n**Notes**\n\nn\n\n**Side**\n\ns\n\n**Topic**\n\nt\n")


@pytest.mark.parametrize(
    ("title", "said", "told"),
    [
        ("Fail\n <code>-x</code> now ", "Fail `-x` now", "Fail <code>-x</code> now"),
        (
            'The <code class="literal"><span class="pre">a</span> <span class="pre">b</span></code>',
            "The `a b`",
            "The <code>a b</code>",
        ),
        ("<code>a</code> <code>b</code>", "`a` `b`", "<code>a</code> <code>b</code>"),
        ("<b>Fail</b> <code>a&lt;b</code>", "Fail `a<b`", "<strong>Fail</strong> <code>a&lt;b</code>"),
    ],
)
def test_code_in_a_title_is_kept(title: str, said: str, told: str) -> None:
    """Boxes, tabs and folded sections keep it."""
    box = f'<div class="admonition warning"><p class="admonition-title">{title}</p><p>x</p></div>'
    assert markdown(box) == f"> [!WARNING]\n> **{said}**\n>\n> x\n"
    tabs = f'<ul role="tablist"><li role="tab">{title}</li></ul><div role="tabpanel">x</div>'
    assert markdown(tabs) == f"- **{said}**\n\n  x\n"
    section = f"<details><summary>{title}</summary><p>x</p></details>"
    assert markdown(section) == f"<details><summary>{told}</summary>\n\nx\n\n</details>\n"


def test_links_that_run_an_example_are_not_kept() -> None:
    """Rust's lead to a playground with all of the code in their address: a third of the longest pages."""
    arrow = '<a class="test-arrow" target="_blank" href="https://play.rust-lang.org/?code=fn%20main()">Run</a>'
    html = f'<div class="example-wrap"><pre class="rust rust-example-rendered"><code>a();</code></pre>{arrow}</div>'
    assert markdown(RUSTDOC + html) == "```rust\na();\n```\n"


def test_a_button_that_runs_an_example_is_not_kept() -> None:
    """cppreference's is made of boxes; what it would run stands below it."""
    button = '<div class="t-example-live-link"><div class="coliru-btn coliru-btn-run-init">Run this code</div></div>'
    head = '<meta name="generator" content="MediaWiki 1.21.2">'
    assert markdown(f"{head}<div class='t-example'>{button}<pre>a();</pre></div>") == "```\na();\n```\n"
