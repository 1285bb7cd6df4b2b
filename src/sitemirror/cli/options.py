"""How each setting is spelled on the command line, and which command it belongs to.

Defaults, bounds and help texts are not here: they stand once, in `settings.py`, and are read from there. Only where a
setting means less to one command than to the others does that command have its own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from sitemirror.settings import SettingType, descriptions, setting_types


class Command(StrEnum):
    """The commands that take settings."""

    LIST = "list"
    MIRROR = "mirror"
    CRAWL = "crawl"
    CONVERT = "convert"
    VERIFY = "verify"
    WHERE = "where"
    SEARCH = "search"


class Panel(StrEnum):
    """The groups that the help text shows options in, in its order."""

    TAKE = "What to take"
    POLITENESS = "Politeness"
    LIMITS = "Limits"
    ERRORS = "Errors"
    OUTPUT = "Output"
    CONNECTION = "Connection"


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as the command line offers it."""

    field: str
    panel: Panel
    commands: frozenset[Command]
    metavar: str = ""
    """The placeholder for its value; empty for flags and for settings whose choices are shown instead."""
    spellings: tuple[str, ...] = ()
    """Long and short ones, `--on/--off` for a flag with an opposite; empty for plain `--field-name`."""
    choices: tuple[str, ...] = ()
    """The values this command takes, where the setting as such has more."""
    says: str = ""
    """What it means to this command, where the setting's own text speaks of more."""

    @property
    def kind(self) -> SettingType:
        return setting_types()[self.field]

    @property
    def names(self) -> tuple[str, ...]:
        return self.spellings or (spell(self.field),)

    @property
    def help(self) -> str:
        return self.says or descriptions().get(self.field, "")

    @property
    def placeholder(self) -> str:
        """What stands for the value in help: `N`, `skip|retry|abort`, or nothing for a flag."""
        choices = self.choices or setting_types()[self.field].choices
        return "|".join(choices) if choices else self.metavar


_SITEMAPS: Final = frozenset({Command.LIST, Command.MIRROR})
_PAGES: Final = frozenset({Command.MIRROR, Command.CRAWL})
_RUNS: Final = _SITEMAPS | _PAGES
_MIRROR: Final = frozenset({Command.MIRROR})
_CRAWL: Final = frozenset({Command.CRAWL})
_LIST: Final = frozenset({Command.LIST})
_CONVERT: Final = frozenset({Command.CONVERT})
_VERIFY: Final = frozenset({Command.VERIFY})
_WHERE: Final = frozenset({Command.WHERE})
_AFTER: Final = frozenset({Command.SEARCH})
_CONVERTING: Final = _PAGES | _CONVERT
_FETCHING: Final = _RUNS | _CONVERT

