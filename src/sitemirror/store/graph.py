"""Reads files, URLs and links for the mirror index, each sorted, none held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sitemirror.reasons import Cause, Reason, cause_of, text_of
from sitemirror.store.schema import Row, in_order
from sitemirror.store.state import State

_SAVED = f"url.status IN ({Row.SAVED}, {Row.GONE})"  # The file of a page that is gone stays.
# unless somebody deleted it
_IS_LEFT = f"""
NOT (url.status = {Row.GONE} AND page.refresh_reason IS {Reason.FILE_DELETED} AND page.refresh_detail IS page.path)
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
_FAILED: Final = f"url.status = {Row.FAILED} AND NOT {_REFUSED}"
_CUT: Final = f"(url.status IN ({Row.OUTSIDE}, {Row.SKIPPED}) OR (url.status = {Row.FAILED} AND {_REFUSED}))"

_NAMES: Final = "resolved JOIN url AS alias ON alias.id = resolved.id JOIN url ON url.id = final"
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

    Needs the survey's table of resolved aliases.
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
            SELECT alias.id, alias.url, coalesce(page.html_path, page.path), url.kind, page.http_status, page.headers,
                   page.not_modified, page.fetched_at, alias.depth, url.url
            FROM {_NAMES} JOIN page ON page.id = final WHERE {_SAVED}
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
            SELECT coalesce(url.at, ''), alias.url, url.reason, url.detail, {_found_on("alias")}, {_WAY}
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
            SELECT coalesce(url.at, ''), alias.url, coalesce(alias.kind, url.kind), {_WAY}, url.reason, url.detail, NULL
            FROM {_NAMES} WHERE {_FAILED}
            UNION ALL
            SELECT coalesce(url.at, ''), url.url, url.kind, '', page.refresh_reason, page.refresh_detail,
                   page.missing_path
            FROM page JOIN url USING (id) WHERE url.status = {Row.SAVED} AND page.refresh_reason IS NOT NULL
            ORDER BY 2
            """,
        )
        for at, url, kind, way, *cause in rows:
            yield at, url, kind, (text_of(*cause) or "") + way
