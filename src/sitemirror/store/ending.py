"""The end of a run: everything that depends on more than one URL, decided once, over all rows.

`decide_end` is for complete runs, in one transaction. It announces its file operations in the journal. An interrupted
run only resolves its aliases: while something is queued, one more answer could change the rest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sitemirror.reasons import Reason, text_of
from sitemirror.store.duplicates import Candidate, merges
from sitemirror.store.journal import announce_delete
from sitemirror.store.path_allocation import settle_paths
from sitemirror.store.tables import ASSET, MAX_ALIAS_HOPS, PASSES_LINKS, ChangeKind, Due, GoneCause, UrlState

MISSES: Final = 2
"""Consecutive updates with a 404 after which a page counts as gone."""

_DAY: Final = 86_400


class RunEnd(NamedTuple):
    """The facts about a complete run that its end depends on."""

    run: int
    start: int
    by_links: bool
    root: int | None  # the row of a crawl's start URL
    follows_requisites: bool  # a run by sitemaps that saves requisites
    finds_gone: bool  # it requested all URLs that it found named
    now: str
    reads_all: bool = True  # all sitemaps, or all links, were read


def decide_end(db: sqlite3.Connection, end: RunEnd, is_blocked: Callable[[str], bool] = lambda _: False) -> None:
    """Decide the final state of all URLs. Call it in one transaction; the journal is executed after it."""
    fail_loops(db, end)
    become_aliases(db, end)
    mark_not_found(db, end)
    reach(db, end)
    if end.reads_all and not (end.by_links and _has_unread_pages(db, end)):
        kind = "crawl_run" if end.by_links else "listing_run"
        db.execute(f"UPDATE start SET {kind} = ? WHERE id = ?", (end.run, end.start))
        if end.finds_gone:
            mark_gone(db, end)
    merge_duplicates(db, end)
    resolve_aliases(db)
    end_pending_moves(db)
    explain_copies(db)
    settle_paths(db, is_blocked)


# --- aliases -------------------------------------------------------------------------------------------------------

_CHAINS: Final = f"""
WITH RECURSIVE hop (id, at, n) AS (
  SELECT id, target_id, 1 FROM url WHERE target_id IS NOT NULL AND {{leads}}
  UNION ALL
  SELECT hop.id, url.target_id, n + 1 FROM hop JOIN url ON url.id = hop.at WHERE {{leads}} AND n < {MAX_ALIAS_HOPS}
)
SELECT hop.id, hop.at, hop.n FROM hop JOIN url ON url.id = hop.at WHERE NOT {{leads}}
"""
_IS_ALIAS: Final = f"(url.state = {UrlState.ALIAS})"
_IS_LEAVING: Final = f"({_IS_ALIAS} OR url.state = {UrlState.PAGE} AND url.reason IS {Reason.MOVED})"


def resolve_aliases(db: sqlite3.Connection) -> None:
    """Resolve each alias to the end of its chain. A loop has no end."""
    was_gone = db.execute("SELECT url_id FROM alias WHERE was_gone").fetchall()
    db.execute("DELETE FROM alias")
    db.execute(f"INSERT INTO alias (url_id, page_id, hops) {_CHAINS.format(leads=_IS_ALIAS)}")
    db.executemany("UPDATE alias SET was_gone = 1 WHERE url_id = ?", was_gone)


# Loops by way of copies of moved pages.
_CIRCLE: Final = f"""
WITH RECURSIVE hop (id, at, n) AS (
  SELECT id, target_id, 1 FROM url WHERE {_IS_ALIAS} AND named
  UNION ALL
  SELECT hop.id, url.target_id, n + 1 FROM hop JOIN url ON url.id = hop.at
  WHERE {_IS_LEAVING} AND hop.at != hop.id AND n < {MAX_ALIAS_HOPS}
)
SELECT id FROM hop WHERE at = id
"""


def fail_loops(db: sqlite3.Connection, end: RunEnd) -> None:
    """Turn named aliases without an end into failures. The URLs between them are not reported."""
    resolve_aliases(db)
    failed = db.execute(
        f"UPDATE url SET state = {UrlState.FAILED}, reason = {Reason.REDIRECT_LOOP}, detail = NULL, transient = 0,"
        f" since = ?, target_id = NULL, attempts = coalesce(attempts, 0) + 1"
        f" WHERE {_IS_ALIAS} AND named AND (id NOT IN (SELECT url_id FROM alias) OR id IN ({_CIRCLE}))",
        (end.now,),
    ).rowcount
    if failed:
        resolve_aliases(db)


def end_pending_moves(db: sqlite3.Connection) -> None:
    """Set the reason of copies of moved pages by the end of their chain: a loop, or a temporary redirect."""
    chains = _CHAINS.format(leads=_IS_LEAVING)
    moved = f"state = {UrlState.PAGE} AND reason = {Reason.MOVED}"
    ends = {
        id: (reason, detail)
        for id, reason, detail in db.execute(
            f"WITH chain (id, at, n) AS ({chains}) SELECT chain.id, url.reason, url.detail FROM chain"
            f" JOIN url ON url.id = chain.at JOIN url AS copy ON copy.id = chain.id WHERE copy.state = {UrlState.PAGE}"
        )
    }
    for (id,) in db.execute(f"SELECT id FROM url WHERE {moved}").fetchall():
        reason, detail = ends.get(id, (Reason.REDIRECT_LOOP, None))
        if reason in (Reason.REDIRECT_LOOP, Reason.MOVED_TEMPORARILY):
            db.execute("UPDATE url SET reason = ?, detail = ? WHERE id = ?", (int(reason), detail, id))


def explain_copies(db: sqlite3.Connection) -> None:
    """Set the result of the redirect's target as the detail of each copy of a moved page."""
    chains = _CHAINS.format(leads=_IS_LEAVING)
    rows = db.execute(
        f"WITH chain (id, at, n) AS ({chains}) SELECT chain.id, url.url, url.reason, url.detail FROM chain"
        " JOIN url ON url.id = chain.at JOIN url AS copy ON copy.id = chain.id"
        f" WHERE copy.state = {UrlState.PAGE}"
    ).fetchall()
    db.executemany(
        "UPDATE url SET detail = ? WHERE id = ?",
        ((f"{url}: {text_of(reason, detail) or ''}".removesuffix(": "), id) for id, url, reason, detail in rows),
    )


