"""`profile=True`: what limited the run, on sites where that is known."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror
from sitemirror.errors import Aborted
from sitemirror.events import PageSaved
from sitemirror.publish.report import MirrorReport, Profile, RunStatus
from sitemirror.stopwatch import Limit, Running, Stage
from tests.run.conftest import Mirror
from tests.site import Site, faults

pytestmark = pytest.mark.slow

PARTS = "".join(
    f"<h2>Part {n}</h2><p>Some <b>text</b> and <a href='#p{n}'>a link</a>.</p><ul><li>one<li>two</ul>"
    for n in range(2000)
)


def profile_of(report: MirrorReport) -> Profile:
    assert report.profile is not None
    return report.profile


def limit_of(profile: Profile) -> Limit:
    """What held the run up, apart from others who had the processor: tests run beside tests."""
    return next(one.limit for one in profile.shares if one.limit is not Limit.MACHINE)


def stage(profile: Profile, name: Stage) -> Any:
    return next(one for one in profile.stages if one.stage is name)


async def test_report_has_no_profile_by_default(site: Site, run: Mirror) -> None:
    """The report has no such key without the option."""
    site.fill(1)
    site.sitemap()
    assert "profile" not in (await run()).to_dict()


async def test_slow_server_is_the_limit(site: Site, run: Mirror) -> None:
    """Time until the response begins is the site's."""
    for path in site.fill(6):
        site.fault(path, faults.slow(0.15))
    site.sitemap()
    profile = profile_of(await run(profile=True))
    assert limit_of(profile) is Limit.SITE
    assert stage(profile, Stage.ANSWER).seconds >= 0.9
    assert stage(profile, Stage.ANSWER).greatest_sec >= 0.15
    assert profile.phases.pages >= 0.9
    assert "--concurrency 1 asks for 1 page at a time" in profile.explanation


async def test_slow_body_is_the_networks(site: Site, run: Mirror) -> None:
    """Time between the head of a response and its end is the network's."""
    for path in site.fill(3):
        site.page(path, f"<p>{path} " + "word " * 100)
        site.fault(path, faults.drip(1500))
    site.sitemap()
    profile = profile_of(await run(profile=True))
    assert limit_of(profile) is Limit.NETWORK
    assert stage(profile, Stage.BODY).seconds > stage(profile, Stage.ANSWER).seconds


async def test_rate_limit_is_the_limit_and_is_named(site: Site, run: Mirror) -> None:
    """Waiting for our own pace is neither the site's fault nor the network's."""
    site.fill(8)
    site.sitemap()
    profile = profile_of(await run(profile=True, rate_limit=0, content_rate_limit=8, concurrency=3))
    assert limit_of(profile) is Limit.RATE_LIMIT
    assert "the rate limit: " in profile.explanation
    assert profile.explanation.endswith("--content-rate-limit 8 allows 8 requests a second")
    assert 0.7 <= stage(profile, Stage.RATE_LIMIT).seconds <= profile.elapsed_sec, "slots wait one at a time"


async def test_retry_after_is_told_from_our_own_rate_limit(site: Site, run: Mirror) -> None:
    """Retry-After is the site's limit, even without a rate limit."""
    (path,) = site.fill(1)
    site.fault(path, faults.status(429, headers={"Retry-After": "1"}), faults.ok())
    site.sitemap()
    profile = profile_of(await run(profile=True))
    assert limit_of(profile) is Limit.ASKED_TO_WAIT
    assert all(one.stage is not Stage.RATE_LIMIT for one in profile.stages)


@pytest.mark.parametrize("workers", [0, 1])
async def test_heavy_pages_make_the_converter_the_limit(site: Site, run: Mirror, workers: int) -> None:
    """Large pages from a fast server: conversion is the limit, in this process or in a worker."""
    for n in range(12):
        site.html_page(f"/heavy/{n}", f"Heavy {n}", f"<p>{n}</p>{PARTS}")
    site.sitemap()
    profile = profile_of(await run(profile=True, workers=workers))
    assert limit_of(profile) is Limit.CONVERTER
    assert stage(profile, Stage.CONVERTING).count == 12
    assert stage(profile, Stage.CONVERSION).seconds >= stage(profile, Stage.CONVERTING).seconds * 0.9


