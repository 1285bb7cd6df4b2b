"""Convert tables to rectangular grids, the only kind in Markdown, or flatten them.

The renderer writes any other table as raw HTML, which would carry the page's own markup and scripts into the mirror. So
spans become empty cells, and short rows are filled. Tables by ARIA role or style sheet are converted, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.elements.inline import code_span
from sitemirror.convert.render.markers import LINE_BREAK, column_alignment
from sitemirror.convert.render.spacing import lift_break

_LAYOUT_ROLES: Final = frozenset(("presentation", "none"))
_BLOCKS: Final = ("h1", "h2", "h3", "h4", "h5", "h6", "pre", "table", "ul", "ol", "blockquote")
_IN_CELLS: Final = frozenset(("pre", "ul", "ol", "blockquote"))  # blocks allowed in cells of a data table
_MAX_NAME: Final = 60  # characters of the first cell of a row
_MAX_CELL: Final = 1500  # characters; longer cells are layout
_GUTTERS: Final = "td:is(.linenos, .rouge-gutter, .gutter, .hljs-ln-numbers, .lntd:first-child:not(:only-child))"
_CELL_PARTS: Final = (
    "br", "p", "div", "ul", "ol", "li", "pre", "blockquote", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "summary",
    "figcaption",
)  # fmt: skip
_CELLS: Final = ("td", "th")
_BETWEEN_CELLS: Final = " | "  # separator of cells in a nested table
_BEFORE: Final = attrgetter("previous_sibling")
_AFTER: Final = attrgetter("next_sibling")
_AROUND: Final = 5  # levels between a line break and its cell
# Wider spans or very unequal rows are mistakes or attacks.
_MAX_COLUMNS: Final = 100
_MAX_PADDING: Final = 50_000  # cells
_SIDES: Final = {"right": "r", "end": "r", "center": "c", "middle": "c"}
_ALIGNED_BY_STYLE: Final = re.compile(r"text-align\s*:\s*(\w+)", re.I)
# Bootstrap and MyST, Asciidoctor, WordPress, Org, Doxygen.
_ALIGNED_BY_CLASS: Final = re.compile(
    r"(?<![\w:-])(?:text-|halign-|has-text-align-|org-|markdownTable(?:Head|Body))(right|center|end)(?![\w-])", re.I
)
_FRACTIONS: Final = frozenset(("t-mfrac", "mfrac", "frac", "fraction"))
_IN_FRACTIONS: Final = ("tbody", "tr", "td", "br", "span", "i")  # without powers and links
_DIGITS: Final = 10  # of a number too long for a Markdown list


def convert_table(table: Element, convert_tabs: Callable[[Element], None] | None = None) -> None:
    """Flatten a layout table; convert line breaks, blocks and spans of any other.

    `convert_tabs` groups the tabs in its cells beforehand.
    """
    if next(table.stripped_strings, None) is None and next(table.iter_elements(_SHOWN), None) is None:
        table.replace_with(*[node for node in table.descendants if isinstance(node, Comment)])
        return  # It contained a footer or form fields.
    has_blocks = _has_blocks(table)
    if _is_layout(table, has_blocks=has_blocks):
        if not _convert_fraction(table):
            flatten_table(table)
        return
    if convert_tabs is not None:
        convert_tabs(table)
    _put_foot_last(table)
    _put_caption_above(table)
    for inner in table.find_all("table") if has_blocks else ():
        _flatten_inner_table(inner)
    for part in list(table.iter_elements(_CELL_PARTS)):
        if part.tag == "br":
            if part.closest("pre, code") is None:
                lift_break(part)
                part.replace_with(*([] if _ends_cell(part) else [Text(LINE_BREAK)]))
        else:
            _flatten_block(part)
    _mark_alignment(table)
    if table.select_one("[colspan], [rowspan]") is not None:
        make_rectangular(table)


def convert_quote_table(table: Element) -> bool:
    """Convert a table that lays out a quotation and its author, or a box without a table, to a quote."""
    if table.tag == "div" and table.find(["blockquote", "table"]) is None:
        table.tag = "blockquote"
        return True
    if table.tag != "table":
        return False
    flatten_table(table)
    table.tag = "blockquote"
    said_by = table.select_one(".attribution")
    if said_by is not None and isinstance(dashes := said_by.previous_sibling, Text):
        dashes.data = dashes.data.replace("--", "— ")
    return True


def convert_link_table(table: Element) -> bool:
    """Convert a table with a link and a description in each row to a list."""
    if table.tag != "table":
        return False
    shown: list[Element] = []
    for row in _rows(table):
        link = row.find("a", href=True)
        if link is None:
            if text := " ".join(row.text.split()):
                shown.append(Element("p", None, [Text(text)]))
            continue
        item = Element("li", None, [link])
        if (cell := _cells(row)[-1]).text.strip() and link not in cell.descendants:
            item.append(Text(": "))
            item.extend(cell.children)
        if not shown or shown[-1].tag != "ul":
            shown.append(Element("ul"))
        shown[-1].append(item)
    table.clear()
    table.extend(shown)
    table.tag = "div"
    return True


def make_rectangular(table: Element) -> None:
    """Give every row the same number of cells; spans become a cell and empty ones."""
    rows = _rows(table)
    covered: dict[int, int] = {}  # column → rows still covered by a cell above
    widths = [_fill_row(row, covered, left=len(rows) - number) for number, row in enumerate(rows, 1)]
    width = max(widths, default=0)
    if width * len(rows) > _MAX_PADDING + 8 * sum(widths):
        flatten_table(table)
        return
    for row, own in zip(rows, widths, strict=True):
        if 0 < own < width:
            row.insert_adjacent_html("beforeend", "<td></td>" * (width - own))


def _mark_alignment(table: Element) -> None:
    """Insert a marker with the alignment of columns before the header."""
    rows = table.iter_elements("tr")
    header = _cells(first) if (first := next(rows, None)) is not None else []
    sides = "".join(map(_alignment, header))
    if not sides.strip("-") or any(cell.attr("colspan") is not None for cell in header):
        return
    below = _cells(second) if (second := next(rows, None)) is not None else header
    if "c" in sides:
        # Headers are often centred when their column is not.
        sides = "".join(
            "-" if side == "c" and (cell is None or _alignment(cell) != "c") else side
            for side, cell in zip_longest(sides, below[: len(sides)])
        )
    if sides.strip("-") and table.closest("td, th") is None:
        header[0].insert(0, column_alignment(sides))


def _alignment(cell: Element) -> str:
    """The alignment of a cell: `r` for right, `c` for centre, `-` for left or none."""
    if not cell.attrs:
        return "-"
    named = cell.attr("align") or ""
    if not named and (style := cell.attr("style")) and (found := _ALIGNED_BY_STYLE.search(style)):
        named = found[1]
    if not named and (classes := cell.attr("class")) and (found := _ALIGNED_BY_CLASS.search(classes)):
        named = found[1]
    return _SIDES.get(named.lower(), "-")


def _put_foot_last(table: Element) -> None:
    """Move the table foot to the end, where browsers show it."""
    for foot in [child for child in table if isinstance(child, Element) and child.tag == "tfoot"]:
        if foot is not table[-1]:
            table.append(foot)


def _put_caption_above(table: Element) -> None:
    """Move a caption with blocks out of the table."""
    caption = next((child for child in table if isinstance(child, Element)), None)
    if caption is not None and caption.tag == "caption" and next(caption.iter_elements(_CELL_PARTS), None) is not None:
        table.insert_before(caption)
        caption.tag = "div"


def _flatten_inner_table(table: Element) -> None:
    """Flatten a table in a cell to a line for each row, with separators between cells."""
    if is_layout(table):
        flatten_table(table)
        return
    _put_foot_last(table)
    rows = _rows(table)
    for cells in map(_cells, rows):
        for number, cell in enumerate(cells):
            if number:
                cell.insert_before(Text(_BETWEEN_CELLS))
            cell.tag = "span"
    for part in (*_parts(table), *rows, table):
        part.tag = "div"


def _flatten_block(block: Element) -> None:
    """Replace a block in a cell by its text between line breaks."""
    parent, tag = block.parent, block.tag
    if parent is None or (tag == "p" and len(parent) == 1):
        return  # removed with code around it, or the only paragraph of the cell
    before, after = _neighbour(block, _BEFORE), _neighbour(block, _AFTER)
    if tag == "pre":
        _split_code(block)
    elif tag == "ol":
        start = block.attr("start") or ""
        is_number = start.isascii() and start.isdigit() and len(start) < _DIGITS
        items = [item for item in block if isinstance(item, Element) and item.tag == "li"]
        for number, item in enumerate(items, int(start) if is_number else 1):
            item.attrs["value"] = str(number)
    if before is not None:
        block.insert_before(Text(LINE_BREAK))
    if tag == "li":
        rank = block.attr("value")
        block.insert_before(Text(f"{rank}. " if rank else "- "))
        box = next(block.iter_elements("input"), None)
        if box is not None and box.attr("type") == "checkbox":
            box.replace_with(Text("[ ] " if box.attr("checked") is None else "[x] "))
    if isinstance(after, Text) or (after is not None and after.tag not in _CELL_PARTS):
        block.insert_after(Text(LINE_BREAK))
    block.tag = "span"


def _ends_cell(br: Element) -> bool:
    """True if a line break is the last visible node of a cell."""
    here: Node = br
    for _level in range(_AROUND):
        for node in here.next_siblings:
            if (isinstance(node, Element) and node.tag != "br") or (isinstance(node, Text) and node.data.strip()):
                return False
        parent = here.parent
        if not isinstance(parent, Element):
            return False
        if parent.tag in ("td", "th"):
            return True
        here = parent
    return False


def _neighbour(block: Element, step: Callable[[Node], Node | None]) -> Element | Text | None:
    """The next visible node on one side."""
    node = step(block)
    while node is not None:
        if isinstance(node, Element):
            return node
        if isinstance(node, Text) and (text := node.data).strip():
            return None if text == LINE_BREAK else node
        node = step(node)
    return None


def _split_code(pre: Element) -> None:
    lines = pre.text.expandtabs(4).strip("\n").split("\n")
    pre.clear()
    for number, line in enumerate(lines):
        if number:
            pre.append(Text(LINE_BREAK))
        if line.strip():
            pre.append(code_span(line))


def _fill_row(row: Element, covered: dict[int, int], *, left: int) -> int:
    """Expand spans that begin in `row`, add cells for spans from above, and return the row's width."""
    column = 0
    for cell in row.children:
        if not isinstance(cell, Element) or cell.tag not in _CELLS:
            continue
        while covered.get(column):
            covered[column] -= 1
            cell.insert_before(Element("td"))
            column += 1
        across = 1
        if (span := cell.attr("colspan")) is not None:
            del cell.attrs["colspan"]
            across = _span(span, max(1, _MAX_COLUMNS - column))
        if (span := cell.attr("rowspan")) is not None:
            del cell.attrs["rowspan"]
            down = _span(span, left + 1, of_none=left + 1) - 1  # 0 means the end of the table.
            if down and column < _MAX_COLUMNS:
                covered.update(dict.fromkeys(range(column, column + across), down))
        if across > 1:
            # Parsing is faster than creating elements.
            cell.insert_adjacent_html("afterend", "<td></td>" * (across - 1))
        column += across
    for reach in sorted(reach for reach, rows in covered.items() if rows and reach >= column) if covered else ():
        covered[reach] -= 1
        row.insert_adjacent_html("beforeend", "<td></td>" * (reach + 1 - column))
        column = reach + 1
    return column


