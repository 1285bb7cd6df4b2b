"""A whole manual by its links: what wget gets, and a copy that a browser opens from disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import urldefrag, urlsplit
from urllib.request import url2pathname

import pytest

from tests.manual.browser import Opened, browser, chromium
from tests.manual.conftest import Mirrored, copied
from tests.manual.server import Manual

pytestmark = [pytest.mark.nginx, pytest.mark.timeout(180)]

_OPENED: Final = (
    "",  # the start page
    "acronyms.html",
    "app-psql.html",
    "biblio.html",
    "bookindex.html",
    "datatype-numeric.html",
    "features-sql-standard.html",
    "functions-string.html",
    "geqo-intro2.html",  # with an object: genetic-algorithm.svg
    "gin-implementation.html",
    "index.html",
    "release.html",
    "runtime-config-query.html",
    "sql-select.html",
    "storage-page-layout.html",
)
_CLICKED: Final = ("index.html", "sql-select.html", "bookindex.html", "datatype-numeric.html", "app-psql.html")
_OBJECTS: Final = {
    "geqo-intro2.html": "genetic-algorithm.svg",
    "gin-implementation.html": "gin.svg",
    "storage-page-layout.html": "pagelayout.svg",
}


@pytest.fixture(scope="module")
def crawled(manual: Manual, tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    """The manual crawled once from its start page. Look, but do not touch."""
    return copied(tmp_path_factory.mktemp("crawled"), "crawl", f"{manual.url}/")


@pytest.fixture(scope="module")
def files(crawled: Mirrored) -> dict[str, Path]:
    """Where each URL's file is; aliases have their page's."""
    return {
        url: (crawled.home / page["path"]).resolve()
        for page in crawled.manifest["pages"]
        for url in (page["url"], *page["aliases"])
    }


def path_of(url: str) -> Path:
    """The file that a file: URL names."""
    return Path(url2pathname(urlsplit(url).path))


def outside(opened: Opened, home: Path) -> list[str]:
    """What the browser asked for that is not in the mirror."""
    return [
        url
        for url in opened.requested
        if not url.startswith("data:") and not (url.startswith("file:///") and path_of(url).is_relative_to(home))
    ]


needs_chromium = pytest.mark.skipif(chromium() is None, reason="chromium is not installed")


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
def test_a_crawl_gets_what_wget_gets(manual: Manual, crawled: Mirrored, files: dict[str, Path], tmp_path: Path) -> None:
    """Pages and assets are those of `wget -r -p -k -np`, by URL, and the site has no robots.txt to forbid any."""
    command = ["wget", "-q", "-r", "-l", "inf", "-p", "-k", "-np", "--no-config", "--no-proxy", "-P", str(tmp_path)]
    done = subprocess.run([*command, f"{manual.url}/"], timeout=100, check=False)
    # 8: some answer was an error. Each page has <link rev="made" href="pgsql-docs@lists.postgresql.org">, meant as an
    # address for mail; wget follows it and gets 404. A link without rel names nothing to fetch, and we do not ask.
    assert done.returncode == 8
    root = tmp_path / f"127.0.0.1:{manual.port}"
    theirs = {manual.url_of(path.relative_to(root).as_posix()) for path in root.rglob("*") if path.is_file()}
    assert len(theirs) >= 1000
    assert sum(not url.endswith(".html") for url in theirs) >= 4  # the style sheet and three drawings
    # wget writes / over /index.html, which links lead to as well; we keep both, as no rule says that they are one.
    assert set(files) - theirs == {f"{manual.url}/"}
    assert theirs - set(files) == set()
    assert (crawled.report["status"], crawled.report["failed"]) == ("ok", 0)
    assert all(path.is_file() for path in files.values())


@needs_chromium
async def test_the_copy_opens_from_disk(manual: Manual, crawled: Mirrored, files: dict[str, Path]) -> None:
    """Every request of a browser is answered, from the mirror alone, on pages opened and on pages reached by links."""
    home = crawled.home.resolve()
    sheet = files[manual.url_of("stylesheet.css")]
    manual.forget()
    async with browser() as tab:
        for page in _OPENED:
            opened = await tab.open(files[manual.url_of(page)].as_uri())
            assert (opened.failed, outside(opened, home)) == ([], []), page
            asked = {path_of(url) for url in opened.requested}
            assert {files[manual.url_of(page)], sheet} <= asked, page
            if page in _OBJECTS:
                assert files[manual.url_of(_OBJECTS[page])] in asked
            assert not [link for link in opened.links if link.startswith(manual.url)], page
            local = {urldefrag(link).url for link in opened.links if link.startswith("file:")}
            assert local, page
            assert not [link for link in local if path_of(link) not in files.values()], page
        for page in _CLICKED:
            start = await tab.open(files[manual.url_of(page)].as_uri())
            here = urldefrag(start.url).url
            away = [n for n, link in enumerate(start.links) if link.startswith("file:") and urldefrag(link).url != here]
            for number in away[:: max(1, len(away) // 3)][:3]:
                await tab.open(start.url)
                reached = await tab.click(number)
                assert reached.url == start.links[number]
                assert (reached.failed, outside(reached, home)) == ([], []), reached.url
                assert {path_of(reached.url), sheet} <= {path_of(url) for url in reached.requested}
    assert manual.seen() == []


@needs_chromium
async def test_the_browser_would_tell(manual: Manual, tmp_path: Path) -> None:
    """A missing file and a request for the network are both noticed, so that silence means something."""
    page = tmp_path / "page.html"
    page.write_text(f'<link rel="stylesheet" href="gone.css"><img src="{manual.url}/gin.svg"><p>Text.')
    async with browser() as tab:
        opened = await tab.open(page.as_uri())
    assert outside(opened, tmp_path) == [manual.url_of("gin.svg")]
    failed = {failure.rpartition(": ")[0] for failure in opened.failed}
    assert failed == {(tmp_path / "gone.css").as_uri(), manual.url_of("gin.svg")}
