"""Makes mirrors of installed manuals, and reads the indexes that their authors wrote.

The pages are converted from the files of Debian's packages, as a run would convert them, and published with a manifest.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urldefrag

from sitemirror.convert import convert_html, with_front_matter
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import ManifestHeader, PageRow, write_manifest
from sitemirror.store.paths import page_path

_STUB_BYTES: Final = 4096
_REFRESH: Final = re.compile(rb'http-equiv="refresh"', re.IGNORECASE)
_TIME: Final = "2026-01-01T00:00:00Z"


class Item(NamedTuple):
    """A query and the pages that answer it, as paths below the manual's address."""

    query: str
    answers: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Manual:
    """A manual as Debian packages it, with an index in one of the formats read below."""

    name: str
    package: str
    folder: Path
    index: str
    """The file with the index, below the folder."""
    below: str = ""
    """The part of the manual that is mirrored."""

    @property
    def installed(self) -> bool:
        return (self.folder / self.index).is_file()

    @property
    def url(self) -> str:
        return f"https://{self.name}.example/"

    def items(self) -> list[Item]:
        """Every entry of the index whose page is in the mirror."""
        read = {"objects.inv": read_inventory, "bookindex.html": read_book_index, "std/all.html": read_rustdoc}
        return list(read[self.index](self.folder))


_DOC: Final = Path("/usr/share/doc")
TUNED: Final = (
    Manual("python", "python3.11-doc", _DOC / "python3.11/html", "objects.inv"),
    Manual("django", "python-django-doc", _DOC / "python-django-doc/html", "objects.inv"),
    Manual("postgresql", "postgresql-doc-15", _DOC / "postgresql-doc-15/html", "bookindex.html"),
)
"""Manuals that the ranking was adjusted with."""

UNSEEN: Final = (
    Manual("sqlalchemy", "python-sqlalchemy-doc", _DOC / "python-sqlalchemy-doc/html", "objects.inv"),
    Manual("rust", "rust-doc", _DOC / "rust-doc/html", "std/all.html", below="std"),
)
"""Manuals chosen before the first measurement; no result of theirs has changed the ranking. See README.md."""


# --- mirrors ----------------------------------------------------------------------------------------------------------


def make_mirror(manual: Manual, output: Path, every: int = 1) -> Path:
    """Convert the manual, or every so manieth page, to a mirror in `output`. One that is there is used again."""
    folder = output / f"{manual.name}.example"
    if (folder / MANIFEST).is_file():
        return folder
    names = sorted(_pages(manual))[::every]
    with ProcessPoolExecutor() as pool:
        convert = partial(_convert, manual, folder)
        rows = sorted(filter(None, pool.map(convert, names, chunksize=16)), key=lambda row: row.url)
    publish(folder, manual.url, rows)
    return folder


def publish(folder: Path, url: str, rows: list[PageRow]) -> None:
    """Write the manifest of a finished run."""
    header = ManifestHeader(
        source_url=url,
        sitemap_url=None,
        sitemaps=(),
        crawl_started=_TIME,
        crawl_completed=_TIME,
        complete=True,
        total_pages=len(rows),
        successful=len(rows),
        failed=0,
        skipped=0,
        duplicates=0,
        not_reached_count=0,
    )
    with (folder / f"{MANIFEST}.new").open("wb") as file:
        write_manifest(file, header, pages=rows, failures=(), skips=(), gone=(), not_reached=())
    (folder / f"{MANIFEST}.new").replace(folder / MANIFEST)


def _pages(manual: Manual) -> Iterator[str]:
    for folder, _, names in os.walk(manual.folder / manual.below, followlinks=True):
        below = Path(folder).relative_to(manual.folder)
        yield from ((below / name).as_posix() for name in names if name.endswith(".html"))


