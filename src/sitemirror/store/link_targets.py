"""Where every URL is in the copy, and by which path saved files link to it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sitemirror import failpoint, urls
from sitemirror.store.database import CUT_OFF, State
from sitemirror.store.files import Tree
from sitemirror.store.placement import fold_key
from sitemirror.store.restore import RESCUED, TO_RECALL
from sitemirror.store.schema import PAGE, Status

BATCH: Final = 24
"""Files that are done before their rows are written. If a kill comes between, those and the ones under way have local
links that no row tells of; their hashes do."""

# Every URL that has a file, aliases under the file of the page they lead to. Somebody may have deleted the HTML of a
# page that is gone, and left its Markdown.
_HAS_FILE = (
    f"url.status = {Status.SAVED} OR (url.status = {Status.GONE} AND (html_path IS NOT NULL OR kind IS NOT {PAGE}))"
)
_PLACES = f"""
CREATE TEMP TABLE place AS
SELECT page.id AS id, coalesce(html_path, path) AS path FROM page JOIN url USING (id) WHERE {_HAS_FILE}
UNION ALL
SELECT alias.url_id, coalesce(html_path, path) FROM alias JOIN page ON page.id = page_id JOIN url ON url.id = page_id
WHERE {_HAS_FILE};
CREATE UNIQUE INDEX temp.place_id ON place (id);
"""

# As a pass that was cut off saw them: files that it came to link by these paths, and its rows cannot tell which.
_PLACES_THEN = """
CREATE TEMP TABLE place AS
SELECT url.id AS id, coalesce(linking.path, url.linked_as) AS path FROM url LEFT JOIN linking USING (id)
WHERE coalesce(linking.path, url.linked_as) != '';
CREATE UNIQUE INDEX temp.place_id ON place (id);
"""

# A pass under way: the paths it links by where those are new, and the files whose old local links it has changed.
_UNDER_WAY = """
CREATE TABLE IF NOT EXISTS linking (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS relinked (id INTEGER PRIMARY KEY);
"""
_NOTE: Final = "linking"

_PLACE = """
SELECT page.id, url.url, page.html_path, coalesce(page.html_size, 0), page.html_sha256, page.local_at, page.headers,
       page.content_type
FROM page JOIN url USING (id) WHERE html_path IS NOT NULL
"""


class Place(NamedTuple):
    """A saved file with links in it."""

    id: int
    url: str
    path: str
    size: int
    sha256: str | None
    local_at: str  # where its links were made local; empty while they are as received
    headers: str | None
    content_type: str | None

    @property
    def is_css(self) -> bool:
        return self.content_type == "text/css"


def is_unfinished(state: State) -> bool:
    """Whether a kill came while links were made local."""
    return bool(state.get(_NOTE, False))


class HtmlLinkTargets:
    """The copy as it is now, against the copy as its files link it. Made after paths are settled."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self._pending = 0
        self.goes_on = state.get(_NOTE, False)
        """Whether this is the pass that a kill cut off, which comes to its end before any path may change."""
        self.cut_off = bool(state.get(CUT_OFF))
        self._db.execute("DROP TABLE IF EXISTS temp.place")
        self._db.executescript(_UNDER_WAY)
        self._db.executescript(_PLACES_THEN if self.goes_on else _PLACES)

    def leave_new(self) -> None:
        """Of what no file links to by its path, none does so after this either."""
        self._db.execute("DELETE FROM temp.place WHERE id IN (SELECT id FROM url WHERE linked_as = '')")

    def has_moved(self) -> bool:
        """Whether anything stands elsewhere than files link to it by, or than its links were made local. To ask for
        `outdated` takes long where there are many links."""
        return (
            self._db.execute(
                "SELECT 1 FROM url LEFT JOIN place USING (id) WHERE linked_as != coalesce(place.path, '')"
                " UNION ALL SELECT 1 FROM page WHERE local_at NOT IN ('', coalesce(html_path, '')) LIMIT 1"
            ).fetchone()
            is not None
        )

    def begin(self) -> None:
        """Notes by which paths files are about to link to each other, so that a kill leaves no doubt about it."""
        if self.goes_on:
            return
        with self._state.transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO linking SELECT url.id, coalesce(place.path, '') FROM url"
                " LEFT JOIN place USING (id) WHERE linked_as != coalesce(place.path, '')"
            )
            self._state.put(_NOTE, True)

    @contextmanager
    def batches(self) -> Iterator[None]:
        """What is done within is written in batches; the last when it ends."""
        try:
            yield
        finally:
            self._commit()

    def received(self) -> Iterator[Place]:
        """Files whose links are as the site wrote them, a few at a time: their rows change meanwhile."""
        last = 0
        condition = f"AND url.status = {Status.SAVED} AND local_at = '' AND page.id > ? ORDER BY page.id LIMIT 256"
        while found := list(self._places(condition, last)):
            yield from found
            last = found[-1].id

    def outdated(self) -> Iterator[Place]:
        """Files that stand elsewhere now, or that link to something which does; also of pages that are gone, since who
        comes back may do so unread."""
        return self._places(
            f"""AND url.status IN ({Status.SAVED}, {Status.GONE}) AND local_at != ''
               AND page.id NOT IN (SELECT id FROM relinked) AND (local_at != html_path OR page.id IN (
                 SELECT edge.src FROM edge JOIN url AS dst ON dst.id = edge.dst LEFT JOIN place ON place.id = dst.id
                 WHERE dst.linked_as != coalesce(place.path, ''))) ORDER BY page.id"""
        )

    def _places(self, condition: str, *values: object) -> Iterator[Place]:
        # Read whole: the rows are changed while they are gone through.
        for row in self._db.execute(f"{_PLACE} {condition}", values).fetchall():
            yield Place(*row)

    def links(self, src: int) -> list[tuple[str, str, str]]:
        """(url, path that files link it by, path it has now) of what a file links to."""
        return self._db.execute(
            """
            SELECT DISTINCT dst.url, dst.linked_as, coalesce(place.path, '') FROM edge
            JOIN url AS dst ON dst.id = edge.dst LEFT JOIN place ON place.id = dst.id WHERE edge.src = ?
            """,
            (src,),
        ).fetchall()

    def targets(self, sources: Sequence[int]) -> dict[int, dict[str, str]]:
        """For each of these files the path of everything that it links to and that has one, by its URL."""
        query = f"""
            SELECT edge.src, dst.url, place.path FROM edge
            JOIN place ON place.id = edge.dst JOIN url AS dst ON dst.id = edge.dst
            WHERE edge.src IN ({", ".join("?" * len(sources))})
        """
        found: dict[int, dict[str, str]] = {src: {} for src in sources}
        for src, url, path in self._db.execute(query, sources).fetchall():
            found[src][url] = path
        return found

    def done(self, place: Place, *, size: int, sha256: str) -> None:
        """Records a file whose links lead where things are now."""
        self._state.begin()
        if place.local_at:
            self._db.execute("INSERT OR IGNORE INTO relinked VALUES (?)", (place.id,))
        self._db.execute(
            "UPDATE page SET local_at = html_path, html_size = :size, html_sha256 = :sha, durable = 0, "
            "size = CASE WHEN path = html_path THEN :size ELSE size END, "
            "sha256 = CASE WHEN path = html_path THEN :sha ELSE sha256 END WHERE id = :id",
            {"size": size, "sha": sha256, "id": place.id},
        )
        self._pending += 1
        if self._pending >= BATCH:
            self._commit()

    def _commit(self) -> None:
        self._pending = 0
        failpoint.reached("links-rewritten")
        self._state.commit()
        failpoint.reached("links-committed")

    def settle(self) -> None:
        """Notes that all files link to everything by the path it has now."""
        with self._state.transaction() as db:
            db.execute(
                "UPDATE url SET linked_as = coalesce((SELECT path FROM place WHERE place.id = url.id), '') "
                "WHERE linked_as != coalesce((SELECT path FROM place WHERE place.id = url.id), '')"
            )
            db.execute("DELETE FROM linking")
            db.execute("DELETE FROM relinked")
            db.execute("DELETE FROM meta WHERE name = ?", (_NOTE,))


