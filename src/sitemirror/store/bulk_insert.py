"""Bulk insertion of listed URLs into the state, and a compact set of hashes."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from mmap import mmap
from typing import Any, Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.store.queue import DUE_AGAIN, NO_LONGER_GONE, RunRules
from sitemirror.store.tables import CACHE, KEY_INDEX, LITTLE_CACHE, Due, UrlState

_NONE: Final = array("Q")


class Fingerprints:
    """A compact set of 64-bit hashes: 10 MB for a million, where a `set` takes 100.

    False positives are as likely as collisions: a million lookups in a million hashes give one in 10 million runs.
    """

    def __init__(self, values: Iterable[int]) -> None:
        parts: defaultdict[int, array[int]] = defaultdict(lambda: array("Q"))
        for value in values:
            parts[value & 255].append(value)
        for number, part in parts.items():  # one by one: a list takes four times as much
            parts[number] = array("Q", sorted(part))
        self._parts = dict(parts)

    def __contains__(self, value: int) -> bool:
        part = self._parts.get(value & 255, _NONE)
        place = bisect_left(part, value)
        return place < len(part) and part[place] == value


# Bound once: an enum's member is looked up in its class each time.
_QUEUED: Final = UrlState.QUEUED.value
_EXCLUDED: Final = UrlState.EXCLUDED.value
_NO: Final = Due.NO.value
_NOW: Final = Due.NOW.value

_FEW: Final = 2_000
"""Number of URLs for which single lookups are faster than dropping and creating the index."""

_BYTES: Final = 8 << 20
"""Size of the bit array: of a million URLs, one in 130 is a false positive."""

# A URL that is listed again keeps its state, unless it has no page and this run excludes it. Failures of another
# start URL are left to its own runs, which report and retry them.
_LEFT_OUT: Final = (
    f"state NOT IN ({UrlState.PAGE}, {UrlState.ALIAS}) AND excluded.state = {UrlState.EXCLUDED}"
    f" AND NOT (state = {UrlState.FAILED} AND gone_since IS NULL AND start_id != excluded.start_id)"
)
_MEET_AGAIN: Final = f"""
ON CONFLICT (key) DO UPDATE SET
  listed_run = excluded.listed_run, named = 1, sitemap_id = excluded.sitemap_id,
  start_id = CASE
    WHEN excluded.state = {UrlState.EXCLUDED} AND state != {UrlState.EXCLUDED} THEN start_id
    ELSE excluded.start_id END,
  lastmod = excluded.lastmod, priority = excluded.priority, alternates = excluded.alternates,
  reason = CASE
    WHEN {_LEFT_OUT} THEN excluded.reason WHEN state = {UrlState.EXCLUDED} THEN NULL ELSE reason END,
  detail = CASE
    WHEN {_LEFT_OUT} THEN excluded.detail WHEN state = {UrlState.EXCLUDED} THEN NULL ELSE detail END,
  queue = CASE
    WHEN {_LEFT_OUT} THEN {Due.NO} WHEN excluded.state = {UrlState.EXCLUDED} THEN queue
    ELSE {DUE_AGAIN} END,
  state = CASE
    WHEN {_LEFT_OUT} THEN {UrlState.EXCLUDED} WHEN state = {UrlState.EXCLUDED} THEN {UrlState.QUEUED}
    ELSE state END,
  {NO_LONGER_GONE}
WHERE url.listed_run IS NOT excluded.listed_run
"""


class Listed(NamedTuple):  # A tuple: created a million times, in a third of a frozen dataclass's time.
    """One URL of a sitemap with the scope's decision: `reason` is None if it may be fetched."""

    url: str
    lastmod: str | None = None
    priority: str | None = None
    alternates: str | None = None  # JSON
    reason: Reason | None = None
    detail: str | None = None


