"""Every setting, once: its default, its bounds, what it means and what 0 means.

The command line, the environment (`SITEMIRROR_*`), `sitemirror.toml`, the library and the reference in `docs/` are
all made from these fields, and their values are validated here and nowhere else. A library for that, such as pydantic,
takes longer to load than most runs take to begin (`bench.startup`). Annotations are read while the program runs, so
they are not postponed in this module.
"""

import ast
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, Self, get_args, get_origin

from sitemirror.errors import UsageError
from sitemirror.version import __version__

MEGABYTE: Final = 1024 * 1024
_MOST_BYTES: Final = 2**62  # More than any disk has, and what the state can still hold.


class OnError(StrEnum):
    """What a page's failure does to the run."""

    SKIP = "skip"
    RETRY = "retry"
    ABORT = "abort"


class Content(StrEnum):
    """How much of a page is kept."""

    AUTO = "auto"
    MAIN = "main"
    FULL = "full"


class Format(StrEnum):
    """What is written. `list` prints json or md; mirror and crawl save markdown, html or both."""

    JSON = "json"
    MD = "md"
    MARKDOWN = "markdown"
    HTML = "html"
    BOTH = "both"


class Links(StrEnum):
    """How links in Markdown to other pages are written."""

    ABSOLUTE = "absolute"
    LOCAL = "local"


class UrlSource(StrEnum):
    """Where a run finds its URLs."""

    SITEMAP = "sitemap"
    LINKS = "links"


# --- validation ----------------------------------------------------------------------------------------------------

_INTEGER: Final = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?")
_TRUE: Final = frozenset(("1", "true", "t", "yes", "y", "on"))
_FALSE: Final = frozenset(("0", "false", "f", "no", "n", "off"))


class InvalidSettings(UsageError):
    """Values that settings cannot have, and fields that are no settings."""

    def __init__(self, problems: Mapping[str, str], unknown: Iterable[str]) -> None:
        """`problems`: what follows the name of a field in a sentence about its value."""
        self.problems = problems
        self.unknown = tuple(unknown)
        super().__init__("; ".join(self.sentences(str)), hint="see sitemirror.settings.Settings")

    def sentences(self, name_of: Callable[[str], str]) -> list[str]:
        """One sentence for each problem; `name_of` gives a field's name as the person wrote it."""
        return [
            *(f"{name_of(field)}{problem}" for field, problem in self.problems.items()),
            *(f"there is no setting {name_of(field)}" for field in self.unknown),
        ]


class Bounds(NamedTuple):
    """A number's bounds: at least `ge`, more than `gt`, at most `le`."""

    ge: int | None = None
    gt: int | None = None
    le: int | None = None

    def violated_by(self, number: float) -> str:
        """The bound that a number breaks, in words; empty if none. NaN breaks any."""
        if self.ge is not None and not number >= self.ge:
            return f"{self.ge} or more"
        if self.gt is not None and not number > self.gt:
            return f"more than {self.gt}"
        if self.le is not None and not number <= self.le:
            return f"{self.le} or less"
        return ""


class _Invalid(ValueError):
    """A value that must be something else."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"must be {expected}, got {_shown(value)}")


class SettingType(NamedTuple):
    """The values that a setting takes."""

    type: type
    """bool, int, float, str, Path, an enumeration, or tuple for any number of texts."""
    optional: bool
    bounds: Bounds | None
    rule: Callable[[Any], None] | None
    """Raises a ValueError that says how a value should look."""
    default: Any

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of an enumerated setting; empty for the others."""
        return tuple(str(choice) for choice in self.type) if issubclass(self.type, StrEnum) else ()

    def validate(self, value: Any) -> Any:
        """Convert a value, or text that spells it, to the setting's type. Raises ValueError."""
        if value is None and self.optional:
            return None
        converted = self._convert(value)
        if self.bounds is not None and (expected := self.bounds.violated_by(converted)):
            raise _Invalid(expected, value)
        if self.rule is not None:
            self.rule(converted)
        return converted

    def _convert(self, value: Any) -> Any:
        if self.type is bool:
            return _to_bool(value)
        if self.type is int:
            return _to_int(value)
        if self.type is float:
            return _to_float(value)
        if self.type is tuple:
            if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
                raise _Invalid("a list", value)
            return tuple(_to_text(each) for each in value)
        if self.type is str:
            return _to_text(value)
        if self.type is Path:
            if not isinstance(value, str | os.PathLike):
                raise _Invalid("text", value)
            return Path(value)
        try:
            return self.type(value)
        except ValueError:
            raise _Invalid("one of " + ", ".join(self.choices), value) from None


