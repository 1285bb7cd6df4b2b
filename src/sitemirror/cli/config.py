"""Gather the settings of a run: command line over environment over configuration file over defaults.

A list of sites, plain text or TOML with options for each, comes on top: a site's own table over the top of that file
over all of these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitemirror.cli.options import (
    OPTIONS,
    Command,
    is_flag,
    is_number,
    is_path,
    is_repeatable,
    opposites,
    options_of,
    spell,
)
from sitemirror.errors import UsageError
from sitemirror.settings import InvalidSettings, Settings
from sitemirror.text import printable

if TYPE_CHECKING:
    from sitemirror.sites import Site

DEFAULT_FILE: Final = "sitemirror.toml"
PREFIX: Final = "SITEMIRROR_"

_TRUE: Final = ("true", "1", "yes", "on", "t", "y")
_FALSE: Final = ("false", "0", "no", "off", "f", "n")
_TABLES: Final = (Command.LIST, Command.MIRROR, Command.CRAWL)


class Layer(NamedTuple):
    """Settings from one source, and how that source spells a setting's name."""

    values: Mapping[str, Any]
    name_of: Callable[[str], str]
    own: bool = True  # meant for this command alone


def settings_for(
    command: Command, typed: Mapping[str, Any], *, environ: Mapping[str, str], config: Path | None = None
) -> Settings:
    """The settings of one run of `command`. Raises `UsageError` that names each wrong value where it was written."""
    path, hint = _config_file(environ, config)
    layers = [
        *(_file_layers(path, command, hint) if path is not None else ()),
        Layer(from_environment(environ), variable, own=False),
        Layer(typed, spell),
    ]
    wanted = {option.field for option in options_of(command)}
    merged: dict[str, Any] = {}
    names: dict[str, Callable[[str], str]] = {}
    for layer in layers:
        if layer.values.get("quiet") and layer.values.get("verbose"):
            raise UsageError(
                f"{layer.name_of('quiet')} and {layer.name_of('verbose')} contradict each other", hint="give only one"
            )
        # A louder or quieter voice asked for nearer to the person replaces the other one.
        for this, other in (("quiet", "verbose"), ("verbose", "quiet")):
            if layer.values.get(this):
                merged.pop(other, None)
        # What was typed is judged in any case: a mistake that has no effect today is still a mistake.
        for field in layer.values.keys() & (wanted | typed.keys()):
            if check_choices(command, layer, field):
                merged[field] = layer.values[field]
                names[field] = layer.name_of
    try:
        return Settings.of(from_home(merged))
    except InvalidSettings as error:
        wrong = error.sentences(lambda field: names.get(field, spell)(field))
        raise UsageError(*wrong, hint=f"see `sitemirror {command} --help`") from None


def check_choices(command: Command, layer: Layer, field: str) -> bool:
    """Whether a value counts for this command. What only another command takes is left aside, unless meant here."""
    choices = next((option.choices for option in options_of(command) if option.field == field), ())
    value = layer.values[field]
    if value == "" and is_path(field):  # A variable of a script that was never set: the working folder is not meant.
        raise UsageError(f"{layer.name_of(field)} is empty", hint="give a path, or leave it out")
    if not choices or value in choices:
        return True
    if not layer.own and any(option.field == field and value in option.choices for option in OPTIONS):
        return False
    raise UsageError(
        f"{layer.name_of(field)} must be one of {', '.join(choices)}, got {value}",
        hint=f"see `sitemirror {command} --help`",
    )


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + field.upper()


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Settings named in the environment. An empty variable counts as not set; repeatable ones are split at newlines."""
    found: dict[str, Any] = {}
    for option in OPTIONS:
        text = environ.get(variable(option.field), "")
        if text:
            lines = tuple(line for line in text.splitlines() if line.strip())
            found[option.field] = lines if is_repeatable(option.field) else text
    for name, field in opposites().items():
        text = environ.get(variable(name), "").lower()
        if text and field in found:
            raise UsageError(f"{variable(field)} and {variable(name)} are one setting", hint="give only one")
        if text and text not in _TRUE + _FALSE:
            raise UsageError(f"{variable(name)} must be true or false, got {text}", hint=f"{variable(name)}=true")
        if text:
            found[field] = text in _FALSE
    return found


def misspelt(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Variables that are nearly one of ours, each with the one that was probably meant."""
    ours = {variable(name) for name in (*(option.field for option in OPTIONS), *opposites(), "config")}
    others = sorted(name for name in environ if name.startswith(PREFIX) and name not in ours)
    if not others:
        return []
    from difflib import get_close_matches

    meant = [(name, get_close_matches(name, sorted(ours), n=1, cutoff=0.9)) for name in others]
    return [(name, close[0]) for name, close in meant if close]


