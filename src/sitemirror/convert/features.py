"""What speaks for and against each block of a page, as columns of bytes: one row a block, one number a column.

Columns, not rows: most of the work is then done by the interpreter's own loops over bytes, and a neighbour's number is
the same column, moved by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import itemgetter
from typing import Final

from sitemirror.convert.blocks import Reading
from sitemirror.convert.hints import Hints

NOTHING: Final = 128  # what a word says that says nothing; more speaks for content

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
_KINDS: Final = {
    "p": 1, "li": 20, "h1": 3, "h2": 4, "h3": 5, "h4": 6, "h5": 7, "h6": 8, "td": 9, "th": 10, "dt": 11, "dd": 12,
    "pre": 2, "figcaption": 14, "caption": 14, "blockquote": 13, "summary": 16, "button": 30, "label": 31,
    "legend": 31, "option": 32, "a": 28, "div": 21, "section": 22, "article": 23, "header": 27, "footer": 33,
    "main": 24, "nav": 34, "aside": 26, "form": 29, "address": 25, "body": 35,
}  # fmt: skip
_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_NAME: Final = re.compile(r"[A-Z]?[a-z]+")
_ENDS: Final = frozenset('.!?…。”’"')
_BITS: Final = tuple(bytes(value >> bit & 1 for value in range(256)) for bit in range(6))
_SIZES: Final = bytes(
    n if n < 16 else (n.bit_length() - 3) * 8 + ((n >> (n.bit_length() - 4)) & 7) for n in range(8192)
)
_LARGEST: Final = 8191
_TOLD: Final = 120  # characters; a longer block is told by more than what it begins with
_PROSE: Final = 80  # characters of a block that is more than a label
TITLES: Final = frozenset(("h1", "h2", "h3"))
_NAMELESS: Final = 8  # characters; a shorter heading is in too many titles
_REMEMBERED: Final = 10_000  # names
_FEW: Final = 25  # blocks of a part that may be one of many alike


class _JudgedNames(dict[str, int]):
    """What whole names come to. The pages of a site share theirs, and looking again would give the same."""

    def __init__(self, words: Mapping[str, int]) -> None:
        super().__init__()
        self._words = words

    def __missing__(self, name: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[name] = judged(name_words(name), self._words)
        return found


class _Kinds(dict[str, int]):
    """What a block stands in, by number."""

    def __missing__(self, tag: str) -> int:
        return 15


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What words were found to say of the text they name or stand in: more than 0 speaks for content."""

    names: Mapping[str, int] = field(default_factory=dict)  # of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # the first words of a block, and pairs of them
    judged_names: Mapping[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "judged_names", _JudgedNames(self.names))


_NUMBERS: Final = _Kinds(_KINDS)


def name_words(names: str) -> list[str]:
    """The words that classes and ids are made of."""
    return [word.lower() for word in _NAME.findall(names)]


def first_words(text: str) -> list[str]:
    """What a block begins with: words, and the first two of them together."""
    found = text[:40].lower().split()
    if len(found) > 1:
        found.append(f"{found[0]} {found[1]}")
    return found


def judged(keys: Sequence[str], lexicon: Mapping[str, int]) -> int:
    """What words say together, as a byte."""
    total = sum(filter(None, map(lexicon.get, keys)), NOTHING)
    return 0 if total < 0 else 255 if total > 255 else total


def size(number: int) -> int:
    """A length as a byte: itself while it is small, then eight steps a doubling."""
    return _SIZES[number if number < _LARGEST else _LARGEST]


def _far(count: int) -> bytes:
    """How far the blocks behind a place are from it."""
    return _SIZES[1 : count + 1].ljust(count, b"\xff")


