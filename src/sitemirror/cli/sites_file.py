"""Reads the list of sites that `--sites` names: plain text, or TOML with options for each.

What stands nearest to a site counts most: its own table, then the top of the file, then the command line and all else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sitemirror.api import start_of
from sitemirror.cli.config import Layer, at_home, check_choices, from_home, key_of, read_text, read_toml, settings_in
from sitemirror.cli.options import Command
from sitemirror.errors import UsageError
from sitemirror.settings import InvalidSettings, Settings
from sitemirror.sites import COMMON, Site
from sitemirror.text import printable

_TALK: Final = frozenset({"quiet", "verbose"})
_HINT: Final = "check --sites FILE"
_TABLES: Final = 'sites look like: [[site]], then url = "https://…"; a plain list of URLs has another ending than .toml'
_ON_THE_LINE: Final = "give it on the command line"
_ONCE: Final = "give it once, before the first [[site]]"


def read_sites(path: Path, command: Command, settings: Settings) -> tuple[list[Site], Settings]:
    """The sites, each with its settings, and what counts for all of them. Raises `UsageError` that says where."""
    path = at_home(path)
    if path.suffix.lower() == ".toml":
        sites, common = _from_toml(path, command, settings)
    else:
        sites, common = [Site(_start(url, place), settings) for place, url in _lines(path)], settings
    if not sites:
        raise UsageError(f"{path}: no site in it", hint="one URL a line, or [[site]] tables in a .toml file")
    return sites, common


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_text(path, hint=_HINT).splitlines(), 1):
        # A URL's own # has no blank before it.
        url = f" {line}".replace("\t", " ").partition(" #")[0].strip()
        if " " in url:
            raise UsageError(f"{path}, line {number}: more than a URL", hint="options for a site go into a .toml file")
        if url:
            yield f"{path}, line {number}", url


def _from_toml(path: Path, command: Command, settings: Settings) -> tuple[list[Site], Settings]:
    content = read_toml(path, hint=_HINT, example=_TABLES)
    if "sites" in content:
        raise UsageError(f"{path}: unknown key sites", hint=_TABLES)
    tables = content.pop("site", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: site is not a list of tables", hint=_TABLES)
    if "url" in content:
        raise UsageError(f"{path}: url stands in no [[site]]", hint=_TABLES)
    top = _judged(str(path), content, command, _TALK)
    common = _with(settings, top, str(path), command)
    sites = []
    for number, table in enumerate(tables, 1):
        url = table.pop("url", None)
        if not isinstance(url, str):
            raise UsageError(f"{path}: site {number} has no url", hint='give it as url = "https://example.com/"')
        place = f"{path}: {printable(url, limit=200)}"
        start = _start(url, str(path))
        own = _judged(place, table, command, COMMON)
        sites.append(Site(start, _with(common, own, place, command) if own else common))
    return sites, common


def _judged(place: str, values: Mapping[str, Any], command: Command, elsewhere: frozenset[str]) -> dict[str, Any]:
    found = settings_in(place, values, "", frozenset({command}))
    for field in sorted(found.keys() & elsewhere):
        hint = _ON_THE_LINE if field in _TALK else _ONCE
        raise UsageError(f"{place}: {key_of(field)} counts for all sites", hint=hint)
    return found


def _with(settings: Settings, values: Mapping[str, Any], place: str, command: Command) -> Settings:
    layer = Layer(values, lambda field: f"{place}: {key_of(field)}")
    for field in values:
        check_choices(command, layer, field)
    try:
        return settings.with_changes(**from_home(values))
    except InvalidSettings as error:
        raise UsageError(*error.sentences(layer.name_of), hint=f"see `sitemirror {command} --help`") from None


def _start(url: str, place: str) -> str:
    try:
        return start_of(url)
    except UsageError as error:
        raise UsageError(f"{place}: {error.message}", hint=error.hint) from None
