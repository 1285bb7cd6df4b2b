"""Saved pages that redirect now: temporarily, permanently, in chains, to failures."""

from __future__ import annotations

import pytest

from sitemirror import verify
from sitemirror.events import Event, PageFailed
from sitemirror.publish.report import RunStatus
from tests.run.conftest import Copy, Later, Mirror, path_of
from tests.site import Site
from tests.site.faults import ok, redirect_to, slow, status


@pytest.mark.parametrize("code", [302, 303, 307])
async def test_temporary_redirect_keeps_old_copy(site: Site, run: Mirror, copy: Copy, code: int) -> None:
    """A site under maintenance, or an expired login: copies stay, are reported as old, and are requested next time."""
    paths = site.fill(3, etag='"1"')
    site.sitemap(urls=paths)
    site.html_page("/login", "Login", "<p>Who are you?</p>")
    await run()
    before = copy.files
    for path in paths:
        site.fault(path, redirect_to("/login", code))
    report = await run(update=True)
    assert report.status == "partial"
    assert before.items() <= copy.files.items()
    assert {copy.pages[path]["refresh_error"] for path in paths} == {f"redirects for now to {site.url}/login"}
    assert copy.pages["/login"]["aliases"] == []
    for path in paths:
        site.heal(path)
    site.html_page(paths[0], "New", "<p>Repaired</p>")
    site.clear_log()
    report = await run(update=True)
    assert [site.count(path) for path in paths] == [1, 1, 1]
    assert report.changed == 1
    assert not any("refresh_error" in page for page in copy.pages.values())


async def test_lasting_temporary_redirect_becomes_a_warning(site: Site, run: Mirror, copy: Copy) -> None:
    """For a week updates are `partial`; then the old copy is only a warning, wherever the redirect leads."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    for name in "bc":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag='"1"')
    site.sitemap(urls=["/a", "/b", "/c"])
    await run()
    kept = copy.text("a/index.md")
    site.fault("/a", redirect_to("/b", 302))
    assert (await run(update=True)).status == "partial"
    assert (await run(update=True, clock=Later(6))).status == "partial"
    report = await run(update=True, clock=Later(8))
    assert report.status == "ok"
    assert any("1 page kept as saved, though redirected elsewhere" in warning for warning in report.warnings)
    assert copy.text("a/index.md") == kept
    assert copy.pages["/a"]["refresh_error"] == f"redirects for now to {site.url}/b"
    site.fault("/a", redirect_to("/c", 302))
    assert (await run(update=True, clock=Later(9))).status == "ok"
    site.heal("/a")
    report = await run(update=True, clock=Later(30))
    assert (report.status, report.warnings) == ("ok", ())


@pytest.mark.parametrize("codes", [(403, 403), (500, 503)])
async def test_lasting_error_is_only_a_warning_after_a_week(
    site: Site, run: Mirror, copy: Copy, codes: tuple[int, int]
) -> None:
    """As for redirects: the copy stays, and after seven days no update is `partial` for it, whatever the status is."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.html_page("/b", "B", "<p>b</p>", etag='"1"')
    site.sitemap(urls=["/a", "/b"])
    await run()
    kept = copy.text("a/index.md")
    for days, code, expected in ((0, codes[0], "partial"), (6, codes[1], "partial"), (8, codes[0], "ok")):
        site.fault("/a", status(code))
        report = await run(update=True, clock=Later(days))
        assert report.status == expected
    assert any("1 page kept as saved, though not brought up to date" in warning for warning in report.warnings)
    assert copy.text("a/index.md") == kept
    site.heal("/a")
    report = await run(update=True, clock=Later(9))
    assert (report.status, report.warnings) == ("ok", ())


