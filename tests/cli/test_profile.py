"""`--profile` on the command line: a sentence and a table for people, an object in the JSON for programs."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunCli, RunHere
from tests.site import Site, faults


def test_profile_shows_the_limit_and_the_stages(site: Site, run_cli: RunCli) -> None:
    """The sentence on stderr is the one in the JSON; the table has the stages that occurred."""
    site.fill(4)
    site.sitemap()
    done = run_cli("mirror", site.url, "--rate-limit", "5", "--profile")
    profile = done.json["profile"]
    limits = [one["limit"] for one in profile["shares"] if one["limit"] != "machine"]  # Tests run beside tests.
    assert limits[0] == "rate_limit"
    assert profile["explanation"].endswith("--rate-limit 5 allows 5 requests a second")
    assert f"limit: {profile['explanation']}" in done.stderr
    rows = [line.split() for line in done.stderr.splitlines()]
    assert ["stage", "seconds", "count", "mean", "ms", "longest", "ms"] in rows
    assert any(row[:1] == ["saving"] and row[2] == "4" for row in rows)
    assert "rate limit (wait)" in done.stderr
    assert "requests" in done.stderr.split("at once, on average: ")[1]


def test_failed_run_prints_profile_before_error(site: Site, run_here: RunHere) -> None:
    """The error is the last line."""
    for path in site.fill(1):
        site.fault(path, faults.status(404))
    site.sitemap()
    done = run_here("mirror", site.url, "--rate-limit", "0", "--on-error", "abort", "--profile")
    assert done.returncode == 1
    assert "profile" in done.json
    assert 0 < done.stderr.index("limit: ") < done.stderr.index("sitemirror: error: ")


def test_quiet_profile_is_only_in_the_json(site: Site, run_here: RunHere) -> None:
    """--quiet prints no profile on stderr."""
    site.fill(1)
    site.sitemap()
    done = run_here("mirror", site.url, "--rate-limit", "0", "--quiet", "--profile")
    assert done.stderr == ""
    assert done.json["profile"]["stages"]


def test_list_has_no_profile_option(site: Site, run_here: RunHere) -> None:
    """Only commands that fetch pages have it."""
    assert run_here("list", site.url, "--profile").returncode == 2


def test_each_site_has_a_profile(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """One line per site on stderr, and the profile of each in the JSON."""
    site.fill(2)
    site.sitemap()
    listed = tmp_path / "sites.txt"
    listed.write_text(f"{site.url}\n", encoding="utf-8")
    done = run_here("mirror", "--sites", listed, "--rate-limit", "0", "--profile")
    (only,) = done.json["sites"]
    assert sum(one["seconds"] for one in only["profile"]["shares"]) > 0
    line, last = done.stderr.splitlines()[-2:]
    assert line.startswith(f"{site.url}/ (")
    assert line.endswith(f": limit: {only['profile']['explanation']}")
    assert last == "the stages of each site: profile in the JSON"
    assert "profile" not in run_here("mirror", "--sites", listed, "--rate-limit", "0").stderr
