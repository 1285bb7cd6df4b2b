"""Read the state for publishing: every URL once, in a deterministic order.

The view `account` alone decides how a URL is reported. Rows are read one by one: there may be a million.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from sitemirror.reasons import Cause, Reason, cause_of, text_of
from sitemirror.store.database import State
from sitemirror.store.ending import resolve_aliases
from sitemirror.store.migrate import OLD_VERSIONS, migrate
from sitemirror.store.tables import (
    ASSET,
    MAX_ALIAS_HOPS,
    VERSION,
    ChangeKind,
    Due,
    FileKind,
    Place,
    UrlState,
    in_order,
)

FEW: Final = 1_000
"""Number of URLs that are sorted faster in memory than on disk."""

# The URLs of one folder together: "/" sorts before every other character, and the scheme does not count.
_BY_FOLDER: Final = "replace(substr(url.url, instr(url.url, '://') + 3), '/', char(1)), url.url"

_ENDED: Final = """
SELECT account.id, account.url, e.reason, e.detail, coalesce(e.attempts, 0), coalesce(e.checked_at, ''), e.content_type,
       e.size, CASE WHEN account.id != end_id THEN e.url END, hops, u.depth, place
FROM account JOIN url AS e ON e.id = end_id JOIN url AS u ON u.id = account.id
"""

# In the order of `Place`. GROUP BY would sort all rows first.
_COUNTS: Final = f"SELECT {', '.join(f'count(*) FILTER (WHERE place = {place})' for place in Place)} FROM account"

# Pages with their main file, and the HTML beside it if there are two. `url.state` is not enough to find a row
# by its file: a duplicate has none, and that of a page whose file was deleted stays until there is an answer.
_IS_PAGE: Final = f"url.state = {UrlState.PAGE} AND url.gone_since IS NULL"
_MAIN: Final = "main.id = (SELECT id FROM file WHERE file.url_id = url.id ORDER BY kind LIMIT 1)"
_BESIDE: Final = f"beside.url_id = url.id AND beside.kind = {FileKind.HTML} AND main.kind = {FileKind.MARKDOWN}"

_IS_THERE: Final = "file.size IS NOT NULL"
"""False for the row of a page that only `_processed.txt` names and that has no file."""

_OTHER_NAMES: Final = """
(SELECT json_group_array(a.url) FROM
  (SELECT other.url FROM alias JOIN url AS other ON other.id = alias.url_id
   WHERE alias.page_id = url.id ORDER BY other.url) AS a)
