"""Whole commands against a real site: what the person and the next program get."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sitemirror import list_site_sync
from tests.conftest import RunCli, RunHere, StartCli, clean_environment
from tests.site import Site, faults

FAST = ("--rate-limit", "0")

DOOR = [
    sys.executable,
    "-c",
    "import sys; from sitemirror.cli import sitemap_to_markdown; sys.exit(sitemap_to_markdown())",
]


@pytest.fixture
def small(site: Site) -> Site:
    """Three pages and their sitemap."""
    site.fill(3)
    site.sitemap()
    return site


def door(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DOOR, *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8", timeout=50, check=False
    )


def test_mirror_reports_on_stdout(small: Site, run_cli: RunCli, tmp_path: Path) -> None:
    """stderr has one line per page and a summary with an existing manifest."""
    done = run_cli("mirror", small.url, *FAST)
    assert done.returncode == 0, done.stderr
    assert done.json["status"] == "ok"
    assert done.json["successful"] == 3
    for number in (1, 2, 3):
        assert f"[{number}/3] Processing: {small.url}/page/" in done.stderr
    assert "ok: 3 pages saved" in done.stderr
    assert f"manifest: {done.json['manifest']}" in done.stderr
    assert (tmp_path / done.json["manifest"]).is_file()


def test_quiet_prints_only_the_report(small: Site, run_cli: RunCli) -> None:
    """--quiet: nothing on stderr."""
    done = run_cli("mirror", small.url, *FAST, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.json["successful"] == 3


def test_list_prints_json_or_the_outline(small: Site, run_here: RunHere, tmp_path: Path) -> None:
    """`--format md` prints the outline that was written."""
    as_json = run_here("list", small.url, *FAST)
    assert as_json.returncode == 0, as_json.stderr
    assert as_json.json["total_urls"] == 3
    as_markdown = run_here("list", small.url, *FAST, "--format", "md")
    assert as_markdown.returncode == 0
    [written] = [line[9:] for line in as_markdown.stderr.splitlines() if line.startswith("outline: ")]
    assert as_markdown.stdout == (tmp_path / written).read_text(encoding="utf-8")
    assert "/page/0001" in as_markdown.stdout


def test_options_about_links_without_links_give_a_note(small: Site, run_here: RunHere) -> None:
    """--link-depth has no effect on sitemaps, and a note says so."""
    auto = run_here("mirror", small.url, *FAST, "--link-depth", 0).stderr.splitlines()
    assert "note: --link-depth has an effect only if links are followed" in auto
    forced = run_here("mirror", small.url, *FAST, "--link-depth", 0, "--discover", "sitemap").stderr.splitlines()
    assert "note: --link-depth has an effect only with --discover links" in forced
    crawled = run_here("mirror", small.url, *FAST, "--link-depth", 0, "--discover", "links", "--output", "other")
    assert "note: " not in crawled.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["where", "https://example.com/"], ["mirror", "--help"]])
def test_full_disk_behind_stdout(arguments: list[str]) -> None:
    """No traceback, and exit code 1."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "sitemirror", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
    assert done.returncode == 1
    said = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("note: "))
    assert said.startswith(
        "sitemirror: error: cannot write to stdout: No space left on device\nhint: free some space, or "
    )


def test_sitemap_index_is_announced(small: Site, run_here: RunHere) -> None:
    """stderr has the number of sitemaps; the index lists no pages."""
    small.sitemap_index("/index.xml", ["/sitemap.xml", "/none.xml"])
    done = run_here("list", f"{small.url}/index.xml", *FAST)
    assert f"sitemap: {small.url}/index.xml: 2 sitemaps\n" in done.stderr
    assert f"sitemap: {small.url}/sitemap.xml: 3 URLs\n" in done.stderr
    assert [row["urls"] for row in done.json["sitemaps"]] == [0, 3, 0]


def test_retried_sitemap_is_announced(small: Site, run_here: RunHere) -> None:
    """Once it is read, no warning remains."""
    small.fault("/sitemap.xml", faults.status(503), faults.ok())
    done = run_here("list", small.url, *FAST)
    assert f"warning: sitemap {small.url}/sitemap.xml: HTTP 503; will be tried again\n" in done.stderr
    assert done.json["warnings"] == []


def test_each_list_run_writes_a_new_outline(small: Site, out: Path) -> None:
    """Runs within one second do not overwrite each other's."""
    named = [list_site_sync(small.url, rate_limit=0, output=out).outline for _ in range(4)]
    found = {str(path) for path in out.glob("*/sitemap-*.md")}
    assert (len(found), found) == (4, set(named))
    assert all(re.fullmatch(r"sitemap-\d{8}-\d{6}(-\d+)?\.md", Path(str(name)).name) for name in named)