def from_home(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the home folder for the `~` that a path begins with.

    A shell does that only where it sees one, and so neither behind `--output=` nor in a file. A folder that is called
    `~` is never meant, and who removes it again by that name removes something else.
    """
    return {
        field: os.path.expanduser(value)  # noqa: PTH111 - a wrong value need not be text
        if is_path(field) and isinstance(value, str) and value.partition("/")[0] == "~"
        else value
        for field, value in values.items()
    }


def at_home(path: Path) -> Path:
    """The same with the home folder for the `~` that it begins with, if there is one."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - a home that is not there is no error here


def _config_file(environ: Mapping[str, str], named: Path | None) -> tuple[Path | None, str]:
    """The configuration file to read, the one that was named or `sitemirror.toml` here, and where to look if it fails.

    One that is there and cannot be read is not passed over: a run would begin without the limits that are in it.
    """
    if named is not None:
        return at_home(named), "check --config FILE"
    if environ.get(PREFIX + "CONFIG"):
        return at_home(Path(environ[PREFIX + "CONFIG"])), f"check {PREFIX}CONFIG in the environment"
    default = Path(DEFAULT_FILE) if os.path.lexists(DEFAULT_FILE) else None
    return default, "mend it, or move it away: a file of this name is read wherever a command is given"


def _file_layers(path: Path, command: Command, hint: str) -> tuple[Layer, Layer]:
    """The file's own settings, and those of its table for `command`, which count more."""
    content = read_toml(path, hint=hint)
    tables = {table: content.pop(table) for table in _TABLES if isinstance(content.get(table), dict)}
    for name, value in content.items():
        if isinstance(value, dict):
            raise UsageError(f"{path}: unknown table {name}", hint="there are [list], [mirror] and [crawl]")
    general = settings_in(path, content, "", frozenset(Command))
    special: dict[str, Any] = {}
    # Every table is checked, so that a mistake shows at once and not only with the command it is about.
    for table, values in tables.items():
        checked = settings_in(path, values, f"{table}.", frozenset({table}))
        if table == command:
            special = checked
    return (
        Layer(general, lambda field: f"{path}: {key_of(field)}", own=False),
        Layer(special, lambda field: f"{path}: {command}.{key_of(field)}"),
    )


def read_toml(path: Path, *, hint: str, example: str = "lines look like: rate-limit = 2.0") -> dict[str, Any]:
    """What a file holds. Raises `UsageError`: with `hint` if it cannot be read, with `example` if it is no TOML."""
    import tomllib

    try:
        return tomllib.loads(read_text(path, hint=hint))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}", hint=example) from None


