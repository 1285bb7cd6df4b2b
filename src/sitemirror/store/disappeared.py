"""Pages whose files are no longer there: another page has taken their place, or somebody deleted or emptied them.

A page that is saved is fetched again then. One that no sitemap or link names any more only loses its row: if it is
named again, it counts as saved if its row says where its file is.
"""

from __future__ import annotations

import sqlite3
import sys
from hashlib import sha256
from typing import Final

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.store.database import RunInfo, State
from sitemirror.store.files import Tree
from sitemirror.store.schema import ASSET, OUT_FOR_NOW, Status
from sitemirror.store.tables import UrlState

# Of the few rows in question: a list of all that is gone would be made anew for every page that is saved.
_REPLACED: Final = f"""
DELETE FROM page WHERE fold = ? AND path = ?
    AND EXISTS (SELECT 1 FROM url WHERE url.id = page.id AND url.status = {Status.GONE})
RETURNING id
"""
# URLs first: their rows are short, and few are gone.
_GONE: Final = f"""
SELECT page.id, page.path, coalesce(page.html_path, page.path) FROM url CROSS JOIN page ON page.id = url.id
WHERE url.status = {Status.GONE}
"""

# Pages first: of a million URLs few may be saved. What only `_processed.txt` names is done by its word, file or not.
_SAVED: Final = f"""
SELECT page.id, page.path, page.size, page.html_path, page.html_size, page.refresh_reason
FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Status.SAVED} AND page.fetched_at != ''
"""


def forget_replaced(db: sqlite3.Connection, path: str, fold: bytes) -> bool:
    """Deletes the row of a gone page whose file becomes another page's; True if there was one.

    A site that drops `.html` from its URLs has all its pages so.
    """
    replaced = db.execute(_REPLACED, (bytearray(fold), path)).fetchall()
    db.executemany(f"UPDATE url SET state = {UrlState.QUEUED} WHERE id = ?", replaced)
    return bool(replaced)


def forget_deleted(state: State, tree: Tree) -> None:
    """Deletes the rows of gone pages whose files people deleted. What is left of one that has two is still its own."""
    missing: list[int] = []
    halves: list[tuple[Reason, str, int]] = []
    without_html: list[int] = []
    for id, path, html_path in state.db.execute(_GONE):
        has_path, has_html = tree.exists(path), tree.exists(html_path)
        if not has_path and not has_html:
            missing.append(id)
        elif not has_path or not has_html:
            halves.append((Reason.FILE_DELETED, html_path if has_path else path, id))
            without_html += [id] if has_path else []
    if missing or halves:
        with state.transaction() as db:
            db.executemany("DELETE FROM page WHERE id = ?", ((id,) for id in missing))
            db.executemany(f"UPDATE url SET state = {UrlState.QUEUED} WHERE id = ?", ((id,) for id in missing))
            db.executemany("DELETE FROM edge WHERE src = ?", ((id,) for id in missing))
            db.executemany(  # in case the page comes back
                "UPDATE page SET refresh_reason = ?, refresh_detail = ?, missing_path = NULL WHERE id = ?", halves
            )
            db.executemany(
                "UPDATE page SET html_path = NULL, html_size = NULL, html_sha256 = NULL, local_at = '' WHERE id = ?",
                ((id,) for id in without_html),
            )


def deleted(state: State, tree: Tree) -> tuple[list[int], list[int]]:
    """The ids of pages and other files of which nothing is left, and of those that have lost one of their two files."""
    lost: list[int] = []
    halves: list[int] = []
    for id, path, size, html_path, html_size, reason in state.db.execute(_SAVED):
        files = {path: size, html_path or path: html_size or size}
        missing = [not _is_there(tree, name, least=min(size, 1)) for name, size in files.items()]
        if all(missing):
            lost.append(id)
        elif any(missing) or reason == Reason.FILE_DELETED:  # while the page was gone
            halves.append(id)
    return lost, halves


def _is_there(tree: Tree, path: str, *, least: int) -> bool:
    """Whether a file is. What is left of one that was emptied goes, should its page not be to be had again."""
    found = tree.file_size(path)
    if found is not None and found < least:
        tree.remove(path)
        return False
    return found is not None


