"""The queue of URLs to visit: a column, filled when a run begins and by newly named URLs.

The rules are applied once, in `fill_queue`. From then on a URL is due if its row says so, which survives a kill.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.store.tables import PAGE, PASSES_LINKS, Due, GoneCause, UrlState


class RunRules(NamedTuple):
    """The properties of a run that the queue depends on."""

    run: int
    start: int
    by_links: bool  # a crawl; else a run by sitemaps
    renews: bool  # --update, --re-download-all


_UNNAMED: Final = f"(url.gone_cause IS NULL OR url.gone_cause = {GoneCause.UNNAMED})"
_UNREAD: Final = f"""
(url.state = {UrlState.PAGE} AND :by_links
  AND (SELECT links_known = 0 FROM page WHERE page.url_id = url.id))
"""
_LEADS_TO_GONE: Final = f"""
(url.state = {UrlState.ALIAS} AND EXISTS (SELECT 1 FROM alias WHERE alias.url_id = url.id AND was_gone))
"""

# Named again: the URL is due if it is new, failed, or was gone, and always in an update; but once per run.
# A page that answered 404 or 410 comes back only by an answer.
DUE_AGAIN: Final = f"""CASE
    WHEN queue != {Due.NO} OR checked_run IS :run THEN queue
    WHEN :renews OR gone_since IS NOT NULL OR state IN ({UrlState.QUEUED}, {UrlState.FAILED}, {UrlState.EXCLUDED})
      OR {_UNREAD} OR {_LEADS_TO_GONE}
      THEN {Due.NOW}
    ELSE queue END"""
NO_LONGER_GONE: Final = f"""
  gone_since = CASE WHEN {_UNNAMED} THEN NULL ELSE gone_since END,
  gone_cause = CASE WHEN {_UNNAMED} THEN NULL ELSE gone_cause END
"""
_NAMED_AGAIN: Final = f"""
  queue = {DUE_AGAIN},
  state = CASE WHEN state = {UrlState.EXCLUDED} AND checked_run IS NOT :run THEN {UrlState.QUEUED} ELSE state END,
  reason = CASE WHEN state = {UrlState.EXCLUDED} AND checked_run IS NOT :run THEN NULL ELSE reason END,
  detail = CASE WHEN state = {UrlState.EXCLUDED} AND checked_run IS NOT :run THEN NULL ELSE detail END,
  {NO_LONGER_GONE}
"""

# A shorter path to a URL counts, and so does one that is a shorter chain.
_NEARER: Final = """
  depth = min(coalesce(url.depth, excluded.depth), excluded.depth),
  chain = min(url.chain, excluded.chain),
  found_on_id = coalesce(url.found_on_id, excluded.found_on_id)
"""
_INTO_LINKED: Final = """
INSERT INTO url (key, url, state, queue, start_id, named, depth, chain, kind, found_on_id, reason, detail, checked_at)
VALUES (:key, :url, :state, :queue, :start, 1, :depth, :chain, :kind, :source, :reason, :detail, :at)
ON CONFLICT (key) DO UPDATE SET
"""
_LINKED: Final = f"{_INTO_LINKED} start_id = :start, named = 1, {_NEARER}, {_NAMED_AGAIN} RETURNING id"

# A refused link only affects URLs that nothing else lets the run fetch. In a run by sitemaps it does not bring back a
# page that the sitemaps dropped.
_STAYS: Final = (
    f"url.state IN ({UrlState.PAGE}, {UrlState.ALIAS}) OR (url.state != {UrlState.EXCLUDED} AND gone_since IS NULL)"
)
_REFUSED: Final = f"""{_INTO_LINKED} named = 1, {_NEARER},
  reason = CASE WHEN {_STAYS} THEN reason ELSE excluded.reason END,
  detail = CASE WHEN {_STAYS} THEN detail ELSE excluded.detail END,
  queue = CASE WHEN {_STAYS} THEN queue ELSE {Due.NO} END,
  state = CASE WHEN {_STAYS} THEN state ELSE {UrlState.EXCLUDED} END,
  gone_since = CASE WHEN {_UNNAMED} AND (:by_links OR url.state != {UrlState.PAGE}) THEN NULL ELSE gone_since END,
  gone_cause = CASE WHEN {_UNNAMED} AND (:by_links OR url.state != {UrlState.PAGE}) THEN NULL ELSE gone_cause END
