"""Why a URL has no page, or its copy is older than the last answer: an enum and its variable part.

Code decides by `Reason`; text is generated where people read it. `parse_reason` is for states and manifests
that were written when only the words were stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple


class Reason(IntEnum):
    """Reasons, stored by number. Numbers never change their meaning; none is 0, so a reason is truthy."""

    OTHER = 1  # free text

    # Never requested
    DOMAIN_LOCK = 10
    OUTSIDE_START = 11
    NOT_INCLUDED = 12
    EXCLUDED = 13
    URL_NOT_INCLUDED = 19
    URL_EXCLUDED = 27
    ROBOTS = 14
    TOO_DEEP = 15
    NOFOLLOW_PAGE = 16
    NOFOLLOW_LINK = 17
    NOT_FOLLOWED = 18
    NOT_HTTP = 20
    FILE_SCHEME = 21
    INVALID_LINK = 22
    OTHER_SCHEME = 23
    INVALID_URL = 24
    URL_TOO_LONG = 25
    CREDENTIALS = 26
    TRAP_LONG_URL = 30
    TRAP_CHAIN = 31
    TRAP_DEPTH = 32
    TRAP_REPEATS = 33
    TRAP_QUERIES = 34
    TRAP_ORDERS = 35
    TRAP_COMBINATIONS = 36

    # Requested, and not saved by choice
    TOO_LARGE = 40
    WRONG_TYPE = 41
    NO_CONTENT = 42
    NOT_HTML = 43
    UNREADABLE = 44
    EMPTY = 45
    COLLAPSED = 46

    # Redirects. The detail of the first five is the location.
    REDIRECT_OFF_DOMAIN = 50
    REDIRECT_OUTSIDE_START = 51
    REDIRECT_NOT_INCLUDED = 52
    REDIRECT_EXCLUDED = 53
    MOVED_TEMPORARILY = 54
    REDIRECT_TARGET_FAILED = 55
    REDIRECT_LOOP = 56
    TOO_MANY_REDIRECTS = 57
    BAD_LOCATION = 58
    NO_LOCATION = 59
    SEVERAL_LOCATIONS = 60
    REDIRECT_URL_NOT_INCLUDED = 63
    REDIRECT_URL_EXCLUDED = 64
    MOVED = 61
    DUPLICATE = 62

    # The server's answer
    HTTP_STATUS = 70
    STILL_BUSY = 71
    PARTIAL_CONTENT = 72
    MALFORMED = 73
    BODY_TOO_SHORT = 74
    CORRUPT_BODY = 75
    TRUNCATED_BODY = 76
    CONTENT_ENCODING = 77
    TRANSFER_ENCODING = 78
    TOO_MANY_ENCODINGS = 79

    # No answer
    TIMED_OUT = 90
    NO_SUCH_HOST = 91
    CONNECTION_REFUSED = 92
    CONNECTION_RESET = 93
    CONNECTION_TIMED_OUT = 94
    CONNECTION_CLOSED = 95
    CONNECTION_FAILED = 96
    HOST_UNREACHABLE = 97
    NETWORK_UNREACHABLE = 98
    NO_SUCH_ADDRESS = 99
    TOO_MANY_FILES = 100
    ADDRESS_REFUSED = 101
    TLS = 102
    NOT_TLS = 103
    PROXY_NO_SUCH_HOST = 104
    PROXY_REFUSED = 105
    PROXY_TLS = 106
    PROXY_FAILED = 107
    GIVEN_UP = 108
    FETCH_ERROR = 109
    ROBOTS_UNAVAILABLE = 110

    # On our side
    CONVERSION = 120
    UNWRITABLE_NAME = 121
    FILE_DELETED = 122
    NOT_A_SITEMAP = 123


_TEXTS: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.OTHER: "{text}",
        Reason.DOMAIN_LOCK: "domain lock",
        Reason.OUTSIDE_START: "outside the start path",
        Reason.NOT_INCLUDED: "not matched by --include-path",
        Reason.EXCLUDED: "matched by --exclude-path",
        Reason.URL_NOT_INCLUDED: "not matched by --include",
        Reason.URL_EXCLUDED: "matched by --exclude",
        Reason.ROBOTS: "disallowed by robots.txt",
        Reason.TOO_DEEP: "deeper than --link-depth",
        Reason.NOFOLLOW_PAGE: "nofollow: the page's robots meta",
        Reason.NOFOLLOW_LINK: "nofollow: the link",
        Reason.NOT_FOLLOWED: "link not followed",
        Reason.NOT_HTTP: "non-http(s) scheme",
        Reason.FILE_SCHEME: "file-scheme",
        Reason.INVALID_LINK: "invalid",
        Reason.OTHER_SCHEME: "{scheme}: scheme",
        Reason.INVALID_URL: "not a valid URL",
        Reason.URL_TOO_LONG: "URL too long",
        Reason.CREDENTIALS: "credentials in the URL",
        Reason.TRAP_LONG_URL: "trap: URL longer than {number} characters",
        Reason.TRAP_CHAIN: "trap: more than {number} links in a row to URLs of the same shape",
        Reason.TRAP_DEPTH: "trap: path deeper than {number} segments",
        Reason.TRAP_REPEATS: "trap: a part of the path stands in it more than {number} times",
        Reason.TRAP_QUERIES: "trap: more than {number} queries of one path",
        Reason.TRAP_ORDERS: "trap: the same parameters in more than {number} orders",
        Reason.TRAP_COMBINATIONS: "trap: too many combinations of the same values in queries of one path",
        Reason.TOO_LARGE: "exceeds size limit",
        Reason.WRONG_TYPE: "content type {text}",
        Reason.NO_CONTENT: "HTTP {number}: no content",
        Reason.NOT_HTML: "not HTML",
        Reason.UNREADABLE: "unreadable: {text}",
        Reason.EMPTY: "a page without text",
        Reason.COLLAPSED: "{number} pages came back with one text",
        Reason.REDIRECT_OFF_DOMAIN: "redirects out of scope: {url} (domain lock)",
        Reason.REDIRECT_OUTSIDE_START: "redirects out of scope: {url} (outside the start path)",
        Reason.REDIRECT_NOT_INCLUDED: "redirects out of scope: {url} (not matched by --include-path)",
        Reason.REDIRECT_EXCLUDED: "redirects out of scope: {url} (matched by --exclude-path)",
        Reason.REDIRECT_URL_NOT_INCLUDED: "redirects out of scope: {url} (not matched by --include)",
        Reason.REDIRECT_URL_EXCLUDED: "redirects out of scope: {url} (matched by --exclude)",
        Reason.MOVED_TEMPORARILY: "redirects for now to {url}",
        Reason.REDIRECT_TARGET_FAILED: "redirects to {text}",
        Reason.REDIRECT_LOOP: "redirect loop",
        Reason.TOO_MANY_REDIRECTS: "too many redirects",
        Reason.BAD_LOCATION: "redirect that cannot be followed: {text}",
        Reason.NO_LOCATION: "HTTP {number} without a Location",
        Reason.SEVERAL_LOCATIONS: "HTTP {number} with several Locations",
        Reason.MOVED: "moved to {url}",
        Reason.DUPLICATE: "same text as {url}",
        Reason.HTTP_STATUS: "HTTP {number}",
        Reason.STILL_BUSY: "HTTP {tried}",
        Reason.PARTIAL_CONTENT: "HTTP 206: only a part was sent",
        Reason.MALFORMED: "malformed response: {text}",
        Reason.BODY_TOO_SHORT: "body shorter than announced",
        Reason.CORRUPT_BODY: "corrupt {word} body",
        Reason.TRUNCATED_BODY: "truncated {word} body",
        Reason.CONTENT_ENCODING: "content encoding {text}",
        Reason.TRANSFER_ENCODING: "transfer encoding {text}",
        Reason.TOO_MANY_ENCODINGS: "too many content encodings",
        Reason.TIMED_OUT: "timed out after {text} s",
        Reason.NO_SUCH_HOST: "no such host",
        Reason.CONNECTION_REFUSED: "connection refused",
        Reason.CONNECTION_RESET: "connection reset",
        Reason.CONNECTION_TIMED_OUT: "connection timed out",
        Reason.CONNECTION_CLOSED: "connection closed without an answer",
        Reason.CONNECTION_FAILED: "connection failed",
        Reason.HOST_UNREACHABLE: "host unreachable",
        Reason.NETWORK_UNREACHABLE: "network unreachable",
        Reason.NO_SUCH_ADDRESS: "no such address",
        Reason.TOO_MANY_FILES: "too many open files",
        Reason.ADDRESS_REFUSED: "address not allowed: {text}",
        Reason.TLS: "TLS failure: {text}",
        Reason.NOT_TLS: "TLS failure: wrong version number",
        Reason.PROXY_NO_SUCH_HOST: "proxy: no such host",
        Reason.PROXY_REFUSED: "proxy: connection refused",
        Reason.PROXY_TLS: "proxy: TLS failure: {text}",
        Reason.PROXY_FAILED: "proxy: {text}",
        Reason.GIVEN_UP: "host given up: {text}",
        Reason.FETCH_ERROR: "could not be fetched: {text}",
        Reason.ROBOTS_UNAVAILABLE: "robots.txt cannot be had: {text}",
        Reason.CONVERSION: "could not be converted: {text}",
        Reason.UNWRITABLE_NAME: "its file name cannot be written in {word}, this system's encoding: python -X utf8 can",
        Reason.FILE_DELETED: "{text} was deleted",
        Reason.NOT_A_SITEMAP: "not a sitemap",
    }
)
"""Text of each reason. Braces name the detail."""

_SLOT: Final = re.compile(r"\{(\w+)\}")
_MISSING: Final = " was deleted, and cannot be had"

REDIRECTED_OUT: Final[Mapping[Reason, Reason]] = MappingProxyType(
    {
        Reason.DOMAIN_LOCK: Reason.REDIRECT_OFF_DOMAIN,
        Reason.OUTSIDE_START: Reason.REDIRECT_OUTSIDE_START,
        Reason.NOT_INCLUDED: Reason.REDIRECT_NOT_INCLUDED,
        Reason.EXCLUDED: Reason.REDIRECT_EXCLUDED,
        Reason.URL_NOT_INCLUDED: Reason.REDIRECT_URL_NOT_INCLUDED,
        Reason.URL_EXCLUDED: Reason.REDIRECT_URL_EXCLUDED,
    }
)
"""Reason why a redirect is not followed, by the reason why its target is out of scope."""


class Cause(NamedTuple):
    """A reason with its detail."""

    reason: Reason
    detail: str | None = None
    missing_path: str | None = None  # a saved page's second file, if it was deleted and could not be fetched again

    @property
    def text(self) -> str:
        """Text for people."""
        said = format_reason(self.reason, self.detail)
        return said if self.missing_path is None else f"{said}; {self.missing_path}{_MISSING}"


def cause_of(reason: int | None, detail: str | None, missing_path: str | None = None) -> Cause | None:
    """Return the cause stored in three columns of the state; None if there is none."""
    return None if reason is None else Cause(Reason(reason), detail, missing_path)


def text_of(reason: int | None, detail: str | None, missing_path: str | None = None) -> str | None:
    """Return the text of the reason stored in three columns; None if there is no reason."""
    return None if reason is None else Cause(Reason(reason), detail, missing_path).text


def format_reason(reason: Reason, detail: str | None = None) -> str:
    """Format a reason for files, logs, events and the screen."""
    before, slot, after = _parts(reason)
    return f"{before}{detail or ''}{after}" if slot else before


@cache
def _parts(reason: Reason) -> tuple[str, str, str]:
    """Split a text into the part before the detail, the name of the detail, and the part after it."""
    before, *rest = _SLOT.split(_TEXTS[reason])
    return (before, rest[0], rest[1]) if rest else (before, "", "")


# --- the words of 0.1 ------------------------------------------------------------------------------------------

_SLOTS: Final = MappingProxyType(
    {
        "text": r"(?s:.+)",
        "url": r"\S+",
        "number": r"[0-9]+",
        "tried": r"[0-9]+ after [0-9]+ tries",
        "scheme": r"[A-Za-z][A-Za-z0-9+.\-]*",
        "word": r"\S+",
    }
)


@cache
def _patterns() -> list[tuple[Reason, re.Pattern[str]]]:
    """Templates with the longest fixed text first."""

    def own_words(reason: Reason) -> int:
        before, slot, after = _parts(reason)
        return len(before + after) + (0 if slot else 1_000)

    found = []
    for reason in sorted(_TEXTS, key=own_words, reverse=True):
        before, slot, after = _parts(reason)
        pattern = f"{re.escape(before)}({_SLOTS[slot]}){re.escape(after)}" if slot else re.escape(before)
        found.append((reason, re.compile(pattern)))
    return found


def parse_reason(text: str) -> Cause:
    """Parse a text of 0.1. The `text` of the result is the same again."""
    if text.endswith(_MISSING):
        said, _, path = text.removesuffix(_MISSING).partition("; ")
        if said and path:
            return parse_reason(said)._replace(missing_path=path)
    for reason, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return Cause(reason, match[1] if pattern.groups else None)
    return Cause(Reason.OTHER, text)
