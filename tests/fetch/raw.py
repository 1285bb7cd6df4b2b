"""A server that says exactly the bytes it is told to, and counts who came."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass
class Request:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]  # lower-cased names
    connection: int

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


@dataclass
class Visit:
    """What a scripted reply works with."""

    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def pause(self) -> None:
        """Lets what was sent arrive on its own."""
        await asyncio.sleep(0.05)

    def reset(self) -> None:
        """Ends the connection with a TCP reset."""
        found = self.writer.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def hang(self) -> None:
        """Says nothing more until the other side gives up."""
        await self.reader.read()


class Close(Exception):
    """Raised by a script to end the connection in good order."""


Script = Callable[[Visit], Awaitable[None]]
Reply = bytes | Script


def reply(status: str = "200 OK", body: bytes = b"", *headers: str, length: int | None = None) -> bytes:
    """A well-formed answer with its Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def page(body: bytes = b"<p>hello</p>", *headers: str) -> bytes:
    """An HTML page."""
    return reply("200 OK", body, "Content-Type: text/html; charset=utf-8", *headers)


@dataclass
class RawServer:
    """Serves `replies` by path; a row of them is used up one by one, its last entry stays."""

    replies: dict[str, Reply | list[Any]] = field(default_factory=dict)
    fallback: Reply | list[Any] = field(default_factory=page)
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_now: int = 0
    most_open: int = 0
    host: str = "127.0.0.1"
    port: int = 0
    close_after_each: bool = False
    _turns: dict[str | None, int] = field(default_factory=dict)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", *, host: str | None = None) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._talk(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait([task])

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        number = self.connections
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                line, *rest = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in rest if h)}
                request = Request(line, headers, number)
                self.requests.append(request)
                await self._answer(Visit(request, reader, writer))
                if self.close_after_each:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, Close):
            pass
        finally:
            self.open_now -= 1
            writer.close()

    async def _answer(self, visit: Visit) -> None:
        path = visit.request.path
        found = self.replies.get(path, self.fallback)
        if isinstance(found, list):
            key = path if path in self.replies else None
            turn = self._turns[key] = self._turns.get(key, -1) + 1
            found = found[min(turn, len(found) - 1)]
        if isinstance(found, bytes):
            await visit.send(found)
        else:
            await found(visit)


def saying(*data: bytes) -> Script:
    """Sends the pieces one by one, then closes."""

    async def script(visit: Visit) -> None:
        for piece in data:
            await visit.send(piece)
            await visit.pause()
        raise Close

    return script


def saying_then_silence(data: bytes) -> Script:
    """Sends `data`, then keeps the connection open without a word."""

    async def script(visit: Visit) -> None:
        await visit.send(data)
        await visit.hang()

    return script
