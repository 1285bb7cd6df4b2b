"""Many sites in one run: what they share, what they do not, and the one report."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import jsonschema
import pytest

from sitemirror import Site as Listed
from sitemirror import crawl_sites, mirror_sites
from sitemirror.errors import UsageError
from sitemirror.events import DiscoveryFinished, PageSaved, PageStarted, Progress, RunFinished, Warned
from sitemirror.publish.report import MirrorReport
from sitemirror.publish.schema import schemas
from sitemirror.settings import Settings
from tests.site import Site, faults
from tests.sites.towns import Heard, saved, settle


async def test_the_totals_are_the_sums(site: Site, out: Path) -> None:
    """Three sites of different sizes: each has its folder and its entry, in the order given, and the report adds up."""
    urls = [*settle(site, "one", pages=1), *settle(site, "two", pages=2), *settle(site, "four", pages=4)]
    site.fault("/page/0002", faults.status(404), host="four.localhost")

    report = await mirror_sites(urls, output=out, rate_limit=0)

    assert report.status == "partial"
    assert (report.total_sites, report.sites_ok, report.sites_partial, report.sites_failed) == (3, 2, 1, 0)
    assert (report.total_pages, report.successful, report.failed) == (7, 6, 1)
    assert [entry.url for entry in report.sites] == urls
    assert [len(saved(out, site, name)) for name in ("one", "two", "four")] == [1, 2, 3]
    jsonschema.validate(json.loads(report.to_json()), schemas()["sites-report"])


async def test_one_listener_hears_one_large_site(site: Site, out: Path) -> None:
    """Pages are numbered over all sites, progress is summed, warnings name their site, and the end comes once."""
    urls = settle(site, "a", "b", "c", pages=4)
    part = f"{urls[0]}page/"
    heard = Heard()

    report = await mirror_sites([part, *urls[1:]], output=out, rate_limit=20, on_event=heard)

    started = heard.of(PageStarted)
    assert [page.number for page in started] == list(range(1, 13))
    assert heard.of(DiscoveryFinished)[-1] == DiscoveryFinished(total=12, done=heard.of(DiscoveryFinished)[-1].done)
    last = heard.of(Progress)[-1]
    assert (last.processed, last.total, last.saved, last.failed) == (12, 12, 12, 0)
    assert any(progress.eta_sec for progress in heard.of(Progress))
    assert [warning.message.partition(": ")[0] for warning in heard.of(Warned)] == [part]
    assert sorted((end.done, end.of, end.status) for end in heard.finished) == [(n, 3, "ok") for n in (1, 2, 3)]
    assert heard.of(RunFinished) == [RunFinished("ok")]
    assert heard.events[-1] == RunFinished(report.status)


async def test_events_can_be_iterated(site: Site, out: Path) -> None:
    """A run over many sites is an iterator of events like any other, and `stop` ends all of them."""
    urls = settle(site, "a", "b", pages=30)
    run = mirror_sites(urls, output=out, rate_limit=50)
    async for event in run:
        if isinstance(event, PageSaved):
            run.stop()
    assert run.result.status == "interrupted"
    assert 0 < run.result.successful < 60
    assert [entry.status for entry in run.result.sites] == ["interrupted", "interrupted"]


async def test_a_stopped_run_begins_no_other_site(site: Site, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites begin a moment apart, and nobody waits for a moment after `stop`: such sites leave no trace."""
    monkeypatch.setattr("sitemirror.sites.run.APART", 3600)
    run = mirror_sites(settle(site, "a", "b", "c", pages=1), output=out, rate_limit=0)
    async for event in run:
        if isinstance(event, PageSaved):
            run.stop()
    assert run.result.status == "interrupted"
    assert [entry.status for entry in run.result.sites[1:]] == ["interrupted", "interrupted"]
    assert [path.name for path in out.iterdir()] == [f"a.localhost_{site.port}"]


async def test_each_site_has_its_own_options(site: Site, out: Path) -> None:
    """Options of one site count for it alone; the others have the common ones."""
    urls = settle(site, "plain", "bare", "few", pages=5)
    report = await mirror_sites(
        [
            urls[0],
            {"url": urls[1], "front_matter": False, "output": out / "elsewhere"},
            Listed(urls[2], Settings(rate_limit=0, max_pages=2, output=out)),
        ],
        output=out,
        rate_limit=0,
    )

    assert [entry.status for entry in report.sites] == ["ok", "ok", "partial"]
    first = out / f"plain.localhost_{site.port}" / "page/0001/index.md"
    second = out / "elsewhere" / f"bare.localhost_{site.port}" / "page/0001/index.md"
    assert first.read_text(encoding="utf-8").startswith("---\n")
    assert not second.read_text(encoding="utf-8").startswith("---\n")
    assert len(saved(out, site, "few")) == 2


