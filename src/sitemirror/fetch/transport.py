"""Sends requests over aiohttp's connections. The only module that touches aiohttp's internals.

aiohttp's session prepares each request for much that ours do not have: a body, cookies, redirects, middleware. That
takes longer than sending it. So a plain request is written to one of the session's connections here, and the session's
own parser reads the response. That works with the versions in `KNOWN`, which `pyproject.toml` pins. With others,
through a proxy and for unusual URLs the session does it all; that costs time, and with other versions the parser's
refusal of odd responses that browsers read, which `framing` repairs.

Three habits of the session are corrected. It repeats a request by itself when a reused connection turns out closed,
past the pacer. It takes a reset for the end of a body without a length, so half a page would pass for a whole one. And
a body that breaks its framing leaves the reader waiting.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from sitemirror.fetch.framing import FramingRepair
from sitemirror.fetch.identity import Proxy
from sitemirror.urls import origin

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection


KNOWN: Final = ("3.14.",)
"""Prefixes of the aiohttp versions whose internals are known. `tests/fetch/test_internals.py` checks them."""

_MAX_SURPLUS: Final = 1024 * 1024  # bytes after a response until its connection is cut

ParseError = HttpProcessingError
"""The error of aiohttp's parser, named here for the modules that must not know where it lives."""

MAX_HEADER_SIZE: Final = 32 * 1024
MAX_HEADERS: Final = 256

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search  # refused by the session as well
_MAX_TEMPLATES: Final = 1024  # One a host, unless its pages have validators or cookies of their own.

Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""Method, origin and headers."""


class ConnectionDropped(Exception):
    """The server closed the connection before it answered; the cause says how.

    Derived from none of aiohttp's errors, since the session repeats requests that fail with those.
    """

    def __init__(self, *, reused: bool) -> None:
        super().__init__("connection closed without an answer")
        self.reused = reused  # Open since an earlier request, so it may have been closed just as we sent.


def is_known_version() -> bool:
    """True if the internals of this aiohttp are known."""
    return aiohttp.__version__.startswith(KNOWN)


class Connections:
    """The connections of one session: which of them were used before, and which are idle.

    A site of thousands of hosts would leave one idle connection for each, and a process may have only so many open
    files. So of more than `max_idle` the one that has been idle for longest is closed.
    """

    def __init__(self, *, max_idle: int = 64) -> None:
        self._known: WeakSet[Any] = WeakSet()
        self._idle: dict[ResponseHandler, None] = {}
        self._max_idle = max_idle

    def mark_idle(self, protocol: ResponseHandler) -> None:
        """Notes that a response was received; may close another connection."""
        if protocol.is_connected():
            self._idle[protocol] = None
            if len(self._idle) > self._max_idle:
                oldest = next(iter(self._idle))
                del self._idle[oldest]
                oldest.close()

    def is_reused(self, protocol: ResponseHandler) -> bool:
        """True if the connection carried a request before. To be asked once for each request."""
        self._idle.pop(protocol, None)
        if protocol in self._known:
            return True
        self._known.add(protocol)
        return False

    def response_class(self) -> type[SessionResponse]:
        """The class of the session's responses."""
        connections = self

        class WatchedResponse(SessionResponse):
            _connections = connections

        return WatchedResponse


class RepairingParser:
    """aiohttp's parser of one response behind the repair of its framing."""

    def __init__(self, protocol: ResponseHandler, parser: Any, *, has_body: bool) -> None:
        self._protocol = protocol
        self._parser = parser
        self._repair = FramingRepair(has_body=has_body)
        self.pause_reading = parser.pause_reading
        self.message_consumed = parser.message_consumed

    def feed_data(self, data: bytes) -> tuple[Any, bool, bytes]:
        repaired = self._repair.feed(data) if data else b""
        if self._repair.must_close:
            self._protocol.force_close()
            if self._repair.surplus > _MAX_SURPLUS and self._protocol.transport is not None:
                self._protocol.transport.abort()
        if data and not repaired:
            return (), False, b""
        found: tuple[Any, bool, bytes] = self._parser.feed_data(repaired)
        return found

    def feed_eof(self) -> Any:
        if held := self._repair.flush():
            self._parser.feed_data(held)
        return self._parser.feed_eof()


