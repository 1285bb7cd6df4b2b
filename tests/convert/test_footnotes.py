"""Footnotes whose notes no list holds."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


def test_texinfo_heads_each_note_with_its_number() -> None:
    """The headings are the notes' labels, and each note is one with all that follows it."""
    notes = "".join(
        f'<h5 class="footnote-body-heading"><a id="FOOT{n}" href="#DOCF{n}">({n})</a></h5><p>Note {n}.</p><p>More.</p>'
        for n in (1, 2)
    )
    text = "".join(f'Text<a class="footnote" id="DOCF{n}" href="#FOOT{n}"><sup>{n}</sup></a>. ' for n in (1, 2))
    assert markdown(f'<p>{text}</p><div class="footnote"><h4>Notes</h4>{notes}</div>') == (
        "Text[^1]. Text[^2].\n\n#### Notes\n\n[^1]: Note 1.\n\n    More.\n\n[^2]: Note 2.\n\n    More.\n"
    )


def test_org_defines_each_note_in_a_box() -> None:
    """The number that leads back is not part of the note."""
    html = (
        '<p>Text<sup><a id="fnr.1" class="footref" href="#fn.1" role="doc-backlink">1</a></sup>.</p>'
        '<div class="footdef"><sup><a id="fn.1" class="footnum" href="#fnr.1" role="doc-backlink">1</a></sup> '
        '<div class="footpara" role="doc-footnote"><p class="footpara">The note.</p></div></div>'
    )
    assert markdown(html) == "Text[^1].\n\n[^1]: The note.\n"


@pytest.mark.parametrize(
    ("generator", "attributes"),
    [
        ("pkgdown 2.0.7", 'data-bs-toggle="popover" data-bs-content'),
        ("bookdown 0.32 with bs4_book()", 'data-toggle="popover" data-content'),
    ],
)
def test_notes_inside_their_marks(generator: str, attributes: str) -> None:
    """pkgdown shows a note to who points at its number, and has it nowhere else; its links are those of the page."""
    note = (
        "&lt;p&gt;See &lt;a href=&quot;more.html&quot;&gt;more&lt;/a&gt; on &lt;code&gt;row()&lt;/code&gt;.&lt;/p&gt;"
    )
    html = (
        f'<meta name="generator" content="{generator}"><main id="content"><h1>T</h1><p>Text<a class="footnote-ref" '
        f'tabindex="0" {attributes}="{note}"><sup>1</sup></a>.</p></main>'
    )
    assert markdown(html, content="auto") == (
        "# T\n\nText[^1].\n\n[^1]: See [more](https://example.com/docs/more.html) on `row()`.\n"
    )


def test_nested_notes_in_marks() -> None:
    """However deep they are written, one is read: no page can make the converter go down forever."""
    note = "The end"
    for _ in range(200):
        quoted = note.replace("&", "&amp;").replace('"', "&quot;")
        note = f'<a class=footnote-ref data-content="{quoted}"><sup>1</sup></a>'
    html = f'<meta name="generator" content="pkgdown 2.0.7"><main id="main"><h1>T</h1><p>Text {note}</p></main>'
    assert markdown(html, content="auto") == "# T\n\nText [^1]\n\n[^1]: 1\n"


def test_year_before_a_reference_is_no_list_number() -> None:
    """A number and a point may end a sentence, or begin the item that begins with the reference."""
    html = (
        '<p>Published in November 1987. <a href="#n1">[1]</a></p><ol><li><a href="#n1">[1]</a> says so.</li></ol>'
        '<aside class="footnote" id="n1" role="note"><p>The note.</p></aside>'
    )
    assert markdown(html) == "Published in November 1987. [^1]\n\n1. [^1] says so.\n\n[^1]: The note.\n"


def test_back_links_are_removed() -> None:
    """Old docutils has its notes in tables, with the number apart and a link for each of the references."""
    refs = "".join(f'<p>Text <a class="footnote-reference" href="#n" id="r{n}">[1]</a></p>' for n in (1, 2))
    html = (
        f'{refs}<table class="docutils footnote" id="n" rules="none"><colgroup><col class="label" /><col /></colgroup>'
        '<tbody valign="top"><tr><td class="label">[1]</td><td><em>(<a class="fn-backref" href="#r1">1</a>, '
        '<a class="fn-backref" href="#r2">2</a>)</em> The note.</td></tr></tbody></table>'
    )
    assert markdown(f'<meta name="generator" content="Docutils 0.16">{html}') == (
        "Text [^1]\n\nText [^1]\n\n[^1]: The note.\n"
    )


