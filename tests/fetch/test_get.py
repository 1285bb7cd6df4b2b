"""One hop: what each kind of answer becomes."""

from __future__ import annotations

import gzip

import pytest

from sitemirror.fetch.response import Head
from sitemirror.model import Failed, Fetched, Lane, NotModified, Redirect, Skipped, Validators
from sitemirror.reasons import Reason, parse_reason
from tests.fetch.conftest import LIMIT, MakeClient
from tests.fetch.raw import RawServer, Visit, page, reply, saying, saying_then_silence


async def test_page_is_fetched(client: MakeClient, server: RawServer) -> None:
    """A 200 response becomes a page with type, charset, lower-cased headers and time."""
    server.replies["/a?b=%2F"] = page(b"<p>hi</p>", 'ETag: "1"', "X-Thing: a", "X-Thing: b")
    found = await client()
    outcome = await found.get(server.url("/a?b=%2F"))
    assert isinstance(outcome, Fetched)
    assert (outcome.url, outcome.status, outcome.body) == (server.url("/a?b=%2F"), 200, b"<p>hi</p>")
    assert (outcome.content_type, outcome.charset) == ("text/html", "utf-8")
    assert (outcome.headers["etag"], outcome.headers["x-thing"]) == ('"1"', "a, b")
    assert outcome.fetched_at == "2026-01-03T20:00:00Z"
    assert (outcome.headers["etag"], outcome.headers.get("last-modified")) == ('"1"', None)


async def test_request_line_and_headers(client: MakeClient, server: RawServer) -> None:
    """The request line is the normalised URL, and the headers are the documented ones."""
    found = await client()
    await found.get(server.url("/a%20b/%e4?q=a+b|c&x='1'"))
    (request,) = server.requests
    assert request.line == "GET /a%20b/%e4?q=a+b|c&x='1' HTTP/1.1"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["user-agent"].startswith("sitemirror/")
    assert request.headers["accept-encoding"] == "gzip, deflate, br, zstd"
    assert not {"cookie", "authorization", "if-none-match", "if-modified-since"} & request.headers.keys()


@pytest.mark.parametrize(
    ("status", "reason", "transient"),
    [
        ("400 Bad Request", "HTTP 400", False),
        ("401 Unauthorized", "HTTP 401", False),
        ("403 Forbidden", "HTTP 403", False),
        ("404 Not Found", "HTTP 404", False),
        ("408 Request Timeout", "HTTP 408", True),
        ("410 Gone", "HTTP 410", False),
        ("425 Too Early", "HTTP 425", True),
        ("451 \x07", "HTTP 451", False),
        ("500 Internal Server Error", "HTTP 500", True),
        ("501 Not Implemented", "HTTP 501", False),
        ("502 Bad Gateway", "HTTP 502", True),
        ("503 Service Unavailable", "HTTP 503", True),
        ("504 Gateway Timeout", "HTTP 504", True),
        ("522", "HTTP 522", True),
        ("999 Request denied", "HTTP 999", False),
        ("300 Multiple Choices", "HTTP 300", False),
        ("305 Use Proxy", "HTTP 305", False),
        ("206 Partial Content", "HTTP 206: only a part was sent", True),
    ],
)
async def test_status_becomes_failure(
    client: MakeClient, server: RawServer, status: str, reason: str, transient: bool
) -> None:
    """Transient exactly if a retry makes sense."""
    server.fallback = reply(status, b"sorry", "Location: /elsewhere")
    found = await client()
    outcome = await found.get(server.url())
    assert outcome == Failed(server.url(), *parse_reason(reason)[:2], transient=transient, status=int(status[:3]))


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "203 Non-Authoritative", "204 No Content", "205 Reset"])
async def test_every_success_is_accepted(client: MakeClient, server: RawServer, status: str) -> None:
    """2xx responses are accepted, also with an empty body."""
    server.fallback = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n".encode() + (
        b"\r\n" if "204" in status else b"Content-Length: 0\r\n\r\n"
    )
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Fetched)
    assert (outcome.status, outcome.body) == (int(status[:3]), b"")