async def test_crawling_many_sites(site: Site, out: Path) -> None:
    """`crawl_sites` follows links on each and saves HTML."""
    for host in ("x.localhost", "y.localhost"):
        site.html_page("/", "Home", '<a href="/next">next</a>', host=host)
        site.html_page("/next", "Next", "<p>There.</p>", host=host)
    report = await crawl_sites([site.url_of("x.localhost"), site.url_of("y.localhost")], output=out, rate_limit=0)
    assert (report.status, report.command, report.successful) == ("ok", "crawl", 4)
    assert (out / f"y.localhost_{site.port}" / "next/index.html").is_file()


async def test_every_site_keeps_its_own_pace(site: Site, out: Path) -> None:
    """Five sites run at the same time, and none gets more than ten requests a second."""
    names = ("a", "b", "c", "d", "e")
    urls = settle(site, *names, pages=8)

    report = await mirror_sites(urls, output=out, rate_limit=10)

    assert report.successful == 40
    spans = []
    for name in names:
        times = [seen.time for seen in site.requests if seen.host == f"{name}.localhost"]
        spans.append((times[0], times[-1]))
        # Over all of them: one that a busy machine holds up comes right before the next.
        assert times[-1] - times[0] >= (len(times) - 1) * 0.1 - 0.1
    assert max(first for first, _ in spans) < min(last for _, last in spans)


async def test_a_host_that_several_sites_lead_to_is_asked_as_by_one(site: Site, out: Path) -> None:
    """Three crawls that may leave their hosts all need files of a fourth: together they keep to the pace of each."""
    shared = site.url_of("shared.localhost")
    names = [f"{name}.localhost" for name in "abc"]
    for number in range(4):
        site.page(f"/{number}.css", "p {}", host="shared.localhost")
    needs = "".join(f'<link rel="stylesheet" href="{shared}/{number}.css">' for number in range(4))
    for name in names:
        site.html_page("/", "Home", needs, host=name)

    report = await crawl_sites(map(site.url_of, names), output=out, rate_limit=10, same_domain=False)

    assert (report.status, report.successful) == ("ok", 15)
    times = [seen.time for seen in site.requests if seen.host == "shared.localhost"]
    assert times[-1] - times[0] >= (len(times) - 1) * 0.1 - 0.1


async def test_parts_of_one_host_go_one_after_the_other(site: Site, out: Path) -> None:
    """Two start URLs on one host share a folder, so the second begins when the first has ended; the rest goes on."""
    (other,) = settle(site, "other", pages=2)
    site.fill(3, "/a")
    site.fill(3, "/b")
    site.sitemap()

    report = await mirror_sites([f"{site.url}/a/", f"{site.url}/b/", other], output=out, rate_limit=0)

    assert (report.status, report.sites_ok) == ("ok", 3)
    assert (report.total_pages, report.successful) == (8, 8), (
        "the second part's report counts the first part's pages, too"
    )
    assert report.new == 8
    order = [path[1] for path in site.paths() if path.startswith(("/a/0", "/b/0"))]
    assert order == ["a"] * 3 + ["b"] * 3


@pytest.mark.parametrize("limit", [0, 2])
async def test_what_one_part_of_a_host_lacks_is_counted_with_the_other(site: Site, out: Path, limit: int) -> None:
    """A page of the first part fails, others are not reached: the second part, whose scope they are not in, has all."""
    for part in "ab":
        site.fill(4, f"/{part}")
    site.html_page("/c", "C", "<p>c</p>")
    site.sitemap()
    site.fault("/a/0001", faults.status(404))
    for _ in range(2):
        report = await mirror_sites([f"{site.url}/a/", f"{site.url}/b/"], output=out, rate_limit=0, max_pages=limit)
        assert report.status == "partial"
        assert (report.total_pages, report.failed, report.skipped) == (9, 1, 1)
        assert report.successful + report.not_reached == 7
        limit = 0
    assert report.not_reached == 0


async def test_two_ways_into_a_host_count_its_failures_once(site: Site, out: Path) -> None:
    """Two crawls of one host, which have one scope."""
    site.html_page("/", "Home", '<a href="/a">a</a><a href="/b">b</a>')
    site.html_page("/a", "A", '<a href="/">home</a>')
    site.fault("/b", faults.status(404))
    report = await crawl_sites([f"{site.url}/", f"{site.url}/a"], output=out, rate_limit=0, whole_site=True)
    assert (report.total_pages, report.successful, report.failed) == (3, 2, 1)


