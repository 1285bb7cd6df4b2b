"""`sitemirror mirror --sites FILE` as a user runs it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sitemirror.cli.commands import run_program
from sitemirror.cli.help import help_of
from tests.conftest import RunHere, StartCli, until
from tests.site import Site, faults
from tests.sites.towns import listed, saved, settle

FAST = ("--rate-limit", 0)


def test_a_list_in_a_text_file(site: Site, out: Path, run_here: RunHere, tmp_path: Path) -> None:
    """One URL a line, with remarks: one JSON object on stdout, a line for each site and a summary on stderr."""
    first, second = settle(site, "a", "b")
    file = tmp_path / "sites.txt"
    file.write_text(f"# our sites\n\n{first}\n  {second}   # the other\n{first}\n", encoding="utf-8")

    done = run_here("mirror", "--sites", file, *FAST, "--output", out)

    assert done.returncode == 0, done.stderr
    assert (done.json["status"], done.json["total_sites"], done.json["successful"]) == ("ok", 2, 6)
    assert [entry["url"] for entry in done.json["sites"]] == [first, second]
    assert "[6/6] Processing: " in done.stderr
    assert "site 2 of 2: ok: " in done.stderr
    assert "ok: 2 sites (2 ok): 6 pages saved; " in done.stderr
    assert len(saved(out, site, "a")) == len(saved(out, site, "b")) == 3


@pytest.mark.parametrize(
    ("program", "options"), [("sitemap_to_markdown", ["--mirror"]), ("mirror_site", ["--discover", "sitemap"])]
)
def test_the_older_programs_take_a_list(
    program: str, options: list[str], site: Site, out: Path, tmp_path: Path
) -> None:
    """They are doors onto the same options."""
    file = listed(tmp_path, settle(site, "a", "b"))
    door = f"import sys; from sitemirror.cli import {program}; sys.exit({program}())"
    words = ["--sites", str(file), *options, "--rate-limit", "0", "--output", str(out)]
    done = subprocess.run(
        [sys.executable, "-c", door, *words], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total_sites"] == 2


def test_an_outline_is_of_one_site(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --mirror a list is refused, and so are both and neither."""
    for arguments, message in (
        (["--sites", "s.txt"], "--sites FILE needs --mirror"),
        (["--sites", "s.txt", "--url", "https://a.example/", "--mirror"], "exclude each other"),
        (["--mirror"], "missing option '--url'"),
    ):
        assert run_program("sitemap-to-markdown", arguments) == 2
        assert message in capsys.readouterr().err
    assert run_program("mirror-site", ["--quiet"]) == 2
    assert capsys.readouterr().err.endswith("hint: see `mirror-site --help`\n")


@pytest.mark.parametrize("path", ["sitemirror mirror", "sitemirror crawl", "mirror-site", "sitemap-to-markdown"])
def test_help_that_speaks_of_sites_has_them(path: str) -> None:
    """--max-connections counts with --sites, so --sites is an option wherever it is."""
    shown = help_of(path, io.StringIO(), all_options=True)
    assert "--max-connections" in shown
    assert "  --sites FILE" in shown


