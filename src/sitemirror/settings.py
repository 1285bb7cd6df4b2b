"""Every setting, once: its default, its bounds, its meaning and the meaning of 0.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, TypedDict, get_args, get_origin

from sitemirror.errors import UsageError
from sitemirror.version import __version__

MEGABYTE: Final = 1024 * 1024
_MOST_BYTES: Final = 2**62  # More than any disk has, and what the state can still hold.


class OnError(StrEnum):
    """Consequence of a failed page for the run."""

    SKIP = "skip"
    RETRY = "retry"
    ABORT = "abort"


class Content(StrEnum):
    """Part of a page that is kept."""

    AUTO = "auto"
    MAIN = "main"
    FULL = "full"


class Format(StrEnum):
    """Format of the output. `list` prints json or md; mirror and crawl save markdown, html or both."""

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
    """Source of a run's URLs."""

    AUTO = "auto"
    SITEMAP = "sitemap"
    LINKS = "links"


REMEMBERED: Final = frozenset(
    {
        "rate_limit",
        "content_rate_limit",
        "concurrency",
        "delay_seconds",
        "timeout",
        "user_agent",
        "max_pages",
        "max_file_size",
        "max_sitemap_size",
        "max_retries",
        "max_age",
        "on_error",
        "domain_lock",
        "respect_robots",
        "discover",
        "link_depth",
        "same_domain",
        "honor_nofollow",
        "whole_site",
        "include_path",
        "exclude_path",
        "include",
        "exclude",
        "strip_params",
        "keep_params",
        "content",
        "front_matter",
        "format",
        "links",
        "post_process",
        "hash",
        "index",
    }
)
"""Settings that a mirror remembers for its next update."""

SHAPING: Final = ("content", "front_matter")
"""Settings that change how pages are converted: a mirror has them the same for all its pages."""

SECRETS: Final = frozenset({"header", "cookie_file", "basic_auth", "proxy", "ca_file"})
"""Settings of which a mirror remembers only that they were given: credentials, and paths of this machine."""

COMMAND_LINE_ONLY: Final = frozenset({"quiet", "verbose", "json", "strict"})
"""Settings without an effect on a run of the library."""

