"""Notes of many makers become alerts, with their own titles and nothing said twice."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

QUARTO = '<meta name="generator" content="quarto-1.4.550"><main id="quarto-document-content"><p>x</p>'
WRITERSIDE = '<script src="https://resources.jetbrains.com/writerside/apidoc/6.4/app.js"></script>'
NOTES = {
    "DocFX": ('<div class="NOTE"><h5>Note</h5><p>B</p></div>', "> [!NOTE]\n> B\n"),
    "Microsoft Learn": ('<div class="WARNING">\n<p>Warning</p>\n<p>B</p></div>', "> [!WARNING]\n> B\n"),
    "Documenter": (
        '<div class="admonition is-warning"><header class="admonition-header">Julia 1.5</header>'
        '<div class="admonition-body"><p>B</p></div></div>',
        "> [!WARNING]\n> **Julia 1.5**\n>\n> B\n",
    ),
    "Relearn": (
        '<div class="box notices cstyle note"><div class="box-label"><i class="fas"></i> Note</div>'
        '<div class="box-content"><p>B</p></div></div>',
        "> [!NOTE]\n> B\n",
    ),
    "AWS": (
        '<div class="awsdocs-note awsdocs-important"><div class="awsdocs-note-title"><awsui-icon></awsui-icon>'
        '<h6>Important</h6></div><div class="awsdocs-note-text"><p>B</p></div></div>',
        "> [!IMPORTANT]\n> B\n",
    ),
    "Confluence": (
        '<div class="confluence-information-macro confluence-information-macro-information"><p class="title">T</p>'
        '<span class="aui-icon"></span><div class="confluence-information-macro-body"><p>B</p></div></div>',
        "> [!NOTE]\n> **T**\n>\n> B\n",
    ),
    "ReadMe": (
        '<blockquote class="callout callout_warn"><h3 class="callout-heading">Mind</h3><p>B</p></blockquote>',
        "> [!WARNING]\n> **Mind**\n>\n> B\n",
    ),
    "Chirpy": ('<blockquote class="prompt-tip"><p>B</p></blockquote>', "> [!TIP]\n> B\n"),
    "Quarto": (
        f'{QUARTO}<div class="callout callout-tip callout-titled"><div class="callout-header"><div '
        'class="callout-title-container"><span class="screen-reader-only">Tip</span>T</div></div>'
        '<div class="callout-body-container"><p>B</p></div></div></main>',
        "x\n\n> [!TIP]\n> **T**\n>\n> B\n",
    ),
    "Writerside": (
        f'{WRITERSIDE}<main><aside class="prompt" data-type="tip"><p>B</p></aside></main>',
        "> [!TIP]\n> B\n",
    ),
    "Nextra": (
        '<div class="nextra-callout x:flex x:bg-yellow-50 x:text-yellow-700 x:border-yellow-700"><div><svg></svg></div>'
        '<div class="x:w-full"><p>B</p></div></div>',
        "> [!WARNING]\n> B\n",
    ),
    "VuePress": (
        '<div class="hint-container tip"><p class="hint-container-title">Tips</p><p>B</p></div>',
        "> [!TIP]\n> B\n",
    ),
    "GitBook": (
        '<meta name="generator" content="GitBook"><div class="hint rounded-md bg-danger"><p>B</p></div>',
        "> [!CAUTION]\n> B\n",
    ),
    "gitbook-cli": (
        '<meta name="generator" content="GitBook"><blockquote class="hint hint-warning"><p>B</p></blockquote>',
        "> [!WARNING]\n> B\n",
    ),
    "Sphinx": (
        '<div class="admonition hint"><p class="admonition-title">Hint</p><p>B</p></div>',
        "> [!TIP]\n> **Hint**\n>\n> B\n",
    ),
    "ReadMe with a sign": (
        '<blockquote class="callout callout_info"><h3 class="callout-heading"><span class="callout-icon">📘</span>'
        "<p>Mind</p></h3><p>B</p></blockquote>",
        "> [!NOTE]\n> **Mind**\n>\n> B\n",
    ),
    "ReadMe with nothing else": (
        '<blockquote class="callout callout_warn"><h3 class="callout-heading"><span class="callout-icon">🚧</span>'
        "</h3><p>B</p></blockquote>",
        "> [!WARNING]\n> B\n",
    ),
    "with an operator": (
        '<div class="admonition note"><p class="admonition-title"><code>&amp;&amp;</code> or <kbd>↑</kbd></p><p>B</p>'
        "</div>",
        "> [!NOTE]\n> **`&&` or <kbd>↑</kbd>**\n>\n> B\n",
    ),
    "GitLab": (
        '<div class="gl-alert gl-alert-danger"><div class="gl-alert-content"><h2 class="gl-alert-title">T</h2>'
        '<div class="gl-alert-body"><p>B</p></div></div></div>',
        "> [!CAUTION]\n> **T**\n>\n> B\n",
    ),
    "Docusaurus 2": (
        '<div class="admonition admonition-tip alert alert--success"><div class="admonition-heading"><h5>'
        '<span class="admonition-icon"><svg></svg></span>T</h5></div><div class="admonition-content"><p>B</p></div>'
        "</div>",
        "> [!TIP]\n> **T**\n>\n> B\n",
    ),
    "MDN": (
        '<div class="notecard deprecated"><p><strong>Deprecated:</strong> B</p></div>',
        "> [!WARNING]\n> **Deprecated:** B\n",
    ),
    "bookdown": ('<div class="rmdcaution"><p>B</p></div>', "> [!CAUTION]\n> B\n"),
    "by hand": ('<div class="note"><p><b>Important:</b></p><p>B</p></div>', "> [!IMPORTANT]\n> B\n"),
}


@pytest.mark.parametrize(("html", "expected"), NOTES.values(), ids=NOTES)
def test_admonitions_become_alerts(html: str, expected: str) -> None:
    """Whatever a note's box and title are called, it is an alert of its kind."""
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>[!NOTE]<br>A <b>b</b>.</p>", "> [!NOTE]\n> A **b**.\n"),
        ("<p>[!note]\nA.</p>", "> [!NOTE]\n> A.\n"),
        ("<p>[!TIP]</p><p>A.</p>", "> [!TIP]\n> A.\n"),
        ("<p>[!TIP]</p><ul><li>a</li></ul>", "> [!TIP]\n>\n> - a\n"),
        ("<p>[!BOX] A.</p>", "> \\[!BOX\\] A.\n"),
    ],
)
def test_unrendered_alert_becomes_alert(html: str, expected: str) -> None:
    """Where a page's maker did not know GitHub's alerts, the page has them as they were written."""
    assert markdown(f"<blockquote>{html}</blockquote>") == expected


