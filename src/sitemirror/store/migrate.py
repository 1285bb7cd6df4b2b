"""Migrate the state of an earlier version to this one. Holds all SQL about old tables."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64decode
from typing import Final

from sitemirror import urls
from sitemirror.reasons import Reason, parse_reason
from sitemirror.store.paths import path_key
from sitemirror.store.tables import (
    ASSET,
    KEY_INDEX,
    PAGE,
    SCHEMA,
    VERSION,
    Due,
    FileKind,
    GoneCause,
    Op,
    RunPhase,
    UrlState,
)

OLD_VERSIONS: Final = range(6, VERSION)
"""Versions whose state can be migrated. An older one is rebuilt from the published files."""

# `url.status` of versions up to 8.
_OLD_DUPLICATE: Final = 3
_OLD_GONE: Final = 7
_NEVER: Final = 2**31  # more than any run's number: no crawl was complete

# Old tables that must not collide with new ones. Some exist only where HTML was relinked.
_SET_ASIDE: Final = "".join(
    [
        "DROP VIEW IF EXISTS account;",
        *(f"DROP INDEX IF EXISTS {name};" for name in ("alias", "url_depth", "url_target", "sitemap_pending")),
        "DROP TABLE IF EXISTS alias;",
        "CREATE TABLE IF NOT EXISTS linking (id INTEGER PRIMARY KEY, path TEXT NOT NULL);",
        "CREATE TABLE IF NOT EXISTS relinked (id INTEGER PRIMARY KEY);",
        *(
            f"ALTER TABLE {name} RENAME TO old_{name};"
            for name in ("meta", "url", "page", "edge", "local_link", "sitemap", "doubtful", "linking", "relinked")
        ),
    ]
)

_TO_7: Final = """
ALTER TABLE old_page ADD COLUMN changed_at TEXT NOT NULL DEFAULT '';
UPDATE old_page SET changed_at = fetched_at;
"""
_WORDS_TO_REASONS: Final = """
ALTER TABLE {table} RENAME COLUMN reason TO words;
ALTER TABLE {table} ADD COLUMN reason INTEGER;
ALTER TABLE {table} ADD COLUMN detail TEXT;
UPDATE {table} SET reason = parsed(words, 0), detail = parsed(words, 1) WHERE words IS NOT NULL;
"""
_TO_8: Final = f"""
{_WORDS_TO_REASONS.format(table="old_url")}
{_WORDS_TO_REASONS.format(table="old_doubtful")}
ALTER TABLE old_page ADD COLUMN refresh_reason INTEGER;
ALTER TABLE old_page ADD COLUMN refresh_detail TEXT;
ALTER TABLE old_page ADD COLUMN missing_path TEXT;
UPDATE old_page SET refresh_reason = parsed(error, 0), refresh_detail = parsed(error, 1),
  missing_path = parsed(error, 2) WHERE error IS NOT NULL;
"""
_TO_STATE: Final = f"""
CASE status WHEN {_OLD_DUPLICATE} THEN {UrlState.ALIAS} WHEN {_OLD_GONE} THEN {{gone}}
  ELSE status - (status > {_OLD_DUPLICATE}) END
"""
_STATE_OF_GONE: Final = f"""
CASE WHEN EXISTS (SELECT 1 FROM old_page WHERE old_page.id = old_url.id) THEN {UrlState.PAGE}
  WHEN reason IS NULL OR attempts > 0 OR content_type IS NOT NULL THEN {UrlState.QUEUED}
  ELSE {UrlState.EXCLUDED} END
"""
_TO_9: Final = f"""
ALTER TABLE old_url ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
ALTER TABLE old_url ADD COLUMN gone_since TEXT;
UPDATE old_url SET state = {_TO_STATE.format(gone=_STATE_OF_GONE)},
  gone_since = CASE status WHEN {_OLD_GONE} THEN coalesce(at, '') END,
  reason = CASE status WHEN {_OLD_DUPLICATE} THEN {Reason.DUPLICATE} WHEN {UrlState.ALIAS} THEN
    CASE WHEN transient = 1 THEN {Reason.MOVED_TEMPORARILY} ELSE {Reason.MOVED} END ELSE reason END;
