"""A mirror as its user finds it on disk, and the names and clocks under which tests visit the site."""

from __future__ import annotations

import itertools
import json
import socket
from pathlib import Path
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult

from sitemirror.fetch.pace import Clock
from tests.site import Exchange, Site, faults

FAST: Final = ("--rate-limit", 0)


class Mirrored:
    """One host's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, site: Site, out: Path) -> Mirrored:
        """The mirror of the site under its own address."""
        return cls(out / f"127.0.0.1_{site.port}")

    @property
    def pages(self) -> set[str]:
        """The files of pages, as POSIX paths; the tool's own files begin with `_`."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return {path.as_posix() for path in found if not path.parts[0].startswith("_")}

    @property
    def manifest(self) -> Any:
        return self._json("_manifest.json")

    @property
    def checkpoint(self) -> Any:
        return self._json("_checkpoint.json")

    @property
    def progress(self) -> Any:
        return self._json("_progress.json")

    @property
    def processed(self) -> list[str]:
        """The lines of `_processed.txt`; a torn last one is none."""
        path = self.folder / "_processed.txt"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return text.split("\n")[:-1]

    @property
    def placeholders(self) -> dict[str, list[str]]:
        """The texts in `_failed/` and `_skipped/`."""
        return {
            name: [path.read_text(encoding="utf-8") for path in sorted((self.folder / name).glob("*.md"))]
            for name in ("_failed", "_skipped")
        }

    def text(self, path: str) -> str:
        """A file as it is."""
        return (self.folder / path).read_text(encoding="utf-8")

    def markdown(self, path: str) -> str:
        """A page without its front matter."""
        start, _, rest = self.text(path).partition("\n---\n")
        assert start.startswith("---\n"), start
        return rest.lstrip("\n")

    def entry(self, url: str) -> Any:
        """The manifest's entry for a page."""
        [found] = [page for page in self.manifest["pages"] if page["url"] == url]
        return found

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_bytes())


class Everywhere(AbstractResolver):
    """A DNS in which every name is the test site, whatever the port: `http://docs.example.com/` is on it."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        address, port = self._site.address, self._site.port
        return [ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0)]

    async def close(self) -> None:
        pass


def sitemap_of(site: Site, host: str, *paths: str) -> None:
    """A sitemap of pages under a name without a port, as `Everywhere` makes them reachable."""
    site.sitemap(urls=[f"http://{host}{path}" for path in paths], host=host)


def only_announced(size: int) -> faults.Step:
    """The head of a body of `size` bytes and never the body: whoever waits for it waits in vain."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(exchange.answer, size)
        await exchange.until_gone()

    return step


class ClockedLog:
    """When, on the program's own clock, each path was asked for. Exact, because that clock moves only by sleeping."""

    def __init__(self, site: Site, clock: Clock) -> None:
        self.entries: list[tuple[str, float]] = []
        self._clock = clock
        site.fault("*", self.noting())

    def noting(self, then: faults.Step | None = None) -> faults.Step:
        """A step that notes the time, then answers (or does `then`)."""
        after = then or faults.ok()

        async def step(exchange: Exchange) -> None:
            self.entries.append((exchange.seen.path, self._clock.monotonic()))
            await after(exchange)

        return step

    def times(self, prefix: str = "") -> list[float]:
        return [time for path, time in self.entries if path.startswith(prefix)]

    def gaps(self, prefix: str = "") -> list[float]:
        """Seconds between one request and the next, of those whose path begins with `prefix`."""
        times = self.times(prefix)
        # Sums of floats: 0.999999999 is a second.
        return [round(later - earlier, 6) for earlier, later in itertools.pairwise(times)]
