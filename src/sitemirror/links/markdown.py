"""Find links, headings and anchors of Markdown with markdown-it-py; rewrite links.

markdown-it-py does not say where a link is. Its rules pass on the text of a destination as they get it, so they are
given strings that know their place in their block; the lines of the block give the place in the file.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt, helpers
from markdown_it.rules_inline import StateInline, autolink
from markdown_it.token import Token

from sitemirror.links.source import Edit, apply

# As the front matter of a page is written: a url is always among its lines.
_FRONT_MATTER: Final = re.compile(
    r"---\n(?:(?!url:)[A-Za-z_][A-Za-z0-9_-]*: .*\n)*url: .*\n(?:[A-Za-z_][A-Za-z0-9_-]*: .*\n)*---\n"
)
_LINE_END: Final = re.compile(r"\r\n?|\n")
_MAX_NESTING: Final = 100  # of blocks, and of brackets that nothing closes
_MAX_NESTING_OF_MANY: Final = 10  # The time that brackets take is their number times their nesting.
_MANY: Final = 5_000
_MAY_LINK: Final = re.compile(r"\]\(|\]:|<[A-Za-z]")
# What would end a destination, or be read as something else in one; and what would be markup in the text of a link.
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f()<>\\|`]")
_REFERENCE: Final = re.compile(r"&(?=#?[A-Za-z0-9]+;)")
_ESCAPE: Final = r"\\\g<0>"
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&~!|]")
_IDS: Final = re.compile(r"""<[A-Za-z][^<>]*?\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))""", re.I)
# Letters by their nature, symbols by their category.
_CIRCLED: Final = (range(0x24B6, 0x24EA), range(0x1F130, 0x1F14A), range(0x1F150, 0x1F16A), range(0x1F170, 0x1F18A))


class Destination(NamedTuple):
    """The destination of a link in the file."""

    start: int  # in the file; pointed brackets are included
    end: int
    url: str  # without escapes
    is_autolink: bool


class MarkdownText:
    """The links, headings and tags of a file. The front matter of a page is no part of its text."""

    def __init__(self, markdown: str) -> None:
        front = _FRONT_MATTER.match(markdown)
        self._start = 0 if front is None else front.end()
        self._text = markdown[self._start :].replace("\0", "\ufffd")  # as the reader does
        self._env: dict[str, Any] = {}
        self._tokens = _reader(_MAX_NESTING).parse(self._text, self._env)
        self._nesting = _MAX_NESTING if self._text.count("[") < _MANY else _MAX_NESTING_OF_MANY

    def destinations(self) -> list[Destination]:
        """Every destination that the file names, in order: of links, images, autolinks and definitions."""
        lines = _FileLines(self._text)
        found: list[tuple[_Placed, _TextPlaces]] = []
        cell_end = 0
        for before, token in pairwise(self._tokens):
            if token.type == "tr_open":
                cell_end = 0
            if token.type != "inline" or token.map is None:
                continue
            places: _TextPlaces | None = None
            if before.type in ("th_open", "td_open"):
                places = lines.of_cell(token.content, token.map[0], cell_end)
                cell_end = places.end
            if "](" in token.content or "<" in token.content:
                places = places or lines.of_block(token.content, token.map[0])
                found += [(url, places) for url in self._urls(token)]
        for definition in (*self._env.get("references", {}).values(), *self._env.get("duplicate_refs", ())):
            url = definition["href"]
            found.append((url, lines.of_block(url.source, definition["map"][0])))
        start = self._start
        return sorted(
            Destination(start + places[url.start], start + places[url.end], str(url), url.is_autolink)
            for url, places in found
        )

    def headings(self) -> Iterator[str]:
        """The plain text of each heading."""
        for before, token in pairwise(self._tokens):
            if before.type == "heading_open":
                yield _plain(self._inline(token))

    def tags(self) -> Iterator[str]:
        """The raw HTML of the file."""
        for token in self._tokens:
            if token.type == "html_block":
                yield token.content
            elif token.type == "inline" and "<" in token.content:
                yield from (each.content for each in self._inline(token) if each.type == "html_inline")

    def _inline(self, token: Token) -> list[Token]:
        return _read_inline(token.content, self._env, self._nesting)

    def _urls(self, token: Token) -> Iterator[_Placed]:
        """Link destinations in a text, without those of definitions and of links in image texts."""
        depth = 0
        for each in self._inline(token):
            url = each.attrs.get("src" if each.type == "image" else "href")
            # A link in a link is possible as an autolink only, so it has to stay one.
            if isinstance(url, _Placed) and url.source is token.content and not (url.is_autolink and depth):
                yield url
            depth += each.nesting if each.type.startswith("link") else 0


def body_start(markdown: str) -> int:
    """The place where a file's text begins: after the front matter and its blank line."""
    front = _FRONT_MATTER.match(markdown)
    if front is None:
        return 0
    return front.end() + markdown.startswith("\n", front.end())