def repair_framing(protocol: ResponseHandler, *, has_body: bool) -> None:
    """Repair the next response of a connection. For known versions, before its first byte."""
    protocol._parser = RepairingParser(protocol, protocol._parser, has_body=has_body)  # type: ignore[assignment]


class SessionResponse(aiohttp.ClientResponse):
    """A response of the session that knows its connection."""

    _connections: Connections
    _protocol: ResponseHandler | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        assert protocol is not None
        self._protocol = protocol
        reused = self._connections.is_reused(protocol)
        if reused and protocol.should_close:
            # Unsolicited bytes arrived. They would be taken for the response to this request.
            raise ConnectionDropped(reused=reused)
        if is_known_version():
            repair_framing(protocol, has_body=self.method != "HEAD")
        try:
            await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            raise ConnectionDropped(reused=reused) from error
        except aiohttp.ClientResponseError as error:
            if reused:  # Most likely the rest of an earlier response: a body after HEAD, or longer than announced.
                raise ConnectionDropped(reused=reused) from error
            raise
        fail_on_disconnect(protocol, self.content)
        return self

    @property
    def connection_error(self) -> Exception | None:
        """The error that ended the connection, if there was one."""
        return connection_error(self._protocol) if self._protocol is not None else None


def connection_error(protocol: ResponseHandler) -> Exception | None:
    """The error that ended a connection, if there was one."""
    error = protocol.exception()
    return error if isinstance(error, aiohttp.ClientOSError) else None


def fail_on_disconnect(protocol: ResponseHandler, content: aiohttp.StreamReader) -> None:
    """Makes reading the body fail when its connection ends too early."""
    if not content.is_eof() and (closed := protocol.closed) is not None:
        on_close = partial(_fail, content)
        closed.add_done_callback(on_close)
        content.on_eof(partial(_remove_callback, closed, on_close))


def _fail(content: aiohttp.StreamReader, closed: asyncio.Future[None]) -> None:
    if not closed.cancelled():
        closed.exception()  # asyncio warns of exceptions that nobody retrieved.
    if not content.is_eof() and content.exception() is None:
        content.set_exception(aiohttp.ClientPayloadError("the connection ended inside the body"))


def _remove_callback(closed: asyncio.Future[None], callback: Callable[[asyncio.Future[None]], None]) -> None:
    closed.remove_done_callback(callback)


class RequestTemplate(NamedTuple):
    """The common part of requests to one origin."""

    request: aiohttp.ClientRequest  # tells the connector where to connect
    head: bytes  # everything after the path


class RawResponse:
    """A response whose body has yet to be received."""

    __slots__ = ("_connection", "_connections", "_is_released", "_protocol", "content", "raw_headers", "status")

    def __init__(
        self,
        connections: Connections,
        connection: Connection,
        protocol: ResponseHandler,
        status: int,
        raw_headers: tuple[tuple[bytes, bytes], ...],
        content: aiohttp.StreamReader,
    ) -> None:
        self._connections = connections
        self._is_released = False
        self._connection = connection
        self._protocol = protocol
        self.status = status
        self.raw_headers = raw_headers
        self.content = content

    @property
    def connection_error(self) -> Exception | None:
        return connection_error(self._protocol)

    def release(self) -> None:
        if not self._is_released:
            self._is_released = True
            self._connection.release()
            self._connections.mark_idle(self._protocol)


