"""The working state's tables. Internal: nothing here is lost with the file, it is rebuilt from what is published."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from sitemirror.reasons import Cause, Reason, parse_reason
from sitemirror.store.tables import Place, UrlState

VERSION: Final = 11

CACHE: Final = -4_000
"""SQLite's `cache_size`: kilobytes, with a minus."""

LITTLE_CACHE: Final = -2_000
"""For what is read or written from one end to the other. Sorting takes as much again, and no longer for it."""


def in_order(db: sqlite3.Connection, query: str) -> sqlite3.Cursor:
    """Runs a query that sorts. SQLite does that in as much memory as its cache may take, and no faster for more."""
    db.execute(f"PRAGMA cache_size={LITTLE_CACHE}")
    try:
        return db.execute(query)  # which is when it sorts
    finally:
        db.execute(f"PRAGMA cache_size={CACHE}")


class Status(IntEnum):
    """A URL's `state` and `gone_since` as one number: the column `status`, which is computed."""

    QUEUED = 0
    SAVED = 1
    REDIRECT = 2  # an alias of `leads_to`, decided at once
    DUPLICATE = 3  # an alias of `leads_to`, decided before publishing: a duplicate
    FAILED = 4
    SKIPPED = 5  # looked at and not wanted: type, size
    OUT_OF_SCOPE = 6  # never looked at: scope, not a URL
    GONE = 7  # no sitemap lists it, and no link leads to it, any more


_RUN: Final = """
run INTEGER GENERATED ALWAYS AS (CASE
  WHEN named THEN max(coalesce(listed_run, -1), coalesce(reached_run, -1))
  ELSE 0 END) VIRTUAL
"""
_STATUS: Final = f"""
status INTEGER GENERATED ALWAYS AS (CASE
  WHEN gone_since IS NOT NULL THEN {Status.GONE}
  WHEN state = {UrlState.ALIAS} AND reason IS {Reason.DUPLICATE} THEN {Status.DUPLICATE}
  WHEN state > {UrlState.ALIAS} THEN state + 1
  ELSE state END) VIRTUAL
"""

PAGE: Final = 1
ASSET: Final = 2
"""What a URL is, in `url.kind`; a file that a page needs, or that is none, is an asset."""

OUT_FOR_NOW: Final = f"(url.status = {Status.FAILED} AND url.transient = 1)"
"""What cannot be had just now. If it was a page, and somebody deleted its file, its links count as before."""

_NO_PAGE_EVER: Final = "(url.url NOT LIKE 'http://%' AND url.url NOT LIKE 'https://%')"
_ON_THE_WAY: Final = (
    "(url.run = 0 AND url.sitemap = 0 AND url.source != 0 AND url.kind IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM page WHERE page.id = url.id))"
)
UNTOLD_ONCE_GONE: Final = f"{_NO_PAGE_EVER} OR {_ON_THE_WAY}"
"""Of an address for mail or the like, which no page could ever be; and of a URL that only redirects ever led to, and
that gave no page, which is told under what led there. Both are told while they are there, and then forgotten."""

UNREAD: Final = -1
"""Stands in `seen` for a page that was saved without its links: a crawl has met it, and has yet to read it."""

_FEW: Final = 200
"""Pages that are sooner gone through one by one than an index is made, for which all statements are made anew."""

# Of use only when all pages are there, and no two of their keys are near each other: kept up from the first page on,
# they would be two thirds of what is written for each.
_SETTLING: Final = (
    "CREATE INDEX IF NOT EXISTS page_body ON page (body)",
    "CREATE INDEX IF NOT EXISTS page_wanted ON page (wanted)",
)


def index_for_settling(db: sqlite3.Connection) -> None:
    """Makes pages quick to find by what they say and by the path they want, from now on. Few are so without."""
    if db.execute(f"SELECT 1 FROM page LIMIT 1 OFFSET {_FEW}").fetchone() is None:
        return
    for statement in _SETTLING:
        db.execute(statement)