ALTER TABLE old_doubtful ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
UPDATE old_doubtful SET state = {_TO_STATE.format(gone=0)};
"""
_TO_10: Final = ""  # aliases became a table, which is computed
# One column had the run that named a URL, but not how it was named. A listed URL counts as reached by the last crawl as
# well, if that run was one.
_TO_11: Final = """
ALTER TABLE old_url ADD COLUMN named INTEGER NOT NULL DEFAULT 1;
ALTER TABLE old_url ADD COLUMN listed_run INTEGER;
ALTER TABLE old_url ADD COLUMN reached_run INTEGER;
UPDATE old_url SET named = run != 0, listed_run = CASE WHEN run > 0 AND sitemap > 0 THEN run END,
  reached_run = CASE WHEN run > 0 AND (sitemap <= 0 OR run = (SELECT number FROM temp.last_run WHERE by_links))
    THEN run END;
ALTER TABLE old_doubtful ADD COLUMN listed_run INTEGER;
UPDATE old_doubtful SET listed_run = run WHERE run > 0;
"""
_STEPS: Final = {6: _TO_7, 7: _TO_8, 8: _TO_9, 9: _TO_10, 10: _TO_11}


def _note(name: str, path: str = "") -> str:
    """SQL for a small fact of the old state, or a part of it; NULL if it was not set."""
    value = f"json_extract(value, '{path}')" if path else "value"
    return f"(SELECT {value} FROM old_meta WHERE name = '{name}')"


_MODE: Final = _note("run", "$.mode")
_LAST_RUN: Final = f"""
CREATE TEMP TABLE last_run AS
SELECT {_note("run", "$.number")} AS number, max({_note("run", "$.source")}, 1) AS start,
  {_note("run", "$.finished")} AS finished, {_MODE} LIKE 'links%' AS by_links,
  {_MODE} LIKE '%:update' OR {_MODE} LIKE '%:all' AS renews
WHERE {_note("run")} IS NOT NULL;
"""

# The last complete run of each kind, by start URL. Versions before 11 did not record them.
_STARTS: Final = f"""
INSERT INTO start (id, url) SELECT key + 1, value FROM json_each({_note("sources")});
UPDATE start SET listing_run = nullif(json_extract(noted.value, '$[0]'), 0),
  crawl_run = CASE WHEN json_extract(noted.value, '$[1]') < {_NEVER} THEN json_extract(noted.value, '$[1]') END
FROM json_each({_note("complete_runs")}) AS noted WHERE noted.key = CAST(start.id AS TEXT);
UPDATE start SET listing_run = (SELECT max(listed_run) FROM old_url WHERE source = start.id
    AND listed_run NOT IN (SELECT number FROM temp.last_run WHERE NOT finished)),
  crawl_run = (SELECT number FROM temp.last_run WHERE by_links AND finished AND start = start.id)
WHERE {_note("complete_runs")} IS NULL;
"""
_RUNS: Final = f"""
INSERT INTO run (id, start_id, uuid, mode, scope, started_at, finished_at, phase, boot_id, folders)
SELECT number, start, {_note("run", "$.uuid")}, {_MODE}, {_note("run", "$.scope")}, {_note("run", "$.started_at")},
  CASE WHEN finished THEN {_note("run", "$.started_at")} END,
  CASE WHEN finished THEN {RunPhase.FINISHED} WHEN {_note("run", "$.discovered")} THEN {RunPhase.VISITING}
    ELSE {RunPhase.DISCOVERING} END,
  CASE WHEN coalesce({_note("writing_to")}, '[]') != '[]' THEN {_note("booted", "$")} END,
  coalesce({_note("writing_to")}, '[]')
FROM temp.last_run;
"""
_MIRROR: Final = f"""
UPDATE mirror SET format = {_note("format", "$")}, host_pauses = coalesce({_note("pace")}, '{{}}'),
  max_file_bytes = CAST(coalesce({_note("size limit")}, 0) AS INTEGER),
  log_offset = coalesce({_note("log", "$.offset")}, 0),
  log_lines = coalesce((SELECT group_concat(value || char(10), '') FROM json_each({_note("log")}, '$.lines')), ''),
  is_relinking = coalesce({_note("linking")} = 'true', 0);