class Sender:
    """Sends requests over the connections of one session."""

    def __init__(self, session: aiohttp.ClientSession, connections: Connections) -> None:
        self._session = session
        self._timeout = session.timeout
        self._connections = connections
        self._is_known_version = is_known_version()
        self._templates: dict[Key, RequestTemplate] = {}

    async def send(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        *,
        proxy: Proxy | None,
        ssl: SSLContext | bool,
        read_timeout: float | None,
    ) -> RawResponse | SessionResponse:
        """Sends a request and returns the response once its head is complete.

        More than `read_timeout` seconds without a byte of it are an error.
        """
        if proxy is None and self._is_known_version and _is_plain(url):
            return await self._send(method, url, headers, ssl, read_timeout)
        proxy_headers = {}
        if proxy is not None and proxy.authorization is not None:
            proxy_headers["Proxy-Authorization"] = proxy.authorization
            if url.startswith("http:"):  # For https the proxy sees nothing but the request for a tunnel.
                headers = headers | proxy_headers
        response = await self._session.request(
            method,
            _as_written(url),
            headers=headers,
            allow_redirects=False,
            proxy=proxy.url if proxy is not None else None,
            proxy_headers=proxy_headers or None,
            ssl=ssl,
        )
        assert isinstance(response, SessionResponse)
        return response

    async def _send(
        self, method: str, url: str, headers: dict[str, str], ssl: SSLContext | bool, read_timeout: float | None
    ) -> RawResponse:
        start = origin(url)
        key = (method, start, tuple(headers.items()))
        template = self._templates.get(key) or self._make_template(key, ssl)
        connector = self._session.connector
        assert connector is not None
        connection = await connector.connect(template.request, [], self._timeout)
        try:
            protocol = connection.protocol
            assert protocol is not None
            reused = self._connections.is_reused(protocol)
            transport = protocol.transport
            if transport is None or transport.is_closing() or (reused and protocol.should_close):
                # Just closed, or unsolicited bytes arrived, which would be taken for the response.
                raise ConnectionDropped(reused=reused)
            protocol.set_response_params(
                skip_payload=method == "HEAD",
                read_until_eof=True,
                auto_decompress=False,
                read_timeout=read_timeout,
                max_line_size=MAX_HEADER_SIZE,
                max_field_size=MAX_HEADER_SIZE,
                max_headers=MAX_HEADERS,
            )
            repair_framing(protocol, has_body=method != "HEAD")
            transport.write(b"%b %b%b" % (method.encode(), _target(url, start), template.head))
            protocol.start_timeout()
            return await _read_response(self._connections, connection, protocol, reused=reused)
        except BaseException:
            if connection.transport is not None:
                connection.transport.abort()  # Closing TLS waits for the server, perhaps until after the run.
            connection.close()
            raise

    def _make_template(self, key: Key, ssl: SSLContext | bool) -> RequestTemplate:
        method, start, headers = key
        request = aiohttp.ClientRequest(
            method,
            URL(start + "/", encoded=True),
            headers=dict(headers),
            loop=asyncio.get_running_loop(),
            ssl=ssl,
            session=self._session,
        )
        lines = [f"{name}: {value}" for name, value in request.headers.items()]
        if any(map(_CONTROLS, lines)):
            raise ValueError("a header that cannot be sent")
        if len(self._templates) >= _MAX_TEMPLATES:
            self._templates.clear()
        head = "\r\n".join([" HTTP/1.1", *lines, "", ""]).encode("utf-8")
        template = self._templates[key] = RequestTemplate(request, head)
        return template


async def _read_response(
    connections: Connections, connection: Connection, protocol: ResponseHandler, *, reused: bool
) -> RawResponse:
    try:
        message, content = await protocol.read()
        while 100 <= message.code < 200 and message.code != 101:  # informational responses before the final one
            message, content = await protocol.read()
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise ConnectionDropped(reused=reused) from error
    except ParseError as error:
        if reused:  # Most likely the rest of an earlier response: a body after HEAD, or longer than announced.
            raise ConnectionDropped(reused=reused) from error
        raise
    fail_on_disconnect(protocol, content)
    return RawResponse(connections, connection, protocol, message.code, message.raw_headers, content)


def _is_plain(url: str) -> bool:
    """True if the URL can be written into a request as it is. Normalised URLs can."""
    return url.isascii() and url.isprintable() and not (" " in url or "#" in url or "@" in url)


def _as_written(url: str) -> URL:
    """The URL in the form that the session sends unchanged.

    By itself it would drop the `?` of an empty query, which may lead to another page.
    """
    found = URL(url, encoded=True)
    whole = url.partition("#")[0]
    return found.with_path(found.raw_path + "?", encoded=True) if whole.find("?") == len(whole) - 1 else found


def _target(url: str, start: str) -> bytes:
    return url[len(start) :].encode("ascii") or b"/"
