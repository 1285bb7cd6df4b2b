"""The search index of a mirror, `_search.sqlite3`, built and updated by searches.

A page's rows are replaced when the manifest gives another hash for it. A file that does not have that hash yet, because
a run is about to publish it, is left out until it has. The index can be deleted at any time.

SQLite's own lock is the lock: one process writes, in batches, and others wait for it. The full-text table does not
store its texts; to delete a section, they are made again from the section's text.
"""

from __future__ import annotations

import re
import sqlite3
import time
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any, Final, NamedTuple

from sitemirror.errors import OutputError
from sitemirror.publish.file_names import SEARCH_INDEX
from sitemirror.publish.manifest import PageRow
from sitemirror.reading.definitions import Strength, definitions, references, split_name
from sitemirror.reading.mirrors import Mirror
from sitemirror.reading.sections import split

VERSION: Final = 1
"""Of tables and of what is written into them; another one's index is built anew."""

_SCHEMA: Final = """
create table meta(name text primary key, value text) without rowid;
create table page(id integer primary key, url text unique, path text, title text, sha256 text, fetched_at text,
    kind int not null default 0, owners text);
create table section(id integer primary key, page int, key text, headings text, anchor text, first int, last int,
    tokens int, is_list int, text blob);
create index section_page on section(page);
create table definition(last text, name text, section int, strength int);
create index definition_last on definition(last);
create index definition_section on definition(section);
create index page_path on page(path);
create table reference(last text, name text, target text, page int);
create index reference_last on reference(last);
create index reference_page on reference(page);
create table pending(url text primary key, path text, title text, sha256 text, fetched_at text, seen text);
create virtual table words using fts5(title, headings, body, symbols, content='',
    tokenize='porter unicode61 remove_diacritics 2');
insert into words(words, rank) values('hashsize', 33554432);
"""
_WAIT: Final = 120  # seconds for another process that is writing
_BATCH: Final = 16 << 20  # characters between two commits
_SPARE: Final = 0.3  # part of the file that may be free before it is compacted

# The disk's fault and not the file's.
_REFUSED: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_REFUSED_TOO: Final = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)

HEADING_SEPARATOR: Final = "\x1f"
_DESTINATION: Final = re.compile(r"\]\((?:<[^>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[ \t]+\"[^\"\n]*\")?\)")
_LINK: Final = re.compile(r"\[([^\[\]\n]*)\]\(")
_SUFFIX: Final = re.compile(r"\s+[—–|·-]\s+")
_COMMON: Final = 0.6  # part of the titles that end alike, for that to be the site's name

# A page of little but links: the index of a book, a list of modules. One that answers nothing, and names everything.
_INDEX_LINKS: Final = 40
_INDEX_CHARACTERS: Final = 70
_LIST_LINKS: Final = 12

# Scripts without spaces: each character is a word, and a word of the language a phrase.
_UNSPACED: Final = re.compile(
    "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
)
_OPERATOR: Final = re.compile(r"`([!-/:-@\[-^{-~]{1,6})`")
_LETTER_END: Final = re.compile(r"[+#](?<=[A-Za-z].)\+?(?![\w#+])")  # of C++ and C#


_FENCE: Final = re.compile(r"(?m)^`{3,}.*$")
_LISTING: Final = 2_000  # characters of code in one block
_LISTING_PART: Final = 0.9  # of the page


class PageKind(IntEnum):
    """The kind of a page: text, index or source listing."""

    TEXT = 0
    INDEX = 1
    """Little but links."""
    LISTING = 2
    """A program's source."""


class Refused(Exception):
    """The folder does not take an index: it is read-only, or its disk is full."""


class SectionRow(NamedTuple):
    """A section as the index has it."""

    id: int
    key: str
    headings: tuple[str, ...]
    anchor: str
    first: int
    last: int
    tokens: int
    is_list: int
    page: int
    url: str
    path: str
    title: str
    fetched_at: str | None
    kind: int
    owners: str


