"""The options are the settings: nothing is missing, nothing is said twice."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sitemirror import __version__
from sitemirror.cli.commands import run_program
from sitemirror.cli.options import ARGUMENTS, MORE_ARGUMENTS, OPTIONS, Command, options_of
from sitemirror.cli.reference import reference
from sitemirror.settings import setting_types
from tests.conftest import RunCli

ROOT = Path(__file__).parents[2]


def test_every_setting_is_an_option_of_some_command() -> None:
    """No setting of settings.py is missing from the command line."""
    assert {option.field for option in OPTIONS} == set(setting_types())
    assert all(option.commands for option in OPTIONS)


@pytest.mark.parametrize("command", list(Command))
def test_help_shows_every_option(
    command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the text of the settings, the panels and an example."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run_program("sitemirror", [command, "--help-all"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.partition("Examples:")[0].splitlines())) <= 80
    words = " ".join(out.split())
    for option in options_of(command):
        assert option.names[0].partition("/")[0] in out
        assert option.help in words
        assert f"\n{option.panel}:\n" in out
    assert f"sitemirror {command} " in out.partition("Examples:")[2]


@pytest.mark.parametrize("command", list(Command))
def test_help_mentions_only_options_of_the_command(command: Command) -> None:
    """Help texts do not refer to other commands' options."""
    options = options_of(command)
    has = {part for option in options for name in option.names for part in name.split("/")} | {"--sites"}
    for option in options:
        if command is not Command.WHERE:  # which finds what another command has saved
            assert set(re.findall(r"--[a-z-]+", option.help)) <= has, option.field
        assert not re.search(r"\b(What list|crawl save)", option.help), option.field


def test_help_shows_default_format() -> None:
    """The default of --format differs by command."""
    said = {command: option.help for command in Command for option in options_of(command) if option.field == "format"}
    assert {command: text.rpartition("Default: ")[2] for command, text in said.items()} == {
        Command.LIST: "json.",
        Command.MIRROR: "markdown.",
        Command.CRAWL: "html.",
    }


def test_program_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """With examples."""
    assert run_program("sitemirror", ["--help"]) == 0
    out = capsys.readouterr().out
    for command in Command:
        assert f"\n  {command} " in out
        argument = ARGUMENTS[command][0]
        begins = "output/" if argument.strip("[").startswith("DIR") else '"' if argument[0] == "Q" else "https://"
        assert f"sitemirror {command} {begins}" in out


def test_sitemap_to_markdown_has_the_options_of_both_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """--url, --mirror, --list-only and every option of list and mirror."""
    monkeypatch.setenv("COLUMNS", "400")
    assert run_program("sitemap-to-markdown", ["--help-all"]) == 0
    out = capsys.readouterr().out
    for name in ("--url", "--mirror", "--list-only", "--config", "--version"):
        assert name in out
    for option in options_of(Command.LIST, Command.MIRROR):
        assert option.names[0].partition("/")[0] in out
    assert "json|md|markdown|html|both" in out


def test_reference_is_current() -> None:
    """docs/reference.md equals the output of `python -m sitemirror.cli.reference`."""
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == reference()


def test_reference_documents_every_option() -> None:
    """Every command and option is in the reference."""
    page = reference()
    for command in Command:
        section = page.partition(f"## `sitemirror {command}`\n")[2].partition("\n## ")[0]
        for option in options_of(command):
            assert f"`{option.names[0].partition('/')[0]}" in section
        for name, meaning in (ARGUMENTS[command], *MORE_ARGUMENTS.get(command, ())):
            spelled = name.replace("|", r"\|")
            assert f"| `{spelled}` | {meaning} |" in section


def test_version_is_printed(run_cli: RunCli) -> None:
    """The version is the only output on stdout."""
    done = run_cli("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sitemirror {__version__}\n", "")


def test_version_loads_nothing_heavy() -> None:
    """`--version` loads neither validation nor the HTTP client."""
    script = (
        "import sys; sys.argv = ['sitemirror', '--version']\n"
        "from sitemirror.cli import main; code = main()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert done.stdout == f"sitemirror {__version__}\n"
    assert not loaded & {"rich", "pydantic", "aiohttp", "asyncio", "turbohtml", "orjson", "sqlite3"}


def test_help_does_not_depend_on_other_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    """Alone or among other arguments."""
    for alone, among in ((["mirror", "-h"], ["mirror", "https://example.com/", "--help"]), (["-h"], ["-h", "mirror"])):
        assert run_program("sitemirror", alone) == run_program("sitemirror", among) == 0
        out = capsys.readouterr().out.rstrip("\n")
        half = len(out) // 2
        assert out[:half].strip() == out[half:].strip()


@pytest.mark.parametrize("columns", ["0", "-5", "", "wide", "1"])
def test_invalid_columns_are_ignored(run_cli: RunCli, columns: str) -> None:
    """COLUMNS is used if it is a width."""
    done = run_cli("mirror", "--help", env={"COLUMNS": columns})
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: sitemirror mirror" in " ".join(done.stdout.split())