OPTIONS: Final = (
    Option("discover", Panel.TAKE, _PAGES),
    Option("whole_site", Panel.TAKE, _SITEMAPS, spellings=("--whole-site",)),
    Option("link_depth", Panel.TAKE, _PAGES, "N"),
    Option("include_path", Panel.TAKE, _RUNS, "GLOB"),
    Option("exclude_path", Panel.TAKE, _RUNS, "GLOB"),
    Option("domain_lock", Panel.TAKE, _SITEMAPS, spellings=("--domain-lock/--no-domain-lock",)),
    Option("same_domain", Panel.TAKE, _CRAWL, spellings=("--same-domain/--any-domain",)),
    Option("honor_nofollow", Panel.TAKE, _PAGES, spellings=("--honor-nofollow",)),
    Option("update", Panel.TAKE, _PAGES, spellings=("--update",)),
    Option("re_download_all", Panel.TAKE, _PAGES, spellings=("--re-download-all",)),
    Option("content", Panel.TAKE, _CONVERTING),
    Option("rate_limit", Panel.POLITENESS, _LIST, "R", says="Requests per second. 0 = no limit."),
    Option("rate_limit", Panel.POLITENESS, _PAGES, "R"),
    Option("content_rate_limit", Panel.POLITENESS, _PAGES, "R"),
    Option("delay_seconds", Panel.POLITENESS, _PAGES, "S"),
    Option("concurrency", Panel.POLITENESS, _PAGES, "N"),
    Option("workers", Panel.LIMITS, _PAGES, "N"),
    Option("max_connections", Panel.LIMITS, _PAGES, "N"),
    Option("respect_robots", Panel.POLITENESS, _PAGES, spellings=("--respect-robots/--ignore-robots",)),
    Option("max_pages", Panel.LIMITS, _PAGES, "N"),
    Option(
        "max_file_size",
        Panel.LIMITS,
        _CONVERT,
        "MB",
        says="Largest page in MB that is fetched, as sent and after decompression.",
    ),
    Option("max_file_size", Panel.LIMITS, _PAGES, "MB"),
    Option("max_sitemap_size", Panel.LIMITS, _RUNS, "MB"),
    Option("min_free_mb", Panel.LIMITS, _RUNS, "N"),
    Option("timeout", Panel.LIMITS, _FETCHING, "S"),
    Option("on_error", Panel.ERRORS, _PAGES),
    Option(
        "max_retries",
        Panel.ERRORS,
        _LIST,
        "N",
        says="Further tries per sitemap, after 429, 503 and every other transient failure. 0 = none.",
    ),
    Option(
        "max_retries",
        Panel.ERRORS,
        _CONVERT,
        "N",
        says="Further tries after 429, or 503 with Retry-After. 0 = none.",
    ),
    Option("max_retries", Panel.ERRORS, _PAGES, "N"),
    Option("output", Panel.OUTPUT, _RUNS, "DIR", spellings=("--output", "-o")),
    Option(
        "output",
        Panel.OUTPUT,
        _WHERE,
        "DIR",
        spellings=("--output", "-o"),
        says="Where the mirrors are: what mirror or crawl was given as --output.",
    ),
    Option(
        "format",
        Panel.OUTPUT,
        _LIST,
        choices=("json", "md"),
        says="What is printed: json = the report; md = the outline itself. Left out: json.",
    ),
    Option(
        "format",
        Panel.OUTPUT,
        _MIRROR,
        choices=("markdown", "html", "both"),
        says="What is saved of a page. Left out: markdown.",
    ),
    Option(
        "format",
        Panel.OUTPUT,
        _CRAWL,
        choices=("markdown", "html", "both"),
        says="What is saved of a page. Left out: html.",
    ),
    Option("links", Panel.OUTPUT, _PAGES),
    Option("post_process", Panel.OUTPUT, _PAGES, spellings=("--post-process/--no-post-process",)),
    Option("front_matter", Panel.OUTPUT, _CONVERTING, spellings=("--front-matter/--no-front-matter",)),
    Option("index", Panel.OUTPUT, _MIRROR, spellings=("--index",)),
    Option("hash", Panel.OUTPUT, _PAGES, spellings=("--hash/--no-hash",)),
    Option("quiet", Panel.OUTPUT, _PAGES, spellings=("--quiet", "-q")),
    Option(
        "quiet",
        Panel.OUTPUT,
        _LIST | _CONVERT,
        spellings=("--quiet", "-q"),
        says="Only errors on stderr.",
    ),
    Option(
        "quiet",
        Panel.OUTPUT,
        _VERIFY,
        spellings=("--quiet", "-q"),
        says="Only how many problems there are on stderr, not each of them.",
    ),
    Option("verbose", Panel.OUTPUT, _RUNS, spellings=("--verbose", "-v")),
    Option(
        "verbose",
        Panel.OUTPUT,
        _CONVERT | _VERIFY | _WHERE | _AFTER,
        spellings=("--verbose", "-v"),
        says="In case of a bug: say where in the code it is.",
    ),
    Option("profile", Panel.OUTPUT, _PAGES, spellings=("--profile",)),
    Option("user_agent", Panel.CONNECTION, _FETCHING, "S"),
    Option("header", Panel.CONNECTION, _FETCHING, "'K: V'"),
    Option("cookie_file", Panel.CONNECTION, _FETCHING, "FILE"),
    Option("basic_auth", Panel.CONNECTION, _FETCHING, "U:P"),
    Option("proxy", Panel.CONNECTION, _FETCHING, "URL"),
    Option("ca_file", Panel.CONNECTION, _FETCHING, "FILE"),
)

