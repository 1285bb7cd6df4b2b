"""Read the sitemaps of a site and stream their URLs into the state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import orjson

from sitemirror import urls
from sitemirror.errors import EmptySitemap, NoSitemap, UnreadableSitemap
from sitemirror.events import PageSkipped, SitemapRead, Warned
from sitemirror.fetch.response import Stream
from sitemirror.frontier.scope import Scope
from sitemirror.model import (
    Entry,
    Failed,
    Fetched,
    Lane,
    NotModified,
    Outcome,
    Problem,
    Redirect,
    SitemapRef,
    Skipped,
)
from sitemirror.reasons import Cause, Reason, format_reason
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session
from sitemirror.run.start import MAX_HOPS, REFUSALS, ResolvedStart, advice
from sitemirror.sitemaps.encoding import looks_like_sitemap
from sitemirror.sitemaps.entries import EntryBatch, Parsed
from sitemirror.sitemaps.find import candidates, normalize_all, sitemap_links
from sitemirror.sitemaps.parse import SitemapParser
from sitemirror.store.bulk_insert import Listed
from sitemirror.store.sitemap_table import SitemapRow, SitemapTable
from sitemirror.text import printable

MAX_DEPTH: Final = 5
"""Maximum depth of nested indexes. The protocol allows one level; some sites have two."""

CHECKPOINT_REST: Final = 0.1
"""Seconds between two checkpoints: a fast server sends ten thousands of URLs per second."""

_BATCH: Final = 2000
_NAMED_VIOLATIONS: Final = 20
_NAMED_PROBLEMS: Final = 3

_SCOPE_HINTS: Final = {
    Reason.DOMAIN_LOCK: "start from the address that the sitemap names, or use --no-domain-lock",
    Reason.OUTSIDE_START: "--whole-site lifts the start path",
    Reason.NOT_INCLUDED: (
        "globs match the whole path, e.g. /docs/*; `sitemirror list` without --include-path lists all"
    ),
    Reason.URL_NOT_INCLUDED: "globs match the whole URL, e.g. https://example.com/docs/*",
    Reason.URL_EXCLUDED: "globs match the whole URL, e.g. *?print=*; `sitemirror list` without --exclude lists all",
    Reason.EXCLUDED: "globs match the whole path, e.g. /docs/*; `sitemirror list` without --exclude-path lists all",
}


class Discovery:
    """Finds and reads sitemaps. Calls `checkpoint` after each sitemap and about every 100 URLs."""

    def __init__(
        self, session: Session, listing: SitemapTable, scope: Scope, robots: RobotsBook, checkpoint: Callable[[], None]
    ) -> None:
        self._session = session
        self._listing = listing
        self._scope = scope
        self._robots = robots
        self._checkpoint = checkpoint
        self._violations = 0
        self._refusals = Counter[Reason]()  # why entries are out of scope
        self._in_scope = 0  # entries, by the scope of this run
        self._resumed = listing.listed > 0
        self._misses: list[tuple[str, Failed]] = []  # guessed paths without a sitemap
        self.start_page: Outcome | None = None
        self.warned = set[int]()  # ids of sitemaps with a warning
        self._since_checkpoint = 0
        self._checkpointed = float("-inf")
        self._count = self._in_scope_here = self._children = 0  # of the current sitemap
        self._cut = False
        self._kind: str | None = None

    async def run(self, start: ResolvedStart) -> None:
        """List every URL in the site's sitemaps. Raises `NoSitemap` if there is none.

        The start page that was searched for one is in `start_page` then, or the reason why there is none.
        """
        try:
            await self._find(start)
        finally:
            self._listing.finish_listing()  # Also after an interruption: listed URLs are accounted for.

    async def _find(self, start: ResolvedStart) -> None:
        if start.is_sitemap:
            await self._read_group([start.url])
            self._require_urls(start)
            return
        robots = await self._robots.rules(start.url)
        named = set(normalize_all(robots.sitemaps, urls.origin(start.url)))
        base = urls.normalize(urls.origin(start.url) + start.folder)  # A folder may begin with two slashes.
        for group in candidates(base, robots.sitemaps):
            if await (self._read_group(group) if named.intersection(group) else self._probe(group)):
                return
        if await self._read_group(await self._linked(start)):
            return
        self._require_urls(start)

    async def _read_group(self, group: Iterable[str]) -> bool:
        """Read named sitemaps and all their children. True if they list something in scope."""
        self._listing.add_sitemaps(group, depth=0)
        while (row := self._listing.next_sitemap()) is not None:
            self._finish(row, await self._read_patiently(row))
        return self._found_any()

    async def _probe(self, group: Iterable[str]) -> bool:
        """Read sitemaps at guessed paths, where a miss is no failure. True if they list something in scope."""
        for url in group:
            self._listing.add_sitemaps([url], depth=0)
            row = self._listing.next_sitemap()
            if row is None:
                continue  # read before an interruption
            problem = await self._read_patiently(row)
            if isinstance(problem, Failed) and not problem.transient and not self._count:
                self._misses.append((urls.parts(url).path, problem))
                self._listing.forget(row.id)
                continue
            self._finish(row, problem)
        return await self._read_group([])

    async def _read_patiently(self, row: SitemapRow) -> Failed | str | None:
        """Read a sitemap, retrying transient failures: one may hold 50,000 URLs."""
        for attempt in range(self._session.settings.max_retries + 1):
            if attempt:
                self._listing.restart(row.id)
            problem = await self._read_once(row)
            # `busy`: the fetcher has retried already.
            if not isinstance(problem, Failed) or not problem.transient or problem.busy:
                break
            if attempt < self._session.settings.max_retries:
                # Not recorded for the report: a retry may succeed.
                self._session.emit(Warned(printable(f"sitemap {row.url}: {problem.text}; will be tried again")))
                self._session.pace.pause(row.url, self._session.backoff.seconds(attempt), problem.text)
        return problem

    def _finish(self, row: SitemapRow, problem: Failed | str | None) -> None:
        error = problem.text if isinstance(problem, Failed) else problem
        status = "failed" if isinstance(problem, Failed) else "cut" if self._cut else "completed"
        self._listing.finish(row.id, kind=self._kind, error=error, status=status)
        self._in_scope += self._in_scope_here
        self._checkpoint()
        self._session.emit(SitemapRead(row.url, self._count - self._children, error or "", self._children))
        if error:
            self.warned.add(row.id)
            self._session.warn(f"sitemap {row.url}: {error}{self._next_step(problem)}")

    def _next_step(self, problem: Failed | str | None) -> str:
        """Consequence of a sitemap's fault and the next step, as the end of its warning."""
        if isinstance(problem, Failed) and problem.reason is Reason.TOO_LARGE:
            return "; what follows is missing here: allow more with --max-sitemap-size"
        if isinstance(problem, Failed):
            return "; its URLs are missing here, and the next run reads it again"
        if self._cut:
            return "; what follows is missing here, and the next run reads it again"
        return "; all else in it was taken" if self._count else ""

    async def _read_once(self, row: SitemapRow) -> Failed | str | None:
        """Read a sitemap once. Returns `Failed`, or the text of problems in a sitemap that was read."""
        location = row.url
        self._count = self._in_scope_here = self._children = 0
        self._cut, self._kind = False, None
        for _ in range(MAX_HOPS + 1):
            self._session.check_stop()
            refused = self._scope.host_reason(location)
            if refused:
                return f"{format_reason(refused)}: {location} is on another domain (--no-domain-lock allows it)"
            stream = self._session.fetcher.stream(
                location, lane=Lane.SITEMAP, limit=self._session.settings.max_sitemap_bytes
            )
            async with stream as answer:
                match answer:
                    case Redirect(location=there):
                        location = there
                    case Failed():
                        return answer
                    case Skipped():
                        return answer.text
                    case NotModified():  # although the request was unconditional
                        return Failed(row.url, Reason.HTTP_STATUS, "304")
                    case Stream():
                        return await self._parse(row, location, answer)
        return Failed(row.url, Reason.TOO_MANY_REDIRECTS)

    async def _parse(self, row: SitemapRow, location: str, stream: Stream) -> Failed | str | None:
        parser = SitemapParser(max_bytes=self._session.settings.max_sitemap_bytes)
        problems: list[str] = []
        async for chunk in stream.chunks():
            self._session.check_stop()
            for found in parser.batches(chunk):
                self._take_in(row, location, found, problems)
            if parser.stopped:
                break
        stopped = parser.stopped  # `close` sets it, too.
        self._take_in(row, location, parser.close(), problems)
        self._kind = parser.kind
        self._cut = self._cut or parser.truncated
        if stream.error and not stopped:
            return Failed(location, stream.error.reason, stream.error.detail, transient=True)
        if not self._count and parser.kind in (None, "html"):
            if problems:
                return Failed(location, Reason.OTHER, "; ".join(problems))
            return Failed(location, Reason.NOT_A_SITEMAP)
        return "; ".join(problems) or None

    def _take_in(self, row: SitemapRow, location: str, found: Iterable[Parsed], problems: list[str]) -> None:
        entries: list[Listed] = []
        children: list[str] = []
        for item in found:
            match item:
                case EntryBatch():
                    self._list(row, entries)
                    self._list_batch(row, location, item)
                case Entry():
                    entries.append(self._listed(item, location))
                case SitemapRef(loc=loc):
                    self._child(loc, location, children, problems)
                case Problem(reason=reason):
                    problems.append(printable(reason, limit=300))
        self._list(row, entries)
        if children:
            if row.depth >= MAX_DEPTH:
                self._cut = True
                problems.append(f"{len(children)} sitemaps more than {MAX_DEPTH} levels deep were not read")
            else:
                self._listing.add_sitemaps(children, row.depth + 1)
                self._children += len(children)
                self._count += len(children)
        now = self._session.clock.monotonic()
        if self._since_checkpoint >= 100 and now - self._checkpointed >= CHECKPOINT_REST:
            self._since_checkpoint, self._checkpointed = 0, now
            self._checkpoint()

    def _child(self, loc: str, base: str, children: list[str], problems: list[str]) -> None:
        try:
            children.append(urls.normalize(loc, base))
        except urls.InvalidUrl as error:
            if len(problems) < _NAMED_PROBLEMS:  # An index can have any number of them.
                shown = printable(urls.without_credentials(loc), limit=200)
                problems.append(f"sitemap {shown} cannot be read: {error}")

    def _list(self, row: SitemapRow, entries: list[Listed]) -> None:
        for start in range(0, len(entries), _BATCH):
            self._listing.add(row.id, entries[start : start + _BATCH])
        self._count += len(entries)
        self._since_checkpoint += len(entries)
        entries.clear()

    def _list_batch(self, row: SitemapRow, location: str, found: EntryBatch) -> None:
        """List a batch at once if all its URLs are normalised and of one origin in scope, as most are."""
        origin = urls.shared_origin(found.locs)
        if origin is None or not self._scope.takes_all(origin):
            self._list(row, [self._listed(entry, location) for entry in found.entries()])
            return
        self._listing.add_plain(row.id, found.locs, found.lastmods, found.priorities)
        self._count += len(found.locs)
        self._in_scope_here += len(found.locs)
        self._since_checkpoint += len(found.locs)

    def _listed(self, entry: Entry, base: str) -> Listed:
        try:
            url = urls.normalize(entry.loc, base)
        except urls.InvalidUrl as error:
            return Listed(printable(urls.without_credentials(entry.loc)), reason=error.reason, detail=error.detail)
        reason = self._scope.reason(url)
        if not reason:
            self._in_scope_here += 1
        else:
            self._refusals[reason] += 1
            if reason is Reason.DOMAIN_LOCK:
                self._violation(url)
        alternates = (
            orjson.dumps(
                [{"lang": lang, "href": urls.without_credentials(href)} for lang, href in entry.alternates]
            ).decode()
            if entry.alternates
            else None
        )
        return Listed(url, entry.lastmod, entry.priority, alternates, reason)

    def _violation(self, url: str) -> None:
        self._violations += 1
        if self._violations <= _NAMED_VIOLATIONS:
            self._session.warn(
                f"security: domain lock violation: {url} is on another domain and is not fetched "
                "(--no-domain-lock allows it)"
            )
        else:
            self._session.emit(PageSkipped(url, format_reason(Reason.DOMAIN_LOCK)))

    async def _linked(self, start: ResolvedStart) -> list[str]:
        """Sitemaps in `<link rel="sitemap">` of the start page, or the page itself if it is one."""
        self.start_page = page = start.page or await self._session.fetcher.get(
            start.url, lane=Lane.SITEMAP, limit=self._session.settings.max_file_bytes
        )
        if not isinstance(page, Fetched):
            return []
        if looks_like_sitemap(page.body[:4096], page.content_type):  # HEAD did not show it.
            return [page.url]
        return sitemap_links(page.body, page.url)

    def _found_any(self) -> bool:
        """True if a URL is in scope. Pages of earlier runs do not count: their scope may differ."""
        return self._in_scope > 0 or (self._resumed and self._listing.in_scope > 0)

    def _require_urls(self, start: ResolvedStart) -> None:
        """Raise `NoSitemap` or `EmptySitemap`, with what was tried, if nothing is in scope."""
        listing = self._listing
        if self._found_any():
            return
        if listing.total:
            # The state does not count pages of earlier runs as out of scope.
            main = listing.main_refusal or next((Cause(reason) for reason, _ in self._refusals.most_common(1)), None)
            shown = main.text if main else ""
            if main == Cause(Reason.OUTSIDE_START):
                shown += f" {self._scope.folder}"
            refused = f"none of the {listing.total} URLs in the sitemap is in scope"
            raise EmptySitemap(
                f"{refused} ({shown})" if shown else refused,
                hint=(main and _SCOPE_HINTS.get(main.reason)) or "see --no-domain-lock and --include-path",
            )
        read = list(listing.sitemaps(newest=3))
        if read and all(row.status == "completed" for row in read):
            raise EmptySitemap(f"the sitemap {read[-1].url} lists no URL", hint="check that it is the right sitemap")
        if read:
            raise UnreadableSitemap(
                f"no sitemap of {start.url} could be read: {read[-1].url}: {read[-1].error}",
                hint="try again later, or give the URL of another sitemap",
            )
        misses = [f"{path}: {failure.text}" for path, failure in self._misses[:3]]
        tried = "; ".join(misses) + ("; …" if len(self._misses) > 3 else "")
        hint = "if it has one, give that sitemap's own URL; `sitemirror crawl` follows links instead"
        first = self._misses[0][1] if self._misses else None
        raise NoSitemap(
            f"no sitemap found for {start.url}" + (f" ({tried})" if tried else ""),
            hint=advice(first) if first and first.status in REFUSALS else hint,
        )