@pytest.mark.parametrize("text", ["Note", "Important things come first."])
def test_text_of_a_note_is_no_title(text: str) -> None:
    """All that a note says stays in it, even if it sounds like a title."""
    assert markdown(f'<div class="note"><p>{text}</p></div>') == f"> [!NOTE]\n> {text}\n"


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ('See <a href="/b.html">the <code>b</code></a> page', "See [the `b`](https://example.com/b.html) page"),
        ('Use <a href="#grow"><code>grow</code></a> instead', "Use [`grow`](#grow) instead"),
        ('<a href="/b.html">Elsewhere</a>', "[Elsewhere](https://example.com/b.html)"),
        ('<a href="#more" data-toggle="collapse">Press me</a>', "Press me"),
    ],
)
def test_links_in_admonition_titles_are_kept(title: str, said: str) -> None:
    """A link in a title leads where it led; one that is all of the title and stays on the page opens the note."""
    html = f'<div class="admonition note"><p class="admonition-title">{title}</p><p id="more">B</p></div>'
    assert f"> **{said}**\n>\n> B\n" in markdown(html)


def test_table_admonition_keeps_its_title() -> None:
    """DocBook's boxes with an icon have their titles in a header cell."""
    box = (
        '<div class="tip"><table summary="Tip"><tr><td rowspan="2"><img alt="[Tip]" src="tip.svg"></td>'
        "<th>{}</th></tr><tr><td><p>B</p></td></tr></table></div>"
    )
    assert markdown(box.format("Build first")) == "> [!TIP]\n> **Build first**\n>\n> B\n"
    assert markdown(box.format("Tip")) == "> [!TIP]\n> B\n"


def test_data_table_in_admonition_is_kept() -> None:
    """A box is drawn by a table only where its last cell alone says something."""
    rows = "<tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr>"
    assert markdown(f'<div class="note"><table>{rows}</table></div>') == (
        "> [!NOTE]\n>\n> | A | B |\n> | --- | --- |\n> | 1 | 2 |\n"
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><b>Note:</b> Mind this.</p>", "> [!NOTE]\n> Mind this.\n"),
        ("<strong>Warning</strong>: Mind this.", "> [!WARNING]\n> Mind this.\n"),
        ("<p><b>Note:</b><br>Mind this.</p>", "> [!NOTE]\n> Mind this.\n"),
        ("<p><b>Note</b> that this is a sentence.</p>", "> [!NOTE]\n> **Note** that this is a sentence.\n"),
        ("<p><b>Note:</b></p>", "> [!NOTE]\n> **Note:**\n"),
    ],
)
def test_bold_kind_is_not_repeated(html: str, expected: str) -> None:
    """A note's first line often begins with what the alert says already; with a colon, that is all it is."""
    assert markdown(f'<div class="note">{html}</div>') == expected


