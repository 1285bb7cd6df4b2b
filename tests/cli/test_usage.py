"""Wrong usage: one line that says what is wrong, a hint, exit code 2, and nothing on stdout."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror.cli.commands import run_program
from tests.conftest import RunCli

URL = "https://example.com/"

WRONG = [
    (["mirror", URL, "--rate-limit", "-1"], "--rate-limit must be 0 or more, got -1"),
    (["mirror", URL, "--rate-limit=-0.5"], "--rate-limit must be 0 or more, got -0.5"),
    (["mirror", URL, "--content-rate-limit", "fast"], "--content-rate-limit must be a number, got fast"),
    (["mirror", URL, "--concurrency", "0"], "--concurrency must be 1 or more, got 0"),
    (["mirror", URL, "--concurrency", "1000"], "--concurrency must be 256 or less, got 1000"),
    (["mirror", URL, "--concurrency", "2.5"], "--concurrency must be a whole number, got 2.5"),
    (["mirror", URL, "--timeout", "0"], "--timeout must be more than 0, got 0"),
    (["mirror", URL, "--timeout", "inf"], "--timeout: give a finite number"),
    (["mirror", URL, "--on-error", "shrug"], "--on-error must be one of skip, retry, abort, got shrug"),
    (["mirror", URL, "--content", ""], "--content must be one of auto, main, full, got ''"),
    (
        ["mirror", URL, "--user-agent", "a\nb"],
        "--user-agent: one line without control characters, not 'a\\nb'",
    ),
    (["crawl", URL, "--user-agent", "a\x7f"], "--user-agent: one line without control characters, not 'a\\x7f'"),
    (["mirror", URL, "--header", "A: \x01"], "--header: a header looks like 'Name: value', not 'A: \\x01'"),
    (["mirror", URL, "--header", "Colonless"], "--header: a header looks like 'Name: value', not 'Colonless'"),
    (["mirror", URL, "--basic-auth", "me"], "--basic-auth: give it as USER:PASSWORD"),
    (["mirror", URL, "--basic-auth", "me:\udcff"], "--basic-auth: USER:PASSWORD must be UTF-8"),
    (["mirror", URL, "--header", "A: \udcff"], "--header: a header looks like 'Name: value', not 'A: \\udcff'"),
    (["crawl", URL, "--user-agent", "\udcff"], "--user-agent: one line without control characters, not '\\udcff'"),
    (["list", URL, "--format", "xml"], "--format must be one of json, md, got xml"),
    (["mirror", URL, "--quiet", "--verbose"], "--quiet and --verbose contradict each other"),
    (["mirror", URL, "--include-path", ""], "--include-path: an empty glob matches nothing"),
    (["mirror"], "missing argument 'URL'"),
    (["mirror", URL, URL], "got unexpected extra argument"),
    (["mirror", URL, "--nonsense"], "no such option: --nonsense"),
    (["mirror", URL, "--format", "md"], "--format must be one of markdown, html, both, got md"),
    (["list", URL, "--concurrency", "2"], "no such option: --concurrency"),
    (["mirror", URL, "--timeout"], "option '--timeout' requires an argument"),
    (["mirror", URL, "--output", ""], "--output is empty"),
    (["crawl", URL, "--cookie-file="], "--cookie-file is empty"),
    (["mirror", URL, "--config", ""], "--config is empty"),
    (["mirror", "--sites="], "--sites is empty"),
    (["mirror", URL, "--on-error", "a\nb"], "--on-error must be one of skip, retry, abort, got a\\x0ab"),
    (["mirror", URL, "--config", "a\nb"], "a\\x0ab: cannot be read: No such file or directory"),
    (["convert", "a\nb"], "no such file: a\\x0ab"),
    (["verify", ""], "the folder is an empty name"),
    (["verify", "x" * 300], f"{'x' * 300}: File name too long"),
    (["where", ""], "the URL or file is an empty name"),
    (["where", "x" * 300], f"{'x' * 300}: File name too long"),
    (["where", "https://u:p@example.com/"], "'https://***@example.com/': credentials in the URL"),
    (["miror", URL], "no such command 'miror'. Did you mean 'mirror'?"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_wrong_usage_is_one_line_and_a_hint(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option is named as it was typed, with the rule and the value that broke it."""
    assert run_program("sitemirror", arguments) == 2
    out, err = capsys.readouterr()
    first, second, *more = err.splitlines()
    assert out == ""
    assert first.startswith(f"sitemirror: error: {message}")
    assert second.startswith("hint: ")
    assert more == []


@pytest.mark.parametrize("key", ["output", "cookie-file", "ca-file"])
def test_no_path_has_a_nul_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str) -> None:
    """A configuration file can spell one, the system cannot take it."""
    config = tmp_path / "nul.toml"
    config.write_text(f'{key} = "a\\u0000b"\n')
    assert run_program("sitemirror", ["mirror", URL, "--config", str(config)]) == 2
    said = f"sitemirror: error: {config}: {key}: no path has a NUL character in it, as 'a\\x00b' has\n"
    assert capsys.readouterr().err.startswith(said)


