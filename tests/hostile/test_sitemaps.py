"""Sitemaps and robots.txt built to hurt, read by real runs: refused by name or read to a bound, in bounded time."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from sitemirror.run.robots import Robots
from tests.conftest import RunHere, StartCli
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored
from tests.spec.test_duplicate_memory import Peak

MEGABYTE = 1024 * 1024
MOST = 150 * MEGABYTE
XML = "application/xml"


def _listing(site: Site) -> str:
    site.html_page("/page", "Page", "<h1>Page</h1>")
    return site.sitemap("/good.xml", urls=["/page"])


def _attacks(secret: Path) -> Iterator[tuple[str, str]]:
    tail = "<urlset><url><loc>{site}/&xxe;</loc></url></urlset>"
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    yield "laughs", f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}<!ENTITY xxe "&l9;">]>{tail}'
    yield "quadratic", f'<!DOCTYPE x [<!ENTITY xxe "{"a" * 50_000}">]><urlset>{"<loc>&xxe;</loc>" * 5_000}</urlset>'
    yield "external", f'<!DOCTYPE x [<!ENTITY xxe SYSTEM "{secret.as_uri()}">]>{tail}'
    yield "remote", f'<!DOCTYPE x [<!ENTITY xxe SYSTEM "{{site}}/stolen">]>{tail}'
    yield "parameter", f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{{site}}/stolen"> %p;]>{tail}'
    yield "dtd", f'<!DOCTYPE x SYSTEM "{{site}}/stolen">{tail}'
    yield "include", '<urlset xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{site}/stolen"/></urlset>'
    yield "deep", "<urlset>" + "<a>" * 1_000_000
    yield "attributes", "<urlset><url " + " ".join(f"a{n}='x'" for n in range(200_000)) + "/></urlset>"
    yield "unclosed", "<urlset><url><loc>" + "x" * 5_000_000


def test_xml_attacks_as_child_sitemaps(site: Site, out: Path, tmp_path: Path, start_cli: StartCli) -> None:
    """Entity bombs, external entities, endless nesting: nothing is fetched or unfolded; the good child is read."""
    secret = tmp_path / "secret"
    secret.write_text("the-secret", encoding="utf-8")
    names = []
    for name, text in _attacks(secret):
        names.append(f"/{name}.xml")
        site.page(names[-1], text.replace("{site}", site.url), type=XML)
    site.page("/bomb.xml.gz", gzip.compress(b"<urlset>" + b" " * 200 * MEGABYTE), type="application/gzip")
    site.fault("/endless.xml", faults.huge_unannounced(200 * MEGABYTE))
    _listing(site)
    site.sitemap_index("/sitemap.xml", [*names, "/bomb.xml.gz", "/endless.xml", "/good.xml"])

    options = ("--max-sitemap-size", 20, "--max-retries", 0)
    process = start_cli("mirror", site.url, *FAST, *options, "--output", out)
    peak = Peak(process)
    stdout, stderr = process.communicate(timeout=55)

    report = json.loads(stdout)
    assert report["successful"] == 1, stderr
    assert report["total_pages"] <= 3
    assert site.count("/stolen") == 0
    assert all(f"{name}:" in stderr for name in names)
    everything = "".join(file.read_text("utf-8", "replace") for file in out.rglob("*") if file.is_file())
    assert "the-secret" not in stderr + stdout + everything
    assert 0 < peak.end() < MOST


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_loops_of_indexes(site: Site, out: Path, run_here: RunHere, length: int) -> None:
    """A ring of indexes of any length is read once around, and what else they name is found."""
    ring = ["/sitemap.xml", *(f"/ring-{number}.xml" for number in range(1, length))]
    _listing(site)
    for here, there in pairwise([*ring, ring[0]]):
        site.sitemap_index(here, [there, "/good.xml"])
    assert run_here("mirror", site.url, *FAST, "--output", out).json["successful"] == 1
    assert [site.count(path) for path in [*ring, "/good.xml"]] == [1] * (length + 1)


def test_a_hundred_thousand_child_sitemaps(site: Site, out: Path, start_cli: StartCli) -> None:
    """An index of 100,000 children is taken in without holding it; an interruption loses none of it."""
    rows = "".join(f"<sitemap><loc>{site.url}/c/{number}.xml</loc></sitemap>" for number in range(100_000))
    site.page("/sitemap.xml", f"<sitemapindex>{rows}</sitemapindex>", type=XML)
    process = start_cli("list", site.url, *FAST, "--output", out, "--quiet")
    peak = Peak(process)
    site.wait_for(50, timeout=40)
    process.terminate()
    stdout, _ = process.communicate(timeout=20)
    assert process.returncode == 143
    assert json.loads(stdout)["status"] == "interrupted"
    assert 0 < peak.end() < 2 * MOST  # The report names them all.
    asked = [path for path in site.paths() if path.startswith("/c/")]
    assert len(asked) == len(set(asked))


def test_urls_that_are_none_of_ours(site: Site, out: Path, run_here: RunHere) -> None:
    """A million characters, other schemes and passwords: each skipped with its reason, and no password said aloud."""
    _listing(site)
    odd = {
        "file:///etc/passwd": "file: scheme",
        "javascript:alert(1)": "javascript: scheme",
        "data:text/html,x": "data: scheme",
        "ftp://example.com/x": "ftp: scheme",
        f"http://user:hunter2@127.0.0.1:{site.port}/page": "credentials in the URL",
    }
    site.sitemap(urls=[f"{site.url}/{'x' * 1_000_000}", *odd, "/page"])
    done = run_here("mirror", site.url, *FAST, "--output", out)
    mirrored = Mirrored.of(site, out)
    assert sorted(skip["reason"] for skip in mirrored.manifest["skips"]) == sorted(odd.values())
    assert done.json["successful"] == 1
    assert {seen.path for seen in site.requests if seen.status == 200} == {"/sitemap.xml", "/page"}
    assert "hunter2" not in done.stdout + done.stderr
    assert "1 entry with a URL longer than 8,192 characters" in done.stderr
    assert max(map(len, (done.stdout + done.stderr).splitlines())) < 20_000


@pytest.mark.parametrize("kind", ["huge", "endless", "binary", "one line", "bomb"])
def test_robots_txt_that_is_none(site: Site, out: Path, start_cli: StartCli, kind: str) -> None:
    """100 MB, binary data or a bomb in place of robots.txt costs half a megabyte; the site is crawled all the same."""
    site.html_page("/", "Home", '<h1>Home</h1><a href="/a">a</a>')
    site.html_page("/a", "A", "<h1>A</h1>")
    site.robots("x")
    match kind:
        case "huge":
            site.fault("/robots.txt", faults.huge(100 * MEGABYTE))
        case "endless":
            site.fault("/robots.txt", faults.huge_unannounced(100 * MEGABYTE))
        case "binary":
            site.page("/robots.txt", bytes(range(256)) * 4096, type="text/plain")
        case "one line":
            site.page("/robots.txt", b"Disallow: /" + b"*a" * 5 * MEGABYTE, type="text/plain")
        case _:
            site.fault("/robots.txt", faults.bomb(100 * MEGABYTE))
    process = start_cli("crawl", site.url, *FAST, "--output", out, "--max-retries", 0)
    peak = Peak(process)
    stdout, stderr = process.communicate(timeout=50)
    assert json.loads(stdout)["successful"] == 2, stderr
    assert 0 < peak.end() < MOST


def test_the_last_rule_of_half_a_megabyte(site: Site, out: Path, run_here: RunHere) -> None:
    """Of a robots.txt that is read in part, the line where reading ends is left out: torn, it would forbid the site."""
    rule = f"Disallow: /{'*' * 1000}nothing$\n"
    site.robots("User-agent: *\n" + rule * 900)
    site.html_page("/", "Home", "<h1>Home</h1>")
    assert run_here("crawl", site.url, *FAST, "--output", out).json["successful"] == 1


@pytest.mark.slow
def test_rules_cannot_be_made_expensive() -> None:
    """Patterns full of wildcards against a URL of the longest kind: thousands of rules are asked in a moment."""
    rules = "User-agent: *\n" + "".join(f"Disallow: /{'*a' * 20}*{number}$\n" for number in range(3_000))
    begun = time.process_time()
    robots = Robots.parse(rules.encode(), "sitemirror")
    for _ in range(5):
        assert robots.allowed("https://example.com/" + "a" * 8_000)
    assert time.process_time() - begun < 10
