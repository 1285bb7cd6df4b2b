"""What speaks for and against each block of a page, as columns of bytes: one row a block, one number a column.

Columns, not rows: most of the work is then done by the interpreter's own loops over bytes, and a neighbour's number is
the same column, moved by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Final

from sitemirror.convert.blocks import Reading
from sitemirror.convert.hints import Hints
from sitemirror.convert.lexicon import NOTHING, Lexicon
from sitemirror.convert.parts import Parts

_KINDS: Final = {
    "p": 1, "li": 20, "h1": 3, "h2": 4, "h3": 5, "h4": 6, "h5": 7, "h6": 8, "td": 9, "th": 10, "dt": 11, "dd": 12,
    "pre": 2, "figcaption": 14, "caption": 14, "blockquote": 13, "summary": 16, "button": 30, "label": 31,
    "legend": 31, "option": 32, "a": 28, "div": 21, "section": 22, "article": 23, "header": 27, "footer": 33,
    "main": 24, "nav": 34, "aside": 26, "form": 29, "address": 25, "body": 35,
}  # fmt: skip
_HEADING: Final = re.compile(rb"[\x03-\x08]")  # among kinds
_ENDS: Final = frozenset('.!?…。”’"')
_BITS: Final = tuple(bytes(value >> bit & 1 for value in range(256)) for bit in range(6))
_SIZES: Final = bytes(
    n if n < 16 else (n.bit_length() - 3) * 8 + ((n >> (n.bit_length() - 4)) & 7) for n in range(8192)
)
_LARGEST: Final = 8191
_PROSE: Final = 80  # characters of a block that is more than a label
TITLES: Final = frozenset(("h1", "h2", "h3"))
_NAMELESS: Final = 8  # characters; a shorter heading is in too many titles
_FEW: Final = 25  # blocks of a part that may be one of many alike
_UP: Final = bytes(range(255))


class _Kinds(dict[str, int]):
    """What a block stands in, by number."""

    def __missing__(self, tag: str) -> int:
        return 15


_NUMBERS: Final = _Kinds(_KINDS)


def size(number: int) -> int:
    """A length as a byte: itself while it is small, then eight steps a doubling."""
    return _SIZES[number if number < _LARGEST else _LARGEST]


def _far(count: int) -> bytes:
    """How far the blocks behind a place are from it."""
    return _SIZES[1 : count + 1].ljust(count, b"\xff")


class Features:
    """The columns of one page, by name."""

    __slots__ = ("_count", "_lengths", "_lexicon", "_parts", "_prose", "_reading", "_tags", "columns")

    def __init__(self, reading: Reading, parts: Parts, lexicon: Lexicon, hints: Hints) -> None:
        self.columns: dict[str, bytes] = {}
        self._reading, self._parts, self._lexicon = reading, parts, lexicon
        self._count = len(reading.texts)
        self._lengths = list(map(len, reading.texts))
        self._tags = [reading.tags[owner] for owner in reading.owners]
        self._prose = [
            n if n >= _PROSE and part * 3 < n else 0 for n, part in zip(self._lengths, reading.linked, strict=True)
        ]
        self._blocks()
        self._headings()
        self._names()
        self._sizes(hints)
        self._neighbours()

    def _blocks(self) -> None:
        """What each block says of itself."""
        reading, columns, lengths = self._reading, self.columns, self._lengths
        texts = reading.texts
        sizes = _SIZES
        columns["chars"] = bytes([sizes[n] if n < _LARGEST else 255 for n in lengths])
        columns["link"] = bytes([part * 255 // n for part, n in zip(reading.linked, lengths, strict=True)])
        columns["kind"] = bytes(map(_NUMBERS.__getitem__, self._tags))
        columns["ends"] = bytes(map(_ENDS.__contains__, map(itemgetter(-1), texts)))
        same = Counter(texts)
        columns["says"] = bytes(map(self._lexicon.judged_texts.__getitem__, texts))
        names = self._lexicon.judged_names
        columns["inline"] = bytes(
            [NOTHING if element is None else names[element.attr("class") or ""] for element in reading.first]
        )
        columns["twice"] = bytes([n if n < 255 else 255 for n in map(same.__getitem__, texts)])

    def _headings(self) -> None:
        """Below which heading each block stands."""
        columns, count = self.columns, self._count
        said, kinds = columns["says"], columns["kind"]
        places = [found.start() for found in _HEADING.finditer(kinds)]
        before = places[0] if places else count
        says, far, rank = [bytes((NOTHING,)) * before], [b"\xff" * before], [bytes(before)]
        for place, end in zip(places, [*places[1:], count], strict=False):
            length = end - place
            says.append(said[place : place + 1] * length)
            far.append(_UP[:length].ljust(length, b"\xff"))
            rank.append(bytes((kinds[place] - 2,)) * length)
        columns["head_says"] = b"".join(says)
        columns["head_far"] = b"".join(far)
        columns["head_rank"] = b"".join(rank)

    def _names(self) -> None:
        """What the parts around each block are called, and how often there are others like them."""
        parts, columns = self._parts, self.columns
        judged, spread, alone, above = self._lexicon.judged_names, parts.of_blocks, parts.alone, parts.above
        alike = Counter([*parts.names, *[name for name in alone if name is not None]])
        sizes = {name: size(count) for name, count in alike.items()}
        own = [judged[name] for name in parts.names]
        repeats = [sizes[name] for name in parts.names]
        low: list[int] = []
        total: list[int] = []
        often: list[int] = []
        for score, same, name, parent, start, end in zip(
            own, repeats, parts.names, parts.parents, parts.starts, parts.ends, strict=True
        ):
            if not name or end - start > _FEW:
                same = 0
            if low:
                low.append(min(score, low[parent]))
                total.append(total[parent] + score - NOTHING)
                often.append(max(same, often[parent]))
            else:
                low.append(score)
                total.append(score - NOTHING)
                often.append(same)
        # A block that stands alone in a part adds what that is called.
        column = [own[part] if name is None else judged[name] for part, name in zip(above, alone, strict=True)]
        columns["own"] = bytes(column)
        columns["low"] = bytes([a if a < b else b for a, b in zip(column, spread(low), strict=True)])
        sums = [
            total[part] if name is None else total[part] + score - NOTHING
            for part, name, score in zip(above, alone, column, strict=True)
        ]
        columns["sum"] = bytes([0 if n < -256 else 255 if n > 254 else (n >> 1) + NOTHING for n in sums])
        column = [repeats[part] if name is None else sizes[name] for part, name in zip(above, alone, strict=True)]
        columns["repeats"] = bytes(column)
        columns["often"] = bytes(
            [a if name and a > b else b for name, a, b in zip(alone, column, spread(often), strict=True)]
        )
        flags = bytes([a or b for a, b in zip(parts.own_flags, spread(parts.flags), strict=True)])
        for bit, table in enumerate(_BITS):
            columns[f"in{bit}"] = flags.translate(table)
        columns["up1_own"] = spread(own)
        columns["up1_repeats"] = spread(repeats)
        columns["up2_own"] = spread([own[parent] for parent in parts.parents])
        columns["page_repeats"] = bytes((size(max(alike.values())),)) * self._count

    def _sizes(self, hints: Hints) -> None:
        """How much text there is before each block, in the parts around it and in the page, and of which kind."""
        parts, columns, spread = self._parts, self.columns, self._parts.of_blocks
        chars = [0, *accumulate(self._lengths)]
        links = [0, *accumulate(self._reading.linked)]
        prose = [0, *accumulate(self._prose)]
        total, total_prose = chars[-1], max(1, prose[-1])
        columns["before"] = bytes([n * 255 // total for n in chars[:-1]])
        done = bytes([n * 255 // total_prose for n in prose])
        columns["prose_before"], columns["prose_done"] = done[:-1], done[1:]
        spans = list(zip(parts.starts, parts.ends, strict=True))
        lengths = [chars[end] - chars[start] for start, end in spans]
        proses = [prose[end] - prose[start] for start, end in spans]
        share = [n * 255 // total for n in lengths]
        long = [part * 255 // n for part, n in zip(proses, lengths, strict=True)]
        link = [(links[end] - links[start]) * 255 // n for (start, end), n in zip(spans, lengths, strict=True)]
        half: list[int] = []
        for part, parent in zip(proses, parts.parents, strict=True):
            half.append(half[parent] + 1 if half and part * 2 < total_prose else 0)
        columns["half"] = bytes(
            [
                n if name is None else n + 1 if part * 2 < total_prose else 0
                for n, name, part in zip(spread(half), parts.alone, self._prose, strict=True)
            ]
        )
        columns["up1_share"] = spread(share)
        columns["up1_many"] = spread([size(end - start) for start, end in spans])
        columns["up1_prose"] = spread(long)
        columns["up1_link"] = spread(link)
        up = parts.parents
        columns["up2_share"] = spread([share[part] for part in up])
        columns["up2_prose"] = spread([long[part] for part in up])
        columns["up2_link"] = spread([link[part] for part in up])
        up = [up[part] for part in up]
        columns["up3_share"] = spread([share[part] for part in up])
        columns["up3_link"] = spread([link[part] for part in up])
        columns["up4_share"] = spread([share[parts.parents[part]] for part in up])
        self._page(total, links[-1], prose[-1], hints)
        self._top(prose)
        self._title(hints.titles)

    def _top(self, prose: Sequence[int]) -> None:
        """Where each block stands towards the part with the most prose of its own: an article's text."""
        parts, columns, count = self._parts, self.columns, self._count
        direct = [0] * len(parts.starts)
        for part, length in zip(parts.above, self._prose, strict=True):
            if length:
                direct[part] += length
        most = max(direct)
        top = direct.index(most)
        levels = {top: 0}
        at = top
        while at:
            at = parts.parents[at]
            levels[at] = len(levels)
        up: list[int] = []
        for part, parent in enumerate(parts.parents):
            up.append(levels[part] if part in levels else up[parent])
        columns["top_up"] = parts.of_blocks([min(n, 255) for n in up])
        columns["rival"] = parts.of_blocks([n * 255 // (most or 1) for n in direct])
        # From its first prose to its last.
        start, end = parts.starts[top], parts.ends[top]
        inside = [block for block in range(start, end) if parts.above[block] == top and self._prose[block]] or [start]
        start, end = inside[0], inside[-1] + 1
        columns["top_gap"] = _far(start)[::-1] + bytes(end - start) + _far(count - end)
        columns["top_side"] = b"\0" * start + b"\1" * (end - start) + b"\2" * (count - end)
        total = prose[-1] or 1
        columns["page_top"] = bytes((most * 255 // total,)) * count
        columns["page_after"] = bytes(((prose[-1] - prose[end]) * 255 // total,)) * count

    def _title(self, titles: str) -> None:
        """Where each block stands towards the heading that says what the page is called."""
        columns, count, texts = self.columns, self._count, self._reading.texts
        found, kind = -1, 0
        for at, tag in enumerate(self._tags):
            if tag in TITLES:
                text = texts[at]
                if len(text) > _NAMELESS and " ".join(text.lower().split()) in titles:
                    found, kind = at, 2
                    break
                if found < 0 and tag == "h1":
                    found, kind = at, 1
        if found < 0:
            columns["title_gap"] = b"\xff" * count
        else:
            columns["title_gap"] = _far(found)[::-1] + b"\0" + _far(count - found - 1)
        columns["page_title"] = bytes((kind,)) * count

    def _page(self, total: int, linked: int, prose: int, hints: Hints) -> None:
        """What is the same for all blocks: what kind of page it is."""
        columns, count, tags = self.columns, self._count, self._reading.tags
        kinds = columns["kind"]
        page = {
            "page_chars": size(total >> 4),
            "page_blocks": size(count),
            "page_link": linked * 255 // total,
            "page_prose": prose * 255 // total,
            "page_li": kinds.count(_KINDS["li"]) * 255 // count,
            "page_p": kinds.count(_KINDS["p"]) * 255 // count,
            "page_h": sum(map(kinds.count, range(3, 9))) * 255 // count,
            "page_money": min(255, sum(map("\n".join(self._reading.texts).count, "$€£")) * 255 // count),
            "page_main": columns["in0"].count(1) * 255 // count,
            "page_article": columns["in1"].count(1) * 255 // count,
            "page_articles": min(255, tags.count("article")),
            "page_forms": min(255, tags.count("form")),
            "hint0": hints.graph,
            "hint1": hints.has_article,
            "hint2": hints.has_product,
        }
        for name, value in page.items():
            columns[name] = bytes((value,)) * count

    def _neighbours(self) -> None:
        """What stands before and after each block."""
        columns, count = self.columns, self._count
        columns["sum-1"] = (b"\0" + columns["sum"])[:count]
        for name in ("kind", "says", "sum"):
            columns[f"{name}+1"] = (columns[name] + b"\0")[1:]
