"""Headers, cookies and passwords go to the start host with and without www, and to no other."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from sitemirror.errors import UsageError
from sitemirror.fetch.identity import Credentials
from sitemirror.settings import Settings
from tests.fetch.clocks import EPOCH, JumpingClock
from tests.fetch.conftest import MakeClient, Names
from tests.fetch.raw import RawServer


def credentials(start: str = "https://example.com/", **settings: Any) -> Credentials:
    return Credentials(Settings.of(settings), start, clock=JumpingClock())


@pytest.mark.parametrize(
    ("start", "url", "trusted"),
    [
        ("https://example.com/", "https://example.com/a", True),
        ("https://example.com/", "https://www.example.com/a", True),
        ("https://www.example.com/", "https://example.com/a", True),
        ("http://example.com/", "https://example.com/", True),
        ("http://example.com/", "http://www.example.com/", True),
        ("https://example.com/", "http://example.com/", False),
        ("https://example.com/", "https://docs.example.com/", False),
        ("https://example.com/", "https://example.com.evil.test/", False),
        ("https://example.com/", "https://evilexample.com/", False),
        ("https://example.com/", "https://example.com:8443/", False),
        ("https://example.com:8443/", "https://example.com:8443/", True),
        ("https://example.com:8443/", "https://www.example.com:8443/", True),
        ("https://example.com:8443/", "https://example.com/", False),
        ("http://example.com:8080/", "http://example.com:8081/", False),
    ],
)
def test_only_the_start_host_is_trusted(start: str, url: str, trusted: bool) -> None:
    """With and without www, on the same port, and never from https down to http."""
    found = credentials(start, header=("X-Key: 1",), basic_auth="u:p").headers_for(url)
    assert bool(found) is trusted


def test_basic_auth_is_encoded() -> None:
    """USER:PASSWORD becomes the header a server expects, non-ASCII and further colons included."""
    found = credentials(basic_auth="jörg:a:b").headers_for("https://example.com/")
    assert found == {"Authorization": "Basic " + base64.b64encode("jörg:a:b".encode()).decode()}


def test_an_explicit_authorization_header_wins() -> None:
    """A given Authorization header has precedence over --basic-auth."""
    found = credentials(basic_auth="u:p", header=("authorization: Bearer x",)).headers_for("https://example.com/")
    assert found == {"authorization": "Bearer x"}


@pytest.mark.parametrize(
    "line", ["Na me: x", "Näme: x", "X: a\x01b", "Content-Length: 5", "transfer-encoding: chunked"]
)
def test_invalid_headers_are_refused(line: str) -> None:
    """A header that would break requests is refused before the first one, with a hint."""
    settings = Settings()
    object.__setattr__(settings, "header", (line,))  # past the check that settings make themselves
    with pytest.raises(UsageError) as caught:
        Credentials(settings, "https://example.com/", clock=JumpingClock())
    assert caught.value.hint


FUTURE = int(EPOCH.timestamp()) + 3600
PAST = int(EPOCH.timestamp()) - 3600
COOKIES = f"""# Netscape HTTP Cookie File
# a comment

