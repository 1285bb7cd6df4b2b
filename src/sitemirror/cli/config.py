"""Gather the settings of a run: command line over environment over configuration file over defaults.

A list of sites, plain text or TOML with options for each, comes on top: a site's own table over the top of that file
over all of these.
"""

from __future__ import annotations

import os
import sys
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
STDIN: Final = "-"

_TRUE: Final = ("true", "1", "yes", "on", "t", "y")
_FALSE: Final = ("false", "0", "no", "off", "f", "n")
_TABLES: Final = (Command.LIST, Command.MIRROR, Command.CRAWL)


class SettingsLayer(NamedTuple):
    """Settings from one source, and how that source spells a setting's name."""

    values: Mapping[str, Any]
    name_of: Callable[[str], str]
    own: bool = True  # meant for this command alone


def settings_for(
    command: Command, typed: Mapping[str, Any], *, environ: Mapping[str, str], config: Path | None = None
) -> Settings:
    """Merge the settings of a run. Raises `UsageError` that names each wrong value and its source."""
    path, hint = _config_file(environ, config)
    layers = [
        *(_file_layers(path, command, hint) if path is not None else ()),
        SettingsLayer(from_environment(environ), variable, own=False),
        SettingsLayer(typed, spell),
    ]
    fields = {option.field for option in options_of(command)}
    merged: dict[str, Any] = {}
    names: dict[str, Callable[[str], str]] = {}
    for layer in layers:
        if layer.values.get("quiet") and layer.values.get("verbose"):
            raise UsageError(
                f"{layer.name_of('quiet')} and {layer.name_of('verbose')} contradict each other", hint="give only one"
            )
        # The later layer decides between quiet and verbose.
        for this, other in (("quiet", "verbose"), ("verbose", "quiet")):
            if layer.values.get(this):
                merged.pop(other, None)
        # Typed options are always checked: a mistake without effect is still a mistake.
        for field in layer.values.keys() & (fields | typed.keys()):
            if check_choices(command, layer, field):
                merged[field] = layer.values[field]
                names[field] = layer.name_of
    try:
        return Settings.of(from_home(merged))
    except InvalidSettings as error:
        wrong = error.sentences(lambda field: names.get(field, spell)(field))
        raise UsageError(*wrong, hint=f"see `sitemirror {command} --help`") from None


def check_choices(command: Command, layer: SettingsLayer, field: str) -> bool:
    """True if a value applies to this command. Values for other commands are ignored unless given here."""
    choices = next((option.choices for option in options_of(command) if option.field == field), ())
    value = layer.values[field]
    if value == "" and is_path(field):  # A script's unset variable, which does not mean the working directory.
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
    """Return the settings in the environment: empty variables ignored, repeatable ones split into lines."""
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
    """Return variables that look like one of ours, each with the probable one."""
    ours = {variable(name) for name in (*(option.field for option in OPTIONS), *opposites(), "config")}
    others = sorted(name for name in environ if name.startswith(PREFIX) and name not in ours)
    if not others:
        return []
    from difflib import get_close_matches

    meant = [(name, get_close_matches(name, sorted(ours), n=1, cutoff=0.9)) for name in others]
    return [(name, close[0]) for name, close in meant if close]


def from_home(values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a path's leading `~`, which no shell does after `--output=` or in a file."""
    return {
        field: os.path.expanduser(value)  # noqa: PTH111 - a wrong value need not be text
        if is_path(field) and isinstance(value, str) and value.partition("/")[0] == "~"
        else value
        for field, value in values.items()
    }


def at_home(path: Path) -> Path:
    """Replace a leading `~` by the home folder, if there is one."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - a missing home is no error


def _config_file(environ: Mapping[str, str], named: Path | None) -> tuple[Path | None, str]:
    """Return the configuration file, named or `sitemirror.toml` here, and a hint if it fails.

    An existing file that cannot be read is an error: a run would start without its limits.
    """
    if named is not None:
        return at_home(named), "check --config FILE"
    if environ.get(PREFIX + "CONFIG"):
        return at_home(Path(environ[PREFIX + "CONFIG"])), f"check {PREFIX}CONFIG in the environment"
    default = Path(DEFAULT_FILE) if os.path.lexists(DEFAULT_FILE) else None
    return default, "fix it, or move it away: sitemirror.toml in the working directory is always read"


def _file_layers(path: Path, command: Command, hint: str) -> tuple[SettingsLayer, SettingsLayer]:
    """Return the file's general settings, and those of its table for `command`, which take precedence."""
    content = read_toml(path, hint=hint)
    tables = {table: content.pop(table) for table in _TABLES if isinstance(content.get(table), dict)}
    for name, value in content.items():
        if isinstance(value, dict):
            raise UsageError(f"{path}: unknown table {name}", hint="there are [list], [mirror] and [crawl]")
    general = settings_in(path, content, "", frozenset(Command))
    special: dict[str, Any] = {}
    # Every table is checked, so that a mistake shows with any command.
    for table, values in tables.items():
        checked = settings_in(path, values, f"{table}.", frozenset({table}))
        if table == command:
            special = checked
    return (
        SettingsLayer(general, lambda field: f"{path}: {key_of(field)}", own=False),
        SettingsLayer(special, lambda field: f"{path}: {command}.{key_of(field)}"),
    )


def read_toml(path: Path, *, hint: str, example: str = "lines look like: rate-limit = 2.0") -> dict[str, Any]:
    """Read a TOML file. Raises `UsageError`: unreadable with `hint`, invalid with `example`."""
    import tomllib

    try:
        return tomllib.loads(read_config_text(path, hint=hint))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}", hint=example) from None


