"""What the HTTP library knows about its connections but does not say: is this one used again, and how did it end.

Three of its habits need correcting. It sends a request again by itself when a kept connection turns out closed, past
the pacer. It takes a reset for the end of a body that has no length, so half a page would pass for a whole one. And a
body that breaks its framing halfway leaves the reader waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import aiohttp

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


class Wires:
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

    _wires: Wires
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
