"""A bad night of the site loses nothing: its answers with status 200 replace no good copy."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror
from sitemirror.publish.report import MirrorReport, RunStatus
from tests.conftest import RunHere
from tests.run.conftest import Copy, Later, Mirror
from tests.site import Site, faults

FORMATS = ("markdown", "html", "both")
NAMES = ["ash", "beech", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew"]
SHELL = '<!DOCTYPE html><title>App</title><div id="root"></div><script>let words = "not for readers";</script>'
NOTICE = "<!DOCTYPE html><title>Sorry</title><h1>Down for maintenance</h1><p>We are back at six in the morning.</p>"
LOGIN = '<!DOCTYPE html><title>Sign in</title><form><h1>Sign in</h1><p>Your name</p><input name="user"></form>'
ERROR = "<!DOCTYPE html><title>Error 1020</title><h1>Access denied</h1><p>Ray ID: 8d1f2a. Please try again later.</p>"
NIGHTS: dict[str, str | bytes] = {
    "empty": "",
    "spaces": " \n\n ",
    "shell": SHELL,
    "notice": NOTICE,
    "login": LOGIN,
    "error": ERROR,
    "rubbish": random.Random(7).randbytes(5_000),
}
ONE_TEXT = ("notice", "login", "error")

By = Callable[..., Awaitable[MirrorReport]]


def good(site: Site, names: list[str] = NAMES, version: str = "first") -> None:
    """Pages that differ, and link to each other."""
    links = "".join(f'<a href="/{name}">{name}</a> ' for name in NAMES)
    site.html_page("/", "Home", f"<main><h1>Home</h1><p>The {version} home of all pages.</p><p>{links}</p></main>")
    for name in names:
        text = f"The {version} text of page {name} has more than twenty words, as it is about {name} alone. " * 3
        site.html_page(f"/{name}", name, f"<main><h1>{name}</h1><p>{text}</p><p>{links}</p></main>")
    site.sitemap(urls=["/", *(f"/{name}" for name in NAMES)])


def bad(site: Site, body: str | bytes, names: list[str] = NAMES) -> None:
    """The same answer for every page."""
    for name in names:
        site.page(f"/{name}", body, type="text/html")


def files(copy: Copy) -> dict[str, bytes]:
    """Every page file with its bytes."""
    found = {path.relative_to(copy.folder).as_posix(): path for path in copy.folder.rglob("*.*") if path.is_file()}
    return {name: path.read_bytes() for name, path in sorted(found.items()) if "_" not in name and "-index" not in name}


def links_of(copy: Copy) -> Any:
    return sorted((row["url"], row["path"], row["sha256"], row["title"]) for row in copy.manifest["pages"])


@pytest.mark.parametrize("night", NIGHTS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("by", [mirror, crawl])
async def test_bad_night_replaces_no_copy(site: Site, out: Path, copy: Copy, by: By, format: str, night: str) -> None:
    """Nor do two; the next good night is silent."""
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": format, "re_download_all": True}
    good(site)
    await by(f"{site.url}/", **options)
    before, rows = files(copy), links_of(copy)
    assert len(before) == (26 if format == "both" else 13)
    bad(site, NIGHTS[night])
    for days in (1, 2):
        report = await by(f"{site.url}/", **options, clock=Later(days))
        assert (report.status, report.new, report.changed, report.gone) == (RunStatus.PARTIAL, 0, 0, None)
        assert (files(copy), links_of(copy)) == (before, rows)
        assert report.refresh_failed == 12
        assert len(report.warnings) == 1
    reason = "12 pages came back with one text" if night in ONE_TEXT else "a page without text"
    reason = "unreadable: binary data, sent as text/html" if night == "rubbish" else reason
    assert {copy.pages[f"/{name}"]["refresh_error"] for name in NAMES} == {reason}
    good(site)
    report = await by(f"{site.url}/", **options, clock=Later(3))
    assert (report.status, report.new, report.changed, report.gone) == (RunStatus.OK, 0, 0, None)
    assert (report.warnings, report.refresh_failed) == ((), None)
    assert (files(copy), links_of(copy)) == (before, rows)


@pytest.mark.parametrize("format", FORMATS)
async def test_error_pages_may_differ_by_numbers(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A CDN's error page names the request and the time."""
    good(site)
    await run(format=format)
    before = files(copy)
    for number, name in enumerate(NAMES):
        body = ERROR.replace("8d1f2a", f"{number}e7f{number * 77:x}").replace("<h1>", f'<h1 id="x{number}">')
        site.page(f"/{name}", body, type="text/html")
    report = await run(format=format, re_download_all=True)
    assert (report.status, report.refresh_failed, len(report.warnings)) == ("partial", 12, 1)
    assert files(copy) == before


