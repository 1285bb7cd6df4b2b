"""Reads the state for publishing: every URL ever seen, each exactly once, in an order that never depends on luck."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitemirror.reasons import Cause, Reason, cause_of, text_of
from sitemirror.store.database import State
from sitemirror.store.schema import ASSET, PAGE, UNREAD, UNTOLD_ONCE_GONE, UPGRADES, VERSION, Status, in_order
from sitemirror.store.tables import MAX_ALIAS_HOPS, Place, UrlState

FEW: Final = 1_000
"""URLs that are quicker sorted in memory than written down in their order."""

_ALIAS: Final = f"({Status.REDIRECT}, {Status.DUPLICATE})"
_RESOLVE: Final = f"""
INSERT INTO alias (url_id, page_id, hops)
WITH RECURSIVE hop (id, at, n) AS (
  SELECT id, leads_to, 1 FROM url WHERE leads_to IS NOT NULL AND status IN {_ALIAS}
  UNION ALL
  SELECT hop.id, url.leads_to, n + 1 FROM hop JOIN url ON url.id = hop.at
  WHERE url.status IN {_ALIAS} AND n < {MAX_ALIAS_HOPS}
)
SELECT hop.id, hop.at, hop.n FROM hop JOIN url ON url.id = hop.at WHERE url.status NOT IN {_ALIAS}
"""

# The URLs of one folder together: "/" sorts before every other character, and the scheme does not count.
_BY_FOLDER = "replace(substr(url.url, instr(url.url, '://') + 3), '/', char(1)), url.url"

_ENDED = """
SELECT account.id, account.url, e.reason, e.detail, coalesce(e.attempts, 0), coalesce(e.at, ''), e.content_type, e.size,
       CASE WHEN account.id != end_id THEN e.url END, hops, u.depth, place
FROM account JOIN url AS e ON e.id = end_id JOIN url AS u ON u.id = account.id
"""

# In the order of `Place`. To group by it would be to sort all rows first.
_COUNTS = f"SELECT {', '.join(f'count(*) FILTER (WHERE place = {place})' for place in Place)} FROM account"

_OTHER_NAMES = """
(SELECT json_group_array(a.url) FROM
  (SELECT other.url FROM alias JOIN url AS other ON other.id = alias.url_id
   WHERE alias.page_id = url.id ORDER BY other.url) AS a)