OF_ONE_RUN: Final = COMMAND_LINE_ONLY | {
    "output",
    "update",
    "re_download_all",
    "accept_changes",
    "workers",
    "max_connections",
    "min_free_mb",
    "profile",
}
"""Settings that a mirror does not remember. A new setting belongs into one of these sets."""

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
    """Directory for mirrors; a site is saved to DIR/<host>/."""

    rate_limit: Annotated[float, Bounds(ge=0), _finite] = 1.0
    """Requests per second for robots.txt and sitemaps, and for pages per slot (see --concurrency). 0 = no limit."""

    content_rate_limit: Annotated[float, Bounds(ge=0), _finite] | None = None
    """Requests per second for pages, all slots together. 0 = no limit.
    Default: --rate-limit times --concurrency."""

    concurrency: Annotated[int, Bounds(ge=1, le=256)] = 1
    """Requests in flight at once (slots). Each slot has its own --rate-limit."""

    workers: Annotated[int, Bounds(ge=0, le=64)] = 0
    """Processes that convert pages. 0 = automatic; workers start only when conversion is the bottleneck."""

    max_connections: Annotated[int, Bounds(ge=1, le=65_536)] = 256
    """With --sites: connections to all sites together. Further sites wait until others are done."""

    timeout: Annotated[float, Bounds(gt=0), _finite] = 30.0
    """Timeout of a request in seconds: to connect, between two reads, and in total."""

    user_agent: Annotated[str, _one_line] = f"sitemirror/{__version__}"
    """The User-Agent header. Identify yourself; site operators look for it."""

    header: Annotated[tuple[str, ...], _headers] = ()
    """An extra request header, 'Name: value'. Repeatable. Sent to the start host and its www twin only."""

    cookie_file: Annotated[Path, _no_nul] | None = None
    """Cookies in Netscape format (as curl and wget write them). Sent to the start host and its www twin only."""

    basic_auth: Annotated[str, _user_and_password] | None = None
    """USER:PASSWORD for the start host and its www twin only."""

    proxy: str | None = None
    """URL of a proxy for all requests, or 'env' to use HTTP_PROXY and HTTPS_PROXY, ignored otherwise."""

    ca_file: Annotated[Path, _no_nul] | None = None
    """PEM file with certificates to trust in addition to the system's."""

    max_pages: Annotated[int, Bounds(ge=0)] = 10_000
    """Stop after N newly saved pages; the next run continues. 0 = no limit."""

    max_file_size: Annotated[float, Bounds(gt=0), _finite] = 10.0
    """Maximum size of a page or other file in MB, as sent and after decompression. Larger ones are skipped."""

    max_sitemap_size: Annotated[float, Bounds(gt=0), _finite] = 100.0
    """Maximum size of a sitemap in MB after decompression (the protocol allows 50). URLs up to the limit are used."""

    max_retries: Annotated[int, Bounds(ge=0, le=100)] = 3
    """Retries per URL. Pages are retried after 429 and 503 with Retry-After, with --on-error retry after every
    transient failure; sitemaps always after every transient failure. 0 = none."""

    on_error: OnError = OnError.SKIP
    """When a page fails: skip = log it and continue; retry = retry transient failures at the end of the run;
    abort = stop and exit with 1."""

    update: bool = False
    """Fetch new pages, and saved ones that changed on the site."""

    max_age: Annotated[float, Bounds(ge=0), _finite] = 7.0
    """An update fetches a page without lastmod, ETag and Last-Modified again once its copy is older than DAYS. Younger
    ones are counted as `unchecked`. 0 = always."""

    domain_lock: bool = True
    """Stay on the start host's registrable domain and its subdomains."""

    respect_robots: bool | None = None
    """Obey robots.txt for pages. Default: obey for crawled links; fetch and count URLs listed in sitemaps that it
    disallows. Crawl-delay applies unless robots.txt is ignored."""

    discover: UrlSource | None = None
    """Source of URLs: auto = the site's sitemaps, or links if it has none (default of mirror); sitemap = its sitemaps;
    links = links on its pages (default of crawl). A mirror keeps the source that auto chose."""

    link_depth: Annotated[int, Bounds(ge=-1, le=100_000)] = -1
    """Maximum number of links from the start page: 0 = the start page with its assets, 1 = also the pages it links to.
    -1 = no limit."""

    same_domain: bool = True
    """Stay on the start host and its www twin, or follow links to any host."""

    delay_seconds: Annotated[float, Bounds(gt=0), _finite] | None = None
    """Minimum delay in seconds between two requests to a host, even if the rate limits allow more."""

    honor_nofollow: bool = False
    """Do not follow links marked rel=nofollow."""

    re_download_all: bool = False
    """Fetch all pages again, even unchanged ones."""

    accept_changes: bool = False
    """Replace copies also by pages without text, and when many pages have become the same text."""

    whole_site: bool = False
    """Take the whole site, not only URLs under the start URL's path."""

    include_path: Annotated[tuple[str, ...], _not_empty] = ()
    """Only fetch URLs whose path matches GLOB (`*` also matches `/`; encoded or decoded form). The query is not
    matched. Repeatable."""

    exclude_path: Annotated[tuple[str, ...], _not_empty] = ()
    """Do not fetch URLs whose path matches GLOB (see --include-path). Repeatable."""

    include: Annotated[tuple[str, ...], _not_empty] = ()
    """Only fetch URLs that match this glob, from scheme to query; * matches any text. Repeatable."""

    exclude: Annotated[tuple[str, ...], _not_empty] = ()
    """Do not fetch URLs that match this glob, such as '*?print=*'; * matches any text, ? any character. Repeatable."""

    strip_params: Annotated[tuple[str, ...], _not_empty] = ()
    """Remove query parameters with matching names from found links, besides session ids and tracking parameters such as
    utm_*. Repeatable."""

    keep_params: Annotated[tuple[str, ...], _not_empty] = ()
    """Keep query parameters with matching names in found links, although they look like tracking parameters or session
    ids. Repeatable."""

    content: Content = Content.AUTO
    """auto = main content if it can be identified safely; main = main content only; full = the body without script,
    style, nav, footer and aside."""

    front_matter: bool = True
    """Start each file with YAML front matter: title, url, description and other metadata of the page."""

    min_free_mb: Annotated[int, Bounds(ge=0)] = 100
    """Stop when the disk has less free space than this (or no free inodes). 0 = no check."""

    format: Format | None = None
    """list prints json (default) or md. mirror and crawl save markdown (default of mirror), html (default of crawl) or
    both."""

    links: Links = Links.ABSOLUTE
    """Links in Markdown to saved pages: absolute = to the site; local = to the saved files."""

    post_process: bool = True
    """HTML: rewrite links to saved files as relative paths, so that the copy works offline."""

    hash: bool = True
    """Record the SHA-256 of every file in mirror-index.json."""

    index: bool = False
    """Also write mirror-index.json."""

    quiet: bool = False
    """Print only errors and failed pages on stderr."""

    verbose: bool = False
    """Also print skips, waits and redirects on stderr."""

    profile: bool = False
    """Report what limited the run (rate limit, site, network, converter, disk), the time of each stage and the
    concurrency."""

    json: bool = False
    """Print the JSON report on a terminal, too. In a pipe or a file it is always printed."""

    strict: bool = False
    """Exit with 3 if the run is `partial`: pages failed, are outdated or were not reached."""

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

    def to_remember(self) -> dict[str, object]:
        """Return the options that shape a mirror, where they are not the default, without secrets."""
        found: dict[str, object] = {}
        for name, kind in setting_types().items():
            value = getattr(self, name)
            if value != kind.default and name in REMEMBERED:
                found[name] = list(value) if isinstance(value, tuple) else value
            elif value != kind.default and name in SECRETS:
                found[name] = None
        return found

    def with_changes(self, **changes: Any) -> Self:
        """The same settings but for `changes`, validated again."""
        return self.of({**self.as_dict(), **changes})


