"""The command line is parsed as GNU programs parse theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.cli.options import Command, is_flag, is_repeatable, options_of
from sitemirror.cli.parser import CommandLine, ShowCompletion, ShowHelp, ShowVersion, parse
from sitemirror.errors import UsageError

URL = "https://example.com/"


def parsed(*arguments: str, program: str = "sitemirror") -> CommandLine:
    line = parse(program, arguments)
    assert isinstance(line, CommandLine)
    return line


@given(st.data(), st.sampled_from(Command))
def test_options_are_read_at_any_position(data: st.DataObject, command: Command) -> None:
    """Attached values, short and long names; the last value counts, or all of them."""
    expected: dict[str, object] = {}
    words: list[list[str]] = []
    for option in data.draw(st.lists(st.sampled_from(options_of(command)), max_size=5)):
        spelling = data.draw(st.sampled_from(option.names))
        on, _, off = spelling.partition("/")
        if is_flag(option.field):
            name = data.draw(st.sampled_from([on, off] if off else [on]))
            words.append([name])
            expected[option.field] = name == on
            continue
        value = data.draw(st.one_of(st.sampled_from(["", "-1", "--quiet", "--", "a=b", URL]), st.text(max_size=4)))
        forms = [[on, value], [f"{on}={value}" if on.startswith("--") or not value else f"{on}{value}"]]
        words.append(data.draw(st.sampled_from(forms if on.startswith("--") or value else forms[:1])))
        if is_repeatable(option.field):
            expected[option.field] = [*expected.get(option.field, []), value]  # type: ignore[misc]
        else:
            expected[option.field] = value
    words.insert(data.draw(st.integers(0, len(words))), [URL])
    line = parsed(command, *(word for group in words for word in group))
    assert (line.command, line.target, line.given) == (command, URL, expected)


def test_short_options_can_be_combined() -> None:
    """The last one may have a value, attached or as the next word."""
    assert parsed("mirror", URL, "-qo", "x").given == {"quiet": True, "output": "x"}
    assert parsed("mirror", URL, "-vox").given == {"verbose": True, "output": "x"}
    assert parsed("mirror", URL, "-o=x").given == {"output": "=x"}


def test_two_dashes_end_the_options() -> None:
    """A file may be named like an option, and a single dash is an argument."""
    assert parsed("where", "--", "--quiet").target == "--quiet"
    assert parsed("convert", "-").target == "-"


def test_options_without_settings() -> None:
    """They are parsed beside the settings."""
    line = parsed("mirror", "--sites", "s.txt", "-q", "--config=c.toml")
    assert (line.target, line.sites, line.config, line.given) == ("", Path("s.txt"), Path("c.toml"), {"quiet": True})
    line = parsed("convert", "page.html", "--url", URL, "--explain")
    assert (line.target, line.more, line.given) == ("page.html", {"--url": URL, "--explain": True}, {})


def test_other_programs_are_commands() -> None:
    """`mirror-site` is crawl; `sitemap-to-markdown` is list, or mirror."""
    line = parsed(URL, "-o", "x", "--link-depth", "2", program="mirror-site")
    assert (line.command, line.target, line.given) == (Command.CRAWL, URL, {"output": "x", "link_depth": "2"})
    line = parsed("--url", URL, "--concurrency", "2", program="sitemap-to-markdown")
    assert (line.command, line.target, line.given) == (Command.LIST, URL, {"concurrency": "2"})
    line = parsed("--sites", "s.txt", "--list-only", "--mirror", program="sitemap-to-markdown")
    assert (line.command, line.sites) == (Command.MIRROR, Path("s.txt"))


@pytest.mark.parametrize(
    ("program", "arguments", "shown"),
    [
        ("sitemirror", ["-h", "mirror"], ShowHelp("sitemirror")),
        ("sitemirror", ["mirror", URL, URL, "--help"], ShowHelp("sitemirror mirror")),
        ("sitemirror", ["--version", "--help"], ShowVersion()),
        ("sitemirror", ["-V"], ShowVersion()),
        ("sitemirror", ["mirror", "--help-all", URL], ShowHelp("sitemirror mirror", all_options=True)),
        ("sitemirror", ["help"], ShowHelp("sitemirror")),
        ("sitemirror", ["help", "crawl"], ShowHelp("sitemirror crawl")),
        ("sitemirror", ["help", "crawl", "--help-all"], ShowHelp("sitemirror crawl", all_options=True)),
        ("sitemirror", ["completion", "zsh"], ShowCompletion("zsh")),
        ("mirror-site", ["--version"], ShowVersion()),
        ("sitemap-to-markdown", ["-h", "x"], ShowHelp("sitemap-to-markdown")),
    ],
)
def test_help_has_precedence_over_errors(
    program: str, arguments: list[str], shown: ShowHelp | ShowVersion | ShowCompletion
) -> None:
    """--help and --version work among wrong arguments."""
    assert parse(program, arguments) == shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--"], "missing command"),
        (["list"], "missing argument 'URL'"),
        (["update"], "missing argument 'DIR'"),
        (["help", "list", "mirror"], "got unexpected extra argument(s) (mirror)"),
        (["help", "miror"], "no such command 'miror'. Did you mean 'mirror'?"),
        (["completion"], "missing argument 'bash|zsh|fish'"),
        (["completion", "csh"], "completion is for bash, zsh, fish, got csh"),
        (["mirror", URL, "--quiet=1"], "option '--quiet' does not take a value"),
        (["mirror", URL, "-o"], "option '-o' requires an argument"),
        (["mirror", URL, "-qx"], "no such option: -x"),
        (["list", URL, "a", "b"], "got unexpected extra argument(s) (a b)"),
        (["list", "--sites", "s.txt"], "no such option: --sites"),
    ],
)
def test_errors_name_the_argument(arguments: list[str], message: str) -> None:
    """`test_usage.py` has the printed texts."""
    with pytest.raises(UsageError) as caught:
        parse("sitemirror", arguments)
    assert caught.value.message == message
