"""The five tools: list, search, read, outline, changes. Each answers with text within a budget."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from sitemirror.errors import UsageError
from sitemirror.links.markdown import body_start
from sitemirror.mcp.answers import MOST, Room, answer, clean, one_line
from sitemirror.mcp.arguments import QUERY_ALIASES, TOKENS, Argument, page, read_arguments, site
from sitemirror.mcp.shelf import Catalogue, Place, Shelf
from sitemirror.publish.manifest import PageRow
from sitemirror.reading.changed_pages import changed_pages, parse_since, removed_pages
from sitemirror.reading.mirrors import decode
from sitemirror.reading.search import search
from sitemirror.reading.sections import Section, estimate_tokens, split
from sitemirror.text import counted

_TAIL: Final = 110
"""Tokens for the lines that say where to go on."""
_RANGE: Final = re.compile(r"\s*(\d+)\s*(?:(-|–|:|,|\.\.|to)\s*(\d*))?\s*")
_SECTION_ID: Final = re.compile(r"[0-9a-f]{16}")
_SKIP: Final = Argument(
    "skip",
    "Entries to leave out, to go on behind an earlier answer.",
    ("offset", "start", "cursor", "from_index"),
    is_number=True,
    default=0,
    least=0,
    most=10_000_000,
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is offered, and the function that answers its calls."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    run: Callable[[Shelf, Mapping[str, Any]], str]

    def schema(self) -> dict[str, object]:
        """Return the JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {each.name: each.schema() for each in self.arguments},
            "required": [each.name for each in self.arguments if each.is_needed],
        }

    def __call__(self, shelf: Shelf, given: Mapping[str, Any]) -> str:
        """Answer a call."""
        return self.run(shelf, read_arguments(self.name, self.arguments, given))


def tool_named(name: str) -> Tool:
    """Find a tool. Raises `UsageError` that says which there are."""
    for tool in TOOLS:
        if tool.name == name:
            return tool
    plain = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    meant = [tool.name for tool in TOOLS if tool.name.removeprefix("docs_") in plain.split("_")]
    meant = meant or get_close_matches(plain, [tool.name for tool in TOOLS], n=1)
    hint = f" Did you mean {meant[0]}?" if meant else ""
    names = ", ".join(tool.name for tool in TOOLS)
    raise UsageError(f"there is no tool {one_line(name, 80)!r}.{hint} The tools: {names}.")


# --- docs_list --------------------------------------------------------------------------------------------------------


def _list(shelf: Shelf, given: Mapping[str, Any]) -> str:
    catalogues = shelf.catalogues(given.get("query", ""))
    room = Room(given["budget"])
    room.left -= _TAIL
    lines = [f"{counted(len(catalogues), 'mirror')} of websites; `in` takes the name."]
    shown = 0
    for catalogue in catalogues[given["skip"] :]:
        pages = counted(len(catalogue.pages), "page")
        line = f"- {catalogue.name}: {one_line(catalogue.header.source_url)}, {pages}, {_dated(catalogue)}"
        if not room.takes(line + "\n"):
            break
        lines.append(line)
        shown += 1
    return answer(lines, "", _rest(len(catalogues), given["skip"], shown, "docs_list"))


def _dated(catalogue: Catalogue) -> str:
    whole = "" if catalogue.header.complete else ", incomplete: pages may be missing"
    return f"copied {catalogue.date}{whole}"


def _rest(total: int, skipped: int, shown: int, call: str) -> list[str]:
    """Say how many entries are left out and which call gives them."""
    left = total - skipped - shown
    return [f"{left:,} more: {call} with skip={skipped + shown}"] if left > 0 else []


# --- docs_search ------------------------------------------------------------------------------------------------------