def _parts(table: Element) -> list[Element]:
    return [child for child in table.children if isinstance(child, Element)]


def _rows(table: Element) -> list[Element]:
    """The rows of a table, without those of nested tables."""
    found: list[Element] = []
    for child in table.children:
        if isinstance(child, Element):
            if child.tag == "tr":
                found.append(child)
            else:
                found += [row for row in child.children if isinstance(row, Element) and row.tag == "tr"]
    return found


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in _CELLS]


def _without_numbers(cells: list[Element], fewest: int) -> list[Element]:
    """The cells of a row without one with at least `fewest` line numbers for code beside it."""
    if len(cells) == 2 and cells[1].find("pre") is not None:
        numbers = cells[0].text.split()
        if len(numbers) < fewest or not all(number.isdigit() for number in numbers):
            return cells
        if len(numbers) > 1 or (cells[0].find("pre") is not None and "\n" not in cells[1].text.strip()):
            cells[0].decompose()
            return cells[1:]
    return cells


def _span(value: str, limit: int, *, of_none: int = 1) -> int:
    """Parse the number of rows or columns of a span; `of_none` for 0."""
    digits = value.strip()[:6]
    return min(int(digits) or of_none, limit) if digits.isascii() and digits.isdigit() else 1


def is_layout(table: Element) -> bool:
    """True if a table is only layout and will be flattened."""
    return _is_layout(table, has_blocks=_has_blocks(table))


