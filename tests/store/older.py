"""Makes a state one of an earlier version, to open it with this one."""

from __future__ import annotations

import sqlite3

from sitemirror.reasons import text_of


def to_version_8(db: sqlite3.Connection) -> None:
    """One number tells what there is of a URL, and that it is gone; aliases are resolved for each report."""
    db.executescript("""
        DROP VIEW account;
        DROP TABLE alias;
        DROP INDEX url_target;
        CREATE INDEX alias ON url (leads_to) WHERE leads_to IS NOT NULL;
        ALTER TABLE url ADD COLUMN old INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE url ADD COLUMN named_by INTEGER NOT NULL DEFAULT 0;
        UPDATE url SET old = status, named_by = run, at = coalesce(gone_since, at);
        UPDATE url SET reason = NULL WHERE state = 2;
        ALTER TABLE url DROP COLUMN status;
        ALTER TABLE url DROP COLUMN run;
        ALTER TABLE url DROP COLUMN named;
        ALTER TABLE url DROP COLUMN listed_run;
        ALTER TABLE url DROP COLUMN reached_run;
        ALTER TABLE url RENAME COLUMN named_by TO run;
        ALTER TABLE doubtful RENAME COLUMN listed_run TO run;
        ALTER TABLE url DROP COLUMN state;
        ALTER TABLE url DROP COLUMN gone_since;
        ALTER TABLE url RENAME COLUMN old TO status;
        ALTER TABLE doubtful RENAME COLUMN state TO status;
        UPDATE doubtful SET status = 6 WHERE status = 5;
        PRAGMA user_version=8;
    """)


def to_version_7(db: sqlite3.Connection) -> None:
    """Reasons are words."""
    to_version_8(db)
    db.create_function("words", 3, text_of)
    for table in ("url", "doubtful"):
        db.executescript(f"""
            ALTER TABLE {table} ADD COLUMN words TEXT;
            UPDATE {table} SET words = words(reason, detail, NULL);
            ALTER TABLE {table} DROP COLUMN reason;
            ALTER TABLE {table} DROP COLUMN detail;
            ALTER TABLE {table} RENAME COLUMN words TO reason;
        """)
    db.executescript("""
        DROP INDEX page_refresh;
        ALTER TABLE page ADD COLUMN error TEXT;
        UPDATE page SET error = words(refresh_reason, refresh_detail, missing_path);
        ALTER TABLE page DROP COLUMN refresh_reason;
        ALTER TABLE page DROP COLUMN refresh_detail;
        ALTER TABLE page DROP COLUMN missing_path;
        CREATE INDEX page_error ON page (id) WHERE error IS NOT NULL;
        PRAGMA user_version=7;
    """)


def to_version_6(db: sqlite3.Connection) -> None:
    """Nobody knows when pages changed."""
    to_version_7(db)
    db.executescript("ALTER TABLE page DROP COLUMN changed_at; PRAGMA user_version=6;")
