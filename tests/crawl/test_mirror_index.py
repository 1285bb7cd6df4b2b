"""`mirror-index.json` of real runs: valid, complete, and equal to what is on disk."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sitemirror.publish.mirror_index_check import validate_index
from tests.crawl.conftest import Copy, Crawl, link, timeless
from tests.site import Site, faults

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "mirror-index.schema.json"


@pytest.fixture
def small_site(site: Site) -> Site:
    """Pages, assets, a redirect, a failure, and links that are not followed."""
    site.robots("User-agent: *\nDisallow: /secret\n")
    site.page(
        "/",
        '<html lang=en><title>Home &amp; more</title><meta name="description" content="All of it">'
        '<meta name="robots" content="index"><link rel="canonical" href="/">'
        '<link rel="alternate" hreflang="de" href="/de/">'
        '<h1>Home</h1><h2>One</h2><h2>Two</h2><p>five words stand right here</p><img src="/img/logo.png">'
        + link("/docs/a", "/old", "/missing", "/secret", "mailto:x@y.org", "http://other.example/"),
        etag="v1",
        last_modified="Tue, 01 Sep 2026 10:00:00 GMT",
        headers={"X-Odd-Header": "1"},
    )
    site.html_page("/de/", "Deutsch", "<p>de</p>")
    site.html_page("/docs/a", "A", link("/", "/docs/b#x") + '<img src="/img/logo.png">')
    site.html_page("/docs/b", "B", "<p>b</p>")
    site.redirect("/old", "/docs/b")
    site.page("/img/logo.png", b"\x89PNG" * 10, type="image/png")
    return site


def _check(copy: Copy) -> Any:
    """The index, valid by the schema and by the checker, its items exactly what is on disk."""
    index = copy.index
    jsonschema.validate(index, json.loads(SCHEMA.read_text("utf-8")))
    assert list(validate_index(copy.folder / "mirror-index.json")) == []
    files = {item["path"]: item for item in index["items"] if item["type"] == "file"}
    on_disk = copy.files
    assert {path: item["size"] for path, item in files.items()} == {path: len(data) for path, data in on_disk.items()}
    for path, item in files.items():
        assert item.get("sha256", sha256(on_disk[path]).hexdigest()) == sha256(on_disk[path]).hexdigest()
        assert Path(item["target_abs_path"]).read_bytes() == on_disk[path]
    folders = {item["path"]: item for item in index["items"] if item["type"] == "dir"}
    parents = {parent.as_posix() for path in files for parent in Path(path).parents}
    assert set(folders) == parents | {"."}
    for path, item in folders.items():
        inside = [other for other in (*files, *folders) if other not in (path, ".") and _is_in(other, path)]
        assert item["items"] == len(inside)
        assert item["size"] == sum(files[other]["size"] for other in inside if other in files)
    forth = {(source, to) for source, targets in index["graph"]["out_edges"].items() for to in targets}
    assert forth == {(source, to) for to, sources in index["graph"]["in_edges"].items() for source in sources}
    for url, row in index["urls"].items():
        assert row["local_path"] in files
        assert set(row["referers"]) == {source for source, to in forth if to == url}
    return index


def _is_in(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(folder + "/")


async def test_index_describes_the_run(small_site: Site, run: Crawl, copy: Copy) -> None:
    """Every part of the index is checked."""
    await run(concurrency=2)
    index, home = _check(copy), small_site.url
    assert index["meta"] | {"generated_at": "", "run_id": ""} == {
        "base_url": f"{home}/",
        "generated_at": "",
        "target_root": str(copy.folder.resolve()),
        "items_count": len(index["items"]),
        "tool": "mirror-site",
        "tool_version": "1",
        "schema_version": 1,
        "run_id": "",
        "args": {
            "link_depth": -1,
            "same_domain": True,
            "delay_seconds": 0,
            "timeout": 30,
            "user_agent": index["meta"]["args"]["user_agent"],
            "post_process": True,
            "re_download_all": False,
            "concurrency": 2,
        },
    }
    assert len(index["meta"]["run_id"]) == 36
    assert {
        url.removeprefix(home): (row["kind"], row["depth"], row["local_path"]) for url, row in index["urls"].items()
    } == {
        "/": ("page", 0, "index.html"),
        "/de/": ("page", 1, "de/index.html"),
        "/docs/a": ("page", 1, "docs/a/index.html"),
        "/docs/b": ("page", 1, "docs/b/index.html"),
        "/old": ("page", 1, "docs/b/index.html"),
        "/img/logo.png": ("asset", 0, "img/logo.png"),
    }
    root = index["urls"][f"{home}/"]
    assert root["http_status"] == 200
    assert root["headers"]["x-odd-header"] == "1"
    assert root["referers"] == [f"{home}/", f"{home}/docs/a"]  # its own canonical link is one
    assert index["urls"][f"{home}/old"]["final_url"] == f"{home}/docs/b"
    assert index["urls"][f"{home}/old"]["redirect_chain"] == [f"{home}/old", f"{home}/docs/b"]
    page = next(item for item in index["items"] if item["path"] == "index.html")
    assert page["page_meta"] == {
        "title": "Home & more",
        "meta_description": "All of it",
        "canonical_url": f"{home}/",
        "robots": "index",
        "hreflang": [{"lang": "de", "href": f"{home}/de/"}],
        "h1": ["Home"],
        "h2": ["One", "Two"],
        "word_count": page["page_meta"]["word_count"],
    }
    assert page["original_etag"] == '"v1"'
    assert page["original_last_modified"].startswith("2026-09-01T10:00:00")
    assert page["mime"] == "text/html"
    typed = index["graph"]["typed_out_edges"][f"{home}/"]
    assert typed["src"] == [f"{home}/img/logo.png"]
    assert f"{home}/old" in typed["href"]
    assert {row["url"]: (row["reason"], row["from"]) for row in index["skipped_urls"]} == {
        f"{home}/secret": ("robots-disallow", f"{home}/"),
        "mailto:x@y.org": ("non-http(s) scheme", f"{home}/"),
        "http://other.example/": ("out-of-domain", f"{home}/"),
    }
    assert [(row["url"], row["stage"], row["error"]) for row in index["errors"]] == [
        (f"{home}/missing", "fetch", "HTTP 404")
    ]


async def test_second_run_gives_the_same_index(small_site: Site, run: Crawl, copy: Copy) -> None:
    """Nothing new on the site: the same index but for times, with or without --update."""
    await run()
    first = timeless(_check(copy))
    await run()
    assert timeless(_check(copy)) == first
    await run(update=True)
    assert timeless(_check(copy)) == first
    await run(re_download_all=True)
    again = timeless(_check(copy))
    assert again.pop("meta")["args"].pop("re_download_all") is True
    first.pop("meta")
    assert again == first


async def test_not_modified_is_marked(site: Site, run: Crawl, copy: Copy) -> None:
    """A 304 is told of page, asset and alias, as long as it is the last answer: also by a run that asks for nothing,
    and after the state was lost; not once the page came anew or could not be had."""
    site.html_page("/", "Home", link("/changes", "/fails", "/old") + '<img src="/i.png">', etag="h")
    for path in ("/changes", "/fails", "/moved"):
        site.html_page(path, path, f"<p>{path}</p>", etag="v1")
    site.page("/i.png", b"i", type="image/png", etag="i")
    site.redirect("/old", "/moved")

    def marked() -> set[str]:
        rows = _check(copy)["urls"].items()
        assert all(row.get("not_modified", True) is True for _, row in rows)
        assert all((row.get("http_status") == 304) is ("not_modified" in row) for _, row in rows)
        return {url.removeprefix(site.url) for url, row in rows if "not_modified" in row}

    await run()
    assert marked() == set()
    await run(update=True)
    assert marked() == {"/", "/changes", "/fails", "/i.png", "/old", "/moved"}
    await run()
    assert "/changes" in marked()
    (copy.folder / "_state.sqlite3").unlink()
    await run()
    assert marked() == set()
    site.html_page("/changes", "New", "<p>new</p>", etag="v2")
    site.fault("/fails", faults.status(500))
    await run(update=True)
    assert marked() == {"/", "/i.png", "/old", "/moved"}
    assert [copy.index["urls"][site.url + path]["http_status"] for path in ("/changes", "/fails")] == [200, 500]


async def test_redirect_chain_has_every_hop(site: Site, run: Crawl, copy: Copy) -> None:
    """A page behind several redirects has them all in its chain, a failure says where they led."""
    site.html_page("/", "Home", link("/1", "/x1", "/y"))
    for hop in range(1, 4):
        site.redirect(f"/{hop}", f"/{hop + 1}")
    site.html_page("/4", "Four", "<p>four</p>")
    site.redirect("/x1", "/x2")
    site.redirect("/x2", "/x3")
    site.redirect("/y", "/x3")
    await run()
    home = site.url
    chains = {url: row["redirect_chain"] for url, row in _check(copy)["urls"].items() if "redirect_chain" in row}
    assert chains == {
        f"{home}/{first}": [f"{home}/{hop}" for hop in range(first, 5)] for first in (1, 2, 3)
    }  # fmt: skip
    assert {row["url"].removeprefix(home): row["error"] for row in copy.index["errors"]} == {
        "/x1": f"HTTP 404 at {home}/x3, where 2 redirects lead",
        "/x2": f"HTTP 404 at {home}/x3, where a redirect leads",
        "/x3": "HTTP 404",
        "/y": f"HTTP 404 at {home}/x3, where a redirect leads",
    }
    failures = {row["url"]: (row["final_url"], row["redirects"]) for row in copy.manifest["failures"]}
    assert failures == {f"{home}/x1": (f"{home}/x3", 2), f"{home}/y": (f"{home}/x3", 1)}


async def test_no_hash(small_site: Site, run: Crawl, copy: Copy) -> None:
    """--no-hash leaves sha256 out of every item."""
    await run(hash=False)
    assert not any("sha256" in item for item in _check(copy)["items"])


async def test_index_of_an_interrupted_run_is_valid(small_site: Site, run: Crawl, copy: Copy) -> None:
    """An unreached URL is neither item nor URL nor error."""
    await run(max_pages=1)
    index = _check(copy)
    assert [item["path"] for item in index["items"] if item["kind"] == "page"] == ["index.html"]


async def test_gone_pages_stay_items(small_site: Site, run: Crawl, copy: Copy) -> None:
    """The file of a gone page stays on disk, and so in the index."""
    await run()
    small_site.html_page("/", "Home", link("/docs/b"))
    await run(update=True)
    index = _check(copy)
    assert [row["url"] for row in copy.manifest["gone"] if row["path"]] == [
        f"{small_site.url}/de/", f"{small_site.url}/docs/a", f"{small_site.url}/img/logo.png",
    ]  # fmt: skip
    assert "docs/a/index.html" in {item["path"] for item in index["items"]}


async def test_index_lists_other_hosts_and_both_formats(small_site: Site, run: Crawl, copy: Copy) -> None:
    """Files of other hosts and the Markdown beside the HTML are items like any other."""
    other = "other.localhost"
    small_site.html_page("/p", "P", "<p>p</p>", host=other)
    small_site.html_page("/docs/b", "B", link(f"{small_site.url_of(other)}/p"))
    small_site.fault("/missing", faults.status(410))
    await run(same_domain=False, format="both", exclude_path=("/gone",), timeout=3, max_retries=0)
    index = _check(copy)
    paths = {item["path"] for item in index["items"]}
    assert {f"_external/{other}_{small_site.port}/p/index.html", "index.md", "index.html", "img/logo.png"} <= paths


async def test_markdown_of_other_hosts_stays_inside_the_target_root(small_site: Site, run: Crawl, copy: Copy) -> None:
    """A Markdown crawl uses `_external/` too: the index can name nothing outside its root."""
    other = "other.localhost"
    small_site.html_page("/p", "P", "<p>p</p>", host=other)
    small_site.html_page("/docs/b", "B", link(f"{small_site.url_of(other)}/p"))
    await run(same_domain=False, format="markdown", timeout=3, max_retries=0)
    _check(copy)
    assert f"_external/{other}_{small_site.port}/p/index.md" in copy.files
