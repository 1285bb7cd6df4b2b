"""`--max-age`: pages that neither a date nor a validator tells anything about."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import verify
from sitemirror.publish.report import RunStatus
from tests.conftest import RunHere
from tests.run.conftest import Copy, Later, Mirror
from tests.site import Site


def _put(site: Site, text: str, *paths: str) -> None:
    for path in paths:
        site.html_page(path, "Page", f"<p>{text}</p>")


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_young_copy_is_counted_and_an_old_one_is_fetched(
    site: Site, run: Mirror, copy: Copy, format: str
) -> None:
    """Younger than seven days: no request, and the report says so. After that the page is fetched whole, once."""
    _put(site, "old", "/a")
    _put(site, "same", "/b")
    site.html_page("/c", "C", "<p>c</p>", etag='"c"')
    site.sitemap(urls=["/a", "/b", "/c", ("/d", "2020-01-01")])
    _put(site, "d", "/d")
    await run(format=format)
    _put(site, "new", "/a")
    site.clear_log()

    young = await run(format=format, update=True, clock=Later(days=6))
    assert [site.count(path) for path in ("/a", "/b", "/c", "/d")] == [0, 0, 1, 0]
    assert (young.status, young.successful, young.changed, young.unchecked) == ("ok", 4, 0, 2)

    site.clear_log()
    old = await run(format=format, update=True, clock=Later(days=8))
    assert [site.count(path) for path in ("/a", "/b", "/d")] == [1, 1, 0]
    assert (old.status, old.successful, old.changed, old.unchecked) == ("ok", 4, 1, None)
    assert "new" in copy.text("a/index.md" if format != "html" else "a/index.html")

    site.clear_log()
    again = await run(format=format, update=True)
    assert (site.count("/a"), site.count("/b"), again.unchecked) == (0, 0, 2)
    assert verify(copy.folder).status is RunStatus.OK


async def test_age_is_chosen(site: Site, run: Mirror, copy: Copy) -> None:
    """0 fetches such pages with every update; parts of a day count."""
    _put(site, "old", "/a")
    site.sitemap(urls=["/a"])
    await run()
    site.clear_log()
    assert (await run(update=True, max_age=2, clock=Later(days=1))).unchecked == 1
    assert site.count("/a") == 0
    assert (await run(update=True, max_age=0.5, clock=Later(days=1))).unchecked is None
    assert site.count("/a") == 1
    _put(site, "new", "/a")
    report = await run(update=True, max_age=0)
    assert (report.changed, report.unchecked, site.count("/a")) == (1, None, 2)
    assert "new" in copy.text("a/index.md")


@pytest.mark.parametrize("changes", ["/p", "/p/"])
async def test_duplicate_that_changes_is_found(site: Site, run: Mirror, copy: Copy, changes: str) -> None:
    """Either of two URLs with equal text may get another text later: both are asked by the same rule."""
    _put(site, "same", "/p", "/p/")
    site.sitemap(urls=["/p", "/p/"])
    assert (await run()).successful == 1
    _put(site, "changed", changes)
    site.clear_log()
    young = await run(update=True, clock=Later(days=6))
    assert (site.count("/p"), site.count("/p/"), young.successful, young.unchecked) == (0, 0, 1, 1)
    old = await run(update=True, clock=Later(days=8))
    assert (site.count("/p"), site.count("/p/"), old.successful) == (1, 1, 2)
    assert sorted("changed" in text.decode() for text in copy.files.values()) == [False, True]
    site.clear_log()
    assert (await run(update=True)).unchecked == 2
    assert (site.count("/p"), site.count("/p/")) == (0, 0)


async def test_dates_of_other_names_do_not_keep_a_copy(site: Site, run: Mirror, copy: Copy) -> None:
    """The sitemap dates a duplicate, and lists the page itself without a date."""
    _put(site, "same", "/a", "/a/")
    site.sitemap(urls=["/a", ("/a/", "2020-01-01")])
    await run()
    _put(site, "changed", "/a")
    assert (await run(update=True, clock=Later(days=6))).unchecked == 1
    await run(update=True, clock=Later(days=8))
    assert "changed" in copy.text("a/index.md")


async def test_crawl_asks_for_all_its_pages(site: Site, run: Mirror) -> None:
    """A crawl has to read the links of its pages, whatever their age."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    _put(site, "old", "/a")
    await run(discover="links")
    _put(site, "new", "/a")
    report = await run(discover="links", update=True, max_age=1000)
    assert (report.changed, report.unchecked) == (1, None)


async def test_plain_rerun_reports_what_it_did_not_check(site: Site, run: Mirror) -> None:
    """Without --update saved pages are not asked for; new ones are no part of the number."""
    site.sitemap(urls=[(path, "2020-01-01") for path in site.fill(3)])
    first = await run()
    assert (first.successful, first.unchecked) == (3, None)
    _put(site, "more", "/more")
    site.sitemap(urls=[*site.fill(3), "/more"])
    report = await run()
    assert (report.successful, report.new, report.unchecked) == (4, 1, 3)
    assert (await run(re_download_all=True)).unchecked is None


def test_summary_names_the_reason_and_the_age(site: Site, out: Path, run_here: RunHere) -> None:
    """People learn that some pages were not checked, and why; a mirror remembers the age that was chosen."""
    _put(site, "a", "/a", "/b")
    _put(site, "b", "/b")
    site.sitemap(urls=["/a", "/b"])
    run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out, "--update")
    assert done.json["unchecked"] == 2
    assert "ok: 2 pages: 0 new, 0 changed, 2 not checked (no date, no validator; younger than 7 days); " in done.stderr
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out, "--update", "--max-age", 0)
    assert "unchecked" not in done.json
    assert "ok: 2 pages: 0 new, 0 changed, 2 unchanged; " in done.stderr
    site.clear_log()
    run_here("update", out)
    assert (site.count("/a"), site.count("/b")) == (1, 1)


def test_age_without_update_is_noted(site: Site, out: Path, run_here: RunHere) -> None:
    """A plain run asks for no saved page."""
    _put(site, "a", "/a")
    site.sitemap(urls=["/a"])
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out, "--max-age", 1)
    assert "note: --max-age has an effect only with --update" in done.stderr