def inline_urls(inline: str) -> Iterator[str]:
    """The destinations of the links in a line of Markdown."""
    for token in _read_inline(inline, {}, _MAX_NESTING_OF_MANY):
        if token.type == "link_open":
            yield str(token.attrs["href"])


def plain_text(inline: str) -> str:
    """The text of a line of Markdown without markup and images, as GitHub takes it for anchors."""
    return _plain(_read_inline(inline, {}, _MAX_NESTING_OF_MANY))


def _read_inline(content: str, env: dict[str, Any], nesting: int) -> list[Token]:
    reader, found = _reader(nesting), list[Token]()
    reader.inline.parse(content, reader, env, found)
    return found


def _plain(tokens: list[Token]) -> str:
    shown = [token for token in tokens if token.type not in ("html_inline", "image")]
    return "".join(["\n" if token.type.endswith("break") else token.content for token in shown])


# --- places -----------------------------------------------------------------------------------------------------------


class _Placed(str):
    """A destination without escapes, and where it is in the text that it was read from."""

    source: str
    start: int
    end: int
    is_autolink: bool


def _placed(url: str, source: str, start: int, end: int, *, is_autolink: bool = False) -> _Placed:
    found = _Placed(url)
    found.source, found.start, found.end, found.is_autolink = source, start, end, is_autolink
    return found


class _TextPlaces:
    """Map offsets in a text to offsets in the file, where each line may begin with block markers."""

    def __init__(self, starts: list[int], places: list[int], end: int = 0) -> None:
        self._starts = starts  # of pieces of the text
        self._places = places  # of the same in the file
        self.end = end  # in its line

    def __getitem__(self, offset: int) -> int:
        piece = bisect_right(self._starts, offset) - 1
        return self._places[piece] + offset - self._starts[piece]


class _FileLines:
    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def of_block(self, content: str, number: int) -> _TextPlaces:
        """Map a block's text, from the line with that number; its lines end where lines of the file end."""
        starts: list[int] = []
        places: list[int] = []
        here = 0
        for line in content.split("\n"):
            bare = line.strip()
            starts.append(here + line.find(bare))
            places.append(self._text.rfind(bare, self._starts[number], self._end(number)))
            here += len(line) + 1
            number += 1
        return _TextPlaces(starts, places)

    def of_cell(self, content: str, number: int, after: int) -> _TextPlaces:
        """Map the text of a table cell, whose pipes are escaped in the file."""
        begin = self._starts[number]
        place = self._text.find(content.replace("|", r"\|"), begin + after, self._end(number))
        pipes = [at for at, char in enumerate(content) if char == "|"]
        starts = [0, *pipes]
        places = [place, *(place + at + count for count, at in enumerate(pipes, start=1))]
        return _TextPlaces(starts, places, place - begin + len(content) + len(pipes))

    def _end(self, number: int) -> int:
        return self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)


class _Helpers:
    """markdown-it's helpers, with places."""

    parseLinkLabel = staticmethod(helpers.parseLinkLabel)  # noqa: N815 - names of markdown-it-py
    parseLinkTitle = staticmethod(helpers.parseLinkTitle)  # noqa: N815

    @staticmethod
    def parseLinkDestination(source: str, start: int, maximum: int) -> object:  # noqa: N802
        found = helpers.parseLinkDestination(source, start, maximum)
        if found.ok:
            found.str = _placed(found.str, source, start, found.pos)
        return found


class _MarkdownReader(MarkdownIt):
    """markdown-it, which finds links and passes their destinations on as they are."""

    def __init__(self, max_nesting: int) -> None:
        super().__init__("commonmark", {"maxNesting": max_nesting})
        self.enable("table")
        self.disable(["inline", "text_join"])  # Most texts have no links, and need not be read.
        self.inline.ruler.at("autolink", _read_autolink)
        self.helpers: Any = _Helpers

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True


