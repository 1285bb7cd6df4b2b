"""Lists that Word writes as paragraphs."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

WORD = '<meta name=Generator content="Microsoft Word 15 (filtered)"><div class=WordSection1>'
BLANKS = "<span style='font:7.0pt \"Times New Roman\"'>&nbsp;&nbsp; </span>"


def entry(label: str, text: str, margin: str = "36.0pt", more: str = "") -> str:
    """A paragraph as Word has an item of a list."""
    style = f"margin-left:{margin};text-indent:-18.0pt;{more}"
    return f'<p class=MsoListParagraph style="{style}"><span>{label}{BLANKS}</span>{text}</p>\n'


def test_items_are_as_deep_as_they_stand_in() -> None:
    """Where nothing says how deep an item is, its margin does."""
    html = entry("·", "a") + entry("o", "b", "2.54cm") + entry("§", "c", "1.5in") + entry("·", "d")
    assert markdown(WORD + html) == "- a\n  - b\n    - c\n- d\n"
    html = entry("·", "a", "9pt", "mso-list:l0 level1 lfo1") + entry("o", "b", "9pt", "mso-list:l0 level2 lfo1")
    assert markdown(WORD + html) == "- a\n  - b\n"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("1.", "2."), "1. x\n2. y\n"),
        (("4)", "5)"), "4. x\n5. y\n"),
        (("a.", "b."), "- a. x\n- b. y\n"),
        (("1.1", "1.2"), "- 1.1 x\n- 1.2 y\n"),
        (("·", "1."), "- x\n1. y\n"),
    ],
)
def test_items_have_their_numbers(labels: tuple[str, str], expected: str) -> None:
    """Those that Markdown has are its own; letters and others are written."""
    first, second = labels
    assert markdown(WORD + entry(first, "x") + entry(second, "y")) == expected


def test_emphasis_around_a_label_and_its_text_stays() -> None:
    """Only the label and the blanks behind it go."""
    html = f"<p class=MsoListParagraph><b>1.{BLANKS}One</b> more</p><p class=MsoListParagraph>No label</p>"
    assert markdown(WORD + html) == "1. **One** more\n\nNo label\n"


def test_text_between_lists_parts_them() -> None:
    """Each list is one by itself then."""
    html = entry("1.", "a") + "<p class=MsoNormal>Text</p>" + entry("1.", "b")
    assert markdown(WORD + html) == "1. a\n\nText\n\n1. b\n"


def test_other_pages_have_paragraphs() -> None:
    """What is no page of Word's is left as it is."""
    assert markdown(f"<p class=MsoListParagraph>1.{BLANKS}One</p>").startswith("1\\.")


@pytest.mark.parametrize("depth", ["", "x", "0", "1", "99"])
def test_a_page_cannot_pass_for_a_list_that_was_made(depth: str) -> None:
    """Whatever it says of its own lists, empty ones included, an item has its place."""
    html = f'<ul data-entries="{depth}"></ul>' + entry("o", "b", "72.0pt") + f'<ul data-entries="{depth}">x</ul>'
    assert "- b\n" in markdown(WORD + html + entry("o", "c", "72.0pt"))
