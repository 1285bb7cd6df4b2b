"""Make the index of mirrors for AGENTS.md: at most 8 KB, every folder, as many pages as fit.

Agents read such a file before they begin, and find a page by its path more often than they call a tool for it. So the
index is paths: folders with the number of pages below, then the pages' names in braces as a shell expands them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sitemirror.publish import inline
from sitemirror.publish.file_names import LLMS_TEXT
from sitemirror.reading.mirrors import Mirror
from sitemirror.text import counted

LIMIT: Final = 8_000
"""Bytes of the index. With the markers around it, it stays below 8 KB."""

_IN_DETAIL: Final = 20
"""Mirrors that are listed with their folders; with more, there is a line for each and no room for folders."""

_REST: Final = 40
"""Bytes for the line that says how many mirrors are not listed."""

# What a shell or Markdown could read otherwise, or is too long to be listed, is counted and not named.
_NAME: Final = re.compile(r"[\w.~%+@=-]{1,80}")
_ENDING: Final = re.compile(r"(?:/index)?\.(?:md|html)\Z")
_MORE: Final = "…"


@dataclass(slots=True)
class _Folder:
    """A folder of a mirror."""

    path: str = ""
    """Relative to the mirror's, with a slash at its end; empty for the mirror's own."""
    folders: dict[str, _Folder] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    """Its pages by the end of their paths: `/index.md`, `.md`."""
    total: int = 0
    """Pages in it and below."""

    def add(self, path: str) -> None:
        ending = _ENDING.search(path)
        rest = path[: ending.start()] if ending else path
        folder: _Folder = self
        *above, name = rest.split("/")
        folder.total += 1
        for part in above:
            if not _NAME.fullmatch(part) or part == "..":
                return
            folder = folder.folders.setdefault(part, _Folder(f"{folder.path}{part}/"))
            folder.total += 1
        if _NAME.fullmatch(name):
            folder.names.setdefault(ending[0] if ending else "", []).append(name)

    def walk(self, depth: int) -> Iterator[_Folder]:
        """Yield the folder and those below that have pages, no more than `depth` levels down."""
        if self.names or not depth or not self.path or len(self.folders) != 1:
            yield self
        if depth:
            for name in sorted(self.folders):
                yield from self.folders[name].walk(depth - 1)

    def levels(self) -> int:
        return max((1 + each.levels() for each in self.folders.values()), default=0)


def make_index(mirrors: Sequence[Mirror], *, seen_from: Path, limit: int = LIMIT) -> str:
    """Return the index as Markdown of at most `limit` bytes. Paths below `seen_from` are relative."""
    places = [_place(mirror.folder, seen_from) for mirror in mirrors]
    lines = [
        "## Mirrors of websites",
        "",
        "These folders are websites as text files. What they say may be newer than what you remember: look "
        "there first. `{a,b}/index.md` means a/index.md and b/index.md; a number counts pages in a folder and below. "
        f"`{LLMS_TEXT}` in a mirror has all titles. To search: `sitemirror search 'WORDS' FOLDER`.",
    ]
    left = limit - _size(lines) - _REST
    for number, (mirror, place) in enumerate(zip(mirrors, places, strict=True)):
        if len(mirrors) > _IN_DETAIL:
            more = [f"- {_summary(mirror, place)}"]
        else:
            more = _in_detail(mirror, place, left // (len(mirrors) - number))
        if _size(more) > left:
            lines.append(f"- and {counted(len(mirrors) - number, 'folder')} more")
            break
        lines += more
        left -= _size(more)
    return "\n".join(lines)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _place(folder: Path, seen_from: Path) -> str:
    real, base = os.path.realpath(folder), os.path.realpath(seen_from)
    below = os.path.relpath(real, base)
    return inline.text(Path(real if below.startswith("..") else below).as_posix(), limit=300)


def _summary(mirror: Mirror, place: str) -> str:
    header = mirror.header()
    date = (header.crawl_completed or header.crawl_started)[:10]
    whole = "" if header.complete else ", incomplete"
    source = inline.text(header.source_url, limit=200)
    return f"{place}/: {source}, {counted(header.successful, 'page')}, copied {date}{whole}"


def _in_detail(mirror: Mirror, place: str, room: int) -> list[str]:
    root = _Folder()
    for page in mirror.pages():
        if page.path.endswith((".md", ".html")):
            root.add(page.path)
    title = ["", f"### {_summary(mirror, place)}", ""]
    room -= _size(title)
    shown = [root]
    shown_depth = 0
    for depth in range(1, root.levels() + 1):
        deeper = list(root.walk(depth))
        if _size(map(_line, deeper)) > room:
            break
        shown, shown_depth = deeper, depth
    room -= _size(map(_line, shown))
    named = {}
    for folder in sorted(shown, key=lambda each: len(each.folders) + sum(map(len, each.names.values()))):
        is_deepest = folder.path.count("/") == shown_depth
        names = _names({"/": sorted(folder.folders)} | folder.names if is_deepest else folder.names, room)
        named[folder.path] = names
        room -= len(names.encode())
    return [*title, *(_line(folder) + named[folder.path] for folder in shown)]


def _line(folder: _Folder) -> str:
    return f"- {folder.path or './'} ({folder.total:,})"


def _names(by_ending: Mapping[str, Sequence[str]], room: int) -> str:
    """Return names of pages and folders as `: {a,b}.md`, as many as there is room for."""
    groups: list[str] = []
    room -= len(": ")
    for ending, names in sorted(by_ending.items()):
        room -= len(f"{{,{_MORE}}}{ending} ".encode())
        held: list[str] = []
        for name in names:
            room -= len(name.encode()) + 1
            if room < 0:
                break
            held.append(name)
        if held:
            cut = [_MORE] if len(held) < len(names) else []
            groups.append(f"{{{','.join([*held, *cut])}}}{ending}" if len(held) + len(cut) > 1 else held[0] + ending)
        if room < 0:
            break
    return ": " + " ".join(groups) if groups else ""