def _convert(manual: Manual, folder: Path, name: str) -> PageRow | None:
    data = (manual.folder / name).read_bytes()
    if len(data) < _STUB_BYTES and _REFRESH.search(data):
        return None
    page = convert_html(data, url=manual.url + name)
    saved = with_front_matter(page).encode()
    path = page_path(page.url)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(saved)
    return PageRow(
        url=page.url,
        path=path,
        size_bytes=len(saved),
        fetched_at=_TIME,
        changed_at=_TIME,
        title=page.title,
        sha256=sha256(saved).hexdigest(),
    )


# --- indexes ----------------------------------------------------------------------------------------------------------

_ENTRY: Final = re.compile(r"(?x)(.+?)\s+(\S+)\s+(-?\d+)\s+?(\S*)\s+(.*)")


def read_inventory(folder: Path) -> Iterator[Item]:
    """Yield the entries of a Sphinx inventory: `std:label` and `std:doc` are terms, the others are symbols."""
    data = (folder / "objects.inv").read_bytes()
    for _ in range(4):
        _, _, data = data.partition(b"\n")
    answers: dict[tuple[str, str], set[str]] = {}
    for line in zlib.decompress(data).decode().splitlines():
        match = _ENTRY.match(line)
        if match is None:
            continue
        name, role, _, location, shown = match.groups()
        page = urldefrag(location.replace("$", name)).url
        if not (folder / page).is_file():
            continue
        if role in ("std:label", "std:doc"):
            if shown != "-":
                answers.setdefault((shown, "term"), set()).add(page)
        else:
            kind = "parameter" if role.endswith(":parameter") or ".params." in name else "symbol"
            answers.setdefault((name, kind), set()).add(page)
    return (Item(query, frozenset(pages), kind) for (query, kind), pages in sorted(answers.items()))


_INDEX_ENTRY: Final = re.compile(r"<dt[^>]*>(.*?)</dt>|<(dl)\b|</(dl)>", re.DOTALL)
_LINK: Final = re.compile(r'<a\b[^>]*\bhref="([^"]*)"[^>]*>')
_TAG: Final = re.compile(r"<[^>]*>")


def read_book_index(folder: Path) -> Iterator[Item]:
    """Yield the entries of a DocBook index, a nested one with the one above it: `locking, explicit`."""
    text = (folder / "bookindex.html").read_text(encoding="utf-8", errors="replace")
    above: list[str] = []
    depth = 0
    answers: dict[str, set[str]] = {}
    for entry, opened, closed in _INDEX_ENTRY.findall(text):
        if opened or closed:
            depth += 1 if opened else -1
            continue
        # The title comes first, links to the places after a comma; "see" and "see also" lead to other entries.
        title = html.unescape(_TAG.sub("", entry.partition("<a ")[0])).strip().rstrip(",").strip()
        title = " ".join(title.split())
        above[max(depth - 1, 0) :] = [title]
        pages = {posixpath.basename(urldefrag(unquote(link)).url) for link in _LINK.findall(entry)}
        pages = {page for page in pages if page and page != "bookindex.html" and (folder / page).is_file()}
        if pages and title:
            answers.setdefault(" ".join(above), set()).update(pages)
    return (Item(query, frozenset(pages), "term") for query, pages in sorted(answers.items()))


def read_rustdoc(folder: Path) -> Iterator[Item]:
    """Yield every item of a crate by its path: `collections::HashMap`."""
    text = (folder / "std/all.html").read_text(encoding="utf-8", errors="replace")
    _, _, text = text.partition("<main>")
    answers: dict[str, set[str]] = {}
    for href, name in re.findall(r'<a href="([^"#]+)">([^<]+)</a>', text):
        page = posixpath.normpath(posixpath.join("std", unquote(href)))
        if (folder / page).is_file():
            answers.setdefault(html.unescape(name), set()).add(page)
    return (Item(query, frozenset(pages), "symbol") for query, pages in sorted(answers.items()))


def installed(manuals: Iterable[Manual]) -> list[Manual]:
    """The manuals that are here; says on stderr what is missing and how to get it."""
    found = []
    for manual in manuals:
        if manual.installed:
            found.append(manual)
        else:
            message = f"note: {manual.name} is missing: apt-get install --no-install-recommends {manual.package}"
            print(message, file=sys.stderr)
    return found