UNSURE_SINCE: Final = "unsure_since"
"""The number of the first run that was killed since the last that came to its end, and when it began."""

# What that run, or a later one, has looked at is written down.
_OLDER: Final = f"""
SELECT page.id, path, sha256, html_path, html_sha256 FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Status.SAVED} AND url.seen < ? AND page.fetched_at != ''
"""
_COARSE: Final = 2.0  # seconds: FAT tells the time of a file no better


def replaced(state: State, tree: Tree, run: int, began: float) -> list[int]:
    """The ids of pages of which a file was written after that run began, and is not what its row says."""
    found: list[int] = []
    for id, path, digest, html_path, html_digest in state.db.execute(_OLDER, (run,)):
        files = [(path, digest)] if html_path in (None, path) else [(path, digest), (html_path, html_digest)]
        if any(_is_another(tree, *file, began - _COARSE) for file in files):
            found.append(id)
    return found


def _is_another(tree: Tree, path: str, digest: str | None, since: float) -> bool:
    written = tree.mtime_seen(path)
    if digest is None or written is None or written < since or not tree.exists(path):
        return False
    return sha256(tree.read(path)).hexdigest() != digest


# By the last complete run of each kind, or for another start URL, which this one has no say in. A crawl that does not
# renew reads only what is new: whatever links reached since the last that read all is there. To a crawl, the links that
# a run by sitemaps met count only for the files that pages need: it follows no others.
_NAMED: Final = f"""
(url.named AND (url.source != :source OR coalesce(url.listed_run, -1) = :listing
  OR coalesce(url.reached_run, -1) >= :crawl
  OR coalesce(url.reached_run, -1) = :listing AND (url.kind IS {ASSET} OR NOT :by_links)))
"""

_LEAD_ON: Final = "UNION SELECT url.leads_to FROM way CROSS JOIN url USING (id) WHERE url.leads_to IS NOT NULL"

# A copy that stays, as the site has not given up its page, tells itself why. Where it leads counts only as a page.
_COPIES: Final = f"""
SELECT DISTINCT page.refresh_detail FROM page CROSS JOIN url USING (id)
WHERE page.refresh_reason = {Reason.MOVED_TEMPORARILY} AND url.status = {Status.SAVED}
"""
_END: Final = f"""
INSERT OR IGNORE INTO temp.end_for_now
WITH RECURSIVE way (id) AS (SELECT id FROM url WHERE key = ? {_LEAD_ON})
SELECT ?, id FROM way CROSS JOIN url USING (id) CROSS JOIN page USING (id)
WHERE url.status IN ({Status.SAVED}, {Status.GONE})
"""

_LED_TO: Final = f"""
INSERT INTO temp.led_to
WITH RECURSIVE way (id) AS (
  SELECT leads_to FROM url WHERE leads_to IS NOT NULL AND {_NAMED}
  UNION SELECT dst FROM temp.for_now CROSS JOIN url ON url.id = src WHERE {_NAMED}
  {_LEAD_ON}
  UNION SELECT dst FROM way CROSS JOIN temp.for_now ON src = way.id
)
SELECT id FROM way
"""

# Other names of a page stay its names, or are gone with it.
_NAMES_A_PAGE: Final = f"""
status = {Status.REDIRECT} AND EXISTS (
  WITH RECURSIVE way (id) AS (
    SELECT url.leads_to
    UNION SELECT next.leads_to FROM way CROSS JOIN url AS next USING (id) WHERE next.leads_to IS NOT NULL)
  SELECT 1 FROM way CROSS JOIN page USING (id))
"""
_MARK_GONE: Final = f"""
UPDATE url SET gone_since = :at, leads_to = NULL,
  state = CASE state WHEN {UrlState.ALIAS} THEN {UrlState.QUEUED} ELSE state END
WHERE NOT {_NAMED} AND status NOT IN ({Status.GONE}, {Status.DUPLICATE})
  AND id NOT IN temp.led_to AND NOT ({_NAMES_A_PAGE})
"""

