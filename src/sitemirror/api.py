"""The library: `mirror`, `crawl` and `list_site`, awaited for a report or iterated for events.

Each function loads its modules when it is called: `where` does not wait for an HTTP client.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack

from sitemirror import urls
from sitemirror.errors import UsageError, wrong_type
from sitemirror.events import Event, Listener
from sitemirror.reasons import Reason
from sitemirror.settings import Format, Options, Settings, setting_types
from sitemirror.text import printable

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

    from sitemirror.fetch.identity import Trust
    from sitemirror.fetch.pace import Clock, LastRequests
    from sitemirror.model import Page
    from sitemirror.publish.report import ListReport, MirrorReport, VerifyProblem, VerifyReport
    from sitemirror.reading.search import SearchReport
    from sitemirror.reading.sections import Section
    from sitemirror.run.convert_one import PageInput
    from sitemirror.run.session import Session
    from sitemirror.workers.jobs import ConvertOptions
    from sitemirror.workers.pool import Pool

_HTTP_CLIENT: Final = "aiohttp"  # what takes longest to load

MANY_ENOUGH: Final = 50
"""Pages that a run may take if it is to begin with a worker."""

R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
Job = Callable[["Session", str], Awaitable[R]]


def show_options(function: F) -> F:
    """List the options of a function in its signature, which `help()` and notebooks show."""
    signature = inspect.signature(function)
    named = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    kinds = setting_types()
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=kinds[name].default, annotation=annotation)
        for name, annotation in Options.__annotations__.items()
    ]
    function.__signature__ = signature.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
    return function


class Run(Coroutine[Any, Any, R]):
    """A run. `await run` gives its report, `async for event in run` its events.

    `run.result` is the report after the events. Nothing happens before it is awaited or iterated. `stop()` ends it
    early: finished pages are saved and published.
    It is a coroutine to asyncio: `asyncio.run(mirror(url))` works.
    """

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._stop = asyncio.Event()
        self._task: asyncio.Task[R] | None = None
        self._events: asyncio.Queue[Event | None] | None = None
        self._steps: Generator[Any, None, R] | None = None

    def stop(self) -> None:
        """End the run soon: requests in flight get a moment, the report says `interrupted`."""
        self._stop.set()

    @property
    def result(self) -> R:
        """The report, once the run has ended."""
        if self._task is None or not self._task.done():
            raise RuntimeError("the run has not ended yet")
        return self._task.result()

    def __await__(self) -> Generator[Any, None, R]:
        return self._started().__await__()

    # A coroutine's methods: asyncio starts with `asyncio.run` and `create_task` only coroutines.

    def send(self, value: Any) -> Any:
        """Run up to the next pause, as an event loop does."""
        return self._advance().send(value)

    def throw(
        self,
        kind: type[BaseException] | BaseException,
        value: BaseException | object = None,
        traceback: TracebackType | None = None,
    ) -> Any:
        """Raise an exception in the run, as an event loop does to cancel it."""
        error = kind if isinstance(kind, BaseException) else value if isinstance(value, BaseException) else kind()
        return self._advance().throw(error)

    def close(self) -> None:
        """Forget the pause that the run is in."""
        if self._steps is not None:
            self._steps.close()

    def _advance(self) -> Generator[Any, None, R]:
        if self._steps is None:
            self._steps = self.__await__()
        return self._steps

    async def __aiter__(self) -> AsyncIterator[Event]:
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._events = events
        task = self._started()
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
        finally:
            if not task.done():  # The listener has left: end the run.
                self.stop()
            await task

    def _started(self) -> asyncio.Task[R]:
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        return self._task

    def _emit(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)
        if self._events is not None:
            self._events.put_nowait(event)

    @abstractmethod
    async def _work(self) -> R:
        """Do the work and return the report."""


class SiteRun(Run[R]):
    """A run over one site."""

    def __init__(
        self,
        job: Job[R],
        url: str,
        settings: Settings,
        listener: Listener | None,
        parts: Parts,
        convert_options: ConvertOptions | None = None,
    ) -> None:
        """`convert_options` is given if pages will arrive as fast as they can be converted."""
        super().__init__(listener)
        self._job = job
        self._convert_options = convert_options
        self._url = url
        self._settings = settings
        self._parts = parts

    async def _work(self) -> R:
        from sitemirror.workers.pool import Pool

        shared = self._parts.pool
        pool = shared or Pool(workers=self._settings.workers, warn=lambda message: session.warn(message))
        try:
            if pool is not shared and self._convert_options is not None and _HTTP_CLIENT not in sys.modules:
                pool.expect_some(self._convert_options)
                await asyncio.sleep(0)  # It starts while this process loads its own modules.
            self._parts.load()
            from sitemirror.fetch.client import Fetcher
            from sitemirror.fetch.pace import Pace, SystemClock
            from sitemirror.run.profile import start_watch
            from sitemirror.run.session import Session

            clock = self._parts.clock or SystemClock()
            watch = start_watch(self._settings)
            pace = Pace(
                self._settings,
                clock=clock,
                on_event=self._emit,
                room=self._parts.room,
                asked=self._parts.asked,
                watch=watch,
            )
            async with Fetcher(
                self._settings,
                start_url=self._url,
                pace=pace,
                clock=clock,
                on_event=self._emit,
                resolver=self._parts.resolver,
                trust=self._parts.trust,
                watch=watch,
            ) as fetcher:
                session = Session(
                    settings=self._settings,
                    clock=clock,
                    pace=pace,
                    fetcher=fetcher,
                    pool=pool,
                    emit=self._emit,
                    stop=self._stop,
                    started=clock.monotonic(),
                    watch=watch,
                )
                return await self._job(session, self._url)
        finally:
            if pool is not shared:
                await pool.close()


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a run that callers replace, or that concurrent runs share."""

    clock: Clock | None = None
    resolver: AbstractResolver | None = None
    pool: Pool | None = None  # Closed by its owner.
    room: asyncio.Semaphore | None = None
    asked: LastRequests | None = None
    trust: Trust | None = None
    load: Callable[[], None] = lambda: None  # Called before anything loads the HTTP client.