async def test_sites_that_list_each_other_wait_for_each_other(site: Site, out: Path) -> None:
    """A site whose sitemap lists pages of another one's host is begun again when that one has let go of the folder."""
    docs, blog = settle(site, "docs.town", "blog.town", pages=3)
    shared = f"{blog}page/0001"
    pages = [f"{docs}page/000{number}" for number in (1, 2, 3)]
    site.sitemap(urls=[*pages, shared], host="docs.town.localhost")
    site.fault("/page/0003", faults.slow(0.5), host="blog.town.localhost")

    report = await mirror_sites([docs, blog], output=out, rate_limit=0)

    assert [(entry.status, entry.error) for entry in report.sites] == [("ok", None), ("ok", None)]
    assert isinstance(report.sites[0], MirrorReport)
    assert report.sites[0].successful == 4


async def test_a_family_of_sites_that_all_list_each_other(site: Site, out: Path) -> None:
    """Whoever was in another's way waits until none of the family is under way, so that all of them get there."""
    names = [f"{name}.town" for name in ("a", "b", "c", "d", "e", "f")]
    homes = settle(site, *names, pages=3)
    every = [f"{home}page/000{number}" for home in homes for number in (1, 2, 3)]
    for name in names:
        site.sitemap(urls=every, host=f"{name}.localhost")

    report = await mirror_sites(homes, output=out, rate_limit=0)

    assert [(entry.status, entry.error) for entry in report.sites] == [("ok", None)] * 6
    assert all(isinstance(entry, MirrorReport) and entry.successful == 18 for entry in report.sites)


async def test_sites_that_all_redirect_to_one_place_take_turns(site: Site, out: Path) -> None:
    """Eight names of a site, which is listed, too: each is begun when another has ended, and none fails for it."""
    (home,) = settle(site, "home", pages=2)
    names = [f"name{number}.localhost" for number in range(8)]
    for name in names:
        site.fault("*", faults.redirect_to(home), host=name)

    report = await mirror_sites([home, *map(site.url_of, names)], output=out, rate_limit=0)

    assert [(entry.status, entry.error) for entry in report.sites] == [("ok", None)] * 9
    assert (report.total_pages, report.new) == (2, 2)


async def test_one_host_with_two_outputs_is_asked_as_if_it_had_one(site: Site, out: Path) -> None:
    """Each of the two has its own pace, so they go one after the other."""
    site.sitemap(urls=site.fill(4))
    sites = [{"url": site.url, "output": out / name} for name in ("one", "two")]

    report = await mirror_sites(sites, rate_limit=0)

    assert (report.status, report.successful) == ("ok", 8)
    pages = [path for path in site.paths() if path.startswith("/page")]
    assert pages == pages[:4] * 2


async def test_repeated_site_is_mirrored_once(site: Site, out: Path) -> None:
    """The same URL twice, in two spellings, is one site."""
    (url,) = settle(site, "a")
    report = await mirror_sites([url, url.removesuffix("/"), url.upper().replace("HTTP", "http")], output=out)
    assert (report.total_sites, report.successful) == (1, 3)
    assert len(site.requests) == len({seen.path for seen in site.requests})


@pytest.mark.parametrize(
    ("sites", "message"),
    [
        ([], "no site to mirror"),
        (["https://a.example/", "htp://b.example/"], "'htp://b.example/' is not a URL that can be mirrored"),
        ([{"output": "x"}], "a site has no url"),
        ([{"url": "https://a.example/", "workers": 2}], "https://a.example/: workers applies to all sites"),
        ([{"url": "https://a.example/", "rate_limit": -1}], "https://a.example/: rate_limit must be 0 or more, got -1"),
        (["https://a.example/", {"url": "a.example", "update": True}], "https://a.example/ is listed twice with"),
        ("https://a.example/", "give a list of sites, not one"),
    ],
)
def test_mistakes_are_found_before_anything_begins(sites: list[str], message: str) -> None:
    """What cannot be is refused when the run is made, and says which site it is about."""
    with pytest.raises(UsageError) as refused:
        mirror_sites(sites)
    assert refused.value.message.startswith(message)
    assert refused.value.hint


async def test_no_site_waits_for_the_disk_of_another(site: Site, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Manifest and contents of a site that ends are forced onto the disk while requests of the others go on."""
    fsync, waited = os.fsync, list[threading.Thread]()

    def waits(fd: int) -> None:
        waited.append(threading.current_thread())
        fsync(fd)

    monkeypatch.setattr(os, "fsync", waits)
    report = await mirror_sites(settle(site, "a", "b", pages=2), output=out, rate_limit=0)

    assert report.status == "ok"
    assert len(waited) >= 4
    assert threading.current_thread() not in waited