class SearchIndex:
    """The index of one mirror, open and current. Use as a context manager."""

    def __init__(self, mirror: Mirror, database: sqlite3.Connection, warnings: Sequence[str] = ()) -> None:
        self.mirror = mirror
        self.database = database
        self.warnings = tuple(warnings)

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the index as it is for several questions. Another process that updates it waits meanwhile."""
        self.database.execute("begin")
        try:
            yield
        finally:
            if self.database.in_transaction:
                self.database.execute("rollback")

    @property
    def has_pages(self) -> bool:
        """True if there is anything to search."""
        return _count(self.database, "page") > 0

    def sections(self, ids: Iterable[int]) -> dict[int, SectionRow]:
        """Read sections, without their texts."""
        wanted = list(ids)
        found: dict[int, SectionRow] = {}
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            marks = ",".join("?" * len(some))
            for row in self.database.execute(
                "select s.id, key, headings, anchor, first, last, tokens, is_list, page, url, path, title, fetched_at,"  # noqa: S608
                f" kind, owners from section s join page p on p.id = s.page where s.id in ({marks})",
                some,
            ):
                values = list(row)
                values[2] = tuple(row[2].split(HEADING_SEPARATOR)) if row[2] else ()
                found[row[0]] = SectionRow(*values)
        return found

    def text(self, section: int) -> str:
        """The Markdown of a section."""
        [packed] = self.database.execute("select text from section where id = ?", (section,)).fetchone()
        return zlib.decompress(packed).decode()

    def definitions(self, last: str) -> list[tuple[str, int, int]]:
        """Name, section and strength of what is defined under a name without owners, in lower case."""
        statement = "select name, section, strength from definition where last = ? order by strength desc limit 600"
        return self.database.execute(statement, (last,)).fetchall()

    def referred(self, last: str) -> list[tuple[str, int, int]]:
        """Name, page and number of the pages that say by a link that the page defines it."""
        statement = (
            "select r.name, p.id, count(*) from reference r join page p on p.url = r.target or p.path = r.target "
            "where r.last = ? and r.page <> p.id group by 1, 2"
        )
        return self.database.execute(statement, (last,)).fetchall()

    def first_sections(self, pages: Iterable[int]) -> dict[int, int]:
        """The first section of each page, by page."""
        marks = ",".join(map(str, pages))
        rows = self.database.execute(f"select page, min(id) from section where page in ({marks}) group by page")  # noqa: S608
        return dict(rows.fetchall())

    def titles(self) -> Iterator[str]:
        """The titles of the pages, without the site's name."""
        return (title for (title,) in self.database.execute("select title from page where title <> ''"))


def open_index(mirror: Mirror) -> SearchIndex:
    """Open a mirror's index, built or brought up to date; in memory where the folder takes none."""
    path = mirror.folder / SEARCH_INDEX
    try:
        for attempt in (1, 2):
            try:
                return _open_file(mirror)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and _is_busy(error):
                    hint = "wait for it, or delete the file"
                    raise OutputError(f"another process has been writing {path} for a while", hint=hint) from None
                if _is_refusal(error):
                    raise Refused(str(error)) from None
                if attempt == 2:
                    raise OutputError(f"{path} cannot be used: {error}", hint="delete it: it is made again") from None
                discard_index(mirror)  # It is damaged, or an older program's.
        raise AssertionError
    except (Refused, OSError) as error:
        database = _connect(":memory:")
        _prepare(database)
        pending = _update(database, mirror)
        warning = f"the index of {mirror.folder} is in memory only, and made again by each search: {error}"
        return SearchIndex(mirror, database, [warning, *_about(mirror, pending)])


def discard_index(mirror: Mirror) -> None:
    """Delete a mirror's index, if it can be. The next search makes it again."""
    for name in (SEARCH_INDEX, f"{SEARCH_INDEX}-journal"):
        with suppress(OSError):
            (mirror.folder / name).unlink()


def _open_file(mirror: Mirror) -> SearchIndex:
    path = mirror.folder / SEARCH_INDEX
    if path.is_symlink():
        raise Refused(f"{SEARCH_INDEX} is a symlink")
    database = _connect(str(path))
    try:
        _prepare(database)
        pending = _update(database, mirror)
    except BaseException:
        database.close()
        raise
    return SearchIndex(mirror, database, _about(mirror, pending))


def _about(mirror: Mirror, pending: int) -> list[str]:
    if not pending:
        return []
    what = "1 page is" if pending == 1 else f"{pending:,} pages are"
    return [f"{what} left out: the file is not the one in the manifest of {mirror.folder}, or cannot be read"]


def _connect(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    database.execute("pragma trusted_schema = off")  # A mirror may come from anywhere.
    database.execute("pragma cache_size = -65536")
    database.execute("pragma temp_store = memory")
    return database


def _prepare(database: sqlite3.Connection) -> None:
    """Create the tables in an empty file. Raises `sqlite3.DatabaseError` for one of another version."""
    if _version(database) == VERSION:
        return
    database.execute("begin immediate")
    if _version(database) != VERSION:  # else another process was faster
        if database.execute("select count(*) from sqlite_schema").fetchone()[0]:
            raise sqlite3.DatabaseError("another version")
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        database.execute(f"pragma user_version = {VERSION}")
    database.execute("commit")


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("pragma user_version").fetchone()[0])


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_refusal(error: sqlite3.Error) -> bool:
    return _code(error) in (*_REFUSED, *_REFUSED_TOO)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


