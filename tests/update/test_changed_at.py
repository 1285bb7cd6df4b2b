"""`changed_at` in the manifest: when the content of a page last changed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror, verify
from sitemirror.publish.report import MirrorReport, RunStatus
from tests.conftest import RunHere
from tests.run.conftest import Copy, Later, Mirror, path_of
from tests.site import Site

FORMATS = ("markdown", "html", "both")

By = Callable[..., Awaitable[MirrorReport]]


def since(copy: Copy) -> dict[str, str]:
    """Path of the URL → since when it has said what it says."""
    return {path: page["changed_at"] for path, page in copy.pages.items()}


def put(site: Site, path: str, text: str, *, etag: str | None = None) -> None:
    """A page that links to the others, so that a crawl finds them and links have to be made local."""
    links = "".join(f'<a href="/{name}">{name}</a> ' for name in ("asked", "sent", "other", "new"))
    site.html_page(path, path, f"<p>{text}</p><p>{links}</p>", etag=etag)


@pytest.mark.parametrize("by", [mirror, crawl])
@pytest.mark.parametrize("format", FORMATS)
async def test_changed_at_moves_only_with_content(site: Site, out: Path, copy: Copy, by: By, format: str) -> None:
    """A 304 or the same content renews `fetched_at`, not `changed_at`."""
    site.html_page("/", "Home", '<a href="/asked">asked</a><img src="/same.png"><img src="/other.png">')
    put(site, "/asked", "asked", etag="1")
    put(site, "/sent", "sent")
    put(site, "/other", "old")
    for name in ("same", "other"):
        site.page(f"/{name}.png", name, type="image/png", etag="1")
    site.sitemap(urls=["/", "/asked", "/sent", "/other"])
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": format}
    await by(f"{site.url}/", **options)
    first = copy.pages
    assert all(page["changed_at"] == page["fetched_at"] for page in first.values())

    put(site, "/other", "new")
    put(site, "/new", "new")
    site.page("/other.png", "another", type="image/png", etag="2")
    site.sitemap(urls=[(path, "2999-01-01") for path in ("/", "/asked", "/sent", "/other", "/new")])
    await by(f"{site.url}/", **options, update=True, clock=Later(1))
    assert site.requests_for("/asked")[-1].status == 304
    changed = {path for path, page in copy.pages.items() if page["changed_at"] == page["fetched_at"]}
    pictures = {"/other.png"} if format != "markdown" else set()
    assert changed == {"/other", "/new"} | pictures
    for path in copy.pages.keys() - changed:
        assert copy.pages[path]["changed_at"] == first[path]["changed_at"] < copy.pages[path]["fetched_at"]
    assert verify(copy.folder).status is RunStatus.OK


async def test_page_that_was_not_requested_keeps_its_line(site: Site, run: Mirror, copy: Copy) -> None:
    """The diff of a manifest in git shows only pages that were fetched."""
    for path in ("/a", "/b"):
        put(site, path, "old")
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2020-01-01")])
    await run()
    [before] = [line for line in copy.text("_manifest.json").splitlines() if '"path":"a/index.md"' in line]
    put(site, "/b", "new")
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2999-01-01")])
    await run(update=True, clock=Later(1))
    assert before in copy.text("_manifest.json").splitlines()


async def test_change_in_either_format_counts(site: Site, run: Mirror, copy: Copy) -> None:
    """With both formats, a page has changed when its HTML has, whatever its Markdown says."""
    site.html_page("/a", "A", "<nav>old</nav><main><h1>A</h1><p>text</p></main>")
    site.html_page("/b", "B", "<nav>old</nav><main><h1>B</h1><p>text</p></main>")
    site.sitemap(urls=[("/a", "2999-01-01"), ("/b", "2999-01-01")])
    await run(format="both")
    before, files = since(copy), copy.files
    site.html_page("/a", "A", "<nav>new</nav><main><h1>A</h1><p>text</p></main>")
    await run(format="both", update=True, clock=Later(1))
    assert copy.files == files
    assert since(copy)["/a"] == copy.pages["/a"]["fetched_at"] > before["/a"]
    assert since(copy)["/b"] == before["/b"]


@pytest.mark.parametrize("format", FORMATS)
async def test_rewritten_links_are_no_change(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A file whose local links are updated has not changed; nor has one whose links became local."""
    options = {"format": format, "links": "local"} if format != "html" else {"format": format}
    site.html_page("/a", "A", '<p>See <a href="/b">b</a>.</p>', etag="1")
    site.html_page("/c", "C", "<p>c</p>", etag="1")
    site.sitemap(urls=["/a", "/c"])
    await run(**options)
    before, file = since(copy), copy.folder / copy.pages["/a"]["path"]
    bytes_before = file.read_bytes()
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run(**options, update=True, clock=Later(1))
    assert file.read_bytes() != bytes_before
    assert since(copy)["/a"] == before["/a"]
    site.redirect("/b", "/c")
    await run(**options, update=True, clock=Later(2))
    assert b"c/index." in file.read_bytes()
    await run(format=format, post_process=False, re_download_all=True, clock=Later(3))
    assert b"c/index." not in file.read_bytes()
    assert since(copy) == before


