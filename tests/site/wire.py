"""One request and its answer on the wire. The faults are written in terms of an `Exchange`."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from tests.site.answers import Answer

BLOCK: Final = 64 * 1024
# Everything a request target may hold as it stands; only what no client should send raw is escaped.
_AS_IT_STANDS: Final = "%/?:@!$&'()*+,;=~-._[]|{}^\"<>\\`#"


@dataclass(slots=True)
class Seen:
    """One request as the server saw it. Noted when it arrives; `status` and `finished` follow with the answer."""

    time: float  # time.monotonic()
    method: str
    path: str  # with the query, as it stood on the wire
    host: str  # of the Host header, lower-case, without the port
    headers: dict[str, str]  # lower-case names
    connection: int
    status: int | None = None  # None: nothing was answered
    finished: float | None = None  # None: the answer was never sent to its end


class Reader(asyncio.StreamReader):
    """A stream reader that also tells when the other side has gone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=BLOCK, loop=loop)
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.gone.set()


class Exchange:
    """A request that waits for its answer. `answer` is what the site would say if nothing went wrong."""

    def __init__(self, seen: Seen, answer: Answer, reader: Reader, writer: asyncio.StreamWriter) -> None:
        self.seen = seen
        self.answer = answer
        self.keeps_alive = seen.headers.get("connection", "").lower() != "close"
        self._reader = reader
        self._writer = writer

    async def send(self, answer: Answer) -> None:
        """The whole of `answer`, with the right length."""
        self.seen.status = answer.status
        data = answer.head(len(answer.body))
        if answer.has_body and self.seen.method != "HEAD":
            data += answer.body
        await self.write(data)

    async def head(self, answer: Answer, length: int | None) -> None:
        """Status line and headers of `answer` alone; `length` is what Content-Length claims."""
        self.seen.status = answer.status
        await self.write(answer.head(length))

    async def body(self, data: bytes) -> None:
        """A piece of the body. HEAD gets none."""
        if self.seen.method != "HEAD":
            await self.write(data)

    async def write(self, data: bytes) -> None:
        """Raw bytes, at the speed at which the client reads them."""
        self._writer.write(data)
        await self._writer.drain()

    async def pause(self, seconds: float) -> None:
        """Waits, but not for a client that has gone."""
        try:
            await asyncio.wait_for(self._reader.gone.wait(), seconds)
        except TimeoutError:
            return
        raise ConnectionResetError("the client has gone")

    async def until_gone(self) -> None:
        """Waits for the client to lose patience."""
        await self._reader.gone.wait()
        raise ConnectionResetError("the client has gone")

    def hang_up(self) -> None:
        """Closes the connection once what has been written is sent."""
        self.keeps_alive = False

    def reset(self) -> None:
        """Tears the connection down with RST, as a crashing server or a firewall does."""
        self.keeps_alive = False
        raw: socket.socket | None = self._writer.get_extra_info("socket")
        if raw is not None:
            # Windows' struct linger is made of shorts.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("hh" if os.name == "nt" else "ii", 1, 0))
        self._writer.transport.abort()


def canonical_path(path: str) -> str:
    """The spelling under which a path is kept: as on the wire, non-ASCII and spaces percent-encoded as UTF-8."""
    return quote(path, safe=_AS_IT_STANDS)


def parse_request(head: bytes, connection: int) -> Seen:
    """Raises `ValueError` for anything that is not an HTTP/1.x request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(version)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            name, value = name.strip().lower(), value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    host = headers.get("host", "")
    if "://" in target:  # A client that believes it talks to a proxy names the whole URL.
        host, slash, rest = target.split("://", 1)[1].partition("/")
        target = slash + rest or "/"
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    path = quote(target.encode("latin-1"), safe=_AS_IT_STANDS)
    return Seen(time.monotonic(), method, path, host_name(host), headers, connection)


def host_name(authority: str) -> str:
    """The host of `host[:port]`, lower-case."""
    name, colon, port = authority.lower().rpartition(":")
    return name if colon and port.isdigit() else authority.lower()


# What ends a connection without being anybody's mistake: the client left, or a fault tore it down.
CLIENT_WENT: Final = (ConnectionError, TimeoutError, asyncio.IncompleteReadError, ssl.SSLError, BrokenPipeError)
