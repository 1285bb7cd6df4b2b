"""Which URLs are still there, once a run knows all that is listed or linked: those, and where they lead.

The others are gone. It is decided in one place, so that what stands behind a redirect goes with the redirect.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.store.schema import OUT_FOR_NOW, Row
from sitemirror.store.state import RunInfo, State

# By this run; or for another start URL, which this one has no say in.
_NAMED: Final = "(url.run != 0 AND (url.run = :run OR url.source != :source))"

_LEAD_ON: Final = "UNION SELECT url.leads_to FROM way CROSS JOIN url USING (id) WHERE url.leads_to IS NOT NULL"

# A copy that stays, as the site has not given up its page, tells itself why. Where it leads counts only as a page.
_COPIES: Final = f"""
SELECT DISTINCT page.refresh_detail FROM page CROSS JOIN url USING (id)
WHERE page.refresh_reason = {Reason.MOVED_TEMPORARILY} AND url.status = {Row.SAVED}
"""
_END: Final = f"""
INSERT OR IGNORE INTO temp.end_for_now
WITH RECURSIVE way (id) AS (SELECT id FROM url WHERE key = ? {_LEAD_ON})
SELECT ?, id FROM way CROSS JOIN url USING (id) CROSS JOIN page USING (id)
WHERE url.status IN ({Row.SAVED}, {Row.GONE})
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
status = {Row.REDIRECT} AND EXISTS (
  WITH RECURSIVE way (id) AS (
    SELECT url.leads_to
    UNION SELECT next.leads_to FROM way CROSS JOIN url AS next USING (id) WHERE next.leads_to IS NOT NULL)
  SELECT 1 FROM way CROSS JOIN page USING (id))
"""
_GONE: Final = f"""
UPDATE url SET status = {Row.GONE}, at = :at, leads_to = NULL
WHERE NOT {_NAMED} AND status NOT IN ({Row.GONE}, {Row.TWIN}) AND id NOT IN temp.led_to AND NOT ({_NAMES_A_PAGE})
"""

_ANY_UNNAMED: Final = f"SELECT 1 FROM url WHERE status != {Row.GONE} AND NOT {_NAMED} LIMIT 1"

# It is there because something leads to it, and nobody gives a date for it any more.
_UNLISTED: Final = f"UPDATE url SET run = 0, lastmod = NULL WHERE run != 0 AND status != {Row.GONE} AND NOT {_NAMED}"


# What the start page links to or leads to, over any number of steps, by way of what is there.
_UNREACHED: Final = f"""
WITH RECURSIVE way (id) AS (
  SELECT id FROM url WHERE key = :start
  UNION SELECT edge.dst FROM way CROSS JOIN url USING (id) CROSS JOIN edge ON edge.src = way.id
  WHERE url.status IN ({Row.SAVED}, {Row.TWIN}) OR {OUT_FOR_NOW}
  {_LEAD_ON}
  UNION SELECT dst FROM way CROSS JOIN temp.for_now ON src = way.id
)
UPDATE url SET run = -1 WHERE run = :run AND id NOT IN (SELECT id FROM way)
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
        f" WHERE page.refresh_reason = {Reason.MOVED_TEMPORARILY} AND url.status = {Row.SAVED}"
    )


def let_go(state: State, run: RunInfo, at: str) -> int:
    """Marks as gone what nobody names or leads to any more; files stay. Gives the number of those that were not yet."""
    values = {"run": run.number, "source": run.source, "at": at}
    if state.db.execute(_ANY_UNNAMED, values).fetchone() is None:
        return 0
    with state.transaction() as db:
        note_for_now(db)
        db.execute("CREATE TEMP TABLE IF NOT EXISTS led_to (id INTEGER PRIMARY KEY)")
        db.execute("DELETE FROM temp.led_to")
        db.execute(_LED_TO, values)
        gone = db.execute(_GONE, values).rowcount
        db.execute(_UNLISTED, values)
    return gone