def read_config_text(path: Path, *, hint: str) -> str:
    """Read a text file. Raises `UsageError`, with `hint` if it is unreadable."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}", hint=hint) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text", hint="save the file as UTF-8") from None


def settings_in(
    path: Path | str, values: Mapping[str, Any], prefix: str, commands: frozenset[Command]
) -> dict[str, Any]:
    """Return settings by field from values by key. Raises `UsageError` for keys that no command knows."""
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
        read = _value(path, f"{prefix}{key}", field, value)
        found[field] = read if name == field else not read
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
    return f"did you mean {key_of(close[0])}?" if close else "keys are named like the options, without leading dashes"


def key_of(field: str) -> str:
    """Spell a field as a key in a file."""
    return field.replace("_", "-")


# --- lists of sites ------------------------------------------------------------------------------------------------

_OF_THE_COMMAND: Final = frozenset({"quiet", "verbose", "json", "strict"})
_SITES_HINT: Final = "check --sites FILE"
_SITE_TABLES: Final = (
    'write sites as [[site]] tables with url = "https://…"; a plain list of URLs must not end in .toml'
)
_ON_COMMAND_LINE: Final = "give it on the command line"
_ONCE: Final = "give it once, before the first [[site]]"


def read_sites(path: Path, command: Command, settings: Settings) -> tuple[list[Site], Settings]:
    """Return the sites with their settings, and the settings for all.

    `-` is stdin, as a plain list. Raises `UsageError` that names the place.
    """
    from sitemirror.sites import Site  # It loads all that a run needs.

    path = at_home(path)
    text = _read_stdin() if str(path) == STDIN else None
    if path.suffix.lower() == ".toml":
        sites, common = _sites_from_toml(path, command, settings)
    else:
        sites, common = [Site(_start_url(url, place), settings) for place, url in _listed_urls(path, text)], settings
    if not sites:
        raise UsageError(f"{_shown(path)}: no site in it", hint="one URL a line, or [[site]] tables in a .toml file")
    return sites, common


def _read_stdin() -> str:
    """Read stdin as UTF-8. Raises `UsageError`."""
    if sys.stdin is None:
        raise UsageError("stdin is closed", hint="redirect a list of URLs to it, or name a file")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("stdin: not UTF-8 text", hint="convert the list to UTF-8") from None


def _shown(path: Path) -> str:
    return "stdin" if str(path) == STDIN else str(path)


def _listed_urls(path: Path, text: str | None) -> Iterator[tuple[str, str]]:
    text = read_config_text(path, hint=_SITES_HINT) if text is None else text
    for number, line in enumerate(text.splitlines(), 1):
        # A URL's own # has no blank before it.
        url = f" {line}".replace("\t", " ").partition(" #")[0].strip()
        if " " in url:
            raise UsageError(
                f"{_shown(path)}, line {number}: not a single URL", hint="options for a site go into a .toml file"
            )
        if url:
            yield f"{_shown(path)}, line {number}", url


def _sites_from_toml(path: Path, command: Command, settings: Settings) -> tuple[list[Site], Settings]:
    from sitemirror.sites import COMMON, Site

    content = read_toml(path, hint=_SITES_HINT, example=_SITE_TABLES)
    if "sites" in content:
        raise UsageError(f"{path}: unknown key sites", hint=_SITE_TABLES)
    tables = content.pop("site", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: site is not a list of tables", hint=_SITE_TABLES)
    if "url" in content:
        raise UsageError(f"{path}: url outside of a [[site]]", hint=_SITE_TABLES)
    top = _site_settings(str(path), content, command, _OF_THE_COMMAND)
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
        hint = _ON_COMMAND_LINE if field in _OF_THE_COMMAND else _ONCE
        raise UsageError(f"{place}: {key_of(field)} applies to all sites", hint=hint)
    return found


def _with_changes(settings: Settings, values: Mapping[str, Any], place: str, command: Command) -> Settings:
    layer = SettingsLayer(values, lambda field: f"{place}: {key_of(field)}")
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
