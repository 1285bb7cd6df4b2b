"""The tables of the state, and the enums of their columns.

A URL's row answers three questions separately: its result (`state`), if the site still has it (`gone_since`), and why
the last answer gave no newer page (`reason`). Absent values are NULL, never 0, -1 or ''.
"""

from __future__ import annotations

import re
import sqlite3
from enum import IntEnum
from typing import Final

from sitemirror.reasons import Reason


class UrlState(IntEnum):
    """The result of a URL."""

    QUEUED = 0  # never decided
    PAGE = 1  # a page or an asset with files of its own
    ALIAS = 2  # another name of `target_id`: a redirect, or a duplicate
    FAILED = 3
    SKIPPED = 4  # requested, and not saved by choice: type, size
    EXCLUDED = 5  # never requested: scope, robots.txt, traps


class Place(IntEnum):
    """The list in which a URL is reported. Up to `EXCLUDED` the number is that of the state it ends in."""

    PAGE = 1
    ALIAS = 2  # of a page
    FAILURE = 3
    SKIP = 4
    EXCLUDED = 5
    NOT_REACHED = 6
    GONE = 7


class Due(IntEnum):
    """A URL's place in the queue. It survives a kill, and is all that resuming needs."""

    NO = 0
    NOW = 1
    RETRY = 2  # after the main pass


class GoneCause(IntEnum):
    """The reason why a URL is gone. Naming it again ends the first; only an answer ends the others."""

    UNNAMED = 1  # neither listed nor reached
    NOT_FOUND = 2  # 404 in two updates
    REMOVED = 3  # 410


class FileKind(IntEnum):
    """Type of a file. A page that is saved in both formats has two files."""

    MARKDOWN = 1
    HTML = 2
    ASSET = 3


class ChangeKind(IntEnum):
    """A change of a page by a run; one event per URL and run."""

    ADDED = 1
    CHANGED = 2
    MOVED = 3
    GONE = 4
    BACK = 5


class Op(IntEnum):
    """A file operation, announced before it is executed. The order is that of execution."""

    WRITE = 1
    DELETE = 2
    LEAVE = 3  # rename, away from a path that another file gets
    ARRIVE = 4  # rename, to a path that is free after all have left
    RELINK = 5  # replace a file by itself with other links; `row` is for `link_targets.finish_relinking`


class RunPhase(IntEnum):
    """The progress of a run."""

    DISCOVERING = 0
    VISITING = 1
    FINISHED = 2


VERSION: Final = 12

MAX_ALIAS_HOPS: Final = 30
"""Maximum number of redirects followed from row to row; a longer chain counts as a loop."""

PASSES_LINKS: Final = (
    f"(url.state = {UrlState.PAGE} AND url.gone_cause IS NOT {GoneCause.NOT_FOUND}"
    f" AND url.gone_cause IS NOT {GoneCause.REMOVED}"
    f" OR url.state = {UrlState.ALIAS} AND url.reason = {Reason.DUPLICATE}"
    f" OR url.state = {UrlState.FAILED} AND url.transient = 1)"
)
"""Rows whose links count: pages, their duplicates, and pages with a deleted file that fail transiently."""

PAGE: Final = 1
ASSET: Final = 2
"""The kind of a URL, in `url.kind`; a requisite, or any file that is no page, is an asset."""

KEY_INDEX: Final = "CREATE UNIQUE INDEX url_key ON url (key);"