def _read_autolink(state: StateInline, silent: bool) -> bool:
    start = state.pos
    found = autolink(state, silent)
    if found and not silent:
        url = state.src[start + 1 : state.pos - 1]
        if state.tokens[-3].attrs["href"] == url:  # else it is a mail address
            state.tokens[-3].attrs["href"] = _placed(url, state.src, start, state.pos, is_autolink=True)
    return found


@cache
def _reader(max_nesting: int) -> _MarkdownReader:
    return _MarkdownReader(max_nesting)


# --- rewriting --------------------------------------------------------------------------------------------------------


def relink_markdown(markdown: str, *, change: Callable[[str], str | None]) -> str:
    """`markdown` with every link for which `change` has an answer leading there.

    `change` is given each destination as the file names it, without escapes, in order. It answers with the new one, or
    with `None` to leave the link as it is. Pictures are asked for like links; text, code and raw HTML are never
    touched, and what is rendered as text stays the same.
    """
    if _MAY_LINK.search(markdown) is None:
        return markdown
    edits: list[Edit] = []
    for found in MarkdownText(markdown).destinations():
        new = change(found.url)
        if new is not None and new != found.url:
            destination = _REFERENCE.sub("&amp;", as_named(new)) or "<>"
            if not found.is_autolink:
                edits.append((found.start, found.end, destination))
            elif (edit := _spelled_out(markdown, found, destination)) is not None:
                edits.append(edit)
    return apply(markdown, edits)


def as_named(destination: str) -> str:
    """`destination` with everything percent-encoded that would end it or mean something else in a file."""
    return _UNSAFE.sub(_encoded, destination)


def _encoded(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _spelled_out(markdown: str, found: Destination, destination: str) -> Edit | None:
    """An edit that writes an autolink as a link with a text; `None` where that would be read differently."""
    start = found.start
    text = f"[{_MARKUP.sub(_ESCAPE, found.url)}]({destination})"
    if _stands(markdown, "!", start):
        return start - 1, found.end, rf"\!{text}"  # or it would be a picture
    gap = _back_over(markdown, start, " \t\n>".__contains__)
    word = _back_over(markdown, start, lambda char: char not in " \t\n<>")
    if (
        _stands(markdown, "]", start)  # Brackets after brackets are a label.
        or _stands(markdown, "](", gap)  # What is no destination in pointed brackets would become one.
        or _stands(markdown, "]:", gap)
        or (word < start and _stands(markdown, "<", word))  # It would be an autolink up to our end.
    ):
        return None
    return start, found.end, text


def _stands(markdown: str, mark: str, end: int) -> bool:
    """True if `mark` ends at `end` and is not escaped."""
    place = end - len(mark)
    if not markdown.endswith(mark, 0, end):
        return False
    return (place - _back_over(markdown, place, "\\".__eq__)) % 2 == 0


def _back_over(markdown: str, place: int, passed: Callable[[str], bool]) -> int:
    """The beginning of the run of characters before `place` that satisfy `passed`."""
    while place and passed(markdown[place - 1]):
        place -= 1
    return place


# --- anchors ----------------------------------------------------------------------------------------------------------


class _Letters(dict[int, int | str | None]):
    """The mapping of a heading's characters for its anchor: kept, hyphen or dropped. As GitHub does it."""

    def __missing__(self, code: int) -> int | str | None:
        category = unicodedata.category(chr(code))
        kept = category[0] in "LM" or category in ("Nd", "Nl", "Pc", "Cs") or any(code in part for part in _CIRCLED)
        found = self[code] = code if kept else None
        return found


_LETTERS: Final = _Letters({ord(" "): "-", ord("-"): "-"})


class Slugs:
    """Gives headings their anchors, in order; the second of the same name is `name-1`."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, heading: str) -> str:
        """The anchor of the next heading."""
        plain = found = heading.lower().translate(_LETTERS)
        while found in self._seen:
            self._seen[plain] += 1
            found = f"{plain}-{self._seen[plain]}"
        self._seen[found] = 0
        return found


def anchors(markdown: str) -> frozenset[str]:
    """Every anchor that a link into the file may name: its headings', and the ids of its raw HTML."""
    text = MarkdownText(markdown)
    slugs = Slugs()
    found = {slugs.slug(heading) for heading in text.headings()}
    for tag in text.tags():
        found.update(match[1] or match[2] or match[3] or "" for match in _IDS.finditer(tag))
    return frozenset(found - {""})