async def test_pages_that_differ_by_numbers_alone_may_change(site: Site, run: Mirror, copy: Copy) -> None:
    """Generated pages, all with other words than before but for the numbers."""
    paths = site.fill(40)
    site.sitemap(urls=paths)
    await run()
    for number, path in enumerate(paths):
        site.html_page(path, f"Page {number}", f"<h1>Page {number}</h1><p>Here is page {number} in another design.</p>")
    report = await run(re_download_all=True)
    assert (report.status, report.changed, report.warnings) == ("ok", 40, ())


@pytest.mark.parametrize("format", FORMATS)
async def test_bad_night_after_the_state_was_lost(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """The texts are compared with those of the files."""
    good(site)
    await run(format=format)
    before = files(copy)
    for left in copy.folder.glob("_state.sqlite3*"):
        left.unlink()
    bad(site, NOTICE)
    report = await run(format=format, re_download_all=True)
    assert (report.status, report.refresh_failed, files(copy)) == ("partial", 12, before)


async def test_warning_names_the_text_and_an_example(site: Site, run: Mirror, copy: Copy) -> None:
    """One warning for a text."""
    good(site)
    await run()
    bad(site, NOTICE)
    report = await run(re_download_all=True)
    assert report.warnings == (
        f"12 pages came back with one text ('Down for maintenance We are back at six in the morning.'), such as "
        f"{site.url}/ash: the copies are kept; --accept-changes takes the new text",
    )


@pytest.mark.parametrize("format", FORMATS)
async def test_update_asks_for_restored_copies_whole(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """Though the sitemap gives no dates and the notice had an ETag."""
    good(site)
    await run(format=format)
    before = files(copy)
    for name in NAMES:
        site.page(f"/{name}", NOTICE, type="text/html", etag="notice")
    site.sitemap(urls=["/", *((f"/{name}", "2999-01-01") for name in NAMES)])
    assert (await run(format=format, update=True)).status == "partial"
    good(site)
    site.clear_log()
    report = await run(format=format, update=True)
    assert (report.status, report.changed, report.warnings) == ("ok", 0, ())
    assert all(site.requests_for(f"/{name}")[-1].status == 200 for name in NAMES)
    assert files(copy) == before


async def test_half_the_site_is_down(site: Site, run: Mirror, copy: Copy) -> None:
    """The other half is brought up to date; then the first recovers page by page."""
    good(site)
    await run()
    before = files(copy)
    good(site, version="second")
    bad(site, NOTICE, NAMES[:6])
    report = await run(re_download_all=True)
    assert (report.status, report.changed, report.refresh_failed) == ("partial", 7, 6)
    after = files(copy)
    assert {name for name in before if before[name] != after[name]} == {
        "index.md",
        *(f"{name}/index.md" for name in NAMES[6:]),
    }
    good(site, version="second")
    bad(site, NOTICE, NAMES[:1])
    report = await run(re_download_all=True)
    assert (report.status, report.changed, report.refresh_failed) == ("partial", 5, 1)
    assert files(copy)["ash/index.md"] == before["ash/index.md"]


@pytest.mark.parametrize("format", FORMATS)
async def test_redesign_passes(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """All pages differ from before, and from each other."""
    good(site)
    await run(format=format)
    good(site, version="second")
    report = await run(format=format, re_download_all=True)
    assert (report.status, report.changed, report.warnings) == ("ok", 13, ())
    assert all(b"second" in data for data in files(copy).values())


async def test_two_pages_with_one_new_text_pass(site: Site, run: Mirror, copy: Copy) -> None:
    """Some pages of every site become stubs."""
    good(site)
    await run()
    bad(site, NOTICE, NAMES[:2])
    report = await run(re_download_all=True)
    assert (report.status, report.changed, report.warnings) == ("ok", 2, ())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("body", [NOTICE, ""])
async def test_accepted_changes_replace_copies(site: Site, run: Mirror, copy: Copy, format: str, body: str) -> None:
    """Forty pages were withdrawn; one warning, then the option takes what there is, and the next run is silent."""
    paths = site.fill(40)
    site.sitemap(urls=paths)
    await run(format=format)
    before = files(copy)
    for path in paths:
        site.page(path, body, type="text/html")
    report = await run(format=format, re_download_all=True)
    assert (report.status, len(report.warnings), files(copy)) == ("partial", 1, before)
    report = await run(format=format, update=True, accept_changes=True)
    assert (report.status, report.changed) == ("ok", 40)
    assert not set(files(copy).values()) & set(before.values())
    report = await run(format=format, re_download_all=True)
    assert (report.status, report.changed, report.warnings) == ("ok", 0, () if body else report.warnings)


async def test_canonical_of_a_notice_makes_no_aliases(site: Site, run: Mirror, copy: Copy) -> None:
    """A notice whose canonical is the home page would make one file of all."""
    good(site)
    await run()
    before = files(copy)
    bad(site, NOTICE.replace("<h1>", f'<link rel="canonical" href="{site.url}/"><h1>'), ["", *NAMES])
    report = await run(re_download_all=True)
    assert (report.status, report.duplicates, files(copy)) == ("partial", 0, before)


@pytest.mark.parametrize("format", FORMATS)
async def test_duplicates_stay_what_they_are(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A notice in the place of a page and of its other names parts nothing."""
    good(site)
    twins = [f"/{name}?print=1" for name in NAMES]

    def serve() -> None:
        for name in NAMES:
            text = f'<link rel="canonical" href="{site.url}/{name}"><h1>{name}</h1><p>{name} is {name}</p>'
            for path in (f"/{name}", f"/{name}?print=1"):
                site.html_page(path, name, text)
        site.sitemap(urls=["/", *(f"/{name}" for name in NAMES), *twins])

    serve()
    await run(format=format)
    before, rows = files(copy), copy.manifest["pages"]
    aliases = [row["aliases"] for row in rows]
    assert sum(map(len, aliases)) == 12
    bad(site, NOTICE)
    bad(site, NOTICE, [twin[1:] for twin in twins])
    report = await run(format=format, re_download_all=True)
    assert (report.status, report.new, report.changed, files(copy)) == ("partial", 0, 0, before)
    assert [row["aliases"] for row in copy.manifest["pages"]] == aliases
    serve()
    report = await run(format=format, update=True)
    assert (report.status, report.new, report.changed, files(copy)) == ("ok", 0, 0, before)
    assert [row["aliases"] for row in copy.manifest["pages"]] == aliases


@pytest.mark.parametrize("format", ["html", "both"])
@pytest.mark.parametrize("links", ["absolute", "local"])
async def test_local_links_of_restored_copies_stay(site: Site, out: Path, copy: Copy, format: str, links: str) -> None:
    """Files whose links were made local come back as they were, and still follow pages that move."""
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": format, "links": links}
    good(site)
    await crawl(f"{site.url}/", **options)
    before = files(copy)
    assert b'href="ash/index.html"' in before["index.html"]
    bad(site, NOTICE)
    await crawl(f"{site.url}/", **options, re_download_all=True)
    assert files(copy) == before
    good(site)
    report = await crawl(f"{site.url}/", **options, re_download_all=True)
    assert (report.status, files(copy)) == ("ok", before)


@pytest.mark.skipif(os.name == "nt", reason="kills with signals")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "step",
    ["intent-committed:5", "file-renamed:9", "rows-committed:8", "collapse-found", "copy-restored", "copy-restored:7"],
)
@pytest.mark.parametrize("then", [(), ("--re-download-all",)])
def test_killed_bad_night_is_undone_by_the_next_run(
    site: Site, run_here: RunHere, out: Path, copy: Copy, format: str, step: str, then: tuple[str, ...]
) -> None:
    """Whether that goes on with it or is another: old bytes and rows were safe before files were replaced."""
    command = ("mirror", site.url, "--rate-limit", 0, "--quiet", "--format", format, "--output", out)
    good(site)
    assert run_here(*command).returncode == 0
    before = files(copy)
    bad(site, NOTICE)
    died = run_here(*command, "--re-download-all", env={"SITEMIRROR_FAILPOINT": step})
    assert died.returncode == -signal.SIGKILL
    if then:
        good(site)
    done = run_here(*command, *then)
    assert (done.returncode, files(copy)) == (0, before)
    good(site)
    done = run_here(*command, "--re-download-all")
    assert (done.json["status"], done.json["changed"], files(copy)) == ("ok", 0, before)
    assert run_here("verify", out).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="kills with signals")
def test_bad_night_begins_in_a_killed_run(site: Site, run_here: RunHere, out: Path, copy: Copy) -> None:
    """Its few pages count with those of the next run, which is another."""
    command = ("mirror", site.url, "--rate-limit", 0, "--quiet", "--output", out)
    good(site)
    assert run_here(*command).returncode == 0
    before = files(copy)
    bad(site, NOTICE, NAMES[:2])
    died = run_here(*command, "--re-download-all", env={"SITEMIRROR_FAILPOINT": "collapse-found"})
    assert died.returncode == -signal.SIGKILL
    bad(site, NOTICE)
    site.sitemap(urls=[(f"/{name}", "2999-01-01") for name in ["", *NAMES]])
    done = run_here(*command, "--update")
    assert (done.json["status"], done.json["refresh_failed"], files(copy)) == ("partial", 12, before)


def test_update_command_accepts_changes(site: Site, run_here: RunHere, out: Path, copy: Copy) -> None:
    """For one run: the mirror does not remember it."""
    good(site)
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).returncode == 0
    bad(site, NOTICE)
    site.sitemap(urls=[(f"/{name}", "2999-01-01") for name in ["", *NAMES]])
    assert run_here("update", out, "--strict").returncode == 3
    done = run_here("update", out, "--strict", "--accept-changes")
    assert (done.returncode, done.json["changed"]) == (0, 12)
    assert "accept_changes" not in copy.manifest["options"]


async def test_interrupted_bad_night_is_undone_at_once(site: Site, run: Mirror, copy: Copy) -> None:
    """And the same command goes on."""
    good(site)
    await run()
    before = files(copy)
    bad(site, NOTICE, NAMES[:8])
    site.fault("/pine", faults.status(403))
    with pytest.raises(Exception, match="403"):
        await run(re_download_all=True, on_error="abort", concurrency=1)
    assert files(copy) == before
    site.heal("/pine")
    bad(site, NOTICE)
    report = await run(re_download_all=True)
    assert (report.status, report.refresh_failed, files(copy)) == ("partial", 11, before)  # the oak was good


@pytest.mark.parametrize("format", FORMATS)
async def test_crawl_of_a_site_that_is_down_altogether(site: Site, out: Path, copy: Copy, format: str) -> None:
    """The start page as well: a notice links to nothing, and no page is gone for it."""
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": format, "update": True}
    good(site)
    await crawl(f"{site.url}/", **options)
    before, rows = files(copy), links_of(copy)
    bad(site, NOTICE, ["", *NAMES])
    report = await crawl(f"{site.url}/", **options)
    assert (report.status, report.gone, report.changed) == ("partial", None, 0)
    assert (files(copy), links_of(copy)) == (before, rows)
    good(site)
    report = await crawl(f"{site.url}/", **options)
    assert (report.status, report.gone, report.changed) == ("ok", None, 0)
    assert (files(copy), links_of(copy)) == (before, rows)