def _search(shelf: Shelf, given: Mapping[str, Any]) -> str:
    catalogues = shelf.catalogues(given.get("in", ""))
    query, limit, skipped = given["query"], given["limit"], given["skip"]
    report = search(query, [catalogue.mirror.folder for catalogue in catalogues], limit=limit + skipped)
    names = {catalogue.name: catalogue for catalogue in catalogues}
    room = Room(given["budget"])
    room.left -= _TAIL
    pages = sum(len(catalogue.pages) for catalogue in catalogues)
    where = f"{', '.join(list(names)[:5])}{' …' if len(names) > 5 else ''} ({counted(pages, 'page')})"
    said = [*(f"note: {one_line(warning)}" for warning in report.warnings)]
    if not report.results:
        said.insert(0, f"Nothing found for {one_line(query)!r} in {where}.")
        said += [f"{catalogue.name}: {_dated(catalogue)}" for catalogue in catalogues[:5]]
        near = [line for title in report.suggestions if room.takes(line := f"- {one_line(title)}\n")]
        if near:
            said.append("Titles that are spelt most like it:")
        return answer(said, "".join(near))
    said.insert(0, f"{report.total:,} sections found for {one_line(query)!r} in {where}; best first.")
    sites = {result.site for result in report.results}
    said += [f"{each.name}: {_dated(each)}" for each in catalogues if each.name in sites]
    blocks: list[str] = []
    for number, result in enumerate(report.results[skipped:], skipped + 1):
        catalogue = names[result.site]
        path = result.path.removeprefix(catalogue.mirror.folder.as_posix()).strip("/")
        block = "\n".join(
            (
                f"{number}. {one_line(' › '.join(result.headings) or result.title, 300)}",
                f"   source: {one_line(result.url, 500)}",
                f"   file: {catalogue.name}/{path}, lines {result.lines[0]}-{result.lines[1]}, "
                f"{result.tokens:,} tokens, section {result.id}, fetched {result.fetched_at or 'unknown'}",
                f"   {one_line(result.snippet, 600)}\n",
            )
        )
        if not room.takes(block):
            break
        blocks.append(block)
    more = ["docs_read takes ref=<source or file>, and section=<its id> for the section alone."]
    known = min(report.total, len(report.results)) if len(report.results) < limit + skipped else report.total
    return answer(said, "".join(blocks), more + _rest(known, skipped, len(blocks), "docs_search"))


# --- docs_read --------------------------------------------------------------------------------------------------------