"""

# Maps a row of version 11 to this one. `old_url` is o, `old_page` is p.
_REACHED: Final = """
CASE WHEN o.reached_run IS NULL OR o.reached_run = start.listing_run OR o.reached_run < start.crawl_run
  OR start.crawl_run IS NULL THEN o.reached_run ELSE start.crawl_run END
"""
# An interrupted run resumes with the URLs that it has not checked.
_QUEUE: Final = f"""
CASE WHEN last.finished IS NULL OR last.finished OR o.gone_since IS NOT NULL OR o.source NOT IN (0, last.start)
    OR o.state = {UrlState.EXCLUDED} THEN {Due.NO}
  WHEN o.state = {UrlState.QUEUED} OR o.seen = -1 THEN {Due.NOW}
  WHEN o.seen >= last.number THEN {Due.NO}
  WHEN o.state = {UrlState.FAILED} OR last.renews THEN {Due.NOW}
  ELSE {Due.NO} END
"""
_URLS: Final = f"""
INSERT INTO url (id, key, url, state, queue, start_id, named, listed_run, reached_run, checked_run, sitemap_id,
  lastmod, priority, alternates, reason, detail, missing_path, transient, target_id, since, checked_at, attempts,
  content_type, size, gone_since, gone_cause, depth, chain, found_on_id, kind)
SELECT o.id, o.key, o.url, o.state, {_QUEUE}, max(o.source, 1),
  CASE WHEN o.gone_since IS NULL THEN o.named
    ELSE o.named OR o.sitemap != 0 OR o.source = 0 OR o.kind IS NOT NULL OR p.id IS NOT NULL END,
  o.listed_run, {_REACHED}, CASE WHEN o.seen > 0 THEN o.seen END, CASE WHEN o.sitemap > 0 THEN o.sitemap END,
  o.lastmod, o.priority, o.alternates,
  CASE WHEN o.state != {UrlState.PAGE} THEN o.reason
    WHEN o.gone_since IS NULL OR p.refresh_reason != {Reason.FILE_DELETED} THEN p.refresh_reason END,
  CASE WHEN o.state = {UrlState.PAGE} THEN p.refresh_detail ELSE o.detail END,
  CASE WHEN o.state = {UrlState.PAGE} THEN p.missing_path END,
  CASE WHEN o.state IN ({UrlState.PAGE}, {UrlState.FAILED}) THEN o.transient END,
  CASE WHEN o.state = {UrlState.ALIAS} THEN o.leads_to END,
  CASE WHEN o.state != {UrlState.PAGE} OR p.refresh_reason IS NOT NULL THEN o.at END, o.at, o.attempts,
  o.content_type, o.size, o.gone_since, CASE WHEN o.gone_since IS NOT NULL THEN {GoneCause.UNNAMED} END,
  o.depth, o.chain, o.found_on, o.kind
FROM old_url AS o LEFT JOIN old_page AS p ON p.id = o.id LEFT JOIN start ON start.id = max(o.source, 1)
  LEFT JOIN temp.last_run AS last
ORDER BY o.id;
"""
_KEYED: Final = f"""
UPDATE url SET target_id = (SELECT id FROM url AS target WHERE target.key = key_of(url.detail))
WHERE state = {UrlState.PAGE} AND reason = {Reason.MOVED_TEMPORARILY};
"""
_LINKS_KNOWN: Final = f"""
(o.seen != -1 AND (o.depth IS NOT NULL
  OR coalesce(o.kind = {ASSET} AND p.content_type NOT IN ('text/css', 'image/svg+xml'), 0)))
"""
_PAGES: Final = f"""
INSERT INTO page (url_id, fetched_at, changed_at, http_status, not_modified, headers, etag, last_modified,
  content_type, title, canonical, text_hash, links_known, meta, anchors, hidden_texts)
