"""Ordered lists that count otherwise than Markdown does."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol reversed><li>x<li>y<li>z</ol>", "3. x\n2. y\n1. z\n"),
        ("<ol reversed start=10><li>x<li>y</ol>", "10. x\n9. y\n"),
        ("<ol reversed start=1><li>x<li>y</ol>", "1. x\n2. y\n"),
        ("<ol reversed><li>x<li value=7>y<li>z</ol>", "3. x\n7. y\n6. z\n"),
    ],
    ids=["from its length", "from a number", "below nothing", "from an item's own"],
)
def test_numbers_that_count_down(html: str, expected: str) -> None:
    """They are those that the page shows, unless Markdown has no such numbers."""
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("ol", "ranks"),
    [
        ("<ol type=a>", "ab"),
        ("<ol type=A start=26>", ("Z", "AA")),
        ("<ol type=i start=4>", ("iv", "v")),
        ("<ol type=I start=1999>", ("MCMXCIX", "MM")),
        ("<ol type=i start=4000>", ("4000\\", "4001\\")),
        ('<ol class="loweralpha simple">', "ab"),
        ('<ol class="arabic" style="list-style-type: upper-latin">', "AB"),
        ("<ol type=a reversed>", "ba"),
    ],
)
def test_letters_are_written(ol: str, ranks: tuple[str, str]) -> None:
    """A text may speak of step b, and Markdown has no lists with letters."""
    first, second = ranks
    assert markdown(f"{ol}<li>x<li><p>y</p></ol>") in (
        f"- {first}. x\n- {second}. y\n",
        f"- {first}. x\n\n- {second}. y\n",
    )


@pytest.mark.parametrize("ol", ["<ol>", "<ol type=1>", '<ol class="upper lowercase">', "<ol type=x>"])
def test_other_lists_have_numbers(ol: str) -> None:
    """Nothing is written into an item that Markdown counts by itself."""
    assert markdown(f"{ol}<li>x<li>y</ol>") == "1. x\n2. y\n"


def test_letters_and_numbers_in_a_cell() -> None:
    """There they are written as everywhere else."""
    html = "<table><tr><th>A<th>B<tr><td><ol type=a><li>x<li>y</ol><td><ol reversed><li>x<li>y</ol></table>"
    assert "| a. x<br>b. y | 2. x<br>1. y |" in markdown(html)


def test_footnotes_with_letters_stay_footnotes() -> None:
    """Their letters are what they are referred to by."""
    html = (
        '<p>x<sup><a href="#n1" id="r1">a</a></sup></p>'
        '<div class="footnotes"><ol type="a"><li id="n1">Note</li></ol></div>'
    )
    assert markdown(html) == "x[^a]\n\n[^a]: Note\n"