class Options(TypedDict, total=False):
    """The settings as keyword arguments of the library: the same names, with all types that are accepted."""

    output: str | os.PathLike[str]
    rate_limit: float
    content_rate_limit: float | None
    concurrency: int
    workers: int
    max_connections: int
    timeout: float
    user_agent: str
    header: Sequence[str]
    cookie_file: str | os.PathLike[str] | None
    basic_auth: str | None
    proxy: str | None
    ca_file: str | os.PathLike[str] | None
    max_pages: int
    max_file_size: float
    max_sitemap_size: float
    max_retries: int
    on_error: Literal["skip", "retry", "abort"] | OnError
    update: bool
    max_age: float
    domain_lock: bool
    respect_robots: bool | None
    discover: Literal["auto", "sitemap", "links"] | UrlSource | None
    link_depth: int
    same_domain: bool
    delay_seconds: float | None
    honor_nofollow: bool
    re_download_all: bool
    accept_changes: bool
    whole_site: bool
    include_path: Sequence[str]
    exclude_path: Sequence[str]
    include: Sequence[str]
    exclude: Sequence[str]
    strip_params: Sequence[str]
    keep_params: Sequence[str]
    content: Literal["auto", "main", "full"] | Content
    front_matter: bool
    min_free_mb: int
    format: Literal["json", "md", "markdown", "html", "both"] | Format | None
    links: Literal["absolute", "local"] | Links
    post_process: bool
    hash: bool
    index: bool
    profile: bool


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
