"""Tables whose rows and cells are boxes: by what a screen reader is told of them, or by a style sheet alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from turbohtml import Comment, Element

from sitemirror.convert.tables import shape_table

_INNER: Final = "[role=table], table"
_ROWS: Final = "[role=row]"
_CELLS: Final = "[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]"
_MAX_COLUMNS: Final = 100  # Wider ones are mistakes.
_SHOWN: Final = ("img", "video", "audio", "math", "iframe", "object")  # without any text
_HEADERS: Final = ("columnheader", "rowheader")


def shape_spoken_table(box: Element) -> bool:
    """Makes a table of boxes that are called one; `False` if they hold more than their cells, or hardly any."""
    if box.select_one(_INNER) is not None:
        return False
    rows = box.select(_ROWS)
    cells = [row.select(_CELLS) for row in rows]
    every = [cell for row in cells for cell in row]
    if len(rows) < 2 or max(map(len, cells)) < 2 or len(set(every)) < len(every):
        return False
    if sum(map(_length, every)) < _length(box) or sum(map(_pictures, every)) < _pictures(box):
        return False
    if any(cell.select_one(_CELLS) is not None for cell in every):
        return False
    inside = {node for cell in every for node in cell.descendants}
    for pin in [node for node in box.descendants if isinstance(node, Comment) and node not in inside]:
        every[0].insert(0, pin)
    for row, own in zip(rows, cells, strict=True):
        box.append(row)
        row.extend(own)
        _leave(row, own)
        row.tag = "tr"
    _leave(box, rows)
    for cell in every:
        cell.tag = "th" if cell.attr("role") in _HEADERS else "td"
    box.tag = "table"
    shape_table(box)
    return True


def shape_grid(grid: Element) -> bool:
    """Makes a table of boxes that a style sheet arranges as one, with its header's boxes in front."""
    boxes = [child for child in grid if isinstance(child, Element)]
    width = sum(1 for box in boxes if "header" in (box.attr("class") or ""))
    if not 0 < width <= _MAX_COLUMNS:
        return False
    between = [child for child in grid if not isinstance(child, Element)]
    for start in range(0, len(boxes), width):
        row = Element("tr")
        grid.append(row)  # Before anything is put into it: what moves within one tree is not copied.
        row.extend(boxes[start : start + width])
    for box in boxes:
        box.tag = "td"
    for node in between:
        node.extract()
    grid.tag = "table"
    shape_table(grid)
    return True


def _leave(element: Element, children: Sequence[Element]) -> None:
    """Leaves only these in an element."""
    wanted = frozenset(children)
    for rest in [child for child in element if child not in wanted]:
        rest.extract()


def _pictures(element: Element) -> int:
    return sum(1 for _ in element.iter_elements(_SHOWN))


def _length(element: Element) -> int:
    return len("".join(element.text.split()))
