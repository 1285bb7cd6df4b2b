"""Search mirrors: ranked sections for any text, over one mirror or many.

A section's score adds up what is known of it: the words, weighted by where they are (1 for the best section of a
mirror); the name that it defines, if the query is one; the title that is the query. Pages that only list others count
for little, and each page is named once before any is named twice.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sitemirror.errors import UsageError
from sitemirror.reading.definitions import Strength, split_name
from sitemirror.reading.index import PageKind, SearchIndex, SectionRow, discard_index, open_index, spaced, symbol_word
from sitemirror.reading.mirrors import find_mirrors
from sitemirror.text import UNPRINTABLE

LIMIT: Final = 10
_MAX_QUERY: Final = 2_000  # characters of a query that are looked at
_MAX_TERMS: Final = 40
_CANDIDATES: Final = 80
_FEW: Final = 20
_SNIPPET: Final = 240

_WORD: Final = re.compile(r"\w+")
_QUOTED: Final = re.compile(r'"([^"]+)"')
_SYMBOL: Final = re.compile(r"[!-/:-@\[-`{-~]{1,6}\Z|[A-Za-z](?:\+\+|#)\Z")
_CALL: Final = re.compile(r"\([^()]*\)\Z|[;,]\Z")
_LIKE_CODE: Final = re.compile(r"[_.:$#/@()]|->|\A-|\w[A-Z]")
_GENERIC: Final = frozenset(("params", "parameters", "args", "arguments"))
_NUMBER: Final = re.compile(
    r"(?:(?:Chapter|Appendix|Part|Section)\s+)?(?:[A-Z]|[0-9]+)(?:\.[0-9]+)*\.\s+|[0-9]+(?:\.[0-9]+)*\s+"
)
_SUBTITLE: Final = re.compile(r"\s[—–|-]\s|:\s|\s\(")

_WEIGHTS: Final = "8.0, 4.0, 1.0, 4.0"  # of title, headings, body, symbols
_CONFIRMED: Final = 0.2  # times the agreement, where other pages' links say that a page defines a name, too
_ONLY_SAID: Final = 0.7  # the same where the page itself does not show it
_PARTIAL: Final = 0.5  # where no section has all words
_EXACT: Final = 2.0
_PAGE_TITLE: Final = 1.9
_OWN_HEADING: Final = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A section that was found."""

    title: str
    """The page's title, without the site's name."""
    headings: tuple[str, ...]
    """Titles from the page's own down to the section's."""
    url: str
    path: str
    """The file, below the folder that was searched."""
    lines: tuple[int, int]
    """First and last line of the section in the file."""
    tokens: int
    """Estimated for the whole section."""
    snippet: str
    """A piece of its text, without markup, in one line."""
    score: float
    site: str
    """Name of the mirror: the host."""
    fetched_at: str | None
    """When the server last confirmed or sent the page."""
    id: str
    """The section's; the one that `sitemirror.sections` gives."""
    anchor: str
    """The heading's anchor in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """The result of a search."""

    query: str
    results: tuple[SearchResult, ...]
    total: int
    """Sections that match, on all pages."""
    elapsed_sec: float
    suggestions: tuple[str, ...] = ()
    """Titles and names like the query, where nothing matches."""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class Query:
    """A query, read: any text is one."""

    text: str
    phrases: list[str] = field(default_factory=list)
    """For FTS5: each term's words, quoted."""
    words: list[str] = field(default_factory=list)
    names: list[tuple[str, float]] = field(default_factory=list)
    """What may be a name that a page defines, and how much that counts."""


@dataclass(slots=True)
class _Hit:
    index: SearchIndex
    section: SectionRow
    words: float = 0.0
    bonus: float = 0.0

    @property
    def score(self) -> float:
        score = self.words + self.bonus
        if self.section.kind == PageKind.INDEX:
            return score * 0.3 - 0.3
        if self.section.kind == PageKind.LISTING:
            return score * 0.5
        return score * 0.5 if self.section.is_list and not self.bonus else score


def search(query: str, folders: Sequence[Path], *, limit: int = LIMIT) -> SearchReport:
    """Search all mirrors in or below the folders. Their indexes are built or brought up to date first.

    Raises `UsageError` for a query without anything to search for, and for folders without Markdown.
    """
    started = time.monotonic()
    parsed = parse(query)
    if limit < 1:
        raise UsageError(f"the limit must be 1 or more, not {limit}", hint="leave it out for 10")
    mirrors = find_mirrors(folders)
    for attempt in (1, 2):
        with ExitStack() as stack:
            # Opened one by one: SQLite attaches ten databases to each other at most.
            indexes = [stack.enter_context(open_index(mirror)) for mirror in mirrors]
            try:
                return _search(parsed, indexes, limit, started)
            except sqlite3.DatabaseError:
                if attempt == 2:
                    raise
        for mirror in mirrors:
            discard_index(mirror)  # One of them is damaged where opening it did not look.
    raise AssertionError


