"""No way in, seen from the other side: whatever a site points at, no packet goes to an address that is not public.

These tests run the program in a network namespace where every address answers and every attempt is seen. They need
Linux, and root or user namespaces.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.island import PORT, PUBLIC

ROOT = Path(__file__).parents[2]
START = f"http://start.test:{PORT}"
HTML, XML = {"Content-Type": "text/html"}, {"Content-Type": "application/xml"}
FAST = ("--rate-limit", "0", "--timeout", "3", "--max-retries", "0")
# The program, but no host counts as down, however many of its URLs fail: each is to be tried, and none waited for.
TIRELESS = (
    "import sys; from sitemirror.fetch import pace; pace.IN_A_ROW = 10**9; "
    "from sitemirror.cli import main; sys.exit(main())"
)

# Loopback, private, link-local and metadata addresses as people have spelled them to get past checks.
_SPELLINGS = """
    http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f000001/ http://0177.0.0.1/ http://0x7f.1/
    http://017700000001/ http://127.000.000.001/ http://0/ http://0.0.0.0:22/ http://localhost/ http://LOCALHOST./
    http://x.localhost:6379/ http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]:8080/ http://[::ffff:127.0.0.1]/
    http://[::ffff:7f00:1]:8080/ http://[::127.0.0.1]/ http://[64:ff9b::10.0.0.1]/ http://[2002:a00:1::]/
    http://[fe80::1]/ http://[fd00:ec2::254]/ http://[::ffff:169.254.169.254]/ http://169.254.169.254/latest/meta-data/
    http://2852039166/ http://0xa9fea9fe/ http://0251.0376.0251.0376/ http://169.254.43518/ http://10.0.0.1:8080/
    http://172.16.0.1/ http://192.168.0.1/ http://100.64.0.1/ http://192.0.0.192/ http://198.18.0.1/ http://224.0.0.1/
    http://255.255.255.255/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ http://１６９.254.169.254/
    http://start.test@127.0.0.1/ http://127.0.0.1:80\\@start.test/ http://start.test\\@10.0.0.1/
    //10.0.0.1/ \\\\10.0.0.1\\x
    http://10.0.0.1.nip.test/ http://a.169-254-169-254.nip.test/ http://127.0.0.1.nip.test:8080/ http://unknown.test/
    http://two.test:8080/two http://mapped.test/ https://10.0.0.1/ https://[::1]/ http:10.0.0.1 http:///10.0.0.1/
    http://[fe80::1%25lo]/ http://[::1%lo]/ file:///etc/passwd ftp://10.0.0.1/ gopher://10.0.0.1:6379/_x
    jar:http://10.0.0.1!/ http://rebind.test:8080/one http://rebind.test:8080/two
"""
SPELLINGS = _SPELLINGS.split()


@cache
def _namespace() -> tuple[str, ...] | None:
    """How a command is run in a namespace of its own; None where that cannot be."""
    if not (sys.platform == "linux" and shutil.which("unshare") and shutil.which("ip")):
        return None
    for options in (("-n",), ("-rn",)):
        command = ("unshare", *options)
        trial = "ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo"
        if subprocess.run([*command, "sh", "-c", trial], capture_output=True).returncode == 0:
            return command
    return None


@dataclass
class Seen:
    """What happened on the island."""

    tried: list[tuple[str, int]]
    asked: dict[str, list[tuple[str, str, dict[str, str]]]]
    ends: list[tuple[int, str, str]]

    @property
    def forbidden(self) -> list[tuple[str, int]]:
        return [(address, port) for address, port in self.tried if not ip_address(address).is_global]

    def paths(self, address: str = PUBLIC) -> set[str]:
        return {path for _, path, _ in self.asked[address]}


class Island:
    """Runs commands there. Sites are `{address: {path: (status, headers, body)}}`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(
        self,
        *runs: tuple[str, ...],
        sites: dict[str, dict[str, Any]],
        environment: dict[str, str] | None = None,
        timeout: float = 50,
    ) -> Seen:
        command = _namespace()
        if command is None:
            pytest.skip("no network namespace can be made here (needs Linux, and root or user namespaces)")
        plan = self._folder / "plan.json"
        told = {"sites": sites, "runs": runs, "environment": environment or {}, "timeout": timeout}
        plan.write_text(json.dumps(told), encoding="utf-8")
        clean = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), clean.get("PYTHONPATH", "")])
        done = subprocess.run(
            [*command, sys.executable, "-m", "tests.hostile.island", str(plan)],
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=clean | {"PYTHONPATH": path},
            timeout=timeout * len(runs) + 20,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        return Seen([(address, port) for address, port in found["tried"]], found["asked"], found["ends"])


@pytest.fixture
def island(tmp_path: Path) -> Island:
    return Island(tmp_path)


def program(*arguments: str) -> tuple[str, ...]:
    return ("-m", "sitemirror", *arguments)


def pointing_at(urls: Iterable[str]) -> dict[str, tuple[int, dict[str, str], str]]:
    """A site that points at each URL in every way a site can: loc, child sitemap, link, asset, refresh, redirect."""
    pages: dict[str, tuple[int, dict[str, str], str]] = {}
    locs, children, links = [f"{START}/"], [f"{START}/own.xml"], []
    for number, url in enumerate(urls):
        quoted = escape(url)
        locs += [quoted, f"{START}/canon/{number}", f"{START}/refresh/{number}"]
        children.append(quoted)
        links.append(f'<a href="{quoted}">x</a><img src="{quoted}"><link rel=stylesheet href="{quoted}">')
        pages[f"/canon/{number}"] = (200, HTML, f'<link rel="canonical" href="{quoted}"><h1>{number}</h1>')
        pages[f"/refresh/{number}"] = (200, HTML, f'<meta http-equiv="refresh" content="0; url={quoted}">')
        if url.isprintable():  # A header holds no controls.
            locs.append(f"{START}/redirect/{number}")
            pages[f"/redirect/{number}"] = (302, {"Location": url}, "")
    links += [f'<a href="{path}">x</a>' for path in pages]
    pages["/"] = (200, HTML, f"<h1>Home</h1>{''.join(links)}")
    rows = "".join(f"<url><loc>{loc}</loc></url>" for loc in locs)
    maps = "".join(f"<sitemap><loc>{child}</loc></sitemap>" for child in children)
    pages["/own.xml"] = (200, XML, f"<urlset>{rows}</urlset>")
    pages["/sitemap.xml"] = (200, XML, f"<sitemapindex>{maps}</sitemapindex>")
    pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, f"Sitemap: {START}/sitemap.xml\n")
    return pages


