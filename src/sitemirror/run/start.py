"""Resolve the start URL: follow its redirects, check that it answers, detect a sitemap."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.convert import PageKind, page_kind
from sitemirror.errors import MORE_FILES, BadStart, Unreachable
from sitemirror.fetch.client import Wanted
from sitemirror.fetch.response import Head
from sitemirror.model import Failed, Fetched, Lane, NotModified, Outcome, Redirect, Skipped
from sitemirror.reasons import Reason
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session
from sitemirror.settings import Settings
from sitemirror.sitemaps.encoding import looks_like_sitemap
from sitemirror.sitemaps.find import scope_folder

REFUSALS: Final = (401, 403)
"""Statuses that ask for credentials."""

MAX_HOPS: Final = 10
_SITEMAP_TYPES: Final = frozenset(
    (
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/gzip",
        "application/x-gzip",
    )
)
# Failures of HEAD that GET would only repeat.
_FINAL: Final = frozenset(
    (
        *(Reason.NO_SUCH_HOST, Reason.CONNECTION_REFUSED, Reason.TLS, Reason.NOT_TLS, Reason.ADDRESS_REFUSED),
        *(Reason.PROXY_NO_SUCH_HOST, Reason.PROXY_REFUSED, Reason.PROXY_TLS),
    )
)
_NOT_THERE: Final = (404, 410)
_SITEMAP_ENDINGS: Final = (".xml", ".gz", ".txt", ".rss", ".atom")

_ANOTHER_PAGE: Final = "start from a page that links to others"
_START_HINTS: Final = {
    "mirror": "leave out `--discover links` to save what the sitemap lists, or start from a page",
    "crawl": "start from a page, or save what the sitemap lists with `--discover sitemap`",
}


class ResolvedStart(NamedTuple):
    """Result of resolving the start URL. `page` is set if its body had to be fetched."""

    asked: str
    url: str
    folder: str
    is_sitemap: bool
    page: Fetched | None = None
    content_type: str = ""  # empty if the server sent none
    failure: Failed | Skipped | None = None  # why the URL itself has no page


Gate = Callable[[str], Awaitable[None]]
"""Check of a redirect's target before it is requested. Raises to end the run."""


async def resolve_start(session: Session, start_url: str, gate: Gate | None = None) -> ResolvedStart:
    """Follow the start URL's redirects. Raises `Unreachable` if its host does not answer."""
    url, asked = start_url, list[str]()
    for _ in range(MAX_HOPS + 1):
        session.check_stop()
        session.pace.patient_with(url)
        # Some servers redirect HEAD, and HEAD alone, in a circle.
        outcome = await (
            _look_at_page(session, url) if url in asked else _look(session, url, needs_page=gate is not None)
        )
        asked.append(url)
        match outcome:
            case Redirect(location=location):
                if gate is not None:
                    await gate(location)
                url = location
                if url in asked:
                    session.fetcher.keep_cookies(asked)
            case Failed(status=None):
                raise unreachable(url, outcome)
            case Fetched():
                is_sitemap = (
                    looks_like_sitemap(outcome.body[:4096], outcome.content_type)
                    if outcome.body
                    else _sounds_like_sitemap(url, outcome.content_type)
                )
                page = outcome if outcome.body and not is_sitemap else None
                content_type = outcome.content_type
                return ResolvedStart(
                    start_url, url, _folder(start_url, url, is_sitemap), is_sitemap, page, content_type
                )
            case Failed() | Skipped() | NotModified():
                # The site answers, so robots.txt and sitemaps may be available. Nobody asked for a 304.
                is_sitemap = _sounds_like_sitemap(url, "")
                failure = None if isinstance(outcome, NotModified) else outcome
                return ResolvedStart(start_url, url, _folder(start_url, url, is_sitemap), is_sitemap, failure=failure)
    raise Unreachable(
        f"{start_url} redirects more than {MAX_HOPS} times", hint="give the address that the redirects should lead to"
    )


def check_site(asked: str, found: str, settings: Settings) -> None:
    """Raise `BadStart` if the start URL redirects to another site."""
    if settings.same_domain and urls.parts(found).host not in urls.host_twins(urls.parts(asked).host):
        raise BadStart(
            f"{asked} redirects to another site: {found}", hint="start from that address, or use --any-domain"
        )


def check_start(start: ResolvedStart, settings: Settings, command: str) -> None:
    """Raise `BadStart` if the start page is on another site, failed, or is not HTML."""
    check_site(start.asked, start.url, settings)
    if start.failure:
        hint = advice(start.failure, settings)
        raise BadStart(f"cannot fetch the start page {start.url}: {start.failure.text}", hint=hint)
    if start.content_type:
        check_html(start.url, start.content_type, _START_HINTS[command] if start.is_sitemap else _ANOTHER_PAGE)


def start_with_links(start: ResolvedStart, page: Outcome | None) -> ResolvedStart:
    """Make the start of a crawl of a site without sitemaps, with the page already fetched."""
    match page:
        case Fetched():
            return start._replace(page=page, content_type=page.content_type, failure=None)
        case Failed() | Skipped():
            return start._replace(failure=page)
        case _:
            return start


