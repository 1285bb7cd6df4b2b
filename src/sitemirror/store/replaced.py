"""Copies that a run has replaced, stored until it ends: they undo a bad night of the site.

A site under repair, a login page or a CDN's error page answers every URL with one text and status 200. One such answer
looks like a change; that many pages became one text is known only when the run ends. Until then the old bytes and rows
are in the state: committed before a file is replaced, deleted when a complete run has decided that the change stays.

`undo_collapse` is idempotent and commits its decision before it writes the first file, so the next run finishes what
a kill left.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from sitemirror import failpoint
from sitemirror.errors import OutputError
from sitemirror.reasons import Reason
from sitemirror.store.files import Tree
from sitemirror.store.journal import announce_delete
from sitemirror.store.tables import ASSET, ChangeKind, FileKind, UrlState
from sitemirror.store.url_record import UrlRecord
from sitemirror.text import gist, text_of_html, without_front_matter, without_link_targets

LEAST: Final = 3
"""Pages that have to become one text on a small site before that is a collapse."""

MOST: Final = 20
"""The same on a large one; between them it is a twentieth of the pages."""

_QUOTED: Final = 60  # characters of the text in a warning
_LEVEL: Final = 1  # of compression: a redesign replaces every page
_TEXT: Final = "coalesce(new_gist, new_text_hash)"
_URL_COLUMNS: Final = ("state", "reason", "detail", "transient", "target_id", "since", "kind", "size")


class Collapse(NamedTuple):
    """Pages that became one text, and whose copies were restored."""

    pages: int
    text: str  # its beginning
    example: str  # the URL of one


class NewText(NamedTuple):
    """The text of an answer."""

    hash: bytes
    gist: bytes | None  # of its words without numbers


def keep(db: sqlite3.Connection, tree: Tree, record: UrlRecord, run: int, new: NewText) -> None:
    """Store a page's files and rows, in the transaction committed before they are replaced.

    Of a page that is replaced twice, also by two runs that were killed, the first copy counts: it may be the good one.
    """
    query = "UPDATE replaced SET run_id = ?, new_text_hash = ?, new_gist = ? WHERE url_id = ?"
    known = db.execute(query, (run, *new, record.id)).rowcount
    if known:
        return
    old_text, old_gist = record.text_hash, None
    files = _rows(db, "SELECT * FROM file WHERE url_id = ?", record.id)
    rows = {
        "url": _rows(db, f"SELECT {', '.join(_URL_COLUMNS)} FROM url WHERE id = ?", record.id)[0],
        "page": _rows(db, "SELECT * FROM page WHERE url_id = ?", record.id)[0],
        "files": files,
        "links": _rows(db, "SELECT * FROM link WHERE src_id = ?", record.id),
    }
    for file in files:
        try:
            data = tree.read(file["path"]) if tree.exists(file["path"]) else None
        except OutputError:  # A failing disk, or missing permissions: the new file can only be better.
            data = None
        if data is None:
            continue
        packed = zlib.compress(data, _LEVEL)
        db.execute("INSERT OR REPLACE INTO replaced_file VALUES (?, ?, ?)", (record.id, file["path"], packed))
        if file["path"] == record.path:
            words = _words(data, file["kind"])
            old_gist = gist(words)
            # A rebuilt state knows no text, and the links in the file may be local.
            old_text = old_text or blake2b(without_link_targets(words).encode(), digest_size=16).digest()
    if old_text is None:  # There is nothing to restore.
        return
    db.execute(
        "INSERT INTO replaced (url_id, run_id, old_text_hash, new_text_hash, old_gist, new_gist, rows)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (record.id, run, old_text, new.hash, old_gist, new.gist, json.dumps(rows, default=_hex)),
    )


def gist_of(data: bytes, kind: int) -> bytes | None:
    """Hash of the words in a page's file, without numbers."""
    return gist(_words(data, kind))


def _words(data: bytes, kind: int) -> str:
    text = data.decode("utf-8", "replace")
    return without_front_matter(text) if kind == FileKind.MARKDOWN else text_of_html(text)


def forget(db: sqlite3.Connection, id: int, text: bytes) -> None:
    """Drop a stored copy if its page has the old text after all."""
    if db.execute("DELETE FROM replaced WHERE url_id = ? AND old_text_hash = ?", (id, text)).rowcount:
        db.execute("DELETE FROM replaced_file WHERE url_id = ?", (id,))


def purge(db: sqlite3.Connection) -> None:
    """Drop the stored copies of changes that stay."""
    if db.execute("DELETE FROM replaced WHERE NOT restores").rowcount:
        db.execute("DELETE FROM replaced_file WHERE url_id NOT IN (SELECT url_id FROM replaced)")


def accept(db: sqlite3.Connection) -> None:
    """Accept all new texts, also those refused by earlier runs."""
    purge(db)
    db.execute("DELETE FROM refused_text")


