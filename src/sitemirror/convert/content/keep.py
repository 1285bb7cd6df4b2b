"""Decide by the odds of each block which ones to keep, and prune the others from the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from operator import itemgetter, mul
from typing import Final

from turbohtml import Element

from sitemirror.convert.content.blocks import PageBlocks
from sitemirror.convert.content.features import TITLES, Hints
from sitemirror.convert.content.model import probabilities, probability
from sitemirror.settings import Content

_COMMENTS: Final = re.compile(
    r"(?<![A-Za-z])[Cc]omments?(?![a-z])|[a-z]Comments?(?![a-z])|disqus"
    r"|[Cc]omments?[-_]?(?:list|body|content|area|text|thread|section)"
)
_NAMES: Final = 1000  # characters that are searched
_COMMENTS_AT_MOST: Final = 0.7  # of the expected content; comments may be longer than an article
_ARTICLE_AT_LEAST: Final = 0.3
_MAIN_AT_LEAST: Final = 0.5
_CONTENT_IDS: Final = (" content", " main-content", " maincontent", " mainContent", " page-content", " main")
_NEVER: Final = -8.0  # log odds
_FARTHER: Final = 2.0  # subtracted from log odds
_NAMELESS: Final = 8  # characters; shorter headings are in too many titles
_NAMELESS_FOREIGN: Final = 3  # for scripts where a character may be a word


class Landmarks:
    """Main part, article and comments by the page's own markup."""

    def __init__(self, page_blocks: PageBlocks, probabilities: Sequence[float]) -> None:
        self._page_blocks = page_blocks
        self._probabilities = probabilities

    @cached_property
    def _likely(self) -> list[float]:
        """The expected amount of content before each block."""
        return [0.0, *accumulate(map(mul, self._probabilities, map(len, self._page_blocks.texts)))]

    def main_part(self) -> set[int] | None:
        """The blocks of the main part, if it has most of the expected content."""
        page_blocks = self._page_blocks
        tags = page_blocks.tags
        marked = [place for place, role in page_blocks.roles.items() if role == "main" and place]
        if "main" in tags:
            marked += [place for place, tag in enumerate(tags) if tag == "main"]
        if not marked and tags.count("article") == 1:
            marked = [tags.index("article")]
        parts = [range(page_blocks.starts[place], page_blocks.ends[place]) for place in marked]
        blocks = set[int]().union(*parts)
        share = self._share(parts[0] if len(parts) == 1 else blocks) if blocks else 0
        return blocks if share >= _MAIN_AT_LEAST else None

    def named_content(self) -> set[int] | None:
        """The blocks of the only element with an id such as `content`, if it has most of the likely content."""
        page_blocks = self._page_blocks
        # A name is class and id, so an id alone has a blank in front.
        marked = [place for place, name in enumerate(page_blocks.names) if name.endswith(_CONTENT_IDS) and place]
        if len(marked) != 1:
            return None
        blocks = range(page_blocks.starts[marked[0]], page_blocks.ends[marked[0]])
        return set(blocks) if blocks and self._share(blocks) >= _MAIN_AT_LEAST else None

    def article(self, titles: str) -> range | None:
        """The smallest article or main part with the title of the page and enough of the content."""
        page_blocks = self._page_blocks
        for block, owner in enumerate(page_blocks.owners):
            place = owner if self._is_title(block, titles) else 0
            while place:
                if page_blocks.tags[place] in ("article", "main"):
                    blocks = range(page_blocks.starts[place], page_blocks.ends[place])
                    if self._share(blocks) >= _ARTICLE_AT_LEAST:
                        return blocks
                place = page_blocks.parents[place]
        return None

    def comments(self) -> set[int]:
        """The blocks of comments; empty if they may be the page itself.

        A single part with such a name may be anything: comments are several parts, or nested.
        """
        page_blocks = self._page_blocks
        found: set[int] = set()
        parts = 0
        for place, names in enumerate(page_blocks.names):
            # Substring tests are faster than the pattern, and nearly no name matches.
            if ("omment" in names or "disqus" in names) and place and _COMMENTS.search(names, 0, _NAMES):
                parts += 1
                found.update(range(page_blocks.starts[place], page_blocks.ends[place]))
        return found if parts > 1 and self._share(found) <= _COMMENTS_AT_MOST else set()

    def _is_title(self, block: int, titles: str) -> bool:
        text = self._page_blocks.texts[block]
        is_heading = self._page_blocks.tags[self._page_blocks.owners[block]] in TITLES
        nameless = _NAMELESS if text.isascii() else _NAMELESS_FOREIGN
        return is_heading and len(text) > nameless and " ".join(text.lower().split()) in titles

    def _share(self, blocks: set[int] | range) -> float:
        """The share of the expected content in these blocks."""
        likely = self._likely
        if isinstance(blocks, range):
            inside = likely[blocks.stop] - likely[blocks.start]
        else:
            inside = sum(likely[block + 1] - likely[block] for block in blocks)
        return inside / (likely[-1] or 1)


