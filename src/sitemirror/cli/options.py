"""The table of options: each setting's spelling on the command line, and its commands.

Defaults, bounds and help texts are in `settings.py` alone. An option has a text of its own only where a setting means
less to one command than to the others.
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
    UPDATE = "update"
    CONVERT = "convert"
    VERIFY = "verify"
    WHERE = "where"
    SEARCH = "search"
    EXPORT = "export"
    AGENTS = "agents"
    MCP = "mcp"


class Panel(StrEnum):
    """The groups that the help text shows options in, in its order."""

    CONTENT = "Scope and content"
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
    """Its meaning to this command, where the setting's own text says more."""

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
        """Placeholder of the value in help: `N`, `skip|retry|abort`, or nothing for a flag."""
        choices = self.choices or setting_types()[self.field].choices
        return "|".join(choices) if choices else self.metavar


_SITEMAPS: Final = frozenset({Command.LIST, Command.MIRROR})
_PAGES: Final = frozenset({Command.MIRROR, Command.CRAWL})
_RUNS: Final = _SITEMAPS | _PAGES
_UPDATE: Final = frozenset({Command.UPDATE})
_COPYING: Final = _PAGES | _UPDATE
_RUNNING: Final = _RUNS | _UPDATE
_MIRROR: Final = frozenset({Command.MIRROR})
_CRAWL: Final = frozenset({Command.CRAWL})
_LIST: Final = frozenset({Command.LIST})
_CONVERT: Final = frozenset({Command.CONVERT})
_VERIFY: Final = frozenset({Command.VERIFY})
_WHERE: Final = frozenset({Command.WHERE})
_SEARCH: Final = frozenset({Command.SEARCH})
_AFTER: Final = frozenset({Command.SEARCH, Command.EXPORT, Command.AGENTS, Command.MCP})
_CONVERTING: Final = _PAGES | _CONVERT
_FETCHING: Final = _RUNNING | _CONVERT

