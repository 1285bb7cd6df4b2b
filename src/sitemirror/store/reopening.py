"""What redirected to something that could not be had is asked for itself by the next run: it may be a page by now.

A site under repair sends every page to the same notice, which is an error. To ask for that again would find no page.
"""

from __future__ import annotations

from typing import Final

from sitemirror.store.schema import Row
from sitemirror.store.state import RunInfo, State

_NAMED: Final = "EXISTS (SELECT 1 FROM url AS name WHERE name.leads_to = url.id)"

_REOPEN: Final = f"""
WITH RECURSIVE name (id) AS (
  SELECT id FROM url WHERE status = {Row.FAILED}
  UNION SELECT url.id FROM name JOIN url ON url.leads_to = name.id WHERE url.status = {Row.REDIRECT}
)
UPDATE url SET status = {Row.QUEUED}, leads_to = NULL, seen = 0
WHERE id IN name AND status = {Row.REDIRECT} AND run != 0 AND (run = ? OR ?)
"""


def reopen_names(state: State, run: RunInfo) -> None:
    """Puts such names into the queue; in a run by sitemaps only those that are still listed."""
    with state.transaction() as db:
        ends = db.execute(f"SELECT id FROM url WHERE status = {Row.FAILED} AND run = 0 AND {_NAMED}").fetchall()
        db.execute(_REOPEN, (run.number, run.mode.startswith("links")))
        # Nobody leads there any more, until somebody is found to.
        db.executemany(f"UPDATE url SET status = {Row.GONE} WHERE id = ? AND NOT {_NAMED}", ends)