def adjust_by_place(page_blocks: PageBlocks, odds: Sequence[float], hints: Hints) -> Sequence[float]:
    """Lower the odds of comments and of blocks outside of the article, on a page that is one."""
    if not hints.is_article:
        return odds
    places = Landmarks(page_blocks, probabilities(odds))
    if not hints.is_documentation and (article := places.article(hints.titles)) is not None:
        odds = [one if block in article else one - _FARTHER for block, one in enumerate(odds)]
        places = Landmarks(page_blocks, probabilities(odds))
    comments = places.comments()
    return [min(one, _NEVER) if block in comments else one for block, one in enumerate(odds)] if comments else odds


_AUTO: Final = 0.12  # probability of content; `auto` keeps blocks above it
_BRIDGED: Final = 2  # blocks
_ENOUGH_OF_LIST: Final = 0.3
_LISTS: Final = frozenset(("ul", "ol"))
_TABS: Final = "tablist"
_TAB: Final = "button, a:is([href^='#'], [data-toggle], [data-bs-toggle])"
_TAB_NAME: Final = 60  # characters, at most
_TABS_CLASS: Final = "nav-tabs"  # Bootstrap and its imitators
# The usual log odds of a page's best block, and how far all blocks are shifted towards it: a page unlike the training
# data is judged relative to its best block.
_SUREST: Final = 3.0
_MOVED: Final = 0.2
_STRICT: Final = 1.1  # factor on the threshold of `main`, since odds are a little too high
# The better half of an article's text has log odds over some value; blocks below half of that value minus one are not
# part of it.
_SURE_SHARE: Final = 0.5
_BELOW: Final = 1.0
_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LONG_TEXT: Final = 50  # characters; longer texts are not repeated on purpose
_REPEATING_TAGS: Final = frozenset(("pre", "td", "th"))  # where repetition is normal


def threshold(likely: Sequence[float], lengths: Sequence[int]) -> float:
    """The probability of content from which on a block is kept.

    Keeping every block with at least half the probability of the best expected F1 gives that F1, so the less certain
    the blocks are, the more are kept.
    """
    expected = sum(map(mul, likely, lengths))
    best, right, kept = 0.0, 0.0, 0
    for p, n in sorted(zip(likely, lengths, strict=True), key=itemgetter(0), reverse=True):
        right += p * n
        kept += n
        f1 = 2 * right / (kept + expected)
        if f1 < best:
            break
        best = f1
    return best / 2


def choose_blocks(page_blocks: PageBlocks, odds: Sequence[float], content: Content, hints: Hints) -> list[bool]:
    """Choose the blocks to keep by their log odds; at least one."""
    if content is Content.MAIN:
        odds = adjust_by_place(page_blocks, odds, hints)
    moved = _MOVED * (max(odds) - _SUREST)
    odds = [one - moved for one in odds]
    likely = probabilities(odds)
    lengths = list(map(len, page_blocks.texts))
    least = threshold(likely, lengths)
    if content is Content.AUTO or hints.is_documentation:
        enough = min(least, _AUTO)
        kept = [p >= enough for p in likely]
        landmarks = Landmarks(page_blocks, likely)
        marked = landmarks.main_part()
        part = (marked or landmarks.named_content()) if content is Content.AUTO else None
        if part:
            _drop_menus(page_blocks, [p >= least for p in likely], kept, min(part))
        _bridge(page_blocks, kept)
        _join_lists(page_blocks, kept)
        _keep_tabs(page_blocks, kept)
        _complete_structures(page_blocks, kept)
        if part:  # again: the site's name may be a heading, which was kept for the sake of its section
            _drop_menus(page_blocks, [p >= least for p in likely], kept, min(part))
        _keep_title(page_blocks, kept, hints)
        if marked is not None and content is Content.MAIN:
            _cut_to(page_blocks, marked, kept)
        if not any(kept):
            kept[likely.index(max(likely))] = True
        return kept
    least *= _STRICT
    if hints.is_article:
        least = max(least, probability(_middle(odds, likely, lengths) * _SURE_SHARE - _BELOW))
    least = min(least, max(likely))
    kept = [p >= least for p in likely]
    _drop_repeats(page_blocks, kept)
    return kept