async def test_temporary_redirect_to_changing_locations_is_one_redirect(site: Site, run: Mirror, copy: Copy) -> None:
    """A login with a session in its URL: the reason stays the same although the location changes."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.sitemap(urls=["/a"])
    await run()
    kept = copy.text("a/index.md")
    for days, expected in ((0, "partial"), (4, "partial"), (8, "ok"), (12, "ok")):
        site.html_page(f"/login/{days}", "Login", "<p>Who are you?</p>")
        site.fault("/a", redirect_to(f"/login/{days}", 302))
        assert (await run(update=True, clock=Later(days))).status == expected
        assert copy.pages["/a"]["refresh_error"] == f"redirects for now to {site.url}/login/{days}"
    assert copy.text("a/index.md") == kept
    site.fault("/a", ok())
    await run(update=True, clock=Later(13))
    site.fault("/a", redirect_to("/login/0", 302))
    assert (await run(update=True, clock=Later(14))).status == "partial"


@pytest.mark.parametrize("order", ["abc", "bac"])
async def test_permanent_redirect_to_a_temporary_one_counts_as_temporary(
    site: Site, run: Mirror, copy: Copy, order: str
) -> None:
    """It becomes a warning after a week as well, whichever of them is requested first."""
    for name in order:
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag='"1"')
    site.sitemap(urls=[f"/{name}" for name in order])
    await run()
    kept = copy.files
    site.fault("/a", redirect_to("/b", 301))
    site.fault("/b", redirect_to("/c", 302))
    for days, expected in ((0, "partial"), (8, "ok")):
        assert (await run(update=True, concurrency=1, clock=Later(days))).status == expected
        assert copy.files == kept
        for name in "ab":
            assert copy.pages[f"/{name}"]["refresh_error"] == f"redirects for now to {site.url}/c"


async def test_missing_file_of_a_redirecting_page_stays_partial(site: Site, run: Mirror, copy: Copy) -> None:
    """A missing file is still reported after a week."""
    for name in "ab":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag='"1"')
    site.sitemap(urls=["/a", "/b"])
    await run(format="both")
    (copy.folder / "a/index.md").unlink()
    site.fault("/a", redirect_to("/b", 302))
    for days in (0, 8):
        assert (await run(format="both", update=True, clock=Later(days))).status == "partial"
        assert "was deleted" in copy.pages["/a"]["refresh_error"]


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("order", ["bac", "bca", "abc", "cba"])
async def test_redirect_to_a_page_that_succeeds_on_retry_is_its_alias(
    site: Site, run: Mirror, copy: Copy, order: str, concurrency: int
) -> None:
    """Also where the redirect, or one that leads to it, is answered after the failure."""
    for name in order:
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag='"1"')
    site.sitemap(urls=[f"/{name}" for name in order])
    await run()
    site.fault("/b", status(500), ok())
    site.fault("/a", slow(0.1, redirect_to("/b", 301)), redirect_to("/b", 301))
    site.fault("/c", slow(0.2, redirect_to("/a", 301)), redirect_to("/a", 301))
    report = await run(update=True, concurrency=concurrency, on_error="retry", max_retries=2)
    assert report.status == "ok"
    assert [page["aliases"] for page in copy.pages.values()] == [[f"{site.url}/a", f"{site.url}/c"]]
    assert set(copy.files) == {"b/index.md"}


async def test_permanent_redirect_makes_a_page_an_alias(site: Site, run: Mirror, copy: Copy) -> None:
    """With --re-download-all any redirect does."""
    for name in "abc":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag='"1"')
    site.sitemap(urls=["/a", "/b", "/c"])
    await run()
    site.fault("/a", redirect_to("/c", 301))
    site.fault("/b", redirect_to("/c", 302))
    await run(update=True)
    assert [path_of(name) for name in copy.pages["/c"]["aliases"]] == ["/a"]
    assert set(copy.files) == {"b/index.md", "c/index.md"}
    await run(re_download_all=True)
    assert [path_of(name) for name in copy.pages["/c"]["aliases"]] == ["/a", "/b"]
    assert set(copy.files) == {"c/index.md"}


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_every_page_that_redirects_to_a_failure_reports_it(
    site: Site, run: Mirror, copy: Copy, concurrency: int
) -> None:
    """Not only the page whose redirect was followed first."""
    for name in "ab":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/a", "/b"])
    await run()
    for name in "ab":
        site.redirect(f"/{name}", "/new")
    site.latency = 0.05
    assert (await run(update=True, concurrency=concurrency)).status == "partial"
    errors = [page["refresh_error"] for page in copy.manifest["pages"]]
    assert errors == [f"redirects to {site.url}/new: HTTP 404"] * 2


async def test_pages_redirecting_to_one_page_at_once_are_its_aliases(site: Site, run: Mirror, copy: Copy) -> None:
    """Also pages that redirect there while another one is fetching it, over more than one hop."""
    for name in "abc":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run()
    for name in "abc":
        site.redirect(f"/{name}", "/new")
    site.redirect("/new", "/newer")
    site.html_page("/newer", "New", "<p>new</p>")
    site.latency = 0.05
    await run(update=True, concurrency=4)
    assert copy.pages.keys() == {"/newer"}
    assert [path_of(alias) for alias in copy.pages["/newer"]["aliases"]] == ["/a", "/b", "/c", "/new"]
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("update", [False, True])
async def test_pages_that_redirected_to_a_failure_are_requested_again(
    site: Site, run: Mirror, copy: Copy, update: bool
) -> None:
    """A site redirects all pages to a maintenance notice that is an error: the next day it has pages again."""
    pages = site.fill(3)
    for path in pages:
        site.redirect(path, "/hop", 302)
    site.redirect("/hop", "/repair", 302)
    site.html_page("/b", "B", "<p>b</p>")
    site.fault("/repair", status(500))
    site.sitemap(urls=[(path, "2020-01-01") for path in (*pages, "/b")])
    first = await run()
    assert (first.successful, first.failed) == (1, 3)
    again = await run(update=update)
    assert (again.successful, again.failed) == (1, 3)
    assert {path_of(failure["final_url"]) for failure in copy.manifest["failures"]} == {"/repair"}
    site.fill(3)
    last = await run(update=update)
    assert (last.status, last.successful, last.failed) == ("ok", 4, 0)
    assert verify(copy.folder).status is RunStatus.OK
    assert (copy.folder / "_processed.txt").read_text("utf-8").count("/page/0001\n") == 1


async def test_unlisted_redirect_is_requested_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A listed page redirects to a URL that redirected to a failure when it was listed itself."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.html_page("/c", "C", "<p>c</p>", etag="1")
    site.redirect("/b", "/nowhere")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run()
    site.sitemap(urls=["/a", "/c"])
    await run(update=True)
    site.redirect("/a", "/b")
    site.redirect("/b", "/c")
    report = await run(update=True)
    assert (report.successful, report.failed) == (1, 0)
    assert copy.pages["/c"]["aliases"] == [f"{site.url}/a", f"{site.url}/b"]
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("code", [302, 303, 307])
async def test_temporary_redirect_of_a_new_url_is_requested_again(
    site: Site, run: Mirror, copy: Copy, code: int
) -> None:
    """A mirror made without a login gets its pages after a login, whatever lastmod says."""
    pages = site.fill(2)
    for path in pages:
        site.redirect(path, "/login", code)
    site.html_page("/login", "Login", "<p>Who are you?</p>")
    site.sitemap(urls=[(path, "2020-01-01") for path in pages])
    await run()
    assert copy.pages.keys() == {"/login"}
    site.fill(2)
    await run(update=True)
    assert copy.pages.keys() >= set(pages)
    site.clear_log()
    await run(update=True)
    assert not [path for path in site.paths() if path in pages]
    assert verify(copy.folder).status is RunStatus.OK


async def test_pages_that_redirect_over_two_hops_are_aliases(site: Site, run: Mirror, copy: Copy) -> None:
    """Also where the target was requested before them."""
    for name in "am":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/m", "/a"])
    await run()
    site.redirect("/a", "/n", 301)
    site.redirect("/n", "/m", 301)
    await run(update=True)
    assert [page["aliases"] for page in copy.pages.values()] == [[f"{site.url}/a", f"{site.url}/n"]]
    assert verify(copy.folder).status is RunStatus.OK


async def test_redirect_to_a_url_in_flight_waits_for_its_outcome(site: Site, run: Mirror, copy: Copy) -> None:
    """The target's earlier outcome says nothing: it may fail, and then the copy stays."""
    for name in "bp":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.redirect("/t", "/p", 301)
    site.sitemap(urls=["/t", "/b", "/p"])
    await run()
    site.redirect("/b", "/t", 301)
    site.fault("/t", slow(0.4, status(500)))
    await run(update=True, concurrency=4)
    assert copy.pages.keys() == {"/b", "/p"}
    assert copy.pages["/b"]["refresh_error"] == f"redirects to {site.url}/t: HTTP 500"
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("forbidden", [False, True])
async def test_redirect_to_a_skipped_url_keeps_old_copy(site: Site, run: Mirror, copy: Copy, forbidden: bool) -> None:
    """An earlier redirect of the target no longer counts."""
    for name in "bp":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.redirect("/t", "/p", 301)
    site.sitemap(urls=["/p", "/t", "/b"])
    await run()
    kept = copy.files
    site.redirect("/b", "/t", 301)
    site.page("/t", b"\x89PNG", type="image/png")
    if forbidden:
        site.robots("User-agent: *\nDisallow: /t\n")
    await run(update=True, concurrency=1)
    assert copy.files == kept
    assert copy.pages["/p"]["aliases"] == []
    assert copy.pages["/b"]["refresh_error"].startswith(f"redirects to {site.url}/t: ")