SELECT p.id, nullif(p.fetched_at, ''), nullif(p.changed_at, ''), p.http_status, p.not_modified, p.headers, p.etag,
  p.last_modified, p.content_type, p.title, p.canonical, p.body, {_LINKS_KNOWN}, p.meta,
  p.anchors, p.hidden_texts
FROM old_page AS p JOIN old_url AS o ON o.id = p.id ORDER BY p.id;
"""
# A duplicate has a row in `old_page`, but no file. One of two files of a gone page may have been deleted.
_MAIN_KIND: Final = f"""
CASE WHEN o.kind = {ASSET} THEN {FileKind.ASSET} WHEN p.html_path = p.path THEN {FileKind.HTML}
  WHEN o.kind = {PAGE} OR p.path LIKE '%.md' THEN {FileKind.MARKDOWN}
  WHEN p.path LIKE '%.html' THEN {FileKind.HTML} ELSE {FileKind.ASSET} END
"""
_FILES: Final = f"""
INSERT INTO file (url_id, kind, path, preferred_path, path_key, size, sha256, received_sha256, linked_path, link_spans,
  published, durable)
SELECT p.id, {_MAIN_KIND}, p.path, p.wanted, path_key(p.wanted),
  CASE WHEN p.sha256 IS NOT NULL OR p.fetched_at != '' THEN p.size END, from_hex(p.sha256),
  from_hex(substr(p.received, 1, 64)),
  CASE WHEN p.html_path = p.path THEN nullif(p.local_at, '') WHEN l.sha256 = p.sha256 THEN p.path END,
  CASE WHEN l.sha256 = p.sha256 THEN l.links END, p.published, p.durable
FROM old_page AS p JOIN old_url AS o ON o.id = p.id LEFT JOIN old_local_link AS l ON l.id = p.id
WHERE o.state = {UrlState.PAGE} AND NOT (o.gone_since IS NOT NULL
  AND p.refresh_reason IS {Reason.FILE_DELETED} AND p.refresh_detail IS p.path)
ORDER BY p.id;
INSERT INTO file (url_id, kind, path, preferred_path, path_key, size, sha256, received_sha256, linked_path,
  published, durable)
SELECT p.id, {FileKind.HTML}, p.html_path, html_beside(p.wanted), path_key(p.wanted), p.html_size,
  from_hex(p.html_sha256), from_hex(substr(p.received, 66)), nullif(p.local_at, ''), p.published, p.durable
FROM old_page AS p JOIN old_url AS o ON o.id = p.id
WHERE o.state = {UrlState.PAGE} AND p.html_path IS NOT NULL AND p.html_path != p.path
ORDER BY p.id;
"""
# Requisites were as deep as their page.
_LINKS: Final = f"""
INSERT INTO link (src_id, dst_id, attribute, requisite)
SELECT src, dst, attribute, coalesce(there.kind = {ASSET}, 0)
  AND (attribute = 1 OR here.depth IS NULL OR there.depth IS NULL OR there.depth <= here.depth)
FROM old_edge JOIN old_url AS here ON here.id = src JOIN old_url AS there ON there.id = dst;
INSERT INTO link_target (url_id, path, pending_path)
SELECT o.id, nullif(o.linked_as, ''), pending.path FROM old_url AS o LEFT JOIN old_linking AS pending USING (id)
WHERE o.linked_as != '' OR pending.path IS NOT NULL;
INSERT INTO relinked SELECT file.id FROM old_relinked AS o JOIN file ON file.url_id = o.id
WHERE file.kind != {FileKind.MARKDOWN};
"""
_SITEMAPS: Final = f"""
INSERT INTO sitemap (id, run, key, url, depth, status, urls, repeats, kind, error)
SELECT id, run, key, url, depth, status, urls, repeats, kind, error FROM old_sitemap;
INSERT INTO intake (id, key, url, state, queue, start_id, named, listed_run, sitemap_id, lastmod, priority, alternates,
  reason, detail)
SELECT id, key, url, state, CASE state WHEN {UrlState.QUEUED} THEN {Due.NOW} ELSE {Due.NO} END, max(source, 1), 1,
  listed_run, sitemap, lastmod, priority, alternates, reason, detail FROM old_doubtful;