def _has_blocks(table: Element) -> bool:
    return next(table.iter_elements(_BLOCKS), None) is not None


def _is_layout(table: Element, *, has_blocks: bool) -> bool:
    """True if a table only places blocks side by side, such as line numbers and code."""
    if table.attr("role") in _LAYOUT_ROLES:
        return True
    if not has_blocks:
        return _is_column(table)
    return not _has_own_header(table) and not _is_data(table)


def _is_column(table: Element) -> bool:
    """True if a table has one column of text and no header: a box, lines, or indentation."""
    rows = _rows(table)
    if len(rows) == 1:
        cells = _cells(rows[0])
        if len(cells) != 1 and sum(bool(cell.text.strip()) for cell in cells) != 1:
            return False
    elif any(sum(isinstance(child, Element) for child in row) > 1 for row in rows):
        return False
    return table.select_one("[colspan]") is None and not _has_own_header(table)


def _convert_fraction(table: Element) -> bool:
    """Replace a table that draws a fraction by inline text; `False` if it is none."""
    rows = _rows(table)
    around = table.parent
    if len(rows) != 2 or not isinstance(around, Element) or _FRACTIONS.isdisjoint((around.attr("class") or "").split()):
        return False
    if any(len(_cells(row)) != 1 for row in rows) or any(
        part.tag not in _IN_FRACTIONS for part in table.iter_elements()
    ):
        return False
    for br in table.find_all("br"):
        br.replace_with(Text(" "))
    parts = [" ".join(row.text.split()) for row in rows]
    if not all(0 < len(part) <= _MAX_NAME for part in parts):
        return False
    above, below = (part if part.isalnum() else f"({part})" for part in parts)
    table.replace_with(Text(f"{above}/{below}"))
    return True


