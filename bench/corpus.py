"""The pages that benchmarks work on: six manuals as Debian packages them, written by others and the same everywhere.

Every choice of pages is fixed: pages are ordered by a hash of their address, so that any beginning of the order is a
fair sample of the whole, and adding a manual does not reshuffle the others. Only what is installed is used; what is
missing is named together with the command that installs it.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final
from urllib.parse import quote, unquote, urldefrag
from xml.sax.saxutils import escape

_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_PER_SITEMAP: Final = 10_000  # the protocol allows 50,000
# rustdoc leaves a page at each name that moved: nothing but a refresh. No real page with one is so short.
_STUB_BYTES: Final = 4096
_CHAIN: Final = 5  # pages that lead to pages that lead elsewhere
_REFRESH: Final = re.compile(r'http-equiv="refresh"\s+content="0;\s*url=\'?([^"\']+)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Book:
    """One manual: its name in addresses, the package that has it, and where it is installed."""

    name: str
    package: str
    folder: Path

    @property
    def installed(self) -> bool:
        return self.folder.is_dir()

    def pages(self) -> list[Page]:
        """Every HTML file of it, in the corpus' order."""
        return sorted(self._found(), key=_order)

    def _found(self) -> Iterator[Page]:
        for folder, _, names in os.walk(self.folder, followlinks=True):
            below = Path(folder).relative_to(self.folder)
            for name in names:
                if name.endswith(".html"):
                    yield Page((Path(self.name) / below / name).as_posix(), Path(folder, name))


@dataclass(frozen=True, slots=True)
class Page:
    """One HTML file and its path on the server, not quoted."""

    path: str
    file: Path

    @property
    def quoted(self) -> str:
        # As browsers send it: cppreference has operators for file names.
        return quote(self.path, safe="/!()+=~")

    @property
    def leads_to(self) -> str | None:
        """The path that it only sends its readers to; `None` for a real page."""
        if self.file.stat().st_size >= _STUB_BYTES:
            return None
        found = _REFRESH.search(self.file.read_text(encoding="utf-8", errors="replace"))
        return normpath(join(dirname(self.path), unquote(urldefrag(found[1]).url))) if found else None


BOOKS: Final = (
    Book("postgresql", "postgresql-doc-15", Path("/usr/share/doc/postgresql-doc-15/html")),
    Book("python", "python3.11-doc", Path("/usr/share/doc/python3.11/html")),
    Book("django", "python-django-doc", Path("/usr/share/doc/python-django-doc/html")),
    Book("cppreference", "cppreference-doc-en-html", Path("/usr/share/cppreference/doc/html")),
    Book("rust", "rust-doc", Path("/usr/share/doc/rust-doc/html")),
    Book("java", "openjdk-17-doc", Path("/usr/share/doc/openjdk-17-jre-headless/api")),
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A choice of pages, in the order in which its sitemaps and lists name them."""

    pages: tuple[Page, ...]

    def __len__(self) -> int:
        return len(self.pages)

    def first(self, count: int) -> Corpus:
        """A fair sample of so many pages; 0 = all of them."""
        return Corpus(self.pages[:count]) if count else self

    @property
    def forwarding(self) -> int:
        """How many of the pages only send their readers to another one."""
        return sum(page.leads_to is not None for page in self.pages)

    def described(self) -> dict[str, object]:
        """What a record tells of it."""
        sizes = [page.file.stat().st_size for page in self.pages]
        books = Counter(page.path.partition("/")[0] for page in self.pages)
        return {
            "pages": len(self),
            "from": ", ".join(f"{name} {count:,}" for name, count in sorted(books.items())),
            "bytes a page": round(sum(sizes) / max(1, len(sizes))),
        }

    def warm(self) -> None:
        """Reads every file once, so that nobody's first round pays for the disk."""
        for page in self.pages:
            page.file.read_bytes()

    def urls(self, base: str) -> list[str]:
        return [f"{base}/{page.quoted}" for page in self.pages]

    def write(self, folder: Path, base: str) -> None:
        """`robots.txt` and the sitemaps below a folder, `urls.txt` beside them for those who read lists."""
        urls = self.urls(base)
        (folder / "urls.txt").write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
        (folder / "robots.txt").write_text(f"User-agent: *\nDisallow:\nSitemap: {base}/sitemap.xml\n", encoding="utf-8")
        if len(urls) <= _PER_SITEMAP:
            (folder / "sitemap.xml").write_text(_xml("urlset", "url", urls), encoding="utf-8")
            return
        parts = [urls[start : start + _PER_SITEMAP] for start in range(0, len(urls), _PER_SITEMAP)]
        for number, part in enumerate(parts, 1):
            (folder / f"sitemap-{number}.xml").write_text(_xml("urlset", "url", part), encoding="utf-8")
        index = [f"{base}/sitemap-{number}.xml" for number in range(1, len(parts) + 1)]
        (folder / "sitemap.xml").write_text(_xml("sitemapindex", "sitemap", index), encoding="utf-8")


def installed() -> list[Book]:
    """The manuals that are here; says what is missing, and how to get it, on stderr."""
    if missing := [book.package for book in BOOKS if not book.installed]:
        print(
            f"note: manuals are missing: apt-get install --no-install-recommends {' '.join(missing)}", file=sys.stderr
        )
    return [book for book in BOOKS if book.installed]


def mixed(books: Sequence[Book], count: int, largest: float = math.inf) -> Corpus:
    """So many real pages of at most `largest` bytes, as many from each manual as from the others, if they have them."""

    def suits(page: Page) -> bool:
        return page.leads_to is None and (math.isinf(largest) or page.file.stat().st_size <= largest)

    turns = zip_longest(*(filter(suits, book.pages()) for book in books))
    return Corpus(tuple(islice((page for page in chain.from_iterable(turns) if page is not None), count)))


def everything(books: Sequence[Book]) -> Corpus:
    """Every file of every manual, with the pages that only send their readers to another of them.

    Those stand beside the pages they lead to, so that a sample has as many of them, and as much to do for them, as the
    whole. The few that lead out of the corpus are left out.
    """
    pages = {page.path: page for book in books for page in book.pages()}
    leads_to = {path: page.leads_to for path, page in pages.items()}

    def end(path: str) -> str | None:
        for _ in range(_CHAIN):
            target = leads_to.get(path, "")
            if target is None:
                return path
            path = target
        return None

    ends = {path: end(path) for path in pages}
    kept = sorted((_hash(real), path) for path, real in ends.items() if real is not None)
    return Corpus(tuple(pages[path] for _, path in kept))


def _order(page: Page) -> bytes:
    return _hash(page.path)


def _hash(path: str) -> bytes:
    return hashlib.sha256(path.encode()).digest()


def _xml(root: str, item: str, urls: Iterable[str]) -> str:
    rows = "".join(f"<{item}><loc>{escape(url)}</loc></{item}>\n" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_NAMESPACE}">\n{rows}</{root}>\n'


def main() -> None:
    """Tells what there is to work on."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("--packages", action="store_true", help="only print the names of the Debian packages")
    parser.add_argument("--serve", action="store_true", help="serve all of it with nginx until interrupted")
    options = parser.parse_args()
    if options.packages:
        print(*(book.package for book in BOOKS))
        return
    books = installed()
    for title, corpus in (("comparison", mixed(books, 3000)), ("growth", everything(books))):
        print(f"{title}: {', '.join(f'{name} {value}' for name, value in corpus.described().items())}")
    if options.serve:
        from bench.server import serve_until_interrupted

        serve_until_interrupted(books, everything(books))


if __name__ == "__main__":
    main()
