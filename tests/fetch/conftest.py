"""What the tests of fetching share: a raw server, a clock that jumps, names that resolve as a test says."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from sitemirror.events import Event
from sitemirror.fetch.client import Fetcher
from sitemirror.fetch.pace import Backoff, Pace
from sitemirror.model import Lane, Outcome
from sitemirror.settings import Settings
from tests.fetch.clocks import JumpingClock
from tests.fetch.raw import RawServer

LIMIT = 1024 * 1024


class Names(AbstractResolver):
    """A DNS of the test's own. Counts who is asked for."""

    def __init__(self, names: dict[str, list[str]]) -> None:
        self.names = names
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.asked.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "unknown name")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in self.names[host]
        ]

    async def close(self) -> None:
        pass


class NoChance:
    """Jitter that is always half a second."""

    def uniform(self, a: float, b: float, /) -> float:
        return (a + b) / 2


@dataclass
class Client:
    """A fetcher with all that a test wants to look at."""

    fetcher: Fetcher
    pace: Pace
    clock: JumpingClock
    events: list[Event]

    async def get(self, url: str, **options: Any) -> Outcome:
        chosen: dict[str, Any] = {"lane": Lane.CONTENT, "limit": LIMIT} | options
        return await self.fetcher.get(url, **chosen)


MakeClient = Callable[..., Awaitable[Client]]


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with RawServer() as found:
        yield found


@pytest.fixture
async def client(server: RawServer) -> AsyncIterator[MakeClient]:
    """Makes fetchers whose start URL is the server's; everything but the rate limit is as a user has it."""
    async with AsyncExitStack() as stack:

        async def make(
            *, start_url: str | None = None, resolver: AbstractResolver | None = None, **settings: Any
        ) -> Client:
            chosen = Settings.of({"rate_limit": 0} | settings)
            clock, events = JumpingClock(), list[Event]()
            pace = Pace(chosen, clock=clock, on_event=events.append)
            fetcher = Fetcher(
                chosen,
                start_url=start_url or server.url(),
                pace=pace,
                clock=clock,
                on_event=events.append,
                resolver=resolver or Names({}),
                backoff=Backoff(chance=NoChance()),
            )
            return Client(await stack.enter_async_context(fetcher), pace, clock, events)

        yield make
