"""The mirrors that the version before made, how each was made, and the sites they are copies of.

Shared by `make.py`, which makes them with the old program, and by the tests, which go on with them. The sites have
names under `.localhost` and no ports, as the program asks for them through a proxy: so a mirror's URLs are the same
wherever and however often at once the tests run.
"""

from __future__ import annotations

import asyncio
import json
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.crawl.conftest import link
from tests.site import Site, certificate, faults
from tests.site.wire import Exchange, Seen

HOME: Final = "http://site.localhost"
HOST: Final = "site.localhost"
MIRRORS: Final = Path(__file__).parent / "mirrors"
RECORD: Final = "record.json"
"""In each archive, beside the folder `output`: what the old program said of the mirror, and did with it next."""

CHANGING: Final = "/changing"
"""A page of every site. `change` gives it another text."""


class Web(Site):
    """A proxy in front of every host. https serves the same pages as http."""

    def __init__(self) -> None:
        super().__init__()
        self._tunnels: set[int] = set()

    def url_of(self, host: str) -> str:
        return super().url_of(host) if host == self.address else f"http://{host}"

    def _step(self, seen: Seen) -> faults.Step:
        return self._tunnel if seen.method == "CONNECT" else super()._step(seen)

    async def _tunnel(self, exchange: Exchange) -> None:
        await exchange.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self._tunnels.add(exchange.seen.connection)
        await exchange._writer.start_tls(certificate.good().server_context())
        await asyncio.sleep(0)

    def asked(self, *, status: int | None = None) -> set[str]:
        """Requested URLs, or those answered with `status`; without robots.txt and sitemaps."""
        return {
            f"{'https' if seen.connection in self._tunnels else 'http'}://{seen.host}{seen.path}"
            for seen in list(self.requests)
            if seen.method == "GET" and status in (None, seen.status)
            if not seen.path.endswith((".xml", ".xml.gz", "/robots.txt"))
        }


def everything(web: Web, _stage: int) -> None:
    """A small site with redirects, duplicates, failures, skips, collisions, odd names and other hosts."""
    plain = ["/a", "/b", "/ä ö/straße", f"/{'long-' * 60}name"]
    # Those that have to give way come first, so that files change places when all are known.
    collide = ["/p/", "/p", "/case", "/Case", "/data/x", "/data", "/foo/index.md/bar", "/foo"]
    same = ["/same/", "/same", "/canon?print=1", "/canon"]
    moved = ["/older", "/old", "/temporary", "/refresh", "/loop/1", "/loop/2", "/to-missing", "/to-elsewhere"]
    missing = ["/missing", "/broken", "/removed", "/paper.pdf", "/huge", "/empty"]
    elsewhere = ["http://other.example/", "http://docs.site.localhost/guide"]
    needs = '<link rel="stylesheet" href="/s.css"><img src="/i.png" alt="A picture">'
    every = [CHANGING, *collide, *same, *plain, *moved, *missing, "/private/x", *elsewhere]
    page(web, "/", link(*every) + needs)
    for path in (*plain, *collide):
        page(web, path, link("/", "/old", "/b", "/same/", "/missing", "/p"))
    page(web, CHANGING, link("/", "/p/") + needs)
    page(web, "/guide", link(f"{HOME}/a"), host="docs.site.localhost")
    for path in same:
        canonical = f'<link rel="canonical" href="{HOME}/canon">' if "canon" in path else ""
        web.page(path, f"<html><head><title>Same</title>{canonical}</head><body><p>Same {path[:4]}.</p></body></html>")
    web.page("/data", b'{"a": 1}', type="application/json", etag="data")
    web.page("/s.css", "p { background: url(/i.png) }", type="text/css", etag="css")
    web.page("/i.png", b"\x89PNG\r\n\x1a\n", type="image/png", etag="png")
    web.page("/refresh", '<html><head><meta http-equiv="refresh" content="0; url=/a"></head><body></body></html>')
    web.redirect("/old", "/a")
    web.redirect("/older", "/old")
    web.redirect("/temporary", "/b", 302)
    web.redirect("/loop/1", "/loop/2")
    web.redirect("/loop/2", "/loop/1")
    web.redirect("/to-missing", "/nowhere")
    web.redirect("/to-elsewhere", "http://other.example/x")
    web.page("/broken", "<h1>500</h1>", status=500)
    web.page("/removed", "<h1>410</h1>", status=410)
    web.page("/paper.pdf", b"%PDF-1.4\n", type="application/pdf", etag="pdf")
    web.page("/huge", f"<html><body><p>{'word ' * 10_000}</p></body></html>")
    web.page("/empty", b"", status=204)
    page(web, "/private/x", "")
    web.robots("User-agent: *\nDisallow: /private/\n")
    listed = [(path, "2020-01-01" if path in ("/b", "/same") else None) for path in every if path != "/private/x"]
    web.sitemap("/sitemap-1.xml", listed[:20], host=HOST)
    web.sitemap("/sitemap-2.xml", listed[20:], host=HOST)
    web.sitemap_index("/sitemap.xml", ["/sitemap-1.xml", "/sitemap-2.xml"], host=HOST)