SCHEMA: Final = f"""
CREATE TABLE mirror (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  format TEXT,  -- set with the first saved file: a run that saved nothing claims no folder
  log_offset INTEGER NOT NULL DEFAULT 0,  -- _processed.txt: its size before the last batch, and that batch
  log_lines TEXT NOT NULL DEFAULT '',
  max_file_bytes INTEGER NOT NULL DEFAULT 0,  -- of the last run
  host_pauses TEXT NOT NULL DEFAULT '{{}}',  -- Retry-After, by host
  is_relinking INTEGER NOT NULL DEFAULT 0  -- 1: HTML files are being relinked to `link_target.pending_path`
);
INSERT INTO mirror (id) VALUES (1);

CREATE TABLE start (
  id INTEGER PRIMARY KEY,
  url TEXT NOT NULL UNIQUE,
  listing_run INTEGER,  -- last complete run that read all sitemaps
  crawl_run INTEGER  -- last complete run that read all links
);

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  start_id INTEGER NOT NULL,
  uuid TEXT NOT NULL,
  mode TEXT NOT NULL,
  scope TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  phase INTEGER NOT NULL DEFAULT 0,
  boot_id TEXT,  -- of the machine's start that it last ran under; NULL once it has been left in good order
  folders TEXT NOT NULL DEFAULT '[]'  -- host folders it writes to
);

CREATE TABLE recipe (
  id INTEGER PRIMARY KEY,
  options TEXT NOT NULL UNIQUE
);

-- One row a URL, in the order of discovery.
CREATE TABLE url (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  url TEXT NOT NULL,
  state INTEGER NOT NULL,
  queue INTEGER NOT NULL,
  start_id INTEGER NOT NULL,  -- the start URL whose runs decide whether it is gone
  named INTEGER NOT NULL,  -- 1: a sitemap, a link or the user names it; 0: only redirects lead there
  listed_run INTEGER,  -- last run whose sitemaps list it
  reached_run INTEGER,  -- last run whose links reach it, when that run ended
  checked_run INTEGER,  -- last run that decided about it
  sitemap_id INTEGER,
  lastmod TEXT,
  priority TEXT,
  alternates TEXT,
  reason INTEGER,  -- on a page: why the copy is older than the last answer; on an alias: why it is one
  detail TEXT,
  missing_path TEXT,  -- of a page with two files: the one that was deleted and could not be fetched again
  transient INTEGER,  -- 1: the failure is worth another try
  target_id INTEGER,  -- where it redirects, or the page that it duplicates; on a page: decided when the run ends
  since TEXT,  -- when this reason began
  checked_at TEXT,  -- when the last answer came, or its turn
  attempts INTEGER,
  misses INTEGER,  -- runs in a row that got 404
  content_type TEXT,  -- of what was skipped
  size INTEGER,
  gone_since TEXT,
  gone_cause INTEGER,
  depth INTEGER,  -- links from the start page; NULL if no crawl has found it
  chain INTEGER NOT NULL DEFAULT 0,  -- links in a row to URLs of its shape
  found_on_id INTEGER,  -- the page that linked to it first, or the URL that redirected to it
  kind INTEGER  -- PAGE or ASSET, if links led to it or it was saved
);
{KEY_INDEX}
CREATE INDEX url_due ON url (depth, id) WHERE queue = 1 AND depth IS NOT NULL;
CREATE INDEX url_target ON url (target_id) WHERE target_id IS NOT NULL;

-- The last good answer. It stays while its URL is a duplicate, or its file is lost: what comes back equal is no change.
CREATE TABLE page (
  url_id INTEGER PRIMARY KEY,
  fetched_at TEXT,
  changed_at TEXT,
  http_status INTEGER,  -- of the last answer, also if it left the copy as it was
  not_modified INTEGER NOT NULL DEFAULT 0,  -- 1: that was 304
  headers TEXT,  -- of the answer that it was saved from
  etag TEXT,
  last_modified TEXT,
  content_type TEXT,
  title TEXT,
  canonical TEXT,
  text_hash BLOB,  -- of the Markdown without front matter: duplicates are found by it
  words INTEGER,
  links_known INTEGER NOT NULL DEFAULT 0,  -- 0: a crawl asks for it whole
  meta TEXT,
  anchors TEXT,
  hidden_texts INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  url_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  path TEXT NOT NULL,  -- relative to the output folder
  preferred_path TEXT NOT NULL,  -- what the URL maps to
  path_key BLOB NOT NULL,  -- of the preferred path: equal where some file system takes two for one
  size INTEGER,
  sha256 BLOB,  -- of the bytes on disk
  received_sha256 BLOB,  -- of what was received: whether an answer is the same is judged by this
  recipe_id INTEGER,
  linked_path TEXT,  -- where it was when its links were made local; NULL: they are as received
  link_spans BLOB,  -- Markdown: what these links were, packed
  published INTEGER NOT NULL DEFAULT 0,  -- 1: a manifest names this path, so it does not change
  durable INTEGER NOT NULL DEFAULT 0,
  UNIQUE (url_id, kind)
);
CREATE INDEX file_key ON file (path_key);
CREATE INDEX file_moved ON file (path) WHERE path != preferred_path;
CREATE INDEX file_unsynced ON file (id) WHERE durable = 0;

CREATE TABLE link (
  src_id INTEGER NOT NULL,
  dst_id INTEGER NOT NULL,
  attribute INTEGER NOT NULL,
  requisite INTEGER NOT NULL,  -- 1: the page needs it (pictures, styles), so a sitemap run follows it
  PRIMARY KEY (src_id, dst_id, attribute)
) WITHOUT ROWID;

-- The path that saved HTML links to a URL by, and the one in the pass under way ('': to the site). `relinked` has the
-- files whose old local links that pass has changed already.
CREATE TABLE link_target (url_id INTEGER PRIMARY KEY, path TEXT, pending_path TEXT);
CREATE TABLE relinked (file_id INTEGER PRIMARY KEY);

-- Where aliases end. A chain without an end has no row. Filled by `resolve_aliases`.
CREATE TABLE alias (
  url_id INTEGER PRIMARY KEY,
  page_id INTEGER NOT NULL,
  hops INTEGER NOT NULL,
  was_gone INTEGER NOT NULL DEFAULT 0  -- 1: the page was gone when the run began
);
CREATE INDEX alias_page ON alias (page_id);

CREATE TABLE change (
  run_id INTEGER NOT NULL,
  url_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  old_sha256 BLOB,
  new_sha256 BLOB,
  old_text_hash BLOB,
  new_text_hash BLOB,
  old_path TEXT,
  new_path TEXT,
  old_row TEXT,
  PRIMARY KEY (run_id, url_id)
) WITHOUT ROWID;

CREATE TABLE journal (
  id INTEGER PRIMARY KEY,
  op INTEGER NOT NULL,
  path TEXT NOT NULL,
  new_path TEXT,
  sha256 BLOB,
  row TEXT  -- JSON: the columns that hold once the file is there
);

-- URLs that may be in `url` already, listed while it had no index of keys.
CREATE TABLE intake (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  url TEXT NOT NULL,
  state INTEGER NOT NULL,
  queue INTEGER NOT NULL,
  start_id INTEGER NOT NULL,
  named INTEGER NOT NULL,
  listed_run INTEGER,  -- NULL: a reading that broke off listed it
  sitemap_id INTEGER NOT NULL,
  lastmod TEXT,
  priority TEXT,
  alternates TEXT,
  reason INTEGER,
  detail TEXT
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

-- What answers have replaced, until the run ends (`store/replaced.py`); `restores`: it is decided that it comes back.
CREATE TABLE replaced (
  url_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  old_text_hash BLOB NOT NULL,
  new_text_hash BLOB NOT NULL,
  old_gist BLOB,  -- hash of the text without numbers; NULL if that is nothing
  new_gist BLOB,
  restores INTEGER NOT NULL DEFAULT 0,
  rows TEXT NOT NULL  -- JSON
);
CREATE TABLE replaced_file (url_id INTEGER NOT NULL, path TEXT NOT NULL, data BLOB NOT NULL, UNIQUE (url_id, path));
CREATE TABLE refused_text (text_hash BLOB PRIMARY KEY);

CREATE TABLE upload (path TEXT PRIMARY KEY, sha256 BLOB NOT NULL);

-- Every URL that is reported, once: by itself, or as an alias. What only redirects lead to is reported under the names
-- that lead there, unless it is a page. A page's aliases are gone with it.
CREATE VIEW account AS
SELECT id, url, id AS end_id, 0 AS hops, gone_since, CASE
    WHEN gone_since IS NOT NULL THEN {Place.GONE}
    WHEN state = {UrlState.QUEUED} THEN {Place.NOT_REACHED}
    ELSE state END AS place
FROM url WHERE state != {UrlState.ALIAS} AND CASE
    WHEN state = {UrlState.PAGE} THEN 1
    WHEN gone_since IS NOT NULL THEN url LIKE 'http%' AND (named OR listed_run IS NOT NULL OR kind IS NOT NULL)
    ELSE named OR NOT EXISTS (SELECT 1 FROM url AS leading WHERE leading.target_id = url.id) END
UNION ALL
SELECT url.id, url.url, e.id, alias.hops, coalesce(url.gone_since, e.gone_since), CASE
    WHEN url.gone_since IS NOT NULL OR e.gone_since IS NOT NULL THEN {Place.GONE}
    WHEN e.state = {UrlState.PAGE} THEN {Place.ALIAS}
    WHEN e.state = {UrlState.QUEUED} THEN {Place.NOT_REACHED}
    ELSE e.state END
FROM alias JOIN url ON url.id = alias.url_id JOIN url AS e ON e.id = alias.page_id
WHERE e.state = {UrlState.PAGE} OR CASE
    WHEN url.gone_since IS NOT NULL OR e.gone_since IS NOT NULL
      THEN url.url LIKE 'http%' AND (url.named OR url.listed_run IS NOT NULL OR url.kind IS NOT NULL)
    ELSE url.named END;
"""


CACHE: Final = -4_000
"""SQLite's `cache_size`: kilobytes, with a minus."""

LITTLE_CACHE: Final = -2_000
"""For sequential reading and writing. Sorting takes as much again, temporarily."""


def in_order(db: sqlite3.Connection, query: str) -> sqlite3.Cursor:
    """Run a query that sorts. SQLite sorts in as much memory as its cache, and no faster with more."""
    db.execute(f"PRAGMA cache_size={LITTLE_CACHE}")
    try:
        return db.execute(query)  # sorts at once
    finally:
        db.execute(f"PRAGMA cache_size={CACHE}")


TABLES: Final = tuple(re.findall(r"CREATE TABLE (\w+)", SCHEMA))