class Parts:
    """The parts of a page that hold text: its elements, each one with all that hold nothing more than it does."""

    __slots__ = ("ends", "flags", "names", "of_block", "parents", "starts")

    def __init__(self, reading: Reading) -> None:
        starts: list[int] = []
        ends: list[int] = []
        parents: list[int] = []
        names: list[str] = []
        flags: list[int] = []
        part_of: list[int] = []
        for element, tag, parent, start, end in zip(
            reading.elements, reading.tags, reading.parents, reading.starts, reading.ends, strict=True
        ):
            if start == end:
                part_of.append(-1)
                continue
            flag = _FLAGS.get(tag, 0)
            if (role := element.attr("role")) is not None:
                flag |= _ROLES.get(role, 0)
            name = element.attr("class") or ""
            if (anchor := element.attr("id")) is not None:
                name = f"{name} {anchor}"
            if starts:
                above = part_of[parent]
                if start == starts[above] and end == ends[above]:
                    part_of.append(above)
                    flags[above] |= flag
                    if name:
                        names[above] = f"{names[above]} {name}"
                    continue
                flag |= flags[above]
            else:
                above = 0
            part_of.append(len(starts))
            starts.append(start)
            ends.append(end)
            parents.append(above)
            names.append(name)
            flags.append(flag)
        self.starts, self.ends, self.parents, self.names, self.flags = starts, ends, parents, names, flags
        self.of_block = [part_of[owner] for owner in reading.owners]


