"""Command lines that are read without typer are read as typer reads them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sitemirror.cli.app import mirror_site_app, sitemirror_app
from sitemirror.cli.commands import CommandLine
from sitemirror.cli.options import Command, is_flag, options_of
from sitemirror.cli.plain import read_plain

URL = "https://example.com/"

VALUES = st.one_of(st.sampled_from(["5", "x", "X: y", "a=b", "", "-1", "--quiet", URL]), st.text(max_size=4))
ODDITIES = st.sampled_from(["--verb", "--help", "-h", "-qv", "-ox", "-o=x", "--quiet=1", "--url", "--", "-", "", "x"])


@st.composite
def typed_for(draw: st.DrawFn, command: Command) -> list[str]:
    """A command line with a target, options that the command has, and now and then something odd."""
    words = [[URL]]
    for option in draw(st.lists(st.sampled_from(options_of(command)), max_size=5)):
        name = draw(st.sampled_from([part for spelling in option.names for part in spelling.split("/")]))
        value = draw(VALUES)
        words.append([name] if is_flag(option.field) else draw(st.sampled_from([[name, value], [f"{name}={value}"]])))
    words += draw(
        st.sampled_from([[], [], [["--config", "my.toml"]], [[draw(ODDITIES)]], [[draw(st.text(max_size=4))]]])
    )
    return [word for group in draw(st.permutations(words)) for word in group]


class Heard:
    """Does nothing that a command line says, but remembers it."""

    line: CommandLine | None = None

    def __call__(self, command: Command, line: CommandLine) -> int:
        self.line = line
        return 0


@given(st.data(), st.sampled_from(Command))
def test_what_is_plain_to_see_is_what_typer_reads(data: st.DataObject, command: Command) -> None:
    """Either it is left to typer, or every value, the target and the configuration file are the same."""
    arguments = data.draw(typed_for(command))
    plain = read_plain(arguments, options_of(command))
    if plain is not None:
        sitemirror_app([command, *arguments], heard := Heard())
        assert heard.line is not None
        assert plain == (heard.line.target, heard.line.given, heard.line.config, None)


def test_what_people_type_is_plain() -> None:
    """Options before and after the target, with a space or `=`, repeated, short, and flags both ways."""
    arguments = [
        *("--rate-limit", "0", URL, "-o", "x", "--exclude-path=/a/*", "--exclude-path", "/b", "--no-hash"),
        *("-q", "--config", "mine.toml", "--no-front-matter", "--front-matter", "--timeout", "1", "--timeout=2"),
    ]
    read = read_plain(arguments, options_of(Command.MIRROR))
    assert read is not None
    target, settings, config, sites = read
    assert (target, str(config), sites) == (URL, "mine.toml", None)
    assert settings == {
        "rate_limit": "0",
        "output": "x",
        "exclude_path": ["/a/*", "/b"],
        "hash": False,
        "quiet": True,
        "front_matter": True,
        "timeout": "2",
    }


@given(st.data(), st.sampled_from([Command.MIRROR, Command.CRAWL]))
def test_a_list_of_sites_is_what_typer_reads(data: st.DataObject, command: Command) -> None:
    """`--sites FILE` in place of the target is read as typer reads it, or left to typer."""
    arguments = data.draw(typed_for(command))
    given_list = data.draw(
        st.sampled_from([["--sites", "s.txt"], ["--sites=s.toml"], ["--sites", ""], ["--sites"], []])
    )
    at = arguments.index(URL)
    arguments[at : at + 1] = given_list
    plain = read_plain(arguments, options_of(command))
    if plain is not None:
        sitemirror_app([command, *arguments], heard := Heard())
        assert heard.line is not None
        assert plain == (heard.line.target, heard.line.given, heard.line.config, heard.line.sites)


def test_a_list_of_sites_is_plain() -> None:
    """A list needs no typer; a list and a URL do, for typer's side says what is wrong."""
    options = options_of(Command.MIRROR)
    assert read_plain(["--sites", "s.txt", "-q"], options) == ("", {"quiet": True}, None, Path("s.txt"))
    assert read_plain(["--sites", "s.txt", URL], options) is None
    assert read_plain(["-q"], options) is None


def test_the_door_of_crawl_reads_the_same() -> None:
    """mirror-site takes what crawl takes."""
    arguments = [URL, "-o", "x", "--link-depth", "2"]
    mirror_site_app(arguments, heard := Heard())
    assert heard.line is not None
    plain = read_plain(arguments, options_of(Command.CRAWL))
    assert plain == (heard.line.target, heard.line.given, heard.line.config, None)
