"""Every setting, once: its default, its bounds, what it means and what 0 means.

The command line, the environment (`SITEMIRROR_*`), `sitemirror.toml`, the library and the reference in `docs/` are
all made from these fields. (Annotations are not put off here, for they are read at once.)
"""

import ast
import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Self

from sitemirror.choices import Content, Format, Links, OnError, Source
from sitemirror.values import Bounds, Kind, is_text, judged, kind_of
from sitemirror.version import __version__

__all__ = ["MEGABYTE", "Content", "Format", "Links", "OnError", "Settings", "Source"]

MEGABYTE: Final = 1024 * 1024
_MOST_BYTES: Final = 2**62  # More than any disk has, and what the state can still hold.


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("give a finite number")
    return value


def _has_controls(text: str) -> bool:
    """Whether it cannot be part of a request: a line end in it would begin another header."""
    odd = any((character < " " and character != "\t") or character == "\x7f" for character in text)
    return odd or not is_text(text)


def _in_one_line(value: str) -> str:
    if _has_controls(value):
        raise ValueError(f"one line without control characters, not {value!r}")
    return value


def _no_nul(value: Path) -> Path:
    if "\0" in str(value):
        raise ValueError(f"no path has a NUL character in it, as {str(value)!r} has")
    return value


def _with_names(value: tuple[str, ...]) -> tuple[str, ...]:
    for line in value:
        name, colon, content = line.partition(":")
        named = colon and name.strip() and name.strip().isascii() and content.strip()
        if not named or _has_controls(line):
            raise ValueError(f"a header looks like 'Name: value', not {line!r}")
    return value


def _not_empty(value: tuple[str, ...]) -> tuple[str, ...]:
    if not all(value):
        raise ValueError("an empty glob matches nothing: give one such as /docs/*")
    return value


def _with_colon(value: str) -> str:
    if ":" not in value:
        raise ValueError("give it as USER:PASSWORD")
    if not is_text(value):
        raise ValueError("USER:PASSWORD must be UTF-8")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that a run can be told. Frozen: a run's settings never change under it."""

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

    user_agent: Annotated[str, _in_one_line] = f"sitemirror/{__version__}"
    """The User-Agent header. Says who you are; site operators look for it."""

    header: Annotated[tuple[str, ...], _with_names] = ()
    """An extra request header, 'Name: value'. Repeatable. Sent to the start host and its www twin only."""

    cookie_file: Annotated[Path, _no_nul] | None = None
    """Cookies in Netscape format (as curl and wget write them). Sent to the start host and its www twin only."""

    basic_auth: Annotated[str, _with_colon] | None = None
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
    """Obey robots.txt for pages. Left out: found links do, mirror's sitemaps do not (they are an invitation)."""

    discover: Source | None = None
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
    """With a start URL that has a path: take the whole site, not only what is under that path."""

    include_path: Annotated[tuple[str, ...], _not_empty] = ()
    """Only URLs whose path matches this glob, percent-encoded or as people read it; * crosses /. Repeatable."""

    exclude_path: Annotated[tuple[str, ...], _not_empty] = ()
    """No URLs whose path matches this glob, percent-encoded or as people read it; * crosses /. Repeatable."""

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
        """Takes what spells a value for the value. Raises `WrongValues`, a `UsageError`, for what cannot be."""
        for name, value in judged(kinds(), self.as_dict()).items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Settings from values by name, wherever they come from. Raises `WrongValues`, also for names there are not."""
        return cls(**judged(kinds(), values))

    def as_dict(self) -> dict[str, Any]:
        """Every value by its name."""
        return {name: getattr(self, name) for name in kinds()}

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
        return min((rate for rate in rates if rate), default=0.0)  # of two wishes the politer one

    @property
    def renews(self) -> bool:
        """Whether pages that are saved already are looked at again."""
        return self.update or self.re_download_all

    @property
    def max_file_bytes(self) -> int:
        return int(min(self.max_file_size * MEGABYTE, _MOST_BYTES))

    @property
    def max_sitemap_bytes(self) -> int:
        return int(min(self.max_sitemap_size * MEGABYTE, _MOST_BYTES))

    def with_changes(self, **changes: Any) -> Self:
        """The same settings but for `changes`, judged again."""
        return self.of({**self.as_dict(), **changes})


@cache
def kinds() -> Mapping[str, Kind]:
    """What each setting takes, in the order of the fields above."""
    return {field.name: kind_of(field.type, field.default) for field in fields(Settings)}


@cache
def meanings() -> Mapping[str, str]:
    """What each setting means: the text under its field, on one line. Read from the source, so not for every run."""
    (found,) = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(found, ast.ClassDef)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(found.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
