"""Looks names up, each in a thread of its own.

An event loop has a handful of threads for all lookups. A name server that does not answer keeps a thread for half a
minute, so a few dead names would stop every other site's lookups, and the end of the program too.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import AbstractEventLoop, Future, Semaphore
from threading import Thread
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult

AT_ONCE: Final = 8
"""Lookups that one site may have under way. The others wait for these, and for nobody else's."""

_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV

_Found = list[tuple[Any, ...]]


class Lookup(AbstractResolver):
    """The system's resolver. A thread that is waited for no more still counts until it has ended."""

    def __init__(self) -> None:
        self._free = Semaphore(AT_ONCE)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Addresses of `host`. Raises OSError, or UnicodeError for what cannot be a name."""
        loop = asyncio.get_running_loop()
        await self._free.acquire()
        answer: Future[_Found] = loop.create_future()
        try:
            # A daemon: the program may end while the name server still says nothing.
            Thread(
                target=self._ask, args=(host, port, family, loop, answer), name=f"look up {host}", daemon=True
            ).start()
        except RuntimeError as error:  # no more threads to be had
            self._free.release()
            raise OSError(str(error)) from None
        return [
            ResolveResult(
                hostname=host, host=_address(endpoint), port=port, family=kind, proto=protocol, flags=_NUMERIC
            )
            for kind, _, protocol, _, endpoint in await answer
            if isinstance(endpoint[0], str)  # else an IPv6 address that this Python was built without
        ]

    def _ask(
        self, host: str, port: int, family: socket.AddressFamily, loop: AbstractEventLoop, answer: Future[_Found]
    ) -> None:
        found: _Found | Exception
        try:
            found = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        except Exception as error:
            found = error
        try:
            loop.call_soon_threadsafe(self._tell, answer, found)
        except RuntimeError:
            pass  # The loop has gone meanwhile.

    def _tell(self, answer: Future[_Found], found: _Found | Exception) -> None:
        self._free.release()
        if answer.done():  # nobody waits any more
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    async def close(self) -> None:
        """Nothing is kept."""


class Lent(AbstractResolver):
    """A resolver that several runs use: none of them closes it."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return await self._resolver.resolve(host, port, family)

    async def close(self) -> None:
        """Left to the owner."""


def _address(endpoint: tuple[Any, ...]) -> str:
    """The address as text, with the interface of one that is only good on that."""
    host, scope = endpoint[0], endpoint[3] if len(endpoint) > 3 else 0
    return f"{host}%{scope}" if scope and "%" not in host else str(host)
