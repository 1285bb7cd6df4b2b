"""Output for people: on a terminal the summary without JSON, each error once, colour for errors and warnings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RunCli, clean_environment
from tests.site import Site

pty = pytest.importorskip("pty", reason="only POSIX has terminals of this kind")

RED, YELLOW = "\x1b[31m", "\x1b[33m"


def on_terminal(*arguments: str | Path | float, cwd: Path, **env: str) -> tuple[int, str]:
    """Run `sitemirror` with a terminal as stdout and stderr. Returns the exit code and its output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sitemirror", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env=clean_environment({"TERM": "xterm", **env}),
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65_536)
        except OSError:  # Linux: the other end is closed.
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    return process.wait(20), shown.decode()


def test_a_terminal_gets_the_summary_and_no_json(site: Site, tmp_path: Path) -> None:
    """A person reads the last lines; `--json` adds the report."""
    site.fill(2)
    site.sitemap()
    code, shown = on_terminal("mirror", site.url, "--rate-limit", 0, cwd=tmp_path)
    assert code == 0
    assert "ok: 2 pages saved" in shown
    assert '"status"' not in shown
    code, shown = on_terminal("mirror", site.url, "--rate-limit", 0, "--json", cwd=tmp_path)
    assert '"status": "ok"' in shown


def test_a_pipe_gets_json(site: Site, run_cli: RunCli) -> None:
    """Programs need no option."""
    site.fill(1)
    site.sitemap()
    assert run_cli("mirror", site.url).json["status"] == "ok"


def test_verify_and_list_follow_the_same_rule(site: Site, tmp_path: Path) -> None:
    """`list --format json` asks for JSON as well."""
    site.fill(1)
    site.sitemap()
    assert on_terminal("mirror", site.url, "--rate-limit", 0, cwd=tmp_path)[0] == 0
    assert '"status"' not in on_terminal("verify", "output", cwd=tmp_path)[1]
    assert '"status": "ok"' in on_terminal("verify", "output", "--json", cwd=tmp_path)[1]
    assert '"status"' not in on_terminal("list", site.url, cwd=tmp_path)[1]
    assert '"status": "ok"' in on_terminal("list", site.url, "--format", "json", cwd=tmp_path)[1]


def test_an_error_is_shown_once_and_in_red(site: Site, tmp_path: Path) -> None:
    """The message and the hint, without the same words in JSON."""
    code, shown = on_terminal("mirror", site.url, "--rate-limit", 0, cwd=tmp_path)
    assert code == 1
    assert shown.count("no sitemap found") == 1
    assert f"{RED}sitemirror: error: no sitemap found" in shown


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_failures_and_warnings_are_in_colour(site: Site, tmp_path: Path, quiet: tuple[str, ...]) -> None:
    """In the live display, and in the lines of a quiet run."""
    site.page("/a", "<p>text</p>")
    site.page("/b", "")
    site.sitemap(urls=["/a", "/b", "/missing"])
    _, shown = on_terminal("mirror", site.url, "--rate-limit", 0, *quiet, cwd=tmp_path)
    assert f"{RED}failed: {site.url}/missing (HTTP 404)" in shown
    assert (f"{YELLOW}warning: " in shown) is not bool(quiet)


def test_no_color_is_respected(site: Site, tmp_path: Path) -> None:
    """NO_COLOR turns colour off, and a pipe never gets any."""
    site.sitemap(urls=["/missing"])
    _, shown = on_terminal("mirror", site.url, "--rate-limit", 0, cwd=tmp_path, NO_COLOR="1")
    assert f"failed: {site.url}/missing" in shown
    assert RED not in shown
    assert YELLOW not in shown


def test_no_colour_in_a_pipe(site: Site, run_cli: RunCli) -> None:
    """A log file has no escape codes."""
    done = run_cli("mirror", site.url, env={"TERM": "xterm"})
    assert "error: no sitemap found" in done.stderr
    assert "\x1b" not in done.stderr


def test_convert_on_a_terminal_needs_an_argument(tmp_path: Path) -> None:
    """It would wait for input that nobody means to type."""
    code, shown = on_terminal("convert", cwd=tmp_path)
    assert code == 2
    assert "missing argument 'FILE|URL|-'" in shown


