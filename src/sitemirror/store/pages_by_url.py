"""Where a URL's Markdown is, for links between the pages of a mirror."""

from __future__ import annotations

from collections.abc import Iterator

from sitemirror import urls
from sitemirror.store.schema import Row
from sitemirror.store.state import State


class PagesByUrl:
    """The saved Markdown. Made after paths are settled; needs the survey's table of resolved aliases."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db

    def pages(self) -> Iterator[tuple[int, str, str | None]]:
        """(id, path, sha256) of every page with links in it."""
        # Read whole: the rows are changed while they are gone through.
        yield from self._db.execute(
            f"""
            SELECT page.id, page.path, page.sha256 FROM page JOIN url USING (id)
            WHERE url.status = {Row.SAVED} AND page.path LIKE '%.md' AND page.content_type LIKE '%html%'
            ORDER BY page.id
            """
        ).fetchall()

    def path_of(self, url: str) -> str | None:
        """The file that a URL leads to, under any of its names."""
        row = self._db.execute(
            f"""
            SELECT page.path FROM url
            LEFT JOIN resolved ON resolved.id = url.id
            JOIN url AS final ON final.id = coalesce(resolved.final, url.id) AND final.status = {Row.SAVED}
            JOIN page ON page.id = final.id
            WHERE url.key = ? AND page.path LIKE '%.md'
            """,
            (urls.key(url),),
        ).fetchone()
        return None if row is None else str(row[0])

    def rewritten(self, changes: list[tuple[int, int, str]]) -> None:
        """(id, size, sha256) of files whose links were changed."""
        with self._state.transaction() as db:
            db.executemany(
                "UPDATE page SET size = ?, sha256 = ? WHERE id = ?",
                ((size, digest, id) for id, size, digest in changes),
            )