@pytest.mark.parametrize("status", ["301", "302", "303", "307", "308"])
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b", "{root}/b"),
        ("c?x=1#part", "{root}/a/c?x=1"),
        ("//other.example/x", "http://other.example/x"),
        ("HTTPS://Other.EXAMPLE:443/../x", "https://other.example/x"),
        ("/caf\u00e9", "{root}/caf%C3%A9"),
        ("/a b", "{root}/a%20b"),
        ("", "{root}/a/"),
    ],
)
async def test_redirects_are_reported_not_followed(
    client: MakeClient, server: RawServer, status: str, location: str, target: str
) -> None:
    """A redirect gives its normalised target, which is not requested."""
    head = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 5\r\n\r\nmoved"
    server.replies["/a/"] = head.encode()
    found = await client()
    outcome = await found.get(server.url("/a/"))
    assert outcome == Redirect(server.url("/a/"), int(status), target.format(root=server.url("")))
    assert server.paths == ["/a/"]


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ([], "HTTP 302 without a Location"),
        (["Location: /a", "Location: /b"], "HTTP 302 with several Locations"),
        (["Location: ftp://x/"], "redirect that cannot be followed: ftp: scheme: ftp://x/"),
        (
            ["Location: javascript:alert(1)"],
            "redirect that cannot be followed: javascript: scheme: javascript:alert(1)",
        ),
        (["Location: http://u:p@x/"], "redirect that cannot be followed: credentials in the URL: http://***@x/"),
        (["Location: http://[bad/"], "redirect that cannot be followed: not a valid URL: http://[bad/"),
    ],
)
async def test_invalid_redirects_fail(client: MakeClient, server: RawServer, headers: list[str], reason: str) -> None:
    """A redirect that cannot be followed is a permanent failure."""
    server.fallback = reply("302 Found", b"", *headers)
    found = await client()
    outcome = await found.get(server.url())
    assert outcome == Failed(server.url(), *parse_reason(reason)[:2], transient=False, status=302)


async def test_repeated_equal_locations_are_one(client: MakeClient, server: RawServer) -> None:
    """The same Location twice is accepted."""
    server.fallback = reply("302 Found", b"", "Location: /a", "Location: /a")
    found = await client()
    assert isinstance(await found.get(server.url()), Redirect)


async def test_reasons_have_no_control_characters(client: MakeClient, server: RawServer) -> None:
    """Text of a Location header is escaped."""
    server.fallback = "HTTP/1.1 302 Found\r\nLocation: ftp://\u202e\u009b31mx\r\nContent-Length: 0\r\n\r\n".encode()
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Failed)
    assert outcome.text.isprintable()


async def test_validators_give_not_modified(client: MakeClient, server: RawServer) -> None:
    """With validators the request is conditional, and 304 means unchanged."""
    server.fallback = b'HTTP/1.1 304 Not Modified\r\nETag: "2"\r\n\r\n'
    found = await client()
    outcome = await found.get(server.url(), validators=Validators('W/"1"', "Sat, 03 Jan 2026 20:00:00 GMT"))
    assert outcome == NotModified(server.url(), {"etag": '"2"'}, "2026-01-03T20:00:00Z")
    headers = server.requests[0].headers
    assert headers["if-none-match"] == 'W/"1"'
    assert headers["if-modified-since"] == "Sat, 03 Jan 2026 20:00:00 GMT"


async def test_unrequested_304_is_a_failure(client: MakeClient, server: RawServer) -> None:
    """304 without validators is not a page."""
    server.fallback = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    found = await client()
    assert await found.get(server.url()) == Failed(server.url(), Reason.HTTP_STATUS, "304", transient=False, status=304)


async def test_invalid_validators_are_not_sent(client: MakeClient, server: RawServer) -> None:
    """A validator with line breaks makes the request unconditional."""
    found = await client()
    outcome = await found.get(server.url(), validators=Validators('"1"\r\nX-Evil: 1', "h\u00e9"))
    assert isinstance(outcome, Fetched)
    assert not {"if-none-match", "if-modified-since", "x-evil"} & server.requests[0].headers.keys()