KEY_INDEX: Final = "CREATE UNIQUE INDEX url_key ON url (key);"
_ACCOUNT: Final = f"""
CREATE INDEX url_target ON url (leads_to) WHERE leads_to IS NOT NULL;

-- Where aliases end, as of the last time that they were resolved. A chain without an end (a redirect loop) has no row.
CREATE TABLE alias (url_id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL, hops INTEGER NOT NULL);
CREATE INDEX alias_page ON alias (page_id);

-- Every URL that is reported, once: by itself, or as an alias. What only redirects lead to is reported under the names
-- that lead there, unless it is a page. A page's aliases are gone with it.
CREATE VIEW account AS
SELECT id, url, id AS end_id, 0 AS hops, gone_since, CASE
    WHEN gone_since IS NOT NULL THEN {Place.GONE}
    WHEN state = {UrlState.QUEUED} THEN {Place.NOT_REACHED}
    ELSE state END AS place
FROM url WHERE state != {UrlState.ALIAS} AND CASE
    WHEN gone_since IS NOT NULL THEN NOT ({UNTOLD_ONCE_GONE})
    WHEN state = {UrlState.PAGE} THEN 1
    ELSE named OR NOT EXISTS (SELECT 1 FROM alias WHERE page_id = url.id) END
UNION ALL
SELECT url.id, url.url, e.id, alias.hops, e.gone_since, CASE
    WHEN e.gone_since IS NOT NULL THEN {Place.GONE}
    WHEN e.state = {UrlState.PAGE} THEN {Place.ALIAS}
    WHEN e.state = {UrlState.QUEUED} THEN {Place.NOT_REACHED}
    ELSE e.state END
FROM alias JOIN url ON url.id = alias.url_id JOIN url AS e ON e.id = alias.page_id
WHERE url.named OR e.gone_since IS NOT NULL OR e.state = {UrlState.PAGE};
"""
REFRESH_INDEX: Final = "CREATE INDEX page_refresh ON page (id) WHERE refresh_reason IS NOT NULL;"

SCHEMA: Final = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- One row a URL, in the order of discovery. `named` is 0 if only redirects lead there, or it is only another name of a
-- page; `listed_run` and `reached_run` are the last runs whose sitemaps list it and whose pages link to it (`run`: the
-- later one), `source` is the start URL it was listed for, `seen` the run that last decided about it; `reason` and
-- `detail` are a `Cause`. A URL that is gone keeps its `state`: coming back is no more than `gone_since = NULL`.
CREATE TABLE url (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  url TEXT NOT NULL,
  state INTEGER NOT NULL,
  gone_since TEXT,
  named INTEGER NOT NULL DEFAULT 1,
  listed_run INTEGER,
  reached_run INTEGER,
  source INTEGER NOT NULL,
  sitemap INTEGER NOT NULL,
  seen INTEGER NOT NULL DEFAULT 0,
  lastmod TEXT,
  priority TEXT,
  alternates TEXT,
  leads_to INTEGER,
  reason INTEGER,
  detail TEXT,
  transient INTEGER,
  attempts INTEGER,
  at TEXT,
  content_type TEXT,
  size INTEGER,
  -- Found through links: how deep, how long a chain of like-looking URLs, on which page first; what it is ({PAGE} page,
  -- {ASSET} asset); and the path by which saved pages link to it ('' = they do not).
  depth INTEGER,
  chain INTEGER NOT NULL DEFAULT 0,
  found_on INTEGER,
  kind INTEGER,
  linked_as TEXT NOT NULL DEFAULT '',
  {_STATUS},
  {_RUN}
);
{KEY_INDEX}
CREATE INDEX url_depth ON url (depth, id) WHERE depth IS NOT NULL;

-- URLs that may be in `url` already, met while it had no index of keys.
CREATE TABLE doubtful (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  listed_run INTEGER,  -- NULL: a reading that broke off listed it
  source INTEGER NOT NULL,
  sitemap INTEGER NOT NULL,
  state INTEGER NOT NULL,
  url TEXT NOT NULL,
  lastmod TEXT,
  priority TEXT,
  alternates TEXT,
  reason INTEGER,
  detail TEXT
);

