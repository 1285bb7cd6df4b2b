"""Reads a page's tree as text blocks and the parts that hold them.

A block is a run of text that no block-level element interrupts: the smallest piece that is kept or cut. Blocks and
elements are kept in parallel lists and named by their index, since a page has hundreds and time is short.
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


_LARGEST: Final = 12_000  # elements; a larger page is a list of something, and reading it costs more than it tells
_DEEPEST: Final = 200  # levels; more are the traces of tags that were never closed


class PageBlocks:
    """A page's blocks, and the block-level elements that hold them, each in the order of the page."""

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
        # Of each element: what it is, where its parent is in these lists, and which blocks are in it.
        self.elements: list[Element] = [body]
        self.tags: list[str] = [body.tag]
        self.parents: list[int] = [0]
        self.starts: list[int] = [0]
        self.ends: list[int] = [0]
        # Of each block: the element that it stands in, its text, how many characters of it are links, its nodes, and
        # the inline element that it begins with.
        self.owners: list[int] = []
        self.texts: list[str] = []
        self.linked: list[int] = []
        self.nodes: list[list[Node]] = []
        self.first: list[Element | None] = []
        self.is_whole = True  # False where the page is too large or too deep to be read
        self._mixed: set[Element] = set()  # inline elements with blocks in them
        self._names: list[str] | None = None
        self._roles: dict[int, str] = {}
        self._read(body, 0, 0, False)
        self.ends[0] = len(self.texts)

    @property
    def names(self) -> list[str]:
        """Of each element with text its class and its id."""
        if self._names is None:
            self._name()
        return self._names or []

    @property
    def roles(self) -> dict[int, str]:
        """Of the elements that have a role, which one."""
        if self._names is None:
            self._name()
        return self._roles

    def _name(self) -> None:
        elements, starts, ends = self.elements, self.starts, self.ends
        names = [
            (element.attr("class") or "") if start < end else ""
            for element, start, end in zip(elements, starts, ends, strict=True)
        ]
        # Few elements have an id or a role, and to find those takes less than to ask each one: both in one look over
        # the tree, which costs more than what is found.
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
        said: list[str] = []
        nodes: list[Node] = []
        linked = 0
        first: Element | None = None
        for child in element:
            if type(child) is Text:
                data = child.data
                if said or not data.isspace():
                    said.append(data)
                    nodes.append(child)
                continue
            if type(child) is not Element:
                continue
            tag = child.tag
            if tag not in BLOCK_TAGS:
                if tag == "br":
                    said.append("\n")
                    continue
                if tag in _SILENT:
                    continue
                before = len(said)
                found = -1 if self._mixed and child in self._mixed else self._inline(child, said, depth, tag == "a")
                if found >= 0:
                    if len(said) > before:
                        nodes.append(child)
                        linked += found
                        if not before:
                            first = child
                    continue
                del said[before:]
            if said:
                self._add(here, said, linked, nodes, first, in_link)
                said, nodes, linked, first = [], [], 0, None
            place = len(self.tags)
            self.elements.append(child)
            self.tags.append(tag)
            self.parents.append(here)
            self.starts.append(len(self.texts))
            self.ends.append(0)
            self._read(child, place, depth + 1, in_link or tag == "a")
            self.ends[place] = len(self.texts)
        if said:
            self._add(here, said, linked, nodes, first, in_link)

    def _add(
        self, here: int, said: list[str], linked: int, nodes: list[Node], first: Element | None, in_link: bool
    ) -> None:
        text = "".join(said).strip()
        if text:
            self.owners.append(here)
            self.texts.append(text)
            length = len(text)
            self.linked.append(length if in_link or linked > length else linked)
            self.nodes.append(nodes)
            self.first.append(first)

    def _inline(self, element: Element, said: list[str], depth: int, in_link: bool) -> int:
        """Adds the text of an element to `said` and tells how much of it is linked; -1 if there are blocks in it."""
        linked = 0
        if depth > _DEEPEST:
            self.is_whole = False
            return 0
        for child in element:
            if type(child) is Text:
                data = child.data
                if said or not data.isspace():
                    said.append(data)
                    if in_link:
                        linked += len(data)
            elif type(child) is Element:
                tag = child.tag
                if tag in BLOCK_TAGS:
                    self._mixed.add(element)
                    return -1
                if tag == "br":
                    said.append("\n")
                elif tag not in _SILENT:
                    found = self._inline(child, said, depth + 1, in_link or tag == "a")
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
_LEVELS: Final = 4  # around a block that are looked at


class PageParts:
    """The parts of a page: its elements, each one with all that hold nothing more than it does.

    Those that hold several blocks are in lists of their own; the others are what single blocks stand alone in.
    """

    __slots__ = ("_levels", "above", "alone", "ends", "flags", "loose", "names", "own_flags", "parents", "starts")

    def __init__(self, page_blocks: PageBlocks) -> None:
        count = len(page_blocks.texts)
        own = list(map(_FLAGS.get, page_blocks.tags))
        for place, role in page_blocks.roles.items():
            own[place] = (own[place] or 0) | _ROLES.get(role, 0)
        # Of each part with several blocks, and of the page, which comes first: its blocks, what it stands in, what its
        # elements are called, and what they and all around them are.
        self.starts, self.ends, self.parents = [0], [count], [0]
        self.names, self.flags = [page_blocks.names[0]], [own[0] or 0]
        # Of each block what the part is called that holds nothing else, and what it is in; few blocks have none.
        self.own_flags = [0] * count
        alone: list[str | None] = [None] * count
        part_of = self._read(page_blocks, own, alone)
        self.above = [part_of[owner] for owner in page_blocks.owners]  # of each block the part that holds more than it
        self.loose = [block for block, name in enumerate(alone) if name is None] if None in alone else []
        for block in self.loose:
            alone[block] = ""
            self.own_flags[block] = self.flags[self.above[block]]
        self.alone = cast("list[str]", alone)
        self._levels = _levels(bytes(self.above), self.parents) if len(self.starts) <= _BYTE else []

    def _read(self, page_blocks: PageBlocks, own: Sequence[int | None], alone: list[str | None]) -> list[int]:
        """Fills the lists, and tells which part with several blocks each element is in."""
        starts, ends, parents, names, flags = self.starts, self.ends, self.parents, self.names, self.flags
        own_flags = self.own_flags
        one = 1 if len(alone) > 1 else 0  # A page of one block has no other part.
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
        """For each block what the part above it has. Values are bytes."""
        return self.above_blocks(values, 1)[0]

    def above_blocks(self, values: Sequence[int], levels: int) -> list[bytes]:
        """For each block what the part above it has, what the one above that has, and so on, up to four."""
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
    """For each block the part above it, the one above that, and so on."""
    table = bytes(parents).ljust(_BYTE)
    levels = [above]
    for _ in range(_LEVELS - 1):
        levels.append(levels[-1].translate(table))
    return levels