RETURNING id
"""

# URLs that only redirects lead to stay unnamed. An alias is requested again: only this redirect leads to it.
_REDIRECTED: Final = f"""
INSERT INTO url (key, url, state, queue, start_id, named, depth, chain, found_on_id)
VALUES (:key, :url, {UrlState.QUEUED}, {Due.NOW}, :start, 0, :depth, :chain, :source)
ON CONFLICT (key) DO UPDATE SET depth = min(coalesce(depth, :depth), coalesce(:depth, depth)), {
    _NAMED_AGAIN.replace("WHEN :renews OR", f"WHEN :renews OR state = {UrlState.ALIAS} OR")
}
RETURNING id
"""


def link_url(
    db: sqlite3.Connection,
    rules: RunRules,
    url: str,
    depth: int,
    source: int | None,
    *,
    chain: int = 0,
    kind: int = PAGE,
    at: str | None = None,
    refused: tuple[int, str | None] | None = None,
) -> int:
    """Name the URL by a link or by the user. `refused` is the reason and detail if it is excluded."""
    reason, detail = refused or (None, None)
    values = {
        "state": UrlState.EXCLUDED.value if refused else UrlState.QUEUED.value,
        "queue": Due.NO.value if refused else Due.NOW.value,
        "depth": depth,
        "source": source,
        "chain": chain,
        "kind": kind,
        "at": at,
        "reason": reason,
        "detail": detail,
    }
    return _name(db, rules, _REFUSED if refused else _LINKED, url, values)


def redirect_to(
    db: sqlite3.Connection, rules: RunRules, url: str, depth: int | None, source: int, chain: int = 0
) -> int:
    """Record that a redirect leads to the URL."""
    return _name(db, rules, _REDIRECTED, url, {"depth": depth, "source": source, "chain": chain})


def _values(rules: RunRules) -> dict[str, Any]:
    return {"start": rules.start, "run": rules.run, "renews": rules.renews, "by_links": rules.by_links}


def _name(db: sqlite3.Connection, rules: RunRules, statement: str, url: str, more: dict[str, Any]) -> int:
    values = {"key": bytearray(urls.key(url)), "url": url, **_values(rules)}
    found = db.execute(statement, values | more).fetchall()  # Fetch all: a partly read statement stays open.
    return int(found[0][0])


def name_links_of(db: sqlite3.Connection, rules: RunRules, page: int) -> None:
    """Name the links of a page that was not read again: some of the targets may have been gone meanwhile."""
    follows = "1" if rules.by_links else f"(link.requisite OR url.state = {UrlState.EXCLUDED})"
    db.execute(
        f"UPDATE url SET {_NAMED_AGAIN} WHERE gone_since IS NOT NULL AND id IN (SELECT dst_id FROM link"
        f" JOIN url AS source ON source.id = src_id WHERE src_id = :page AND {follows}"
        f" AND {PASSES_LINKS.replace('url.', 'source.')})",
        {"page": page, **_values(rules)},
    )


def check_page(db: sqlite3.Connection, rules: RunRules, page: int) -> None:
    """Queue the page of a requested duplicate in an update: nothing else may name it."""
    db.execute(f"UPDATE url SET {_NAMED_AGAIN} WHERE id = :page", {"page": page, **_values(rules)})


# An alias without a page is requested by its own name: a site under maintenance redirects every page to one error.
_OPEN_END: Final = f"""
url.id IN (SELECT alias.url_id FROM alias JOIN url AS e ON e.id = alias.page_id
           WHERE e.state IN ({UrlState.QUEUED}, {UrlState.FAILED}))