"""
_MORE_NAMES: Final = f"""
SELECT coalesce(sum(names - 1), 0) FROM (
  SELECT p.named + sum(a.named) AS names FROM alias JOIN url AS p ON p.id = page_id JOIN url AS a ON a.id = url_id
  WHERE p.state = {UrlState.PAGE} AND p.gone_since IS NULL GROUP BY page_id
) WHERE names > 1
"""
_KEPT: Final = "reason, detail, missing_path, (SELECT url FROM url AS target WHERE target.id = url.target_id)"
"""The reason for an old copy: the arguments of `_why_kept`."""


def _why_kept(reason: int | None, detail: str | None, missing_path: str | None, target: str | None) -> str | None:
    if reason == Reason.MOVED:  # It is no alias, since its target is no page.
        reason = Reason.REDIRECT_TARGET_FAILED
    return text_of(reason, detail or target, missing_path)


class Counts(NamedTuple):
    """Numbers of URLs. `total` = saved + failed + skipped + not_reached."""

    saved: int
    assets: int  # of those: not pages
    failed: int
    skipped: int
    not_reached: int
    gone: int
    aliases_listed: int  # named URLs with the same page as another named URL
    outside: int  # of the skipped ones: never requested
    refresh_failed: int  # pages whose copy is older than the last answer

    @property
    def total(self) -> int:
        return self.saved + self.failed + self.skipped + self.not_reached


NOTHING: Final = Counts(0, 0, 0, 0, 0, 0, 0, 0, 0)


class Changes(NamedTuple):
    """Numbers of pages that a run changed."""

    new: int
    changed: int


class StateReport:
    """The whole state, for reports. Aliases must be resolved."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self._has_aliases = state.has_aliases

    def counts(self) -> Counts:
        """Count URLs by result."""
        found = dict(zip(Place, self._db.execute(_COUNTS).fetchone(), strict=True))
        return Counts(
            saved=found[Place.PAGE],
            assets=self._state.number(f"SELECT count(*) FROM url WHERE {_IS_PAGE} AND kind = {ASSET}"),
            failed=found[Place.FAILURE],
            skipped=found[Place.SKIP] + found[Place.EXCLUDED],
            not_reached=found[Place.NOT_REACHED],
            gone=found[Place.GONE],
            aliases_listed=self._state.number(_MORE_NAMES) if self._has_aliases else 0,
            outside=found[Place.EXCLUDED],
            refresh_failed=self._state.number(f"SELECT count(*) FROM url WHERE {_IS_PAGE} AND reason IS NOT NULL"),
        )

    def failed_permanently(self) -> int:
        """Count the failures that a retry does not change."""
        return self._state.number(
            "SELECT count(*) FROM account JOIN url ON url.id = end_id"
            f" WHERE place = {Place.FAILURE} AND NOT coalesce(transient, 0)"
        )

    def changes(self, run: int) -> Changes:
        """Count the pages that a run added and changed, over all its interruptions."""
        new, changed = self._db.execute(
            f"""
            SELECT count(*) FILTER (WHERE change.kind = {ChangeKind.ADDED}),
              count(*) FILTER (WHERE change.kind = {ChangeKind.CHANGED})
            FROM change JOIN url ON url.id = url_id WHERE run_id = ? AND {_IS_PAGE}
            """,
            (run,),
        ).fetchone()
        return Changes(new, changed)

    def unchecked(self, run: int, start: int, *, only_undated: bool) -> int:
        """Pages of a start URL that a run has not compared with the site, and will not.

        `only_undated`: of those, the pages without a date and without validators.
        """
        undated = " AND named AND lastmod IS NULL AND coalesce(etag, last_modified, '') = ''" if only_undated else ""
        return self._state.number(
            f"SELECT count(*) FROM url JOIN page ON page.url_id = url.id WHERE {_IS_PAGE} AND queue = {Due.NO}"
            f" AND checked_run IS NOT {int(run)} AND url.start_id = {int(start)}{undated}"
        )

    def kept_since(self, moment: str) -> tuple[int, int]:
        """Count pages whose copy is outdated since that time or before: those that redirect, and the others."""
        query = f"""
            SELECT count(*) FILTER (WHERE reason = {Reason.MOVED_TEMPORARILY}),
              count(*) FILTER (WHERE reason != {Reason.MOVED_TEMPORARILY})
            FROM url WHERE {_IS_PAGE} AND missing_path IS NULL AND since <= ?
        """
        redirected, others = self._db.execute(query, (moment,)).fetchone()
        return redirected, others

    def unread(self) -> int:
        """Count pages that a crawl has reached and whose links it has yet to read."""
        return self._state.number(
            f"SELECT count(*) FROM url JOIN page ON page.url_id = url.id"
            f" WHERE {_IS_PAGE} AND queue != {Due.NO} AND links_known = 0 AND depth IS NOT NULL"
        )

    def pages(self) -> Iterator[dict[str, Any]]:
        """Yield the saved pages by URL, each with its aliases."""
        query = f"""
            SELECT url.url, main.path, main.preferred_path, main.size, page.fetched_at, page.title,
                   lower(hex(main.sha256)) AS sha256, url.lastmod, page.etag, page.last_modified, page.content_type,
                   page.canonical, url.alternates, beside.path AS html_path, page.hidden_texts, page.changed_at,
                   url.depth, {_OTHER_NAMES if self._has_aliases else "'[]'"} AS aliases, {_KEPT}
            FROM url JOIN page ON page.url_id = url.id JOIN file AS main ON {_MAIN}
              LEFT JOIN file AS beside ON {_BESIDE}
            WHERE {_IS_PAGE} ORDER BY url.url
        """
        rows = in_order(self._db, query)
        names = [name for name, *_ in rows.description][:-4]
        for *row, reason, detail, missing_path, target in rows:
            page = dict(zip(names, row, strict=True))
            page["sha256"] = page["sha256"] or None
            page["error"] = _why_kept(reason, detail, missing_path, target)
            yield page

    def contents(self) -> Callable[[int], Iterable[tuple[str, str, str | None]]]:
        """Yield (url, path, title) of the pages from the n-th on, grouped by folder."""
        return self._sorted(
            "contents",
            f"""
            SELECT url.url, main.path, page.title
            FROM url JOIN page ON page.url_id = url.id JOIN file AS main ON {_MAIN}
            WHERE {_IS_PAGE} ORDER BY {_BY_FOLDER}
            """,
        )

    def outline(self, run: int) -> Callable[[int], Iterable[tuple[str, str | None, str | None]]]:
        """Yield (url, lastmod, priority) of all URLs that a run listed in scope, grouped by folder."""
        return self._sorted(
            "outline",
            f"""
            SELECT url, lastmod, priority FROM url WHERE listed_run = {int(run)} AND state != {UrlState.EXCLUDED}
            ORDER BY {_BY_FOLDER}
            """,
        )

    def _sorted(self, name: str, query: str) -> Callable[[int], Iterable[Any]]:
        """Sort once, on disk if there are many; rows are then read in that order, starting anywhere."""
        if self._state.number("SELECT coalesce(max(id), 0) FROM url") <= FEW:
            rows = in_order(self._db, query).fetchall()
            return lambda start: rows[start:]
        self._db.execute(f"DROP TABLE IF EXISTS temp.{name}")
        in_order(self._db, f"CREATE TEMP TABLE {name} AS {query}")
        return lambda start: self._db.execute(f"SELECT * FROM temp.{name} WHERE rowid > ? ORDER BY rowid", (start,))

    def failures(self) -> Iterator[tuple[Any, ...]]:
        """(url, reason, attempts, at, content_type, size, final_url, redirects, depth)."""
        return self._ended(Place.FAILURE)

    def skips(self) -> Iterator[tuple[Any, ...]]:
        """(url, reason, attempts, at, content_type, size, final_url, redirects, depth)."""
        return self._ended(Place.SKIP, Place.EXCLUDED)

    def _ended(self, *places: Place) -> Iterator[tuple[Any, ...]]:
        which = ", ".join(str(int(place)) for place in places)
        rows = in_order(self._db, f"{_ENDED} WHERE place IN ({which}) ORDER BY account.url")
        return ((url, text_of(reason, detail), *rest) for _, url, reason, detail, *rest, _ in rows)

    def failed_for_others(self, start: int) -> list[int]:
        """Return the ids of other start URLs with failures."""
        query = f"""
            SELECT DISTINCT start_id FROM url WHERE state = {UrlState.FAILED} AND gone_since IS NULL AND start_id != ?
            ORDER BY start_id
        """
        return [row[0] for row in self._db.execute(query, (start,))]

    def reasons(self) -> list[str]:
        """Return the two most frequent reasons why URLs have no page.

        Excluded URLs count only if there is nothing else: a narrow scope excludes most of a site on purpose.
        """
        query = """
            SELECT -count(*), reason, detail FROM url
            WHERE state IN ({}) AND gone_since IS NULL AND reason IS NOT NULL GROUP BY reason, detail
        """
        for states in (f"{UrlState.FAILED}, {UrlState.SKIPPED}", f"{UrlState.EXCLUDED}"):
            found = ((fewer, text_of(*cause) or "") for fewer, *cause in self._db.execute(query.format(states)))
            if most := nsmallest(2, found):
                return [text for _, text in most]
        return []

    def without_page(self, run: int) -> Iterator[tuple[Any, ...]]:
        """Yield the requests that gave no page, each under its reported name.

        Columns: id, url, has failed, reason, attempts, at, content_type, size, final_url, is new (decided by this run).
        """
        asked = f"place IN ({Place.FAILURE}, {Place.SKIP}) OR place = {Place.EXCLUDED} AND account.id != end_id"
        query = _ENDED.replace("place\n", f"place, e.checked_run IS {int(run)} OR u.checked_run IS {int(run)}\n")
        for id, url, reason, detail, *rest, _, _, place, is_new in in_order(
            self._db, f"{query} WHERE {asked} ORDER BY 1"
        ):
            yield id, url, place == Place.FAILURE, text_of(reason, detail) or "", *rest, bool(is_new)

    def gone(self) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield (url, path, since). A page's aliases are gone with it."""
        path = f"(SELECT path FROM file WHERE file.url_id = account.id AND {_IS_THERE} ORDER BY kind LIMIT 1)"
        yield from in_order(
            self._db,
            f"""
            SELECT account.url, {path}, nullif(gone_since, '')
            FROM account WHERE place = {Place.GONE} ORDER BY 1
            """,
        )

    def gone_since(self, at: str) -> int:
        """Count those that became gone at that time or later."""
        return sum(since is not None and since >= at for _, _, since in self.gone())

    def not_reached(self) -> Iterator[str]:
        """Yield URLs that are still queued."""
        query = f"SELECT url FROM account WHERE place = {Place.NOT_REACHED} ORDER BY 1"
        for row in in_order(self._db, query):
            yield row[0]