class Features:
    """The columns of one page, by name."""

    __slots__ = ("_above", "_count", "_lengths", "_lexicon", "_parts", "_reading", "_tags", "columns")

    def __init__(self, reading: Reading, parts: Parts, lexicon: Lexicon, hints: Hints) -> None:
        self.columns: dict[str, bytes] = {}
        self._reading, self._parts, self._lexicon = reading, parts, lexicon
        self._count = len(reading.texts)
        self._lengths = list(map(len, reading.texts))
        self._tags = [reading.tags[owner] for owner in reading.owners]
        # For each block the smallest part that holds more than it.
        self._above: Sequence[int] = [
            parts.parents[part] if parts.ends[part] - parts.starts[part] == 1 else part for part in parts.of_block
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
        words = self._lexicon.words
        columns["says"] = bytes(
            [judged(first_words(text), words) if n < _TOLD else NOTHING for text, n in zip(texts, lengths, strict=True)]
        )
        names = self._lexicon.judged_names
        columns["inline"] = bytes(
            [NOTHING if element is None else names[element.attr("class") or ""] for element in reading.first]
        )
        same = Counter(texts)
        if len(same) == self._count:
            columns["twice"] = b"\1" * self._count
        else:
            columns["twice"] = bytes([min(255, same[text]) for text in texts])

    def _headings(self) -> None:
        """Below which heading each block stands."""
        says, distance, rank = [], [], []
        last, far, level = NOTHING, 255, 0
        for tag, said in zip(self._tags, self.columns["says"], strict=True):
            if tag in _HEADINGS:
                last, far, level = said, 0, _HEADINGS[tag]
            elif far < 255:
                far += 1
            says.append(last)
            distance.append(far)
            rank.append(level)
        columns = self.columns
        columns["head_says"] = bytes(says)
        columns["head_far"] = bytes(distance)
        columns["head_rank"] = bytes(rank)

    def _names(self) -> None:
        """What the parts around each block are called, and how often there are others like them."""
        parts, columns, count = self._parts, self.columns, self._count
        own = list(map(self._lexicon.judged_names.__getitem__, parts.names))
        low: list[int] = []
        total: list[int] = []
        alike = Counter(parts.names)
        often: list[int] = []
        for score, parent, name, start, end in zip(
            own, parts.parents, parts.names, parts.starts, parts.ends, strict=True
        ):
            same = alike[name] if name and end - start <= _FEW else 0
            if low:
                low.append(min(score, low[parent]))
                total.append(total[parent] + score - NOTHING)
                often.append(max(same, often[parent]))
            else:
                low.append(score)
                total.append(score - NOTHING)
                often.append(same)
        repeats = [size(alike[name]) for name in parts.names]
        total = [0 if one < -256 else 255 if one > 254 else (one >> 1) + NOTHING for one in total]
        pick = itemgetter(*parts.of_block, 0, 0)  # at least two, or it would not be a tuple
        for name, values in (("own", own), ("low", low), ("sum", total), ("repeats", repeats)):
            columns[name] = bytes(pick(values)[:count])
        columns["often"] = bytes([size(one) for one in pick(often)[:count]])
        flags = bytes(pick(parts.flags)[:count])
        for bit, table in enumerate(_BITS):
            columns[f"in{bit}"] = flags.translate(table)
        at = self._above
        for level in (1, 2):
            pick = itemgetter(*at, 0, 0)
            columns[f"up{level}_own"] = bytes(pick(own)[:count])
            if level == 1:
                columns["up1_repeats"] = bytes(pick(repeats)[:count])
                at = pick(parts.parents)[:count]
        columns["page_repeats"] = bytes((max(repeats),)) * count

    def _sizes(self, hints: Hints) -> None:
        """How much text there is before each block, in the parts around it and in the page, and of which kind."""
        parts, columns, count, lengths = self._parts, self.columns, self._count, self._lengths
        linked = self._reading.linked
        chars = [0, *accumulate(lengths)]
        links = [0, *accumulate(linked)]
        prose = [0, *accumulate([n if n >= _PROSE and p * 3 < n else 0 for n, p in zip(lengths, linked, strict=True)])]
        total, total_prose = chars[-1], max(1, prose[-1])
        columns["before"] = bytes([n * 255 // total for n in chars[:-1]])
        columns["prose_before"] = bytes([n * 255 // total_prose for n in prose[:-1]])
        columns["prose_done"] = bytes([n * 255 // total_prose for n in prose[1:]])
        share, link, long, many = [], [], [], []
        half: list[int] = []
        for start, end, parent in zip(parts.starts, parts.ends, parts.parents, strict=True):
            n = chars[end] - chars[start]
            share.append(n * 255 // total)
            link.append((links[end] - links[start]) * 255 // n)
            part = prose[end] - prose[start]
            long.append(part * 255 // n)
            many.append(size(end - start))
            half.append(half[parent] + 1 if half and part * 2 < total_prose else 0)
        pick = itemgetter(*parts.of_block, 0, 0)
        columns["half"] = bytes([min(255, n) for n in pick(half)[:count]])
        at = self._above
        for level in (1, 2, 3, 4):
            pick = itemgetter(*at, 0, 0)
            columns[f"up{level}_share"] = bytes(pick(share)[:count])
            if level == 1:
                columns["up1_many"] = bytes(pick(many)[:count])
            if level < 3:
                columns[f"up{level}_prose"] = bytes(pick(long)[:count])
            if level < 4:
                columns[f"up{level}_link"] = bytes(pick(link)[:count])
                at = pick(parts.parents)[:count]
        self._page(total, links[-1], prose[-1], hints)
        self._top(prose)
        self._title(hints.titles)

    def _top(self, prose: Sequence[int]) -> None:
        """Where each block stands towards the part with the most prose of its own: an article's text."""
        parts, columns, count, above = self._parts, self.columns, self._count, self._above
        direct = [0] * len(parts.starts)
        for block, part in enumerate(above):
            direct[part] += prose[block + 1] - prose[block]
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
        pick = itemgetter(*above, 0, 0)
        columns["top_up"] = bytes([min(n, 255) for n in pick(up)[:count]])
        columns["rival"] = bytes([n * 255 // (most or 1) for n in pick(direct)[:count]])
        # From its first prose to its last.
        inside = [block for block in range(parts.starts[top], parts.ends[top]) if above[block] == top]
        inside = [block for block in inside if prose[block + 1] > prose[block]] or [parts.starts[top]]
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
