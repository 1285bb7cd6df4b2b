"""What is known of a URL, and where it leads: all that is read of outcomes while a run goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from sitemirror import urls
from sitemirror.model import Validators
from sitemirror.reasons import Cause, cause_of
from sitemirror.store.schema import Row
from sitemirror.store.selection import Selection
from sitemirror.store.state import RunInfo, State


class Known(NamedTuple):
    """A URL's row, with what its page's row adds."""

    id: int
    url: str
    status: Row
    run: int
    seen: int
    lastmod: str | None
    at: str | None
    attempts: int
    transient: int
    size: int | None
    path: str | None
    fetched_at: str | None
    sha256: str | None
    etag: str | None
    last_modified: str | None
    depth: int | None
    chain: int
    kind: int | None
    html_path: str | None
    received: str | None
    local_at: str | None
    file_size: int | None
    html_sha256: str | None
    html_size: int | None
    changed_at: str | None

    @property
    def validators(self) -> Validators:
        return Validators(self.etag, self.last_modified)


_KNOWN = """
SELECT url.id, url.url, url.status, url.run, url.seen, url.lastmod, url.at, coalesce(url.attempts, 0),
       coalesce(url.transient, 0), url.size, page.path, page.fetched_at, page.sha256, page.etag, page.last_modified,
       url.depth, url.chain, url.kind, page.html_path, page.received, page.local_at, page.size,
       page.html_sha256, page.html_size, page.changed_at
FROM url LEFT JOIN page ON page.id = url.id
"""


# A URL, and what leads to it.
_NAMES: Final = f"""
WITH RECURSIVE name (id) AS (
  SELECT ? UNION SELECT url.id FROM name JOIN url ON url.leads_to = name.id WHERE url.status = {Row.REDIRECT}
)
SELECT url.id, url.url, url.run FROM name JOIN url USING (id)
"""

# A page that is gone gives way to one with its very name, not to one whose name only some systems take for it.
# (Nothing here is bound by number: Python 3.12 warned of that until 3.12.4.)
_TAKEN: Final = f"""
SELECT EXISTS (SELECT 1 FROM page JOIN url USING (id) WHERE page.fold = ? AND (url.status = {Row.SAVED}
      OR (url.status = {Row.GONE} AND path = wanted AND path != ?)))
    OR EXISTS (SELECT 1 FROM page WHERE path = ? AND path != wanted)
"""

_NOWHERE: Final[Mapping[int, int]] = MappingProxyType({})

_ROWS: Final = tuple(Row)  # by their values: to look one up in the class costs ten times as much


def _known(row: tuple[Any, ...]) -> Known:
    id, url, status, *rest = row
    return Known(id, url, _ROWS[status], *rest)


class Lookup:
    """Looks up URLs for one run."""

    def __init__(self, state: State, run: RunInfo) -> None:
        self._state = state
        self._db = state.db
        self._run = run

    def take(self, which: Selection, after: int, limit: int) -> list[Known]:
        """The next URLs to visit, in the order of discovery."""
        query = f"{_KNOWN} WHERE url.id > ? AND ({which.condition}) ORDER BY url.id LIMIT ?"
        return [_known(row) for row in self._db.execute(query, (after, *which.values, limit))]

    @property
    def changes(self) -> int:
        """Grows with each row that is written."""
        return self._db.total_changes

    def count(self, which: Selection) -> int:
        return self._state.number(f"SELECT count(*) FROM url WHERE {which.condition}", which.values)

    def saved_among(self, ids: Sequence[int]) -> int:
        """How many of these are pages of their own: some may have turned out to be one page with another."""
        query = f"SELECT count(*) FROM url WHERE status = {Row.SAVED} AND id IN"
        some = (",".join(map(str, ids[start : start + 1000])) for start in range(0, len(ids), 1000))
        return sum(self._state.number(f"{query} ({each})") for each in some)

    def find(self, url: str) -> Known | None:
        row = self._db.execute(f"{_KNOWN} WHERE url.key = ?", (urls.key(url),)).fetchone()
        return None if row is None else _known(row)

    def least_depth(self, which: Selection) -> int | None:
        """The least depth of a selection; None when it is empty."""
        rows = self._db.execute(f"SELECT min(depth) FROM url WHERE {which.condition}", which.values)
        return cast("int | None", rows.fetchone()[0])

    def cause_of(self, id: int) -> Cause | None:
        """Why a URL failed, was skipped, or has an old copy; None if nothing is wrong with it."""
        query = (
            "SELECT refresh_reason, refresh_detail, missing_path, reason, detail"
            " FROM url LEFT JOIN page USING (id) WHERE url.id = ?"
        )
        *refresh, reason, detail = self._db.execute(query, (id,)).fetchone()
        return cause_of(*refresh) or cause_of(reason, detail)

    def is_ours(self, known: Known) -> bool:
        """Whether a URL was found for no other start URL than this run's, which has no say in what another's is."""
        row = self._db.execute("SELECT source FROM url WHERE id = ?", (known.id,)).fetchone()
        return row[0] in (0, self._run.source)

    def is_settled(self, known: Known) -> bool:
        """Whether this run has looked at a URL."""
        return known.seen == self._run.number

    def end_of(self, known: Known) -> Known:
        """Where a URL leads in the end, as far as is known. A circle ends before it comes round."""
        *_, end = self.way_from(known)
        return end

    def way_from(self, known: Known, leads: Mapping[int, int] = _NOWHERE) -> Iterator[Known]:
        """A URL, what it leads to, and so on: each once, also in a circle. Some `leads` are not in their rows yet."""
        yield known
        passed = {known.id}
        while (found := self._led_to_by(known.id, leads.get(known.id))) is not None and found.id not in passed:
            yield found
            passed.add(found.id)
            known = found

    def _led_to_by(self, id: int, instead: int | None = None) -> Known | None:
        query = f"{_KNOWN} WHERE url.id = coalesce(?, (SELECT leads_to FROM url WHERE id = ?))"
        row = self._db.execute(query, (instead, id)).fetchone()
        return None if row is None else _known(row)

    def unsaved_names(self) -> Iterator[tuple[str, Known]]:
        """URLs that lead to something which an earlier run did not come to save, and what that is."""
        rows = self._db.execute(
            f"SELECT url.id, url.url FROM url JOIN url AS next ON next.id = url.leads_to"
            f" WHERE url.status = {Row.REDIRECT} AND next.status != {Row.SAVED}"
        ).fetchall()
        for id, url in rows:
            first = self._led_to_by(id)
            end = None if first is None else self.end_of(first)
            if end is not None and end.status is not Row.SAVED:
                yield url, end

    def listed_names(self, known: Known) -> list[tuple[int, str]]:
        """(id, url) of the names under which a URL without a page is told: those that were listed, or else its own."""
        rows = self._db.execute(_NAMES, (known.id,)).fetchall()
        return [(id, url) for id, url, run in rows if run] or [(known.id, known.url)]

    def lastmods_of_aliases(self, id: int) -> list[str]:
        """The dates that sitemaps give for other names of a page."""
        rows = self._db.execute(
            "SELECT lastmod FROM url WHERE leads_to = ? AND lastmod IS NOT NULL AND run = ?", (id, self._run.number)
        )
        return [row[0] for row in rows]

    def is_taken(self, path: str, fold: bytes) -> bool:
        """Whether another page's URL maps to this path, or a page that had to give way stands there."""
        return bool(self._db.execute(_TAKEN, (bytearray(fold), path, path)).fetchone()[0])