def check_html(url: str, content_type: str, hint: str = _ANOTHER_PAGE) -> None:
    """Raise `BadStart` if the start page is not HTML."""
    if not _is_html(content_type):
        raise BadStart(f"the start page {url} is not HTML but {content_type}", hint=hint)


async def check_robots(robots: RobotsBook, url: str) -> None:
    """Raise `BadStart` if robots.txt forbids the start page. An unreachable host passes."""
    rules = await robots.rules(url)
    if rules.trouble and rules.answered:
        raise BadStart(
            f"cannot fetch the robots.txt of {urls.parts(url).authority} ({rules.trouble}), so no page may be fetched",
            hint="try again later, or use --ignore-robots",
        )
    if not rules.trouble and not rules.allowed(url):
        raise BadStart(
            f"the start page {url} is disallowed by robots.txt",
            hint="start from another page, or use --ignore-robots if you may",
        )


async def _look(session: Session, url: str, *, needs_page: bool) -> Outcome:
    """Send HEAD, and GET where a server refuses that. Some refuse it with 404."""
    outcome = await session.fetcher.head(url, lane=Lane.SITEMAP)
    match outcome:
        case Failed(reason=reason, status=status):
            is_final = reason in _FINAL or (status in _NOT_THERE and not needs_page)
            return outcome if is_final else await _look_at_page(session, url)
        case Fetched(content_type=content_type) if needs_page and content_type and not _is_html(content_type):
            # Some servers answer HEAD with a wrong type.
            page = await _look_at_page(session, url, wanted=_refuse_others)
            return outcome if isinstance(page, Failed | Skipped) else page
        case _:
            return outcome


async def _look_at_page(session: Session, url: str, wanted: Wanted | None = None) -> Outcome:
    limit = session.settings.max_file_bytes
    return await session.fetcher.get(url, lane=Lane.SITEMAP, limit=limit, wanted=wanted)


def _is_html(content_type: str) -> bool:
    return page_kind(content_type) is PageKind.HTML


def _refuse_others(head: Head) -> Skipped | None:
    return None if _is_html(head.content_type) else Skipped(head.url, Reason.NOT_HTML, content_type=head.content_type)


def _sounds_like_sitemap(url: str, content_type: str) -> bool:
    path = urls.parts(url).path.lower()
    return content_type in _SITEMAP_TYPES or path.endswith(_SITEMAP_ENDINGS)


def _folder(asked: str, url: str, is_sitemap: bool) -> str:
    """Return the folder of the site that the run is about."""
    if is_sitemap:
        return "/"
    folder, path = scope_folder(urls.parts(asked).path), urls.parts(url).path
    if folder == "/" or (path + "/").startswith(folder):
        return folder
    return scope_folder(path)  # /old was moved to /new, so /new is meant.


def check_reachable(session: Session) -> None:
    """Raise `Unreachable` if the outage of the site has lasted too long."""
    if reason := session.pace.lost:
        raise Unreachable(
            f"the site does not answer any more: {reason}",
            hint="check the connection; run the same command later to resume",
        )


def advice(failure: Failed | Skipped, settings: Settings | None = None) -> str:
    """Return a hint for a page that failed or was skipped; `settings` say if credentials were given."""
    if failure.reason is Reason.TOO_LARGE:
        return "allow larger pages with --max-file-size"
    if failure.status in REFUSALS:
        if settings and (settings.basic_auth or settings.header or settings.cookie_file):
            return "the site refused the credentials: check --basic-auth, --header and --cookie-file"
        return "if the site requires a login, pass --basic-auth, --header or --cookie-file"
    return "try again later" if failure.status in range(500, 600) else "check the address"


_PROXY_HINT: Final = "check --proxy, and what the environment says about proxies"
_HINTS: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.PROXY_NO_SUCH_HOST: _PROXY_HINT,
        Reason.PROXY_REFUSED: _PROXY_HINT,
        Reason.PROXY_TLS: _PROXY_HINT,
        Reason.PROXY_FAILED: _PROXY_HINT,
        Reason.NO_SUCH_HOST: "check the spelling, and that this machine is online",
        Reason.CONNECTION_REFUSED: "check the port, and that the server is running",
        Reason.NOT_TLS: "it does not seem to speak https there: give the address with http://",
        Reason.TLS: "check the certificate; --ca-file names further certificates to trust",
        Reason.TOO_MANY_FILES: MORE_FILES,
        Reason.ADDRESS_REFUSED: "give that private address, port included, as the start URL if you mean to mirror it",
        Reason.MALFORMED: "check the port: what answers there is no web server",
    }
)
_MAY_BE_TLS: Final = frozenset((Reason.CONNECTION_CLOSED, Reason.CONNECTION_RESET, Reason.MALFORMED))


def unreachable(url: str, failure: Failed) -> Unreachable:
    """Make the error for a host that does not answer, with a hint."""
    is_tls, reason = url.startswith("https:"), failure.reason
    if is_tls and reason is Reason.CONNECTION_RESET:
        hint = "try again later; if it does not speak https there, give the address with http://"
    elif not is_tls and reason in _MAY_BE_TLS:
        hint = "try again later; if it speaks https there, give the address with https://"
    else:
        hint = _HINTS.get(reason, "try again later, or with a longer --timeout")
    return Unreachable(f"cannot reach {urls.parts(url).authority}: {failure.text}", hint=hint)
