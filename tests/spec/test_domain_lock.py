"""Requirement: Domain lock prevents SSRF attacks."""

from __future__ import annotations

import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from sitemirror import mirror
from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Everywhere, Mirrored

BASE = "example.localhost"


def _own(site: Site, path: str = "/page") -> str:
    return site.html_page(path, "Own", f"<h1>{path}</h1>", host=BASE)


def test_block_external_domain_requests(site: Site, out: Path, run_here: RunHere) -> None:
    """Block external domain requests: nothing on another domain is asked for, and each try is logged as a violation."""
    port = site.port
    own = _own(site)
    foreign = [
        f"http://evil.localhost:{port}/malware",
        f"http://notexample.localhost:{port}/malware",
        f"http://example.localhost.evil.localhost:{port}/malware",
        f"http://evil.localhost:{port}\\.example.localhost/malware",
        f"http://evil.localhost:{port}/example.localhost",
        f"http://EVIL.localhost:{port}/loud",
    ]
    site.sitemap("/sitemap.xml", urls=[*foreign, f"http://{BASE}@evil.localhost:{port}/user", own], host=BASE)

    done = run_here("mirror", f"http://{BASE}:{port}/sitemap.xml", *FAST, "--output", out)

    assert {seen.host for seen in site.requests} == {BASE}
    assert site.count("/page") == 1
    assert done.json["successful"] == 1
    violations = [line for line in done.stderr.splitlines() if "security: domain lock violation" in line]
    assert len(violations) == len(foreign)
    mirrored = Mirrored(out / f"{BASE}_{port}")
    reasons = [skip["reason"] for skip in mirrored.manifest["skips"]]
    assert sorted(reasons) == sorted(["domain lock"] * len(foreign) + ["credentials in the URL"])
    assert [folder.name for folder in out.iterdir()] == [f"{BASE}_{port}"]


def test_block_external_domain_requests_on_every_way(site: Site, out: Path, run_here: RunHere) -> None:
    """Block external domain requests: neither a redirect nor a child sitemap nor robots.txt leads out of the domain."""
    evil = site.url_of("evil.localhost")
    site.redirect("/moved", f"{evil}/malware", host=BASE)
    site.page("/refresh", f'<meta http-equiv="refresh" content="0; url={evil}/malware">', host=BASE)
    site.html_page("/canon", "C", f'<link rel="canonical" href="{evil}/canonical"><h1>C</h1>', host=BASE)
    site.sitemap("/own.xml", urls=["/moved", "/refresh", "/canon", _own(site)], host=BASE)
    site.sitemap("/evil.xml", urls=[f"{evil}/malware"], host="evil.localhost")
    site.sitemap_index("/sitemap.xml", ["/own.xml", f"{evil}/evil.xml"], host=BASE)
    site.robots(f"Sitemap: {evil}/evil.xml\nSitemap: {site.url_of(BASE)}/sitemap.xml\n", host=BASE)

    done = run_here("mirror", site.url_of(BASE), *FAST, "--output", out)

    assert {seen.host for seen in site.requests} == {BASE}
    assert done.json["successful"] == 2
    assert f"security: domain lock violation: {site.url_of(BASE)}/moved redirects to {evil}/malware" in done.stderr
    assert "domain lock" in done.stderr


async def test_block_external_domain_requests_by_name(site: Site, out: Path) -> None:
    """Block external domain requests: example.com's sitemap cannot send us to evil.com, unless the lock is lifted."""
    site.html_page("/page", "Page", "<h1>Page</h1>")
    site.sitemap("/sitemap.xml", urls=["http://example.com/page", "http://evil.com/page"])

    locked = await mirror("http://example.com/sitemap.xml", output=out, rate_limit=0, resolver=Everywhere(site))
    assert [seen.host for seen in site.requests_for("/page")] == ["example.com"]
    assert any("domain lock violation: http://evil.com/page" in warning for warning in locked.warnings)

    lifted = await mirror(
        "http://example.com/sitemap.xml", output=out, rate_limit=0, resolver=Everywhere(site), domain_lock=False
    )
    assert "evil.com" in [seen.host for seen in site.requests_for("/page")]
    assert lifted.successful == 2


