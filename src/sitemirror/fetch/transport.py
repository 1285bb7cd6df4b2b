"""Sends requests over aiohttp's connections. The only module that touches aiohttp's internals.

aiohttp's session prepares each request for much that ours do not have: a body, cookies, redirects, middleware. That
takes longer than sending it. So a plain request is written to one of the session's connections here, and the session's
own parser reads the response. That works with the versions in `KNOWN`, which `pyproject.toml` pins. With others,
through a proxy and for unusual URLs the session does it all; nothing but time depends on that.

Three habits of the session are corrected. It repeats a request by itself when a reused connection turns out closed,
past the pacer. It takes a reset for the end of a body without a length, so half a page would pass for a whole one. And
a body that breaks its framing leaves the reader waiting.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable
from functools import partial
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from sitemirror.fetch.identity import Proxy
from sitemirror.urls import origin

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection


class Dropped(Exception):
    """The server closed the connection before it answered. The cause says how.

    Of no kind that the HTTP library knows, for those it would send again by itself.
    """

    def __init__(self, *, kept: bool) -> None:
        super().__init__("connection closed without an answer")
        self.kept = kept  # open from an earlier request, so it may have been closed just as we sent


class Connections:
    """The connections of one session."""

    def __init__(self) -> None:
        self._known: WeakSet[Any] = WeakSet()

    def is_kept(self, wire: ResponseHandler) -> bool:
        """Whether `wire` carried a request before. Asked once for each request."""
        if wire in self._known:
            return True
        self._known.add(wire)
        return False

    def response_class(self) -> type[Response]:
        """The class the session makes its responses of."""
        wires = self

        class Watched(Response):
            _wires = wires

        return Watched


class Response(aiohttp.ClientResponse):
    """A response that remembers the connection it came by."""

    _wires: Connections
    _wire: ResponseHandler | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        wire = connection.protocol
        assert wire is not None
        self._wire = wire
        kept = self._wires.is_kept(wire)
        if kept and wire.should_close:
            # Something arrived that nobody had asked for. It would be taken for the answer to this request.
            raise Dropped(kept=kept)
        try:
            await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            raise Dropped(kept=kept) from error
        except aiohttp.ClientResponseError as error:
            if kept:  # Most likely the rest of an earlier answer: a body sent with HEAD, or longer than was said.
                raise Dropped(kept=kept) from error
            raise
        tell_of_its_end(wire, self.content)
        return self

    @property
    def broken(self) -> Exception | None:
        """The error that ended the connection, if it did not end in good order."""
        return broken(self._wire) if self._wire is not None else None


def broken(wire: ResponseHandler) -> Exception | None:
    """The error that ended a connection, if it did not end in good order."""
    error = wire.exception()
    return error if isinstance(error, aiohttp.ClientOSError) else None


def tell_of_its_end(wire: ResponseHandler, content: aiohttp.StreamReader) -> None:
    """Whoever reads a body hears when its connection ends inside it."""
    if not content.is_eof() and (closed := wire.closed) is not None:
        ended = partial(_ended, content)
        closed.add_done_callback(ended)
        content.on_eof(partial(_forget, closed, ended))


def _ended(content: aiohttp.StreamReader, closed: asyncio.Future[None]) -> None:
    if not closed.cancelled():
        closed.exception()  # Looked at, so that nobody complains that it was not.
    if not content.is_eof() and content.exception() is None:
        content.set_exception(aiohttp.ClientPayloadError("the connection ended inside the body"))


def _forget(closed: asyncio.Future[None], callback: Callable[[asyncio.Future[None]], None]) -> None:
    closed.remove_done_callback(callback)


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

    def __init__(self, session: aiohttp.ClientSession, wires: Connections) -> None:
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
            if connection.transport is not None:
                connection.transport.abort()  # Closing TLS waits for the server, perhaps until after the run.
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


class Deadlines:
    """The requests under way, each of which has `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._set: deque[Deadline] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def alarm(self) -> Deadline:
        """Around what has to be done in time. Raises `TimeoutError` there if it is not."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        alarm = Deadline(self, task, loop.time())
        self._set.append(alarm)
        if self._timer is None:
            self._timer = loop.call_at(alarm.begun + self._seconds, self._ring, loop)
        return alarm

    def tidy(self) -> None:
        """Forgets what is over."""
        alarms = self._set
        while alarms and alarms[0].task is None:
            alarms.popleft()

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        late, alarms = loop.time() - self._seconds, self._set
        while alarms and (alarms[0].task is None or alarms[0].begun <= late):
            alarms.popleft().ring()
        self._timer = loop.call_at(alarms[0].begun + self._seconds, self._ring, loop) if alarms else None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Deadline:
    """Of one request, which `task` makes."""

    __slots__ = ("_alarms", "_cancelled_before", "_rang", "begun", "task")

    def __init__(self, alarms: Deadlines, task: asyncio.Task[object], begun: float) -> None:
        self.begun = begun  # by the loop's clock
        self.task: asyncio.Task[object] | None = task  # None: over
        self._alarms = alarms
        self._cancelled_before = task.cancelling()
        self._rang = False

    def ring(self) -> None:
        if self.task is not None:
            self._rang = True
            self.task.cancel()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        task, self.task = self.task, None
        self._alarms.tidy()
        if self._rang:
            assert task is not None
            # Else somebody else wants the task to end, too, and has the last word.
            if task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
                raise TimeoutError from error