class BulkInsert:
    """Writes URLs for one run, within the transaction that is open."""

    def __init__(self, db: sqlite3.Connection, rules: RunRules) -> None:
        self._db = db
        self._rules = rules
        self._meet_again = meet_again(rules)
        self._begun = False
        self._few: int | None = None  # number of URLs in a state that was empty, while they are few
        self._bits: mmap | None = None  # only while a state that was empty gets many
        self._next = 1

    def add(self, sitemap: int, entries: Sequence[Listed]) -> int:
        """List URLs; return how many of them this run had listed already, as far as known yet."""
        found, lastmods, priorities, alternates, reasons, details = zip(*entries, strict=True)
        states = [_EXCLUDED if reason else _QUEUED for reason in reasons]
        return self._add(
            self._same_for_all(sitemap),
            {
                "url": found,
                "lastmod": lastmods,
                "priority": priorities,
                "alternates": alternates,
                "reason": [reason and reason.value for reason in reasons],
                "detail": details,
                "state": states,
                "queue": [_NO if reason else _NOW for reason in reasons],
            },
        )

    def add_plain(
        self, sitemap: int, found: Sequence[str], lastmods: Sequence[str | None], priorities: Sequence[str | None]
    ) -> int:
        """List URLs in scope that have no alternates."""
        constants = self._same_for_all(sitemap) | {"state": _QUEUED, "queue": _NOW}
        return self._add(constants, {"url": found, "lastmod": lastmods, "priority": priorities})

    def _same_for_all(self, sitemap: int) -> dict[str, int]:
        rules = self._rules
        return {"named": 1, "listed_run": rules.run, "start_id": rules.start, "sitemap_id": sitemap}

    def _add(self, constants: Mapping[str, int], columns: Mapping[str, Sequence[Any]]) -> int:
        if not self._begun:
            self._begin()
        keys = list(map(urls.key, columns["url"]))
        if self._few is not None:
            self._few += len(keys)
            if self._few > _FEW:
                self._drop_index()
        # A bytearray is bound directly; for bytes, sqlite3 searches for an adapter each time.
        columns = {"key": list(map(bytearray, keys)), **columns}
        if self._bits is not None:
            self._fill(self._bits, keys, constants, columns)
            return 0
        before = self._db.total_changes
        query = _insertion("url", constants, columns) + self._meet_again
        self._db.executemany(query, zip(*columns.values(), strict=True))
        return len(keys) - (self._db.total_changes - before)

    def _begin(self) -> None:
        self._begun = True
        self._few = 0 if self._db.execute("SELECT 1 FROM url LIMIT 1").fetchone() is None else None

    def _drop_index(self) -> None:
        """Drop the index of keys: from now on, a bit array tells new keys from possible repeats."""
        self._few = None
        self._bits = mmap(-1, _BYTES)
        _doubtful(self._bits, [key for (key,) in self._db.execute("SELECT key FROM url")])
        self._next = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM url").fetchone()[0]
        self._db.execute("DROP INDEX url_key")
        self._db.execute(f"PRAGMA cache_size={LITTLE_CACHE}")
        self._db.execute("PRAGMA shrink_memory")

    def _fill(
        self, bits: mmap, keys: list[bytes], constants: Mapping[str, int], columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Insert new URLs, and set possible repeats aside. Both get their ids in the order of discovery now."""
        columns = {"id": range(self._next, self._next + len(keys)), **columns}
        rows = list(zip(*columns.values(), strict=True))
        self._next += len(keys)
        doubtful = _doubtful(bits, keys)
        if doubtful:
            self._db.executemany(_insertion("intake", constants, columns), [rows[at] for at in doubtful])
            for at in reversed(doubtful):
                del rows[at]
        self._db.executemany(_insertion("url", constants, columns), rows)

    def finish(self) -> None:
        """Create the index if this state was filled without it."""
        if self._bits is not None:
            self._bits = None
            complete_bulk_insert(self._db)
            self._db.execute(f"PRAGMA cache_size={CACHE}")
        self._begun = False


def meet_again(rules: RunRules) -> str:
    """Return the SQL for a URL that is listed again.

    The run's values are literals in it: bound values would cost time for each row.
    """
    text = _MEET_AGAIN.replace(":run", str(rules.run))
    return text.replace(":renews", str(int(rules.renews))).replace(":by_links", str(int(rules.by_links)))


def complete_bulk_insert(db: sqlite3.Connection) -> None:
    """Create the index of keys if it is missing, and insert the URLs that were set aside."""
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'url_key'").fetchone() is not None:
        return
    if not db.in_transaction:
        db.execute("BEGIN")
    db.execute(KEY_INDEX)
    names = (
        "id, key, url, state, queue, start_id, named, listed_run, sitemap_id, lastmod, priority, alternates,"
        " reason, detail"
    )
    # Only an empty state is filled without the index: all rows are of one run, which has visited none of them.
    again = meet_again(RunRules(run=0, start=0, by_links=False, renews=False))
    # URLs of an unfinished sitemap are known, but not listed any more.
    db.execute(f"INSERT OR IGNORE INTO url ({names}) SELECT {names} FROM intake WHERE listed_run IS NULL ORDER BY id")
    db.execute("DELETE FROM intake WHERE listed_run IS NULL")
    db.execute("CREATE INDEX intake_sitemap ON intake (sitemap_id)")
    for sitemap, count in db.execute(
        "SELECT sitemap_id, count(*) FROM intake GROUP BY sitemap_id ORDER BY min(id)"
    ).fetchall():
        before = db.total_changes
        db.execute(
            f"INSERT INTO url ({names}) SELECT {names} FROM intake WHERE sitemap_id = ? ORDER BY id {again}",
            (sitemap,),
        )
        repeats = count - (db.total_changes - before)
        db.execute("UPDATE sitemap SET repeats = repeats + ? WHERE id = ?", (repeats, sitemap))
    db.execute("DROP INDEX intake_sitemap")
    db.execute("DELETE FROM intake")
    db.execute("COMMIT")


def _doubtful(bits: mmap, keys: list[bytes]) -> list[int]:
    """Return the positions of keys that may be repeats, and mark all others as present."""
    found = []
    for number, mark in enumerate(memoryview(b"".join(keys)).cast("I")[::4]):
        at, bit = mark >> 3 & _BYTES - 1, 1 << (mark & 7)
        seen = bits[at]
        if seen & bit:
            found.append(number)
        else:
            bits[at] = seen | bit
    return found


def _insertion(table: str, constants: Mapping[str, int], columns: Iterable[str]) -> str:
    """Return the SQL to insert rows. Values common to all rows are literals: binding them costs time."""
    names = [*constants, *columns]
    values = [*map(str, constants.values()), *("?" for _ in columns)]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(values)})"