"""

_MORE_NAMES = f"""
SELECT coalesce(sum(names - 1), 0) FROM (
  SELECT (p.run > 0) + sum(a.run > 0) AS names
  FROM alias JOIN url AS p ON p.id = page_id JOIN url AS a ON a.id = url_id
  WHERE p.status = {Status.SAVED} GROUP BY page_id
) WHERE names > 1
"""


class Counts(NamedTuple):
    """How many of each. `total` = saved + failed + skipped + not_reached."""

    saved: int
    assets: int  # of those: no pages
    failed: int
    skipped: int
    not_reached: int
    gone: int
    aliases_listed: int  # listed URLs that lead to a page which another listed URL leads to as well
    outside: int  # of the skipped ones: never to be looked at
    refresh_failed: int  # pages whose old copy had to stay

    @property
    def total(self) -> int:
        return self.saved + self.failed + self.skipped + self.not_reached


NOTHING: Final = Counts(0, 0, 0, 0, 0, 0, 0, 0, 0)


def resolve_aliases(state: State) -> None:
    """Finds where each alias ends. Reports tell of the aliases as they were then."""
    with state.transaction() as db:
        db.execute("DELETE FROM alias")
        if state.has_aliases:
            db.execute(_RESOLVE)


def fail_loops(state: State, at: str) -> int:
    """Makes failures of listed aliases without an end: they lead round in a circle. Gives their number."""
    failed = state.db.execute(
        f"""
        UPDATE url SET state = {UrlState.FAILED}, reason = {Reason.REDIRECT_LOOP}, detail = NULL, transient = 0,
          at = ?, leads_to = NULL, attempts = coalesce(attempts, 0) + 1
        WHERE status = {Status.REDIRECT} AND run != 0 AND id NOT IN (SELECT url_id FROM alias)
        """,
        (at,),
    ).rowcount
    if failed:
        resolve_aliases(state)
    return failed


class StateReport:
    """A look at the whole state, for reports. The aliases have to be resolved."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self._has_aliases = state.has_aliases

    def counts(self) -> Counts:
        found = dict(zip(Place, self._db.execute(_COUNTS).fetchone(), strict=True))
        return Counts(
            saved=found[Place.PAGE],
            assets=self._state.number(f"SELECT count(*) FROM url WHERE status = {Status.SAVED} AND kind = {ASSET}"),
            failed=found[Place.FAILURE],
            skipped=found[Place.SKIP] + found[Place.EXCLUDED],
            not_reached=found[Place.NOT_REACHED],
            gone=found[Place.GONE],
            aliases_listed=self._state.number(_MORE_NAMES) if self._has_aliases else 0,
            outside=found[Place.EXCLUDED],
            refresh_failed=self._state.number(
                "SELECT count(*) FROM page JOIN url USING (id)"
                f" WHERE status = {Status.SAVED} AND refresh_reason NOTNULL"
            ),
        )

    def failed_permanently(self) -> int:
        """Number of failures that a retry does not change."""
        return self._state.number(
            "SELECT count(*) FROM account JOIN url ON url.id = end_id"
            f" WHERE place = {Place.FAILURE} AND NOT coalesce(transient, 0)"
        )

    def kept_since(self, moment: str) -> tuple[int, int]:
        """Pages whose old copy has stayed since that moment or before: those that redirect, and the others."""
        query = f"""
            SELECT count(*) FILTER (WHERE refresh_reason = {Reason.MOVED_TEMPORARILY}),
              count(*) FILTER (WHERE refresh_reason != {Reason.MOVED_TEMPORARILY})
            FROM page JOIN url USING (id) WHERE status = {Status.SAVED} AND missing_path IS NULL AND at <= ?
        """
        redirected, others = self._db.execute(query, (moment,)).fetchone()
        return redirected, others

    def unread(self) -> int:
        """Saved pages whose links a crawl has yet to read."""
        return self._state.number(f"SELECT count(*) FROM url WHERE status = {Status.SAVED} AND seen = {UNREAD}")

    def has_unknown_links(self) -> bool:
        """Whether a page was restored without its links and could not be had since: nobody knows where it leads."""
        return bool(
            self._state.number(f"""
            SELECT EXISTS (SELECT 1 FROM page CROSS JOIN url USING (id)
              WHERE page.refresh_reason IS NOT NULL AND page.body IS NULL AND url.status = {Status.SAVED}
                AND url.kind = {PAGE} AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.src = url.id))
            """)
        )

    def pages(self) -> Iterator[dict[str, Any]]:
        """Pages on disk, by URL, each with its other names."""
        query = f"""
            SELECT url.url, page.path, page.wanted, page.size, page.fetched_at, page.title, page.sha256, url.lastmod,
                   page.etag, page.last_modified, page.content_type, page.canonical, url.alternates,
                   page.refresh_reason, page.refresh_detail, page.missing_path, page.html_path,
                   page.hidden_texts, page.changed_at, url.depth,
                   {_OTHER_NAMES if self._has_aliases else "'[]'"} AS aliases
            FROM url JOIN page ON page.id = url.id WHERE url.status = {Status.SAVED} ORDER BY url.url
        """
        rows = in_order(self._db, query)
        names = [name for name, *_ in rows.description]
        for row in rows:
            page = dict(zip(names, row, strict=True))
            page["error"] = text_of(page["refresh_reason"], page["refresh_detail"], page["missing_path"])
            yield page

    def contents(self) -> Callable[[int], Iterable[tuple[str, str, str | None]]]:
        """(url, path, title) of the pages, those of one folder together, from the n-th on."""
        return self._sorted(
            "contents",
            f"""
            SELECT url.url, page.path, page.title FROM url JOIN page ON page.id = url.id
            WHERE url.status = {Status.SAVED} ORDER BY {_BY_FOLDER}
            """,
        )

    def outline(self, run: int) -> Callable[[int], Iterable[tuple[str, str | None, str | None]]]:
        """(url, lastmod, priority) of all that a run listed in scope, those of one folder together."""
        return self._sorted(
            "outline",
            f"""
            SELECT url, lastmod, priority FROM url WHERE run = {int(run)} AND status != {Status.OUT_OF_SCOPE}
            ORDER BY {_BY_FOLDER}
            """,
        )

    def _sorted(self, name: str, query: str) -> Callable[[int], Iterable[Any]]:
        """Sorts once, on disk if there are many; the rows are then read in that order, from any of them on."""
        if self._state.number("SELECT coalesce(max(id), 0) FROM url") <= FEW:
            rows = in_order(self._db, query).fetchall()
            return lambda start: rows[start:]
        self._db.execute(f"DROP TABLE IF EXISTS temp.{name}")
        in_order(self._db, f"CREATE TEMP TABLE {name} AS {query}")
        return lambda start: self._db.execute(f"SELECT * FROM temp.{name} WHERE rowid > ? ORDER BY rowid", (start,))

    def failures(self) -> Iterator[tuple[Any, ...]]:
        """(url, reason, attempts, at, content_type, size, final_url, redirects, depth)."""
        return self._ended(Place.FAILURE)

    def _ended(self, *places: Place) -> Iterator[tuple[Any, ...]]:
        which = ", ".join(str(int(place)) for place in places)
        rows = in_order(self._db, f"{_ENDED} WHERE place IN ({which}) ORDER BY account.url")
        return ((url, text_of(reason, detail), *rest) for _, url, reason, detail, *rest, _ in rows)

    def failed_for_others(self, source: int) -> list[int]:
        """The other start URLs, by number, for which there are failures."""
        query = (
            f"SELECT DISTINCT source FROM url WHERE status = {Status.FAILED} AND source NOT IN (0, ?) ORDER BY source"
        )
        return [row[0] for row in self._db.execute(query, (source,))]

    def skips(self) -> Iterator[tuple[Any, ...]]:
        """(url, reason, attempts, at, content_type, size, final_url, redirects, depth)."""
        return self._ended(Place.SKIP, Place.EXCLUDED)

    def reasons(self) -> list[str]:
        """Why URLs have no page: the two reasons that most of them have.

        Who leaves out most of a site wants to know why nothing came of the rest, so what is out of scope counts only
        where there is nothing else.
        """
        query = """
            SELECT -count(*), reason, detail FROM url WHERE status IN ({}) AND reason IS NOT NULL
            GROUP BY reason, detail
        """
        for statuses in (f"{Status.FAILED}, {Status.SKIPPED}", f"{Status.OUT_OF_SCOPE}"):
            found = ((fewer, text_of(*cause) or "") for fewer, *cause in self._db.execute(query.format(statuses)))
            if most := nsmallest(2, found):
                return [text for _, text in most]
        return []

    def without_page(self) -> Iterator[tuple[Any, ...]]:
        """(id, url, has failed, reason, attempts, at, content_type, size, final_url) of what was asked for and gave no
        page, by the names that it is reported under."""
        asked = f"place IN ({Place.FAILURE}, {Place.SKIP}) OR place = {Place.EXCLUDED} AND account.id != end_id"
        for id, url, reason, detail, *rest, _, _, place in in_order(self._db, f"{_ENDED} WHERE {asked} ORDER BY 1"):
            yield id, url, place == Place.FAILURE, text_of(reason, detail) or "", *rest

    def gone(self) -> Iterator[tuple[str, str | None, str | None]]:
        """(url, path, since). A page's aliases are gone with it."""
        yield from in_order(
            self._db,
            f"""
            SELECT account.url, page.path, nullif(gone_since, '') FROM account LEFT JOIN page ON page.id = account.id
            WHERE place = {Place.GONE} ORDER BY 1
            """,
        )

    def gone_since(self, at: str) -> int:
        """How many of those went at that time or later."""
        return sum(since is not None and since >= at for _, _, since in self.gone())

    def not_reached(self) -> Iterator[str]:
        query = f"SELECT url FROM account WHERE place = {Place.NOT_REACHED} ORDER BY 1"
        for row in in_order(self._db, query):
            yield row[0]