def test_unknown_scheme_is_answered_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever typed it knows how a URL looks."""
    assert run_program("sitemirror", ["mirror", "ftp://example.com/"]) == 2
    assert capsys.readouterr().err.endswith("hint: only http and https can be mirrored\n")


def test_every_wrong_value_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Three mistakes are three lines, so that one try is enough to mend them all."""
    assert (
        run_program("sitemirror", ["mirror", URL, "--max-pages", "-1", "--timeout", "x", "--max-retries", "many"]) == 2
    )
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines[:-1]) == [
        "sitemirror: error: --max-pages must be 0 or more, got -1",
        "sitemirror: error: --max-retries must be a whole number, got many",
        "sitemirror: error: --timeout must be a number, got x",
    ]
    assert lines[-1] == "hint: see `sitemirror mirror --help`"


def test_an_option_without_its_value_leads_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The hint names the command whose help has the option, also where nothing follows it."""
    for command in ("mirror", "list"):
        assert run_program("sitemirror", [command, URL, "--timeout"]) == 2
        assert capsys.readouterr().err.endswith(f"hint: see `sitemirror {command} --help`\n")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--bogus", ""),
        ("--outptu", " (did you mean --output?)"),
        ("--rate", " (did you mean --rate-limit?)"),
        ("--no-domain-lok", " (did you mean --no-domain-lock or --domain-lock?)"),
    ],
)
def test_only_what_may_have_been_meant_is_suggested(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    """An option that looks like none of ours is said not to be there, and no more."""
    assert run_program("sitemirror", ["mirror", URL, typed]) == 2
    said = f"sitemirror: error: no such option: {typed}{meant}\nhint: see `sitemirror mirror --help`\n"
    assert capsys.readouterr().err == said


def test_a_bare_url_gets_the_command_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever forgets the command is shown the whole line."""
    assert run_program("sitemirror", [URL]) == 2
    assert capsys.readouterr().err.endswith(f"hint: name a command: sitemirror mirror {URL}\n")


@pytest.mark.parametrize("command", ["list", "mirror"])
def test_option_before_the_command_is_told_its_place(capsys: pytest.CaptureFixture[str], command: str) -> None:
    """It is one, and the help of the program, which does not list it, would not tell."""
    assert run_program("sitemirror", ["--rate-limit", "2", command, URL]) == 2
    hint = f"hint: give options after the command: sitemirror {command} … --rate-limit\n"
    assert capsys.readouterr().err == f"sitemirror: error: no such option: --rate-limit\n{hint}"


def test_what_is_no_option_has_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    """Behind a command it would be as unknown."""
    assert run_program("sitemirror", ["--frobnicate", "mirror", URL]) == 2
    assert "behind" not in capsys.readouterr().err


def test_second_url_gets_a_hint_to_sites_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Where a command takes one; where it takes no list either, its help says what it takes."""
    codes = (
        run_program("sitemirror", ["mirror", URL, URL]),
        run_program("sitemirror", ["crawl", URL, URL]),
        run_program("mirror-site", [URL, URL]),
    )
    assert codes == (2, 2, 2)
    assert capsys.readouterr().err.count("hint: give one URL, or a list of them with --sites FILE; ") == 3
    assert run_program("sitemirror", ["list", URL, URL]) == 2
    assert capsys.readouterr().err.endswith("hint: see `sitemirror list --help`\n")
    assert run_program("sitemap-to-markdown", [URL, "--mirror"]) == 2
    assert capsys.readouterr().err.endswith("hint: the site is given as --url URL\n")


def test_what_was_typed_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences in arguments are shown, not obeyed."""
    for arguments in (
        ["mirror", URL, "--on-error", "\x1b[2J\x9b31m"],
        ["mirror", URL, "--\x1b[31mred"],
        ["\x1b]0;owned\x07"],
        ["mirror", URL, "--config", "\x1b[2J.toml"],
    ):
        assert run_program("sitemirror", arguments) == 2
        out, err = capsys.readouterr()
        assert not set(out + err) & {"\x1b", "\x9b", "\x07"}
        assert "x1b" in err


def test_no_arguments_show_the_help_and_fail(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to do is not success, and stdout stays free for data."""
    assert run_program("sitemirror", []) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: sitemirror" in err


def test_sitemap_to_markdown_names_itself_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """It complains under its own name and asks for --url."""
    assert run_program("sitemap-to-markdown", ["--mirror"]) == 2
    assert capsys.readouterr().err == (
        "sitemap-to-markdown: error: missing option '--url'\nhint: see `sitemap-to-markdown --help`\n"
    )


def test_sitemap_to_markdown_validates_options_without_effect(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong value of a mirror option is wrong without --mirror too."""
    assert run_program("sitemap-to-markdown", ["--url", URL, "--max-pages", "-3"]) == 2
    assert "sitemap-to-markdown: error: --max-pages must be 0 or more, got -3\n" in capsys.readouterr().err


def test_a_process_of_its_own_says_the_same(run_cli: RunCli) -> None:
    """From a shell: exit code 2, one line and a hint, no traceback, no box drawing."""
    done = run_cli("mirror", URL, "--rate-limit", -1)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "sitemirror: error: --rate-limit must be 0 or more, got -1\nhint: see `sitemirror mirror --help`\n"
    )
