"""Features of text blocks, as columns of bytes with one value for each block.

With columns most of the work is done by built-in operations on bytes, and a neighbour's feature is the same column
shifted by one. `Hints` come from the page's head and URL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add, itemgetter
from typing import Final

from turbohtml import Element

from sitemirror.convert.content.blocks import PageBlocks, PageParts
from sitemirror.convert.content.model import NOTHING, SHORT_TEXT, Lexicon

_OG: Final = {"article": 1, "website": 2, "product": 3, "product.group": 3, "product.item": 3, "profile": 4, "book": 4}
_TYPE: Final = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
# schema.org types, one bit for each group.
_TYPES: Final = {
    "Article": 1, "NewsArticle": 1, "BlogPosting": 1, "TechArticle": 1, "ScholarlyArticle": 1, "Report": 1,
    "Recipe": 1, "HowTo": 1, "Product": 2, "ProductGroup": 2, "Offer": 2, "AggregateOffer": 2,
}  # fmt: skip

# Parts of URLs and host names of documentation.
_DOCUMENTATION: Final = frozenset(
    (
        "docs", "doc", "documentation", "reference", "manual", "manuals", "guide", "guides", "handbook", "tutorial",
        "tutorials", "learn", "api",
    )
)  # fmt: skip
_ARTICLES: Final = frozenset(("blog", "blogs", "news"))  # articles, whatever else the URL contains


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints from the page's head and URL."""

    graph: int = 0  # number of the page's OpenGraph type
    has_article: bool = False  # schema.org data has an article or another text
    has_product: bool = False  # schema.org data has a product
    titles: str = ""  # all titles of the page in lower case, on one line
    is_documentation: bool = False  # by its URL
    path: str = ""  # path of the URL

    @property
    def is_article(self) -> bool:
        """True if the metadata call the page an article."""
        return self.graph == _OG["article"] or (self.has_article and not self.has_product)


def read_hints(head: Iterable[Element], url: str) -> Hints:
    """Read hints from a page's head and URL."""
    graph = found = 0
    titles: list[str] = []
    for element in head:
        tag = element.tag
        if tag == "meta":
            name = element.attr("property")
            if name == "og:type":
                graph = graph or _OG.get((element.attr("content") or "").strip().lower(), 5)
            elif name == "og:title":
                titles.append(element.attr("content") or "")
        elif tag == "title":
            titles.append(element.text)
        elif tag == "script" and element.attr("type") == "application/ld+json":
            for name in _TYPE.findall(element.text):
                found |= _TYPES.get(name, 0)
    called = " ".join(" | ".join(titles).lower().split())
    path = "/" + url.partition("://")[2].partition("/")[2].partition("?")[0].partition("#")[0]
    return Hints(graph, bool(found & 1), bool(found & 2), called, _is_documentation_url(url), path)


def _is_documentation_url(url: str) -> bool:
    address = url.partition("://")[2].partition("?")[0].partition("#")[0].lower()
    host, _, path = address.partition("/")
    names = {*host.split(".")[:-2], *path.split("/")}
    return not _DOCUMENTATION.isdisjoint(names) and _ARTICLES.isdisjoint(names)


_KINDS: Final = {
    "p": 1, "li": 20, "h1": 3, "h2": 4, "h3": 5, "h4": 6, "h5": 7, "h6": 8, "td": 9, "th": 10, "dt": 11, "dd": 12,
    "pre": 2, "figcaption": 14, "caption": 14, "blockquote": 13, "summary": 16, "button": 30, "label": 31,
    "legend": 31, "option": 32, "a": 28, "div": 21, "section": 22, "article": 23, "header": 27, "footer": 33,
    "main": 24, "nav": 34, "aside": 26, "form": 29, "address": 25, "body": 35,
}  # fmt: skip
_HEADING: Final = re.compile(rb"[\x03-\x08]")  # values of `_KINDS`
_TITLE: Final = re.compile(rb"[\x03-\x05]")
_FIRST: Final = b"\x03"
_ENDS: Final = frozenset('.!?…。”’"')
_BITS: Final = tuple(bytes(value >> bit & 1 for value in range(256)) for bit in range(6))
_SIZES: Final = bytes(
    n if n < 16 else (n.bit_length() - 3) * 8 + ((n >> (n.bit_length() - 4)) & 7) for n in range(8192)
)
_LARGEST: Final = 8191
_PROSE: Final = 80  # characters; shorter blocks are labels
TITLES: Final = frozenset(("h1", "h2", "h3"))
_NAMELESS: Final = 8  # characters; shorter headings are in too many titles
_FEW: Final = 25  # blocks, at most, of a part that may repeat
_UP: Final = bytes(range(255))


class _Kinds(dict[str, int]):
    """Tag of a block → number, with a default."""

    def __missing__(self, tag: str) -> int:
        return 15


_NUMBERS: Final = _Kinds(_KINDS)


