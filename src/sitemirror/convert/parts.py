"""The parts of a page that hold text, as far as telling its blocks apart needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from sitemirror.convert.blocks import Reading

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


class Parts:
    """The parts of a page: its elements, each one with all that hold nothing more than it does.

    Those that hold several blocks are in lists of their own; the others are what single blocks stand alone in.
    """

    __slots__ = ("_levels", "above", "alone", "ends", "flags", "loose", "names", "own_flags", "parents", "starts")

    def __init__(self, reading: Reading) -> None:
        count = len(reading.texts)
        own = list(map(_FLAGS.get, reading.tags))
        for place, role in reading.roles.items():
            own[place] = (own[place] or 0) | _ROLES.get(role, 0)
        # Of each part with several blocks, and of the page, which comes first: its blocks, what it stands in, what its
        # elements are called, and what they and all around them are.
        self.starts, self.ends, self.parents = [0], [count], [0]
        self.names, self.flags = [reading.names[0]], [own[0] or 0]
        # Of each block what the part is called that holds nothing else, and what it is in; few blocks have none.
        self.own_flags = [0] * count
        alone: list[str | None] = [None] * count
        part_of = self._read(reading, own, alone)
        self.above = [part_of[owner] for owner in reading.owners]  # of each block the part that holds more than it
        self.loose = [block for block, name in enumerate(alone) if name is None] if None in alone else []
        for block in self.loose:
            alone[block] = ""
            self.own_flags[block] = self.flags[self.above[block]]
        self.alone = cast("list[str]", alone)
        self._levels = _levels(bytes(self.above), self.parents) if len(self.starts) <= _BYTE else []

    def _read(self, reading: Reading, own: Sequence[int | None], alone: list[str | None]) -> list[int]:
        """Fills the lists, and tells which part with several blocks each element is in."""
        starts, ends, parents, names, flags = self.starts, self.ends, self.parents, self.names, self.flags
        own_flags = self.own_flags
        one = 1 if len(alone) > 1 else 0  # A page of one block has no other part.
        part_of = [0]
        elements = zip(own, reading.names, reading.parents, reading.starts, reading.ends, strict=True)
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