@pytest.mark.parametrize(
    ("header", "body", "kind"),
    [
        ("", b"<!doctype html><p>x", "text/html"),
        ("Content-Type:", b"%PDF-1.4 ...", "application/pdf"),
        ("Content-Type: nonsense", b"just text", "text/plain"),
        ("Content-Type: text/html", b"\xef\xbb\xbf<p>", "text/html"),
        ("Content-Type: text/plain", b"<html>", "text/plain"),
        ("", b"", "text/plain"),
    ],
)
async def test_missing_type_is_sniffed(
    client: MakeClient, server: RawServer, header: str, body: bytes, kind: str
) -> None:
    """Without a Content-Type the first bytes decide."""
    server.fallback = reply("200 OK", body, *([header] if header else []))
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Fetched)
    assert (outcome.content_type, outcome.body) == (kind, body)


async def test_compressed_pages_are_decoded(client: MakeClient, server: RawServer) -> None:
    """The body is the decoded page."""
    server.fallback = page(gzip.compress(b"<p>packed</p>"), "Content-Encoding: gzip")
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"<p>packed</p>"


@pytest.mark.parametrize(
    ("encoding", "body", "reason", "transient"),
    [
        ("gzip", gzip.compress(b"x" * 9999, mtime=0)[:-20], "truncated gzip body", True),
        ("gzip", gzip.compress(b"x", mtime=0)[:10] + b"\xff" * 40, "corrupt gzip body", True),
        ("br", b"\xff" * 100, "corrupt br body", True),
        ("rot13", b"uryyb", "content encoding rot13", False),
        ("\u00e9vil\x1b[31m", b"hello", "", False),
    ],
)
async def test_undecodable_bodies_fail(
    client: MakeClient, server: RawServer, encoding: str, body: bytes, reason: str, transient: bool
) -> None:
    """A body that contradicts its encoding is a failure that names it."""
    server.fallback = page(body, f"Content-Encoding: {encoding}")
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Failed)
    assert outcome.text == reason or not reason
    assert outcome.text.isprintable()
    assert outcome.transient is transient or not reason


async def test_callback_sees_headers_before_body(client: MakeClient, server: RawServer) -> None:
    """A type can be refused before the body is read."""
    heads: list[Head] = []

    def only_html(head: Head) -> Skipped | None:
        heads.append(head)
        kind = head.content_type
        return None if kind == "text/html" else Skipped(head.url, Reason.WRONG_TYPE, kind, kind, head.content_length)

    server.replies["/film"] = saying_then_silence(
        b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 500000000\r\n\r\n"
    )
    found = await client(timeout=5)
    assert isinstance(await found.get(server.url("/page"), wanted=only_html), Fetched)
    refused = await found.get(server.url("/film"), wanted=only_html)
    assert refused == Skipped(server.url("/film"), Reason.WRONG_TYPE, "video/mp4", "video/mp4", 500_000_000)
    assert [(head.status, head.content_type, head.content_length) for head in heads] == [
        (200, "text/html", 12),
        (200, "video/mp4", 500_000_000),
    ]


@pytest.mark.parametrize("size", [20, 5000])
async def test_callback_gets_sniffed_type(client: MakeClient, server: RawServer, size: int) -> None:
    """Without a Content-Type the callback gets the type of the first bytes."""
    server.fallback = reply("200 OK", b"%PDF-1.7\n" + b"x" * size)
    found = await client()
    outcome = await found.get(server.url(), wanted=lambda head: Skipped(head.url, Reason.WRONG_TYPE, head.content_type))
    assert outcome == Skipped(server.url(), Reason.WRONG_TYPE, "application/pdf")


async def test_announced_size_over_the_limit(client: MakeClient, server: RawServer) -> None:
    """A body announced as too large is refused before it is read, with its size."""
    server.fallback = saying_then_silence(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1048577\r\n\r\n"
    )
    found = await client(timeout=5)
    outcome = await found.get(server.url(), limit=LIMIT)
    assert outcome == Skipped(server.url(), Reason.TOO_LARGE, None, "text/html", LIMIT + 1, 200)


