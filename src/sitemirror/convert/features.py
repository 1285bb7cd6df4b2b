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
    "section": 1 << 2,
    "aside": 1 << 3,
    "header": 1 << 4,
    "footer": 1 << 3,
    "nav": 1 << 3,
    "form": 1 << 5,
    "fieldset": 1 << 5,
    "search": 1 << 5,
    "table": 1 << 6,
    "ul": 1 << 7,
    "ol": 1 << 7,
    "menu": 1 << 7,
    "blockquote": 1 << 6,
    "figure": 1 << 6,
    "dl": 1 << 6,
    "dialog": 1 << 3,
    "button": 1 << 5,
    "a": 1 << 2,
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
_BITS: Final = tuple(bytes(value >> bit & 1 for value in range(256)) for bit in range(8))
_MONEY: Final = re.compile(r"[$€£¥₹]\s?\d|\d\s?[€£₽]")
_SIZES: Final = bytes(
    n if n < 16 else (n.bit_length() - 3) * 8 + ((n >> (n.bit_length() - 4)) & 7) for n in range(8192)
)
_LARGEST: Final = 8191
_PROSE: Final = 80  # characters of a block that is more than a label
_REMEMBERED: Final = 10_000  # names
_FEW: Final = 25  # blocks of a part that may be one of many alike


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What words were found to say of the text they name or stand in: more than 0 speaks for content."""

    names: Mapping[str, int] = field(default_factory=dict)  # of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # the first words of a block, and pairs of them
    # What whole names came to, since the pages of a site share theirs. Never more than what looking again would give.
    judged_names: dict[str, int] = field(default_factory=dict, compare=False, repr=False)


def name_words(names: str) -> list[str]:
    """The words that classes and ids are made of."""
    return [word.lower() for word in _NAME.findall(names)]


def first_words(text: str) -> list[str]:
    """What a block begins with: words, and the first two pairs of them."""
    found = text[:60].lower().split()[:8]
    if len(found) > 1:
        found.append(f"{found[0]} {found[1]}")
        if len(found) > 3:
            found.append(f"{found[1]} {found[2]}")
    return found


def judged(keys: Sequence[str], lexicon: Mapping[str, int]) -> int:
    """What words say together, as a byte."""
    total = NOTHING + sum(filter(None, map(lexicon.get, keys)))
    return 0 if total < 0 else 255 if total > 255 else total


def size(number: int) -> int:
    """A length as a byte: itself while it is small, then eight steps a doubling."""
    return _SIZES[number if number < _LARGEST else _LARGEST]


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

    __slots__ = ("_count", "_lengths", "_lexicon", "_parts", "_reading", "_tags", "columns")

    def __init__(self, reading: Reading, parts: Parts, lexicon: Lexicon, hints: Hints) -> None:
        self.columns: dict[str, bytes] = {}
        self._reading, self._parts, self._lexicon = reading, parts, lexicon
        self._count = len(reading.texts)
        self._lengths = list(map(len, reading.texts))
        self._tags = [reading.tags[owner] for owner in reading.owners]
        self._blocks()
        self._headings()
        self._names()
        self._sizes(hints)
        self._neighbours()

    def _name(self, name: str) -> int:
        known = self._lexicon.judged_names
        found = known.get(name)
        if found is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            found = known[name] = judged(name_words(name), self._lexicon.names)
        return found

    def _blocks(self) -> None:
        """What each block says of itself."""
        reading, columns, lengths = self._reading, self.columns, self._lengths
        texts = reading.texts
        sizes = _SIZES
        columns["chars"] = bytes([sizes[n] if n < _LARGEST else 255 for n in lengths])
        columns["link"] = bytes([part * 255 // n for part, n in zip(reading.linked, lengths, strict=True)])
        columns["kind"] = bytes([_KINDS.get(tag, 15) for tag in self._tags])
        columns["ends"] = bytes([text[-1] in _ENDS for text in texts])
        columns["money"] = bytes(
            [n < 60 and _MONEY.search(text) is not None for n, text in zip(lengths, texts, strict=True)]
        )
        words = self._lexicon.words
        columns["says"] = bytes([judged(first_words(text), words) for text in texts])
        name = self._name
        columns["inline"] = bytes(
            [NOTHING if element is None else name(element.attr("class") or "") for element in reading.first]
        )
        same = Counter(texts)
        columns["twice"] = bytes([min(255, same[text]) for text in texts])
        columns["index"] = _SIZES[: self._count].ljust(self._count, b"\xff")

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
        own = [self._name(name) for name in parts.names]
        low: list[int] = []
        high: list[int] = []
        total: list[int] = []
        depth: list[int] = []
        alike = Counter(parts.names)
        often: list[int] = []
        for score, parent, name, start, end in zip(
            own, parts.parents, parts.names, parts.starts, parts.ends, strict=True
        ):
            same = alike[name] if name and end - start <= _FEW else 0
            if low:
                low.append(min(score, low[parent]))
                high.append(max(score, high[parent]))
                total.append(total[parent] + score - NOTHING)
                depth.append(depth[parent] + 1)
                often.append(max(same, often[parent]))
            else:
                low.append(score)
                high.append(score)
                total.append(score - NOTHING)
                depth.append(0)
                often.append(same)
        repeats = [size(alike[name]) for name in parts.names]
        total = [0 if one < -256 else 255 if one > 254 else (one >> 1) + NOTHING for one in total]
        pick = itemgetter(*parts.of_block, 0, 0)  # at least two, or it would not be a tuple
        for name, values in (("own", own), ("low", low), ("high", high), ("sum", total), ("repeats", repeats)):
            columns[name] = bytes(pick(values)[:count])
        columns["depth"] = bytes([min(255, one) for one in pick(depth)[:count]])
        columns["often"] = bytes([size(one) for one in pick(often)[:count]])
        flags = bytes(pick(parts.flags)[:count])
        for bit, table in enumerate(_BITS):
            columns[f"in{bit}"] = flags.translate(table)
        at = self._above()
        for level in (1, 2):
            pick = itemgetter(*at, 0, 0)
            columns[f"up{level}_own"] = bytes(pick(own)[:count])
            columns[f"up{level}_repeats"] = bytes(pick(repeats)[:count])
            at = pick(parts.parents)[:count]
        columns["page_repeats"] = bytes((max(repeats),)) * count

    def _above(self) -> Sequence[int]:
        """For each block the smallest part that holds more than it."""
        parts = self._parts
        return [parts.parents[part] if parts.ends[part] - parts.starts[part] == 1 else part for part in parts.of_block]

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
        at = self._above()
        for level in (1, 2, 3, 4):
            pick = itemgetter(*at, 0, 0)
            columns[f"up{level}_share"] = bytes(pick(share)[:count])
            if level < 3:
                columns[f"up{level}_many"] = bytes(pick(many)[:count])
            if level < 4:
                columns[f"up{level}_link"] = bytes(pick(link)[:count])
                columns[f"up{level}_prose"] = bytes(pick(long)[:count])
                at = pick(parts.parents)[:count]
        self._page(total, links[-1], prose[-1], hints)

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
            "page_money": columns["money"].count(1) * 255 // count,
            "page_main": columns["in0"].count(1) * 255 // count,
            "page_article": columns["in1"].count(1) * 255 // count,
            "page_articles": min(255, tags.count("article")),
            "page_forms": min(255, tags.count("form")),
        }
        for number, hint in enumerate((hints.graph, hints.has_article, hints.has_product)):
            page[f"hint{number}"] = hint
        for name, value in page.items():
            columns[name] = bytes((value,)) * count

    def _neighbours(self) -> None:
        """What stands before and after each block."""
        columns, count = self.columns, self._count
        for name in ("kind", "says", "sum"):
            column = columns[name]
            columns[f"{name}-1"] = (b"\0" + column)[:count]
            columns[f"{name}+1"] = (column + b"\0")[1:]
