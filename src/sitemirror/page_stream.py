"""The pages of a site in memory, one after another, while a run saves them."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Unpack

from sitemirror.api import Parts, copy_run, settings_of, show_options
from sitemirror.errors import UsageError
from sitemirror.events import Event, Listener, PageSaved, nobody
from sitemirror.settings import Format, Options, Settings

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

    from sitemirror.fetch.pace import Clock

BACKLOG: Final = 8
"""Pages that may wait for the caller before requests stop."""

_MOST_REQUESTS: Final = 256
_FENCE: Final = "---"


@dataclass(frozen=True, slots=True)
class MirroredPage:
    """A page of a site, as a run saved it."""

    url: str
    path: Path
    """Its file. Without `output` it is temporary, and gone after the last page."""
    markdown: str
    """Markdown without front matter."""
    title: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Front matter without title and url."""
    changed: bool = True
    """False if an update found the page as it was before."""
    new: bool = True
    """True if there was no copy of it."""


class Throttle(asyncio.Semaphore):
    """The right to send requests, withheld while `BACKLOG` pages wait for the caller."""

    def __init__(self) -> None:
        super().__init__(_MOST_REQUESTS)
        self._open = asyncio.Event()
        self._open.set()

    def set_backlog(self, pages: int) -> None:
        """Stop or resume requests."""
        if pages < BACKLOG:
            self._open.set()
        else:
            self._open.clear()

    def locked(self) -> bool:
        """True if `acquire` would wait."""
        return not self._open.is_set() or super().locked()

    async def acquire(self) -> Literal[True]:
        """Wait for the right to send a request."""
        await self._open.wait()
        return await super().acquire()


@show_options
async def pages(
    url: str,
    *,
    settings: Settings | None = None,
    on_event: Listener | None = None,
    resolver: AbstractResolver | None = None,
    clock: Clock | None = None,
    **options: Unpack[Options],
) -> AsyncGenerator[MirroredPage]:
    """Yield the pages of a site as Markdown, in the order of their arrival.

    Options as for `mirror`; `discover="links"` follows links. Requests stop while the caller is slower than the site.
    Without `output` nothing stays on disk. With it, the mirror stays, and pages that an earlier run saved are yielded
    only if this run asks for them again (`update=True`). Raises a `SitemirrorError` if the run fails, after the pages
    that could be saved.
    """
    chosen = settings_of(settings, options)
    if chosen.format not in (None, Format.MARKDOWN):
        raise UsageError("pages are Markdown: format cannot be chosen", hint="use `mirror` or `crawl` for HTML")
    has_output = settings is not None or "output" in options
    with tempfile.TemporaryDirectory(prefix="sitemirror-") as temporary:
        output = chosen.output if has_output else Path(temporary)
        chosen = chosen.with_changes(format=Format.MARKDOWN, output=output)
        saved = _saved_pages(url, chosen, on_event or nobody, Parts(resolver=resolver, clock=clock))
        async with aclosing(saved):
            async for page in saved:
                yield page


async def _saved_pages(
    url: str,
    settings: Settings,
    listener: Listener,
    parts: Parts,
) -> AsyncGenerator[MirroredPage]:
    throttle, waiting, arrived = Throttle(), deque[MirroredPage](), asyncio.Event()

    def listen(event: Event) -> None:
        listener(event)
        if isinstance(event, PageSaved) and event.path:
            waiting.append(_read(event, settings.output / event.path))  # The end of the run may move the file.
            throttle.set_backlog(len(waiting))
            arrived.set()

    run = copy_run("mirror", url, settings, listen, replace(parts, room=throttle))
    task = asyncio.ensure_future(run)
    task.add_done_callback(lambda _: arrived.set())
    try:
        while not task.done() or waiting:
            if not waiting:
                arrived.clear()
                await arrived.wait()
                continue
            page = waiting.popleft()
            throttle.set_backlog(len(waiting))
            yield page
        task.result()
    finally:
        throttle.set_backlog(0)
        if not task.done():
            run.stop()
            await asyncio.wait([task])


def _read(event: PageSaved, file: Path) -> MirroredPage:
    """Read a saved page and take its front matter apart."""
    text = file.read_text(encoding="utf-8")
    metadata: dict[str, object] = {}
    if text.startswith(f"{_FENCE}\n"):
        head, _, rest = text.removeprefix(f"{_FENCE}\n").partition(f"\n{_FENCE}\n")
        metadata = dict(map(_entry, head.splitlines()))
        text = rest.removeprefix("\n")
    title = metadata.pop("title", None)
    metadata.pop("url", None)
    shown = title if isinstance(title, str) else None
    return MirroredPage(event.url, file, text, shown, metadata, event.changed, event.new)


def _entry(line: str) -> tuple[str, object]:
    """Read a line of front matter as sitemirror writes it: a name and a JSON value."""
    name, _, value = line.partition(": ")
    try:
        return name, json.loads(value)
    except ValueError:  # An escape that YAML has and JSON lacks.
        return name, value
