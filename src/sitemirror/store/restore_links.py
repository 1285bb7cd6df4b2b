"""Puts links back into a state that lost them: depth, kind and headers of URLs, and who links to whom."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from uuid import uuid4

from sitemirror import urls
from sitemirror.store.database import RunInfo, State
from sitemirror.store.link_targets import HtmlLinkTargets
from sitemirror.store.reports import resolve_aliases
from sitemirror.store.schema import PAGE, Status
from sitemirror.store.tables import UrlState

_EARLIER: Final = 1
"""The run that everything restored belongs to. The next one finds out what is still linked."""


@dataclass(frozen=True, slots=True)
class Place:
    """A restored file that may hold links."""

    id: int
    url: str
    path: str
    depth: int
    headers: str | None
    content_type: str | None


class Knitter:
    """Adds to pages that are restored already. Does nothing twice that it has done before."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db

    def run(self, source_url: str, uuid: str) -> None:
        """Notes the run that published what is being restored."""
        run = RunInfo(_EARLIER, source_url, 1, "", "", "", uuid, discovered=True, finished=True)
        self._state.put("sources", [source_url])
        self._state.save_run(run)

    def file(self, url: str, *, path: str, size: int, sha256: str | None, meta: str | None) -> None:
        """Adds what the index says of one of a page's files. What the manifest says of the main one stands."""
        key = urls.key(url)
        self._db.execute(
            "UPDATE page SET html_size = :size, html_sha256 = coalesce(:sha256, sha256) "
            "WHERE html_path = :path AND id = (SELECT id FROM url WHERE key = :key)",
            {"size": size, "sha256": sha256, "path": path, "key": key},
        )
        self._db.execute("UPDATE page SET meta = ? WHERE id = (SELECT id FROM url WHERE key = ?)", (meta, key))

    def url(
        self,
        url: str,
        *,
        depth: int | None,
        kind: int,
        http_status: int | None,
        headers: str | None,
        not_modified: int,
    ) -> None:
        key = urls.key(url)
        self._db.execute(
            "UPDATE url SET depth = ?, kind = ?, reached_run = ?, named = 1, source = 1 WHERE key = ?",
            (depth, kind, _EARLIER, key),
        )
        self._db.execute(
            "UPDATE page SET http_status = ?, headers = ?, not_modified = ? "
            "WHERE id = (SELECT id FROM url WHERE key = ?)",
            (http_status, headers, not_modified, key),
        )

    def redirects(self, hops: list[str]) -> None:
        """Chains the URLs on the way to a page. The manifest knows only which page they all lead to."""
        self._db.executemany(
            f"UPDATE url SET leads_to = (SELECT id FROM url WHERE key = ?) WHERE key = ? AND status = {Status.REDIRECT}"
            " AND EXISTS (SELECT 1 FROM url WHERE key = ?)",
            ((urls.key(there), urls.key(here), urls.key(there)) for here, there in pairwise(hops)),
        )

    def edges(self, source: str, attribute: int, targets: list[str]) -> None:
        """Adds links. What is linked and not restored was not fetched yet, and is queued."""
        keyed = [(urls.key(target), target) for target in targets]
        self._db.executemany(
            "INSERT INTO url (key, url, state, reached_run, source, sitemap)"
            f" VALUES (?, ?, {UrlState.QUEUED}, {_EARLIER}, 1, 0)"
            " ON CONFLICT (key) DO UPDATE SET reached_run = excluded.reached_run, named = 1, source = excluded.source",
            keyed,
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO edge SELECT source.id, target.id, ? FROM url AS source, url AS target "
            "WHERE source.key = ? AND target.key = ?",
            ((attribute, urls.key(source), key) for key, _ in keyed),
        )

    def cut_at(self, url: str, at: str) -> None:
        """Notes when it was decided that a URL is not wanted."""
        self._db.execute(
            f"UPDATE url SET at = ? WHERE key = ? AND status IN ({Status.OUT_OF_SCOPE}, {Status.SKIPPED})",
            (at, urls.key(url)),
        )

    def kept_at(self, url: str, at: str) -> None:
        """Notes when it was found that a page cannot be brought up to date. The manifest says why, but not when."""
        self._db.execute(
            f"UPDATE url SET at = ? WHERE key = ? AND status = {Status.SAVED}"
            " AND EXISTS (SELECT 1 FROM page WHERE page.id = url.id AND refresh_reason IS NOT NULL)",
            (at, urls.key(url)),
        )

    def places(self) -> list[Place]:
        """Files with links, those nearest to the start page first."""
        rows = self._db.execute(
            f"""
            SELECT url.id, url.url, html_path, depth, headers, page.content_type FROM page JOIN url USING (id)
            WHERE html_path IS NOT NULL AND depth IS NOT NULL AND status = {Status.SAVED} ORDER BY depth, url.id
            """
        )
        return [Place(*row) for row in rows.fetchall()]

    def files(self) -> list[Place]:
        """Files with links, also where no link led to them."""
        rows = self._db.execute(
            "SELECT url.id, url.url, html_path, 0, headers, page.content_type FROM page JOIN url USING (id) "
            f"WHERE html_path IS NOT NULL AND status = {Status.SAVED} ORDER BY url.id"
        )
        return [Place(*row) for row in rows.fetchall()]

    def saved_at(self) -> dict[str, str]:
        """The URL of every file: of those that are gone as well, unless it is another's by now."""
        rows = self._db.execute(
            "SELECT coalesce(html_path, path), url FROM page JOIN url USING (id)"
            f" WHERE status IN ({Status.SAVED}, {Status.GONE}) ORDER BY status = {Status.SAVED}"
        )
        return dict(rows.fetchall())

    def edge(self, source: int, by_src: bool, target: str) -> None:
        """Adds a link to a URL, if that is restored."""
        self._db.execute(
            "INSERT OR IGNORE INTO edge SELECT ?, id, ? FROM url WHERE key = ?", (source, int(by_src), urls.key(target))
        )

    def targets(self, id: int) -> set[str]:
        """The URLs that a page links to."""
        rows = self._db.execute("SELECT url FROM url JOIN edge ON edge.dst = url.id WHERE edge.src = ?", (id,))
        return {row[0] for row in rows}

    def localised(self, id: int, at: str) -> None:
        self._db.execute("UPDATE page SET local_at = ? WHERE id = ?", (at, id))

    def deepen(self, url: str, depth: int, kind: int) -> None:
        """Notes a way to a URL that was not fetched: it is no deeper than that."""
        self._db.execute(
            f"UPDATE url SET depth = min(coalesce(depth, :depth), :depth), kind = coalesce(kind, :kind) "
            "WHERE key = :key"
            f" AND status NOT IN ({Status.SAVED}, {Status.REDIRECT}, {Status.DUPLICATE}, {Status.GONE})",
            {"depth": depth, "kind": kind, "key": urls.key(url)},
        )

    def belongs_to(self, source_url: str) -> None:
        """Counts everything restored as found from one start URL."""
        self.run(source_url, str(uuid4()))
        self._db.execute(
            f"UPDATE url SET reached_run = {_EARLIER}, named = 1, source = 1, kind = coalesce(kind, {PAGE})"
        )

    def do_without(self, source_url: str) -> None:
        """Restores a crawl whose links nobody knows any more, only how deep everything is.

        So what is saved need not be fetched again; but when it is asked for next, it is fetched whole: the server's
        word that a page is as it was would not tell what it links to.
        """
        self.belongs_to(source_url)
        self._db.execute("UPDATE page SET etag = NULL, last_modified = NULL")

    def fill_depths(self) -> None:
        """Gives URLs without a depth that of the nearest page that links to them, and one more."""
        self._db.execute(
            """
            UPDATE url SET depth = (SELECT min(source.depth) + 1 FROM edge JOIN url AS source ON source.id = edge.src
                                    WHERE edge.dst = url.id) WHERE depth IS NULL
            """
        )

    def settle_places(self) -> None:
        """Notes that files link to each other by the paths they have."""
        resolve_aliases(self._state)
        HtmlLinkTargets(self._state).settle()
