"""What can go wrong on the web, each under a name. `Site.fault(path, status(503), ok())` plays them one per request.

Every function here returns a step. A step that answers at all answers with the page registered at the path, so that a
test can tell the right bytes from the wrong ones.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from tests.site.answers import ENCODERS, Answer
from tests.site.wire import BLOCK, Exchange

Step = Callable[[Exchange], Awaitable[None]]

_POLL_SECONDS: Final = 0.005


def ok() -> Step:
    """Nothing goes wrong."""

    async def step(exchange: Exchange) -> None:
        await exchange.send(exchange.answer)

    return step


def status(
    code: int, *, retry_after: str | None = None, headers: Mapping[str, str] | None = None, body: str | None = None
) -> Step:
    """Answers `code`, with Retry-After as given (seconds or an HTTP date)."""
    answer = Answer(
        code, (("Content-Type", "text/html; charset=utf-8"),), (body or f"<h1>{code}</h1>").encode()
    ).with_headers({**({} if retry_after is None else {"Retry-After": retry_after}), **(headers or {})})

    async def step(exchange: Exchange) -> None:
        await exchange.send(answer)

    return step


def redirect_to(location: str, code: int = 302) -> Step:
    """Points elsewhere; `location` is sent as it stands."""
    return status(code, headers={"Location": location})


# --- time


def slow(seconds: float, then: Step | None = None) -> Step:
    """Nothing for `seconds`, then the answer (or `then`)."""
    after = then or ok()

    async def step(exchange: Exchange) -> None:
        await exchange.pause(seconds)
        await after(exchange)

    return step


def held(gate: threading.Event, then: Step | None = None) -> Step:
    """Nothing until the test opens `gate`."""
    after = then or ok()

    async def step(exchange: Exchange) -> None:
        while not gate.is_set():
            await exchange.pause(_POLL_SECONDS)
        await after(exchange)

    return step


def drip(bytes_per_second: float) -> Step:
    """The right answer, body by a few bytes at a time: no single read is slow, the whole is."""

    async def step(exchange: Exchange) -> None:
        body = exchange.answer.body
        await exchange.head(exchange.answer, len(body))
        piece = max(1, int(bytes_per_second / 20))
        for start in range(0, len(body), piece):
            await exchange.body(body[start : start + piece])
            await exchange.pause(piece / bytes_per_second)

    return step


def stall() -> Step:
    """Headers and half the body, then silence on an open connection."""

    async def step(exchange: Exchange) -> None:
        body = exchange.answer.body
        await exchange.head(exchange.answer, len(body))
        await exchange.body(body[: len(body) // 2])
        await exchange.until_gone()

    return step


def silence() -> Step:
    """Takes the request and never says a word."""

    async def step(exchange: Exchange) -> None:
        await exchange.until_gone()

    return step


# --- connections


def drop() -> Step:
    """Closes before answering."""

    async def step(exchange: Exchange) -> None:
        exchange.hang_up()

    return step


def reset() -> Step:
    """Tears the connection down (RST) before answering."""

    async def step(exchange: Exchange) -> None:
        exchange.reset()

    return step


def reset_in_body() -> Step:
    """Tears the connection down (RST) after half the body."""

    async def step(exchange: Exchange) -> None:
        body = exchange.answer.body
        await exchange.head(exchange.answer, len(body))
        await exchange.body(body[: len(body) // 2])
        await exchange.pause(0.05)  # RST discards what the client has not read yet; the headers should arrive.
        exchange.reset()

    return step


def close_after() -> Step:
    """The right answer, with `Connection: close`, and closes."""

    async def step(exchange: Exchange) -> None:
        await exchange.send(exchange.answer.with_headers({"Connection": "close"}))
        exchange.hang_up()

    return step


def hang_up() -> Step:
    """The right answer, then closes without having said so: the next request on that connection fails."""

    async def step(exchange: Exchange) -> None:
        await exchange.send(exchange.answer)
        exchange.hang_up()

    return step


# --- lengths and framing


def partial() -> Step:
    """Content-Length tells the truth, but the connection closes after half the body."""

    async def step(exchange: Exchange) -> None:
        body = exchange.answer.body
        await exchange.head(exchange.answer, len(body))
        await exchange.body(body[: len(body) // 2])
        exchange.hang_up()

    return step


def wrong_length(difference: int = -10) -> Step:
    """The whole body under a Content-Length that is `difference` off, then closes."""

    async def step(exchange: Exchange) -> None:
        body = exchange.answer.body
        await exchange.head(exchange.answer, len(body) + difference)
        await exchange.body(body)
        exchange.hang_up()

    return step


def no_length() -> Step:
    """The right answer, its end marked by nothing but the end of the connection."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(exchange.answer.with_headers({"Connection": "close"}), None)
        await exchange.body(exchange.answer.body)
        exchange.hang_up()

    return step