def _to_bool(value: Any) -> bool:
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise _Invalid("true or false", value)


def _to_int(value: Any) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(text := value.strip()):
        try:
            return int(text.partition(".")[0])
        except ValueError:  # more digits than Python converts
            pass
    elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise _Invalid("a whole number", value)


def _to_float(value: Any) -> float:
    try:
        if isinstance(value, int | float) or (isinstance(value, str) and value.isascii()):
            return float(value)
    except (ValueError, OverflowError):
        pass
    raise _Invalid("a number", value)


def _to_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Invalid("text", value)
    return str(value)


def _shown(value: object) -> str:
    if value is not None and not isinstance(value, str | int | float | Path):
        return f"a value of type {type(value).__name__}"  # It may be long, or secret.
    text = str(value)
    return repr(text) if not text or text != text.strip() or " " in text else text


def _validate(values: Mapping[str, Any]) -> dict[str, Any]:
    """Validate values by field. Raises `InvalidSettings`, which names all that are wrong."""
    types = setting_types()
    valid: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name in types:
        if name in values:
            try:
                valid[name] = types[name].validate(values[name])
            except ValueError as error:
                problems[name] = f" {error}" if isinstance(error, _Invalid) else f": {error}"
    unknown = values.keys() - types.keys()
    if problems or unknown:
        raise InvalidSettings(problems, sorted(unknown))
    return valid


# --- rules of single settings --------------------------------------------------------------------------------------


def _finite(value: float) -> None:
    if not math.isfinite(value):
        raise ValueError("give a finite number")