# --- keeping current --------------------------------------------------------------------------------------------------


def _update(database: sqlite3.Connection, mirror: Mirror) -> int:
    """Bring the index up to date with the manifest; return how many pages wait for their files."""
    info = mirror.manifest.stat()
    signature = f"{info.st_mtime_ns} {info.st_size} {info.st_ino}"
    if _meta(database, "manifest") == signature:
        waiting = [PageRow(**dict(zip(_PENDING, row[:5], strict=True))) for row in _ready(database, mirror)]
        if waiting:
            _write(database, mirror, waiting)
        return _count(database, "pending")
    database.execute("begin immediate")  # Before looking: another process may be doing the same.
    known = {url: (id, rest) for id, url, *rest in database.execute(f"select id, {', '.join(_STORED)} from page")}  # noqa: S608
    is_new = not known
    if is_new and _meta(database, "suffix") is None:
        suffix = _common_suffix([page.title or "" for page in mirror.markdown_pages()])
        database.execute("insert into meta values('suffix', ?)", (suffix,))
    suffix = _meta(database, "suffix") or ""
    changed: list[PageRow] = []
    others: list[tuple[str, str | None, int]] = []
    for page in mirror.markdown_pages():
        id, (path, title, sha256, fetched_at) = known.pop(page.url, (0, ("", "", "", "")))
        if not id or page.sha256 != sha256 or sha256 is None or _short_title(page, suffix) != title:
            changed.append(page)
        elif path != page.path or fetched_at != page.fetched_at:
            others.append((page.path, page.fetched_at, id))
    for id, _ in known.values():
        _delete_page(database, id)
    database.executemany("update page set path = ?, fetched_at = ? where id = ?", others)
    database.execute("delete from pending")
    database.execute("delete from meta where name = 'manifest'")  # until all pages are written
    database.execute("commit")
    _write(database, mirror, changed)
    if is_new:
        database.execute("insert into words(words) values('optimize')")
    database.execute("insert or replace into meta values('manifest', ?)", (signature,))
    if is_new or _free(database) > _SPARE:
        with suppress(sqlite3.OperationalError):  # There may be no room for a second file.
            database.execute("vacuum")
    return _count(database, "pending")


_STORED: Final = ("url", "path", "title", "sha256", "fetched_at")
_PENDING: Final = _STORED


def _ready(database: sqlite3.Connection, mirror: Mirror) -> list[Any]:
    """The pages whose files were not what the manifest says, and have changed since."""
    rows = database.execute(f"select {', '.join(_PENDING)}, seen from pending").fetchall()  # noqa: S608
    return [row for row in rows if _seen(mirror, PageRow(url=row[0], path=row[1])) != row[5]]


def _seen(mirror: Mirror, page: PageRow) -> str:
    try:
        info = mirror.file(page).stat()
    except (OSError, ValueError):
        return ""
    return f"{info.st_mtime_ns} {info.st_size}"


def _write(database: sqlite3.Connection, mirror: Mirror, pages: Iterable[PageRow]) -> None:
    """Replace the rows of pages, in batches, so that others get in between."""
    suffix = _meta(database, "suffix") or ""
    characters = 0
    database.execute("begin immediate")
    for page in pages:
        seen = _seen(mirror, page)
        text = mirror.current(page)
        if text is None:
            row = (page.url, page.path, page.title, page.sha256, page.fetched_at, seen)
            database.execute("insert or replace into pending values(?, ?, ?, ?, ?, ?)", row)
            continue
        _replace_page(database, page, text, _short_title(page, suffix))
        characters += len(text)
        if characters > _BATCH:
            database.execute("commit")
            time.sleep(0)
            database.execute("begin immediate")
            characters = 0
    database.execute("commit")