async def test_shares_of_a_crawl_add_up_to_its_time(site: Site, out: Path) -> None:
    """Rewriting links is a stage of its own."""
    links = "".join(f"<a href='/p/{n}'>{n}</a> " for n in range(20))
    site.html_page("/", "Start", links)
    for n in range(20):
        site.html_page(f"/p/{n}", f"Page {n}", f"<p>{n}</p>{links}<img src='/i/{n}.png'>")
        site.page(f"/i/{n}.png", bytes(100), type="image/png")
    profile = profile_of(await crawl(site.url, output=out, rate_limit=0, concurrency=4, profile=True))
    assert stage(profile, Stage.LINKS).count == 21
    assert stage(profile, Stage.SAVING).count >= 41
    assert sum(one.seconds for one in profile.shares) == pytest.approx(profile.elapsed_sec, rel=0.05)
    assert sum(one.share for one in profile.shares) == pytest.approx(1, abs=0.01)
    assert sum(profile.phases.to_dict().values()) == pytest.approx(profile.elapsed_sec, abs=0.01)
    assert 1 <= next(one for one in profile.depths if one.of == "requests").greatest <= 4
    assert profile.cpu_sec > 0


async def test_interrupted_run_has_a_profile(site: Site, out: Path) -> None:
    """It covers the time until the interruption."""
    for path in site.fill(9):
        site.fault(path, faults.slow(0.05))
    site.sitemap()
    started = mirror(site.url, output=out, rate_limit=0, profile=True)
    async for event in started:
        if isinstance(event, PageSaved):
            started.stop()
    assert started.result.status is RunStatus.INTERRUPTED
    assert stage(profile_of(started.result), Stage.SAVING).count >= 1


async def test_failed_run_has_a_profile(site: Site, run: Mirror) -> None:
    """The report of the error has it."""
    paths = site.fill(2)
    for path in paths:
        site.fault(path, faults.status(404))
    site.sitemap()
    with pytest.raises(Aborted) as failed:
        await run(profile=True, on_error="abort")
    report = failed.value.report
    assert isinstance(report, MirrorReport)
    assert stage(profile_of(report), Stage.ANSWER).count >= 1


# --- the rule, on clocks that are set by hand --------------------------------------------------------------------


class Hands:
    """Clocks that only move when told."""

    def __init__(self, concurrency: int = 2) -> None:
        self.wall = self.cpu = self.queued = 0.0
        self.watch = Running(concurrency, lambda: self.wall, lambda: self.cpu, lambda: self.queued)

    def pass_(self, seconds: float, *, busy: float = 0.0, queued: float = 0.0) -> None:
        self.wall += seconds
        self.cpu += busy
        self.queued += queued

    def spent(self) -> dict[Limit, float]:
        self.watch.end()
        return {limit: round(seconds, 9) for limit, seconds in self.watch.limits.items() if seconds}


def test_work_without_cpu_time_is_the_disks() -> None:
    """Of a second of saving with 0.1 s of CPU, 0.2 s were others' and 0.7 s the disk's."""
    hands = Hands()
    with hands.watch.working(Stage.STATE):
        with hands.watch.working(Stage.SAVING):
            hands.pass_(1.0, busy=0.1, queued=0.2)
        hands.pass_(0.5, busy=0.5)
    assert hands.spent() == {Limit.SITEMIRROR: 0.6, Limit.MACHINE: 0.2, Limit.DISK: 0.7}


def test_network_time_is_shared_by_stage() -> None:
    """One request waits for its head, one for its body: half each."""
    hands = Hands()
    with hands.watch.waiting(Stage.ANSWER), hands.watch.waiting(Stage.BODY):
        hands.pass_(2.0)
    assert hands.spent() == {Limit.SITE: 1.0, Limit.NETWORK: 1.0}
    assert hands.watch.most_requests == 2


def test_conversion_is_the_limit_only_with_a_free_slot() -> None:
    """With all slots in use the site is the limit."""
    hands = Hands(concurrency=2)
    with hands.watch.waiting(Stage.CONVERSION), hands.watch.waiting(Stage.ANSWER):
        hands.pass_(1.0)
        with hands.watch.waiting(Stage.ANSWER):
            hands.pass_(5.0)
    assert hands.spent() == {Limit.CONVERTER: 1.0, Limit.SITE: 5.0}


def test_delayed_request_counts_before_all_others() -> None:
    """A request that could be sent and has to wait is the limit, whatever else is under way."""
    hands = Hands()
    with (
        hands.watch.waiting(Stage.ANSWER),
        hands.watch.waiting(Stage.CONVERSION),
        hands.watch.waiting(Stage.RATE_LIMIT),
    ):
        hands.pass_(1.0, busy=0.25)
    assert hands.spent() == {Limit.RATE_LIMIT: 0.75, Limit.SITEMIRROR: 0.25}


async def test_cancelled_wait_is_not_counted() -> None:
    """A stop in the middle of a wait leaves nothing counted as under way."""
    hands = Hands()

    async def wait() -> None:
        with hands.watch.waiting(Stage.ANSWER):
            await asyncio.sleep(60)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    hands.pass_(1.0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    hands.pass_(2.0)
    assert hands.spent() == {Limit.SITE: 1.0, Limit.OTHER: 2.0}