Row = tuple[str, str]
"""What is typed, and what it means."""

CONFIG_ROW: Final[Row] = ("--config FILE", "Settings, named like the options, in TOML.")
VERSION_ROW: Final[Row] = ("--version", "Print the version.")
HELP_ROW: Final[Row] = ("-h, --help", "Show this message.")
SITES_ROW: Final[Row] = ("--sites FILE", "Many sites at once: one URL a line, or .toml with options for each.")

# "…": several may be given; "[": none has to be.
ARGUMENTS: Final[Mapping[str, Row]] = {
    Command.LIST: ("URL", "A site, a part of a site, or a sitemap."),
    Command.MIRROR: ("URL", "A site, a part of a site, or a sitemap."),
    Command.CRAWL: ("URL", "The page to begin at."),
    Command.CONVERT: ("FILE|URL|-", "An HTML file, a page's address, or - for stdin."),
    Command.VERIFY: ("DIR", "A mirror's folder, or one with several in it."),
    Command.WHERE: ("URL|FILE", "A page's address, or a file of a mirror."),
    Command.SEARCH: ("QUERY [DIR …]", "What to search for, and mirrors or folders with mirrors in them (output)."),
}

MORE_ARGUMENTS: Final[Mapping[str, tuple[Row, ...]]] = {
    Command.MIRROR: (SITES_ROW,),
    Command.CRAWL: (SITES_ROW,),
    Command.CONVERT: (
        ("--url URL", "The URL of a page in a file: what its relative links count from."),
        ("--explain", "Show what is kept of the page and what is cut, and why, in place of it."),
    ),
    Command.SEARCH: (
        ("--limit N", "How many results (10)."),
        ("--json", "Print JSON, as it is done where stdout is no terminal."),
    ),
}
"""Options of a command that are no settings, and so cannot be given in the environment or in a file."""


def options_of(*commands: Command) -> tuple[Option, ...]:
    """The options that any of `commands` takes, in the order of the help text, with the choices of all of them.

    An option that they explain differently is explained in the setting's own words.
    """
    found: dict[str, Option] = {}
    for option in OPTIONS:
        if option.commands.intersection(commands):
            first = found.setdefault(option.field, option)
            if first is not option:
                found[option.field] = replace(first, choices=first.choices + option.choices, says="")
    return tuple(found.values())


def opposites() -> dict[str, str]:
    """The names that turn a flag off, spelled like fields (`ignore_robots`), each with the field that it turns off."""
    pairs = ((name.partition("/")[2], option.field) for option in OPTIONS for name in option.spellings)
    return {off.removeprefix("--").replace("-", "_"): field for off, field in pairs if off}


def spell(field: str) -> str:
    """`rate_limit` as it is typed: `--rate-limit`."""
    return "--" + field.replace("_", "-")


def is_flag(field: str) -> bool:
    return setting_types()[field].type is bool


def is_repeatable(field: str) -> bool:
    return setting_types()[field].type is tuple


def is_number(field: str) -> bool:
    return setting_types()[field].type in (int, float)


def is_path(field: str) -> bool:
    return setting_types()[field].type is Path


def default_text(field: str) -> str:
    """A setting's default as a person would type it; empty where there is none."""
    value = setting_types()[field].default
    if value is None or value == ():
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