_AT_ONCE: Final = 256
_RELINKING: Final = "relinking"


class LinkedPage(NamedTuple):
    """A page whose links may lead to files."""

    id: int
    path: str
    sha256: str | None
    linked: str | None  # the hash of the file as it was when its links were made local
    links: bytes  # what those links were


class Relinked(NamedTuple):
    """What became of one."""

    id: int
    size: int
    sha256: str
    links: bytes
    is_vague: bool  # what its links were is not known of all of them: when it is fetched again, it is written again


class MarkdownLinkTargets:
    """The saved Markdown. Made after paths are settled and aliases resolved."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self.cut_off = bool(state.get(CUT_OFF))

    def has_local_links(self) -> bool:
        """Whether links lead to files of which it is known where they led on the site."""
        query = f"""
            SELECT 1 FROM local_link JOIN url USING (id) JOIN page USING (id)
            WHERE links != x'' AND url.status = {Status.SAVED} LIMIT 1
        """
        return self._db.execute(query).fetchone() is not None

    def pages(self) -> Iterator[LinkedPage]:
        """Every page with links in it, a few at a time: the rows are changed while they are gone through."""
        last = 0
        while rows := self._db.execute(
            f"""
            SELECT page.id, page.path, page.sha256, local_link.sha256, coalesce(local_link.links, x'')
            FROM page JOIN url USING (id) LEFT JOIN local_link USING (id)
            WHERE url.status = {Status.SAVED} AND page.path LIKE '%.md' AND page.content_type LIKE '%html%'
              AND page.id > ?
            ORDER BY page.id LIMIT {_AT_ONCE}
            """,
            (last,),
        ).fetchall():
            for row in rows:
                yield LinkedPage(*row)
            last = rows[-1][0]

    def url_at(self, path: str) -> str | None:
        """The URL of the page whose file is there."""
        row = self._db.execute(
            f"""
            SELECT url FROM page JOIN url USING (id)
            WHERE ((page.fold = ? AND path = ?) OR (path = ? AND path != wanted))
              AND url.status IN ({Status.SAVED}, {Status.GONE})
            """,
            (fold_key(path), path, path),
        ).fetchone()
        return None if row is None else str(row[0])

    def all_recalled(self) -> None:
        """Notes that it is known again what links between files were."""
        self._db.execute("DELETE FROM meta WHERE name = ?", (TO_RECALL,))

    def find(self, url: str) -> tuple[str, int, int] | None:
        """The file that a URL leads to under any of its names, the id of its page, and the id of the URL itself."""
        found: tuple[str, int, int] | None = self._db.execute(
            f"""
            SELECT page.path, page.id, url.id FROM url
            LEFT JOIN alias ON alias.url_id = url.id
            JOIN url AS final ON final.id = coalesce(alias.page_id, url.id)
              AND final.status IN ({Status.SAVED}, {Status.GONE})
            JOIN page ON page.id = final.id
            WHERE url.key = ? AND page.path LIKE '%.md'
            """,
            (urls.key(url),),
        ).fetchone()
        return found

    def anchors(self, id: int) -> str:
        """Which headings the ids of a page lead to, packed; empty if that is not known."""
        row = self._db.execute("SELECT anchors FROM page WHERE id = ?", (id,)).fetchone()
        return "" if row is None or row[0] is None else str(row[0])

    def to_relink(self, changes: Sequence[Relinked]) -> None:
        """Notes files whose links are about to be made local: after a kill, the next run looks which have been."""
        with self._state.transaction() as db:
            note = [[id, size, sha, b64encode(links).decode(), vague] for id, size, sha, links, vague in changes]
            self._state.put(_RELINKING, note)
            db.executemany("UPDATE page SET durable = 0 WHERE id = ?", ((page.id,) for page in changes))

    def finish_relinking(self, tree: Tree) -> None:
        """Writes down what a run that was killed has done."""
        note: list[Any] | None = self._state.get(_RELINKING)
        if note is not None:
            announced = [Relinked(id, size, sha, b64decode(links), vague) for id, size, sha, links, vague in note]
            self.relinked([each for each in announced if self._is_written(tree, each)])

    def _is_written(self, tree: Tree, change: Relinked) -> bool:
        row = self._db.execute("SELECT path FROM page WHERE id = ?", (change.id,)).fetchone()
        return row is not None and tree.exists(row[0]) and sha256(tree.read(row[0])).hexdigest() == change.sha256

    def relinked(self, changes: Sequence[Relinked]) -> None:
        """Records files whose links were made local."""
        with self._state.transaction() as db:
            db.execute("DELETE FROM meta WHERE name = ?", (_RELINKING,))
            db.executemany(
                "UPDATE page SET size = ?, sha256 = ? WHERE id = ?",
                ((page.size, page.sha256, page.id) for page in changes),
            )
            db.executemany(
                f"UPDATE page SET received = NULL WHERE id = ? AND received != '{RESCUED}'",
                ((page.id,) for page in changes if page.is_vague),
            )
            db.executemany(
                "INSERT OR REPLACE INTO local_link VALUES (?, ?, ?)",
                ((page.id, page.sha256, page.links) for page in changes),
            )
