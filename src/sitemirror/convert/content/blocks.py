"""Read a page's tree as text blocks and the parts that contain them.

A block is a run of text without block-level elements in between: the smallest unit that is kept or cut. Blocks and
elements are stored in parallel lists and referred to by index, since a page has hundreds of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from turbohtml import Element, Node, Text

BLOCK_TAGS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
        "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
        "h6", "header", "hgroup", "hr", "label", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre",
        "search", "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    )
)  # fmt: skip
_SILENT: Final = frozenset(
    ("script", "style", "template", "noscript", "svg", "iframe", "video", "audio", "canvas", "object")
)


_LARGEST: Final = 12_000  # elements; larger pages are lists of something, and reading them is not worth the time
_DEEPEST: Final = 200  # levels; more come from tags that were never closed


class PageBlocks:
    """A page's blocks and the block-level elements that contain them, in document order."""

    __slots__ = (
        "_mixed",
        "_names",
        "_roles",
        "elements",
        "ends",
        "first",
        "is_whole",
        "linked",
        "nodes",
        "owners",
        "parents",
        "starts",
        "tags",
        "texts",
    )

    def __init__(self, body: Element) -> None:
        # For each element: itself, its tag, the index of its parent, and its range of blocks.
        self.elements: list[Element] = [body]
        self.tags: list[str] = [body.tag]
        self.parents: list[int] = [0]
        self.starts: list[int] = [0]
        self.ends: list[int] = [0]
        # For each block: the index of its element, its text, the number of characters in links, its nodes, and the
        # inline element that it begins with.
        self.owners: list[int] = []
        self.texts: list[str] = []
        self.linked: list[int] = []
        self.nodes: list[list[Node]] = []
        self.first: list[Element | None] = []
        self.is_whole = True  # False if the page is too large or too deep
        self._mixed: set[Element] = set()  # inline elements that contain blocks
        self._names: list[str] | None = None
        self._roles: dict[int, str] = {}
        self._read(body, 0, 0, False)
        self.ends[0] = len(self.texts)

    @property
    def names(self) -> list[str]:
        """For each element with text its class and id."""
        if self._names is None:
            self._name()
        return self._names or []

    @property
    def roles(self) -> dict[int, str]:
        """Element index → ARIA role."""
        if self._names is None:
            self._name()
        return self._roles

    def _name(self) -> None:
        elements, starts, ends = self.elements, self.starts, self.ends
        names = [
            (element.attr("class") or "") if start < end else ""
            for element, start, end in zip(elements, starts, ends, strict=True)
        ]
        # Few elements have an id or a role, so one query is faster than reading attributes of each.
        body = elements[0]
        places = dict(zip(elements, range(len(elements)), strict=True))
        for element in (body, *body.select("[id], [role]")):
            place = places.get(element, -1)
            if place < 0:
                continue
            if starts[place] < ends[place] and (name := element.attr("id")) is not None:
                names[place] = f"{names[place]} {name}"
            if (role := element.attr("role")) is not None:
                self._roles[place] = role
        self._names = names

    def _read(self, element: Element, here: int, depth: int, in_link: bool) -> None:
        if depth > _DEEPEST or here > _LARGEST:
            self.is_whole = False
            return
        texts: list[str] = []
        nodes: list[Node] = []
        linked = 0
        first: Element | None = None
        for child in element:
            if type(child) is Text:
                data = child.data
                if texts or not data.isspace():
                    texts.append(data)
                    nodes.append(child)
                continue
            if type(child) is not Element:
                continue
            tag = child.tag
            if tag not in BLOCK_TAGS:
                if tag == "br":
                    texts.append("\n")
                    continue
                if tag in _SILENT:
                    continue
                before = len(texts)
                found = -1 if self._mixed and child in self._mixed else self._inline(child, texts, depth, tag == "a")
                if found >= 0:
                    if len(texts) > before:
                        nodes.append(child)
                        linked += found
                        if not before:
                            first = child
                    continue
                del texts[before:]
            if texts:
                self._add(here, texts, linked, nodes, first, in_link)
                texts, nodes, linked, first = [], [], 0, None
            place = len(self.tags)
            self.elements.append(child)
            self.tags.append(tag)
            self.parents.append(here)
            self.starts.append(len(self.texts))
            self.ends.append(0)
            self._read(child, place, depth + 1, in_link or tag == "a")
            self.ends[place] = len(self.texts)
        if texts:
            self._add(here, texts, linked, nodes, first, in_link)

    def _add(
        self, here: int, texts: list[str], linked: int, nodes: list[Node], first: Element | None, in_link: bool
    ) -> None:
        text = "".join(texts).strip()
        if text:
            self.owners.append(here)
            self.texts.append(text)
            length = len(text)
            self.linked.append(length if in_link or linked > length else linked)
            self.nodes.append(nodes)
            self.first.append(first)

    def _inline(self, element: Element, texts: list[str], depth: int, in_link: bool) -> int:
        """Add the text of an element to `texts`; returns the linked characters, or -1 if it contains blocks."""
        linked = 0
        if depth > _DEEPEST:
            self.is_whole = False
            return 0
        for child in element:
            if type(child) is Text:
                data = child.data
                if texts or not data.isspace():
                    texts.append(data)
                    if in_link:
                        linked += len(data)
            elif type(child) is Element:
                tag = child.tag
                if tag in BLOCK_TAGS:
                    self._mixed.add(element)
                    return -1
                if tag == "br":
                    texts.append("\n")
                elif tag not in _SILENT:
                    found = self._inline(child, texts, depth + 1, in_link or tag == "a")
                    if found < 0:
                        self._mixed.add(element)
                        return -1
                    linked += found
        return linked


