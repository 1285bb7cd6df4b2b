"""A run of fourteen hours at one request a second, on a clock that does not wait: pace and counters stay right.

`python -m tests.faults.long_run` simulates all 50,400 seconds; the test a part of them. The run crosses midnight, and
the wall clock is set back an hour, forward two days and back again while it goes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sitemirror import mirror
from sitemirror.events import Event, PageSaved, Progress
from tests.fetch.clocks import JumpingClock
from tests.site import Site

_BEGINS = datetime(2026, 3, 28, 23, 59, tzinfo=UTC)


class RestlessClock(JumpingClock):
    """Its wall time is set by somebody else now and then; its monotonic time is not."""

    def __init__(self, jumps: dict[int, timedelta]) -> None:
        super().__init__()
        self._jumps = jumps

    def now(self) -> datetime:
        passed = self.time - 1000.0
        return _BEGINS + timedelta(seconds=passed) + sum(
            (jump for second, jump in self._jumps.items() if passed >= second), timedelta()
        )  # fmt: skip


def simulate(pages: int, output: Path) -> str:
    """Mirrors `pages` pages and checks everything that time is part of. Gives a line about it."""
    third = pages // 3
    clock = RestlessClock({third: timedelta(hours=-1), third + 500: timedelta(days=2), 2 * third: timedelta(days=-2)})
    seen: list[Progress] = []
    saved: list[float] = []

    def look(event: Event) -> None:
        if isinstance(event, Progress):
            seen.append(event)
        elif isinstance(event, PageSaved):
            saved.append(clock.time)

    with Site() as site:
        site.sitemap(urls=site.fill(pages))
        begun = time.monotonic()

        async def run() -> None:
            # Requests are timed by the real clock, on which a busy machine may lose half a minute.
            report = await mirror(site.url, output=output, clock=clock, on_event=look, max_pages=0, timeout=600)
            assert (report.status, report.successful, report.failed) == ("ok", pages, 0)
            # HEAD of the start page, robots.txt and the sitemap come before the pages; each waits for its turn.
            assert pages <= report.elapsed_sec <= pages + 10

        asyncio.run(run())
        took = time.monotonic() - begun
        requests = [one.path for one in site.requests if one.path.startswith("/page")]
        asked = len(site.requests)
        folder = output / f"127.0.0.1_{site.port}"
    assert len(requests) == len(set(requests)) == pages
    minutes = [later - earlier for earlier, later in zip(saved, saved[60:], strict=False)]
    assert min(minutes) > 40  # Up to 16 pages may be on their way to the disk: real time, which this clock cannot know.
    assert max(minutes) < 80
    assert max(clock.slept) <= 1.0
    assert abs(sum(clock.slept) - asked) <= 2
    assert [one.processed for one in seen] == list(range(1, pages + 1))
    assert all(one.total == pages and one.failed == 0 for one in seen)
    for one in seen[60:-1]:
        left = pages - one.processed
        assert 0.65 < one.rate < 1.35, one
        assert one.eta_sec is not None
        assert 0.65 * left - 5 < one.eta_sec < 1.5 * left + 5, one
    manifest = json.loads((folder / "_manifest.json").read_text("utf-8"))
    assert len({page["url"] for page in manifest["pages"]}) == pages
    days = {page["fetched_at"][:10] for page in manifest["pages"]}
    assert len(days) >= 3, days  # before midnight, after it, and where the clock was set forward
    told = json.loads((folder / "_progress.json").read_text("utf-8"))
    assert (told["processed"], told["total"], told["eta_sec"]) == (pages, pages, 0)
    return f"{pages:,} pages in {pages / 3600:.1f} simulated hours, {took:.0f} s of real time: pace and counters right"


def main() -> None:
    """The long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=50_400)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(simulate(given.pages, Path(folder)))


if __name__ == "__main__":
    main()