# The files of pages that are gone stay.
_HAS_FILE: Final = f"url.state = {UrlState.PAGE} AND {_IS_THERE}"
_FILES: Final = f"""
SELECT url.url, file.path, coalesce(file.size, 0), lower(hex(file.sha256)), coalesce(page.fetched_at, ''), page.etag,
       page.last_modified, page.content_type, page.http_status, page.headers, page.meta, url.kind
FROM file JOIN url ON url.id = file.url_id JOIN page ON page.url_id = file.url_id WHERE {_HAS_FILE} ORDER BY file.path
"""
_SIZES: Final = f"""
SELECT file.path, coalesce(file.size, 0) FROM file JOIN url ON url.id = file.url_id WHERE {_HAS_FILE} ORDER BY 1
"""
_HTML_PATH: Final = f"""
(SELECT path FROM file WHERE file.url_id = page.url_id AND {_IS_THERE}
 ORDER BY kind = {FileKind.HTML} DESC, kind LIMIT 1)
"""

# A refused address is a failure to the run, but an exclusion to the index.
_REFUSED: Final = f"url.reason IS {Reason.ADDRESS_REFUSED}"
_FAILED: Final = f"(url.state = {UrlState.FAILED} AND url.gone_since IS NULL AND NOT {_REFUSED})"
# The page's new URL reports the failure.
_HAS_COPY: Final = f"EXISTS (SELECT 1 FROM url AS copy WHERE copy.target_id = url.id AND copy.state = {UrlState.PAGE})"
_CUT: Final = f"""
(url.gone_since IS NULL AND (url.state IN ({UrlState.EXCLUDED}, {UrlState.SKIPPED})
  OR url.state = {UrlState.FAILED} AND {_REFUSED}))
"""