async def test_unannounced_size_over_the_limit(client: MakeClient, server: RawServer) -> None:
    """A body without a length is dropped when it exceeds the limit."""
    sent = 0

    async def endless(visit: Visit) -> None:
        nonlocal sent
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await visit.send(b"10000\r\n" + bytes(65536) + b"\r\n")
            sent += 65536

    server.fallback = endless
    found = await client()
    outcome = await found.get(server.url(), limit=LIMIT)
    assert outcome == Skipped(server.url(), Reason.TOO_LARGE, None, "text/html", None, 200)
    assert sent < 30 * LIMIT


async def test_decompressed_size_over_the_limit(client: MakeClient, server: RawServer) -> None:
    """A body that decompresses beyond the limit is refused."""
    server.fallback = page(gzip.compress(bytes(LIMIT + 1)), "Content-Encoding: gzip")
    found = await client()
    outcome = await found.get(server.url(), limit=LIMIT)
    assert isinstance(outcome, Skipped)
    assert outcome.text == "exceeds size limit"


async def test_body_of_exactly_the_limit_passes(client: MakeClient, server: RawServer) -> None:
    """The limit itself is allowed."""
    server.fallback = page(b"x" * 1000)
    found = await client()
    assert isinstance(await found.get(server.url(), limit=1000), Fetched)
    assert isinstance(await found.get(server.url(), limit=999), Skipped)


async def test_body_without_length(client: MakeClient, server: RawServer) -> None:
    """A body that ends with its connection is complete."""
    server.fallback = saying(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", b"all</p>")
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"<p>all</p>"


async def test_early_hints_are_ignored(client: MakeClient, server: RawServer) -> None:
    """1xx responses before the final one are ignored."""
    server.fallback = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 3 + page(b"real")
    found = await client()
    outcome = await found.get(server.url())
    assert isinstance(outcome, Fetched)
    assert (outcome.status, outcome.body) == (200, b"real")


async def test_head_request(client: MakeClient, server: RawServer) -> None:
    """HEAD gives type, redirects and failures like GET; an unexpected body is ignored."""
    server.replies["/page"] = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 5000\r\n\r\n"
    server.replies["/moved"] = b"HTTP/1.1 301 Moved\r\nLocation: /page\r\nContent-Length: 99\r\n\r\n"
    server.replies["/wrong"] = page(b"a body that HEAD must not have")
    server.replies["/none"] = b"HTTP/1.1 405 Not Allowed\r\nContent-Length: 99\r\n\r\n"
    found = await client()
    head = await found.fetcher.head(server.url("/page"), lane=Lane.SITEMAP)
    assert isinstance(head, Fetched)
    assert (head.content_type, head.body) == ("text/xml", b"")
    assert isinstance(await found.fetcher.head(server.url("/moved"), lane=Lane.SITEMAP), Redirect)
    none = await found.fetcher.head(server.url("/none"), lane=Lane.SITEMAP)
    assert none == Failed(server.url("/none"), Reason.HTTP_STATUS, "405", transient=False, status=405)
    assert server.connections == 1
    assert {request.line.split()[0] for request in server.requests} == {"HEAD"}
    await found.fetcher.head(server.url("/wrong"), lane=Lane.SITEMAP)
    outcome = await found.get(server.url("/after"))
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"<p>hello</p>"


async def test_refusal_by_sniffing_does_not_read_the_body(client: MakeClient, server: RawServer) -> None:
    """Once the first bytes show a refused type, the rest is not read."""
    server.fallback = saying_then_silence(b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n%PDF-1.7\n" + b"x" * 5000)
    found = await client(timeout=5)
    outcome = await found.get(server.url(), wanted=lambda head: Skipped(head.url, Reason.WRONG_TYPE, head.content_type))
    assert outcome == Skipped(server.url(), Reason.WRONG_TYPE, "application/pdf")  # else it would have timed out