def test_the_island_sees_every_attempt(island: Island) -> None:
    """The sniffer is no ornament: a connection to a private address or to nobody is seen, in both families."""
    attempts = "[socket.socket(f).connect_ex((a, p)) for f, a, p in ((2, '10.9.8.7', 1), (10, 'fd00::7', 2))]"
    code = f"import socket; {attempts}"
    look = "import socket; print(socket.gethostbyname('10-1-2-3.nip.test'), socket.gethostbyname('start.test'))"
    seen = island.run(("-c", code), ("-c", look), sites={})
    assert seen.forbidden == [("10.9.8.7", 1), ("fd00::7", 2)]
    assert seen.ends[1][1].split() == ["10.1.2.3", PUBLIC]


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_nothing_inside_is_connected_to(island: Island, command: str) -> None:
    """As loc, sitemap, link, asset, canonical, refresh and redirect, in every spelling and by DNS: not one packet."""
    wide = ("--no-domain-lock",) if command == "mirror" else ("--any-domain", "--ignore-robots")
    seen = island.run(program(command, f"{START}/", *FAST, *wide), sites={PUBLIC: pointing_at(SPELLINGS)})
    code, _, stderr = seen.ends[0]
    assert code == 0, stderr
    assert seen.forbidden == []
    assert (PUBLIC, PORT) in seen.tried
    assert seen.paths() >= {"/", "/canon/0", "/refresh/0", "/redirect/0"}
    # A public address beside a private one may be used; a name that has moved inside since it was first asked may not.
    assert "/two" in seen.paths()


@pytest.mark.parametrize("command", ["mirror", "crawl", "list", "convert"])
def test_a_name_that_moves_inside_after_it_was_checked(island: Island, command: str) -> None:
    """DNS rebinding of the start host itself: the address that is connected to is the one that was checked."""
    arguments = ("--timeout", "3", "--max-retries", "0") if command == "convert" else FAST
    seen = island.run(
        program(command, f"http://rebind.test:{PORT}/", *arguments), sites={"127.0.0.1": pointing_at(["/x"])}
    )
    assert seen.forbidden == []
    assert seen.ends[0][0] == 1
    assert "127.0.0.1" in seen.ends[0][2]


def test_one_page_is_converted_under_the_same_guard(island: Island) -> None:
    """`convert URL` follows no redirect and no refresh to an address that the person did not name."""
    pages = pointing_at(SPELLINGS)
    chosen = [number for number, url in enumerate(SPELLINGS) if "169.254" in url or "::1" in url or "nip" in url]
    ways = [f"{START}/{way}/{number}" for number in chosen[:4] for way in ("redirect", "refresh")]
    runs = [program("convert", url, "--timeout", "3", "--max-retries", "0") for url in ways]
    seen = island.run(*runs, sites={PUBLIC: pages}, environment={"SITEMIRROR_RATE_LIMIT": "0"})
    assert seen.forbidden == []
    assert [code for code, _, _ in seen.ends] == [1] * len(runs)