@show_options
def mirror(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> Run[MirrorReport]:
    """Mirror the pages in a site's sitemaps as Markdown.

    `options` are the fields of `Settings` by name, which `sitemirror.Options` lists with their types:
    `mirror(url, output="docs", concurrency=5)`. The run raises a `SitemirrorError` if it cannot do its job; single
    pages that fail are counted in the report.
    """
    return copy_run("mirror", url, settings_of(settings, options), on_event, Parts(clock, resolver))


@show_options
def crawl(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> Run[MirrorReport]:
    """Follow links from a page and save pages with their assets. Arguments as for `mirror`."""
    return copy_run("crawl", url, settings_of(settings, options), on_event, Parts(clock, resolver))


def copy_run(command: str, url: str, settings: Settings, listener: Listener | None, parts: Parts) -> Run[MirrorReport]:
    """Make the run of `mirror` or `crawl` with parts of the caller."""

    async def job(session: Session, start: str) -> MirrorReport:
        from sitemirror.run.run import run_copy  # After a worker was started.

        return await run_copy(session, start, command=command)

    format = settings.format or (Format.HTML if command == "crawl" else Format.MARKDOWN)
    return SiteRun(job, start_of(url), settings, listener, parts, _options_for_first_worker(settings, format))


def _options_for_first_worker(settings: Settings, format: Format) -> ConvertOptions | None:
    """Return the options of a worker to start early, for a run over many pages without a rate limit."""
    if settings.content_rate or settings.concurrency == 1:
        return None
    if not settings.link_depth or 0 < settings.max_pages < MANY_ENOUGH:
        return None
    from sitemirror.workers.jobs import ConvertOptions

    return ConvertOptions(markdown=format is not Format.HTML)


@show_options
def list_site(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> Run[ListReport]:
    """List the URLs in a site's sitemaps and write an outline of them. Arguments as for `mirror`."""
    from sitemirror.run.list_urls import run_list

    return SiteRun(run_list, start_of(url), settings_of(settings, options), on_event, Parts(clock, resolver))


@show_options
def mirror_sync(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> MirrorReport:
    """Run `mirror` to its end, in a program without an event loop."""
    return finish(lambda: mirror(url, settings=settings, on_event=on_event, resolver=resolver, clock=clock, **options))


@show_options
def crawl_sync(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> MirrorReport:
    """Run `crawl` to its end, in a program without an event loop."""
    return finish(lambda: crawl(url, settings=settings, on_event=on_event, resolver=resolver, clock=clock, **options))


@show_options
def list_site_sync(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> ListReport:
    """Run `list_site` to its end, in a program without an event loop."""
    return finish(
        lambda: list_site(url, settings=settings, on_event=on_event, resolver=resolver, clock=clock, **options)
    )


def verify(
    folder: str | os.PathLike[str], *, on_problem: Callable[[VerifyProblem], None] | None = None
) -> VerifyReport:
    """Check the mirror in a folder, or the mirrors in it. Changes nothing. `on_problem` gets each problem."""
    from sitemirror.verification.verify import verify as check

    if not isinstance(folder, str | os.PathLike):
        hint = "give that of a mirror, such as output/docs.example.com"
        raise wrong_type("a folder", folder, "text or a path", hint=hint)
    return check(Path(folder), on_problem)


@show_options
def where(
    target: str | os.PathLike[str],
    *,
    settings: Settings | None = None,
    on_guess: Callable[[str], None] | None = None,
    **options: Unpack[Options],
) -> str:
    """Return the file that a URL is or would be saved to, or the URL of a file that a manifest names.

    `on_guess` gets a note if no manifest names the URL, or if it has no file.
    """
    from sitemirror.run.where import locate

    if not isinstance(target, str | os.PathLike):
        raise wrong_type("a URL or a file", target, "text or a path", hint="give it as https://example.com/")
    return locate(os.fspath(target), settings_of(settings, options), on_guess)


def search(query: str, *folders: str | os.PathLike[str], limit: int = 10) -> SearchReport:
    """Search the mirrors in or below the folders, `output` if none is given, in one ranking.

    Each mirror's index is built or brought up to date first. Raises `UsageError` where there is nothing to search.
    """
    from sitemirror.reading.search import search as find

    if not isinstance(query, str):
        raise wrong_type("a query", query, "text", hint="give what to search for")
    return find(query, _folders(folders), limit=limit)


def sections(*folders: str | os.PathLike[str], max_tokens: int = 800) -> Iterator[Section]:
    """Yield the sections of all Markdown pages of the mirrors in or below the folders (`output`).

    A section has at most `max_tokens`, unless a single line has more; 0 means no limit. Joined, the sources of a page's
    sections are its text. A page whose file is not the one in the manifest is left out.
    """
    from sitemirror.reading.mirrors import find_mirrors
    from sitemirror.reading.sections import split

    for mirror in find_mirrors(_folders(folders)):
        for page in mirror.markdown_pages():
            if (text := mirror.current(page)) is not None:
                yield from split(text, url=page.url, path=mirror.file(page).as_posix(), max_tokens=max_tokens)


def _folders(folders: tuple[str | os.PathLike[str], ...]) -> list[Path]:
    for folder in folders:
        if not isinstance(folder, str | os.PathLike):
            hint = "give that of a mirror, such as output/docs.example.com"
            raise wrong_type("a folder", folder, "text or a path", hint=hint)
    return [Path(folder) for folder in folders or (Settings().output,)]


async def fetch_page(
    url: str,
    *,
    settings: Settings | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> PageInput:
    """Fetch one page, with the limits and checks of a mirror's pages. Raises `SitemirrorError`."""
    from sitemirror.fetch.client import Fetcher
    from sitemirror.fetch.pace import Pace, SystemClock
    from sitemirror.run.convert_one import fetch

    start, chosen = start_of(url), settings_of(settings, options)
    clock = clock or SystemClock()
    pace = Pace(chosen, clock=clock)
    async with Fetcher(chosen, start_url=start, pace=pace, clock=clock, resolver=resolver) as fetcher:
        return await fetch(fetcher, start, limit=chosen.max_file_bytes)


@show_options
async def convert_url(
    url: str,
    *,
    settings: Settings | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> Page:
    """Fetch one page and convert it as `convert_html` does. Arguments as for `mirror`."""
    chosen = settings_of(settings, options)
    return (await fetch_page(url, settings=chosen, resolver=resolver, clock=clock)).convert(chosen.content)


@show_options
def convert_url_sync(
    url: str,
    *,
    settings: Settings | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> Page:
    """Run `convert_url` in a program without an event loop."""
    return _run_to_end(convert_url(url, settings=settings, resolver=resolver, clock=clock, **options))


def finish(start: Callable[[], Run[R]]) -> R:
    """Run to the end in a program without an event loop, and return the report."""

    async def whole() -> R:
        return await start()

    return _run_to_end(whole())


def _run_to_end(work: Coroutine[Any, Any, R]) -> R:
    try:
        return asyncio.run(work)
    finally:
        work.close()  # Inside an event loop it has not started, and Python would warn of that, too.


def start_of(url: str, *, credentials_hint: str = "give them as --basic-auth USER:PASSWORD") -> str:
    """Normalise a start URL. Raises `UsageError` if it cannot be one."""
    if not isinstance(url, str):
        raise wrong_type("a URL", url, "text", hint="give it as https://example.com/")
    try:
        return urls.start_url(url)
    except urls.InvalidUrl as error:
        if error.reason is Reason.CREDENTIALS:
            raise UsageError("the URL carries credentials", hint=credentials_hint) from None
        shown = printable(urls.without_credentials(url), limit=200)
        message = f"{shown!r} is not a URL that can be mirrored: {error}"
        is_other = error.reason is Reason.OTHER_SCHEME
        hint = "only http and https can be mirrored" if is_other else "give it as https://example.com/"
        raise UsageError(message, hint=hint) from None


def settings_of(settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    """Return `settings`, or the defaults, changed by `options`. Raises `UsageError`."""
    if not isinstance(settings, Settings | None):
        raise wrong_type("settings", settings, "sitemirror.Settings", hint="or give the options one by one")
    for name in options.keys() - setting_types().keys():
        from difflib import get_close_matches

        meant = "".join(f" (did you mean {near}?)" for near in get_close_matches(name, setting_types(), n=1))
        raise UsageError(f"there is no option {name}{meant}", hint="see sitemirror.settings.Settings")
    base = settings or Settings()
    return base.with_changes(**options) if options else base