def size(number: int) -> int:
    """Quantise a length to a byte: exact while small, then eight steps for each doubling."""
    return _SIZES[number if number < _LARGEST else _LARGEST]


def _distances(count: int) -> bytes:
    """Distances of `count` blocks from the one before them."""
    return _SIZES[1 : count + 1].ljust(count, b"\xff")


class Features:
    """Features of each block as columns, and features of the page by name."""

    __slots__ = ("_count", "_lengths", "_lexicon", "_page_blocks", "_parts", "_prose", "_tags", "columns", "page")

    def __init__(self, page_blocks: PageBlocks, parts: PageParts, lexicon: Lexicon, hints: Hints) -> None:
        self.columns: dict[str, bytes] = {}
        self.page: dict[str, int] = {}
        self._page_blocks, self._parts, self._lexicon = page_blocks, parts, lexicon
        self._count = len(page_blocks.texts)
        self._lengths = list(map(len, page_blocks.texts))
        self._tags = list(map(page_blocks.tags.__getitem__, page_blocks.owners))
        self._prose = [
            n if n >= _PROSE and part * 3 < n else 0 for n, part in zip(self._lengths, page_blocks.linked, strict=True)
        ]
        self._blocks()
        self._headings()
        self._names()
        self._sizes(hints)
        self._neighbours()

    def _blocks(self) -> None:
        """Features of a block's own text."""
        page_blocks, columns, lengths = self._page_blocks, self.columns, self._lengths
        texts = page_blocks.texts
        sizes = _SIZES
        columns["chars"] = bytes([sizes[n] if n < _LARGEST else 255 for n in lengths])
        columns["link"] = bytes([part and part * 255 // n for part, n in zip(page_blocks.linked, lengths, strict=True)])
        columns["kind"] = bytes(map(_NUMBERS.__getitem__, self._tags))
        columns["ends"] = bytes(map(_ENDS.__contains__, map(itemgetter(-1), texts)))
        same = Counter(texts)
        says = self._lexicon.judged_texts
        columns["says"] = bytes(
            [says[text] if n < SHORT_TEXT else NOTHING for text, n in zip(texts, lengths, strict=True)]
        )
        names = self._lexicon.judged_names
        columns["inline"] = bytes(
            [NOTHING if element is None else names[element.attr("class") or ""] for element in page_blocks.first]
        )
        columns["twice"] = bytes([n if n < 255 else 255 for n in map(same.__getitem__, texts)])

    def _headings(self) -> None:
        """Features of the heading above each block."""
        columns, count = self.columns, self._count
        text_scores, kinds = columns["says"], columns["kind"]
        places = [found.start() for found in _HEADING.finditer(kinds)]
        before = places[0] if places else count
        says, far, rank = [bytes((NOTHING,)) * before], [b"\xff" * before], [bytes(before)]
        for place, end in zip(places, [*places[1:], count], strict=False):
            length = end - place
            says.append(text_scores[place : place + 1] * length)
            far.append(_UP[:length].ljust(length, b"\xff"))
            rank.append(bytes((kinds[place] - 2,)) * length)
        columns["head_says"] = b"".join(says)
        columns["head_far"] = b"".join(far)
        columns["head_rank"] = b"".join(rank)

    def _names(self) -> None:
        """Features of the names of the parts around each block, and how often those repeat."""
        parts, columns = self._parts, self.columns
        judged, spread, alone, above = self._lexicon.judged_names, parts.of_blocks, parts.alone, parts.above
        alike = Counter(parts.names)
        alike.update(alone)
        if parts.loose:
            alike[""] -= len(parts.loose)
        sizes = {name: size(count) for name, count in alike.items()}
        own = [judged[name] for name in parts.names]
        repeats = [sizes[name] for name in parts.names]
        low, total = [own[0]], [own[0] - 2 * NOTHING]
        often = [repeats[0] if parts.names[0] and self._count <= _FEW else 0]
        around = zip(own, repeats, parts.names, parts.parents, parts.starts, parts.ends, strict=True)
        next(around)
        for score, same, name, parent, start, end in around:
            least, most = low[parent], often[parent]
            low.append(score if score < least else least)
            total.append(total[parent] + score - NOTHING)
            often.append(same if same > most and name and end - start <= _FEW else most)
        # A block with a part of its own adds the score of its names.
        scores = list(map(judged.__getitem__, alone))
        sums = map(add, map(total.__getitem__, above), scores)
        columns["sum"] = bytes([0 if n < -256 else 255 if n > 254 else (n >> 1) + NOTHING for n in sums])
        sames = list(map(sizes.__getitem__, alone))
        columns["often"] = bytes(
            [a if a > b and name else b for name, a, b in zip(alone, sames, spread(often), strict=True)]
        )
        for block in parts.loose:
            scores[block], sames[block] = own[above[block]], repeats[above[block]]
        columns["own"] = bytes(scores)
        columns["low"] = bytes([a if a < b else b for a, b in zip(scores, spread(low), strict=True)])
        columns["repeats"] = bytes(sames)
        flags = bytes(parts.own_flags)
        for bit, table in enumerate(_BITS):
            columns[f"in{bit}"] = flags.translate(table)
        columns["up1_own"], columns["up2_own"] = parts.above_blocks(own, 2)
        columns["up1_repeats"] = spread(repeats)
        self.page["page_repeats"] = size(max(alike.values()))

    def _sizes(self, hints: Hints) -> None:
        """Features of text sizes: before each block, in the parts around it, in the page."""
        parts, columns, spread, above = self._parts, self.columns, self._parts.of_blocks, self._parts.above_blocks
        chars = [0, *accumulate(self._lengths)]
        links = [0, *accumulate(self._page_blocks.linked)]
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
        column = bytearray(spread([n + 1 for n in half]))
        if max(self._prose) * 2 >= total_prose:
            for block, n in enumerate(self._prose):
                if n * 2 >= total_prose:
                    column[block] = 0
        for block in parts.loose:
            column[block] = half[parts.above[block]]
        columns["half"] = bytes(column)
        columns["up1_many"] = spread([size(end - start) for start, end in spans])
        columns["up1_share"], columns["up2_share"], columns["up3_share"], columns["up4_share"] = above(share, 4)
        columns["up1_prose"], columns["up2_prose"] = above(long, 2)
        columns["up1_link"], columns["up2_link"], columns["up3_link"] = above(link, 3)
        self._page(total, links[-1], prose[-1], hints)
        self._top(prose)
        self._title(hints.titles)

    def _top(self, prose: Sequence[int]) -> None:
        """The position of each block relative to the part with the most prose: an article's text."""
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
            levels[at] = min(len(levels), 255)
        up: list[int] = []
        for part, parent in enumerate(parts.parents):
            up.append(levels[part] if part in levels else up[parent])
        columns["top_up"] = parts.of_blocks(up)
        columns["rival"] = parts.of_blocks([n * 255 // (most or 1) for n in direct])
        # from its first prose to its last
        start, end = parts.starts[top], parts.ends[top]
        inside = [block for block in range(start, end) if parts.above[block] == top and self._prose[block]] or [start]
        start, end = inside[0], inside[-1] + 1
        columns["top_gap"] = _distances(start)[::-1] + bytes(end - start) + _distances(count - end)
        columns["top_side"] = b"\0" * start + b"\1" * (end - start) + b"\2" * (count - end)
        total = prose[-1] or 1
        self.page["page_top"] = most * 255 // total
        self.page["page_after"] = (prose[-1] - prose[end]) * 255 // total

    def _title(self, titles: str) -> None:
        """The position of each block relative to the heading with the page's title."""
        columns, count, texts = self.columns, self._count, self._page_blocks.texts
        found, kind = -1, 0
        for heading in _TITLE.finditer(columns["kind"]):
            at = heading.start()
            text = texts[at]
            if len(text) > _NAMELESS and " ".join(text.lower().split()) in titles:
                found, kind = at, 2
                break
            if found < 0 and heading[0] == _FIRST:
                found, kind = at, 1
        if found < 0:
            columns["title_gap"] = b"\xff" * count
        else:
            columns["title_gap"] = _distances(found)[::-1] + b"\0" + _distances(count - found - 1)
        self.page["page_title"] = kind

    def _page(self, total: int, linked: int, prose: int, hints: Hints) -> None:
        """Features of the page, the same for all blocks."""
        columns, count, tags = self.columns, self._count, self._page_blocks.tags
        kinds = columns["kind"]
        self.page |= {
            "page_chars": size(total >> 4),
            "page_blocks": size(count),
            "page_link": linked * 255 // total,
            "page_prose": prose * 255 // total,
            "page_li": kinds.count(_KINDS["li"]) * 255 // count,
            "page_p": kinds.count(_KINDS["p"]) * 255 // count,
            "page_h": sum(map(kinds.count, range(3, 9))) * 255 // count,
            "page_money": min(255, sum(map("\n".join(self._page_blocks.texts).count, "$€£")) * 255 // count),
            "page_main": columns["in0"].count(1) * 255 // count,
            "page_article": columns["in1"].count(1) * 255 // count,
            "page_articles": min(255, tags.count("article")),
            "page_forms": min(255, tags.count("form")),
            "hint0": hints.graph,
            "hint1": hints.has_article,
            "hint2": hints.has_product,
        }

    def _neighbours(self) -> None:
        """Features of the blocks before and after each block."""
        columns, count = self.columns, self._count
        columns["sum-1"] = (b"\0" + columns["sum"])[:count]
        for name in ("kind", "says", "sum"):
            columns[f"{name}+1"] = (columns[name] + b"\0")[1:]