def read_text(path: Path, *, hint: str) -> str:
    """What a file says. Raises `UsageError`, with `hint` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}", hint=hint) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text", hint="save the file as UTF-8") from None


def settings_in(
    path: Path | str, values: Mapping[str, Any], prefix: str, commands: frozenset[Command]
) -> dict[str, Any]:
    """Settings by their fields, from values by keys. Raises `UsageError` for keys that none of `commands` knows."""
    known = {option.field: option.field for option in options_of(*commands)}
    known |= {off: field for off, field in opposites().items() if field in known}
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in known:
            raise UsageError(f"{path}: unknown key {prefix}{key}", hint=_suggestion(name, known))
        field = known[name]
        if field in found:
            raise UsageError(f"{path}: {prefix}{key} is given twice", hint="keep one spelling of it")
        taken = _value(path, f"{prefix}{key}", field, value)
        found[field] = taken if name == field else not taken
    return found


def _value(path: Path | str, name: str, field: str, value: Any) -> Any:
    if isinstance(value, bool) and is_number(field):
        hint = f"write it as {key_of(field)} = 2"
        raise UsageError(f"{path}: {name} must be a number, got {str(value).lower()}", hint=hint)
    if not isinstance(value, bool) and is_flag(field):
        hint = f"write it as {name.rpartition('.')[2]} = true"
        raise UsageError(f"{path}: {name} must be true or false, got {value}", hint=hint)
    return (value,) if isinstance(value, str) and is_repeatable(field) else value


def _suggestion(field: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(field, sorted(known), n=1)
    return (
        f"did you mean {key_of(close[0])}?" if close else "keys are named like the options, without the dashes in front"
    )


def key_of(field: str) -> str:
    """A setting as files spell it."""
    return field.replace("_", "-")


# --- lists of sites ------------------------------------------------------------------------------------------------

_VERBOSITY: Final = frozenset({"quiet", "verbose"})
_SITES_HINT: Final = "check --sites FILE"
_SITE_TABLES: Final = (
    'sites look like: [[site]], then url = "https://…"; a plain list of URLs has another ending than .toml'
)
_ON_COMMAND_LINE: Final = "give it on the command line"
_ONCE: Final = "give it once, before the first [[site]]"


def read_sites(path: Path, command: Command, settings: Settings) -> tuple[list[Site], Settings]:
    """The sites, each with its settings, and what counts for all of them. Raises `UsageError` that says where."""
    from sitemirror.sites import Site  # It loads all that a run needs.

    path = at_home(path)
    if path.suffix.lower() == ".toml":
        sites, common = _sites_from_toml(path, command, settings)
    else:
        sites, common = [Site(_start_url(url, place), settings) for place, url in _listed_urls(path)], settings
    if not sites:
        raise UsageError(f"{path}: no site in it", hint="one URL a line, or [[site]] tables in a .toml file")
    return sites, common


def _listed_urls(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_text(path, hint=_SITES_HINT).splitlines(), 1):
        # A URL's own # has no blank before it.
        url = f" {line}".replace("\t", " ").partition(" #")[0].strip()
        if " " in url:
            raise UsageError(f"{path}, line {number}: more than a URL", hint="options for a site go into a .toml file")
        if url:
            yield f"{path}, line {number}", url


def _sites_from_toml(path: Path, command: Command, settings: Settings) -> tuple[list[Site], Settings]:
    from sitemirror.sites import COMMON, Site

    content = read_toml(path, hint=_SITES_HINT, example=_SITE_TABLES)
    if "sites" in content:
        raise UsageError(f"{path}: unknown key sites", hint=_SITE_TABLES)
    tables = content.pop("site", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: site is not a list of tables", hint=_SITE_TABLES)
    if "url" in content:
        raise UsageError(f"{path}: url stands in no [[site]]", hint=_SITE_TABLES)
    top = _site_settings(str(path), content, command, _VERBOSITY)
    common = _with_changes(settings, top, str(path), command)
    sites = []
    for number, table in enumerate(tables, 1):
        url = table.pop("url", None)
        if not isinstance(url, str):
            raise UsageError(f"{path}: site {number} has no url", hint='give it as url = "https://example.com/"')
        place = f"{path}: {printable(url, limit=200)}"
        start = _start_url(url, str(path))
        own = _site_settings(place, table, command, COMMON)
        sites.append(Site(start, _with_changes(common, own, place, command) if own else common))
    return sites, common


def _site_settings(
    place: str, values: Mapping[str, Any], command: Command, elsewhere: frozenset[str]
) -> dict[str, Any]:
    found = settings_in(place, values, "", frozenset({command}))
    for field in sorted(found.keys() & elsewhere):
        hint = _ON_COMMAND_LINE if field in _VERBOSITY else _ONCE
        raise UsageError(f"{place}: {key_of(field)} counts for all sites", hint=hint)
    return found


def _with_changes(settings: Settings, values: Mapping[str, Any], place: str, command: Command) -> Settings:
    layer = Layer(values, lambda field: f"{place}: {key_of(field)}")
    for field in values:
        check_choices(command, layer, field)
    try:
        return settings.with_changes(**from_home(values))
    except InvalidSettings as error:
        raise UsageError(*error.sentences(layer.name_of), hint=f"see `sitemirror {command} --help`") from None


def _start_url(url: str, place: str) -> str:
    from sitemirror.api import start_of

    try:
        return start_of(url)
    except UsageError as error:
        raise UsageError(f"{place}: {error.message}", hint=error.hint) from None