def two_batches(web: Web, _stage: int) -> None:
    """More pages than are committed at once."""
    few(web, plain=14)


def few(web: Web, _stage: int = 1, *, plain: int = 4) -> None:
    """Some pages, among them two that change places, two that are one, a redirect and a failure."""
    pages = [CHANGING, "/p/", "/p", *(f"/{number}" for number in range(plain))]
    every = [*pages[:10], "/same/", "/same", "/old", "/missing", *pages[10:]]
    page(web, "/", link(*every))
    for path in pages:
        page(web, path, link("/", "/p", "/old", "/same/"))
    for path in ("/same/", "/same"):
        web.html_page(path, "Same", "<p>The same.</p>", etag="same")
    web.redirect("/old", "/p/")
    web.sitemap("/sitemap-1.xml", every[:9], host=HOST)
    web.sitemap("/sitemap-2.xml", every[9:], host=HOST)
    web.sitemap_index("/sitemap.xml", ["/sitemap-1.xml", "/sitemap-2.xml"], host=HOST)


def two_parts(web: Web, _stage: int) -> None:
    """A site that is taken in parts."""
    pages = [f"{part}{name}" for part in ("/docs/", "/blog/") for name in ("", "one", "two")]
    page(web, "/", link(*pages, CHANGING))
    for path in (*pages, CHANGING):
        page(web, path, link("/docs/", "/blog/one"))
    web.sitemap(urls=["/", *pages, CHANGING, "/docs/missing", "/blog/missing"], host=HOST)


def named_twice(web: Web, _stage: int) -> None:
    """Duplicates by scheme, www, trailing slash and canonical URL."""
    page(web, "/", link("/s", "/w", "/t", "/t/", "/u?x=1", "/u", CHANGING))
    page(web, CHANGING, link("/"))
    for path in ("/s", "/w", "/t", "/t/"):
        web.html_page(path, "One page", f"<p>One page, {path[:2]}.</p>", etag="one")
    for path in ("/u", "/u?x=1"):
        head = f'<link rel="canonical" href="{HOME}/u">'
        web.page(path, f"<html><head><title>U</title>{head}</head><body><p>Also one.</p></body></html>", etag="u")
    others = ["https://site.localhost/s", "http://www.site.localhost/w", "https://www.site.localhost/t/"]
    web.sitemap(urls=["/", CHANGING, "/s", "/w", "/t", "/u?x=1", "/u", *others], host=HOST)


def over_time(web: Web, stage: int) -> None:
    """A site at three times: pages appear, change, move, disappear, return, or fail for a while."""
    always = ["/", CHANGING, "/stays", "/edited", "/moves", "/moves-away", "/circle/1", "/circle/2", "/redirect"]
    refused = ["/now-500", "/now-404", "/now-410", "/now-302", "/now-pdf", "/now-elsewhere"]
    doubtful = [*refused, "/late", "/both", "/both/"]
    sometimes = {"/dropped": (1,), "/returns": (1, 3), "/added": (2, 3), "/added-last": (3,)}
    there = [*always, *doubtful, *(path for path, stages in sometimes.items() if stage in stages)]
    for path in {*always, *doubtful, *sometimes} - {"/redirect", "/late", "/both", "/both/"}:
        page(web, path, link("/stays", "/moves"))
    page(web, "/", link(*there), version=stage)
    page(web, CHANGING, link("/"))
    page(web, "/edited", link("/"), version=stage)
    web.redirect("/redirect", "/stays")
    web.remove("/late")
    for path in ("/both", "/both/"):
        web.html_page(path, "Both", f"<p>The same{path if stage == 3 else ''}.</p>", etag=f"both-{stage}-{len(path)}")
    if stage >= 2:
        page(web, "/moved", link("/"))
        page(web, "/late", link("/"))
        page(web, "/redirect", link("/"))
        web.redirect("/moves", "/moved")
        web.redirect("/moves-away", "/stays", 308)
        web.redirect("/circle/1", "/circle/2")
        web.redirect("/circle/2", "/circle/1")
        web.page("/now-500", "<h1>500</h1>", status=500)
        web.remove("/now-404")
        web.page("/now-410", "<h1>410</h1>", status=410)
        web.redirect("/now-302", "/stays", 302)
        web.page("/now-pdf", b"%PDF-1.4\n", type="application/pdf")
        web.redirect("/now-elsewhere", "http://other.example/")
    if stage == 3:
        page(web, "/now-500", link("/"))
    web.sitemap(urls=there, host=HOST)


