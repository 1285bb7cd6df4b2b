"""Which URLs a run visits, as a column: filled when it begins, by what names URLs while it goes on.

Policy becomes data once, in `fill_queue`. From then on a URL is due if its row says so, and a kill forgets nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sitemirror import urls
from sitemirror.store.tables import PASSES_LINKS, Due, GoneCause, UrlState


class RunRules(NamedTuple):
    """What the queue has to know of a run."""

    run: int
    start: int
    by_links: bool  # a crawl; else a run by sitemaps
    renews: bool  # --update, --re-download-all


_UNNAMED: Final = f"(gone_cause IS NULL OR gone_cause = {GoneCause.UNNAMED})"

# Named again: the URL is due if it is new, failed, or was gone, and in a run that renews in any case; but once a run.
# Only an answer brings back what the site said was not there.
_NAMED_AGAIN: Final = f"""
  queue = CASE
    WHEN queue != {Due.NO} OR checked_run IS :run THEN queue
    WHEN :renews OR gone_since IS NOT NULL OR state IN ({UrlState.QUEUED}, {UrlState.FAILED}, {UrlState.EXCLUDED})
      THEN {Due.NOW}
    ELSE queue END,
  state = CASE WHEN state = {UrlState.EXCLUDED} AND checked_run IS NOT :run THEN {UrlState.QUEUED} ELSE state END,
  gone_since = CASE WHEN {_UNNAMED} THEN NULL ELSE gone_since END,
  gone_cause = CASE WHEN {_UNNAMED} THEN NULL ELSE gone_cause END
"""

_LISTED: Final = f"""
INSERT INTO url (key, url, state, queue, start_id, named, listed_run, lastmod)
VALUES (:key, :url, {UrlState.QUEUED}, {Due.NOW}, :start, 1, :run, :lastmod)
ON CONFLICT (key) DO UPDATE SET listed_run = :run, start_id = :start, named = 1, lastmod = :lastmod, {_NAMED_AGAIN}
RETURNING id
"""

_LINKED: Final = f"""
INSERT INTO url (key, url, state, queue, start_id, named, depth, found_on_id)
VALUES (:key, :url, {UrlState.QUEUED}, {Due.NOW}, :start, 1, :depth, :source)
ON CONFLICT (key) DO UPDATE SET start_id = :start, named = 1,
  depth = min(coalesce(depth, :depth), :depth), found_on_id = coalesce(found_on_id, :source), {_NAMED_AGAIN}