def _replace_page(database: sqlite3.Connection, page: PageRow, markdown: str, title: str) -> None:
    database.execute("delete from pending where url = ?", (page.url,))
    for id, *before in database.execute(
        "select id, sha256, title, path from page where url = ?", (page.url,)
    ).fetchall():
        if page.sha256 is not None and before == [page.sha256, title, page.path]:
            return  # Another process was faster.
        _delete_page(database, id)
    cursor = database.execute(
        f"insert into page({', '.join(_STORED)}) values(?, ?, ?, ?, ?)",
        (page.url, page.path, title, page.sha256, page.fetched_at),
    )
    page_id = cursor.lastrowid
    found = split(markdown, url=page.url, path=page.path)
    if not found:
        return
    [first_id] = database.execute("select coalesce(max(id), 0) + 1 from section").fetchone()
    links = letters = shown = 0
    rows, words = [], []
    for id, section in enumerate(found, first_id):
        headings = HEADING_SEPARATOR.join(section.headings)
        row = _words(title, headings, section.text)
        own = _LINK.findall(section.text)
        own_letters = sum(map(len, own))
        links, letters, shown = links + len(own), letters + own_letters, shown + len(row[2])
        is_list = len(own) >= _LIST_LINKS and 2 * own_letters > len(row[2])
        packed = zlib.compress(section.text.encode("utf-8", "replace"), 1)
        lines = section.lines
        rows.append((id, page_id, section.id, headings, section.anchor, *lines, section.tokens, is_list, packed))
        words.append((id, *row))
    database.executemany("insert into section values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    database.executemany("insert into words(rowid, title, headings, body, symbols) values(?, ?, ?, ?, ?)", words)
    starts = [section.lines[0] for section in found]
    defined = list(definitions(markdown))
    named = {
        (split_name(each.name)[-1], each.name, first_id + max(0, bisect_right(starts, each.line) - 1), each.strength)
        for each in defined
    }
    database.executemany("insert into definition values(?, ?, ?, ?)", sorted(named))
    kind = PageKind.TEXT
    if links >= _INDEX_LINKS and (2 * letters > shown or shown < _INDEX_CHARACTERS * links):
        kind = PageKind.INDEX
    elif _is_listing(markdown):
        kind = PageKind.LISTING
    if kind is not PageKind.INDEX:
        named_in = sorted((split_name(each.name)[-1], *each, page_id) for each in references(markdown, page.path))
        database.executemany("insert into reference values(?, ?, ?, ?)", named_in)
    owners = sorted({each.name.rpartition(".")[0].lower() for each in defined if each.strength > Strength.MENTIONED})
    database.execute("update page set kind = ?, owners = ? where id = ?", (kind, " ".join(owners), page_id))


def _is_listing(markdown: str) -> bool:
    code = [len(part) for part in _FENCE.split(markdown)[1::2]]
    return max(code, default=0) > _LISTING and sum(code) > _LISTING_PART * len(markdown)


def _delete_page(database: sqlite3.Connection, page: int) -> None:
    [title] = database.execute("select title from page where id = ?", (page,)).fetchone()
    rows = database.execute("select id, headings, text from section where page = ?", (page,)).fetchall()
    database.executemany(
        "insert into words(words, rowid, title, headings, body, symbols) values('delete', ?, ?, ?, ?, ?)",
        [(id, *_words(title, headings, zlib.decompress(packed).decode())) for id, headings, packed in rows],
    )
    database.executemany("delete from definition where section = ?", [(id,) for id, *_ in rows])
    database.execute("delete from reference where page = ?", (page,))
    database.execute("delete from section where page = ?", (page,))
    database.execute("delete from page where id = ?", (page,))


def _words(title: str, headings: str, text: str) -> tuple[str, str, str, str]:
    """The columns of a section in the full-text table."""
    names = headings.split(HEADING_SEPARATOR)
    shown = _DESTINATION.sub("] ", text)
    symbols = {symbol_word(operator) for operator in _OPERATOR.findall(text)}
    for end in _LETTER_END.finditer(text):
        before = end.start() - 1
        if end[0] != "+" and not text[max(0, before - 1) : before].isalnum():
            symbols.add(symbol_word(text[before] + end[0]))
    return spaced(title), spaced(" ".join(names[1:] or names)), spaced(shown), " ".join(sorted(symbols))


def spaced(text: str) -> str:
    """`text` with each character of a script without spaces as a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def symbol_word(symbol: str) -> str:
    """The word that an operator, or a name such as C++, is found by."""
    return "symbol" + symbol.lower().encode().hex()


def _short_title(page: PageRow, suffix: str) -> str:
    title = page.title or ""
    return title[: -len(suffix)] if suffix and title.endswith(suffix) else title


def _common_suffix(titles: Sequence[str]) -> str:
    """Return the suffix that most titles share: ` — Python 3.11 documentation`."""
    ends = Counter(title[match.start() :] for title in titles for match in _SUFFIX.finditer(title))
    common = [end for end, count in ends.items() if count > 1 and count >= _COMMON * len(titles)]
    return max(common, key=len, default="")


def _meta(database: sqlite3.Connection, name: str) -> str | None:
    row = database.execute("select value from meta where name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _count(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f"select count(*) from {table}").fetchone()[0])  # noqa: S608


def _free(database: sqlite3.Connection) -> float:
    [free], [pages] = (database.execute(f"pragma {name}").fetchone() for name in ("freelist_count", "page_count"))
    return float(free / max(1, pages))