def page(web: Web, path: str, body: str, *, version: int = 1, host: str | None = None) -> None:
    """A page with an etag and a few words of its own."""
    text = f"<main><h1>At {path[:20]}</h1><p>All about {path[:20]}, version {version}.</p>{body}</main>"
    web.html_page(path, f"At {path[:20]}", text, etag=f"{version}", host=host)


def change(web: Web, path: str) -> None:
    """Another text on one page."""
    page(web, path, link("/"), version=9)


@dataclass(frozen=True, slots=True)
class Run:
    """One command. It runs to its end, is killed at a step, or gets a signal when it asks for a certain path."""

    command: str
    options: Mapping[str, Any] = field(default_factory=dict)
    start: str = "/"
    stage: int = 1
    killed_at: str = ""
    stopped_at: str = ""
    signal: str = "SIGKILL"

    @property
    def url(self) -> str:
        return HOME + self.start

    def settings(self, web: Web, output: Path, *, https: bool, update: bool = False) -> dict[str, Any]:
        """The options, as the library takes them."""
        always = {"rate_limit": 0, "max_retries": 0, "max_file_size": 0.02, "min_free_mb": 0, "timeout": 20}
        settings = {**always, "proxy": web.url, "output": output, **self.options}
        if https:
            settings["ca_file"] = certificate.good().pem
        return settings | {"update": True} if update else settings


@dataclass(frozen=True, slots=True)
class Case:
    """One mirror."""

    name: str
    runs: tuple[Run, ...]
    site: Callable[[Web, int], None] = everything
    https: bool = False
    changing: str = CHANGING
    power_cut: bool = False  # the machine went down in the last run

    @property
    def last(self) -> Run:
        return self.runs[-1]

    @property
    def interrupted(self) -> bool:
        return bool(self.last.killed_at or self.last.stopped_at)

    @property
    def archive(self) -> Path:
        return MIRRORS / f"{self.name}.tar.xz"

    def unpack(self, folder: Path) -> tuple[Path, Any]:
        """The mirror's output folder, and what was recorded of it."""
        with tarfile.open(self.archive) as packed:
            packed.extractall(folder, filter="data")
        return folder / "output", json.loads((folder / RECORD).read_text("utf-8"))


def account(output: Path) -> dict[str, list[str | None]]:
    """URL → its kind in the manifest with its paths, the page it is an alias of, or the reason."""
    manifest = json.loads((output / HOST / "_manifest.json").read_text("utf-8"))
    found: dict[str, list[str | None]] = {}

    def add(url: str, *what: str | None) -> None:
        assert url not in found, f"{url} is accounted for twice"
        found[url] = [*what]

    for row in manifest["pages"]:
        add(row["url"], "page", row["path"], row.get("html_path"), row.get("refresh_error"))
        for alias in row["aliases"]:
            add(alias, "alias", row["url"])
    for row in manifest["failures"]:
        add(row["url"], "failure", row["error"])
    for row in manifest["skips"]:
        add(row["url"], "skip", row["reason"])
    for row in manifest["gone"]:
        add(row["url"], "gone", row["path"])
    for url in manifest["not_reached"]:
        add(url, "not_reached")
    return found


def findings(verified: Mapping[str, Any], output: Path) -> dict[str, Any]:
    """Status and problems that `verify` reports, without their wording and the folder's location."""
    problems = [
        [problem["kind"], problem["where"].replace(f"{output}/", "")] for problem in verified.get("problems", ())
    ]
    return {"status": verified["status"], "problems": sorted(problems)}


def _whole(name: str, command: str, **options: Any) -> Case:
    return Case(name, (Run(command, options),))


def _killed_among_pages(name: str, step: str, command: str = "mirror", **options: Any) -> Case:
    return Case(f"killed-{name}", (Run(command, options, killed_at=step),), two_batches)


def _killed(name: str, step: str, command: str = "mirror", **options: Any) -> Case:
    return Case(f"killed-{name}", (Run(command, options, killed_at=step),), few)


