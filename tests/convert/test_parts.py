"""The parts of a page that hold text: what single blocks stand alone in, and what holds several."""

from __future__ import annotations

import pytest
import turbohtml

from sitemirror.convert.content.blocks import PageBlocks, PageParts
from sitemirror.convert.content.model import NOTHING, Lexicon


def read(html: str) -> PageBlocks:
    """A page's blocks."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    return PageBlocks(body)


def test_element_with_single_child_is_one_part() -> None:
    """Names of elements around the same blocks are put together, and what they are is handed down."""
    page = "<body id=top><main class=a><div class=b><p class=c>One<p id=d><b>Two</b></div></main><div></div>"
    parts = PageParts(read(page))
    assert parts.names == [" top a b"]
    assert parts.alone == ["c", " d"]
    assert parts.own_flags == [1, 1]
    assert parts.above == [0, 0]


def test_part_with_several_blocks() -> None:
    """A list in a section is in the section, and says so of its items."""
    parts = PageParts(read("<p>One</p><section><h2>Two</h2><ul class=x role=menu><li>Three<li>Four</ul></section>"))
    assert list(zip(parts.starts, parts.ends, parts.parents, strict=True)) == [(0, 4, 0), (1, 4, 0), (2, 4, 1)]
    assert parts.names == ["", "", "x"]
    assert parts.alone == ["", "", "", ""]
    assert parts.above == [0, 1, 2, 2]
    assert parts.loose == []


def test_block_without_part_uses_the_enclosing_part() -> None:
    """It has no name, and is in whatever that is in."""
    parts = PageParts(read("<main class=x>One<p class=y>Two</main>Three"))
    assert (parts.alone, parts.loose) == (["", "y", ""], [0, 2])
    assert parts.own_flags == [1, 1, 0]


def test_single_block_has_one_part() -> None:
    """Nothing stands alone in a part where there is nothing else."""
    parts = PageParts(read("<div class=x><p>One</p></div>"))
    assert (parts.names, parts.alone, parts.loose, parts.above) == ([" x"], [""], [0], [0])


@pytest.mark.parametrize("lists", [1, 100, 255, 256, 400])
def test_block_inherits_from_parent_part(lists: int) -> None:
    """However many parts there are: their numbers need not fit a byte."""
    parts = PageParts(read("<p>One</p>" + "<ul><li>Two<li>Three</ul>" * lists))
    values = [number % 251 for number in range(len(parts.starts))]
    assert parts.of_blocks(values) == bytes(values[part] for part in parts.above)
    assert len(parts.starts) == lists + 1


@pytest.mark.parametrize("lists", [1, 300])
def test_block_inherits_from_ancestor_parts(lists: int) -> None:
    """Above the page there is the page."""
    part = "<div><p>One</p><div><p>Two</p><div><p>Three</p><ul><li>Four<li>Five</ul></div></div></div>"
    parts = PageParts(read("<p>Zero</p>" + part * lists))
    values = [number % 251 for number in range(len(parts.starts))]
    above = parts.above
    for column in parts.above_blocks(values, 4):
        assert column == bytes(values[part] for part in above)
        above = [parts.parents[part] for part in above]


def test_class_names_are_scored_by_words() -> None:
    """Each word of each name counts, also twice; a byte is never left."""
    names = Lexicon({"main": 20, "side": -90, "text": 100}).judged_names
    assert names["mainText main"] == 255
    assert names["side-main"] == NOTHING - 70
    assert names["side side"] == 0
    assert names[""] == NOTHING


def test_roles_are_known_of_elements_without_text() -> None:
    """An empty main part is one, too; what stands in a line of text is none."""
    reading = read("<div role=main></div><p role=note>One <b role=x>two</b></p>")
    assert list(reading.roles.values()) == ["main", "note"]
    assert reading.names == ["", "", ""]
