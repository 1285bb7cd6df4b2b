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
    """The option, the rule and the wrong value."""
    assert run_program("sitemirror", arguments) == 2
    out, err = capsys.readouterr()
    first, second, *more = err.splitlines()
    assert out == ""
    assert first.startswith(f"sitemirror: error: {message}")
    assert second.startswith("hint: ")
    assert more == []


@pytest.mark.parametrize("key", ["output", "cookie-file", "ca-file"])
def test_nul_in_a_path_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str) -> None:
    """A configuration file can contain one."""
    config = tmp_path / "nul.toml"
    config.write_text(f'{key} = "a\\u0000b"\n')
    assert run_program("sitemirror", ["mirror", URL, "--config", str(config)]) == 2
    said = f"sitemirror: error: {config}: {key}: no path has a NUL character in it, as 'a\\x00b' has\n"
    assert capsys.readouterr().err.startswith(said)


def test_unknown_scheme_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists http and https."""
    assert run_program("sitemirror", ["mirror", "ftp://example.com/"]) == 2
    assert capsys.readouterr().err.endswith("hint: only http and https can be mirrored\n")


def test_all_wrong_values_are_reported_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Three errors are three lines."""
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


def test_option_without_value_refers_to_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The hint names the help of the command with the option."""
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
def test_only_similar_options_are_suggested(capsys: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    """An unknown option without a similar one gets no suggestion."""
    assert run_program("sitemirror", ["mirror", URL, typed]) == 2
    said = f"sitemirror: error: no such option: {typed}{meant}\nhint: see `sitemirror mirror --help`\n"
    assert capsys.readouterr().err == said


def test_url_without_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    """The hint shows the complete command line."""
    assert run_program("sitemirror", [URL]) == 2
    assert capsys.readouterr().err.endswith(f"hint: name a command: sitemirror mirror {URL}\n")


@pytest.mark.parametrize("command", ["list", "mirror"])
def test_option_before_the_command_gets_a_hint(capsys: pytest.CaptureFixture[str], command: str) -> None:
    """The hint says that it belongs after the command."""
    assert run_program("sitemirror", ["--rate-limit", "2", command, URL]) == 2
    hint = f"hint: give options after the command: sitemirror {command} … --rate-limit\n"
    assert capsys.readouterr().err == f"sitemirror: error: no such option: --rate-limit\n{hint}"


def test_unknown_option_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It gets no such hint."""
    assert run_program("sitemirror", ["--frobnicate", "mirror", URL]) == 2
    assert "behind" not in capsys.readouterr().err


def test_second_url_gets_a_hint_to_sites_files(capsys: pytest.CaptureFixture[str]) -> None:
    """If the command has --sites; otherwise the hint names its help."""
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


def test_arguments_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences in arguments are shown escaped."""
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
    """The exit code is not 0, and stdout is empty."""
    assert run_program("sitemirror", []) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: sitemirror" in err


def test_sitemap_to_markdown_names_itself_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """It uses its own name and asks for --url."""
    assert run_program("sitemap-to-markdown", ["--mirror"]) == 2
    assert capsys.readouterr().err == (
        "sitemap-to-markdown: error: missing option '--url'\nhint: see `sitemap-to-markdown --help`\n"
    )


def test_sitemap_to_markdown_validates_options_without_effect(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong value of a mirror option is an error without --mirror, too."""
    assert run_program("sitemap-to-markdown", ["--url", URL, "--max-pages", "-3"]) == 2
    assert "sitemap-to-markdown: error: --max-pages must be 0 or more, got -3\n" in capsys.readouterr().err


def test_wrong_usage_in_a_process(run_cli: RunCli) -> None:
    """Exit code 2, a message and a hint, no traceback."""
    done = run_cli("mirror", URL, "--rate-limit", -1)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "sitemirror: error: --rate-limit must be 0 or more, got -1\nhint: see `sitemirror mirror --help`\n"
    )
