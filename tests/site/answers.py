"""What the test site says when nothing goes wrong: whole answers, encodings and conditional requests."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Final, TypedDict
from xml.sax.saxutils import escape

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML: Final = "text/html; charset=utf-8"
SITEMAP_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"

ENCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "x-gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
DECODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": zstd.decompress,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole answer. The length header is added when it is sent, so it cannot be wrong by accident."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def with_headers(self, headers: Mapping[str, str]) -> Answer:
        """The same answer, with `headers` in place of those of the same name."""
        taken = {name.lower() for name in headers}
        kept = tuple(pair for pair in self.headers if pair[0].lower() not in taken)
        return replace(self, headers=kept + tuple(headers.items()))

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @property
    def has_body(self) -> bool:
        return self.status >= 200 and self.status not in (204, 304)

    def head(self, length: int | None) -> bytes:
        """Status line and headers. `length` is what Content-Length claims; `None` leaves the header out."""
        try:
            reason = HTTPStatus(self.status).phrase
        except ValueError:
            reason = "Unknown"
        lines = [f"HTTP/1.1 {self.status} {reason}", *(f"{name}: {value}" for name, value in self.headers)]
        if length is not None and self.has_body:
            lines.append(f"Content-Length: {length}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")


class PageOptions(TypedDict, total=False):
    """What `Site.page` and its relatives take besides path and body."""

    type: str | None
    status: int
    headers: Mapping[str, str] | None
    etag: str | None
    last_modified: str | datetime | None
    lastmod: str | None
    encoding: str | None
    host: str | None


def page_answer(body: str | bytes, options: PageOptions) -> Answer:
    """The answer that `Site.page` describes. Text is encoded in the charset that the type names."""
    kind = options.get("type", HTML)
    if isinstance(body, str):
        charset = re.search(r"charset=[\"']?([\w.-]+)", kind or "")
        body = body.encode(charset[1] if charset else "utf-8")
    headers: dict[str, str] = {}
    if kind is not None:
        headers["Content-Type"] = kind
    if (etag := options.get("etag")) is not None:
        headers["ETag"] = etag if etag.endswith('"') else f'"{etag}"'
    if (modified := options.get("last_modified")) is not None:
        headers["Last-Modified"] = modified if isinstance(modified, str) else http_date(modified)
    if (encoding := options.get("encoding")) is not None:
        body = ENCODERS[encoding](body)
        headers["Content-Encoding"] = encoding
        headers["Vary"] = "Accept-Encoding"
    return Answer(options.get("status", 200), tuple(headers.items()), body).with_headers(options.get("headers") or {})


def http_date(moment: datetime) -> str:
    """`moment` as HTTP writes dates. A naive time is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return format_datetime(aware, usegmt=True)


def is_current(answer: Answer, asked: Mapping[str, str]) -> bool:
    """Whether a conditional request already holds `answer`, so that 304 is the right thing to say (RFC 9110, 13.2)."""
    if answer.status != 200:
        return False
    if (tags := asked.get("if-none-match")) is not None:
        etag = answer.header("etag")
        held = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        return etag is not None and ("*" in held or etag.removeprefix("W/") in held)
    since, modified = asked.get("if-modified-since"), answer.header("last-modified")
    if since is None or modified is None:
        return False
    try:
        return parsedate_to_datetime(modified) <= parsedate_to_datetime(since)
    except ValueError:
        return False


def not_modified(answer: Answer) -> Answer:
    """304 in place of `answer`, with the validators that RFC 9110 wants repeated."""
    kept = tuple(pair for pair in answer.headers if pair[0].lower() in ("etag", "last-modified", "vary"))
    return Answer(304, kept)


def sitemap_xml(entries: Iterable[tuple[str, str | None]]) -> str:
    """A urlset of absolute URLs, each with its lastmod where it has one."""
    rows = (f"  <url><loc>{escape(loc)}</loc>{_dated(lastmod)}</url>\n" for loc, lastmod in entries)
    return _document("urlset", rows)


def sitemap_index_xml(entries: Iterable[tuple[str, str | None]]) -> str:
    """A sitemapindex of absolute URLs, each with its lastmod where it has one."""
    rows = (f"  <sitemap><loc>{escape(loc)}</loc>{_dated(lastmod)}</sitemap>\n" for loc, lastmod in entries)
    return _document("sitemapindex", rows)


def _dated(lastmod: str | None) -> str:
    return "" if lastmod is None else f"<lastmod>{escape(lastmod)}</lastmod>"


def _document(root: str, rows: Iterable[str]) -> str:
    opening = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{SITEMAP_NAMESPACE}">\n'
    return f"{opening}{''.join(rows)}</{root}>\n"