"""
# A kill has left file operations. Their rows are written at once, as the journal does.
_JOURNAL: Final = f"""
CREATE TEMP TABLE way AS
SELECT key AS n, json_extract(value, '$[0]') AS old, json_extract(value, '$[1]') AS aside,
  json_extract(value, '$[2]') AS new, {_note("moving", "$.clear")} AS is_clear
FROM json_each({_note("moving")}, '$.files');
INSERT INTO journal (op, path) SELECT {Op.DELETE}, old FROM temp.way WHERE new = '' AND NOT is_clear ORDER BY n;
INSERT INTO journal (op, path, new_path)
SELECT {Op.LEAVE}, old, aside FROM temp.way WHERE new != '' AND aside != '' AND NOT is_clear ORDER BY n;
INSERT INTO journal (op, path, new_path)
SELECT {Op.ARRIVE}, CASE aside WHEN '' THEN old ELSE aside END, new FROM temp.way WHERE new != '' ORDER BY n;
UPDATE file SET path = CASE file.path WHEN moved.old THEN moved.new ELSE html_beside(moved.new) END, durable = 0
FROM (SELECT json_extract(value, '$[0]') AS page, json_extract(value, '$[1]') AS old,
        json_extract(value, '$[2]') AS new FROM json_each({_note("moving")}, '$.rows')) AS moved
WHERE file.url_id = moved.page;
INSERT INTO journal (op, path, sha256, row)
SELECT {Op.RELINK}, file.path, from_hex(json_extract(value, '$[2]')),
  relink_row(json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[3]'),
    json_extract(value, '$[4]'))
FROM json_each({_note("relinking")}) JOIN file ON file.url_id = json_extract(value, '$[0]')
WHERE file.kind = {FileKind.MARKDOWN};
"""
_CLEAN_UP: Final = "".join(
    f"DROP TABLE {name};"
    for name in (
        *("temp.way", "temp.last_run", "old_meta", "old_url", "old_page", "old_edge", "old_local_link", "old_sitemap"),
        *("old_doubtful", "old_linking", "old_relinked"),
    )
)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Migrate a state to this version, all or nothing."""
    db.create_function("parsed", 2, _parsed, deterministic=True)
    db.create_function("key_of", 1, lambda url: url and urls.key(url), deterministic=True)
    db.create_function("path_key", 1, path_key, deterministic=True)
    db.create_function("from_hex", 1, _from_hex, deterministic=True)  # SQLite has `unhex` since 3.41.
    db.create_function("relink_row", 4, _relink_row, deterministic=True)
    db.create_function("html_beside", 1, _html_beside, deterministic=True)
    has_keys = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'url_key'").fetchone() is not None
    steps = "".join(_STEPS[each] for each in range(version, 11))
    # Creating an index at the end is faster than adding every row to it. A missing one stays missing: opening the state
    # creates it, with the URLs that wait for it.
    index = KEY_INDEX if has_keys else ""
    try:
        db.executescript(
            f"BEGIN; {_SET_ASIDE} DROP INDEX IF EXISTS url_key; {_LAST_RUN} {steps}"
            f"{SCHEMA} DROP INDEX url_key; DROP INDEX file_key; {_STARTS} {_RUNS} {_MIRROR} {_URLS} {index}"
            f"{_KEYED} {_PAGES} {_FILES} CREATE INDEX file_key ON file (path_key);"
            f"{_LINKS} {_SITEMAPS} {_JOURNAL} {_CLEAN_UP}"
        )
        db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _parsed(words: str, field: int) -> int | str | None:
    """Return one field of the cause that these words were generated from."""
    return parse_reason(words)[field]


def _from_hex(text: str | None) -> bytes | None:
    """Return the hash in a column; None for a mark that is no hash."""
    try:
        return bytes.fromhex(text) if text and len(text) == 64 else None
    except ValueError:
        return None


def _relink_row(id: int, size: int, links: str, is_vague: int) -> str:
    """Return the journal's row for a relinked Markdown file."""
    return json.dumps([id, size, b64decode(links).hex(), bool(is_vague)])


def _html_beside(markdown: str) -> str:
    return markdown.removesuffix(".md") + ".html"