def _drop_menus(page_blocks: PageBlocks, likely: Sequence[bool], kept: list[bool], before: int) -> None:
    """Drop blocks of links before the main part, unless they are likely to be content."""
    for block in range(before):
        if page_blocks.linked[block] == len(page_blocks.texts[block]) and not likely[block]:
            kept[block] = False


def _cut_to(page_blocks: PageBlocks, marked: set[int], kept: list[bool]) -> None:
    """Keep only the main part, and the title above it if it has none."""
    titles = [
        block for block, owner in enumerate(page_blocks.owners) if page_blocks.tags[owner] == "h1" and kept[block]
    ]
    has_title = any(block in marked for block in titles)
    for block in range(len(kept)):
        if block not in marked and (has_title or block not in titles[:1]):
            kept[block] = False


def _middle(odds: Sequence[float], likely: Sequence[float], lengths: Sequence[int]) -> float:
    """The least log odds in the better half of the expected content."""
    rest = sum(map(mul, likely, lengths)) / 2
    for one, p, n in sorted(zip(odds, likely, lengths, strict=True), key=itemgetter(0), reverse=True):
        rest -= p * n
        if rest <= 0:
            return one
    return min(odds)


def _complete_structures(page_blocks: PageBlocks, kept: list[bool]) -> None:
    """Keep code, tables, captions and headings together with the content.

    All code is kept. A table is kept whole or not at all, a caption with its table or code. A heading is kept with
    anything in its section, and with kept headings of its rank beside it unless its section is only links. In the main
    part tables and headings are always kept.
    """
    tags, owners, parents = page_blocks.tags, page_blocks.owners, page_blocks.parents
    cells = [place for place, tag in enumerate(tags) if tag == "th"] if "th" in tags else []
    for table in {_table(page_blocks, place) for place in cells}:  # tables with header cells are data
        start, end = page_blocks.starts[table], page_blocks.ends[table]
        if table and (any(kept[start:end]) or _is_main(page_blocks, table)):
            kept[start:end] = [True] * (end - start)
    missing: list[int] = []
    ranks: set[tuple[int, str]] = set()  # rank and parent of kept headings
    for block in range(len(kept) - 1, -1, -1):
        place = owners[block]
        tag = tags[place]
        if tag == "pre":
            kept[block] = True
        elif tag in _HEADINGS:
            if kept[block] or any(kept[block + 1 : _below(page_blocks, block)]) or _is_main_heading(page_blocks, block):
                kept[block] = True
                ranks.add((parents[place], tag))
            else:
                missing.append(block)
    for block in missing:
        place = owners[block]
        kept[block] = (parents[place], tags[place]) in ranks and not _heads_links(page_blocks, block)
    for caption in [place for place, tag in enumerate(tags) if tag == "figcaption"] if "figcaption" in tags else ():
        figure = parents[caption]
        if tags[figure] == "figure" and any(kept[page_blocks.starts[figure] : page_blocks.ends[figure]]):
            start, end = page_blocks.starts[caption], page_blocks.ends[caption]
            kept[start:end] = [True] * (end - start)


def _keep_title(page_blocks: PageBlocks, kept: list[bool], hints: Hints) -> None:
    """Keep the only h1 if it is the page's title; it is often alone in a banner."""
    if not hints.titles or page_blocks.tags.count("h1") != 1:
        return
    place = page_blocks.tags.index("h1")
    blocks = range(page_blocks.starts[place], page_blocks.ends[place])
    # A heading that is a link is the site's name, unless it links to this page.
    is_link = all(page_blocks.linked[block] == len(page_blocks.texts[block]) for block in blocks)
    if is_link and not _leads_here(page_blocks.elements[place], hints.path):
        return
    if " ".join(" ".join(page_blocks.texts[block] for block in blocks).lower().split()) in hints.titles:
        for block in blocks:
            kept[block] = True


def _leads_here(heading: Element, path: str) -> bool:
    link = heading.find("a", href=True) or heading.closest("a")
    target = (link.attr("href") or "").partition("#")[0].partition("?")[0] if link is not None else ""
    return len(path) > 1 and target.endswith(path)


def _bridge(page_blocks: PageBlocks, kept: list[bool]) -> None:
    """Keep one or two blocks between kept siblings, such as a caption or the source of a quote."""
    owners, parents = page_blocks.owners, page_blocks.parents
    last, around = -1, (0, 0)
    for block, is_kept in enumerate(kept):
        if is_kept:
            place = parents[owners[block]]
            before, around = around, (place, parents[place])
            if 0 <= last < block - 1 <= last + _BRIDGED and any(one and one in before for one in around):
                kept[last + 1 : block] = [True] * (block - 1 - last)
            last = block


