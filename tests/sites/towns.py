"""Several sites of the test server, each under a name of its own, and what a run over all of them says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from sitemirror.events import Event, SiteFinished
from tests.site import Site

T = TypeVar("T")


def settle(site: Site, *names: str, pages: int = 3) -> list[str]:
    """Fills a host under each name with pages and a sitemap; gives their URLs."""
    for name in names:
        host = f"{name}.localhost"
        site.fill(pages, host=host)
        site.sitemap(host=host)
    return [f"{site.url_of(f'{name}.localhost')}/" for name in names]


def listed(folder: Path, urls: Iterable[str]) -> Path:
    """A file for --sites."""
    file = folder / "sites.txt"
    file.write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
    return file


def saved(out: Path, site: Site, name: str) -> list[str]:
    """The pages in a site's folder, as POSIX paths."""
    folder = out / f"{name}.localhost_{site.port}"
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("page/*/index.md"))


class Heard:
    """Keeps the events of a run."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def finished(self) -> list[SiteFinished]:
        return self.of(SiteFinished)