def search_indexes(query: Query, indexes: Sequence[SearchIndex], *, limit: int = LIMIT) -> SearchReport:
    """Search indexes that are open."""
    return _search(query, indexes, limit, time.monotonic())


def _search(query: Query, indexes: Sequence[SearchIndex], limit: int, started: float) -> SearchReport:
    with ExitStack() as stack:
        for index in indexes:
            stack.enter_context(index.reading())
        return _report(query, indexes, limit, started)


def _report(query: Query, indexes: Sequence[SearchIndex], limit: int, started: float) -> SearchReport:
    if not any(index.has_pages for index in indexes):
        folders = ", ".join(str(index.mirror.folder) for index in indexes)
        hint = "for HTML, mirror again with --format both; for a mirror that is being written, wait for its pages"
        raise UsageError(f"there is no Markdown to search in {folders}", hint=hint)
    found = [_find(query, index) for index in indexes]
    results = tuple(_result(hit, query) for hit in _spread(_rank([hit for _, hits in found for hit in hits]), limit))
    return SearchReport(
        query=query.text,
        results=results,
        total=max(sum(count for count, _ in found), len(results)),
        elapsed_sec=round(time.monotonic() - started, 4),
        suggestions=() if results else _suggestions(query, indexes),
        warnings=tuple(warning for index in indexes for warning in index.warnings),
    )


# --- the query --------------------------------------------------------------------------------------------------------


def parse(query: str) -> Query:
    """Read a query. Raises `UsageError` for one without anything to search for."""
    text = " ".join(UNPRINTABLE.sub(" ", query[:_MAX_QUERY]).split())
    if not text:
        raise UsageError("the query is empty", hint='give what to search for: sitemirror search "rate limit"')
    parsed = Query(text)
    terms = _QUOTED.findall(text) + _QUOTED.sub(" ", text).replace('"', " ").split()
    for term in dict.fromkeys(terms[: 4 * _MAX_TERMS]):
        words = [symbol_word(term)] if _SYMBOL.match(term) else _WORD.findall(spaced(term))
        words = words or ([symbol_word(term[:6])] if len(terms) == 1 else [])
        if words and len(parsed.phrases) < _MAX_TERMS:
            parsed.phrases.append(_phrase(words))
            parsed.words += [word.lower() for word in words if not word.startswith("symbol")] or [term]
    whole = _CALL.sub("", text.strip("`'\"")).strip() or text
    parsed.names.append((whole, 1.0))
    if " " in text:
        code = [_CALL.sub("", term) for term in terms if _LIKE_CODE.search(term)]
        parsed.names += [(name, 0.7) for name in dict.fromkeys(code[:3]) if name and name != whole]
    return parsed


def _phrase(words: Sequence[str]) -> str:
    return '"' + " ".join(words).replace('"', '""') + '"'


# --- one mirror -------------------------------------------------------------------------------------------------------


def _find(query: Query, index: SearchIndex) -> tuple[int, list[_Hit]]:
    """The number of sections that match, and the best of them, not yet ranked."""
    words, total = _by_words(query, index.database)
    defined = _by_name(query, index)
    titled = _by_title(query, index.database)
    sections = index.sections({*words, *defined, *titled})
    hits = {id: _Hit(index, section, words=words.get(id, 0.0)) for id, section in sections.items()}
    for id, bonus in defined.items():
        hits[id].bonus += bonus
    if titled:
        for hit in hits.values():
            hit.bonus += _title_bonus(query, hit.section)
    return max(total, len(defined)), list(hits.values())


def _match(database: sqlite3.Connection, expression: str, limit: int) -> dict[int, float]:
    rows = database.execute(
        f"select rowid, -bm25(words, {_WEIGHTS}) from words where words match ? order by 2 desc limit ?",  # noqa: S608
        (expression, limit),
    )
    return dict(rows.fetchall())


def _by_words(query: Query, database: sqlite3.Connection) -> tuple[dict[int, float], int]:
    """Score sections by words: all, then prefixes, then some; the best counts 1.

    Counted for each mirror alone: a word that is on every page of one may be rare in another.
    """
    if not query.phrases:
        return {}, 0
    every = " ".join(query.phrases)
    found = _relative(_match(database, every, _CANDIDATES), 1.0)
    total = len(found)
    if total == _CANDIDATES:
        [total] = database.execute("select count(*) from words where words match ?", (every,)).fetchone()
    if len(found) < _FEW:
        most = 0.9 * min(found.values(), default=_PARTIAL)
        for expression in _looser(query):
            for id, value in _relative(_match(database, expression, _CANDIDATES), most).items():
                found.setdefault(id, value)
    return found, total or len(found)