_SAVED = f"url.status IN ({Status.SAVED}, {Status.GONE})"  # The file of a page that is gone stays.
# unless somebody deleted it
_IS_LEFT = f"""
NOT (url.status = {Status.GONE} AND page.refresh_reason IS {Reason.FILE_DELETED} AND page.refresh_detail IS page.path)
"""
_FILES = f"""
SELECT url.url, page.path AS file, page.size, page.sha256, page.fetched_at, page.etag, page.last_modified,
       page.content_type, page.http_status, page.headers, page.meta, url.kind
FROM page JOIN url USING (id) WHERE {_SAVED} AND {_IS_LEFT}
UNION ALL
SELECT url.url, page.html_path, coalesce(page.html_size, 0), page.html_sha256, page.fetched_at, page.etag,
       page.last_modified, page.content_type, page.http_status, page.headers, page.meta, url.kind
FROM page JOIN url USING (id) WHERE {_SAVED} AND html_path IS NOT NULL AND html_path != path
ORDER BY file
"""
_SIZES = f"""
SELECT page.path AS file, page.size FROM page JOIN url USING (id) WHERE {_SAVED} AND {_IS_LEFT}
UNION ALL
SELECT html_path, coalesce(html_size, 0) FROM page JOIN url USING (id)
WHERE {_SAVED} AND html_path IS NOT NULL AND html_path != path
ORDER BY file
"""

