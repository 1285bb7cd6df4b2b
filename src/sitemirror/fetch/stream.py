"""A body that is read as it comes, for what is too large to be held: sitemaps and assets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

import aiohttp

from sitemirror.fetch.decode import BodyTooLarge, CorruptBody, Decoder
from sitemirror.fetch.exchange import Exchange
from sitemirror.fetch.trouble import explain
from sitemirror.reasons import Cause, Reason

STREAM_TIMEOUTS: Final = 10
"""A streamed body may take this many times the timeout in total: sitemaps are large and read as they come."""


class Stream:
    """A 2xx answer whose body is read as it comes. What arrived before an error is good."""

    def __init__(self, exchange: Exchange, decoder: Decoder, *, timeout: float) -> None:
        self.head = exchange.head
        self.error: Cause | None = None
        self._exchange = exchange
        self._decoder = decoder
        self._timeout = timeout

    async def chunks(self) -> AsyncIterator[bytes]:
        """The decoded body. Ends early where it must; then `error` says why."""
        async with aclosing(self._exchange.body(self._decoder)) as body:
            while True:
                try:
                    piece = await anext(body)
                except StopAsyncIteration:
                    return
                except Exception as error:
                    self.error = self._explain(error)
                    return
                yield piece

    def _explain(self, error: Exception) -> Cause:
        match error:
            case BodyTooLarge():
                return Cause(Reason.TOO_LARGE)
            case CorruptBody():
                return error.cause
            case aiohttp.ServerTimeoutError():
                return explain(error, timeout=self._timeout / STREAM_TIMEOUTS).cause
        return explain(error, timeout=self._timeout).cause