def _relative(found: dict[int, float], most: float) -> dict[int, float]:
    best = max(found.values(), default=0.0)
    return {id: most * value / best for id, value in found.items()} if best else found


def _looser(query: Query) -> list[str]:
    several = len(query.phrases) > 1 or " " in query.phrases[0]
    if not several and len(query.words[0]) >= 3 and query.words[0].isalnum():
        return [query.phrases[0] + "*"]
    loose = [_phrase([word]) for word in dict.fromkeys(query.words) if _WORD.match(word)]
    return [" OR ".join(loose[:_MAX_TERMS])] if several and loose else []


def _by_title(query: Query, database: sqlite3.Connection) -> dict[int, float]:
    """Sections whose page or heading has the query in its title."""
    words = [word for word in query.words if _WORD.match(word)][:12]
    if not words:
        return {}
    return _match(database, "{title headings}: " + _phrase(words), _CANDIDATES)


def _title_bonus(query: Query, section: SectionRow) -> float:
    wanted = _plain(query.text)
    own = section.headings[-1] if section.headings else ""
    whole = _plain(_NUMBER.sub("", own, count=1))
    begins = _plain(_SUBTITLE.split(_NUMBER.sub("", own, count=1), maxsplit=1)[0])
    if len(section.headings) == 1 and wanted in (whole, begins):
        return _PAGE_TITLE
    if wanted in (whole, begins):
        return _OWN_HEADING
    if len(section.headings) <= 1 and wanted == _plain(_SUBTITLE.split(section.title, maxsplit=1)[0]):
        return _OWN_HEADING
    if whole.startswith(f"{wanted} "):
        return 0.5
    return 0.3 if wanted in whole else 0.0


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


# --- definitions ------------------------------------------------------------------------------------------------------


def _by_name(query: Query, index: SearchIndex) -> dict[int, float]:
    """Sections that define what the query names."""
    found: dict[int, float] = {}
    for name, factor in query.names:
        parts = [part for part in split_name(name) if part not in _GENERIC] or split_name(name)
        for id, bonus in _defining(name, parts, index).items():
            found[id] = max(found.get(id, 0.0), factor * bonus)
    return found


def _defining(name: str, parts: list[str], index: SearchIndex) -> dict[int, float]:
    scored = [
        (id, *_agreement(parts, split_name(defined), strength), 0.1 * defined.endswith(name))
        for defined, id, strength in index.definitions(parts[-1])
    ]
    sections = index.sections({id for id, *_ in scored})
    found: dict[int, float] = {}
    for id, bonus, rest, same_case in scored:
        bonus += same_case + (_place_bonus(rest, sections[id]) if rest else 0.0)
        found[id] = max(found.get(id, 0.0), bonus)
    _add_references(found, sections, parts, index)
    if len(parts) > 1 and max(found.values(), default=0.0) < _EXACT:
        # A member that the page names in a text only: where its owner is defined.
        for id, bonus in _defining(name, parts[:-1], index).items():
            found[id] = max(found.get(id, 0.0), 0.6 * bonus)
    return found


def _add_references(
    found: dict[int, float], sections: dict[int, SectionRow], parts: list[str], index: SearchIndex
) -> None:
    """Raise sections of pages that other pages link to by the name, or else their first section."""
    said: dict[int, float] = {}
    for name, page, count in index.referred(parts[-1]):
        agreement, _ = _agreement(parts, split_name(name), Strength.NAMED)
        said[page] = max(said.get(page, 0.0), agreement * min(count + 2, 5) / 5)
    best: dict[int, int] = {}
    for id in sorted(found, key=found.__getitem__):
        best[sections[id].page] = id
    others = index.first_sections(said.keys() - best.keys())
    for page, agreement in said.items():
        if page in best:
            found[best[page]] += _CONFIRMED * agreement
        elif page in others:
            found[others[page]] = _ONLY_SAID * agreement


def _agreement(wanted: list[str], defined: list[str], strength: int) -> tuple[float, list[str]]:
    """Return how well a defined name matches the query's, and the owners it does not name."""
    common = 0
    while common < min(len(wanted), len(defined)) and wanted[-1 - common] == defined[-1 - common]:
        common += 1
    sure = 0.15 * strength - (0.5 if strength == Strength.MENTIONED else 0.0)
    if common == len(wanted) == len(defined):
        return _EXACT + sure, []
    if common == len(wanted):
        return 1.3 + sure, []
    rest = wanted[:-common]
    if common == len(defined):
        return 0.8 + 0.2 * common + sure, rest
    others = set(defined[:-common])
    return 0.4 + 0.3 * len(others & set(rest)) / len(others) + 0.2 * (common - 1) + sure - 0.6, rest