def become_aliases(db: sqlite3.Connection, end: RunEnd) -> None:
    """Turn moved pages into aliases if their chain ends at an up-to-date page. A loop of copies stays."""
    moved = db.execute(
        f"WITH chain (id, at, n) AS ({_CHAINS.format(leads=_IS_LEAVING)})"
        f" SELECT chain.id FROM chain JOIN url ON url.id = chain.at JOIN url AS copy ON copy.id = chain.id"
        f" WHERE url.state = {UrlState.PAGE} AND url.reason IS NULL AND copy.state = {UrlState.PAGE}"
        " ORDER BY copy.url"
    ).fetchall()
    for (id,) in moved:
        _drop_files(db, end, id, ChangeKind.MOVED)
        db.execute("DELETE FROM page WHERE url_id = ?", (id,))
        db.execute("DELETE FROM link WHERE src_id = ?", (id,))
        db.execute(
            f"UPDATE url SET state = {UrlState.ALIAS}, gone_since = NULL, gone_cause = NULL, misses = NULL"
            " WHERE id = ?",
            (id,),
        )
    if moved:
        resolve_aliases(db)


def _drop_files(db: sqlite3.Connection, end: RunEnd, id: int, event: ChangeKind) -> None:
    """Delete the files of a page that becomes an alias."""
    _add_event(db, end, event, "url.id = ?", (id,))
    for (path,) in db.execute("SELECT path FROM file WHERE url_id = ? ORDER BY path", (id,)).fetchall():
        announce_delete(db, path)
    db.execute("DELETE FROM file WHERE url_id = ?", (id,))


def _add_event(db: sqlite3.Connection, end: RunEnd, event: ChangeKind, where: str, values: Any) -> None:
    """Record a page's change, replacing this run's earlier event for it."""
    db.execute(
        "INSERT INTO change (run_id, url_id, kind, old_sha256, old_text_hash, old_path)"
        f" SELECT {end.run}, url.id, {int(event)}, file.sha256, page.text_hash, file.path"
        " FROM url LEFT JOIN page ON page.url_id = url.id"
        " LEFT JOIN file ON file.id = (SELECT id FROM file WHERE url_id = url.id ORDER BY kind LIMIT 1)"
        f" WHERE {where} ON CONFLICT DO UPDATE SET kind = excluded.kind",
        values,
    )


# --- gone ----------------------------------------------------------------------------------------------------------