@pytest.mark.parametrize("names", [("/p", "/p/"), ("/one", "/two")])
async def test_diverging_duplicate_is_changed(site: Site, run: Mirror, copy: Copy, names: tuple[str, str]) -> None:
    """A page that had no file of its own is new to readers of files."""
    for name in names:
        site.page(name, f'<title>T</title><link rel="canonical" href="{names[0]}"><p>same</p>')
    site.sitemap(urls=names)
    await run()
    [page], first = copy.pages, copy.manifest["crawl_completed"]
    site.html_page(page, "T", "<p>changed</p>")
    site.sitemap(urls=[(name, "2999-01-01" if name == page else None) for name in names])
    await run(update=True, clock=Later(1))
    assert len(since(copy)) == 2
    assert all(at > first for at in since(copy).values())


async def test_page_under_another_path_is_changed(site: Site, run: Mirror, copy: Copy) -> None:
    """A text file served as a page gets a page's path: its readers have to read it again."""
    site.page("/a.txt", "<p>a</p>", type="text/plain")
    site.sitemap(urls=[("/a.txt", "2999-01-01")])
    await run(format="html")
    site.page("/a.txt", "<p>a</p>", type="text/html")
    await run(format="html", update=True, clock=Later(1))
    [page] = copy.manifest["pages"]
    assert page["path"] == "a.txt/index.html"
    assert page["changed_at"] == page["fetched_at"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("update", [False, True])
async def test_restored_file_with_same_content_is_unchanged(
    site: Site, run: Mirror, copy: Copy, format: str, update: bool
) -> None:
    """Of deleted files that are fetched again, only those with other content have changed."""
    for name in "ab":
        site.html_page(f"/{name}", name, f'<p>old {name}</p><a href="/a">a</a>')
    site.sitemap(urls=["/a", "/b"])
    await run(format=format)
    before = since(copy)
    for path in list(copy.folder.glob("[ab]/*")):
        path.unlink()
    site.html_page("/b", "b", "<p>new b</p>")
    await run(format=format, update=update, clock=Later(1))
    assert since(copy)["/a"] == before["/a"] < copy.pages["/a"]["fetched_at"]
    assert since(copy)["/b"] == copy.pages["/b"]["fetched_at"]


@pytest.mark.skipif(os.name == "nt", reason="kills with signals")
@pytest.mark.parametrize("step", ["file-renamed:4", "rows-written:3", "rows-committed:3", "settled"])
async def test_kill_keeps_changed_at(
    site: Site, run: Mirror, run_here: RunHere, copy: Copy, out: Path, step: str
) -> None:
    """A killed and resumed update reports all its changes, each with the date of its own fetch."""
    paths = site.fill(40)
    site.sitemap(urls=[(path, "2999-01-01") for path in paths])
    await run(clock=Later(-1))
    before = since(copy)
    others = paths[::2]
    for path in others:
        put(site, path, f"new {path}")
    killed = run_here(
        "mirror", site.url, "--rate-limit", 0, "--output", out, "--update", env={"SITEMIRROR_FAILPOINT": step}
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with closing(sqlite3.connect(copy.folder / "_state.sqlite3")) as db:
        rows = db.execute(
            "SELECT url, changed_at FROM page JOIN url ON id = url_id WHERE text_hash NOT NULL AND checked_run = 2"
        )
        done = {path_of(url): at for url, at in rows}
    assert done or step == "file-renamed:4"
    await run(update=True, clock=Later(1))
    after = since(copy)
    assert {path: after[path] for path in done} == done
    assert {path for path in paths if after[path] != before[path]} == {*others}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("damage", ["lost", "corrupt"])
async def test_lost_state_keeps_changed_at(site: Site, run: Mirror, copy: Copy, format: str, damage: str) -> None:
    """The manifest has the dates; a page that is sent again with the same Markdown is unchanged."""
    put(site, "/asked", "asked", etag="1")
    put(site, "/other", "old", etag="1")
    put(site, "/sent", "sent", etag=None if format == "markdown" else "1")
    site.sitemap(urls=[(path, "2999-01-01") for path in ("/asked", "/sent", "/other")])
    await run(format=format)
    await run(format=format, update=True, clock=Later(1))  # from now on, they were last fetched another day
    before, state = since(copy), copy.folder / "_state.sqlite3"
    state.unlink() if damage == "lost" else state.write_bytes(b"SQLite no more")
    put(site, "/other", "new", etag="2")
    await run(format=format, update=True, clock=Later(2))
    after = since(copy)
    assert after.pop("/other") == copy.pages["/other"]["fetched_at"] > before.pop("/other")
    assert after == before
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("lost", ["what the manifest says", "the manifest"])
async def test_unknown_changed_at_is_the_last_fetch(site: Site, run: Mirror, copy: Copy, lost: str) -> None:
    """A manifest without it, or none: the date of the fetch counts, and a 304 keeps it."""
    site.sitemap(urls=[(path, "2999-01-01") for path in site.fill(2, etag="1")])
    await run()
    manifest = copy.manifest
    fetched = {path: page["fetched_at"] for path, page in copy.pages.items()}
    for page in manifest["pages"]:
        del page["changed_at"]
    (copy.folder / "_state.sqlite3").unlink()
    (copy.folder / "_manifest.json").unlink()
    if lost == "what the manifest says":
        (copy.folder / "_manifest.json").write_text(json.dumps(manifest), "utf-8")
    await run()
    if lost == "the manifest":  # then all that is known is when the file was written
        fetched = {path: page["fetched_at"] for path, page in copy.pages.items()}
    await run(update=True, clock=Later(1))
    assert since(copy) == fetched
    assert all(page["fetched_at"] > page["changed_at"] for page in copy.pages.values())