def test_an_intranet_site_in_a_list_opens_nothing_for_the_others(island: Island, tmp_path: Path) -> None:
    """With `--sites`, the private address that one site has is not reachable from another site's pages."""
    inside = f"http://10.1.1.1:{PORT}"
    own = {
        "/sitemap.xml": (200, XML, f"<urlset><url><loc>{inside}/page</loc></url></urlset>"),
        "/page": (200, HTML, "<p>x"),
    }
    (tmp_path / "sites.txt").write_text(f"{START}/\n{inside}/\n", encoding="utf-8")
    seen = island.run(
        program("mirror", "--sites", str(tmp_path / "sites.txt"), *FAST, "--no-domain-lock"),
        sites={PUBLIC: pointing_at([f"{inside}/secret", *SPELLINGS[:5]]), "10.1.1.1": own},
    )
    assert {address for address, _ in seen.forbidden} == {"10.1.1.1"}
    assert "/page" in seen.paths("10.1.1.1")
    assert "/secret" not in seen.paths("10.1.1.1")


def test_proxies_of_the_environment_open_no_way(island: Island) -> None:
    """Proxy variables alone change nothing: their addresses are not connected to."""
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    seen = island.run(
        program("mirror", f"{START}/", *FAST, "--no-domain-lock"),
        sites={PUBLIC: pointing_at(SPELLINGS[:10])},
        environment=dict.fromkeys(names, f"http://10.0.0.9:{PORT}"),
    )
    assert seen.forbidden == []
    assert (PUBLIC, PORT) in seen.tried


def test_a_proxy_that_was_asked_for_hears_of_nothing_inside(island: Island) -> None:
    """With `--proxy env` the proxy is the only private address spoken to, and is asked for public sites only."""
    pages = pointing_at([url for url in SPELLINGS if "rebind" not in url])
    seen = island.run(
        program("mirror", f"{START}/", *FAST, "--no-domain-lock", "--proxy", "env"),
        sites={"10.0.0.9": pages},
        environment={"http_proxy": f"http://10.0.0.9:{PORT}", "https_proxy": f"http://10.0.0.9:{PORT}", "no_proxy": ""},
    )
    assert set(seen.tried) == {("10.0.0.9", PORT)}
    assert {host for host, _, _ in seen.asked["10.0.0.9"]} == {"start.test"}


def test_secrets_stay_with_their_host(island: Island, tmp_path: Path) -> None:
    """Headers, cookies and a password reach the start host; redirects, links and refreshes elsewhere carry none."""
    other = f"http://other.test:{PORT}"
    pages = {
        "/robots.txt": (404, HTML, ""),
        "/": (200, HTML, f'<h1>x</h1><a href="/away">a</a><a href="{other}/link">b</a><a href="/r">c</a>'),
        "/away": (302, {"Location": f"{other}/away"}, ""),
        "/r": (200, HTML, f'<meta http-equiv="refresh" content="0; url={other}/r2">'),
        "/link": (200, HTML | {"Set-Cookie": "theirs=1"}, f'<h1>l</h1><a href="{other}/more">m</a>'),
        "/more": (200, HTML, "<h1>m"),
        "/r2": (200, HTML, "<h1>r2"),
    }
    jar = tmp_path / "cookies.txt"
    jar.write_text("start.test\tFALSE\t/\tFALSE\t0\tsession\tsecret\nother.test\tFALSE\t/\tFALSE\t0\tb\tsecret\n")
    secrets = ("--header", "X-Key: secret", "--basic-auth", "u:secret", "--cookie-file", str(jar))
    seen = island.run(program("crawl", f"{START}/", *FAST, "--any-domain", *secrets), sites={PUBLIC: pages})
    private = {"x-key", "authorization", "cookie"}
    own = [headers.keys() & private for host, _, headers in seen.asked[PUBLIC] if host == "start.test"]
    others = {path: headers for host, path, headers in seen.asked[PUBLIC] if host == "other.test"}
    assert own
    assert all(found == private for found in own)
    assert {"/away", "/link", "/more", "/r2"} <= others.keys()
    assert not any(headers.keys() & (private | {"referer", "proxy-authorization"}) for headers in others.values())


@pytest.mark.vectors
@pytest.mark.timeout(240)
@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_vectors_of_request_forgery(island: Island, vectors: Path, command: str) -> None:
    """530 URLs that others collected, in every way a site can point at them: connections to public addresses alone."""
    urls = [json.loads(line)["url"] for line in (vectors / "ssrf/urls.jsonl").read_text("utf-8").splitlines()]
    assert len(urls) == 530
    wide = ("--no-domain-lock",) if command == "mirror" else ("--any-domain", "--ignore-robots")
    seen = island.run(
        ("-c", TIRELESS, command, f"{START}/", *FAST, *wide, "--concurrency", "8", "--timeout", "30"),
        sites={PUBLIC: pointing_at(urls)},
        timeout=200,
    )
    assert seen.ends[0][0] == 0, seen.ends[0][2][-2000:]
    assert seen.forbidden == []
    ways = {f"/{way}/{number}" for way in ("canon", "redirect", "refresh") for number in range(len(urls))}
    assert ways - seen.paths() == set()