_NAMES: Final = "alias JOIN url AS name ON name.id = alias.url_id JOIN url ON url.id = alias.page_id"
_WAY: Final = """
' at ' || url.url || ', where ' || CASE hops WHEN 1 THEN 'a redirect leads' ELSE hops || ' redirects lead' END
"""


def _found_on(url: str) -> str:
    """SQL for the URL that led to a URL: a linking page, its sitemap, a redirect to it, or the start URL.

    A state has the sitemaps of its last run only, and each run numbers them anew.
    """
    return f"""
coalesce(
  (SELECT source.url FROM link JOIN url AS source ON source.id = link.src_id WHERE link.dst_id = {url}.id
   ORDER BY source.depth, source.url LIMIT 1),
  (SELECT sitemap.url FROM sitemap WHERE sitemap.id = {url}.sitemap_id AND sitemap.run = {url}.listed_run),
  (SELECT source.url FROM url AS source WHERE source.id = {url}.found_on_id),
  (SELECT start.url FROM start WHERE start.id = {url}.start_id)
)
"""


def index_incoming(state: State) -> None:
    """Index links by target. Created on demand, since it slows down each insertion."""
    state.db.execute("CREATE INDEX IF NOT EXISTS link_in ON link (dst_id, src_id)")


class LinkGraph:
    """The state as the mirror index describes it. Paths are relative to the output folder.

    Aliases must be resolved.
    """

    def __init__(self, state: State) -> None:
        self._db = state.db
        index_incoming(state)

    def files(self) -> Iterator[tuple[Any, ...]]:
        """Yield one row per file: its URL and answer. Columns as in `_FILES`."""
        yield from in_order(self._db, _FILES)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Yield (path, size) of the same files."""
        return in_order(self._db, _SIZES)

    def urls(self) -> Iterator[tuple[Any, ...]]:
        """Yield one row per URL of a file.

        Columns: id, url, path, kind, http_status, headers, not_modified, fetched_at, depth, final_url.
        """
        answer = "page.http_status, page.headers, page.not_modified, coalesce(page.fetched_at, '')"
        yield from in_order(
            self._db,
            f"""
            SELECT url.id, url.url, {_HTML_PATH} AS path, url.kind, {answer}, url.depth, url.url
            FROM page JOIN url ON url.id = page.url_id WHERE url.state = {UrlState.PAGE} AND path IS NOT NULL
            UNION ALL
            SELECT name.id, name.url, {_HTML_PATH} AS path, url.kind, {answer}, name.depth, url.url
            FROM {_NAMES} JOIN page ON page.url_id = page_id WHERE url.state = {UrlState.PAGE} AND path IS NOT NULL
            ORDER BY 2
            """,
        )

    def hops(self, id: int) -> Iterator[str]:
        """Return the URLs of the redirects from a URL to its page, both included."""
        query = f"""
            WITH RECURSIVE hop (id, n) AS (
              SELECT :id, 0 UNION ALL SELECT target_id, n + 1 FROM url JOIN hop USING (id)
              WHERE state = {UrlState.ALIAS} AND target_id IS NOT NULL AND n < {MAX_ALIAS_HOPS}
            ) SELECT url FROM hop JOIN url USING (id) ORDER BY n
        """
        for row in self._db.execute(query, {"id": id}):
            yield row[0]

    def referers(self, id: int) -> list[str]:
        """Return the URLs of the pages that link to a URL."""
        rows = self._db.execute(
            "SELECT DISTINCT url.url FROM link JOIN url ON url.id = link.src_id WHERE link.dst_id = ? ORDER BY 1", (id,)
        )
        return [url for (url,) in rows]

    def out_edges(self) -> Iterator[tuple[str, str]]:
        """Yield (url, target URL) of links."""
        return self._edges("s.url, d.url", "1, 2")

    def in_edges(self) -> Iterator[tuple[str, str]]:
        """Yield (url, linking URL)."""
        return self._edges("d.url, s.url", "1, 2")

    def typed_out_edges(self) -> Iterator[tuple[str, str, str]]:
        """Yield (url, attribute, target URL) of links."""
        return self._edges("s.url, CASE attribute WHEN 1 THEN 'src' ELSE 'href' END, d.url", "1, 2, 3")

    def _edges(self, columns: str, order: str) -> Iterator[Any]:
        return in_order(
            self._db,
            f"SELECT {columns} FROM link JOIN url AS s ON s.id = link.src_id JOIN url AS d ON d.id = link.dst_id"
            f" ORDER BY {order}",
        )

    def skipped(self) -> Iterator[tuple[str, str, Cause | None, str | None, str]]:
        """Yield (at, url, cause, found on, way) of URLs found and not fetched, and of redirects to them.

        `way` has the target of those redirects, and is empty for all others.
        """
        rows = in_order(
            self._db,
            f"""
            SELECT coalesce(url.checked_at, ''), url.url, url.reason, url.detail, {_found_on("url")}, ''
            FROM url WHERE {_CUT}
            UNION ALL
            SELECT coalesce(url.checked_at, ''), name.url, url.reason, url.detail, {_found_on("name")}, {_WAY}
            FROM {_NAMES} WHERE {_CUT}
            ORDER BY 2
            """,
        )
        for at, url, reason, detail, found_on, way in rows:
            yield at, url, cause_of(reason, detail), found_on, way

    def errors(self) -> Iterator[tuple[str, str, int | None, str]]:
        """Yield (at, url, kind, reason) of failures, of redirects to them, and of outdated copies."""
        rows = in_order(
            self._db,
            f"""
            SELECT coalesce(checked_at, ''), url, kind, '', reason, detail, NULL, NULL FROM url
            WHERE {_FAILED} AND (named OR NOT {_HAS_COPY})
            UNION ALL
            SELECT coalesce(url.checked_at, ''), name.url, coalesce(name.kind, url.kind), {_WAY}, url.reason,
                   url.detail, NULL, NULL
            FROM {_NAMES} WHERE {_FAILED}
            UNION ALL
            SELECT coalesce(since, ''), url, kind, '', {_KEPT} FROM url WHERE {_IS_PAGE} AND reason IS NOT NULL
            ORDER BY 2
            """,
        )
        for at, url, kind, way, *cause in rows:
            yield at, url, kind, ((_why_kept(*cause) if not way else text_of(*cause[:2])) or "") + way


class UnreadableState(Exception):
    """The state cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class HtmlFile:
    """A saved HTML page or an asset."""

    path: str  # relative to the output folder
    size: int | None
    sha256: str | None
    localized: bool  # its links lead to files
    has_twins: bool  # it has duplicates


