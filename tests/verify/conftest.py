"""A site with every kind of link, mirrored once for each way of mirroring; each test damages a copy of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sitemirror
from sitemirror.publish.report import ProblemKind, VerifyReport
from tests.site import Site

Mirrored = Callable[[str], "Copy"]

WAYS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "mirror": (sitemirror.mirror_sync, {}),
    "mirror-local": (sitemirror.mirror_sync, {"links": "local"}),
    "mirror-both": (sitemirror.mirror_sync, {"format": "both"}),
    "mirror-indexed": (sitemirror.mirror_sync, {"index": True}),
    "mirror-html": (sitemirror.mirror_sync, {"format": "html"}),
    "crawl": (sitemirror.crawl_sync, {}),
    "crawl-both": (sitemirror.crawl_sync, {"format": "both"}),
    "crawl-markdown": (sitemirror.crawl_sync, {"format": "markdown"}),
    "crawl-markdown-local": (sitemirror.crawl_sync, {"format": "markdown", "links": "local"}),
    "crawl-both-local": (sitemirror.crawl_sync, {"format": "both", "links": "local"}),
    "crawl-as-received": (sitemirror.crawl_sync, {"post_process": False}),
    "crawl-unhashed": (sitemirror.crawl_sync, {"hash": False}),
    "crawl-cut-short": (sitemirror.crawl_sync, {"max_pages": 3}),
}


class Copy:
    """A mirror to be damaged."""

    def __init__(self, output: Path) -> None:
        self.output = output
        (manifest,) = output.glob("127*/_manifest.json")
        self.folder = manifest.parent

    def verify(self) -> VerifyReport:
        return sitemirror.verify(self.folder)

    def problems(self) -> list[tuple[ProblemKind, str]]:
        """Kind and place of each, files as seen from the mirror's folder."""
        return [(problem.kind, self.below(problem.where)) for problem in self.verify().problems]

    def below(self, where: str) -> str:
        path = Path(where)
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else where

    @property
    def manifest(self) -> Any:
        return json.loads((self.folder / "_manifest.json").read_text("utf-8"))

    @manifest.setter
    def manifest(self, content: Any) -> None:
        (self.folder / "_manifest.json").write_text(json.dumps(content), "utf-8")

    def page(self, path: str) -> Any:
        """The entry of the file `path` in the manifest."""
        return next(page for page in self.manifest["pages"] if page["path"] == path)

    def change_page(self, file: str, **fields: Any) -> None:
        content = self.manifest
        next(page for page in content["pages"] if page["path"] == file).update(fields)
        self.manifest = content

    def forget_what_was_saved(self) -> None:
        """Without a state, and with hashes of nothing, changed links are all that can be found."""
        (self.folder / "_state.sqlite3").unlink()
        content = self.manifest
        for page in content["pages"]:
            page.update(sha256=None, size_bytes=None)
        self.manifest = content


def build(site: Site) -> None:
    head = '<link rel=stylesheet href="/style.css"><link rel=canonical href="/">'
    site.html_page(
        "/",
        "Home",
        f"""{head}<main><h1 id=home>Home</h1><p>Everything begins on this page, which has a few words of its own.</p>
        <a href="guide/">guide</a> <a href="/guide/#second">second</a> <a href="#home">here</a> <a href="#top">top</a>
        <a href="/a%20b?x=1#%C3%A9t%C3%A9">odd</a> <a href="https://elsewhere.invalid/x#y">away</a>
        <a href="/missing#part">gone</a> <a href="/old">moved</a> <a href="/notes.txt">notes</a>
        <a href="mailto:a@example.com">mail</a> <a href="/paper.pdf">paper</a>
        <img src="/pictures/dot.png" srcset="/pictures/dot.png 1x, /pictures/dot2.png 2x"></main>""",
    )
    site.html_page(
        "/guide/",
        "Guide",
        """<main><h1>Guide</h1><h2 id=first>First</h2><p>The guide says what is to be done first of all.</p>
        <h2><a name=second>Second</a></h2><p style="background: url(../pictures/dot.png)">And then the second thing.</p>
        <p>In code, <code>[a](b.md)</code> is a link.</p><pre>[c](d.md)</pre><a href="../">up</a></main>""",
    )
    site.html_page("/a%20b?x=1", "Odd", '<main><h1 id="été">Odd</h1><p>A page with a name that needs care.</p></main>')
    site.redirect("/old", "/guide/")
    site.page("/style.css", "@import 'more.css'; body { background: url(pictures/dot.png) }", type="text/css")
    site.page("/more.css", "p { color: red }", type="text/css")
    site.page("/notes.txt", "See [this](nowhere.md) and [that](../../outside.md).\n", type="text/plain")
    site.page("/paper.pdf", b"%PDF-1.4\n", type="application/pdf")
    for name in ("dot", "dot2"):
        site.page(f"/pictures/{name}.png", b"\x89PNG\r\n\x1a\n" + name.encode(), type="image/png")
    listed = ["/", "/guide/", "/a%20b?x=1", "/old", "/missing", "/notes.txt", "/paper.pdf"]
    site.sitemap(urls=listed)


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """Each way's mirror, made when it is first asked for."""
    home = tmp_path_factory.mktemp("mirrored")
    with Site() as site:
        build(site)

        def made(way: str) -> Path:
            output = home / way
            if not output.exists():
                run, options = WAYS[way]
                run(site.url, output=output, rate_limit=0, **options)
            return output

        yield made


@pytest.fixture
def mirrored(originals: Callable[[str], Path], tmp_path: Path) -> Mirrored:
    """A copy of the mirror that was made in a certain way."""

    def copy(way: str) -> Copy:
        return Copy(Path(shutil.copytree(originals(way), tmp_path / way)))

    return copy
