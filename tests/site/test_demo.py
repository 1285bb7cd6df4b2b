"""The demo site that `scripts/mirror` shows: it must be whole, since it is the first thing a newcomer sees."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import pytest

from scripts.demo.serve import LISTED, MOVED, PDF, DemoSite

SCRIPT = Path(__file__).parents[2] / "scripts" / "demo" / "serve.py"


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoSite]:
    """The demo site, running."""
    with DemoSite() as started:
        yield started


def get(demo: DemoSite, path: str, **headers: str) -> tuple[int, bytes, http.client.HTTPMessage]:
    with closing(http.client.HTTPConnection(demo.url.removeprefix("http://"), timeout=5)) as connection:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers


def listed_paths(demo: DemoSite) -> list[str]:
    _, body, _ = get(demo, "/sitemap.xml")
    return [unescape(loc).removeprefix(demo.url) for loc in re.findall(r"<loc>(.*?)</loc>", body.decode())]


def test_robots_txt_names_the_sitemap(demo: DemoSite) -> None:
    """The sitemap is found the way a visitor looks for it."""
    status, body, _ = get(demo, "/robots.txt")
    assert status == 200
    assert f"Sitemap: {demo.url}/sitemap.xml" in body.decode()


def test_everything_in_the_sitemap_is_there(demo: DemoSite) -> None:
    """Every page answers 200 as HTML; the moved one redirects; the PDF is a PDF."""
    paths = listed_paths(demo)
    assert len(paths) == len(LISTED) + len(MOVED) + 1
    kinds = [(get(demo, path)[0], get(demo, path)[2]["Content-Type"].partition(";")[0]) for path in paths]
    assert kinds.count((200, "text/html")) == len(LISTED) >= 12
    assert kinds.count((301, "text/html")) == len(MOVED)
    assert get(demo, PDF)[1].startswith(b"%PDF-")


def test_no_link_on_the_demo_site_is_dead(demo: DemoSite) -> None:
    """Every link and image on every page leads to something."""
    wanted = set()
    for path in listed_paths(demo):
        _, body, headers = get(demo, path)
        if headers["Content-Type"].startswith("text/html"):
            found = re.findall(r'(?:href|src)="([^"]+)"', body.decode())
            wanted |= {urldefrag(urljoin(demo.url + path, unescape(link)))[0] for link in found}
    ours = {url.removeprefix(demo.url) for url in wanted if url.startswith(demo.url)}
    assert len(ours) > 12
    assert {path: get(demo, path)[0] for path in ours if get(demo, path)[0] != 200} == {}


def test_pages_can_be_asked_for_conditionally(demo: DemoSite) -> None:
    """A second demo run has something to save: unchanged pages answer 304."""
    _, _, headers = get(demo, "/install")
    assert get(demo, "/install", If_None_Match=headers["ETag"])[:2] == (304, b"")
    assert get(demo, "/install", If_None_Match='"other"')[0] == 200
    assert get(demo, "/nowhere")[0] == 404


def test_the_script_prints_its_url_and_stops_when_told() -> None:
    """Run by hand it says where it is and ends on a signal without a traceback."""
    process = subprocess.Popen([sys.executable, str(SCRIPT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", process.stdout.readline())
        process.terminate()
        _, stderr = process.communicate(timeout=10)
        assert stderr == ""
    finally:
        process.kill()
        process.wait()
