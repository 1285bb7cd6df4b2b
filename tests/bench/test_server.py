"""nginx in front of a corpus: it serves the files, tells what it saw, and is gone afterwards."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path
from urllib.error import URLError

import pytest

from bench.corpus import Book, Corpus, everything
from bench.growth import Flatness
from bench.hosts import Hosts, fastest
from bench.processes import Sample
from bench.program import Ended
from bench.server import Log, Request, program, served

pytestmark = pytest.mark.nginx


@pytest.fixture
def books(tmp_path: Path) -> list[Book]:
    """One manual, with a page that lies elsewhere and is linked into it, as Debian likes to do."""
    if program() is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path / "manual"
    folder.mkdir()
    for number in range(3):
        (folder / f"page-{number}.html").write_text(f"<p>Page {number}</p>")
    (tmp_path / "elsewhere.html").write_text("<p>Elsewhere</p>")
    (folder / "linked.html").symlink_to(tmp_path / "elsewhere.html")
    return [Book("manual", "manual-doc", folder)]


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        body: bytes = answer.read()
        return body


def wait_for(count: int, hosts: Hosts) -> list[Request]:
    """nginx writes its log a moment after it answers."""
    deadline = time.monotonic() + 10
    while hosts.answered() < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return hosts.requests()


def test_a_corpus_is_served_while_the_block_lasts(books: list[Book]) -> None:
    """Every listed URL answers with its file, links out of the manual included; then nobody answers."""
    corpus = everything(books)
    with served(books, corpus) as server:
        listed = (server.site / "urls.txt").read_text().split()
        assert [get(url) for url in listed] == [page.file.read_bytes() for page in corpus.pages]
        assert get(f"{server.url}/sitemap.xml").count(b"<loc>") == 4
    with pytest.raises(URLError):
        get(f"{server.url}/robots.txt")


def test_many_hosts_have_their_own_sitemaps(books: list[Book], tmp_path: Path) -> None:
    """Each address names itself, and the log tells them apart."""
    (tmp_path / "nginx").mkdir()
    with Hosts(tmp_path / "nginx", books, everything(books), 3) as hosts:
        for address in hosts.addresses:
            assert f"<loc>{hosts.url_at(address)}/manual/".encode() in get(f"{hosts.url_at(address)}/sitemap.xml")
        get(f"{hosts.url_at(hosts.addresses[2])}/manual/page-1.html")
        seen = wait_for(4, hosts)
    assert [(request.address, request.path) for request in seen if request.is_page] == [
        (hosts.addresses[2], "/manual/page-1.html")
    ]
    assert abs(seen[-1].time - time.time()) < 60


def test_log_is_off_unless_it_is_asked_for(books: list[Book]) -> None:
    """Those who measure speed do not pay for it."""
    with served(books, Corpus(everything(books).pages[:1])) as server:
        get(f"{server.url}/robots.txt")
        assert server.requests() == []
    with served(books, everything(books), Log.ON) as server:
        get(f"{server.url}/manual/page-0.html")
        deadline = time.monotonic() + 10
        while not server.answered() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [request.path for request in server.requests()] == ["/manual/page-0.html"]


def test_the_fastest_stretch_is_found() -> None:
    """Ten requests in half the time that they should take are seen among a hundred that keep the rate."""
    steady = [Request(number / 5, "a", "GET", 200, "/") for number in range(100)]
    assert fastest(steady) == pytest.approx(5)
    rushed = [Request(20 + number / 10, "a", "GET", 200, "/") for number in range(12)]
    assert fastest([*steady, *rushed]) == pytest.approx(10)


def test_growing_memory_is_told_from_flat_memory() -> None:
    """A megabyte for every thousand pages shows in the last tenth; a peak at the very end is told apart."""
    requests = [Request(float(number) / 100, "a", "GET", 200, f"/{number}.html") for number in range(20_000)]

    def watched(megabytes: list[float]) -> Flatness:
        memory = tuple(Sample(second + 0.5, found) for second, found in enumerate(megabytes))
        return Flatness.of(Ended(0.0, 210.0, 1.0, 1.0, memory, b""), requests)

    flat = watched([100.0] * 200 + [150.0] * 5)
    assert (flat.early, flat.late, flat.closing) == (100.0, 100.0, 150.0)
    growing = watched([100.0 + second / 10 for second in range(200)])
    assert growing.late / growing.early > 1.1