def _place_bonus(owners: list[str], section: SectionRow) -> float:
    """How far URL, title and headings name the owners that the definition itself does not."""
    place = " ".join(
        (section.url.partition("://")[2].partition("/")[2], section.title, *section.headings, section.owners)
    )
    place = place.lower()
    words = set(_WORD.findall(place))
    named = sum(all(part in words for part in _WORD.findall(owner)) for owner in owners)
    return 0.6 * named / len(owners) + (0.4 if ".".join(owners) in place else 0.0)


# --- ranking ----------------------------------------------------------------------------------------------------------


def _rank(hits: list[_Hit]) -> list[_Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.section.url, hit.section.first))


def _spread(hits: list[_Hit], limit: int) -> list[_Hit]:
    """The best section of each page; more of a page only where there are not enough pages."""
    seen: set[tuple[int, int]] = set()
    first: list[_Hit] = []
    more: list[_Hit] = []
    for hit in hits:
        page = (id(hit.index), hit.section.page)
        (more if page in seen else first).append(hit)
        seen.add(page)
    return [*first, *more][:limit]


def _result(hit: _Hit, query: Query) -> SearchResult:
    section = hit.section
    mirror = hit.index.mirror
    return SearchResult(
        title=section.title,
        headings=section.headings,
        url=section.url,
        path=(mirror.folder / section.path).as_posix(),
        lines=(section.first, section.last),
        tokens=section.tokens,
        snippet=snippet(hit.index.text(section.id), query.words),
        score=round(hit.score, 3),
        site=mirror.name,
        fetched_at=section.fetched_at,
        id=section.key,
        anchor=section.anchor,
    )


_FENCE_OR_RULE: Final = re.compile(r"(?m)^[ \t>]*(?:(?:```|~~~).*|[-*_= |:]{3,})$|^[ \t>]*#{1,6}[ \t].*$")
_LINKED: Final = re.compile(
    r"!?\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\((?:<[^>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[ \t]+\"[^\"\n]*\")?\)"
)
_MARKS: Final = re.compile(r"(?m)\*\*|(?<!\\)`+|^[ \t>]*(?:[-*+][ \t]+|>[ \t]*)?|\\(?=[!-/:-@\[-`{-~])")


def snippet(text: str, words: Sequence[str]) -> str:
    """The piece of a section with most of the words, in one line, without markup."""
    shown = _LINKED.sub(r"\1", _LINKED.sub(r"\1", _FENCE_OR_RULE.sub(" ", text)))
    shown = " ".join(_MARKS.sub("", shown).split())
    if len(shown) <= _SNIPPET:
        return shown
    pattern = words_pattern(words)
    places = [match.start() for match in pattern.finditer(shown)] if pattern else []
    best = max(places, key=lambda at: len({shown[p : p + 4].lower() for p in places if at <= p < at + 200}), default=0)
    start = max(0, best - 60)
    while start and shown[start - 1] != " " and best - start < 90:
        start -= 1
    end = min(len(shown), start + _SNIPPET)
    piece = shown[start:end]
    if end < len(shown):
        piece = (piece.rpartition(" ")[0] or piece) + " …"
    return f"… {piece}" if start else piece


def words_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Compile a pattern for the words of a query as prefixes, with the index's endings."""
    stems = {re.escape(word[: max(4, len(word) - 2)]) for word in words if word}
    return (
        re.compile(
            "|".join(
                rf"(?<!\w)(?:{stem})\w*" if stem[0].isalnum() else stem for stem in sorted(stems, key=len, reverse=True)
            ),
            re.IGNORECASE,
        )
        if stems
        else None
    )


# --- nothing found ----------------------------------------------------------------------------------------------------


def _suggestions(query: Query, indexes: Sequence[SearchIndex], count: int = 5) -> tuple[str, ...]:
    """Titles that are spelt most like the query."""
    wanted = _trigrams(query.text)
    titles = dict.fromkeys(title for index in indexes for title in index.titles())
    near: list[tuple[float, str]] = []
    for title in titles:
        have = _trigrams(title)
        likeness = 2 * len(wanted & have) / (len(wanted) + len(have))
        near.append((-likeness, title))
    return tuple(title for _, title in sorted(near)[:count])


def _trigrams(text: str) -> set[str]:
    padded = f"  {text.lower()} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}