OPTIONS: Final = (
    Option("discover", Panel.CONTENT, _PAGES),
    Option("whole_site", Panel.CONTENT, _RUNS, spellings=("--whole-site",)),
    Option("link_depth", Panel.CONTENT, _PAGES, "N"),
    Option("include_path", Panel.CONTENT, _RUNS, "GLOB"),
    Option("exclude_path", Panel.CONTENT, _RUNS, "GLOB"),
    Option("include", Panel.CONTENT, _RUNS, "GLOB"),
    Option("exclude", Panel.CONTENT, _RUNS, "GLOB"),
    Option("strip_params", Panel.CONTENT, _PAGES, "GLOB"),
    Option("keep_params", Panel.CONTENT, _PAGES, "GLOB"),
    Option("domain_lock", Panel.CONTENT, _SITEMAPS, spellings=("--domain-lock/--no-domain-lock",)),
    Option("same_domain", Panel.CONTENT, _CRAWL, spellings=("--same-domain/--any-domain",)),
    Option("honor_nofollow", Panel.CONTENT, _PAGES, spellings=("--honor-nofollow",)),
    Option("update", Panel.CONTENT, _PAGES, spellings=("--update",)),
    Option("max_age", Panel.CONTENT, _COPYING, "DAYS"),
    Option("re_download_all", Panel.CONTENT, _COPYING, spellings=("--re-download-all",)),
    Option("accept_changes", Panel.CONTENT, _COPYING, spellings=("--accept-changes",)),
    Option("content", Panel.CONTENT, _CONVERTING),
    Option("rate_limit", Panel.POLITENESS, _LIST, "R", says="Requests per second. 0 = no limit."),
    Option("rate_limit", Panel.POLITENESS, _COPYING, "R"),
    Option("content_rate_limit", Panel.POLITENESS, _COPYING, "R"),
    Option("delay_seconds", Panel.POLITENESS, _COPYING, "S"),
    Option("concurrency", Panel.POLITENESS, _COPYING, "N"),
    Option("workers", Panel.LIMITS, _COPYING, "N"),
    Option("max_connections", Panel.LIMITS, _PAGES, "N"),
    Option("max_connections", Panel.LIMITS, _UPDATE, "N", says="Connections to the sites of all mirrors together."),
    Option("respect_robots", Panel.POLITENESS, _PAGES, spellings=("--respect-robots/--ignore-robots",)),
    Option("max_pages", Panel.LIMITS, _COPYING, "N"),
    Option(
        "max_file_size",
        Panel.LIMITS,
        _CONVERT,
        "MB",
        says="Maximum size of a page in MB, as sent and after decompression.",
    ),
    Option("max_file_size", Panel.LIMITS, _COPYING, "MB"),
    Option("max_sitemap_size", Panel.LIMITS, _RUNNING, "MB"),
    Option("min_free_mb", Panel.LIMITS, _RUNNING, "N"),
    Option("timeout", Panel.LIMITS, _FETCHING, "S"),
    Option("on_error", Panel.ERRORS, _COPYING),
    Option(
        "max_retries",
        Panel.ERRORS,
        _LIST,
        "N",
        says="Retries per sitemap after a transient failure such as 429 or 503. 0 = none.",
    ),
    Option(
        "max_retries",
        Panel.ERRORS,
        _CONVERT,
        "N",
        says="Retries after 429, or 503 with Retry-After. 0 = none.",
    ),
    Option("max_retries", Panel.ERRORS, _COPYING, "N"),
    Option("strict", Panel.ERRORS, _COPYING, spellings=("--strict",)),
    Option(
        "strict",
        Panel.ERRORS,
        _LIST,
        spellings=("--strict",),
        says="Exit with 3 if the list is `partial`: a sitemap could not be read completely.",
    ),
    Option("output", Panel.OUTPUT, _RUNS, "DIR", spellings=("--output", "-o")),
    Option(
        "output",
        Panel.OUTPUT,
        _WHERE,
        "DIR",
        spellings=("--output", "-o"),
        says="Directory with the mirrors: the --output of mirror or crawl.",
    ),
    Option(
        "format",
        Panel.OUTPUT,
        _LIST,
        choices=("json", "md"),
        says="Output on stdout: json = the report; md = the outline itself. Default: json.",
    ),
    Option(
        "format",
        Panel.OUTPUT,
        _MIRROR,
        choices=("markdown", "html", "both"),
        says="Format of saved pages. Default: markdown.",
    ),
    Option(
        "format",
        Panel.OUTPUT,
        _CRAWL,
        choices=("markdown", "html", "both"),
        says="Format of saved pages. Default: html.",
    ),
    Option("links", Panel.OUTPUT, _PAGES),
    Option("post_process", Panel.OUTPUT, _PAGES, spellings=("--post-process/--no-post-process",)),
    Option("front_matter", Panel.OUTPUT, _CONVERTING, spellings=("--front-matter/--no-front-matter",)),
    Option("index", Panel.OUTPUT, _MIRROR, spellings=("--index",)),
    Option("hash", Panel.OUTPUT, _PAGES, spellings=("--hash/--no-hash",)),
    Option("quiet", Panel.OUTPUT, _COPYING, spellings=("--quiet", "-q")),
    Option(
        "quiet",
        Panel.OUTPUT,
        _LIST | _CONVERT,
        spellings=("--quiet", "-q"),
        says="Print only errors on stderr.",
    ),
    Option(
        "quiet",
        Panel.OUTPUT,
        _VERIFY,
        spellings=("--quiet", "-q"),
        says="Print only the number of problems on stderr.",
    ),
    Option("verbose", Panel.OUTPUT, _RUNNING, spellings=("--verbose", "-v")),
    Option(
        "verbose",
        Panel.OUTPUT,
        _CONVERT | _VERIFY | _WHERE | _AFTER,
        spellings=("--verbose", "-v"),
        says="Show a traceback on internal errors.",
    ),
    Option("json", Panel.OUTPUT, _RUNNING | _VERIFY | _SEARCH, spellings=("--json",)),
    Option("profile", Panel.OUTPUT, _COPYING, spellings=("--profile",)),
    Option("user_agent", Panel.CONNECTION, _FETCHING, "S"),
    Option("header", Panel.CONNECTION, _FETCHING, "'K: V'"),
    Option("cookie_file", Panel.CONNECTION, _FETCHING, "FILE"),
    Option("basic_auth", Panel.CONNECTION, _FETCHING, "U:P"),
    Option("proxy", Panel.CONNECTION, _FETCHING, "URL"),
    Option("ca_file", Panel.CONNECTION, _FETCHING, "FILE"),
)

BASIC: Final = frozenset(
    {
        "link_depth",
        "include_path",
        "exclude_path",
        "update",
        "content",
        "rate_limit",
        "concurrency",
        "max_pages",
        "output",
        "format",
        "links",
        "basic_auth",
        "strict",
        "quiet",
    }
)
"""Settings that most people need. `--help` shows these where a command takes many more."""