def mark_not_found(db: sqlite3.Connection, end: RunEnd) -> None:
    """Mark pages as gone that answered 404 in two consecutive updates, at least a day apart."""
    which = (
        f"url.state = {UrlState.PAGE} AND url.misses >= {MISSES} AND url.gone_cause IS NOT {GoneCause.NOT_FOUND}"
        f" AND url.gone_cause IS NOT {GoneCause.REMOVED}"
        f" AND strftime('%s', :now) - strftime('%s', url.since) >= {_DAY}"
    )
    _add_event(db, end, ChangeKind.GONE, which, {"now": end.now})
    db.execute(
        f"UPDATE url SET gone_since = coalesce(gone_since, :now), gone_cause = {GoneCause.NOT_FOUND} WHERE {which}",
        {"now": end.now},
    )


def reach(db: sqlite3.Connection, end: RunEnd) -> None:
    """Mark the URLs that links reach, with their depth in a crawl. Redirects and requisites add none."""
    if not end.by_links and not end.follows_requisites:
        return
    db.execute("CREATE TEMP TABLE IF NOT EXISTS reached (id INTEGER PRIMARY KEY, depth INTEGER NOT NULL, step INTEGER)")
    db.execute("DELETE FROM temp.reached")
    if end.by_links:
        db.execute("INSERT INTO temp.reached SELECT id, 0, 0 FROM url WHERE id = ?", (end.root,))
    else:
        db.execute("INSERT INTO temp.reached SELECT id, 0, 0 FROM url WHERE listed_run = ?", (end.run,))
    links = f"link ON link.src_id = from_.id JOIN url AS to_ ON to_.id = link.dst_id WHERE {PASSES_LINKS}"
    source = "FROM temp.reached AS from_ JOIN url ON url.id = from_.id"
    needed = "link.requisite" if end.by_links else f"(link.requisite OR to_.state = {UrlState.EXCLUDED})"
    depth, step = 0, 0
    while True:
        values = {"depth": depth, "step": step, "next": step + 1}
        level = "from_.depth = :depth AND from_.step = :step"
        found = db.execute(
            f"INSERT OR IGNORE INTO temp.reached SELECT url.target_id, :depth, :next {source}"
            f" WHERE url.target_id IS NOT NULL AND {level}",
            values,
        ).rowcount
        found += db.execute(
            f"INSERT OR IGNORE INTO temp.reached SELECT to_.id, :depth, :next {source} JOIN {links}"
            f" AND {needed} AND {level}",
            values,
        ).rowcount
        step += 1
        if found:
            continue
        if not end.by_links:
            break
        found = db.execute(
            f"INSERT OR IGNORE INTO temp.reached SELECT to_.id, :depth + 1, :next {source} JOIN {links}"
            " AND from_.depth = :depth",
            {"depth": depth, "next": step},
        ).rowcount
        if not found:
            break
        depth += 1
    if end.by_links:
        db.execute("UPDATE url SET depth = found.depth FROM temp.reached AS found WHERE found.id = url.id")
    # URLs that only redirects lead to depend on them.
    db.execute(
        f"UPDATE url SET reached_run = :run WHERE (:by_links OR listed_run IS NOT :run) AND (id = :root OR id IN ("
        f" SELECT to_.id {source} JOIN {links} AND {needed if not end.by_links else '1'}))",
        {"run": end.run, "by_links": end.by_links, "root": end.root},
    )


def _has_unread_pages(db: sqlite3.Connection, end: RunEnd) -> bool:
    """True if links reach a page whose own links were never read: the URLs named there are unknown."""
    found = db.execute(
        f"SELECT 1 FROM url JOIN page ON page.url_id = url.id WHERE url.state = {UrlState.PAGE}"
        f" AND url.reached_run = ? AND page.links_known = 0 AND url.kind IS NOT {ASSET} LIMIT 1",
        (end.run,),
    ).fetchone()
    return found is not None


# By the last complete run of each kind for its start URL. Rows of another start URL are left to its own runs.
_IS_NAMED: Final = """
(url.start_id != :start AND url.named AND url.gone_since IS NULL
  OR url.start_id = :start AND (url.listed_run IS NOT NULL AND url.listed_run IS :listing
    OR url.reached_run IS NOT NULL AND (url.reached_run IS :listing OR url.reached_run IS :crawl)))
"""
_LED_TO: Final = f"""
INSERT INTO temp.led_to
WITH RECURSIVE way (id) AS (
  SELECT url.target_id FROM url WHERE url.target_id IS NOT NULL AND {_IS_NAMED}
  UNION SELECT url.target_id FROM way CROSS JOIN url USING (id) WHERE url.target_id IS NOT NULL
)
SELECT id FROM way
"""
# A page's aliases remain aliases, or become gone with it.
_NAMES_A_PAGE: Final = f"""
(url.state = {UrlState.ALIAS} AND EXISTS (SELECT 1 FROM alias JOIN url AS e ON e.id = alias.page_id
  WHERE alias.url_id = url.id AND e.state = {UrlState.PAGE}))
"""


