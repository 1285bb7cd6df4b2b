"""What manuals and references say beside their text, in the markup that their generators write."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

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
def test_what_a_term_is_stands_beside_it(term: str, text: str) -> None:
    """Classifiers are parted by the colons that a style sheet shows, and what the page says in bold stays as it is."""
    assert markdown(f"<dl><dt>{term}</dt><dd><p>Said.</p></dd></dl>") == f"- {text}\n\n  Said.\n"


def test_a_footnote_that_is_cited_twice_has_no_ways_back() -> None:
    """The numbers that lead back to where a note is cited are no part of it."""
    html = (
        '<p>x <a class="footnote-reference brackets" href="#f1" id="id1" role="doc-noteref">[1]</a> y '
        '<a class="footnote-reference brackets" href="#f1" id="id2" role="doc-noteref">[1]</a></p>'
        '<aside class="footnote brackets" id="f1" role="doc-footnote"><span class="label">'
        '<span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></span><span class="backrefs">'
        '(<a role="doc-backlink" href="#id1">1</a>,<a role="doc-backlink" href="#id2">2</a>)</span><p>Text.</p></aside>'
    )
    assert markdown(html) == "x [^1] y [^1]\n\n[^1]: Text.\n"


def test_fields_of_rust_s_types_stand_apart() -> None:
    """A field without a word on it is a paragraph, of a struct as of an enum's variant."""
    html = (
        '<span id="structfield.a" class="structfield section-header"><a href="#structfield.a" class="anchor">§</a>'
        '<code>a: u8</code></span><span id="structfield.b" class="structfield section-header"><code>b: u16</code>'
        "</span>"
        '<div class="sub-variant-field"><span id="variant.A.field.x" class="section-header"><code>x: u8</code></span>'
        "</div>"
    )
    assert markdown(f"{RUSTDOC}{html}") == "`a: u8`\n\n`b: u16`\n\n`x: u8`\n"


def test_the_margin_of_rust_s_functions_is_no_paragraph() -> None:
    """The link to the source goes with the version and the dot in front of it."""
    html = (
        '<section id="method.f" class="method"><span class="rightside"><span class="since" title="Stable since Rust '
        'version 1.0.0">1.0.0</span> · <a class="src" href="../src/a.rs.html">Source</a></span>'
        '<h4 class="code-header">pub fn <a href="#method.f" class="fn">f</a>()</h4></section>'
    )
    assert markdown(f"{RUSTDOC}{html}") == "#### `pub fn f()`\n"


def test_labels_of_a_doxygen_signature_stand_apart() -> None:
    """They are boxes on the page."""
    html = (
        '<div class="memproto"><table class="mlabels"><tr><td class="mlabels-left"><table class="memname"><tr>'
        '<td class="memname">int f</td><td>(</td><td class="paramname">)</td></tr></table></td>'
        '<td class="mlabels-right"><span class="mlabels"><span class="mlabel">static</span>'
        '<span class="mlabel">constexpr</span></span></td></tr></table></div>'
    )
    assert markdown(f"{DOXYGEN}{html}") == "`int f() static constexpr`\n"


def test_a_template_is_declared_with_its_parameters() -> None:
    """Doxygen has them in a row of their own, above the declaration."""
    html = (
        '<table class="memberdecls"><tr class="memitem:a1"><td class="memTemplParams" colspan="2">'
        'template&lt;class T&gt; </td></tr><tr class="memitem:a1"><td class="memTemplItemLeft">T&#160;</td>'
        '<td class="memTemplItemRight"><a class="el" href="#a1">twice</a> (T x)</td></tr><tr class="memdesc:a1">'
        '<td class="mdescLeft">&#160;</td><td class="mdescRight">Doubles.<br></td></tr><tr class="memitem:a2">'
        '<td class="memItemLeft">int&#160;</td><td class="memItemRight"><a href="#a2">g</a> ()</td></tr></table>'
    )
    assert markdown(f"{DOXYGEN}{html}") == "- `template<class T> T twice (T x)`\n\n  Doubles.\n\n- `int g ()`\n"


def test_emphasis_in_pieces_is_one() -> None:
    """Napoleon cuts the type of a parameter at each comma."""
    assert markdown("<p>(<em>int</em><em>, </em><em>optional</em>)</p>") == "(*int, optional*)\n"
    assert markdown("<p><strong>a</strong><strong>, </strong><strong>b</strong>c</p>") == "**a, b**c\n"