# An address that may not be talked to is a failure to the run, but to the index a cut like any other.
_REFUSED: Final = f"url.reason IS {Reason.ADDRESS_REFUSED}"
_FAILED: Final = f"url.status = {Status.FAILED} AND NOT {_REFUSED}"
_CUT: Final = (
    f"(url.status IN ({Status.OUT_OF_SCOPE}, {Status.SKIPPED}) OR (url.status = {Status.FAILED} AND {_REFUSED}))"
)

_NAMES: Final = "alias JOIN url AS name ON name.id = url_id JOIN url ON url.id = page_id"
_WAY: Final = """
' at ' || url.url || ', where ' || CASE hops WHEN 1 THEN 'a redirect leads' ELSE hops || ' redirects lead' END
"""


def _found_on(url: str) -> str:
    """Who led to a URL: a page that links to it, the sitemap that lists it, what redirects to it, or the start URL.

    A state knows the sitemaps of its last run only, and their numbers begin anew with each.
    """
    return f"""
coalesce(
  (SELECT source.url FROM edge JOIN url AS source ON source.id = edge.src WHERE edge.dst = {url}.id
   ORDER BY source.depth, source.url LIMIT 1),
  (SELECT sitemap.url FROM sitemap WHERE sitemap.id = {url}.sitemap AND sitemap.run = {url}.run),
  (SELECT source.url FROM url AS source WHERE source.id = {url}.found_on),
  (SELECT json_extract(value, '$[' || ({url}.source - 1) || ']') FROM meta WHERE name = 'sources' AND {url}.source > 0)
)
"""


def index_incoming(state: State) -> None:
    """Makes links quick to find by where they lead. While pages come in nobody asks, and it would cost at each link."""
    state.db.execute("CREATE INDEX IF NOT EXISTS edge_in ON edge (dst, src)")