def undo_collapse(db: sqlite3.Connection, tree: Tree, lock: Callable[[str], None], now: str) -> list[Collapse]:
    """Restore pages that became one text, in transactions of its own. Execute the journal after it."""
    if db.execute("SELECT 1 FROM replaced LIMIT 1").fetchone() is None:
        return []
    assert not db.in_transaction  # A kill would forget what was decided, but not what was done.
    db.execute("BEGIN")
    pages = db.execute(
        f"SELECT count(*) FROM url WHERE state = {UrlState.PAGE} AND gone_since IS NULL AND kind IS NOT {ASSET}"
    ).fetchone()[0]
    # What was refused once is refused of every page: a site recovers page by page.
    # Numbers count or do not, but for old and new texts alike: pages may differ by numbers alone.
    for text in ("text_hash", "gist"):
        db.execute(
            f"INSERT OR IGNORE INTO refused_text SELECT new_{text} FROM replaced WHERE new_{text} IS NOT NULL"
            f" GROUP BY new_{text} HAVING count(DISTINCT old_{text}) >= ?",
            (max(LEAST, min(MOST, pages / 20)),),
        )
    refused = "IN (SELECT text_hash FROM refused_text)"
    db.execute(f"UPDATE replaced SET restores = 1 WHERE new_text_hash {refused} OR new_gist {refused}")
    db.execute("COMMIT")
    failpoint.reached("collapse-found")
    texts = db.execute(
        f"SELECT {_TEXT}, count(*), min(url.url) FROM replaced JOIN url ON url.id = url_id WHERE restores"
        f" GROUP BY {_TEXT} ORDER BY 3"
    ).fetchall()
    found = []
    for text, count, example in texts:
        found.append(Collapse(count, _beginning(db, tree, example), example))
        ids = db.execute(f"SELECT url_id FROM replaced WHERE restores AND {_TEXT} = ?", (text,)).fetchall()
        for (id,) in ids:
            _restore(db, tree, lock, id, str(count), now)
    return found


def _restore(db: sqlite3.Connection, tree: Tree, lock: Callable[[str], None], id: int, count: str, now: str) -> None:
    text, run = db.execute("SELECT rows, run_id FROM replaced WHERE url_id = ?", (id,)).fetchone()
    rows = json.loads(text, object_hook=_bytes)
    there = set()
    for path, data in db.execute("SELECT path, data FROM replaced_file WHERE url_id = ?", (id,)):
        lock(path.partition("/")[0])
        tree.write(path, zlib.decompress(data))
        there.add(path)
    failpoint.reached("copy-restored")
    db.execute("BEGIN")
    for (path,) in db.execute("SELECT path FROM file WHERE url_id = ?", (id,)).fetchall():
        if path not in there:  # It came with the answer, or somebody had deleted it before.
            announce_delete(db, path)
    for table, column in (("file", "url_id"), ("page", "url_id"), ("link", "src_id")):
        db.execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))
    for file in rows["files"]:
        del file["id"]
        _insert(db, "file", file | {"durable": 0})
    _insert(db, "page", rows["page"] | {"etag": None, "last_modified": None})  # so that it is asked for whole
    for link in rows["links"]:
        _insert(db, "link", link)
    url = rows["url"]
    if url["state"] == UrlState.PAGE:
        since = url["since"] if url["reason"] == Reason.COLLAPSED else now
        url |= {"reason": int(Reason.COLLAPSED), "detail": count, "transient": None, "target_id": None, "since": since}
    assignments = ", ".join(f"{name} = ?" for name in url)
    db.execute(f"UPDATE url SET {assignments} WHERE id = ?", (*url.values(), id))
    db.execute(
        f"DELETE FROM change WHERE url_id = ? AND run_id = ? AND kind IN ({ChangeKind.ADDED}, {ChangeKind.CHANGED})",
        (id, run),
    )
    db.execute("DELETE FROM replaced WHERE url_id = ?", (id,))
    db.execute("DELETE FROM replaced_file WHERE url_id = ?", (id,))
    db.execute("COMMIT")


def _beginning(db: sqlite3.Connection, tree: Tree, url: str) -> str:
    """Return the beginning of the new text: of the Markdown, or else the title."""
    kind, path, title = db.execute(
        "SELECT file.kind, file.path, page.title FROM url JOIN page ON page.url_id = url.id"
        " JOIN file ON file.url_id = url.id WHERE url.url = ? ORDER BY file.kind LIMIT 1",
        (url,),
    ).fetchone() or (None, "", None)
    text = title or ""
    if kind == FileKind.MARKDOWN and tree.exists(path):
        text = without_front_matter(tree.read(path).decode("utf-8", "replace"))[:1_000].lstrip("# \n")
    text = " ".join(text.split())
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


def _rows(db: sqlite3.Connection, query: str, id: int) -> list[dict[str, Any]]:
    rows = db.execute(query, (id,))
    names = [name for name, *_ in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _insert(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def _hex(data: bytes) -> dict[str, str]:
    return {"hex": data.hex()}


def _bytes(value: dict[str, Any]) -> Any:
    return bytes.fromhex(value["hex"]) if value.keys() == {"hex"} else value