RETURNING id
"""

# What only redirects lead to stays unnamed. An alias is asked where it leads now: nobody else does.
_REDIRECTED: Final = f"""
INSERT INTO url (key, url, state, queue, start_id, named, depth, found_on_id)
VALUES (:key, :url, {UrlState.QUEUED}, {Due.NOW}, :start, 0, :depth, :source)
ON CONFLICT (key) DO UPDATE SET depth = min(coalesce(depth, :depth), coalesce(:depth, depth)), {
    _NAMED_AGAIN.replace("WHEN :renews OR", f"WHEN :renews OR state = {UrlState.ALIAS} OR")
}
RETURNING id
"""


def list_url(db: sqlite3.Connection, rules: RunRules, url: str, lastmod: str | None = None) -> int:
    """A sitemap of this run lists the URL."""
    return _name(db, rules, _LISTED, url, {"lastmod": lastmod})


def link_url(db: sqlite3.Connection, rules: RunRules, url: str, depth: int, source: int | None) -> int:
    """A page, or the user, names the URL."""
    return _name(db, rules, _LINKED, url, {"depth": depth, "source": source})


def redirect_to(db: sqlite3.Connection, rules: RunRules, url: str, depth: int | None, source: int) -> int:
    """A redirect leads to the URL."""
    return _name(db, rules, _REDIRECTED, url, {"depth": depth, "source": source})


def _name(db: sqlite3.Connection, rules: RunRules, statement: str, url: str, more: dict[str, Any]) -> int:
    values = {"key": urls.key(url), "url": url, "start": rules.start, "run": rules.run, "renews": rules.renews}
    found = db.execute(statement, values | more).fetchall()  # All of it: a statement that is half read stays open.
    return int(found[0][0])


def name_links_of(db: sqlite3.Connection, rules: RunRules, page: int) -> None:
    """Names again what a page links to whose links were not read anew: some of it may have been gone meanwhile."""
    follows = "1" if rules.by_links else f"(link.requisite OR url.state = {UrlState.EXCLUDED})"
    db.execute(
        f"UPDATE url SET {_NAMED_AGAIN} WHERE gone_since IS NOT NULL AND id IN (SELECT dst_id FROM link"
        f" JOIN url AS source ON source.id = src_id WHERE src_id = :page AND {follows}"
        f" AND {PASSES_LINKS.replace('url.', 'source.')})",
        {"page": page, "run": rules.run, "renews": rules.renews},
    )


def check_page(db: sqlite3.Connection, rules: RunRules, page: int) -> None:
    """Queues the page of a duplicate that was asked for, if the run renews: nobody else may name it."""
    values = {"page": page, "run": rules.run, "renews": rules.renews}
    db.execute(f"UPDATE url SET {_NAMED_AGAIN} WHERE id = :page", values)


# An alias without a page is asked for by its own name: a site under repair sends every page to the same error.
_OPEN_END: Final = f"""
url.id IN (SELECT alias.url_id FROM alias JOIN url AS e ON e.id = alias.page_id
           WHERE e.state IN ({UrlState.QUEUED}, {UrlState.FAILED}))
"""
_PENDING: Final = f"EXISTS (SELECT 1 FROM url AS copy WHERE copy.target_id = url.id AND copy.state = {UrlState.PAGE})"


def fill_queue(db: sqlite3.Connection, rules: RunRules) -> None:
    """Queues what a new run has to visit, apart from what its sitemaps will list. The aliases have to be resolved."""
    db.execute("UPDATE url SET queue = 0 WHERE queue != 0")
    unsettled = f"state IN ({UrlState.QUEUED}, {UrlState.FAILED}) AND (named OR {_PENDING})"
    reopened = f"state = {UrlState.ALIAS} AND named AND {_OPEN_END}"
    unread = f"state = {UrlState.PAGE} AND (SELECT links_known FROM page WHERE url_id = url.id) = 0"
    due = [unsettled, reopened, *([unread] if rules.by_links else [])]
    if rules.renews:
        # What sitemaps listed last time is due only if they list it again.
        mine = "1" if rules.by_links else "(listed_run IS NULL OR NOT named)"
        due.append(f"state IN ({UrlState.PAGE}, {UrlState.ALIAS}, {UrlState.SKIPPED}) AND {mine}")
    conditions = " OR ".join(f"({each})" for each in due)
    db.execute(
        f"UPDATE url SET queue = {Due.NOW} WHERE start_id = ? AND gone_since IS NULL AND ({conditions})", (rules.start,)
    )


def resume_queue(db: sqlite3.Connection, rules: RunRules) -> None:
    """Adds to the queue of an interrupted run what it could not fetch."""
    failed = f"state = {UrlState.FAILED} AND (named OR {_PENDING})"
    refused = f"state = {UrlState.PAGE} AND reason IS NOT NULL"
    db.execute(
        f"UPDATE url SET queue = {Due.NOW} WHERE start_id = :start AND gone_since IS NULL AND checked_run = :run"
        f" AND ({failed} OR ({refused} AND :renews))",
        {"start": rules.start, "run": rules.run, "renews": rules.renews},
    )


def due_ids(db: sqlite3.Connection, after: int = 0, limit: int = 256) -> Iterator[int]:
    """URLs that are due, in the order of discovery."""
    for (id,) in db.execute(
        f"SELECT id FROM url WHERE queue = {Due.NOW} AND id > ? ORDER BY id LIMIT ?", (after, limit)
    ).fetchall():
        yield id
