"""Reasons: every text that 0.1 could write is one, and is formatted back to the same text."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason, cause_of, format_reason, parse_reason, text_of
from sitemirror.store.database import State
from tests.store.older import empty_state

WORDS = [
    ("domain lock", Reason.DOMAIN_LOCK, None),
    ("outside the start path", Reason.OUTSIDE_START, None),
    ("not matched by --include-path", Reason.NOT_INCLUDED, None),
    ("matched by --exclude-path", Reason.EXCLUDED, None),
    ("disallowed by robots.txt", Reason.ROBOTS, None),
    ("deeper than --link-depth", Reason.TOO_DEEP, None),
    ("nofollow: the page's robots meta", Reason.NOFOLLOW_PAGE, None),
    ("nofollow: the link", Reason.NOFOLLOW_LINK, None),
    ("link not followed", Reason.NOT_FOLLOWED, None),
    ("non-http(s) scheme", Reason.NOT_HTTP, None),
    ("file-scheme", Reason.FILE_SCHEME, None),
    ("invalid", Reason.INVALID_LINK, None),
    ("mailto: scheme", Reason.OTHER_SCHEME, "mailto"),
    ("view-source: scheme", Reason.OTHER_SCHEME, "view-source"),
    ("not a valid URL", Reason.INVALID_URL, None),
    ("URL too long", Reason.URL_TOO_LONG, None),
    ("credentials in the URL", Reason.CREDENTIALS, None),
    ("trap: URL longer than 2000 characters", Reason.TRAP_LONG_URL, "2000"),
    ("trap: more than 200 links in a row to URLs of the same shape", Reason.TRAP_CHAIN, "200"),
    ("trap: path deeper than 32 segments", Reason.TRAP_DEPTH, "32"),
    ("trap: a part of the path stands in it more than 3 times", Reason.TRAP_REPEATS, "3"),
    ("trap: more than 100000 queries of one path", Reason.TRAP_QUERIES, "100000"),
    ("trap: the same parameters in more than 4 orders", Reason.TRAP_ORDERS, "4"),
    ("trap: too many combinations of the same values in queries of one path", Reason.TRAP_COMBINATIONS, None),
    ("exceeds size limit", Reason.TOO_LARGE, None),
    ("content type application/pdf", Reason.WRONG_TYPE, "application/pdf"),
    ("content type image/png, sent as text/html", Reason.WRONG_TYPE, "image/png, sent as text/html"),
    ("HTTP 204: no content", Reason.NO_CONTENT, "204"),
    ("a page without text", Reason.EMPTY, None),
    ("40 pages came back with one text", Reason.COLLAPSED, "40"),
    ("not HTML", Reason.NOT_HTML, None),
    ("unreadable: binary data, sent as text/html", Reason.UNREADABLE, "binary data, sent as text/html"),
    ("redirects out of scope: https://o.example/ (domain lock)", Reason.REDIRECT_OFF_DOMAIN, "https://o.example/"),
    (
        "redirects out of scope: https://e.example/a_(b) (outside the start path)",
        Reason.REDIRECT_OUTSIDE_START,
        "https://e.example/a_(b)",
    ),
    (
        "redirects out of scope: https://e.example/ (not matched by --include-path)",
        Reason.REDIRECT_NOT_INCLUDED,
        "https://e.example/",
    ),
    (
        "redirects out of scope: https://e.example/ (matched by --exclude-path)",
        Reason.REDIRECT_EXCLUDED,
        "https://e.example/",
    ),
    ("not matched by --include", Reason.URL_NOT_INCLUDED, None),
    ("matched by --exclude", Reason.URL_EXCLUDED, None),
    (
        "redirects out of scope: https://e.example/?a (not matched by --include)",
        Reason.REDIRECT_URL_NOT_INCLUDED,
        "https://e.example/?a",
    ),
    (
        "redirects out of scope: https://e.example/?a (matched by --exclude)",
        Reason.REDIRECT_URL_EXCLUDED,
        "https://e.example/?a",
    ),
    ("redirects for now to https://e.example/back;soon", Reason.MOVED_TEMPORARILY, "https://e.example/back;soon"),
    (
        "redirects to https://e.example/x: HTTP 404",
        Reason.REDIRECT_TARGET_FAILED,
        "https://e.example/x: HTTP 404",
    ),
    ("redirect loop", Reason.REDIRECT_LOOP, None),
    ("too many redirects", Reason.TOO_MANY_REDIRECTS, None),
    ("redirect that cannot be followed: ftp: scheme: ftp://x/", Reason.BAD_LOCATION, "ftp: scheme: ftp://x/"),
    ("HTTP 302 without a Location", Reason.NO_LOCATION, "302"),
    ("HTTP 302 with several Locations", Reason.SEVERAL_LOCATIONS, "302"),
    ("moved to https://example.com/a", Reason.MOVED, "https://example.com/a"),
    ("same text as https://example.com/a", Reason.DUPLICATE, "https://example.com/a"),
    ("HTTP 404", Reason.HTTP_STATUS, "404"),
    ("HTTP 503 after 6 tries", Reason.STILL_BUSY, "503 after 6 tries"),
    ("HTTP 206: only a part was sent", Reason.PARTIAL_CONTENT, None),
    ("malformed response: header too long", Reason.MALFORMED, "header too long"),
    ("malformed response: the body breaks its own framing", Reason.MALFORMED, "the body breaks its own framing"),
    ("body shorter than announced", Reason.BODY_TOO_SHORT, None),
    ("corrupt gzip body", Reason.CORRUPT_BODY, "gzip"),
    ("truncated br body", Reason.TRUNCATED_BODY, "br"),
    ("content encoding rot13", Reason.CONTENT_ENCODING, "rot13"),
    ("transfer encoding gzip, chunked", Reason.TRANSFER_ENCODING, "gzip, chunked"),
    ("too many content encodings", Reason.TOO_MANY_ENCODINGS, None),
    ("timed out after 0.5 s", Reason.TIMED_OUT, "0.5"),
    ("no such host", Reason.NO_SUCH_HOST, None),
    ("connection refused", Reason.CONNECTION_REFUSED, None),
    ("connection reset", Reason.CONNECTION_RESET, None),
    ("connection timed out", Reason.CONNECTION_TIMED_OUT, None),
    ("connection closed without an answer", Reason.CONNECTION_CLOSED, None),
    ("connection failed", Reason.CONNECTION_FAILED, None),
    ("host unreachable", Reason.HOST_UNREACHABLE, None),
    ("network unreachable", Reason.NETWORK_UNREACHABLE, None),
    ("no such address", Reason.NO_SUCH_ADDRESS, None),
    ("too many open files", Reason.TOO_MANY_FILES, None),
    ("address not allowed: 127.0.0.1", Reason.ADDRESS_REFUSED, "127.0.0.1"),
    ("TLS failure: certificate has expired", Reason.TLS, "certificate has expired"),
    ("TLS failure: wrong version number", Reason.NOT_TLS, None),
    ("proxy: no such host", Reason.PROXY_NO_SUCH_HOST, None),
    ("proxy: connection refused", Reason.PROXY_REFUSED, None),
    ("proxy: TLS failure: handshake failed", Reason.PROXY_TLS, "handshake failed"),
    ("proxy: HTTP 407", Reason.PROXY_FAILED, "HTTP 407"),
    ("host given up: connection reset, 9 times in a row", Reason.GIVEN_UP, "connection reset, 9 times in a row"),
    ("could not be fetched: KeyError", Reason.FETCH_ERROR, "KeyError"),
    ("robots.txt cannot be had: HTTP 503", Reason.ROBOTS_UNAVAILABLE, "HTTP 503"),
    ("could not be converted: ValueError: a\nb", Reason.CONVERSION, "ValueError: a\nb"),
    (
        "its file name cannot be written in ascii, this system's encoding: python -X utf8 can",
        Reason.UNWRITABLE_NAME,
        "ascii",
    ),
    ("example.com/a b.html was deleted", Reason.FILE_DELETED, "example.com/a b.html"),
    ("not a sitemap", Reason.NOT_A_SITEMAP, None),
    ("what a person wrote into the manifest", Reason.OTHER, "what a person wrote into the manifest"),
]


@pytest.mark.parametrize(("text", "reason", "detail"), WORDS)
def test_words_of_0_1_are_a_reason_and_the_same_words_again(text: str, reason: Reason, detail: str | None) -> None:
    """Alone, and as the reason of a copy whose second file was deleted."""
    assert parse_reason(text) == Cause(reason, detail)
    assert format_reason(reason, detail) == text
    halved = f"{text}; example.com/a.html was deleted, and cannot be had"
    assert parse_reason(halved) == Cause(reason, detail, "example.com/a.html")
    assert parse_reason(halved).text == halved


def test_every_reason_is_in_the_table() -> None:
    """A new reason needs its words, and they must not be another's."""
    assert {reason for _, reason, _ in WORDS} == set(Reason)
    assert {parse_reason(format_reason(reason)).reason for reason in REDIRECTED_OUT} == set(REDIRECTED_OUT)