async def test_redirect_to_a_page_that_failed_to_refresh_keeps_old_copy(site: Site, run: Mirror, copy: Copy) -> None:
    """The target's own copy is old as well."""
    for name in "tb":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/t", "/b"])
    await run()
    site.fault("/t", status(500))
    site.redirect("/b", "/t", 301)
    await run(update=True)
    assert copy.pages.keys() == {"/b", "/t"}
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("order", ["/c /a /a/", "/a /c /a/", "/a /a/ /c"])
@pytest.mark.parametrize("then", ["differs", "fails", "stays"])
async def test_redirect_to_a_duplicate_follows_the_duplicate(
    site: Site, run: Mirror, copy: Copy, order: str, then: str
) -> None:
    """The target may change in the same run and become a page of its own, after the redirect was answered."""
    paths = order.split()
    for path in paths:
        site.html_page(path, "A", f"<p>{'c' if path == '/c' else 'the same'}</p>", etag="1")
    site.sitemap(urls=paths)
    await run()
    assert copy.pages["/a"]["aliases"] == [f"{site.url}/a/"]
    site.fault("/c", redirect_to("/a/", 301))
    if then == "differs":
        site.html_page("/a/", "A", "<p>another</p>", etag="2")
    elif then == "fails":
        site.fault("/a/", status(404))
    await run(update=True, concurrency=1)
    if then == "differs":
        assert copy.pages["/a/"]["aliases"] == [f"{site.url}/c"]
        assert copy.pages["/a"]["aliases"] == []
    elif then == "fails":
        assert copy.pages["/c"]["refresh_error"] == f"redirects to {site.url}/a/: HTTP 404"
        assert "c" in copy.text("c/index.md")
    else:
        assert sorted(copy.pages["/a"]["aliases"]) == [f"{site.url}/a/", f"{site.url}/c"]
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("on_error", ["skip", "retry"])
async def test_log_names_the_requested_url_of_a_failed_redirect(
    site: Site, run: Mirror, copy: Copy, on_error: str
) -> None:
    """A copy whose page redirects to a failure is logged under its own URL."""
    site.sitemap(urls=site.fill(2, etag="1"))
    await run()
    site.redirect("/page/0001", "/new")
    site.fault("/new", status(500))
    await run(update=True, max_retries=1, on_error=on_error)
    lines = [line.split("\t")[1:] for line in copy.text("_failed.log").splitlines()]
    reason = copy.pages["/page/0001"]["refresh_error"]
    assert lines == [[f"{site.url}/page/0001", reason]]
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("hops", [["/login"], ["/login", "/sso"]])
@pytest.mark.parametrize("on_error", ["skip", "retry"])
async def test_log_names_the_url_that_redirects_temporarily_to_a_failure(
    site: Site, run: Mirror, copy: Copy, on_error: str, hops: list[str]
) -> None:
    """The target is neither logged nor in the manifest."""
    site.sitemap(urls=site.fill(2, etag="1"))
    await run()
    for path, hop in zip(["/page/0001", *hops], hops, strict=False):
        site.fault(path, redirect_to(hop, 302))
    site.fault(hops[-1], status(500))
    told: list[str] = []
    await run(update=True, max_retries=1, on_error=on_error, on_event=lambda event: told.extend(_given_up(event)))
    lines = [line.split("\t")[1:] for line in copy.text("_failed.log").splitlines()]
    assert lines == [[f"{site.url}/page/0001", f"redirects for now to {site.url}/login"]]
    assert told == [f"{site.url}/page/0001"]
    assert verify(copy.folder).status is RunStatus.OK


def _given_up(event: Event) -> list[str]:
    return [event.url] if isinstance(event, PageFailed) and not event.will_retry else []
