"""The tables that the working state is to have, and the numbers that their columns hold.

`decide`, `queue`, `journal` and `ending` are written for them, and tried by the simulation in `tests/run`. `schema.py`
has the tables of today: `state`, `gone_since`, `named`, `listed_run`, `reached_run`, `reason`, `alias` and `account`
are as here; the queue, `file`, `start`, `run`, `change` and `journal` are still to come.

A URL's row answers three questions apart: what there is of it (`state`), whether the site still has it
(`gone_since`), and why the last answer gave no newer page (`reason`). What is absent is NULL, never 0, -1 or ''.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from sitemirror.reasons import Reason


class UrlState(IntEnum):
    """What there is of a URL."""

    QUEUED = 0  # never decided
    PAGE = 1  # a page or an asset with files of its own
    ALIAS = 2  # another name of `target_id`: a redirect, or a duplicate
    FAILED = 3
    SKIPPED = 4  # requested, and not saved by choice: type, size
    EXCLUDED = 5  # never requested: scope, robots.txt, traps


class Place(IntEnum):
    """Where a URL is reported. Up to `EXCLUDED` the number is that of the state it ends in."""

    PAGE = 1
    ALIAS = 2  # of a page
    FAILURE = 3
    SKIP = 4
    EXCLUDED = 5
    NOT_REACHED = 6
    GONE = 7


class Due(IntEnum):
    """A URL's place in the queue. It survives a kill: it is all that resuming needs."""

    NO = 0
    NOW = 1
    RETRY = 2  # after the main pass


class GoneCause(IntEnum):
    """Why a URL is gone. Being named again ends the first; only an answer ends the others."""

    UNNAMED = 1  # neither listed nor reached
    NOT_FOUND = 2  # 404 in two updates
    REMOVED = 3  # 410


class FileKind(IntEnum):
    """What a file is. A page that is saved in both formats has two files."""

    MARKDOWN = 1
    HTML = 2
    ASSET = 3


class ChangeKind(IntEnum):
    """What a run changed about a page; one event a URL and run."""

    ADDED = 1
    CHANGED = 2
    MOVED = 3
    GONE = 4
    BACK = 5


class Op(IntEnum):
    """An operation on a file, announced before it is done. The order is that of their execution."""

    WRITE = 1
    DELETE = 2
    LEAVE = 3  # rename, away from a path that another file gets
    ARRIVE = 4  # rename, to a path that is free once all others have left


MAX_ALIAS_HOPS: Final = 30
"""Redirects that are followed from one row to the next; a chain that is longer counts as a loop."""

PASSES_LINKS: Final = (
    f"(url.state = {UrlState.PAGE} AND url.gone_cause IS NOT {GoneCause.NOT_FOUND}"
    f" AND url.gone_cause IS NOT {GoneCause.REMOVED}"
    f" OR url.state = {UrlState.ALIAS} AND url.reason = {Reason.DUPLICATE}"
    f" OR url.state = {UrlState.FAILED} AND url.transient = 1)"
)
"""Rows whose links count: pages, their duplicates, and pages whose file was deleted and that fail for the moment."""

SCHEMA: Final = f"""
CREATE TABLE mirror (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  format TEXT,  -- set with the first saved file: a run that saved nothing claims no folder
  log_offset INTEGER NOT NULL DEFAULT 0,  -- _processed.txt: its size before the last batch, and that batch
  log_lines TEXT NOT NULL DEFAULT '',
  max_file_bytes INTEGER NOT NULL DEFAULT 0,  -- of the last run
  host_pauses TEXT NOT NULL DEFAULT '{{}}'  -- Retry-After, by host
);

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
  phase INTEGER NOT NULL,
  boot_id TEXT,
  synced_at TEXT,  -- last fsync of all files
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
  transient INTEGER,  -- 1: the failure is worth another try
  target_id INTEGER,  -- where it redirects, or the page that it duplicates; on a page: decided when the run ends
  since TEXT,  -- when this reason began
  attempts INTEGER,
  misses INTEGER,  -- runs in a row that got 404
  content_type TEXT,  -- of what was skipped
  size INTEGER,
  gone_since TEXT,
  gone_cause INTEGER,
  depth INTEGER,
  chain INTEGER,
  found_on_id INTEGER,
  kind INTEGER
);
CREATE UNIQUE INDEX url_key ON url (key);
CREATE INDEX url_depth ON url (depth, id) WHERE depth IS NOT NULL;
CREATE INDEX url_target ON url (target_id) WHERE target_id IS NOT NULL;

-- The last good answer. It stays while its URL is a duplicate, or its file is lost: what comes back equal is no change.
CREATE TABLE page (
  url_id INTEGER PRIMARY KEY,
  fetched_at TEXT,
  changed_at TEXT,
  http_status INTEGER,
  headers TEXT,
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
  linked_path TEXT,  -- where it was when its links were made local
  link_spans BLOB,
  published INTEGER NOT NULL DEFAULT 0,  -- a published path never moves
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

CREATE TABLE link_target (url_id INTEGER PRIMARY KEY, path TEXT, pending_path TEXT);

-- Where aliases end. A chain without an end has no row. Filled by `resolve_aliases`.
CREATE TABLE alias (url_id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL, hops INTEGER NOT NULL);
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
    WHEN gone_since IS NOT NULL THEN named AND url LIKE 'http%'
    ELSE named OR NOT EXISTS (SELECT 1 FROM alias WHERE page_id = url.id) END
UNION ALL
SELECT url.id, url.url, e.id, alias.hops, coalesce(url.gone_since, e.gone_since), CASE
    WHEN url.gone_since IS NOT NULL OR e.gone_since IS NOT NULL THEN {Place.GONE}
    WHEN e.state = {UrlState.PAGE} THEN {Place.ALIAS}
    WHEN e.state = {UrlState.QUEUED} THEN {Place.NOT_REACHED}
    ELSE e.state END
FROM alias JOIN url ON url.id = alias.url_id JOIN url AS e ON e.id = alias.page_id
WHERE e.state = {UrlState.PAGE} OR url.named AND (url.gone_since IS NULL OR url.url LIKE 'http%');
"""