def _join_lists(page_blocks: PageBlocks, kept: list[bool]) -> None:
    """Keep a list of single lines whole if enough of it is kept."""
    for place in [place for place, tag in enumerate(page_blocks.tags) if tag in _LISTS]:
        start, end = page_blocks.starts[place], page_blocks.ends[place]
        if not sum(kept[start:end]) > _ENOUGH_OF_LIST * (end - start):
            continue
        if all(page_blocks.tags[owner] == "li" for owner in page_blocks.owners[start:end]):
            kept[start:end] = [True] * (end - start)


def _keep_tabs(page_blocks: PageBlocks, kept: list[bool]) -> None:
    """Keep tab labels above a kept panel."""
    rows = [place for place, role in page_blocks.roles.items() if role == _TABS]
    rows += [
        place
        for place, name in enumerate(page_blocks.names)
        if _TABS_CLASS in name
        and page_blocks.elements[place].select_one(_TAB) is not None  # others link to other pages
    ]
    for place in rows:
        start, end = page_blocks.starts[place], page_blocks.ends[place]
        if any(kept[end : end + 2]) and all(len(text) <= _TAB_NAME for text in page_blocks.texts[start:end]):
            kept[start:end] = [True] * (end - start)


def _table(page_blocks: PageBlocks, place: int) -> int:
    """The index of the table around a cell; 0, which is the body, if there is none."""
    while place and page_blocks.tags[place] != "table":
        place = page_blocks.parents[place]
    return place


def _below(page_blocks: PageBlocks, block: int) -> int:
    """The end of a heading's section: that of its container, or the next heading of its rank."""
    tags, owners = page_blocks.tags, page_blocks.owners
    place = owners[block]
    rank = _HEADINGS[tags[place]]
    while place and page_blocks.ends[place] <= block + 1:
        place = page_blocks.parents[place]
    end = page_blocks.ends[place]
    return next((at for at in range(block + 1, end) if _HEADINGS.get(tags[owners[at]], 7) <= rank), end)


def _heads_links(page_blocks: PageBlocks, block: int) -> bool:
    """True if the section of a heading is only links, and so a menu."""
    below = range(block + 1, _below(page_blocks, block))
    return bool(below) and all(page_blocks.linked[at] == len(page_blocks.texts[at]) for at in below)


def _is_main_heading(page_blocks: PageBlocks, block: int) -> bool:
    return page_blocks.linked[block] < len(page_blocks.texts[block]) and _is_main(
        page_blocks, page_blocks.owners[block]
    )


def _is_main(page_blocks: PageBlocks, place: int) -> bool:
    return page_blocks.elements[place].closest("main, [role=main]") is not None


def _drop_repeats(page_blocks: PageBlocks, kept: list[bool]) -> None:
    """Drop repeated texts, as on pages with a version for each screen size.

    Repetitions within the same parent are on purpose.
    """
    seen: dict[str, int] = {}
    for block, text in enumerate(page_blocks.texts):
        owner = page_blocks.owners[block]
        if kept[block] and len(text) >= _LONG_TEXT and page_blocks.tags[owner] not in _REPEATING_TAGS:
            place = page_blocks.parents[owner]
            kept[block] = seen.setdefault(text, place) == place


def prune(page_blocks: PageBlocks, kept: Sequence[bool]) -> None:
    """Remove all blocks that are not kept: whole elements if possible, else their nodes.

    An element without text (a picture, a rule) is removed unless the text on both sides is kept.
    """
    upto = [0, *accumulate(kept)]
    gone: set[int] = set()
    starts, ends, parents = page_blocks.starts, page_blocks.ends, page_blocks.parents
    for place in range(1, len(starts)):
        parent = parents[place]
        if parent in gone:
            gone.add(place)
            continue
        start, end = starts[place], ends[place]
        if start < end:
            is_gone = upto[start] == upto[end]
        else:
            alone = page_blocks.tags[place] != "hr"  # a rule needs text on both sides
            before = kept[start - 1] if start > starts[parent] else alone
            after = kept[start] if start < ends[parent] else alone
            is_gone = not (before and after)
        if is_gone:
            gone.add(place)
            page_blocks.elements[place].decompose()
    for block, is_kept in enumerate(kept):
        if not is_kept and page_blocks.owners[block] not in gone:
            for node in page_blocks.nodes[block]:
                node.decompose()