@given(st.text())
def test_any_text_is_restored(text: str) -> None:
    """Any reason in an old manifest is published unchanged."""
    assert parse_reason(text).text == text


@pytest.mark.parametrize("version", [6, 7])
def test_old_states_keep_their_reasons(tmp_path: Path, version: int) -> None:
    """URLs, URLs that wait to be looked up, and old copies: as data when the state is opened, with the same words."""
    path = tmp_path / "state.sqlite3"
    texts = [text for text, *_ in WORDS]
    copies = [*texts, *(f"{text}; a/b.html was deleted, and cannot be had" for text in texts)]
    empty_state(path, version)
    saved, failed = 1, 4
    columns = "(id, key, url, status, run, source, sitemap, reason) VALUES (?, ?, ?, ?, 1, 1, 1, ?)"
    with closing(sqlite3.connect(path)) as db, db:
        for n, text in enumerate(texts, 1):
            for table in ("url", "doubtful"):
                key = n.to_bytes(16)
                db.execute(f"INSERT INTO {table} {columns}", (n, key, f"https://example.com/{n}", failed, text))
        for n, text in enumerate(copies, 1001):
            row = (n, n.to_bytes(16), f"https://example.com/{n}", saved, None)
            db.execute(f"INSERT INTO url {columns}", row)
            query = "INSERT INTO page (id, path, wanted, fold, size, fetched_at, error) VALUES (?, ?, ?, '', 1, '', ?)"
            db.execute(query, (n, f"{n}.md", f"{n}.md", text))
    with closing(State.open(path)) as state:
        query = "SELECT reason, detail, missing_path FROM url WHERE id > 1000 ORDER BY id"
        rows = state.db.execute(query).fetchall()
        assert [text_of(*row) for row in rows] == copies
        assert [cause_of(*row) for row in rows] == [parse_reason(text) for text in copies]
        for table in ("url", "intake"):
            rows = state.db.execute(f"SELECT reason, detail FROM {table} WHERE id < 1000 ORDER BY id").fetchall()
            assert [text_of(*row) for row in rows] == texts
