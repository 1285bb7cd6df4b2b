"""Passwords that a site writes into its URLs are nobody's to keep: no file of the tool's own repeats them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import urls
from tests.conftest import RunHere
from tests.crawl.conftest import Copy
from tests.site import Site
from tests.spec.mirrored import FAST

SECRET = "hunter2"
REASON = "credentials in the URL"


def _full_of_passwords(site: Site) -> None:
    """A site that names a password wherever a URL may stand."""
    there = site.url.replace("://", f"://admin:{SECRET}@")
    site.html_page("/", "Home", '<h1>Home</h1><a href="/page">p</a><a href="/moved">m</a>')
    site.page(
        "/page",
        f'<link rel="canonical" href="{there}/page"><h1>Page</h1><a href="{there}/link">a</a>'
        f'<img src="//admin:{SECRET}@127.0.0.1:{site.port}/i.png"><a href="ftp://admin:{SECRET}@files.example/x">f</a>'
        f'<a href="http://admin:{SECRET}/x@files.example/">not even a URL</a>',
    )
    site.page("/refresh", f'<meta http-equiv="refresh" content="0; url={there}/x"><p>Elsewhere</p>')
    site.redirect("/moved", f"{there}/target")
    other = f'<xhtml:link rel="alternate" hreflang="de" href="{there}/de"/>'
    own = "".join(f"<url><loc>{site.url}{path}</loc>{other}</url>" for path in ("/", "/page", "/moved", "/refresh"))
    foreign = "".join(f"<url><loc>{loc}</loc></url>" for loc in (f"{there}/loc", f"ftp://admin:{SECRET}@h.example/"))
    space = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    site.page("/own.xml", f"<urlset {space}>{own}{foreign}</urlset>", type="application/xml")
    site.sitemap_index("/sitemap.xml", [f"{there}/child.xml", "/own.xml"])
    site.robots(f"User-agent: *\nSitemap: {there}/sitemap.xml\nSitemap: {site.url}/sitemap.xml\n")


@pytest.mark.parametrize("options", [("mirror",), ("crawl",), ("crawl", "--format", "both"), ("list",)], ids=" ".join)
def test_no_password_of_a_site_is_recorded(site: Site, out: Path, run_here: RunHere, options: tuple[str, ...]) -> None:
    """Neither the state, manifest, index and logs nor what is said repeats it; what is refused for it is told why."""
    _full_of_passwords(site)
    command, *more = options
    done = run_here(command, site.url, *FAST, *more, "--output", out, "--max-retries", 0)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    copy = Copy(out / f"127.0.0.1_{site.port}")
    # Pages are kept as they were sent. All other files begin with `_` at the top, or are one of these two.
    named = [*copy.folder.glob("_*"), *copy.folder.glob("mirror-index.json"), *copy.folder.glob("sitemap-*.md")]
    own = [path for one in named for path in (one, *one.rglob("*")) if path.is_file()]
    assert own
    assert [path.name for path in own if SECRET.encode() in path.read_bytes()] == []
    if command == "list":
        return
    told = {row["url"]: row["error"] for row in copy.manifest["failures"]}
    told |= {row["url"]: row["reason"] for row in copy.manifest["skips"]}
    masked = site.url.replace("://", "://***@")
    assert told[f"{site.url}/moved"] == f"redirect that cannot be followed: {REASON}: {masked}/target"
    if command == "mirror":
        assert told[f"{masked}/loc"] == REASON
        assert told["ftp://***@h.example/"] == "ftp: scheme"
        assert f"sitemap {masked}/child.xml cannot be read: {REASON}" in done.stderr
        alternates = [page["alternates"][0]["href"] for page in copy.manifest["pages"]]
        assert alternates
        assert set(alternates) == {f"{masked}/de"}
    else:
        assert {f"{masked}/link", "ftp://***@files.example/x", "http://***@files.example/"} <= told.keys()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:secret@h.example/p?q=a@b", "http://***@h.example/p?q=a@b"),
        ("HTTPS:\\\\user:secret@h.example\\x@y", "HTTPS:\\\\***@h.example\\x@y"),
        ("http:user:secret@h.example/", "http:***@h.example/"),
        ("//user:secret@h.example/@y", "//***@h.example/@y"),
        ("ht\ntp://token@h.example/", "http://***@h.example/"),
        (" ftp://user:secret@h.example", " ftp://***@h.example"),
        ("http://user:sec@ret@h.example/", "http://***@h.example/"),
        ("http://user:sec/ret@h.example/", "http://***@h.example/"),
        ("http://user:secret@h.example:99999/", "http://***@h.example:99999/"),
        *((same, same) for same in ("mailto:a@h.example", "http://h.example/@a", "//h.example/@a", "i@2x.png", "/@a")),
    ],
)
def test_what_stands_in_place_of_a_password(text: str, shown: str) -> None:
    """Name and password are masked wherever a parser would find them, and nothing else is."""
    assert urls.without_credentials(text) == shown