def test_a_list_in_toml(site: Site, out: Path, run_here: RunHere, tmp_path: Path) -> None:
    """What stands nearest to a site counts: its table, then the top of the file, then the command line."""
    settle(site, "a", "b", pages=4)
    file = tmp_path / "sites.toml"
    file.write_text(
        f"""
rate-limit = 0
max-pages = 2
[[site]]
url = "{site.url_of("a.localhost")}"
[[site]]
url = "{site.url_of("b.localhost")}"
max_pages = 3
front-matter = false
""",
        encoding="utf-8",
    )
    done = run_here("mirror", "--sites", file, "--max-pages", 1, "--rate-limit", 0.01, "--output", out, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert [entry["successful"] for entry in done.json["sites"]] == [2, 3]
    assert done.json["status"] == "partial"


def test_a_failed_site_is_named(site: Site, out: Path, run_here: RunHere, tmp_path: Path) -> None:
    """Exit code 1, and stderr says which site failed and why, also in a quiet run; the others are saved."""
    (good,) = settle(site, "good")
    bad = site.url_of("empty.localhost") + "/"
    done = run_here("mirror", "--sites", listed(tmp_path, [bad, good]), *FAST, "--output", out, "--quiet")
    assert done.returncode == 1
    assert f": error: {bad} (no sitemap found for {bad} (" in done.stderr
    assert good not in done.stderr
    assert f"1 of 2 sites failed: {bad}" in done.stderr
    assert [entry["status"] for entry in done.json["sites"]] == ["error", "ok"]
    assert "no sitemap found" in done.json["sites"][0]["error"]
    assert (done.json["status"], done.json["sites_failed"], done.json["successful"]) == ("error", 1, 3)


def test_sites_with_and_without_a_sitemap(site: Site, out: Path, run_here: RunHere, tmp_path: Path) -> None:
    """Links are followed where there is no sitemap, and a line says for which site."""
    (listing,) = settle(site, "listing")
    site.html_page("/", "Home", '<p>Home <a href="/p">p</a></p>', host="bare.localhost")
    site.html_page("/p", "P", "<p>p</p>", host="bare.localhost")
    bare = site.url_of("bare.localhost") + "/"
    done = run_here("mirror", "--sites", listed(tmp_path, [listing, bare]), *FAST, "--output", out)
    assert [entry["successful"] for entry in done.json["sites"]] == [3, 2]
    said = [line for line in done.stderr.splitlines() if "links are followed" in line]
    assert len(said) == 1
    assert said[0].startswith(f"warning: {bare}: no sitemap found")


WRONG = [
    ("missing.txt", None, "missing.txt: cannot be read: "),
    ("empty.txt", "# nothing\n\n", "empty.txt: no site in it"),
    ("options.txt", "http://a.example/\nhttp://b.example/ --rate-limit 4\n", "options.txt, line 2: not a single URL"),
    ("bad.txt", "https://a.example/\n\nftp://b.example/\n", "bad.txt, line 3: 'ftp://b.example/' is not a URL"),
    ("secret.txt", "https://u:p@a.example/\n", "secret.txt, line 1: the URL carries credentials"),
    ("empty.toml", "rate-limit = 2\n", "empty.toml: no site in it"),
    ("broken.toml", "[[site]\n", "broken.toml: not valid TOML: "),
    ("plain.toml", "http://a.example/\n", "plain.toml: not valid TOML: "),
    ("plural.toml", '[[sites]]\nurl = "a.example"\n', "plural.toml: unknown key sites"),
    ("flat.toml", "site = 3\n", "flat.toml: site is not a list of tables"),
    ("single.toml", '[site]\nurl = "a.example"\n', "single.toml: site is not a list of tables"),
    ("bare.toml", 'url = "a.example"\n', "bare.toml: url outside of a [[site]]"),
    ("nameless.toml", "[[site]]\nupdate = true\n", "nameless.toml: site 1 has no url"),
    ("bad.toml", '[[site]]\nurl = "htp://a"\n', "bad.toml: 'htp://a' is not a URL"),
    ("typo.toml", '[[site]]\nurl = "a.example"\nrate-limt = 2\n', "typo.toml: a.example: unknown key rate-limt"),
    ("top.toml", 'rate-limt = 2\n[[site]]\nurl = "a.example"\n', "top.toml: unknown key rate-limt"),
    (
        "value.toml",
        '[[site]]\nurl = "a.example"\nconcurrency = 0\n',
        "value.toml: a.example: concurrency must be 1 or more, got 0",
    ),
    (
        "choice.toml",
        '[[site]]\nurl = "a.example"\nformat = "md"\n',
        "choice.toml: a.example: format must be one of markdown, html, both, got md",
    ),
    (
        "common.toml",
        '[[site]]\nurl = "a.example"\nworkers = 2\n',
        "common.toml: a.example: workers applies to all sites",
    ),
    ("talk.toml", 'quiet = true\n[[site]]\nurl = "a.example"\n', "talk.toml: quiet applies to all sites"),
    (
        "twice.toml",
        '[[site]]\nurl = "a.example"\n[[site]]\nurl = "https://a.example/"\nupdate = true\n',
        "https://a.example/ is listed twice with different options",
    ),
]


@pytest.mark.parametrize(
    ("key", "hint"), [("quiet = true", "on the command line"), ("workers = 2", "once, before the first [[site]]")]
)
def test_hint_names_the_place_of_a_key_for_all_sites(
    key: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Following the hint gives no second error."""
    from sitemirror.cli.commands import run_program

    file = tmp_path / "sites.toml"
    file.write_text(f'[[site]]\nurl = "a.example"\n{key}\n', encoding="utf-8")
    assert run_program("sitemirror", ["mirror", "--sites", str(file)]) == 2
    assert f"hint: give it {hint}" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "text", "message"), WRONG, ids=[name for name, _, _ in WRONG])
def test_a_bad_list_says_where(
    name: str,
    text: str | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, one line that names file and key or line, a hint, nothing on stdout, and nothing was asked."""
    from sitemirror.cli.commands import run_program

    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert run_program("sitemirror", ["mirror", "--sites", name]) == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.startswith(f"sitemirror: error: {message}")
    assert "\nhint: " in said
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("text", ["http://a.example/\n", '[[sites]]\nurl = "a.example"\n', "site = 3\n"])
def test_plain_list_in_a_toml_file_gives_a_hint(text: str, tmp_path: Path, run_here: RunHere) -> None:
    """A file that ends in .toml has tables."""
    file = tmp_path / "list.toml"
    file.write_text(text, encoding="utf-8")
    said = run_here("mirror", "--sites", file).stderr
    assert "hint: write sites as [[site]]" in said
    assert "a plain list of URLs must not end in .toml" in said


def test_a_url_or_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Both at once are refused, and so is neither; each message names both."""
    from sitemirror.cli.commands import run_program

    for arguments in (["mirror", "https://a.example/", "--sites", "s.txt"], ["crawl"], ["mirror"]):
        assert run_program("sitemirror", arguments) == 2
        said = capsys.readouterr().err
        assert "URL" in said
        assert "--sites FILE" in said


@pytest.mark.slow  # Pages in conversion have two seconds to end after a signal.
@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("ending", ["interrupted", "terminated", "killed"])
def test_same_command_resumes_all_sites(
    ending: str, site: Site, out: Path, start_cli: StartCli, run_here: RunHere, tmp_path: Path
) -> None:
    """Stopped by a signal or killed amid four sites, the same command fetches the rest, and little twice."""
    names = "abcd"
    command = ("mirror", "--sites", listed(tmp_path, settle(site, *names, pages=40)), "--output", out, "--quiet")
    gate = threading.Event()
    for name in names:  # No site can finish before the signal arrives, however busy the machine.
        site.fault("/page/0036", faults.held(gate), host=f"{name}.localhost")
    process = start_cli(*command, "--rate-limit", 25)
    site.wait_for(60, timeout=30)
    if ending != "killed":  # A page can be saved in time only if the workers have started.
        until(lambda: sum(len(saved(out, site, name)) for name in names) >= 40, 40)
    number = {"interrupted": signal.SIGINT, "terminated": signal.SIGTERM, "killed": signal.SIGKILL}[ending]
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=20)
    gate.set()

    if ending == "killed":
        assert (process.returncode, stdout) == (-9, "")
    else:
        assert process.returncode == 128 + number, stderr
        report = json.loads(stdout)
        assert (report["status"], report["sites_interrupted"]) == ("interrupted", 4)
        assert 0 < report["successful"] < 160
        assert report["successful"] == sum(len(saved(out, site, name)) for name in names)

    done = run_here(*command, *FAST)

    assert (done.json["status"], done.json["successful"]) == ("ok", 160), done.stderr
    assert [len(saved(out, site, name)) for name in names] == [40] * 4
    asked = [(seen.host, seen.path) for seen in site.requests if seen.path.startswith("/page")]
    assert len(set(asked)) == 160
    # What a site has under way may be asked for again: where it is killed, or so busy that two seconds are not enough.
    assert len(asked) - 160 <= 4 * (17 if ending == "killed" else 1)