-- Who links to whom, and by which attribute (0 href, 1 src).
CREATE TABLE edge (
  src INTEGER NOT NULL,
  dst INTEGER NOT NULL,
  attribute INTEGER NOT NULL,
  PRIMARY KEY (src, dst, attribute)
) WITHOUT ROWID;

-- What is known of a page that was saved (or found equal to one that was). `path` is relative to the output folder,
-- `wanted` the path its URL maps to, `fold` what file systems make of `wanted`. `changed_at` is when what its files
-- say was fetched, `fetched_at` when the server last said that it still holds. `refresh_reason`, `refresh_detail` and
-- `missing_path` are the `Cause` why the copy is older than the last answer.
CREATE TABLE page (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  wanted TEXT NOT NULL,
  fold BLOB NOT NULL,
  published INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL,
  fetched_at TEXT NOT NULL,
  changed_at TEXT NOT NULL DEFAULT '',
  title TEXT,
  sha256 TEXT,
  body BLOB,
  etag TEXT,
  last_modified TEXT,
  content_type TEXT,
  canonical TEXT,
  refresh_reason INTEGER,
  refresh_detail TEXT,
  missing_path TEXT,
  durable INTEGER NOT NULL DEFAULT 0,
  -- The HTML that was saved (in an HTML mirror the same as `path`), the hash of what was received (where both formats
  -- are saved, of the Markdown and of the HTML), and where its links were made local ('' = they are as received).
  -- `http_status` is that of the last answer, also where the page could not be had any more; `headers` are those of the
  -- one it was saved from. `not_modified`: the last was 304.
  html_path TEXT,
  html_size INTEGER,
  html_sha256 TEXT,
  received TEXT,
  local_at TEXT NOT NULL DEFAULT '',
  http_status INTEGER,
  headers TEXT,
  not_modified INTEGER NOT NULL DEFAULT 0,
  meta TEXT,
  anchors TEXT,
  hidden_texts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX page_fold ON page (fold);
CREATE INDEX page_elsewhere ON page (path) WHERE path != wanted;
CREATE INDEX page_fresh ON page (id) WHERE durable = 0;
{REFRESH_INDEX}
{_ACCOUNT}

-- Markdown whose links lead to files: what each link was (packed), and the hash of the file that has them so.
CREATE TABLE local_link (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL,
  links BLOB NOT NULL
);

CREATE TABLE sitemap (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  key BLOB NOT NULL,
  url TEXT NOT NULL,
  depth INTEGER NOT NULL,
  status TEXT NOT NULL,
  urls INTEGER NOT NULL DEFAULT 0,
  repeats INTEGER NOT NULL DEFAULT 0,
  kind TEXT,
  error TEXT,
  UNIQUE (run, key)
);
CREATE INDEX sitemap_pending ON sitemap (id) WHERE status = 'pending';
"""

# Since when its pages have said what they say, such a state does not know: since they were last fetched, at the least.
_CHANGED_AT: Final = """
ALTER TABLE page ADD COLUMN changed_at TEXT NOT NULL DEFAULT '';
UPDATE page SET changed_at = fetched_at;
"""

# Until then a reason was stored in words.
_WORDS_TO_REASONS: Final = """
ALTER TABLE {table} RENAME COLUMN reason TO words;
ALTER TABLE {table} ADD COLUMN reason INTEGER;
ALTER TABLE {table} ADD COLUMN detail TEXT;
UPDATE {table} SET reason = parsed(words, 0), detail = parsed(words, 1) WHERE words IS NOT NULL;
ALTER TABLE {table} DROP COLUMN words;
"""
_REASONS: Final = f"""
{_WORDS_TO_REASONS.format(table="url")}
{_WORDS_TO_REASONS.format(table="doubtful")}
DROP INDEX page_error;
ALTER TABLE page ADD COLUMN refresh_reason INTEGER;
ALTER TABLE page ADD COLUMN refresh_detail TEXT;
ALTER TABLE page ADD COLUMN missing_path TEXT;
UPDATE page SET refresh_reason = parsed(error, 0), refresh_detail = parsed(error, 1), missing_path = parsed(error, 2)
WHERE error IS NOT NULL;
ALTER TABLE page DROP COLUMN error;
{REFRESH_INDEX}
"""

# Until then one number told what there was of a URL and that it was gone.
_TO_STATE: Final = f"""
CASE status WHEN {Status.DUPLICATE} THEN {UrlState.ALIAS}
  WHEN {Status.GONE} THEN {{gone}}
  ELSE status - (status > {Status.DUPLICATE}) END
"""
_STATES: Final = f"""
ALTER TABLE url ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
ALTER TABLE url ADD COLUMN gone_since TEXT;
UPDATE url SET
  state = {
    _TO_STATE.format(
        gone=f'''CASE
    WHEN EXISTS (SELECT 1 FROM page WHERE page.id = url.id) THEN {UrlState.PAGE}
    WHEN reason IS NULL OR attempts > 0 OR content_type IS NOT NULL THEN {UrlState.QUEUED}
    ELSE {UrlState.EXCLUDED} END'''
    )
},
  gone_since = CASE status WHEN {Status.GONE} THEN coalesce(at, '') END,
  reason = CASE status WHEN {Status.DUPLICATE} THEN {Reason.DUPLICATE} WHEN {Status.REDIRECT} THEN
    CASE WHEN transient = 1 THEN {Reason.MOVED_TEMPORARILY} ELSE {Reason.MOVED} END ELSE reason END;
ALTER TABLE url DROP COLUMN status;
ALTER TABLE url ADD COLUMN {_STATUS};
ALTER TABLE doubtful ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
UPDATE doubtful SET state = {_TO_STATE.format(gone=0)};
ALTER TABLE doubtful DROP COLUMN status;
"""

# Until then one number told which run named a URL, by which means nobody knew, and that none did.
_NAMES: Final = f"""
DROP VIEW account;
ALTER TABLE url ADD COLUMN named INTEGER NOT NULL DEFAULT 1;
ALTER TABLE url ADD COLUMN listed_run INTEGER;
ALTER TABLE url ADD COLUMN reached_run INTEGER;
UPDATE url SET named = run != 0, listed_run = CASE WHEN run > 0 AND sitemap > 0 THEN run END,
  reached_run = CASE WHEN run > 0 AND sitemap <= 0 THEN run END;
ALTER TABLE url DROP COLUMN run;
ALTER TABLE url ADD COLUMN {_RUN};
ALTER TABLE doubtful ADD COLUMN listed_run INTEGER;
UPDATE doubtful SET listed_run = run WHERE run > 0;
ALTER TABLE doubtful DROP COLUMN run;
{_ACCOUNT[_ACCOUNT.index("CREATE VIEW") :]}
"""

UPGRADES: Final[Mapping[int, str]] = MappingProxyType(
    {6: _CHANGED_AT, 7: _REASONS, 8: _STATES, 9: f"DROP INDEX alias; {_ACCOUNT}", 10: _NAMES}
)
"""What makes a state of a version one of the next. A rebuilt one would not know what pages were received as."""


def upgrade(db: sqlite3.Connection, version: int) -> None:
    """Brings a state of an earlier version up to this one, all or nothing."""
    steps = "".join(UPGRADES[each] for each in range(version, VERSION))
    db.create_function("parsed", 2, _parsed, deterministic=True)
    db.executescript(f"BEGIN; {steps} PRAGMA user_version={VERSION}; COMMIT;")


def _parsed(words: str, field: int) -> int | str | None:
    """One field of the cause that these words stand for."""
    cause: Cause = parse_reason(words)
    return cause[field]


TABLES: Final = tuple(re.findall(r"CREATE TABLE (\w+)", SCHEMA))