class Graph:
    """The state as the mirror index tells it. Paths are relative to the output folder.

    The aliases have to be resolved.
    """

    def __init__(self, state: State) -> None:
        self._db = state.db
        index_incoming(state)

    def files(self) -> Iterator[tuple[Any, ...]]:
        """One row a file: whose URL it is, and what its answer said. Columns as in `_FILES`."""
        yield from in_order(self._db, _FILES)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """(path, size) of the same files."""
        return in_order(self._db, _SIZES)

    def urls(self) -> Iterator[tuple[Any, ...]]:
        """(id, url, path, kind, http_status, headers, not_modified, fetched_at, depth, final_url) of names of files."""
        yield from in_order(
            self._db,
            f"""
            SELECT url.id, url.url, coalesce(page.html_path, page.path), url.kind, page.http_status, page.headers,
                   page.not_modified, page.fetched_at, url.depth, url.url FROM page JOIN url USING (id) WHERE {_SAVED}
            UNION ALL
            SELECT name.id, name.url, coalesce(page.html_path, page.path), url.kind, page.http_status, page.headers,
                   page.not_modified, page.fetched_at, name.depth, url.url
            FROM {_NAMES} JOIN page ON page.id = page_id WHERE {_SAVED}
            ORDER BY 2
            """,
        )

    def hops(self, id: int) -> Iterator[str]:
        """The URLs on the way from a URL to its page, both included."""
        query = """
            WITH RECURSIVE hop (id, n) AS (
              SELECT :id, 0 UNION ALL SELECT leads_to, n + 1 FROM url JOIN hop USING (id)
              WHERE leads_to IS NOT NULL AND n < 30
            ) SELECT url FROM hop JOIN url USING (id) ORDER BY n
        """
        for row in self._db.execute(query, {"id": id}):
            yield row[0]

    def referers(self, id: int) -> list[str]:
        rows = self._db.execute(
            "SELECT DISTINCT url.url FROM edge JOIN url ON url.id = edge.src WHERE edge.dst = ? ORDER BY 1", (id,)
        )
        return [url for (url,) in rows]

    def out_edges(self) -> Iterator[tuple[str, str]]:
        return self._edges("s.url, d.url", "1, 2")

    def in_edges(self) -> Iterator[tuple[str, str]]:
        return self._edges("d.url, s.url", "1, 2")

    def typed_out_edges(self) -> Iterator[tuple[str, str, str]]:
        return self._edges("s.url, CASE attribute WHEN 1 THEN 'src' ELSE 'href' END, d.url", "1, 2, 3")

    def _edges(self, columns: str, order: str) -> Iterator[Any]:
        return in_order(
            self._db,
            f"SELECT {columns} FROM edge JOIN url AS s ON s.id = edge.src JOIN url AS d ON d.id = edge.dst"
            f" ORDER BY {order}",
        )

    def skipped(self) -> Iterator[tuple[str, str, Cause | None, str | None, str]]:
        """(at, url, cause, found on, way) of what was met and not fetched, and of what redirects to it.

        `way` is empty but for those: it says where they lead.
        """
        rows = in_order(
            self._db,
            f"""
            SELECT coalesce(url.at, ''), url.url, url.reason, url.detail, {_found_on("url")}, ''
            FROM url WHERE {_CUT}
            UNION ALL
            SELECT coalesce(url.at, ''), name.url, url.reason, url.detail, {_found_on("name")}, {_WAY}
            FROM {_NAMES} WHERE {_CUT}
            ORDER BY 2
            """,
        )
        for at, url, reason, detail, found_on, way in rows:
            yield at, url, cause_of(reason, detail), found_on, way

    def errors(self) -> Iterator[tuple[str, str, int | None, str]]:
        """(at, url, kind, reason) of what could not be had, of what redirects to it, and of copies that are old."""
        rows = in_order(
            self._db,
            f"""
            SELECT coalesce(at, ''), url, kind, '', reason, detail, NULL FROM url WHERE {_FAILED}
            UNION ALL
            SELECT coalesce(url.at, ''), name.url, coalesce(name.kind, url.kind), {_WAY}, url.reason, url.detail, NULL
            FROM {_NAMES} WHERE {_FAILED}
            UNION ALL
            SELECT coalesce(url.at, ''), url.url, url.kind, '', page.refresh_reason, page.refresh_detail,
                   page.missing_path
            FROM page JOIN url USING (id) WHERE url.status = {Status.SAVED} AND page.refresh_reason IS NOT NULL
            ORDER BY 2
            """,
        )
        for at, url, kind, way, *cause in rows:
            yield at, url, kind, (text_of(*cause) or "") + way


_TOLD: Final = (
    f"CASE status WHEN {Status.GONE} THEN NOT ({UNTOLD_ONCE_GONE}) ELSE run != 0 OR status = {Status.SAVED} END"
)


class NoGlance(Exception):
    """The state cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class HtmlFile:
    """A saved HTML page or an asset, as the state has it."""

    path: str  # from the output folder
    size: int | None
    sha256: str | None
    localized: bool  # its links lead to files
    has_twins: bool  # other pages were found to be the same


class ReadOnlyState:
    """An open state."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def urls(self) -> Iterator[tuple[bytes, str]]:
        """(key, url) of every URL that the manifest must name.

        What was met on the way of a redirect only is told under the name that led to it, unless it is a page.
        """
        yield from self._db.execute(f"SELECT key, url FROM url WHERE {_TOLD} ORDER BY url")

    def passed(self) -> Iterator[bytes]:
        """Keys of the others."""
        for row in self._db.execute(f"SELECT key FROM url WHERE NOT ({_TOLD})"):
            yield row[0]

    def html_files(self) -> Iterator[HtmlFile]:
        for path, size, digest, local_at, has_twins in self._db.execute(
            f"SELECT html_path, html_size, html_sha256, local_at,"
            f" id IN (SELECT leads_to FROM url WHERE status = {Status.DUPLICATE}) FROM page JOIN url USING (id)"
            f" WHERE status = {Status.SAVED} AND html_path IS NOT NULL"
        ):
            yield HtmlFile(path, size, digest, bool(local_at), bool(has_twins))


@contextmanager
def glance(path: Path) -> Iterator[ReadOnlyState]:
    """The state at `path`, which must have no write-ahead log beside it. Raises `NoGlance`."""
    try:
        # Immutable: SQLite would make files of its own beside the state otherwise.
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise NoGlance(str(error)) from error
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION and version not in UPGRADES:  # What is read here they have in common.
            raise NoGlance(f"made by another version of sitemirror (state version {version})")
        yield ReadOnlyState(db)
    except sqlite3.Error as error:
        raise NoGlance(str(error)) from error
    finally:
        db.close()
