"""Odd HTTP/1.1 replies, byte by byte: a named reason or a true success, never a false one, a hang or an exception."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from sitemirror.model import Failed, Fetched, Outcome, Redirect
from tests.fetch.conftest import Client, MakeClient
from tests.fetch.raw import RawServer, saying


async def replay(found: Client, server: RawServer, raw: bytes) -> Outcome:
    server.fallback = saying(raw)
    return await asyncio.wait_for(found.get(server.url()), 10)


def is_named(outcome: Outcome) -> bool:
    return isinstance(outcome, Failed) and bool(outcome.text) and outcome.text.isprintable()


STATUS = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (STATUS + b"Content-Length: 5\r\n\r\nTest.", b"Test."),
        (b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nTest.", b"Test."),
        (b"HTTP/1.0 200 OK\r\n\r\nTest.", b"Test."),
        (STATUS + b"content-LENGTH:5\r\n\r\nTest.", b"Test."),
        (STATUS + b"X:\r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (STATUS + b"X: caf\xe9\r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (STATUS + b"Transfer-Encoding: chunked\r\n\r\n2\r\nTe\r\n3;x=y\r\nst.\r\n0\r\nTrailer: 1\r\n\r\n", b"Test."),
        (STATUS + b"Transfer-Encoding: CHUNKED\r\n\r\n005\r\nTest.\r\n0\r\n\r\n", b"Test."),
        (STATUS + b"Transfer-Encoding: chunked\r\n\r\n5\nTest.\r\n0\r\n\r\n", b"Test."),
        (STATUS + b"Transfer-Encoding: chunked\r\n\r\n2\nTe\n3\nst.\n0\n\n", b"Test."),
        (STATUS + b"Transfer-Encoding: chunked\r\n\r\n5\r\nTest.\r\n0\r\nno trailer\r\n\r\nHTTP", b"Test."),
        (STATUS + b"Content-Length: 5\r\n\r\nTest.HTTP/1.1 500 No\r\n\r\n", b"Test."),
        (STATUS + b"Content-Length : 5\r\nX\t : y\r\n\r\nTest.", b"Test."),
        (STATUS + b": odd\r\n continued\r\n :\r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (STATUS + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nTest.\r\n0\r\n\r\n", b"Test."),
        (STATUS + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n5\r\nTest.\r\n0\r\n\r\n", b"Test."),
        (STATUS + b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (STATUS + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nTest.", b"Test."),
        (STATUS + b"Content-Length: 5, 5\r\n\r\nTest.", b"Test."),
        (
            b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\n" + STATUS + b"A : b\r\nContent-Length: 5\r\n\r\nTest.",
            b"Test.",
        ),
    ],
)
async def test_unusual_replies_are_accepted(client: MakeClient, server: RawServer, raw: bytes, body: bytes) -> None:
    """Spellings that real servers use."""
    outcome = await replay(await client(), server, raw)
    assert isinstance(outcome, Fetched)
    assert outcome.body == body


@pytest.mark.parametrize(
    "raw",
    [
        b"HTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1\t200 OK\r\n\r\n",
        b"HTTP/3.1 200 OK\r\n\r\n",
        b"HTTP/1.1 2 OK\r\n\r\n",
        b"HTTP/1.1 20x OK\r\n\r\n",
        STATUS + b"X\0Y: 1\r\n\r\n",
        STATUS + b"X: a\0b\r\n\r\n",
        STATUS + b"X Y: 1\r\n\r\n",
        STATUS + b"X: a\rY: b\r\n\r\n",
        STATUS + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nTest.\r\n",
        STATUS + b"Content-Length: 5, 6\r\n\r\nTest.",
        STATUS + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nTest.",
        STATUS + b"no header\r\nContent-Length: 5\r\n\r\nTest.",
        STATUS + b"Transfer-Encoding: chunked\r\n\r\n5\nTest.\n0\n",
        b"ICY 200 OK\r\nContent-Length: 5\r\n\r\nTest.",
        STATUS + b"Content-Length: five\r\n\r\nTest.",
        STATUS + b"Transfer-Encoding: gzip\r\n\r\nTest.",
        STATUS + b"Transfer-Encoding: chunkedchunked\r\n\r\n5\r\nTest.\r\n0\r\n\r\n",
        STATUS + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nTest.\r\n0\r\n\r\n",
        STATUS + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nTest.\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\n\r\nContent-Type: text/html\r\n\r\nTest.",
        STATUS + b"X: 1\n\r\nContent-Length: 5\r\n\r\nTest.",
    ],
)
async def test_ambiguous_replies_are_failures(client: MakeClient, server: RawServer, raw: bytes) -> None:
    """A response with two readings, or none, fails with a reason."""
    assert is_named(await replay(await client(), server, raw))


# Where browsers accept the character; everywhere else they refuse the reply.
_HARMLESS = {"before-reason", "after-reason", "after-colon", "in-value", "after-value"}


@pytest.mark.vectors
async def test_vectors_of_the_web_platform(client: MakeClient, server: RawServer, vectors: Path) -> None:
    """One odd character at each place of a reply: the page is whole or the failure named; what browsers take passes.

    We take more than they do: a colon in a header's value, and line breaks without CR, which RFC 9112 allows.
    """
    found, wrong = await client(), []
    files = sorted((vectors / "http-wpt").rglob("parsing_*.asis"))
    assert len(files) > 90
    for file in files:
        outcome = await replay(found, server, file.read_bytes())
        _, character, place = file.stem.split("_")
        good = isinstance(outcome, Fetched) and outcome.body == b"Test."
        must_pass = character in ("HTAB", "SP") and place in _HARMLESS
        if not good and (must_pass or not is_named(outcome)):
            wrong.append((file.stem, outcome))
    assert not wrong


@pytest.mark.vectors
async def test_vectors_of_content_lengths(client: MakeClient, server: RawServer, vectors: Path) -> None:
    """A page comes only with the length that browsers read.

    We refuse lengths that are repeated, listed or no number, where browsers guess: a mirror must not hold half a page.
    """
    cases = json.loads((vectors / "http-wpt/fetch/content-length/resources/content-lengths.json").read_text("utf-8"))
    found, wrong = await client(), []
    for case in cases:
        body = b"x" * (case["output"] or 42)
        raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + case["input"].encode("latin-1") + b"\r\n\r\n" + body
        outcome = await replay(found, server, raw)
        good = isinstance(outcome, Fetched) and outcome.body == body and case["output"] is not None
        if not good and not is_named(outcome):
            wrong.append((case, outcome))
        if case["input"] in ("Content-Length: 42", "Content-Length: 30") and not good:
            wrong.append((case, outcome))
    assert not wrong


_CASE = re.compile(r"^#+ (.*?)\n.*?<!-- meta=(\{.*?\}) -->\s*```http\n(.*?)```\s*```log\n(.*?)```", re.S | re.M)
# Errors to a strict parser, but with only one meaning: lines that end in LF alone, blanks after a chunk's size, data
# after the response.
_TAKEN_ANYWAY = {
    "HTTP/1.1 with keep-alive disabled and 204 status",
    "HTTP/1.1 with keep-alive disabled, content-length",
    "Only LFs present",
    "Only LFs present and no body",
    "No carriage ret",
    "Trailing space on chunked body",
}


@pytest.mark.vectors
async def test_vectors_of_a_parser(client: MakeClient, server: RawServer, vectors: Path) -> None:
    """llhttp's own cases: a page only where its log shows a whole body, and that body; a reason everywhere else."""
    found, seen = await client(), 0
    wrong: list[tuple[str, Outcome]] = []
    for file in sorted((vectors / "http-llhttp").rglob("*.md")):
        for name, _, http, log in _CASE.findall(file.read_text("utf-8")):
            seen += 1
            outcome = await replay(found, server, _wire(http))
            if isinstance(outcome, Fetched):
                if name not in _TAKEN_ANYWAY and not _is_whole(outcome.body, log):
                    wrong.append((name, outcome))
            elif not isinstance(outcome, Redirect) and not is_named(outcome):
                wrong.append((name, outcome))
    assert seen > 80
    assert not wrong


def _is_whole(body: bytes, log: str) -> bool:
    # Of several answers in one go the first is ours.
    first, *_ = log.split("message complete")
    spans = re.findall(r'span\[body\]="(.*)"$', first, re.M)
    return "error code" not in log and _letters(body.decode("latin-1")) == _letters("".join(spans))


def _wire(text: str) -> bytes:
    """The files show line ends as line ends and other controls as escapes; a backslash joins lines."""
    text = text.removesuffix("\n").replace("\\\n", "").replace("\n", "\r\n")
    for name, char in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(name, char)
    return text.encode("latin-1")


def _letters(text: str) -> str:
    return re.sub(r"[\\\r\n]", "", text)