def mark_gone(db: sqlite3.Connection, end: RunEnd) -> None:
    """Mark URLs as gone that the last complete run of each kind neither listed nor reached."""
    listing, crawl = db.execute("SELECT listing_run, crawl_run FROM start WHERE id = ?", (end.start,)).fetchone()
    values = {"now": end.now, "start": end.start, "listing": listing, "crawl": crawl}
    db.execute("CREATE TEMP TABLE IF NOT EXISTS led_to (id INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM temp.led_to")
    db.execute(_LED_TO, values)
    which = (
        f"url.start_id = :start AND url.gone_since IS NULL AND NOT {_IS_NAMED}"
        f" AND url.id NOT IN (SELECT id FROM temp.led_to) AND NOT {_NAMES_A_PAGE}"
    )
    if end.follows_requisites:  # A link that this run does not follow counts, whatever its listing gave.
        db.execute(
            f"UPDATE url SET state = {UrlState.EXCLUDED}, reason = {Reason.NOT_FOLLOWED}, detail = NULL,"
            f" transient = NULL, queue = {Due.NO}, reached_run = :run WHERE {which}"
            f" AND url.state IN ({UrlState.QUEUED}, {UrlState.FAILED}, {UrlState.SKIPPED})"
            " AND url.id IN (SELECT dst_id FROM link JOIN temp.reached ON reached.id = src_id)",
            values | {"run": end.run},
        )
    _add_event(db, end, ChangeKind.GONE, f"url.state = {UrlState.PAGE} AND {which}", values)
    db.execute(
        f"UPDATE url SET gone_since = :now, gone_cause = {GoneCause.UNNAMED}, queue = {Due.NO} WHERE {which}", values
    )
    # It exists because of a redirect to it, and has no date any more.
    db.execute(
        "UPDATE url SET named = 0, lastmod = NULL"
        f" WHERE start_id = :start AND named AND gone_since IS NULL AND NOT {_IS_NAMED}",
        values,
    )


# --- duplicates ----------------------------------------------------------------------------------------------------

_COMPARED: Final = f"""
url.gone_since IS NULL AND page.text_hash IS NOT NULL AND (url.state = {UrlState.PAGE} AND url.reason IS NULL
  OR url.state = {UrlState.ALIAS} AND url.reason = {Reason.DUPLICATE})
"""


def merge_duplicates(db: sqlite3.Connection, end: RunEnd) -> None:
    """Turn related pages with equal text into aliases of one of them."""
    texts = db.execute(
        f"SELECT text_hash FROM page JOIN url ON url.id = page.url_id WHERE {_COMPARED}"
        " GROUP BY text_hash HAVING count(*) > 1 ORDER BY min(url.url)"
    ).fetchall()
    for (text,) in texts:
        rows = db.execute(
            f"SELECT url.id, url.url, page.canonical, coalesce(file.path, ''), coalesce(file.published, 0),"
            f" url.state = {UrlState.ALIAS} FROM page JOIN url ON url.id = page.url_id LEFT JOIN file ON"
            " file.id = (SELECT id FROM file WHERE url_id = url.id ORDER BY kind LIMIT 1)"
            f" WHERE page.text_hash = ? AND {_COMPARED} ORDER BY url.url",
            (text,),
        ).fetchall()
        for merge in merges([Candidate(r[0], r[1], r[2], r[3], bool(r[4]), bool(r[5])) for r in rows]):
            if merge.winner.is_twin:
                continue  # Their page has a reason not to be merged: it could not be checked.
            for loser in merge.losers:
                if not loser.is_twin:
                    _drop_files(db, end, loser.id, ChangeKind.MOVED)
                db.execute(
                    f"UPDATE url SET state = {UrlState.ALIAS}, reason = {Reason.DUPLICATE}, detail = NULL,"
                    " transient = 0, since = CASE WHEN state = ? AND reason = ? THEN since ELSE ? END, target_id = ?"
                    " WHERE id = ?",
                    (UrlState.ALIAS, Reason.DUPLICATE, end.now, merge.winner.id, loser.id),
                )
