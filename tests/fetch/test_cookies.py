"""A site's own cookies are sent back where it lets nobody in without them, and nowhere else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sitemirror import convert_url, crawl, mirror
from sitemirror.fetch.identity import MAX_COOKIE_SIZE, MAX_COOKIES, SiteCookies
from sitemirror.model import Fetched, Redirect
from tests.fetch.clocks import EPOCH, JumpingClock
from tests.fetch.conftest import MakeClient, Names
from tests.fetch.raw import RawServer, reply
from tests.site import Site, faults
from tests.site.wire import Exchange


def gate(cookie: str = "in=1", to: str = "") -> faults.Step:
    """Sends who brings no cookie to `to`, or to where it is, with one."""

    async def step(exchange: Exchange) -> None:
        if cookie in exchange.seen.headers.get("cookie", ""):
            await exchange.send(exchange.answer)
            return
        headers = {"Location": to or exchange.seen.path, "Set-Cookie": f"{cookie}; Path=/; HttpOnly"}
        await faults.status(302, headers=headers)(exchange)

    return step


async def test_cookie_gate_is_passed(site: Site, out: Path) -> None:
    """A redirect to itself with a cookie is followed with the cookie, which later requests have, too."""
    site.fill(3)
    site.sitemap()
    site.fault("*", gate())

    report = await mirror(site.url, output=out, rate_limit=0)

    assert (report.status, report.successful) == ("ok", 3)
    assert [seen.status for seen in site.requests].count(302) == 1


async def test_cookie_gate_of_two_steps_is_passed(site: Site, out: Path) -> None:
    """A start page may redirect to a page that sets a cookie and redirects back."""
    site.html_page("/", "Home", '<a href="/a">A</a>')
    site.html_page("/a", "A", "<p>Text</p>")
    site.fault("/", gate(to="/check"))
    site.fault("/a", gate(to="/check"))
    site.fault("/check", faults.redirect_to("/"))

    report = await crawl(site.url, output=out, rate_limit=0)

    assert (report.status, report.successful) == ("ok", 2)
    assert site.count("/check") == 1


async def test_convert_passes_a_cookie_gate(site: Site) -> None:
    """`convert` fetches a page in the same way."""
    site.html_page("/a", "A", "<p>Inside</p>")
    site.fault("/a", gate(to="/check"))
    site.fault("/check", faults.redirect_to("/a"))
    assert "Inside" in (await convert_url(site.url + "/a")).markdown


async def test_cookie_gate_that_stays_closed(client: MakeClient, server: RawServer) -> None:
    """If the cookie does not help, the result is a redirect loop after two requests."""
    server.replies["/"] = reply("302 Found", b"", "Location: /", "Set-Cookie: a=1")
    found = await client()
    assert await found.get(server.url()) == Redirect(server.url(), 302, server.url())
    assert [request.headers.get("cookie") for request in server.requests] == [None, "a=1"]


async def test_cookie_of_other_redirects_is_dropped(client: MakeClient, server: RawServer) -> None:
    """A redirect to another page may set cookies without effect."""
    server.replies["/lang/de"] = reply("302 Found", b"", "Location: /", "Set-Cookie: lang=de; Path=/")
    found = await client()
    await found.get(server.url("/lang/de"))
    await found.get(server.url("/"))
    assert all("cookie" not in request.headers for request in server.requests)


async def test_cookie_is_sent_to_its_host_only(client: MakeClient, server: RawServer) -> None:
    """Subdomains and parent domains get no cookie, whatever its Domain."""
    hosts = ("a.site.test", "b.a.site.test", "site.test", "www.site.test")
    found = await client(resolver=Names({name: ["127.0.0.1"] for name in hosts}), start_url=server.url(host=hosts[0]))
    server.replies["/in"] = [reply("302 Found", b"", "Location: /in", "Set-Cookie: a=1; Domain=site.test"), reply()]
    assert isinstance(await found.get(server.url("/in", host=hosts[0])), Fetched)
    for host in hosts:
        await found.get(server.url("/" + host, host=host))
    assert {request.path for request in server.requests if "cookie" in request.headers} == {"/in", "/a.site.test"}


async def test_site_cookies_are_merged_with_file_cookies(client: MakeClient, server: RawServer, tmp_path: Path) -> None:
    """They share a header; for the same name the site's value is sent."""
    file = tmp_path / "cookies.txt"
    file.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tuser\tme\n127.0.0.1\tFALSE\t/\tFALSE\t0\tpass\told\n", "utf-8")
    server.replies["/"] = [reply("302 Found", b"", "Location: /", "Set-Cookie: pass=new"), reply()]
    found = await client(cookie_file=file)
    await found.get(server.url())
    assert [request.headers["cookie"] for request in server.requests] == ["user=me; pass=old", "user=me; pass=new"]


