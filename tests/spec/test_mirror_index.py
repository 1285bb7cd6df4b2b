"""Requirement: Mirror Index JSON Schema (v1), what it says of URLs that were not fetched or could not be had."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sitemirror.publish.mirror_index_check import validate_index
from tests.conftest import RunHere
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored

two_addresses = pytest.mark.skipif(sys.platform == "darwin", reason="127.0.0.2 is not there without being set up")


def _index(mirrored: Mirrored) -> Any:
    """The index, sound by its own check."""
    path = mirrored.folder / "mirror-index.json"
    assert list(validate_index(path)) == []
    return json.loads(path.read_bytes())


def _errors(index: Any) -> dict[str, tuple[str, str]]:
    return {row["url"]: (row["stage"], row["error"]) for row in index["errors"]}


def _skipped(index: Any) -> dict[str, tuple[str, str, str | None]]:
    found = {row["url"]: (row["reason"], row["from"], row.get("detail")) for row in index["skipped_urls"]}
    assert len(found) == len(index["skipped_urls"])
    return found


def _accounts(mirrored: Mirrored, report: Any) -> None:
    """The manifest names every URL once, and counts what the report counts."""
    manifest = mirrored.manifest
    named = [name for page in manifest["pages"] for name in (page["url"], *page["aliases"])]
    named += [row["url"] for part in ("failures", "skips", "gone") for row in manifest[part]]
    assert max(Counter(named).values()) == 1
    counts = (report["successful"], report["failed"], report["skipped"])
    assert (manifest["successful"], manifest["failed"], manifest["skipped"]) == counts
    assert (len(manifest["pages"]), len(manifest["failures"]), len(manifest["skips"])) == counts


def _links(*urls: str) -> str:
    return "".join(f'<p><a href="{url}">To {url}</a></p>' for url in urls)


def test_a_crawls_failed_refresh_is_an_error(site: Site, out: Path, run_here: RunHere) -> None:
    """errors: a page or file whose copy is kept since it cannot be had any more is an error, with its last status,
    until it can be had again; also when the working state was lost meanwhile."""
    site.html_page("/", "Home", _links("/a", "/b", "/c") + '<img src="/i.png">')
    for path in "abc":
        site.html_page(f"/{path}", path, f"<p>{path}</p>")
    site.page("/i.png", b"i", type="image/png")
    crawl = ("crawl", site.url, *FAST, "--output", out)
    run_here(*crawl)
    site.remove("/a")
    site.redirect("/b", "/nowhere", status=301)
    site.fault("/c", faults.drop())
    site.fault("/i.png", faults.status(403))

    report = run_here(*crawl, "--update").json

    assert report["status"] == "partial"
    mirrored = Mirrored.of(site, out)
    index = _index(mirrored)
    errors = _errors(index)
    assert errors == {
        f"{site.url}/a": ("fetch", "HTTP 404"),
        f"{site.url}/b": ("fetch", f"redirects to {site.url}/nowhere: HTTP 404"),
        f"{site.url}/c": ("fetch", "connection closed without an answer"),
        f"{site.url}/i.png": ("asset-download", "HTTP 403"),
    }
    files = {item["source_url"]: item for item in index["items"] if item["type"] == "file"}
    statuses = {path: index["urls"][site.url + path]["http_status"] for path in ("/", "/a", "/b", "/c", "/i.png")}
    assert statuses == {"/": 200, "/a": 404, "/b": 301, "/c": 200, "/i.png": 403}
    assert {path: files[site.url + path]["http_status"] for path in statuses} == statuses
    assert {page["url"] for page in mirrored.manifest["pages"] if "refresh_error" in page} | {
        row["url"] for row in mirrored.manifest["failures"]
    } == set(errors)
    _accounts(mirrored, report)

    when = {row["url"]: row["ts"] for row in index["errors"]}
    (mirrored.folder / "_state.sqlite3").unlink()
    run_here(*crawl)

    rebuilt = _index(mirrored)
    assert _errors(rebuilt) == errors
    assert rebuilt["urls"][f"{site.url}/a"]["http_status"] == 404
    assert {row["url"]: row["ts"] for row in rebuilt["errors"] if "nowhere" not in row["url"]} == {
        url: ts for url, ts in when.items() if "nowhere" not in url
    }  # what has no copy was tried again

    for path in "abc":
        site.html_page(f"/{path}", path, f"<p>{path}</p>")
    site.heal("/c")
    site.heal("/i.png")
    run_here(*crawl, "--update")

    index = _index(mirrored)
    assert not _errors(index).keys() & index["urls"].keys()
    assert {row["http_status"] for row in index["urls"].values()} == {200}


def test_a_mirrors_failed_refresh_is_an_error(site: Site, out: Path, run_here: RunHere) -> None:
    """errors: `mirror --index --update` tells the same of a page that a sitemap lists; a later 304 takes it back."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/b"])
    mirror = ("mirror", site.url, *FAST, "--index", "--output", out)
    run_here(*mirror)
    site.fault("/a", faults.status(503))

    report = run_here(*mirror, "--update").json

    mirrored, a = Mirrored.of(site, out), f"{site.url}/a"
    index = _index(mirrored)
    assert _errors(index) == {a: ("fetch", "HTTP 503")}
    assert (index["urls"][a]["local_path"], index["urls"][a]["http_status"]) == ("a/index.md", 503)
    assert mirrored.entry(a)["refresh_error"] == "HTTP 503"
    assert (report["successful"], report["failed"]) == (2, 0)

    site.heal("/a")
    run_here(*mirror, "--update")

    index = _index(mirrored)
    assert index["errors"] == []
    assert (index["urls"][a]["http_status"], index["urls"][a]["not_modified"]) == (304, True)
    assert index["urls"][f"{site.url}/b"]["http_status"] == 200


