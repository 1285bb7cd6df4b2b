"""An exhausted quota, for a page or for the state: a clear stop, and the next run resumes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Finished, clean_environment
from tests.faults.quota import NEVER, possible
from tests.site import Site

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not possible(), reason="needs Linux on a machine whose system calls are known here")


def _run(site: Site, out: Path, most: int, place: int) -> Finished:
    # Slow enough to need no workers, as a rule: the filter would refuse what they send through their pipes, too.
    program = [sys.executable, "-m", "sitemirror", "mirror", site.url, "--rate-limit", "50", "--output", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.quota", str(most), str(place), *program],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=ROOT,
        env=clean_environment(None),
    )
    if "takes no filter" in done.stderr:
        pytest.skip("the kernel takes no seccomp filter here")
    return Finished(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("pages", "most", "place"),
    # So few in the first that no workers are started for them on a busy machine, either.
    [(20, 90_000, NEVER), (150, NEVER, 200_000), (150, NEVER, 0)],
    ids=["page", "log", "all"],
)
def test_exhausted_quota_stops_the_run(site: Site, out: Path, pages: int, most: int, place: int) -> None:
    """A page that is too much, a state that may not grow, or may not be written at all."""
    paths = site.fill(pages)
    site.html_page("/big", "Big", f"<p>{'All of it. ' * 10_000}</p>")
    site.sitemap(urls=[*paths, "/big"])
    stopped = _run(site, out, most, place)
    assert (stopped.returncode, stopped.json["status"]) == (1, "error"), stopped.stderr
    assert any(word in stopped.json["error"] for word in ("disk", "quota")), stopped.json["error"]
    assert stopped.json["hint"]
    assert "Traceback" not in stopped.stderr
    again = _run(site, out, NEVER, NEVER)
    assert (again.returncode, again.json["status"], again.json["successful"]) == (0, "ok", pages + 1), again.stderr
    assert not list(out.rglob("*.corrupt"))
    assert not list(out.rglob("*.tmp"))
    assert len(list(out.rglob("index.md"))) == pages + 1
    # After a page was refused, or the state in the middle of a run, most of the others need not be fetched again.
    if place:
        assert len(site.paths()) < 2 * (pages + 1)


def test_quota_exhausted_between_two_runs(site: Site, out: Path) -> None:
    """A good state that cannot be opened for lack of space is not taken for a damaged one."""
    site.sitemap(urls=site.fill(5))
    assert _run(site, out, NEVER, NEVER).returncode == 0
    refused = _run(site, out, NEVER, 0)
    assert (refused.returncode, refused.json["status"]) == (1, "error"), refused.stderr
    assert refused.json["hint"]
    assert not list(out.rglob("*.corrupt"))
    assert _run(site, out, NEVER, NEVER).json["successful"] == 5
    assert sum(site.count(f"/page/{number}") for number in range(10)) <= 5