@pytest.mark.parametrize(
    "html",
    [
        '<div class="note"><div class="noteicon"><img src="n.svg" alt="note"></div><div><p>B</p></div></div>',
        '<div class="note"><p><img src="n.svg" alt="Note Icon"> B</p></div>',
        '<div class="NOTE"><blockquote class="NOTE"><p><b>Note: </b>B</p></blockquote></div>',
        '<div class="note"><p></p><table><tr><td><b>Note</b></td></tr><tr><td><p>B</p></td></tr></table></div>',
        '<div class="infoboxnote" id="G"><p class="notep1">Note:</p><p>B</p></div>',
        '<div class="application-notice info-notice"><p>B</p></div>',
        '<div class="note"><div class="label">Note</div><div class="content"><p>B</p></div></div>',
    ],
    ids=["LibreOffice", "in a line", "a box in a box", "older DocBook", "Oracle", "GOV.UK", "Erlang"],
)
def test_kind_is_written_once(html: str) -> None:
    """Neither an icon, nor a second box, nor a table says it once more."""
    assert markdown(html) == "> [!NOTE]\n> B\n"


def test_icon_determines_the_kind() -> None:
    """Where no name does, its words do."""
    html = '<div class="admonition"><img alt="Warning icon" src="w.png"><p>B</p></div>'
    assert markdown(html) == "> [!WARNING]\n> B\n"


def test_warning_sign_is_removed() -> None:
    """GOV.UK draws it for the eyes alone."""
    html = '<div class="govuk-warning-text"><span aria-hidden="true">!</span><strong>You can be fined.</strong></div>'
    assert markdown(html) == "> [!WARNING]\n> **You can be fined.**\n"


def test_leading_signs_of_a_note_are_kept() -> None:
    """Only the colon behind the word for its kind goes with that word."""
    assert markdown("<div class=note><p><b>Note:</b> ::before is CSS</p></div>") == "> [!NOTE]\n> ::before is CSS\n"
    assert markdown("<div class=note><p><b>Note</b>: :ref: is a role</p></div>") == "> [!NOTE]\n> :ref: is a role\n"


def test_a_letter_is_no_icon() -> None:
    """Whoever hides one from those who cannot see shows it to all others."""
    html = '<div class=note><p><span aria-hidden="true">x</span> is a variable</p></div>'
    assert markdown(html) == "> [!NOTE]\n> x is a variable\n"


def test_row_header_is_no_title() -> None:
    """A table in a note keeps its cells."""
    rows = "<tr><td>A</td><td>4</td></tr><tr><th>Total</th><td>5</td></tr>"
    text = markdown(f'<div class="admonition note"><table>{rows}</table></div>')
    assert "Total" in text
    assert "**Total**" not in text


@pytest.mark.parametrize(
    ("html", "inside"),
    [
        (
            '<div class="admonitionblock note"><table><tr><td class="icon"><i title="Note"></i></td>'
            '<td class="content"><div class="paragraph"><p>Text.</p></div><div class="listingblock">'
            '<div class="title">Listing 1</div><div class="content"><pre>x</pre></div></div></td></tr></table></div>',
            "> Listing 1\n>\n> ```\n> x\n> ```\n",
        ),
        (
            '<div class="note"><p>Text.</p><div class="table"><p class="title"><b>Table 1</b></p>'
            "<table><tr><th>a</th></tr><tr><td>b</td></tr></table></div></div>",
            "> **Table 1**\n>\n> | a |\n> | --- |\n> | b |\n",
        ),
        (
            '<div class="alert alert-info">Text.<details><summary>More</summary><p>x</p></details></div>',
            "> <details><summary>More</summary>\n>\n> x\n>\n> </details>\n",
        ),
    ],
    ids=["listing", "table", "details"],
)
def test_title_below_the_text_is_no_title(html: str, inside: str) -> None:
    """It names a listing or a table, or what can be unfolded, and stays there."""
    text = markdown(f'<meta name="generator" content="Asciidoctor 2.0.23">{html}')
    assert text == f"> [!NOTE]\n> Text.\n>\n{inside}"