def test_adjacent_references_are_separate() -> None:
    """As in any encyclopedia, where a sentence has several sources."""
    references = "".join(f'<sup class="reference"><a href="#cite_note-{n}">[{n}]</a></sup>' for n in (1, 2))
    notes = "".join(f'<li id="cite_note-{n}"><span class="reference-text">Source {n}</span></li>' for n in (1, 2))
    head = '<meta name="generator" content="MediaWiki 1.43">'
    html = f'{head}<p>Text.{references} More.</p><ol class="references">{notes}</ol>'
    assert markdown(html) == "Text.[^1][^2] More.\n\n[^1]: Source 1\n[^2]: Source 2\n"


def test_gitbook_quotes_its_notes() -> None:
    """A quotation that a reference leads to is a note, without its label and the way back."""
    html = (
        '<p>Text<sup><a href="#fn_a" id="reffn_a">a</a></sup>.</p><blockquote id="fn_a"><sup>a</sup>. The note.'
        '<a href="#reffn_a" title="Jump back to footnote [a] in the text."> ↩</a></blockquote>'
        '<blockquote id="fn_b"><sup>b</sup>. Nobody refers to this.</blockquote>'
    )
    assert markdown(html) == "Text[^a].\n\n[^a]: The note.\n\n> b. Nobody refers to this.\n"


def test_rule_above_footnotes_is_removed() -> None:
    """As markdown-it writes it: above the section, not above the list in it."""
    html = (
        '<p>Text<sup><a href="#fn1" id="fnref1">[1]</a></sup>.</p><hr class="footnotes-sep"><section class="footnotes">'
        '<ol class="footnotes-list"><li id="fn1"><p>The note. <a href="#fnref1" class="footnote-backref">↩︎</a></p></li>'
        "</ol></section>"
    )
    assert markdown(html) == "Text[^1].\n\n[^1]: The note.\n"


def test_mdbook_lists_its_notes() -> None:
    """Its newer releases number them in a list."""
    html = (
        '<link rel="stylesheet" href="css/chrome.css"><p>Text<sup class="footnote-reference" id="fr-1-1">'
        '<a href="#footnote-1">1</a></sup>.</p><hr><ol class="footnote-definition"><li id="footnote-1">'
        '<p>The note. <a href="#fr-1-1">↩</a></p></li></ol>'
    )
    assert markdown(html) == "Text[^1].\n\n[^1]: The note.\n"


def test_rule_above_numbered_notes_is_removed() -> None:
    """As bookdown writes it, whose chapters go on counting."""
    html = (
        '<p>Text<a href="#fn3" id="fnref3"><sup>3</sup></a>.</p><div class="footnotes"><hr><ol start="3"><li id="fn3">'
        '<p>The note.<a href="#fnref3" class="footnote-back">↩︎</a></p></li></ol></div>'
    )
    assert markdown(html) == "Text[^3].\n\n[^3]: The note.\n"


def test_older_docutils_lists_its_notes_as_definitions() -> None:
    """Each term is the label of a note, and what it defines is the note."""
    text = "".join(f'lamp<a class="footnote-reference brackets" href="#n{n}" id="r{n}">{n}</a> ' for n in (1, 2))
    notes = "".join(
        f'<dt class="label" id="n{n}"><span class="brackets"><a class="fn-backref" href="#r{n}">{n}</a></span></dt>'
        f"<dd><p>Note {n}.</p></dd>"
        for n in (1, 2)
    )
    html = f'<p>{text}</p><dl class="footnote brackets">{notes}</dl>'
    assert markdown(html) == "lamp[^1] lamp[^2]\n\n[^1]: Note 1.\n[^2]: Note 2.\n"


def test_list_in_a_footnote() -> None:
    """What has the name that the text leads to is the note, not the items within it."""
    note = '<div class="footnote" id="n1"><p>Either</p><ol><li>one</li><li>two</li></ol></div>'
    assert markdown(f'<p>A<a href="#n1" id="r1">1</a>.</p>{note}') == "A[^1].\n\n[^1]: Either\n    1. one\n    2. two\n"