def chunked(size: int = 1000) -> Step:
    """The right answer in chunks of `size` bytes."""

    async def step(exchange: Exchange) -> None:
        await _chunked_head(exchange)
        body = exchange.answer.body
        for start in range(0, len(body), size):
            await exchange.body(_chunk(body[start : start + size]))
        await exchange.body(b"0\r\n\r\n")

    return step


def chunked_cut() -> Step:
    """All of the body in one chunk, but never the last chunk: it may or may not be whole."""

    async def step(exchange: Exchange) -> None:
        await _chunked_head(exchange)
        await exchange.body(_chunk(exchange.answer.body))
        exchange.hang_up()

    return step


def chunked_broken() -> Step:
    """A first good chunk, then a chunk size that is not a number."""

    async def step(exchange: Exchange) -> None:
        await _chunked_head(exchange)
        await exchange.body(_chunk(exchange.answer.body[:100] or b"x") + b"zebra\r\nnonsense\r\n")
        exchange.hang_up()

    return step


def chunked_forever() -> Step:
    """A body that never ends, as fast as the client reads."""

    async def step(exchange: Exchange) -> None:
        await _chunked_head(exchange)
        chunk = _chunk(b"<p>and so on</p>\n" * (BLOCK // 17))
        while True:
            await exchange.body(chunk)
            await exchange.pause(0.001)

    return step


# --- sizes and encodings


def huge(size: int) -> Step:
    """`size` bytes of HTML, announced by Content-Length."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(exchange.answer, size)
        await _filler(exchange, size)

    return step


def huge_unannounced(size: int) -> Step:
    """`size` bytes of HTML with no Content-Length; the end of the connection ends it."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(exchange.answer.with_headers({"Connection": "close"}), None)
        exchange.hang_up()
        await _filler(exchange, size)

    return step


def bomb(size: int, encoding: str = "gzip") -> Step:
    """A small body that decompresses to `size` bytes."""
    packed = ENCODERS[encoding](b" " * size)

    async def step(exchange: Exchange) -> None:
        answer = exchange.answer.with_headers({"Content-Encoding": encoding})
        await exchange.head(answer, len(packed))
        await exchange.body(packed)

    return step


def bad_encoding(encoding: str = "gzip") -> Step:
    """Claims an encoding that the body does not have."""

    async def step(exchange: Exchange) -> None:
        await exchange.send(exchange.answer.with_headers({"Content-Encoding": encoding}))

    return step


# --- not quite HTTP


def endless_headers() -> Step:
    """Header lines without end."""

    async def step(exchange: Exchange) -> None:
        exchange.seen.status = 200
        await exchange.write(b"HTTP/1.1 200 OK\r\n")
        for number in itertools.count():
            await exchange.write(f"X-Line-{number}: {'y' * 1000}\r\n".encode())
            await exchange.pause(0.0005)

    return step


def huge_header(size: int = 100_000) -> Step:
    """The right answer with one header line of `size` bytes."""

    async def step(exchange: Exchange) -> None:
        await exchange.send(exchange.answer.with_headers({"X-Large": "y" * size}))

    return step


def early_hints() -> Step:
    """A 103 before the right answer, which a client must pass over."""

    async def step(exchange: Exchange) -> None:
        await exchange.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        await exchange.send(exchange.answer)

    return step


def garbage() -> Step:
    """Bytes that are no HTTP at all."""
    return raw(b"\x16\x03\x01 220 mail.example ESMTP ready\x00\xff\r\n\r\n")


def raw(data: bytes) -> Step:
    """Exactly `data`, then closes."""

    async def step(exchange: Exchange) -> None:
        await exchange.write(data)
        exchange.hang_up()

    return step


async def _chunked_head(exchange: Exchange) -> None:
    await exchange.head(exchange.answer.with_headers({"Transfer-Encoding": "chunked"}), None)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _filler(exchange: Exchange, size: int) -> None:
    block = (b"<p>filler</p>\n" * (BLOCK // 14 + 1))[:BLOCK]
    while size > 0:
        await exchange.body(block[: min(size, BLOCK)])
        size -= BLOCK