_FLAGS: Final = {
    "main": 1 << 0,
    "article": 1 << 1,
    "aside": 1 << 2,
    "header": 1 << 3,
    "footer": 1 << 2,
    "nav": 1 << 2,
    "form": 1 << 3,
    "fieldset": 1 << 3,
    "search": 1 << 3,
    "table": 1 << 4,
    "ul": 1 << 5,
    "ol": 1 << 5,
    "menu": 1 << 5,
    "blockquote": 1 << 4,
    "figure": 1 << 4,
    "dl": 1 << 4,
    "dialog": 1 << 2,
    "button": 1 << 3,
}
_ROLES: Final = {
    "main": _FLAGS["main"],
    "article": _FLAGS["article"],
    "complementary": _FLAGS["aside"],
    "navigation": _FLAGS["nav"],
    "menu": _FLAGS["nav"],
    "menubar": _FLAGS["nav"],
    "banner": _FLAGS["header"],
    "contentinfo": _FLAGS["footer"],
    "search": _FLAGS["form"],
    "dialog": _FLAGS["dialog"],
    "alertdialog": _FLAGS["dialog"],
    "list": _FLAGS["ul"],
}
_BYTE: Final = 256
_LEVELS: Final = 4  # of parts above a block


class PageParts:
    """The parts of a page: elements, each merged with ancestors that contain the same blocks.

    Parts with several blocks are in lists; a part with one block is an attribute of that block.
    """

    __slots__ = ("_levels", "above", "alone", "ends", "flags", "loose", "names", "own_flags", "parents", "starts")

    def __init__(self, page_blocks: PageBlocks) -> None:
        count = len(page_blocks.texts)
        own = list(map(_FLAGS.get, page_blocks.tags))
        for place, role in page_blocks.roles.items():
            own[place] = (own[place] or 0) | _ROLES.get(role, 0)
        # For each part with several blocks (the page is the first): its range of blocks, its parent, the names of its
        # elements, and the flags of these and of all ancestors.
        self.starts, self.ends, self.parents = [0], [count], [0]
        self.names, self.flags = [page_blocks.names[0]], [own[0] or 0]
        # For each block: the names of its own part, if any, and the flags of that and of all ancestors.
        self.own_flags = [0] * count
        alone: list[str | None] = [None] * count
        part_of = self._read(page_blocks, own, alone)
        self.above = [part_of[owner] for owner in page_blocks.owners]  # for each block the part around it
        self.loose = [block for block, name in enumerate(alone) if name is None] if None in alone else []
        for block in self.loose:
            alone[block] = ""
            self.own_flags[block] = self.flags[self.above[block]]
        self.alone = cast("list[str]", alone)
        self._levels = _levels(bytes(self.above), self.parents) if len(self.starts) <= _BYTE else []

    def _read(self, page_blocks: PageBlocks, own: Sequence[int | None], alone: list[str | None]) -> list[int]:
        """Fill the lists; returns for each element the part with several blocks that contains it."""
        starts, ends, parents, names, flags = self.starts, self.ends, self.parents, self.names, self.flags
        own_flags = self.own_flags
        one = 1 if len(alone) > 1 else 0  # a page of one block
        part_of = [0]
        elements = zip(own, page_blocks.names, page_blocks.parents, page_blocks.starts, page_blocks.ends, strict=True)
        next(elements)
        for flag, name, parent, start, end in elements:
            above = part_of[parent]
            if start == end:
                part_of.append(above)
            elif end - start == one:
                part_of.append(above)
                known = alone[start]
                if known is None:
                    alone[start] = name
                    own_flags[start] = (flag or 0) | flags[above]
                else:
                    if name:
                        alone[start] = f"{known} {name}"
                    if flag:
                        own_flags[start] |= flag
            elif start == starts[above] and end == ends[above]:
                part_of.append(above)
                if flag:
                    flags[above] |= flag
                if name:
                    names[above] = f"{names[above]} {name}"
            else:
                part_of.append(len(starts))
                starts.append(start)
                ends.append(end)
                parents.append(above)
                names.append(name)
                flags.append((flag or 0) | flags[above])
        return part_of

    def of_blocks(self, values: Sequence[int]) -> bytes:
        """For each block the value of the part above it; values are bytes."""
        return self.above_blocks(values, 1)[0]

    def above_blocks(self, values: Sequence[int], levels: int) -> list[bytes]:
        """For each block the values of the parts above it, from the inside, up to four."""
        if self._levels:
            table = bytes(values).ljust(_BYTE)
            return [above.translate(table) for above in self._levels[:levels]]
        found = []
        above = self.above
        for _ in range(levels):
            found.append(bytes([values[part] for part in above]))
            above = [self.parents[part] for part in above]
        return found


def _levels(above: bytes, parents: Sequence[int]) -> list[bytes]:
    """For each block the parts above it, from the inside."""
    table = bytes(parents).ljust(_BYTE)
    levels = [above]
    for _ in range(_LEVELS - 1):
        levels.append(levels[-1].translate(table))
    return levels