_BOTH: Final = {"format": "both"}
_LOCAL: Final = {"links": "local"}
_UPDATE: Final = {"update": True}
_CUT: Final = Run("mirror", killed_at="lines-appended:1")
_CUT_BOTH: Final = Run("crawl", _BOTH, killed_at="lines-appended:1")

CASES: Final = (
    _whole("mirror-markdown", "mirror"),
    _whole("mirror-html", "mirror", format="html"),
    Case("mirror-both", (Run("mirror", _BOTH),), few),
    _whole("mirror-local", "mirror", links="local"),
    _whole("crawl-html", "crawl"),
    Case("crawl-markdown", (Run("crawl", {"format": "markdown"}),), few),
    Case("crawl-both-local", (Run("crawl", _BOTH | _LOCAL),), few),
    Case("duplicates", (Run("mirror"),), named_twice, https=True),
    Case("cut-short", (Run("mirror", {"max_pages": 5}),), few),
    Case("parts", (Run("mirror", start="/docs/"), Run("mirror", start="/blog/")), two_parts, changing="/blog/one"),
    Case("listed-and-crawled", (Run("mirror", {"format": "html"}), Run("crawl")), few),
    Case("kept-mirror", (Run("mirror"), Run("mirror", _UPDATE, stage=2)), over_time),
    Case(
        "updated-mirror",
        (Run("mirror", _BOTH | _LOCAL), *(Run("mirror", _BOTH | _LOCAL | _UPDATE, stage=stage) for stage in (2, 3))),
        over_time,
    ),
    Case("updated-crawl", (Run("crawl"), *(Run("crawl", _UPDATE, stage=stage) for stage in (2, 3))), over_time),
    # made by the last version before the tables were changed
    Case(
        "11-updated-mirror",
        (Run("mirror", _BOTH | _LOCAL), *(Run("mirror", _BOTH | _LOCAL | _UPDATE, stage=stage) for stage in (2, 3))),
        over_time,
    ),
    Case("11-updated-crawl", (Run("crawl"), *(Run("crawl", _UPDATE, stage=stage) for stage in (2, 3))), over_time),
    Case("11-killed-links", (Run("crawl", _BOTH | _LOCAL, killed_at="links-committed:1"),), few),
    # among pages
    _killed_among_pages("file-not-renamed", "file-written:24"),
    _killed_among_pages("file-without-row", "file-renamed:25"),
    _killed_among_pages("two-files-without-row", "file-renamed:41", format="both"),
    _killed_among_pages("row-not-committed", "rows-written:3"),
    _killed_among_pages("row-without-line", "rows-committed:2"),
    _killed_among_pages("line-appended", "lines-appended:1", "crawl"),
    Case("killed-second-part", (Run("mirror", start="/docs/"), Run("mirror", killed_at="rows-committed:1")), two_parts),
    # while files are moved and removed
    _killed("moves-noted", "moves-noted:1"),
    _killed("file-removed", "file-removed:1", "crawl", format="both"),
    _killed("file-aside", "file-aside:1"),
    _killed("file-moved", "file-moved:1", format="both"),
    # while links are made local
    _killed("page-linked", "page-linked:4", links="local"),
    _killed("links-rewritten", "links-rewritten:1", "crawl"),
    _killed("links-committed", "links-committed:1", "crawl", format="both", links="local"),
    # before the manifest, and when it is written and not in its place
    _killed("run-finished", "run-finished:1"),
    _killed("manifest-written", "draft-written:1", "crawl"),
    # in an update
    Case("killed-update", (Run("mirror"), Run("mirror", _UPDATE, stage=2, killed_at="rows-written:2")), over_time),
    Case("killed-alias", (Run("mirror"), Run("mirror", _UPDATE, stage=2, killed_at="alias-committed")), over_time),
    # by what it was asking for
    Case("killed-sitemaps", (Run("mirror", stopped_at="/sitemap-2.xml"),), few),
    Case("interrupted-mirror", (Run("mirror", stopped_at="/9", signal="SIGINT"),), two_batches),
    Case("interrupted-crawl", (Run("crawl", stopped_at="/9", signal="SIGINT"),), two_batches),
    Case(
        "interrupted-update",
        (Run("mirror"), Run("mirror", _UPDATE, stage=2, stopped_at="/now-500", signal="SIGINT")),
        over_time,
    ),
    # with the machine
    Case("power-cut", (_CUT, _CUT), two_batches, power_cut=True),
    Case("power-cut-both", (_CUT_BOTH, _CUT_BOTH), two_batches, power_cut=True),
)