def test_where_answers_both_ways(small: Site, run_cli: RunCli) -> None:
    """URL to file and file to URL, one line each."""
    run_cli("mirror", small.url, *FAST)
    there = run_cli("where", f"{small.url}/page/0001")
    assert there.returncode == 0, there.stderr
    assert there.stdout.count("\n") == 1
    back = run_cli("where", there.stdout.strip())
    assert back.stdout == f"{small.url}/page/0001\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("mirror", "ftp://example.com/"), 2),
        (("mirror", "http://"), 2),
        (("list", "http://exa mple.com/"), 2),
        (("where", "javascript:alert(1)"), 2),
        (("mirror", "http://127.0.0.1:1/"), 1),
    ],
)
def test_invalid_urls_give_a_hint(run_here: RunHere, arguments: tuple[str, ...], code: int) -> None:
    """An invalid URL is wrong usage; an unreachable site is a failed run with JSON."""
    done = run_here(*arguments, *(FAST if arguments[0] != "where" else ()))
    assert done.returncode == code, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("sitemirror: error: ")]
    assert len(errors) == 1
    assert "unexpected" not in errors[0]
    assert "unexpected" not in errors[0]
    assert done.stderr.splitlines()[-1].startswith("hint: ")
    if code == 2:
        assert done.stdout == ""
    else:
        assert done.json["status"] == "error"
        assert done.json["hint"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_mirror_resumes(site: Site, start_cli: StartCli, run_cli: RunCli, number: int, code: int) -> None:
    """Ctrl+C ends requests in flight and prints a report; the same command then fetches only the rest."""
    paths = site.fill(20)
    site.sitemap()
    for path in paths[5:]:
        site.fault(path, faults.slow(30))
    process = start_cli("mirror", site.url, *FAST)
    deadline = time.monotonic() + 15
    while not any(site.count(path) for path in paths[5:]) and time.monotonic() < deadline:
        time.sleep(0.01)
    began = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=25)
    assert time.monotonic() - began < 20  # the answers come after 30 s
    report = json.loads(out)
    assert (process.returncode, report["status"]) == (code, "interrupted")
    assert f"to resume, run the same command: sitemirror mirror {site.url}" in err
    for path in paths:
        site.heal(path)
    site.clear_log()
    done = run_cli("mirror", site.url, *FAST)
    assert done.json["successful"] == 20
    assert not set(paths[:5]) & set(site.paths())


def test_sitemap_to_markdown_lists_by_default(small: Site, tmp_path: Path) -> None:
    """An outline by default or with --list-only, pages with --mirror."""
    plain = door(tmp_path, "--url", small.url, *FAST)
    assert plain.returncode == 0, plain.stderr
    assert json.loads(plain.stdout)["command"] == "list"
    said_aloud = door(tmp_path, "--url", small.url, "--list-only", *FAST)
    assert json.loads(said_aloud.stdout)["command"] == "list"
    mirrored = door(tmp_path, "--url", small.url, "--mirror", *FAST, "--concurrency", "2")
    assert json.loads(mirrored.stdout)["command"] == "mirror"
    assert json.loads(mirrored.stdout)["successful"] == 3
    assert "note:" not in mirrored.stderr


def test_sitemap_to_markdown_names_options_without_effect(small: Site, tmp_path: Path) -> None:
    """A mirror option without --mirror is accepted, with a note that it has no effect."""
    done = door(tmp_path, "--url", small.url, *FAST, "--concurrency", "2", "--update")
    assert done.returncode == 0, done.stderr
    assert "note: --concurrency, --update have an effect only with --mirror\n" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
def test_early_interrupt_reports_the_existing_mirror(small: Site, run_cli: RunCli, start_cli: StartCli) -> None:
    """The report has the counts of the previous run."""
    before = run_cli("mirror", small.url, *FAST).json
    small.clear_log()
    small.fault("*", faults.slow(30))
    process = start_cli("mirror", small.url, *FAST)
    small.wait_for(1, timeout=20)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=25)
    after = json.loads(out)
    assert after["status"] == "interrupted"
    told = ("output_dir", "total_pages", "successful", "failed", "skipped", "duplicates", "manifest", "index")
    assert {name: after[name] for name in told} == {name: before[name] for name in told}
    assert f"interrupted: {before['successful']} pages: 0 new, {before['successful']} saved earlier" in err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("command", ["list", "mirror"])
def test_early_interrupt_ends_with_130(site: Site, start_cli: StartCli, command: str) -> None:
    """Ctrl+C before the first answer still prints one JSON object, without waiting for the answer."""
    site.fault("*", faults.slow(30))
    process = start_cli(command, site.url, *FAST)
    site.wait_for(1, timeout=20)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=25)
    assert time.monotonic() - began < 20  # the answer comes after 30 s
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted"
    assert "run the same command: sitemirror" in err