@pytest.mark.skipif(sys.platform == "darwin", reason="127.0.0.2 is not there without being set up")
def test_internal_addresses_are_never_connected_to(site: Site, out: Path, run_here: RunHere) -> None:
    """Even without the lock, a sitemap cannot point us at the machines behind the firewall."""
    with Site(address="127.0.0.2") as internal:
        internal.html_page("/secret", "Secret", "<h1>Secret</h1>")
        port = internal.port
        spellings = [
            f"http://127.0.0.2:{port}/secret",
            f"http://2130706434:{port}/secret",  # the same address as one number
            f"http://0x7f.2:{port}/secret?hex",
            f"http://[::ffff:127.0.0.2]:{port}/secret",
            "http://169.254.169.254/latest/meta-data/",
            "http://10.0.0.1/",
            "http://[::1]/",
        ]
        site.redirect("/to-secret", spellings[0])
        site.fill(1)
        site.sitemap(urls=[*spellings, "/to-secret", "/page/0001"])

        done = run_here("mirror", site.url, *FAST, "--no-domain-lock", "--output", out, "--timeout", 5)

        assert (internal.connections, internal.requests) == (0, [])
    assert done.json["successful"] == 1
    failures = Mirrored.of(site, out).manifest["failures"]
    assert {failure["url"]: failure["error"] for failure in failures} == {
        f"http://127.0.0.2:{port}/secret": "address not allowed: 127.0.0.2",  # two spellings of it
        f"http://127.0.0.2:{port}/secret?hex": "address not allowed: 127.0.0.2",
        # Written as this Python writes it: since 3.13 with the IPv4 address in it.
        f"http://[::ffff:7f00:2]:{port}/secret": f"address not allowed: {ip_address('::ffff:7f00:2')}",
        "http://169.254.169.254/latest/meta-data/": "address not allowed: 169.254.169.254",
        "http://10.0.0.1/": "address not allowed: 10.0.0.1",
        "http://[::1]/": "address not allowed: ::1",
        f"{site.url}/to-secret": "address not allowed: 127.0.0.2",
    }


async def test_allow_subdomains(site: Site, out: Path) -> None:
    """Allow subdomains: docs.example.com belongs to example.com, and its pages go to a folder of their own."""
    site.html_page("/page", "Page", "<h1>Page</h1>")
    urls = ["http://docs.example.com/page", "http://deep.docs.example.com/page", "http://www.example.com/page"]
    site.sitemap("/sitemap.xml", urls=[*urls, "http://example.com.evil.com/page"])

    report = await mirror("http://example.com/", output=out, rate_limit=0, resolver=Everywhere(site))

    hosts = [seen.host for seen in site.requests_for("/page")]
    assert sorted(hosts) == ["deep.docs.example.com", "docs.example.com", "www.example.com"]
    assert report.successful == 3
    for host in hosts:
        assert "# Page" in (out / host / "page" / "index.md").read_text(encoding="utf-8")
    manifest = Mirrored(out / "example.com").manifest
    assert sorted(page["path"] for page in manifest["pages"]) == [f"../{host}/page/index.md" for host in sorted(hosts)]


@pytest.mark.parametrize(
    ("start", "own", "foreign"),
    [
        ("docs.example.co.uk", "example.co.uk", "evil.co.uk"),
        ("alice.github.io", "docs.alice.github.io", "bob.github.io"),
        ("example.com", "docs.example.com", "example.org"),
    ],
)
async def test_allow_subdomains_of_what_one_owner_has(
    site: Site, out: Path, start: str, own: str, foreign: str
) -> None:
    """Allow subdomains: neighbours under a suffix that anybody can register under belong to somebody else."""
    site.html_page("/page", "Page", "<h1>Page</h1>")
    site.sitemap("/sitemap.xml", urls=[f"http://{host}/page" for host in (start, own, foreign)])

    report = await mirror(f"http://{start}/", output=out, rate_limit=0, resolver=Everywhere(site))

    assert [seen.host for seen in site.requests_for("/page")] == [start, own]
    assert (report.successful, report.skipped) == (2, 1)
    assert foreign not in {seen.host for seen in site.requests}