def _is_unicode(text: str) -> bool:
    """False for a file name or argument that is not UTF-8: the system passes it with lone surrogates."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _breaks_headers(text: str) -> bool:
    """True for text that cannot be part of a request: a line end in it would begin another header."""
    controls = any((character < " " and character != "\t") or character == "\x7f" for character in text)
    return controls or not _is_unicode(text)


def _one_line(value: str) -> None:
    if _breaks_headers(value):
        raise ValueError(f"one line without control characters, not {value!r}")


def _no_nul(value: Path) -> None:
    if "\0" in str(value):
        raise ValueError(f"no path has a NUL character in it, as {str(value)!r} has")


def _headers(value: tuple[str, ...]) -> None:
    for line in value:
        name, colon, content = line.partition(":")
        named = colon and name.strip() and name.strip().isascii() and content.strip()
        if not named or _breaks_headers(line):
            raise ValueError(f"a header looks like 'Name: value', not {line!r}")


def _not_empty(value: tuple[str, ...]) -> None:
    if not all(value):
        raise ValueError("an empty glob matches nothing: give one such as /docs/*")


def _user_and_password(value: str) -> None:
    if ":" not in value:
        raise ValueError("give it as USER:PASSWORD")
    if not _is_unicode(value):
        raise ValueError("USER:PASSWORD must be UTF-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run. Frozen: they never change during it."""

    output: Annotated[Path, _no_nul] = Path("output")
    """The tree goes to DIR/<host>/."""

    rate_limit: Annotated[float, Bounds(ge=0), _finite] = 1.0
    """Requests per second for robots.txt and sitemaps, and for pages per slot. 0 = no limit."""

    content_rate_limit: Annotated[float, Bounds(ge=0), _finite] | None = None
    """Requests per second for pages: a hard cap for the host, however many slots. 0 = no limit.
    Left out: each of the --concurrency slots may start --rate-limit requests a second."""

    concurrency: Annotated[int, Bounds(ge=1, le=256)] = 1
    """Requests in flight at once (slots)."""

    workers: Annotated[int, Bounds(ge=0, le=64)] = 0
    """Processes that convert pages. 0 = as many as are of use, started when they are: none for a slow site or a low
    rate limit."""

    max_connections: Annotated[int, Bounds(ge=1, le=65_536)] = 256
    """With --sites: connections to all sites together. Sites that would need more wait for others to end."""

    timeout: Annotated[float, Bounds(gt=0), _finite] = 30.0
    """Seconds a request may take: to connect, between two reads, and in total."""

    user_agent: Annotated[str, _one_line] = f"sitemirror/{__version__}"
    """The User-Agent header. Says who you are; site operators look for it."""

    header: Annotated[tuple[str, ...], _headers] = ()
    """An extra request header, 'Name: value'. Repeatable. Sent to the start host and its www twin only."""

    cookie_file: Annotated[Path, _no_nul] | None = None
    """Cookies in Netscape format (as curl and wget write them). Sent to the start host and its www twin only."""

    basic_auth: Annotated[str, _user_and_password] | None = None
    """USER:PASSWORD for the start host and its www twin only."""

    proxy: str | None = None
    """URL of a proxy for all requests, or 'env' for the proxies named in the environment.
    Proxies in the environment are ignored otherwise."""

    ca_file: Annotated[Path, _no_nul] | None = None
    """PEM file with certificates to trust besides the system's."""

    max_pages: Annotated[int, Bounds(ge=0)] = 10_000
    """Stop after N newly saved pages; the next run goes on. 0 = no limit."""

    max_file_size: Annotated[float, Bounds(gt=0), _finite] = 10.0
    """Largest page or other file in MB, as sent and after decompression. Larger ones are skipped."""

    max_sitemap_size: Annotated[float, Bounds(gt=0), _finite] = 100.0
    """Largest sitemap in MB after decompression (the protocol allows 50). What was read until then is kept."""

    max_retries: Annotated[int, Bounds(ge=0, le=100)] = 3
    """Further tries per URL: of a sitemap after every transient failure, of a page after 429 or 503 with Retry-After,
    and with --on-error retry after every transient failure. 0 = none."""

    on_error: OnError = OnError.SKIP
    """What a failed page does: skip = log it and go on; retry = try transient failures again after the main crawl;
    abort = save and exit 1."""

    update: bool = False
    """Refetch only pages that are newer on the site than on disk, and fetch new ones."""

    domain_lock: bool = True
    """Only the start host's registrable domain and its subdomains."""

    respect_robots: bool | None = None
    """Obey robots.txt for pages. Left out: found links do; URLs that a sitemap lists are fetched all the same, and
    counted. Crawl-delay holds unless robots.txt is ignored."""

    discover: UrlSource | None = None
    """Where URLs come from: the site's sitemaps (mirror's way) or the links on its pages (crawl's way)."""

    link_depth: Annotated[int, Bounds(ge=-1, le=100_000)] = -1
    """How many links deep to follow: 0 = the start page with its assets, 1 = also the pages it links to.
    -1 = no limit."""

    same_domain: bool = True
    """crawl: only the start host and its www twin, or any host."""

    delay_seconds: Annotated[float, Bounds(gt=0), _finite] | None = None
    """At least this many seconds between any two requests to a host, whatever the rates allow."""

    honor_nofollow: bool = False
    """Do not follow links marked rel=nofollow."""

    re_download_all: bool = False
    """Fetch everything anew, whatever was saved before."""

    whole_site: bool = False
    """With a start URL that has a path: take the whole site instead of what is under that path."""

    include_path: Annotated[tuple[str, ...], _not_empty] = ()
    """Only URLs whose path matches this glob, percent-encoded or as people read it; * crosses /. Repeatable."""

    exclude_path: Annotated[tuple[str, ...], _not_empty] = ()
    """No URLs whose path matches this glob, percent-encoded or as people read it; * crosses /. Repeatable."""

    include: Annotated[tuple[str, ...], _not_empty] = ()
    """Only URLs that match this glob as a whole, scheme and query included; * matches any text. Repeatable."""

    exclude: Annotated[tuple[str, ...], _not_empty] = ()
    """No URLs that match this glob as a whole, such as '*?print=*'; * matches any text, ? any character. Repeatable."""

    strip_params: Annotated[tuple[str, ...], _not_empty] = ()
    """Remove query parameters whose name matches this glob from found links, besides session ids and tracking
    parameters such as utm_*. Repeatable."""

    keep_params: Annotated[tuple[str, ...], _not_empty] = ()
    """Keep query parameters whose name matches this glob in found links: no tracking parameter, no session id.
    Repeatable."""

    content: Content = Content.AUTO
    """auto = the main content where the page marks it, never at the price of real content; main = the main content
    alone; full = the body less script, style, nav, footer and aside."""

    front_matter: bool = True
    """Begin each file with YAML front matter: title, url, description and what else the page says of itself."""

    min_free_mb: Annotated[int, Bounds(ge=0)] = 100
    """Stop before the disk has less free space than this (or runs out of inodes). 0 = do not look."""

    format: Format | None = None
    """What list prints: json or md. What mirror and crawl save: markdown (mirror's way), html (crawl's way) or both."""

    links: Links = Links.ABSOLUTE
    """Links to other pages in Markdown: absolute = to the site; local = to the saved files, where there is one."""

    post_process: bool = True
    """HTML: rewrite links to relative local paths where the target was saved, so that the copy opens from disk."""

    hash: bool = True
    """Keep the SHA-256 of every file in the mirror index."""

    index: bool = False
    """mirror: write mirror-index.json too."""

    quiet: bool = False
    """Only errors and failed pages on stderr."""

    verbose: bool = False
    """Say more on stderr: skips, waits and redirects."""

    profile: bool = False
    """Say where the time went: what held the run up (the rate limit, the site, the network, the converter, the disk),
    how long each stage took and how much was under way at once."""

    def __post_init__(self) -> None:
        """Convert text that spells a value. Raises `InvalidSettings`, a `UsageError`."""
        for name, value in _validate(self.as_dict()).items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Make settings from values by field. Raises `InvalidSettings`, also for unknown fields."""
        return cls(**_validate(values))

    def as_dict(self) -> dict[str, Any]:
        """Every value by its field."""
        return {name: getattr(self, name) for name in setting_types()}

    @property
    def sitemap_rate(self) -> float:
        """Requests per second for robots.txt, sitemaps and the first look at the start page. 0 = no limit."""
        if self.delay_seconds is None:
            return self.rate_limit
        return min(1 / self.delay_seconds, self.rate_limit or math.inf)

    @property
    def content_rate(self) -> float:
        """Pages per second that one host may be asked for, all slots together. 0 = no limit."""
        rates = [1 / self.delay_seconds] if self.delay_seconds is not None else []
        if self.content_rate_limit is not None:
            rates.append(self.content_rate_limit)
        if not rates:
            return self.rate_limit * self.concurrency
        return min((rate for rate in rates if rate), default=0.0)  # The politer of two limits counts.

    @property
    def renews(self) -> bool:
        """True if saved pages are requested again."""
        return self.update or self.re_download_all

    @property
    def max_file_bytes(self) -> int:
        return int(min(self.max_file_size * MEGABYTE, _MOST_BYTES))

    @property
    def max_sitemap_bytes(self) -> int:
        return int(min(self.max_sitemap_size * MEGABYTE, _MOST_BYTES))

    def with_changes(self, **changes: Any) -> Self:
        """The same settings but for `changes`, validated again."""
        return self.of({**self.as_dict(), **changes})


@cache
def setting_types() -> Mapping[str, SettingType]:
    """The type of each setting, in the order of the fields."""
    return {field.name: _setting_type(field.type, field.default) for field in fields(Settings)}


def _setting_type(annotation: Any, default: Any) -> SettingType:
    """Read a field's annotation: a type, perhaps with `Bounds` or a rule, perhaps or None."""
    bounds = rule = None
    optional = False
    while True:
        parts = get_args(annotation)
        if get_origin(annotation) is Annotated:
            annotation, *extras = parts
            for extra in extras:
                if isinstance(extra, Bounds):
                    bounds = extra
                else:
                    rule = extra
        elif NoneType in parts:
            optional = True
            (annotation,) = (part for part in parts if part is not NoneType)
        else:
            return SettingType(get_origin(annotation) or annotation, optional, bounds, rule, default)


@cache
def descriptions() -> Mapping[str, str]:
    """The text under each field, on one line. Parses the source, so it is left to help and reference."""
    # Of the module: to find a class in it, `inspect` would parse it once more.
    module = ast.parse(inspect.getsource(sys.modules[__name__]))
    (found,) = (node for node in module.body if isinstance(node, ast.ClassDef) and node.name == Settings.__name__)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(found.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