_ANY_UNNAMED: Final = f"SELECT 1 FROM url WHERE status != {Status.GONE} AND NOT {_NAMED} LIMIT 1"

# It is there because something leads to it, and nobody gives a date for it any more.
_UNLISTED: Final = f"UPDATE url SET named = 0, lastmod = NULL WHERE named AND status != {Status.GONE} AND NOT {_NAMED}"


# What the start page links to or leads to, over any number of steps, by way of what is there.
_UNREACHED: Final = f"""
WITH RECURSIVE way (id) AS (
  SELECT id FROM url WHERE key = :start
  UNION SELECT edge.dst FROM way CROSS JOIN url USING (id) CROSS JOIN edge ON edge.src = way.id
  WHERE url.status IN ({Status.SAVED}, {Status.DUPLICATE}) OR {OUT_FOR_NOW}
  {_LEAD_ON}
  UNION SELECT dst FROM way CROSS JOIN temp.for_now ON src = way.id
)
UPDATE url SET reached_run = NULL WHERE reached_run = :run AND id NOT IN (SELECT id FROM way)
"""


def drop_unreached(state: State, run: RunInfo) -> None:
    """Lets go of what a crawl has met only on pages that turned out to be gone when their turn had passed."""
    with state.transaction() as db:
        note_for_now(db)
        db.execute(_UNREACHED, {"start": urls.key(run.source_url), "run": run.number})


def note_for_now(db: sqlite3.Connection) -> None:
    """Fills `temp.for_now`: which copies stay, and to which pages they lead meanwhile."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS end_for_now (location TEXT PRIMARY KEY, id INTEGER NOT NULL)")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS for_now (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL)")
    db.execute("DELETE FROM temp.end_for_now")
    db.execute("DELETE FROM temp.for_now")
    # Once each: all of a site may lead to where it says that it will be back.
    db.executemany(_END, ((urls.key(location), location) for (location,) in db.execute(_COPIES)))
    db.execute(
        "INSERT INTO temp.for_now SELECT page.id, temp.end_for_now.id FROM page CROSS JOIN url USING (id)"
        " CROSS JOIN temp.end_for_now ON location = page.refresh_detail"
        f" WHERE page.refresh_reason = {Reason.MOVED_TEMPORARILY} AND url.status = {Status.SAVED}"
    )


_COMPLETE: Final = "complete_runs"
_NEVER: Final = sys.maxsize


def _follows_links(run: RunInfo) -> bool:
    return run.mode.startswith("links")


def complete_runs(state: State, run: RunInfo) -> tuple[int, int]:
    """The last runs for this start URL that read all its sitemaps, and all its links; numbers of no run if none did."""
    listing, crawl = state.get(_COMPLETE, {}).get(str(run.source), (0, _NEVER))
    return listing, crawl


def note_complete(state: State, run: RunInfo, *, renews: bool) -> None:
    """Notes that a run has read all that names URLs: what is gone is judged by it from now on."""
    listing, crawl = complete_runs(state, run)
    if not _follows_links(run):
        listing = run.number
    elif renews:
        crawl = run.number
    elif crawl == _NEVER:
        crawl = 1  # Several runs may have come to it.
    state.put(_COMPLETE, state.get(_COMPLETE, {}) | {str(run.source): (listing, crawl)})


def let_go(state: State, run: RunInfo, at: str) -> int:
    """Marks as gone what nobody names or leads to any more; files stay. Gives the number of those that were not yet."""
    listing, crawl = complete_runs(state, run)
    by_links = _follows_links(run)
    values = {
        "source": run.source,
        "at": at,
        "by_links": by_links,
        "listing": listing if by_links else run.number,
        "crawl": run.number if by_links else crawl,
    }
    if state.db.execute(_ANY_UNNAMED, values).fetchone() is None:
        return 0
    with state.transaction() as db:
        note_for_now(db)
        db.execute("CREATE TEMP TABLE IF NOT EXISTS led_to (id INTEGER PRIMARY KEY)")
        db.execute("DELETE FROM temp.led_to")
        db.execute(_LED_TO, values)
        gone = db.execute(_MARK_GONE, values).rowcount
        db.execute(_UNLISTED, values)
    return gone