async def test_kept_cookie_is_updated(client: MakeClient, server: RawServer) -> None:
    """Later responses may change or expire a kept cookie, but add none."""
    server.replies["/in"] = [reply("302 Found", b"", "Location: /in", "Set-Cookie: a=1; Path=/"), reply()]
    server.replies["/1"] = reply("200 OK", b"", "Set-Cookie: a=2; Path=/", "Set-Cookie: b=1; Path=/")
    server.replies["/2"] = reply("200 OK", b"", "Set-Cookie: a=; Path=/; Max-Age=0")
    found = await client()
    for path in ("/in", "/1", "/2", "/3"):
        await found.get(server.url(path))
    assert [request.headers.get("cookie") for request in server.requests] == [None, "a=1", "a=1", "a=2", None]


def kept(url: str, *lines: str) -> SiteCookies:
    cookies = SiteCookies(JumpingClock())
    cookies.remember(url, [*lines])
    assert cookies.accept([url])
    return cookies


LATER = (EPOCH + timedelta(hours=1)).strftime("%a, %d-%b-%Y %H:%M:%S GMT")
BEFORE = (EPOCH - timedelta(hours=1)).strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize(
    ("line", "url", "sent"),
    [
        ("a=1", "http://h.test/docs/x", "a=1"),
        ("a=1", "http://h.test/docs", "a=1"),
        ("a=1", "http://h.test/docs2", None),
        ("a=1; path=/", "http://h.test/x", "a=1"),
        ("a=1; path=x", "http://h.test/x", None),
        ("a=1; path=/", "https://h.test/", "a=1"),
        ("a=1; path=/", "http://h.test:8080/", None),
        ("a=1; path=/", "http://www.h.test/", None),
        ("a=1; path=/; secure", "http://h.test/", None),
        ("a=1; path=/; secure", "https://h.test/", "a=1"),
        ("a=1; path=/; domain=.H.test", "http://h.test/", "a=1"),
        ("a=1; path=/; domain=other.test", "http://h.test/", None),
        (f"a=1; path=/; expires={LATER}", "http://h.test/", "a=1"),
        (f"a=1; path=/; expires={BEFORE}", "http://h.test/", None),
        (f"a=1; path=/; expires={BEFORE}; max-age=60", "http://h.test/", "a=1"),
        ("a=1; path=/; max-age=0", "http://h.test/", None),
        ("a=1; path=/; max-age=soon; expires=never", "http://h.test/", "a=1"),
        (' a = "1, 2" ; path=/', "http://h.test/", 'a="1, 2"'),
        ("=1; path=/", "http://h.test/", None),
        ("", "http://h.test/docs/", None),
        ("a=\x01; path=/", "http://h.test/", None),
        ("a=é; path=/", "http://h.test/", None),
        (f"a={'1' * MAX_COOKIE_SIZE}; path=/", "http://h.test/", None),
    ],
)
def test_cookie_attributes_are_obeyed(line: str, url: str, sent: str | None) -> None:
    """Path, Secure, expiry and host are obeyed; invalid cookies are dropped."""
    found = kept("http://h.test/docs/in", line).add_to({}, url)
    assert found == ({} if sent is None else {"Cookie": sent})


def test_https_cookie_is_not_sent_over_http() -> None:
    """A cookie of an https page is sent to https pages only."""
    assert kept("https://h.test/", "a=1").add_to({}, "http://h.test/") == {}


def test_number_of_cookies_is_limited() -> None:
    """Only a limited number of cookies is kept per host."""
    found = kept("http://h.test/", *(f"a{number}=1" for number in range(1000))).add_to({}, "http://h.test/")
    assert found["Cookie"].count("=") == MAX_COOKIES