.example.com\tTRUE\t/\tFALSE\t{FUTURE}\tall\t1
example.com\tFALSE\t/\tFALSE\t0\texact\t2
#HttpOnly_.example.com\tTRUE\t/\tTRUE\t{FUTURE}\tsecure\t3
.example.com\tTRUE\t/docs\tFALSE\t{FUTURE}\tdocs\t4
.example.com\tTRUE\t/\tFALSE\t{PAST}\told\t5
.other.test\tTRUE\t/\tFALSE\t{FUTURE}\tother\t6
example.com\tTRUE\t/\tFALSE\t{FUTURE}\tempty\t
"""


@pytest.mark.parametrize(
    ("start", "url", "cookies"),
    [
        ("https://example.com/", "https://example.com/", {"all=1", "exact=2", "secure=3", "empty="}),
        ("http://example.com/", "http://example.com/", {"all=1", "exact=2", "empty="}),
        ("https://example.com/", "https://www.example.com/", {"all=1", "secure=3", "empty="}),
        ("https://example.com/", "https://example.com/docs", {"all=1", "exact=2", "secure=3", "docs=4", "empty="}),
        ("https://example.com/", "https://example.com/docs/x", {"all=1", "exact=2", "secure=3", "docs=4", "empty="}),
        ("https://example.com/", "https://example.com/docs2", {"all=1", "exact=2", "secure=3", "empty="}),
        ("https://example.com/", "https://other.test/", set()),
        ("https://other.test/", "https://other.test/", {"other=6"}),
    ],
)
def test_cookie_attributes_are_obeyed(tmp_path: Path, start: str, url: str, cookies: set[str]) -> None:
    """Domain, path, Secure and expiry apply in addition to the trusted host."""
    file = tmp_path / "cookies.txt"
    file.write_text(COOKIES, "utf-8")
    sent = credentials(start, cookie_file=file).headers_for(url).get("Cookie", "")
    assert {part for part in sent.split("; ") if part} == cookies


def test_longer_paths_come_first(tmp_path: Path) -> None:
    """The cookie with the longer path is sent first, as servers expect."""
    file = tmp_path / "cookies.txt"
    file.write_text("h.test\tFALSE\t/\tFALSE\t0\ta\t1\nh.test\tFALSE\t/x\tFALSE\t0\ta\t2\n", "utf-8")
    assert credentials("https://h.test/", cookie_file=file).headers_for("https://h.test/x") == {"Cookie": "a=2; a=1"}


def test_cookie_file_and_cookie_header_are_merged(tmp_path: Path) -> None:
    """A Cookie header and a cookie file give one header."""
    file = tmp_path / "cookies.txt"
    file.write_text("h.test\tFALSE\t/\tFALSE\t0\tb\t2\n", "utf-8")
    found = credentials("https://h.test/", cookie_file=file, header=("cookie: a=1",)).headers_for("https://h.test/")
    assert found == {"cookie": "a=1; b=2"}


@pytest.mark.parametrize(
    "content",
    [
        b'{"cookies": []}',
        b"a b c\n",
        b"\xff\xfe\x00",
        b"h\tTRUE\t/\tFALSE\tnever\ta\tb\n",
        b"h\tTRUE\t/\tFALSE\t0\ta\tb\x01\n",
    ],
)
def test_file_without_cookies_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file in another format is an error that names the expected format."""
    file = tmp_path / "cookies.txt"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="not a cookie file") as caught:
        credentials(cookie_file=file)
    assert "Netscape" in caught.value.hint


def test_missing_cookie_file_is_refused(tmp_path: Path) -> None:
    """An unreadable cookie file ends the run before it starts."""
    with pytest.raises(UsageError, match="cannot read the cookie file"):
        credentials(cookie_file=tmp_path / "none.txt")


async def test_credentials_go_to_start_host_only(client: MakeClient, server: RawServer) -> None:
    """Another host on the same server gets the User-Agent only."""
    names = Names({name: ["127.0.0.1"] for name in ("site.test", "www.site.test", "evil.test")})
    found = await client(
        start_url=server.url(host="site.test"),
        resolver=names,
        header=("X-Key: 1",),
        basic_auth="u:p",
        user_agent="me/1",
    )
    for host in ("site.test", "www.site.test", "evil.test"):
        await found.get(server.url("/" + host, host=host))
    seen = {request.path: request.headers for request in server.requests}
    for host in ("site.test", "www.site.test"):
        assert (seen["/" + host]["x-key"], seen["/" + host]["authorization"]) == ("1", "Basic dTpw")
    assert not {"x-key", "authorization", "cookie"} & seen["/evil.test"].keys()
    assert {headers["user-agent"] for headers in seen.values()} == {"me/1"}


async def test_cookies_of_servers_are_not_sent_back(client: MakeClient, server: RawServer) -> None:
    """No page may depend on the order of requests."""
    server.fallback = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n"
    found = await client()
    await found.get(server.url("/1"))
    await found.get(server.url("/2"))
    assert "cookie" not in server.requests[1].headers


async def test_given_header_replaces_the_default(client: MakeClient, server: RawServer) -> None:
    """A given Accept header is sent once."""
    found = await client(header=("accept: text/markdown",))
    await found.get(server.url())
    assert server.requests[0].headers["accept"] == "text/markdown"