def test_a_page_of_another_type_now_has_the_status_of_that_answer(site: Site, out: Path, run_here: RunHere) -> None:
    """http_status: what is sent as something that is not kept was answered all the same."""
    site.html_page("/a", "A", "<p>a</p>")
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=[("/a", "2999-01-01"), "/b"])
    mirror = ("mirror", site.url, *FAST, "--index", "--output", out)
    run_here(*mirror)
    site.fault("/a", faults.status(404), faults.ok())
    site.page("/a", b"%PDF", type="application/pdf")
    run_here(*mirror, "--update")
    run_here(*mirror, "--update")

    index = _index(Mirrored.of(site, out))
    assert _errors(index) == {f"{site.url}/a": ("fetch", "content type application/pdf")}
    assert index["urls"][f"{site.url}/a"]["http_status"] == 200


@two_addresses
@pytest.mark.parametrize("robots", ["--respect-robots", "--ignore-robots"])
def test_a_refused_address_is_skipped(site: Site, out: Path, run_here: RunHere, robots: str) -> None:
    """skipped_urls: an address that must not be talked to is `filter-exclude`, with the address as detail; in the
    manifest it is a failure, which says nothing of robots.txt."""
    with Site(address="127.0.0.2") as inside:
        inside.html_page("/secret", "Secret", "<p>secret</p>")
        secret, meant = f"{inside.url}/secret", f"{inside.url}/meant"
        site.html_page("/", "Home", _links(secret, "/go", "/missing"))
        site.redirect("/go", meant)

        crawl = ("crawl", site.url, *FAST, "--any-domain", robots, "--output", out)
        report = run_here(*crawl).json

        assert inside.requests == []
    mirrored, home = Mirrored.of(site, out), f"{site.url}/"
    index, refused = _index(mirrored), "address not allowed: 127.0.0.2"
    skipped = {
        secret: ("filter-exclude", home, refused),
        meant: ("filter-exclude", f"{home}go", refused),
        f"{home}go": ("filter-exclude", home, f"{refused} at {meant}, where a redirect leads"),
    }
    assert _skipped(index) == skipped
    assert _errors(index) == {f"{home}missing": ("fetch", "HTTP 404")}
    assert {row["url"]: row["error"] for row in mirrored.manifest["failures"]} == {
        secret: refused,
        f"{home}go": refused,
        f"{home}missing": "HTTP 404",
    }
    _accounts(mirrored, report)

    (mirrored.folder / "_state.sqlite3").unlink()
    run_here(*crawl)
    assert _skipped(_index(mirrored))[secret] == skipped[secret]