def _has_own_header(table: Element) -> bool:
    if any(isinstance(child, Element) and child.tag in ("caption", "thead") for child in table):
        return True
    return any(isinstance(cell, Element) and cell.tag == "th" for row in _rows(table) for cell in row)


def _is_data(table: Element) -> bool:
    """True if each row describes the short name in its first cell."""
    if any(block.tag not in _IN_CELLS for block in table.iter_elements(_BLOCKS)):
        return False
    rows = [_cells(row) for row in _rows(table)]
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(cells) != len(rows[0]) for cells in rows):
        return False
    names = [" ".join(cells[0].text.split()) for cells in rows]
    if not all(0 < len(name) <= _MAX_NAME for name in names) or all(name.rstrip(".)").isdigit() for name in names):
        return False  # pictures, columns of text, or line numbers
    return all(
        next(cells[0].iter_elements(_BLOCKS), None) is None and all(len(cell.text) <= _MAX_CELL for cell in cells)
        for cells in rows
    )


def flatten_table(table: Element) -> None:
    """Unwrap the cells of a table in order, without line numbers."""
    table.remove(_GUTTERS)
    rows = _rows(table)
    # With several rows, one number in each is data.
    fewest = 1 if len(rows) == 1 else 2
    cells = [cell for row in rows for cell in _without_numbers(_cells(row), fewest)]
    for part in (*_parts(table), *rows, *cells, table):
        part.tag = "div"


_INNER_TABLES: Final = "[role=table], table"
_ROLE_ROWS: Final = "[role=row]"
_ROLE_CELLS: Final = "[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]"
_SHOWN: Final = ("img", "video", "audio", "math", "iframe", "object")  # visible without text
_HEADERS: Final = ("columnheader", "rowheader")


def convert_aria_table(box: Element) -> bool:
    """Convert a table by ARIA roles; `False` if it has content outside of cells or too few cells."""
    if box.select_one(_INNER_TABLES) is not None:
        return False
    rows = box.select(_ROLE_ROWS)
    cells = [row.select(_ROLE_CELLS) for row in rows]
    every = [cell for row in cells for cell in row]
    if len(rows) < 2 or max(map(len, cells)) < 2 or len(set(every)) < len(every):
        return False
    if sum(map(_length, every)) < _length(box) or sum(map(_pictures, every)) < _pictures(box):
        return False
    if any(cell.select_one(_ROLE_CELLS) is not None for cell in every):
        return False
    inside = {node for cell in every for node in cell.descendants}
    for pin in [node for node in box.descendants if isinstance(node, Comment) and node not in inside]:
        every[0].insert(0, pin)
    for row, own in zip(rows, cells, strict=True):
        box.append(row)
        row.extend(own)
        _keep_only(row, own)
        row.tag = "tr"
    _keep_only(box, rows)
    for cell in every:
        cell.tag = "th" if cell.attr("role") in _HEADERS else "td"
    box.tag = "table"
    convert_table(box)
    return True


def convert_grid(grid: Element) -> bool:
    """Convert a grid of boxes, with the boxes of its header first, to a table."""
    boxes = [child for child in grid if isinstance(child, Element)]
    width = sum(1 for box in boxes if "header" in (box.attr("class") or ""))
    if not 0 < width <= _MAX_COLUMNS:
        return False
    between = [child for child in grid if not isinstance(child, Element)]
    for start in range(0, len(boxes), width):
        row = Element("tr")
        grid.append(row)  # Inserted while empty: moving nodes within one tree copies nothing.
        row.extend(boxes[start : start + width])
    for box in boxes:
        box.tag = "td"
    for node in between:
        node.extract()
    grid.tag = "table"
    convert_table(grid)
    return True


def _keep_only(element: Element, children: Sequence[Element]) -> None:
    """Remove all other children of an element."""
    kept = frozenset(children)
    for rest in [child for child in element if child not in kept]:
        rest.extract()


def _pictures(element: Element) -> int:
    return sum(1 for _ in element.iter_elements(_SHOWN))


def _length(element: Element) -> int:
    return len("".join(element.text.split()))