Row = tuple[str, str]
"""A spelling and its meaning."""

CONFIG_ROW: Final[Row] = ("--config FILE", "Read settings, named like the options, from a TOML file.")
VERSION_ROW: Final[Row] = ("-V, --version", "Print the version.")
HELP_ROW: Final[Row] = ("-h, --help", "Show this help.")
HELP_ALL_ROW: Final[Row] = ("--help-all", "Show all options.")
SITES_ROW: Final[Row] = (
    "--sites FILE",
    "Many sites at once: a file with one URL a line (- = stdin), or .toml with options for each.",
)

_MIRRORS: Final = "Folder of a mirror, or a folder with mirrors in it. Can be repeated."
_OUTPUT: Final = "[default: output]"

# "...": several may be given; a leading "[": none has to be.
ARGUMENTS: Final[Mapping[str, Row]] = {
    Command.LIST: ("URL", "A site, a section of a site, or a sitemap."),
    Command.MIRROR: ("URL", "A site, a section of a site, or a sitemap."),
    Command.CRAWL: ("URL", "The start page."),
    Command.UPDATE: ("DIR ...", _MIRRORS),
    Command.CONVERT: ("[FILE|URL|-]", "An HTML file, the URL of a page, or - for stdin (the default in a pipe)."),
    Command.VERIFY: ("DIR", "Folder of a mirror, or a folder with mirrors in it."),
    Command.WHERE: ("URL|FILE", "URL of a page, or a file of a mirror."),
    Command.SEARCH: (
        "QUERY [DIR ...]",
        f"Text to search for, and folders of mirrors or folders with mirrors in them. {_OUTPUT}",
    ),
    Command.EXPORT: ("DIR ...", _MIRRORS),
    Command.AGENTS: ("[DIR ...]", f"{_MIRRORS} {_OUTPUT}"),
    Command.MCP: ("[DIR ...]", f"{_MIRRORS} {_OUTPUT}"),
}

MORE_ARGUMENTS: Final[Mapping[str, tuple[Row, ...]]] = {
    Command.MIRROR: (SITES_ROW,),
    Command.CRAWL: (SITES_ROW,),
    Command.CONVERT: (
        ("--url URL", "URL of a page in a file: the base of its relative links."),
        ("--explain", "Show which parts of the page are kept or removed, and why."),
    ),
    Command.SEARCH: (("--limit N", "Number of results. [default: 10]"),),
    Command.EXPORT: (
        ("--format jsonl|parquet|md", "One JSON object a line, Parquet, or packed Markdown files. [default: jsonl]"),
        ("--sections", "Export sections instead of pages."),
        ("--max-tokens N", "Estimated tokens of a section (default: 800) or of a Markdown file (default: 100,000)."),
        ("--since DATE", "Only what changed on or after this day or time, and what was removed."),
        ("-o, --output PATH", "The file; for md, the folder. jsonl goes to stdout by default."),
    ),
    Command.MCP: (("--http PORT", "Serve over HTTP on 127.0.0.1 instead of stdin and stdout. 0 = any free port."),),
    Command.AGENTS: (
        ("--write FILE", "Put the index between markers into this file, such as AGENTS.md or CLAUDE.md."),
        ("--mcp claude|cursor|codex|vscode", "Add the server to this client's configuration in the current folder."),
        ("--remove", "Remove what --write or --mcp added."),
        ("--yes", "Change the client's configuration without asking."),
    ),
}
"""Options that are no settings: they cannot be given in the environment or in a file."""


def options_of(*commands: Command) -> tuple[Option, ...]:
    """Return the options of any of `commands`, in the order of the help, with the choices of all.

    An option that they explain differently gets the setting's own text.
    """
    found: dict[str, Option] = {}
    for option in OPTIONS:
        if option.commands.intersection(commands):
            first = found.setdefault(option.field, option)
            if first is not option:
                found[option.field] = replace(first, choices=first.choices + option.choices, says="")
    return tuple(found.values())


def opposites() -> dict[str, str]:
    """Return the names that turn a flag off, such as `ignore_robots`, with the flag's field."""
    pairs = ((name.partition("/")[2], option.field) for option in OPTIONS for name in option.spellings)
    return {off.removeprefix("--").replace("-", "_"): field for off, field in pairs if off}


def spell(field: str) -> str:
    """Spell a field as an option: `rate_limit` is `--rate-limit`."""
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
    """Format a setting's default as a person would type it; empty if there is none."""
    value = setting_types()[field].default
    if value is None or value == ():
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