def test_aborted_run_reports_what_it_kept(site: Site, out: Path, run_here: RunHere) -> None:
    """Before the error and its hint; `--quiet` prints only these two."""
    paths = site.fill(4)
    site.sitemap()
    site.fault(paths[2], faults.status(500))
    command = ("mirror", site.url, "--rate-limit", 0, "--max-retries", 0, "--on-error", "abort", "--output", out)
    done = run_here(*command)
    *_, kept, manifest, contents, error, hint = done.stderr.splitlines()
    assert kept.startswith("error: 4 URLs in scope: 2 pages saved, 1 failed, 1 not reached; ")
    assert manifest == f"manifest: {done.json['manifest']}"
    assert contents == f"contents: {done.json['index']}"
    assert error == f"sitemirror: error: {site.url}{paths[2]} failed: HTTP 500"
    assert hint.startswith("hint: run the same command to go on")
    assert len(run_here(*command, "--quiet").stderr.splitlines()) <= 3


def test_redundant_options_give_a_note(site: Site, out: Path, run_here: RunHere) -> None:
    """Both are allowed together, and one of them has no effect."""
    site.fill(1)
    site.sitemap()
    command = ("mirror", site.url, "--rate-limit", 0, "--output", out, "--re-download-all")
    assert "note: " not in run_here(*command).stderr
    assert "note: --update has no effect with --re-download-all" in run_here(*command, "--update").stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--respect-robots",), "not one page could be saved: disallowed by robots.txt"),
        ((), "not one page could be saved: HTTP 403 and other reasons"),
        (("--include-path", "*/0003"), "not one page could be saved: HTTP 404"),
    ],
)
def test_run_without_pages_has_a_reason(
    site: Site, out: Path, run_cli: RunCli, options: tuple[str, ...], why: str
) -> None:
    """The error message has the reason."""
    site.robots("User-agent: *\nDisallow: /\n")
    for path, status in zip(site.fill(3), (403, 403, 404), strict=True):
        site.fault(path, faults.status(status))
    site.sitemap()
    done = run_cli("mirror", site.url, "--rate-limit", 0, "--output", out, *options)
    assert (done.returncode, done.json["error"]) == (1, why)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
@pytest.mark.parametrize("command", ["list", "mirror", "crawl"])
def test_too_few_open_files_are_reported_before_the_run(small: Site, out: Path, command: str) -> None:
    """The message has the limit and how to raise it."""
    program = f'exec "{sys.executable}" -m sitemirror {command} {small.url} --output "{out}"'
    limited = ["sh", "-c", f"ulimit -n 14; {program}"]
    done = subprocess.run(limited, capture_output=True, text=True, env=clean_environment(None), check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "sitemirror: error: only 14 files may be open at once, but 32 are needed\n"
        "hint: allow more open files (ulimit -n 1024), then run the same command\n"
    )
    assert json.loads(done.stdout)["status"] == "error"
    assert small.requests == []


def test_huge_timeout_is_accepted(small: Site, out: Path, run_here: RunHere) -> None:
    """A huge timeout does not fail a crawl at its last step."""
    done = run_here("crawl", f"{small.url}/page/0001", *FAST, "--timeout", "1e30", "--output", out)
    assert (done.returncode, done.json["status"]) == (0, "ok")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_verify_prints_json(
    site: Site, out: Path, run_cli: RunCli, start_cli: StartCli, number: signal.Signals
) -> None:
    """The exit code depends on the signal."""
    site.fill(1)
    site.sitemap()
    run_cli("mirror", site.url, *FAST, "--output", out)
    (manifest,) = out.glob("*/_manifest.json")
    content = json.loads(manifest.read_text())
    (page,) = content["pages"]
    # It can only end before these problems have been read, of which no pipe takes all.
    content["pages"] += [{**page, "url": f"{page['url']}-{each}", "path": f"{each}/{'x' * 90}"} for each in range(3000)]
    manifest.write_text(json.dumps(content))
    process = start_cli("verify", out)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=40)
    assert "Traceback" not in stderr
    assert (process.returncode, json.loads(stdout)["status"]) == (128 + number, "interrupted")


@pytest.mark.skipif(os.name == "nt", reason="a shell that can close streams is needed")
def test_closed_stdin_is_reported(tmp_path: Path) -> None:
    """`convert -` with a closed stdin is an error."""
    program = f'exec "{sys.executable}" -m sitemirror convert - <&-'
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "sitemirror: error: stdin is closed\nhint: redirect a page to it, or name a file\n"
