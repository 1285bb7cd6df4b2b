"""A site on a private address opens its own port, and no other service of the same machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST

WAYS = ("/redirect", "/refresh")


@pytest.fixture
def other() -> Iterator[Site]:
    """Another service on the same address, with a page for every way to it."""
    with Site() as started:
        for path in ("/loc", "/redirect", "/refresh", "/link", "/robots-sitemap.xml", "/child.xml"):
            started.html_page(path, "Inside", "<h1>Inside</h1><p>Nobody asked for this.</p>")
        yield started


def _points_at(site: Site, other: Site) -> None:
    """A site that points at the other service by sitemap, robots.txt, redirect, refresh and link."""
    site.html_page("/", "Home", f'<h1>Home</h1><a href="{other.url}/link">x</a><img src="{other.url}/image.png">')
    site.redirect("/redirect", f"{other.url}/redirect")
    site.page("/refresh", f'<meta http-equiv="refresh" content="0; url={other.url}/refresh">')
    site.sitemap("/own.xml", ["/", "/redirect", "/refresh", f"{other.url}/loc"])
    site.sitemap_index("/sitemap.xml", ["/own.xml", f"{other.url}/child.xml"])
    site.robots(f"Sitemap: {other.url}/robots-sitemap.xml\nSitemap: {site.url}/sitemap.xml\n")


@pytest.mark.parametrize(
    "command",
    [
        ("mirror", "--no-domain-lock"),
        ("crawl", "--any-domain", "--ignore-robots"),
        ("list", "--no-domain-lock"),
    ],
    ids=" ".join,
)
def test_other_ports_of_the_start_address_get_no_connection(
    site: Site, other: Site, out: Path, run_here: RunHere, command: tuple[str, ...]
) -> None:
    """By sitemap, redirect, refresh, link, asset and `Sitemap:` line: only the start URL's own port is asked."""
    _points_at(site, other)
    done = run_here(command[0], f"{site.url}/", *FAST, *command[1:], "--max-retries", 0, "--output", out)
    assert done.returncode == 0, done.stderr
    assert other.connections == 0
    assert site.count("/") >= (command[0] != "list")


@pytest.mark.parametrize("path", WAYS)
def test_convert_stays_at_the_port_it_was_given(site: Site, other: Site, run_here: RunHere, path: str) -> None:
    """`convert URL` follows no redirect and no refresh to another port of a private address."""
    _points_at(site, other)
    done = run_here("convert", site.url + path)
    assert done.returncode == 1
    assert f"address not allowed: 127.0.0.1:{other.port}" in done.stderr
    assert other.connections == 0
