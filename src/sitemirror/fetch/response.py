"""A response while it is received: its head, its decoded body, its outcome if it is no page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import aiohttp

from sitemirror.fetch.decode import BodyTooLarge, CorruptBody, Decoder, UnknownEncoding
from sitemirror.fetch.errors import diagnose, limit_detail
from sitemirror.fetch.media_type import parse_content_type
from sitemirror.fetch.pace import is_transient
from sitemirror.fetch.transport import RawResponse, SessionResponse
from sitemirror.model import Failed, Fetched, NotModified, Redirect, Skipped, Validators
from sitemirror.reasons import Cause, Reason
from sitemirror.text import printable
from sitemirror.urls import InvalidUrl, normalize, parts, without_credentials

MAX_DRAIN: Final = 64 * 1024
"""Bytes of an unneeded body that are read rather than opening a new connection."""

DRAIN_SECONDS: Final = 2.0

# What nginx and others send for names that they do not know.
_ANY_BYTES: Final = "application/octet-stream"
_MARKDOWN_ENDINGS: Final = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a response."""

    url: str
    status: int
    headers: Mapping[str, str]  # lower-cased names; repeated ones joined by ", "
    content_type: str  # media type alone, lower-case; empty where the server named none
    charset: str | None
    content_length: int | None  # as sent, before decompression

    def fetched(self, body: bytes, at: str) -> Fetched:
        """The complete response, received at that time."""
        return Fetched(self.url, self.status, self.headers, body, self.content_type, self.charset, at)

    @property
    def too_large(self) -> Skipped:
        """The outcome for a body that exceeds the limit."""
        return Skipped(
            self.url,
            Reason.TOO_LARGE,
            content_type=self.content_type or None,
            size_bytes=self.content_length,
            status=self.status,
        )


class Exchange:
    """A request with its response, whose body has yet to be read. Closing it calls `on_end` once."""

    def __init__(
        self, url: str, response: RawResponse | SessionResponse, *, deadline: float, on_end: Callable[[], None]
    ) -> None:
        self.head = _head(url, response)
        self._response = response
        self._deadline = deadline
        self._on_end: Callable[[], None] | None = on_end

    @property
    def locations(self) -> list[str]:
        """The targets of a redirect. More than one only if the server contradicts itself."""
        return list(dict.fromkeys(self._all(b"location")))

    @property
    def cookies(self) -> list[str]:
        """The Set-Cookie headers, unjoined since their values may contain commas."""
        return self._all(b"set-cookie") if "set-cookie" in self.head.headers else []

    def _all(self, header: bytes) -> list[str]:
        return [_text(value) for name, value in self._response.raw_headers if name.lower() == header]

    def decoder(self, limit: int, kind: type[Decoder] = Decoder) -> Decoder:
        """Raises `UnknownEncoding` before anything is read."""
        framing = self.head.headers.get("transfer-encoding", "chunked").strip().lower()
        if framing not in ("chunked", "identity"):
            # The parser passes codings that it does not know unchanged, framing included.
            raise UnknownEncoding(Reason.TRANSFER_ENCODING, framing)
        return kind(self.head.headers.get("content-encoding"), limit=limit)

    def buffered_body(self, limit: int) -> bytes | None:
        """The decoded body, if it has arrived completely; that of a small page mostly comes with its head."""
        content = self._response.content
        if not content.is_eof():
            return None
        headers = self.head.headers
        is_plain = "content-encoding" not in headers and "transfer-encoding" not in headers
        decoder = None if is_plain else self.decoder(limit)
        data = content.read_nowait()
        if len(data) > limit:
            raise BodyTooLarge
        pieces = [*decoder.feed(data)] if data and decoder is not None else []
        if (error := self._response.connection_error) is not None:
            raise error
        return data if decoder is None else b"".join([*pieces, *decoder.finish()])

    async def body(self, decoder: Decoder) -> AsyncGenerator[bytes, None]:
        """Yields the decoded body in bounded pieces. Raises any error of connection or decoding."""
        content = self._response.content
        while not content.at_eof():
            data = content.read_nowait()  # No timer is needed for what has arrived already.
            if not data:
                async with asyncio.timeout_at(self._deadline):
                    data = await content.readany()
            for piece in decoder.feed(data) if data else ():
                yield piece
        if (error := self._response.connection_error) is not None:
            raise error
        for piece in decoder.finish():
            yield piece

    async def discard(self) -> None:
        """Reads a small rest, so that the connection can be reused; closes it otherwise."""
        length = self.head.content_length
        if length is None and self.head.status < 300:
            length = MAX_DRAIN + 1  # May be a video.
        try:
            if (length or 0) <= MAX_DRAIN:
                await self._drain()
        finally:
            self.close()

    async def _drain(self) -> None:
        until = min(self._deadline, asyncio.get_running_loop().time() + DRAIN_SECONDS)
        content, left = self._response.content, MAX_DRAIN
        # An error costs no more than the connection.
        with suppress(Exception):
            async with asyncio.timeout_at(until):
                while left > 0 and not content.at_eof():
                    left -= len(await content.readany())

    def close(self) -> None:
        """Ends the exchange. A connection whose body was read completely stays open for the next request."""
        self._response.release()
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()