def test_convert_reads_a_pipe(run_cli: RunCli) -> None:
    """Without an argument, and with options."""
    done = run_cli("convert", "--no-front-matter", stdin="<h1>Hello</h1>")
    assert (done.returncode, done.stdout) == (0, "# Hello\n")


def test_strict_exits_with_3_for_partial_runs(site: Site, out: Path, run_cli: RunCli) -> None:
    """A cron job notices missing pages without reading JSON; a complete run is 0 all the same."""
    site.page("/a", "<p>a</p>")
    site.sitemap(urls=["/a", "/missing"])
    arguments = ("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert run_cli(*arguments).returncode == 0
    done = run_cli(*arguments, "--strict")
    assert (done.returncode, done.json["status"]) == (3, "partial")
    site.page("/missing", "<p>here</p>")
    assert run_cli(*arguments, env={"SITEMIRROR_STRICT": "1"}).returncode == 0


def test_strict_holds_for_many_sites(site: Site, out: Path, run_cli: RunCli) -> None:
    """One partial site makes the list partial."""
    site.page("/a", "<p>a</p>")
    site.sitemap(urls=["/a", "/missing"])
    done = run_cli(
        "mirror", "--sites", "-", "--rate-limit", 0, "--output", out, "--strict", stdin=f"# one\n{site.url}\n"
    )
    assert (done.returncode, done.json["total_sites"]) == (3, 1)


def test_permanent_failures_are_counted(site: Site, out: Path, run_cli: RunCli) -> None:
    """404 does not change by trying again, 500 may; and the summary says so."""
    site.page("/a", "<p>a</p>")
    site.sitemap(urls=["/a", "/missing", "/gone"])
    done = run_cli("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert done.json["failed_permanently"] == 2
    assert "all failures are permanent" in done.stderr
    site.page("/busy", "no", status=500)
    site.sitemap(urls=["/a", "/missing", "/busy"])
    done = run_cli("mirror", site.url, "--rate-limit", 0, "--output", out / "other")
    assert (done.json["failed"], done.json["failed_permanently"]) == (2, 1)
    assert "to retry the failed pages, run the same command" in done.stderr


def test_urls_out_of_scope_are_counted_apart(site: Site, out: Path, run_cli: RunCli) -> None:
    """A mirror of one section says what it saved of that, not what it left of the rest."""
    for path in ("/guide/", "/guide/a", "/blog/1", "/blog/2"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap()
    done = run_cli("mirror", f"{site.url}/guide/", "--rate-limit", 0, "--output", out)
    assert done.json["out_of_scope"] == 2
    assert "ok: 2 pages saved; 2 out of scope; " in done.stderr


def test_sites_on_stdin_are_named_in_errors(run_cli: RunCli) -> None:
    """As a file's lines are."""
    done = run_cli("mirror", "--sites", "-", stdin="https://example.com/ twice\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitemirror: error: stdin, line 1: not a single URL\n")
    done = run_cli("mirror", "--sites", "-", stdin="\n")
    assert done.stderr.startswith("sitemirror: error: stdin: no site in it\n")


def test_help_has_common_options_and_help_all_the_rest(run_cli: RunCli) -> None:
    """About a dozen options fit a screen; both ways to ask for help agree."""
    short, long = run_cli("mirror", "--help").stdout, run_cli("mirror", "--help-all").stdout
    assert "--max-pages" in short
    assert "--max-sitemap-size" not in short
    assert "--max-sitemap-size" in long
    options = [line for line in short.splitlines() if line.startswith("  -") and "--help" not in line]
    assert 10 <= len(options) <= 16
    assert run_cli("help", "mirror").stdout == short
    assert run_cli("-V").stdout == run_cli("--version").stdout


def test_bad_json_flag_is_no_report(site: Site, out: Path, run_cli: RunCli) -> None:
    """`--json` changes nothing in a pipe: one object."""
    site.fill(1)
    site.sitemap()
    done = run_cli("mirror", site.url, "--json", "--output", out)
    assert json.loads(done.stdout)["successful"] == 1