"""
_PENDING: Final = f"EXISTS (SELECT 1 FROM url AS copy WHERE copy.target_id = url.id AND copy.state = {UrlState.PAGE})"
_WAS_PAGE: Final = "EXISTS (SELECT 1 FROM file WHERE file.url_id = url.id)"
_FREED: Final = f"(state = {UrlState.ALIAS} AND reason = {Reason.DUPLICATE})"


def fill_queue(db: sqlite3.Connection, rules: RunRules) -> None:
    """Queue what a new run visits, apart from what its sitemaps will list. Aliases must be resolved."""
    db.execute(f"UPDATE url SET queue = {Due.NO} WHERE queue != {Due.NO} AND NOT {_FREED}")
    # The order in which a page and its alias are named must make no difference.
    is_gone = "(SELECT gone_since IS NOT NULL FROM url WHERE id = page_id)"
    db.execute(f"UPDATE alias SET was_gone = {is_gone} WHERE was_gone != {is_gone}")
    # An update first requests the copies to find their current targets.
    pending = "0" if rules.renews else _PENDING
    unsettled = f"state IN ({UrlState.QUEUED}, {UrlState.FAILED}) AND (named OR {pending} OR {_WAS_PAGE})"
    reopened = f"state = {UrlState.ALIAS} AND named AND {_OPEN_END}"
    unread = f"state = {UrlState.PAGE} AND (SELECT links_known FROM page WHERE url_id = url.id) = 0"
    torn = (
        f"state = {UrlState.PAGE} AND (SELECT fetched_at IS NULL FROM page WHERE url_id = url.id)"
        " AND EXISTS (SELECT 1 FROM file WHERE file.url_id = url.id AND sha256 IS NOT NULL)"
    )
    due = [unsettled, reopened, torn, *([unread] if rules.by_links else [])]
    if rules.renews:
        # URLs that sitemaps listed last time are due only if listed again, and a hop of a redirect only if that
        # still leads there.
        mine = "1" if rules.by_links else "(listed_run IS NULL OR NOT named)"
        settled = f"(state IN ({UrlState.PAGE}, {UrlState.SKIPPED}) OR state = {UrlState.ALIAS} AND named)"
        due.append(f"{settled} AND {mine}")
    conditions = " OR ".join(f"({each})" for each in due)
    db.execute(
        f"UPDATE url SET queue = {Due.NOW} WHERE start_id = ? AND gone_since IS NULL AND ({conditions})", (rules.start,)
    )


def resume_queue(db: sqlite3.Connection, rules: RunRules) -> None:
    """Add the failures of an interrupted run to its queue."""
    failed = f"state = {UrlState.FAILED} AND (named OR {_PENDING})"
    refused = f"state = {UrlState.PAGE} AND reason IS NOT NULL"
    db.execute(
        f"UPDATE url SET queue = {Due.NOW} WHERE start_id = :start AND gone_since IS NULL AND"
        f" (queue = {Due.RETRY} OR checked_run = :run AND ({failed} OR ({refused} AND :renews)))",
        _values(rules),
    )


def drop_unlisted(db: sqlite3.Connection, rules: RunRules) -> None:
    """Mark URLs as unnamed that only earlier sitemaps named, once all sitemaps were read.

    Redirects may still lead there, but the URL has no date any more.
    """
    db.execute(
        f"UPDATE url SET queue = {Due.NO}, named = 0, lastmod = NULL WHERE start_id = :start AND named"
        " AND gone_since IS NULL AND listed_run IS NOT NULL AND listed_run != :run AND (reached_run IS NULL"
        "  OR reached_run IS NOT (SELECT listing_run FROM start WHERE start.id = :start)"
        "  AND reached_run IS NOT (SELECT crawl_run FROM start WHERE start.id = :start))",
        _values(rules),
    )


def drop_unreached(db: sqlite3.Connection, rules: RunRules) -> None:
    """Remove from the queue what a complete crawl has not reached: it belongs to sitemaps."""
    which = f"queue != {Due.NO} AND NOT {_FREED} AND start_id = :start"
    db.execute(f"UPDATE url SET queue = {Due.NO} WHERE {which}", _values(rules))


class Part(NamedTuple):
    """A part of the queue, visited in one pass."""

    depth: int | None = None  # of a crawl: up to this depth
    has_duplicates: bool = False

    @property
    def condition(self) -> str:
        """SQL condition for its rows of `url`."""
        level = "" if self.depth is None else f" AND url.depth IS NOT NULL AND url.depth <= {int(self.depth)}"
        kind = "" if self.has_duplicates else f" AND NOT (url.state = {UrlState.ALIAS} AND url.reason = {_DUPLICATE})"
        return f"url.queue = {Due.NOW}{level}{kind}"


_DUPLICATE: Final = int(Reason.DUPLICATE)
_ALL_LEVELS: Final = 2**31


def next_part(db: sqlite3.Connection, rules: RunRules) -> Part | None:
    """Return the next part to visit; None if nothing is due. Duplicates come after their pages.

    A crawl goes breadth first: a depth is finished before the next begins.
    """
    for has_duplicates in (False, True):
        part = Part(_ALL_LEVELS if rules.by_links else None, has_duplicates)
        what = "min(url.depth)" if rules.by_links else "1"
        found = db.execute(f"SELECT {what} FROM url WHERE {part.condition} LIMIT 1").fetchone()
        if found is not None and found[0] is not None:
            return part._replace(depth=found[0] if rules.by_links else None)
    return None


def due_again(db: sqlite3.Connection) -> int:
    """Queue transient failures for their retry; return the number."""
    return db.execute(f"UPDATE url SET queue = {Due.NOW} WHERE queue = {Due.RETRY}").rowcount


def queue_again(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Queue rows whatever their state: the settings allow them now."""
    db.executemany(f"UPDATE url SET queue = {Due.NOW} WHERE id = ?", ((id,) for id in ids))
