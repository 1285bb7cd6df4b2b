"""Sends a request, and waits for the head of its answer.

The HTTP library's session prepares each request for much that ours do not have: a body, cookies, redirects, middleware.
That takes longer than sending it. So a plain request is written to one of the session's connections here, and its own
parser reads the answer. How those fit together is known of the versions in `KNOWN`. With others, through a proxy and
for what is not plain the session does it all; nothing but time depends on that.
"""

from __future__ import annotations

import asyncio
import re
from ssl import SSLContext
from typing import TYPE_CHECKING, Final, NamedTuple

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from sitemirror.fetch.proxy import Proxy
from sitemirror.fetch.wire import Dropped, Response, Wires, broken, tell_of_its_end
from sitemirror.urls import origin

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection

KNOWN: Final = ("3.14.",)
"""How the versions begin whose parts are put together here."""

LONGEST_HEADER: Final = 32 * 1024
MOST_HEADERS: Final = 256

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search  # what the session refuses in a header
_REMEMBERED: Final = 1024  # openings; one for a host, unless its pages have validators or cookies of their own

Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""Method, origin and headers."""


class Opening(NamedTuple):
    """What requests to one origin have in common."""

    request: aiohttp.ClientRequest  # says whom to connect to
    head: bytes  # all that comes after the path


class Reply:
    """An answer whose body is still on the wire."""

    __slots__ = ("_connection", "_wire", "content", "raw_headers", "status")

    def __init__(
        self,
        connection: Connection,
        wire: ResponseHandler,
        status: int,
        raw_headers: tuple[tuple[bytes, bytes], ...],
        content: aiohttp.StreamReader,
    ) -> None:
        self._connection = connection
        self._wire = wire
        self.status = status
        self.raw_headers = raw_headers
        self.content = content

    @property
    def broken(self) -> Exception | None:
        return broken(self._wire)

    def release(self) -> None:
        self._connection.release()


class Sender:
    """Sends requests over the connections of one session."""

    def __init__(self, session: aiohttp.ClientSession, wires: Wires) -> None:
        self._session = session
        self._timeout = session.timeout
        self._wires = wires
        self._knows_how = aiohttp.__version__.startswith(KNOWN)
        self._openings: dict[Key, Opening] = {}

    async def send(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        *,
        proxy: Proxy | None,
        ssl: SSLContext | bool,
        patience: float | None,
    ) -> Reply | Response:
        """The answer, as soon as its head is there. No more than `patience` seconds may pass without a byte of it."""
        if proxy is None and self._knows_how and _is_plain(url):
            return await self._send(method, url, headers, ssl, patience)
        proxy_headers = {}
        if proxy is not None and proxy.authorization is not None:
            proxy_headers["Proxy-Authorization"] = proxy.authorization
            if url.startswith("http:"):  # For https the proxy only ever sees the request for a tunnel.
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
        assert isinstance(response, Response)
        return response

    async def _send(
        self, method: str, url: str, headers: dict[str, str], ssl: SSLContext | bool, patience: float | None
    ) -> Reply:
        start = origin(url)
        key = (method, start, tuple(headers.items()))
        opening = self._openings.get(key) or self._open(key, ssl)
        connector = self._session.connector
        assert connector is not None
        connection = await connector.connect(opening.request, [], self._timeout)
        try:
            wire = connection.protocol
            assert wire is not None
            kept = self._wires.is_kept(wire)
            transport = wire.transport
            if transport is None or transport.is_closing() or (kept and wire.should_close):
                # It has just ended; or what nobody had asked for arrived, and would be taken for the answer.
                raise Dropped(kept=kept)
            wire.set_response_params(
                skip_payload=method == "HEAD",
                read_until_eof=True,
                auto_decompress=False,
                read_timeout=patience,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
                max_headers=MOST_HEADERS,
            )
            transport.write(b"%b %b%b" % (method.encode(), _target(url, start), opening.head))
            wire.start_timeout()
            return await _reply(connection, wire, kept=kept)
        except BaseException:
            connection.close()
            raise

    def _open(self, key: Key, ssl: SSLContext | bool) -> Opening:
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
        if len(self._openings) >= _REMEMBERED:
            self._openings.clear()
        head = "\r\n".join([" HTTP/1.1", *lines, "", ""]).encode("utf-8")
        opening = self._openings[key] = Opening(request, head)
        return opening


async def _reply(connection: Connection, wire: ResponseHandler, *, kept: bool) -> Reply:
    try:
        message, content = await wire.read()
        while 100 <= message.code < 200 and message.code != 101:  # hints before the answer
            message, content = await wire.read()
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise Dropped(kept=kept) from error
    except HttpProcessingError as error:
        if kept:  # Most likely the rest of an earlier answer: a body sent with HEAD, or longer than was said.
            raise Dropped(kept=kept) from error
        raise
    tell_of_its_end(wire, content)
    return Reply(connection, wire, message.code, message.raw_headers, content)


def _is_plain(url: str) -> bool:
    """Whether what a URL says can stand in a request as it is. Normalised ones are like this."""
    return url.isascii() and url.isprintable() and not (" " in url or "#" in url or "@" in url)


def _as_written(url: str) -> URL:
    """What the session sends as it stands. It would leave out the `?` of an empty query, which may be another page."""
    found = URL(url, encoded=True)
    whole = url.partition("#")[0]
    return found.with_path(found.raw_path + "?", encoded=True) if whole.find("?") == len(whole) - 1 else found


def _target(url: str, start: str) -> bytes:
    return url[len(start) :].encode("ascii") or b"/"