class ReadOnlyState:
    """A state that is open for reading."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def urls(self) -> Iterator[tuple[bytes, str]]:
        """Yield (key, url) of every URL that the manifest must contain."""
        yield from self._db.execute("SELECT key, account.url FROM account JOIN url USING (id) ORDER BY 2")

    def passed(self) -> Iterator[bytes]:
        """Yield the keys of all others."""
        for row in self._db.execute("SELECT key FROM url WHERE id NOT IN (SELECT id FROM account)"):
            yield row[0]

    def html_files(self) -> Iterator[HtmlFile]:
        """Yield the saved HTML and other files that may have links."""
        rows = self._db.execute(
            f"""
            SELECT path, file.size, lower(hex(sha256)), linked_path IS NOT NULL, EXISTS (SELECT 1 FROM url AS other
              WHERE other.target_id = url.id AND other.state = {UrlState.ALIAS} AND other.reason = {Reason.DUPLICATE})
            FROM file JOIN url ON url.id = url_id
            WHERE {_IS_PAGE} AND (file.kind = {FileKind.HTML} OR file.kind = {FileKind.ASSET}
              AND linked_path IS NOT NULL)
            """
        )
        for path, size, digest, localized, has_twins in rows:
            yield HtmlFile(path, size, digest or None, bool(localized), bool(has_twins))


@contextmanager
def open_read_only(path: Path) -> Iterator[ReadOnlyState]:
    """Open the state at `path`, which must have no write-ahead log beside it. Raises `UnreadableState`."""
    try:
        # Immutable: otherwise SQLite would create files of its own beside the state.
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise UnreadableState(str(error)) from error
    try:
        with closing(db):
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version in OLD_VERSIONS:
                with _migrated(db, version) as copy:
                    yield ReadOnlyState(copy)
            elif version == VERSION:
                yield ReadOnlyState(db)
            else:
                raise UnreadableState(f"made by another version of sitemirror (state version {version})")
    except sqlite3.Error as error:
        raise UnreadableState(str(error)) from error


@contextmanager
def _migrated(old: sqlite3.Connection, version: int) -> Iterator[sqlite3.Connection]:
    """Return a migrated copy of a state, made elsewhere."""
    with (
        TemporaryDirectory(prefix="sitemirror-") as folder,
        closing(sqlite3.connect(Path(folder) / "state", isolation_level=None)) as copy,
    ):
        old.backup(copy)
        copy.execute("PRAGMA synchronous=OFF")
        migrate(copy, version)
        resolve_aliases(copy)
        yield copy
