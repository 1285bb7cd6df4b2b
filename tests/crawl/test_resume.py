"""A crawl resumes after a kill, with new pages on the site, and without its state."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from sitemirror import mirror, verify
from sitemirror.publish.report import RunStatus
from tests.conftest import RunHere, StartCli
from tests.crawl.conftest import Copy, Crawl, link, timeless
from tests.site import Site, faults


def _tangled(site: Site) -> int:
    """Some 90 URLs with all that makes order matter. Says how many."""
    paths = site.fill(40, "/leaf")
    site.robots("User-agent: *\nDisallow: /secret\n")
    groups = [f"/group/{number}" for number in range(8)]
    site.html_page("/", "Home", link(*groups, "/old", "/data/x", "/missing", "/secret", "http://other.example/"))
    for number, group in enumerate(groups):
        near = link(*paths[number * 5 : number * 5 + 7], groups[(number + 3) % 8], "/p", "/p/", "/data", "/?page=2")
        pictures = "".join(f'<img src="/i/{picture}.png">' for picture in range(number, number + 4))
        site.html_page(group, group, f'<link rel="stylesheet" href="/css/{number % 3}.css">{near}{pictures}')
    for number in range(12):
        site.page(f"/i/{number}.png", bytes([number]) * 3000, type="image/png", etag=f"i{number}")
    for number in range(3):
        css = f'@import "{(number + 1) % 3}.css"; p {{ background: url(/i/{number}.png) }}'
        site.page(f"/css/{number}.css", css, type="text/css")
    site.html_page("/p", "P", "<p>bare</p>")
    site.html_page("/p/", "P", "<p>slash</p>")
    site.html_page("/?page=2", "Second", link(paths[-1]))
    site.redirect("/old", paths[3])
    site.page("/data", b"{}", type="application/json")
    site.html_page("/data/x", "X", link("/data", "/end"))
    site.html_page("/end", "End", "<p>end</p>")
    return 40 + 8 + 12 + 3 + 9


@pytest.mark.timeout(150)
def test_killed_and_resumed_crawl_gives_the_same_copy(
    site: Site, start_cli: StartCli, run_here: RunHere, tmp_path: Path
) -> None:
    """kill -9 at ten moments, each time resumed: same files, same index but for times, little fetched twice."""
    count, concurrency = _tangled(site), 6
    options = ("--rate-limit", 0, "--concurrency", concurrency, "--quiet")
    assert run_here("crawl", site.url, *options, "--output", tmp_path / "whole").returncode == 0
    site.clear_log()
    site.latency = 0.01
    moments = [8 * kill for kill in range(1, 10)]
    host = f"127.0.0.1_{site.port}"
    last = tmp_path / "killed" / host / "end/index.html"
    for moment in (*moments, 10_000):  # the tenth while the end is being written
        process = start_cli("crawl", site.url, *options, "--output", tmp_path / "killed")
        deadline = time.monotonic() + 20
        while len(site.requests) < moment and process.poll() is None and time.monotonic() < deadline:
            if moment == 10_000 and last.exists():
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=10)
    finished = run_here("crawl", site.url, *options, "--output", tmp_path / "killed")
    assert finished.json["status"] == "partial"  # one page is missing on the site itself
    whole, killed = Copy(tmp_path / "whole" / host), Copy(tmp_path / "killed" / host)
    assert killed.files == whole.files
    assert timeless(killed.index) == timeless(whole.index)
    assert timeless(killed.manifest) == timeless(whole.manifest)
    assert not list((tmp_path / "killed").rglob("*.tmp"))
    fetched = [path for path in site.paths() if path not in ("/", "/robots.txt", "/missing")]
    assert len(fetched) - count <= 10 * (concurrency + 32)


async def test_update_fetches_only_changed_pages(site: Site, run: Crawl, copy: Copy) -> None:
    """304 keeps the bytes; a changed page is replaced, and its new links are added."""
    site.html_page("/", "Home", link("/same", "/changes") + '<img src="/i.png">', etag="h1")
    site.html_page("/same", "Same", link("/changes", "/"), etag="s1")
    site.html_page("/changes", "Old", link("/"), etag="c1")
    site.page("/i.png", b"i", type="image/png", etag="i1")
    await run()
    before = copy.files
    site.html_page("/changes", "New", link("/added"), etag="c2")
    site.html_page("/added", "Added", link("/same"), etag="a1")
    site.clear_log()
    report = await run(update=True)
    assert report.status == "ok"
    assert {seen.path: seen.status for seen in site.requests if seen.method == "GET"} == {
        "/robots.txt": 404, "/": 304, "/same": 304, "/i.png": 304, "/changes": 200, "/added": 200,
    }  # fmt: skip
    after = copy.files
    assert {path for path in after if after[path] != before.get(path)} == {"changes/index.html", "added/index.html"}
    assert b'href="../added/index.html"' in after["changes/index.html"]
    assert copy.depths["/added"] == 2


async def test_update_reports_gone_pages(site: Site, run: Crawl, copy: Copy) -> None:
    """An unlinked page is gone with all that only it links to; a failing page keeps its copy and links.

    Unlinked pages are requested once more.
    """
    site.html_page("/", "Home", link("/a", "/b"))
    site.html_page("/a", "A", link("/a/child"))
    site.html_page("/a/child", "Child", "<p>a child</p>")
    site.html_page("/b", "B", link("/b/child"))
    site.html_page("/b/child", "Child", "<p>b child</p>")
    await run()
    site.html_page("/", "Home", link("/b"))
    site.fault("/b", faults.status(500))
    site.clear_log()
    await run(update=True)
    assert {path for path in site.paths() if path.startswith("/a")} == {"/a", "/a/child"}
    assert [row["url"].removeprefix(site.url) for row in copy.manifest["gone"]] == ["/a", "/a/child"]
    assert sorted(page["url"].removeprefix(site.url) for page in copy.manifest["pages"]) == ["/", "/b", "/b/child"]
    assert "a/child/index.html" in copy.files
    site.html_page("/", "Home", link("/a", "/b"))
    await run(update=True)
    assert copy.manifest["gone"] == []
    assert "/a" in site.paths()


async def test_unfetchable_link_is_never_gone(site: Site, run: Crawl, copy: Copy) -> None:
    """A mailto link is a skip while a page has it, a data: picture never."""
    site.html_page("/", "Home", link("/a", "/b", "mailto:a@example.com", "data:text/plain,a"))
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    assert list(copy.skipped) == ["mailto:a@example.com"]
    site.html_page("/", "Home", "<p>home</p>")
    await run(update=True)
    assert copy.skipped == {}
    assert copy.accounted() == ["/", "/a", "/b"]
    assert verify(copy.folder).status is RunStatus.OK
    site.html_page("/", "Home", link("mailto:a@example.com"))
    await run(update=True)
    assert list(copy.skipped) == ["mailto:a@example.com"]


async def test_second_run_requests_no_saved_page(site: Site, run: Crawl, copy: Copy) -> None:
    """Saved pages are revalidated only with --update; failures are retried."""
    site.html_page("/", "Home", link("/a", "/fails") + '<img src="/i.png">')
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/i.png", b"i", type="image/png")
    site.fault("/fails", faults.status(503))
    site.html_page("/fails", "Fails", link("/behind"))
    site.html_page("/behind", "Behind", "<p>behind</p>")
    report = await run()
    assert (report.status, report.failed) == ("partial", 1)
    assert copy.index["errors"][0]["error"] == "HTTP 503"
    site.heal("/fails")
    site.clear_log()
    report = await run()
    assert report.status == "ok"
    assert {path for path in site.paths() if path not in ("/", "/robots.txt")} == {"/fails", "/behind"}
    assert copy.index["errors"] == []
    assert not list((copy.folder / "_failed").glob("*"))
    assert copy.depths == {"/": 0, "/a": 1, "/fails": 1, "/i.png": 0, "/behind": 2}


async def test_re_download_all_requests_everything(site: Site, run: Crawl, copy: Copy) -> None:
    """Unconditionally."""
    _tangled(site)
    await run(concurrency=4)
    before, index = copy.files, copy.index
    site.clear_log()
    await run(concurrency=4, re_download_all=True)
    asked = {seen.path for seen in site.requests if seen.method == "GET"} - {"/robots.txt"}
    assert asked == {url.removeprefix(site.url) for url in index["urls"]} | {"/missing"}
    assert not any("if-none-match" in seen.headers or "if-modified-since" in seen.headers for seen in site.requests)
    assert copy.files == before


def asked_twice(site: Site) -> list[str]:
    counted = Counter(seen.path for seen in site.requests if seen.method == "GET")
    return [path for path, count in counted.items() if count > 1]


@pytest.mark.parametrize("damage", ["lost", "damaged"])
async def test_lost_state_reads_pages_once(site: Site, run: Crawl, copy: Copy, damage: str) -> None:
    """A finished crawl without its state writes the same files as before, and asks for no page twice."""
    _tangled(site)
    await run(concurrency=4)
    files, index, manifest = copy.files, copy.index, copy.manifest
    if damage == "lost":
        (copy.folder / "_state.sqlite3").unlink()
    else:
        (copy.folder / "_state.sqlite3").write_bytes(b"no database" * 1000)
    site.clear_log()
    report = await run(concurrency=4)
    assert not [path for path in asked_twice(site) if path != "/missing"]
    assert report.failed == 1
    assert copy.files == files
    assert timeless(copy.index["graph"]) == timeless(index["graph"])
    assert timeless(copy.manifest) == timeless(manifest)
    site.html_page("/end", "End", link("/brand-new"))
    site.html_page("/brand-new", "New", link("/data/x"))
    await run(concurrency=4, update=True)
    assert copy.manifest["gone"] == []
    new = copy.text("end/index.html")
    assert 'href="../brand-new/index.html"' in new or 'href="brand-new/index.html"' in new


async def test_state_lost_midway_continues_from_the_files(site: Site, run: Crawl, copy: Copy, tmp_path: Path) -> None:
    """An interrupted crawl asks for its saved pages once more, to read their links, and finishes."""
    _tangled(site)
    await run(concurrency=1)
    whole_files, whole_graph = copy.files, timeless(copy.index["graph"])
    for path in sorted(copy.folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    await run(concurrency=1, max_pages=25)
    (copy.folder / "_state.sqlite3").unlink()
    site.clear_log()
    await run(concurrency=1)
    assert copy.files == whole_files
    assert timeless(copy.index["graph"]) == whole_graph
    assert not [path for path in asked_twice(site) if path != "/missing"]


@pytest.mark.parametrize("format", ["html", "both"])
async def test_relinked_pages_without_manifest_are_fetched_again(
    site: Site, run: Crawl, copy: Copy, format: str
) -> None:
    """Without state and manifest the original links of a finished copy are unknown."""
    _tangled(site)
    await run(concurrency=4, format=format)
    files, accounted = copy.files, copy.accounted()
    for name in ("_state.sqlite3", "_manifest.json"):
        (copy.folder / name).unlink()
    assert (await run(concurrency=4, format=format)).failed == 1
    assert copy.files == files
    assert copy.accounted() == accounted


def test_killed_crawl_without_state_reads_pages_once(
    site: Site, start_cli: StartCli, run_here: RunHere, tmp_path: Path
) -> None:
    """Only files and `_processed.txt` are left: pages are asked for once more, and all is as without the kill."""
    _tangled(site)
    options = ("--rate-limit", 0, "--quiet")
    assert run_here("crawl", site.url, *options, "--output", tmp_path / "whole").returncode == 0
    site.clear_log()
    site.latency = 0.01
    process = start_cli("crawl", site.url, *options, "--output", tmp_path / "killed")
    site.wait_for(60, timeout=20)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)
    host = f"127.0.0.1_{site.port}"
    whole, killed = Copy(tmp_path / "whole" / host), Copy(tmp_path / "killed" / host)
    processed = len((killed.folder / "_processed.txt").read_text("utf-8").splitlines())
    assert processed > 20
    for name in ("_state.sqlite3", "_state.sqlite3-wal", "_state.sqlite3-shm"):
        (killed.folder / name).unlink(missing_ok=True)
    site.clear_log()
    assert run_here("crawl", site.url, *options, "--output", tmp_path / "killed").returncode == 0
    assert killed.files == whole.files
    assert killed.depths == whole.depths
    assert timeless(killed.index["graph"]) == timeless(whole.index["graph"])
    assert not [path for path in asked_twice(site) if path != "/missing"]


async def test_mirror_keeps_pages_that_a_crawl_reached(site: Site, run: Crawl, copy: Copy, out: Path) -> None:
    """What no sitemap lists is there as long as the last crawl reached it."""
    site.html_page("/", "Home", link("/a", "/bad", "/x.zip"), etag='"1"')
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.page("/x.zip", b"PK", type="application/zip")
    site.sitemap(urls=["/"])
    first = await run(format="markdown")
    await mirror(site.url, output=out, rate_limit=0, update=True)
    assert copy.manifest["gone"] == []
    site.html_page("/", "Home", link("/bad", "/x.zip"), etag='"2"')
    await run(format="markdown", update=True)
    assert [gone["url"] for gone in copy.manifest["gone"]] == [f"{site.url}/a"]
    site.html_page("/", "Home", link("/a", "/bad", "/x.zip"), etag='"3"')
    report = await run(format="markdown", update=True)
    assert copy.manifest["gone"] == []
    assert (report.successful, report.failed, report.skipped) == (first.successful, first.failed, first.skipped)


async def test_crawl_over_a_mirror_keeps_its_pages(site: Site, run: Crawl, copy: Copy, out: Path) -> None:
    """Listed pages stay while a crawl reads their links: when it stops early, and when one fails."""
    site.html_page("/", "Home", link("/a", "/b", "/c"), etag='"1"')
    site.html_page("/a", "A", link("/new"), etag='"1"')
    site.html_page("/b", "B", link("/moved"), etag='"1"')
    site.html_page("/c", "C", link("/newer"), etag='"1"')
    site.html_page("/new", "New", "<p>new</p>")
    site.html_page("/newer", "Newer", "<p>newer</p>")
    site.redirect("/moved", "/c")
    site.sitemap(urls=["/", "/a", "/b", "/c"])
    await mirror(site.url, output=out, rate_limit=0)
    site.fault("/b", faults.status(500))
    report = await run(format="markdown", max_pages=1)
    assert (report.status, report.successful) == ("partial", 5)
    assert verify(copy.folder).problems == ()
    await run(format="markdown")
    site.heal("/b")
    report = await run(format="markdown", update=True)
    assert (report.status, report.successful, copy.manifest["gone"]) == ("ok", 6, [])
    assert [page["aliases"] for page in copy.manifest["pages"] if page["aliases"]] == [[f"{site.url}/moved"]]
    assert verify(copy.folder).problems == ()