def read_page(shelf: Shelf, given: Mapping[str, Any]) -> str:
    """Answer with a page, a section or a range of lines, as much of it as the budget holds."""
    place = shelf.find(given["ref"], given.get("in", ""))
    text = _text(place)
    lines = text.split("\n")
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    sections = split(text, url=place.page.url, path=place.page.path, max_tokens=0)
    first, last, is_all = _wanted(place, given, text, sections, len(lines))
    room = Room(given["budget"])
    said = [*_about(place), ""]
    room.left -= estimate_tokens("\n".join(said)) + _TAIL
    outline: list[str] = []
    if is_all and sum(section.tokens for section in sections) > room.left:
        outline = _headings(sections, room, room.left // 3)
    end = _fitting(lines, first, last, room)
    body = "\n".join(lines[first - 1 : end])
    said[-1] = f"lines {first}-{end} of {len(lines)}"
    more = []
    if end < last:
        rest = sum(section.tokens for section in sections if section.lines[0] > end)
        said[-1] += f"; the page is longer than the budget, lines {end + 1}-{last} are left out"
        url = one_line(place.page.url, 500)
        more.append(f"more: docs_read with ref={url} and lines={end + 1}-{last}, ~{rest:,} tokens")
    parts = [*(["Headings of the page:", *outline, ""] if outline else []), clean(body)]
    return answer(said, "\n".join(parts), more)


def _text(place: Place) -> str:
    data = place.catalogue.mirror.read(place.page)
    if data is None:
        where = one_line(f"{place.catalogue.name}/{place.page.path}")
        raise UsageError(f"the file {where} cannot be read; `sitemirror verify` says why.")
    return decode(data)


def _about(place: Place) -> list[str]:
    page = place.page
    lines = [
        f"site: {place.catalogue.name}, {_dated(place.catalogue)}",
        f"source: {one_line(page.url, 500)}, fetched {page.fetched_at or 'unknown'}"
        + (f", changed {page.changed_at}" if page.changed_at else ""),
        f"file: {one_line(f'{place.catalogue.name}/{page.path}', 500)}",
    ]
    if page.refresh_error:
        lines.append(f"note: the last update could not renew this page: {one_line(page.refresh_error)}")
    if page.hidden_texts:
        lines.append(f"note: {page.hidden_texts} texts that no reader of the page sees were left out")
    return lines


def _wanted(
    place: Place, given: Mapping[str, Any], text: str, sections: Sequence[Section], count: int
) -> tuple[int, int, bool]:
    """Return the first and the last line that are asked for, and true for the whole page."""
    begin = 1 + text.count("\n", 0, body_start(text))
    if asked := given.get("lines"):
        found = _RANGE.fullmatch(asked)
        if found is None:
            raise UsageError(f"lines must be a range such as 41-80, not {one_line(asked, 80)!r}.")
        first = int(found[1])
        last = int(found[3]) if found[3] else count if found[2] else first
        if not 1 <= first <= count or last < first:
            raise UsageError(f"the page has lines 1-{count}; {one_line(asked, 80)!r} is not in it.")
        return first, min(last, count), False
    name = given.get("section") or place.fragment
    if not name:
        return min(begin, count), count, True
    if _SECTION_ID.fullmatch(name):
        for section in split(text, url=place.page.url, path=place.page.path):
            if section.id == name:
                return section.lines[0], min(section.lines[1], count), False
    plain = name.lstrip("#").strip().casefold()
    for level in (_is_exactly, _is_within):
        for number, section in enumerate(sections):
            if section.headings and level(section, plain):
                last = section.lines[1]
                for below in sections[number + 1 :]:
                    if below.headings[: len(section.headings)] != section.headings:
                        break
                    last = below.lines[1]
                return section.lines[0], min(last, count), False
    if given.get("section"):
        where = one_line(f"{place.catalogue.name}/{place.page.path}")
        raise UsageError(f"{where} has no section {one_line(name, 80)!r}; docs_outline lists its headings.")
    return min(begin, count), count, True  # A fragment of the site's HTML that the Markdown does not have.


def _is_exactly(section: Section, name: str) -> bool:
    return name in (section.headings[-1].casefold(), section.anchor.casefold(), " › ".join(section.headings).casefold())


def _is_within(section: Section, name: str) -> bool:
    return name in section.headings[-1].casefold()


def _fitting(lines: Sequence[str], first: int, last: int, room: Room) -> int:
    """Return the last line that there is room for, or the end of a block that is not far before it."""
    end = block = first - 1
    fenced = False
    for number in range(first, last + 1):
        line = lines[number - 1]
        if not room.takes(line + "\n"):
            break
        end = number
        fenced ^= line.lstrip(" >").startswith(("```", "~~~"))
        if not line.strip() and not fenced:
            block = number
    if end < first:
        size = estimate_tokens(lines[first - 1])
        raise UsageError(
            f"the budget does not hold line {first} of the page, which has {size:,} tokens. Give more, up to "
            f"budget={MOST}, or go on behind it with lines={first + 1}-."
        )
    return block if end < last and block - first > (end - first) * 0.6 else end


def _headings(sections: Iterable[Section], room: Room, most: int) -> list[str]:
    """Return an outline of headings with lines and tokens, of no more than `most` tokens."""
    floor = room.left - most
    found: list[str] = []
    for section in sections:
        title = one_line(section.headings[-1]) if section.headings else "(before the first heading)"
        depth = "  " * max(len(section.headings) - 1, 0)
        line = f"{depth}- {title} (lines {section.lines[0]}-{section.lines[1]}, {section.tokens:,} tokens)"
        if room.left - estimate_tokens(line) < floor or not room.takes(line + "\n"):
            found.append("- …")
            break
        found.append(line)
    return found


# --- docs_outline -----------------------------------------------------------------------------------------------------


def _outline(shelf: Shelf, given: Mapping[str, Any]) -> str:
    ref, name = given.get("ref", ""), given.get("in", "")
    catalogues = shelf.catalogues(name)
    if not ref and len(catalogues) > 1:
        return _list(shelf, {**given, "query": name})
    room = Room(given["budget"])
    room.left -= _TAIL
    if not ref:
        return _folder(catalogues[0], "", given, room)
    for catalogue in catalogues:
        path = ref.strip("/").removeprefix(catalogue.name).strip("/")
        if "://" not in ref and path not in catalogue.pages and _is_folder(catalogue, path):
            return _folder(catalogue, path, given, room)
    place = shelf.find(ref, name)
    text = _text(place)
    sections = split(text, url=place.page.url, path=place.page.path, max_tokens=0)
    said = _about(place)
    room.left -= estimate_tokens("\n".join(said))
    skipped = given["skip"]
    lines = _headings(sections[skipped:], room, room.left)
    shown = len(lines) - (lines[-1:] == ["- …"])
    return answer(said, "\n".join(lines[:shown]), _rest(len(sections), skipped, shown, "docs_outline"))


def _is_folder(catalogue: Catalogue, path: str) -> bool:
    """Return true for the mirror's own folder and for one with more than the page that has its name."""
    return not path or any(each.startswith(f"{path}/") and each != f"{path}/index.md" for each in catalogue.pages)


def _folder(catalogue: Catalogue, path: str, given: Mapping[str, Any], room: Room) -> str:
    """List a folder of a mirror: the folders in it with their number of pages, then its pages."""
    prefix = f"{path}/" if path else ""
    folders: Counter[str] = Counter()
    here: list[PageRow] = []
    for each, row in catalogue.pages.items():
        if not each.startswith(prefix):
            continue
        below, slash, rest = each[len(prefix) :].partition("/")
        if slash:
            folders[below] += 1
        if not slash or rest == "index.md":
            here.append(row)
    alone = {name for name in folders if folders[name] == 1 and f"{prefix}{name}/index.md" in catalogue.pages}
    larger = {name: count for name, count in folders.items() if name not in alone}
    entries = [f"- {prefix}{one_line(name)}/ ({counted(count, 'page')})" for name, count in sorted(larger.items())]
    entries += [
        f"- {one_line(row.path)}: {one_line(row.title or '')} (~{(row.size_bytes or 0) // 4:,} tokens)" for row in here
    ]
    said = [
        f"site: {catalogue.name}, {one_line(catalogue.header.source_url)}, {_dated(catalogue)}",
        f"folder: {one_line(path) or '/'}: {counted(len(larger), 'folder')}, {counted(len(here), 'page')}",
    ]
    room.left -= estimate_tokens("\n".join(said))
    skipped = given["skip"]
    lines: list[str] = []
    for entry in entries[skipped:]:
        if not room.takes(entry + "\n"):
            break
        lines.append(entry)
    more = [f"docs_outline with in={catalogue.name} and ref=<folder> goes down, docs_read reads a page."]
    return answer(said, "\n".join(lines), more + _rest(len(entries), skipped, len(lines), "docs_outline"))


# --- docs_changes -----------------------------------------------------------------------------------------------------


def _changes(shelf: Shelf, given: Mapping[str, Any]) -> str:
    asked = given.get("since")
    moment = parse_since(asked) if asked else None
    room = Room(given["budget"])
    room.left -= _TAIL
    said: list[str] = []
    entries: list[tuple[str, str]] = []
    for catalogue in shelf.catalogues(given.get("in", "")):
        since = moment or catalogue.header.crawl_started
        changed = [(row.changed_at or "", row) for row in changed_pages(catalogue.mirror, since)]
        gone = list(removed_pages(catalogue.mirror, since))
        pages = counted(len(changed), "page")
        line = f"site: {catalogue.name}, {_dated(catalogue)}: since {since} {pages} new or changed"
        line += f", {counted(len(gone), 'URL')} gone or moved"
        if room.takes(line + "\n"):
            said.append(line)
        entries += [
            (
                at,
                f"- {at or 'unknown'} changed {catalogue.name}/{one_line(row.path)}: {one_line(row.title or '')}\n"
                f"  {one_line(row.url, 500)}",
            )
            for at, row in changed
        ]
        entries += [(each.at, f"- {each.at} gone or moved {one_line(each.url, 500)}") for each in gone]
    entries.sort(key=lambda entry: entry[0], reverse=True)
    skipped = given["skip"]
    lines: list[str] = []
    for _, entry in entries[skipped:]:
        if not room.takes(entry + "\n"):
            break
        lines.append(entry)
    return answer(said, "\n".join(lines), _rest(len(entries), skipped, len(lines), "docs_changes"))


_IN: Final = site("Name of a mirror, or a part of its name. Left out: all mirrors.")

TOOLS: Final = (
    Tool(
        "docs_list",
        "List the mirrors of websites that can be searched and read here, with source, size and date.",
        (
            Argument("query", "Part of a name or an address.", (*QUERY_ALIASES, "in", "name", "site", "filter")),
            _SKIP,
            TOKENS,
        ),
        _list,
    ),
    Tool(
        "docs_search",
        "Search the mirrors. Finds sections by words, names of functions, classes, options and exact symbols.",
        (
            Argument("query", "Words or a symbol.", QUERY_ALIASES, is_needed=True),
            _IN,
            Argument(
                "limit",
                "Most sections.",
                ("k", "n", "top_k", "count", "max_results", "num_results", "results", "size"),
                is_number=True,
                default=6,
                most=50,
            ),
            _SKIP,
            TOKENS,
        ),
        _search,
    ),
    Tool(
        "docs_read",
        "Read a page, a section or lines of it as Markdown. A page that is longer than the budget comes with its "
        "headings and the call for the rest.",
        (
            page("URL of the page, or its file as other tools give it.", is_needed=True),
            Argument(
                "section",
                "A heading of the page, or a section's id from docs_search.",
                ("heading", "anchor", "fragment", "section_id"),
            ),
            Argument("lines", "Lines of the file, such as 41-80 or 41-.", ("range", "line", "line_range")),
            _IN,
            TOKENS,
        ),
        read_page,
    ),
    Tool(
        "docs_outline",
        "List the folders and pages of a mirror, or the headings of a page with the tokens of each.",
        (_IN, page("A folder or a page. Left out: the top folder.", is_needed=False), _SKIP, TOKENS),
        _outline,
    ),
    Tool(
        "docs_changes",
        "List pages that are new, changed or gone since a day, newest first.",
        (
            _IN,
            Argument(
                "since",
                "A day or a time, such as 2026-01-31. Left out: the last run.",
                ("from", "date", "after", "start_date"),
            ),
            _SKIP,
            TOKENS,
        ),
        _changes,
    ),
)