@two_addresses
def test_rules_behind_a_refused_address_are_not_a_refused_address(site: Site, out: Path, run_here: RunHere) -> None:
    """errors: a host whose robots.txt redirects to an address that must not be talked to may be talked to itself; that
    its rules cannot be had is an error."""
    other = "other.localhost"
    with Site(address="127.0.0.2") as inside:
        site.html_page("/p", "P", "<p>p</p>", host=other)
        site.redirect("/robots.txt", f"{inside.url}/robots.txt", host=other)
        site.html_page("/", "Home", _links(f"{site.url_of(other)}/p"))
        run_here("crawl", site.url, *FAST, "--any-domain", "--output", out)
        assert inside.requests == []
    index = _index(Mirrored.of(site, out))
    reason = "robots.txt cannot be had: address not allowed: 127.0.0.2"
    assert _errors(index) == {f"{site.url_of(other)}/p": ("fetch", reason)}
    assert _skipped(index) == {}


def test_what_a_sitemap_lists_is_skipped_from_there(site: Site, out: Path, run_here: RunHere) -> None:
    """skipped_urls: `from` is the sitemap that lists the URL, in every run."""
    site.robots("User-agent: *\nDisallow: /secret\n")
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/paper.pdf", b"%PDF", type="application/pdf")
    site.redirect("/paper", "/elsewhere.pdf")
    site.page("/elsewhere.pdf", b"%PDF", type="application/pdf")
    site.sitemap("/one.xml", urls=["/a", "/secret", "http://other.example/"])
    site.sitemap("/two.xml", urls=["/paper.pdf", "/paper"])
    site.sitemap_index("/sitemap.xml", ["/one.xml", "/two.xml"])
    mirror = ("mirror", site.url, *FAST, "--index", "--respect-robots", "--output", out)
    one, two, pdf = f"{site.url}/one.xml", f"{site.url}/two.xml", "content type application/pdf"
    expected = {
        f"{site.url}/secret": ("robots-disallow", one, None),
        "http://other.example/": ("out-of-domain", one, None),
        f"{site.url}/paper.pdf": ("filter-exclude", two, pdf),
        f"{site.url}/paper": ("filter-exclude", two, f"{pdf} at {site.url}/elsewhere.pdf, where a redirect leads"),
        f"{site.url}/elsewhere.pdf": ("filter-exclude", f"{site.url}/paper", pdf),
    }

    run_here(*mirror)
    assert _skipped(_index(Mirrored.of(site, out))) == expected
    run_here(*mirror)
    assert _skipped(_index(Mirrored.of(site, out))) == expected


def test_a_crawl_by_sitemap_skips_from_the_sitemap(site: Site, out: Path, run_here: RunHere) -> None:
    """skipped_urls: `crawl --discover sitemap` names the sitemap for what it lists, and the page for its links."""
    site.robots("User-agent: *\nDisallow: /secret\n")
    site.html_page("/a", "A", _links("/unlisted"))
    site.sitemap(urls=["/a", "/secret"])

    run_here("crawl", site.url, *FAST, "--discover", "sitemap", "--output", out)

    assert _skipped(_index(Mirrored.of(site, out))) == {
        f"{site.url}/secret": ("robots-disallow", f"{site.url}/sitemap.xml", None),
        f"{site.url}/unlisted": ("filter-exclude", f"{site.url}/a", "link not followed"),
    }


def test_what_another_sitemap_listed_is_skipped_from_its_own(site: Site, out: Path, run_here: RunHere) -> None:
    """skipped_urls: two sitemaps of one host, mirrored one after the other, do not take each other's place."""
    site.html_page("/a", "A", "<p>a</p>")
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap("/one.xml", urls=["/a", "http://one.example/"])
    site.sitemap("/two.xml", urls=["/b", "http://two.example/"])
    for name in ("one", "two"):
        run_here("mirror", f"{site.url}/{name}.xml", *FAST, "--index", "--output", out)

    assert _skipped(_index(Mirrored.of(site, out))) == {
        "http://one.example/": ("out-of-domain", f"{site.url}/one.xml", None),
        "http://two.example/": ("out-of-domain", f"{site.url}/two.xml", None),
    }