def _head(url: str, response: RawResponse | SessionResponse) -> Head:
    headers = _headers(response.raw_headers)
    content_type, charset = _media_type(headers.get("content-type"))
    if content_type == _ANY_BYTES and parts(url).path.lower().endswith(_MARKDOWN_ENDINGS):
        content_type = "text/markdown"
    length = headers.get("content-length", "").partition(",")[0].strip()
    size = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None
    return Head(url, response.status, headers, content_type, charset, size)


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = _name(raw_name), _text(raw_value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


@lru_cache(maxsize=256)
def _media_type(header: str | None) -> tuple[str, str | None]:
    content_type, charset = parse_content_type(header)
    return content_type, printable(charset, limit=80) if charset else None


@lru_cache(maxsize=256)
def _name(raw: bytes) -> str:
    return raw.decode("latin-1").lower()


def _text(raw: bytes) -> str:
    # Some servers put UTF-8 into Location and file names, old ones Latin-1.
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


STREAM_TIMEOUTS: Final = 10
"""A streamed body may take this many times the timeout in total: sitemaps are large."""


class Stream:
    """A 2xx response whose body is too large to hold and is read as it arrives.

    What arrived before an error is valid.
    """

    def __init__(self, exchange: Exchange, decoder: Decoder, *, timeout: float) -> None:
        self.head = exchange.head
        self.error: Cause | None = None
        self._exchange = exchange
        self._decoder = decoder
        self._timeout = timeout

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yields the decoded body. After an early end `error` says why."""
        async with aclosing(self._exchange.body(self._decoder)) as body:
            while True:
                try:
                    piece = await anext(body)
                except StopAsyncIteration:
                    return
                except Exception as error:
                    self.error = self._diagnose(error)
                    return
                yield piece

    def _diagnose(self, error: Exception) -> Cause:
        match error:
            case BodyTooLarge():
                return Cause(Reason.TOO_LARGE)
            case CorruptBody():
                return error.cause
            case aiohttp.ServerTimeoutError():
                return diagnose(error, timeout=self._timeout / STREAM_TIMEOUTS).cause
        return diagnose(error, timeout=self._timeout).cause


def classify(exchange: Exchange, validators: Validators, at: str, *, tries: int) -> Redirect | NotModified | Failed:
    """Classifies a response that is no page: a redirect, not modified or a failure."""
    url, status = exchange.head.url, exchange.head.status

    def failed(reason: Reason, detail: str | None = str(status), *, transient: bool = False) -> Failed:
        return Failed(url, reason, detail, transient=transient, status=status, tries=tries)

    if status == 304 and validators:
        return NotModified(url, exchange.head.headers, at)
    if status == 206:
        return failed(Reason.PARTIAL_CONTENT, None, transient=True)
    if status not in (301, 302, 303, 307, 308):
        return failed(Reason.HTTP_STATUS, transient=is_transient(status))
    match exchange.locations:
        case [location]:
            pass
        case []:
            return failed(Reason.NO_LOCATION)
        case _:
            return failed(Reason.SEVERAL_LOCATIONS)
    try:
        return Redirect(url, status, normalize(location, base=url))
    except InvalidUrl as error:
        where = printable(without_credentials(location), limit=200)
        return failed(*limit_detail(Cause(Reason.BAD_LOCATION, f"{error}: {where}"), limit=2000)[:2])
