"""Pages built to hurt whoever reads them, all in one real run: each costs itself at most, and memory is bounded."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from sitemirror.convert import convert_html
from sitemirror.workers.pool import LARGE
from tests.conftest import RunHere, StartCli
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored
from tests.spec.test_duplicate_memory import Peak

MEGABYTE = 1024 * 1024
HALF_A_GIGABYTE = 500 * MEGABYTE
MILLION = 1_000_000
END = "<p>the end</p>"

# What one page of the largest size may cost in its worker, besides what a run costs anyway: some 60 bytes a byte.
MOST = 1400 * MEGABYTE


@pytest.mark.timeout(180)
def test_a_site_of_monsters(site: Site, out: Path, start_cli: StartCli) -> None:
    """Bombs, half-gigabyte pages, a million levels or attributes: named or saved, as are the good pages."""
    for encoding in ("gzip", "br", "zstd", "deflate"):
        site.fault(f"/bomb/{encoding}", faults.bomb(40 * MEGABYTE, encoding))
    twice = gzip.compress(gzip.compress(bytes(50 * MEGABYTE)))
    site.page("/bomb/twice", twice, headers={"Content-Encoding": "gzip, gzip"})
    site.fault("/huge", faults.huge(HALF_A_GIGABYTE))
    site.fault("/huge/unannounced", faults.huge_unannounced(HALF_A_GIGABYTE))
    site.fault("/huge/endless", faults.chunked_forever())
    refused = [f"/bomb/{encoding}" for encoding in ("gzip", "br", "zstd", "deflate", "twice")]
    refused += ["/huge", "/huge/unannounced", "/huge/endless"]
    site.html_page("/deep", "Deep", "<div>" * MILLION + END)
    site.html_page("/wide", "Wide", f"<p {' '.join(f'a{n}' for n in range(MILLION))}>x</p>" + END)
    site.html_page("/nul", "Nul", "\0" * MILLION + END)
    site.page("/charset", "<p>é</p><p>the end</p>".encode("utf-16"), type='text/html; charset="us-ascii; x')
    site.page("/charset/unknown", "<p>é</p><p>the end</p>", type="text/html; charset=utf-8")
    site.page("/charset/meta", b"<meta charset=utf-7><p>+ADw-script+AD4-</p><p>the end</p>")
    taken = ["/deep", "/wide", "/charset", "/charset/unknown", "/charset/meta"]
    site.fill(3)
    site.sitemap(urls=[*refused, *taken, "/nul", "/page/0001", "/page/0002", "/page/0003"])

    process = start_cli("mirror", site.url, *FAST, "--output", out, "--max-retries", 0)
    peak = Peak(process)
    process.communicate(timeout=170)

    mirrored = Mirrored.of(site, out)
    skips = {skip["url"].removeprefix(site.url): skip["reason"] for skip in mirrored.manifest["skips"]}
    assert skips.pop("/nul") == "unreadable: binary data, sent as text/html"
    assert skips == dict.fromkeys(refused, "exceeds size limit")
    assert mirrored.manifest["failures"] == []
    for path in taken:
        assert "the end" in mirrored.text(mirrored.entry(site.url + path)["path"]), path
    assert {f"page/000{number}/index.md" for number in (1, 2, 3)} <= mirrored.pages
    assert 0 < peak.end() < MOST


def test_types_that_lie(site: Site, out: Path, run_here: RunHere) -> None:
    """What a page claims to be is not what it becomes: no script is saved as one, nothing binary passes for a page."""
    html = "<script>alert(1)</script><h1>Page</h1><p>text</p>"
    site.page("/png", b"\x89PNG\r\n\x1a\n" + bytes(2000), type="text/html")
    site.page("/exe", b"MZ" + bytes(range(256)) * 20, type=None)
    site.page("/as-png", html, type="image/png")
    site.page("/as-text", html, type="text/plain")
    site.page("/two", html, type="text/html, image/svg+xml")
    site.page("/svg", f'<svg xmlns="http://www.w3.org/2000/svg">{html}</svg>', type="image/svg+xml")
    site.page("/polyglot", b"GIF89a/*" + html.encode() + b"*/=1;", type="text/html")
    site.page("/none", html, type=None)
    paths = ["/png", "/exe", "/as-png", "/as-text", "/two", "/svg", "/polyglot", "/none"]
    site.sitemap(urls=paths)

    done = run_here("mirror", site.url, *FAST, "--output", out, "--max-retries", 0)

    mirrored = Mirrored.of(site, out)
    saved = {page["url"].removeprefix(site.url) for page in mirrored.manifest["pages"]}
    skipped = {skip["url"].removeprefix(site.url) for skip in mirrored.manifest["skips"]}
    assert saved | skipped == set(paths), done.stderr
    assert {"/exe", "/as-png", "/svg"} <= skipped
    assert {"/none", "/as-text"} <= saved
    for page in mirrored.manifest["pages"]:
        assert page["path"].endswith(".md")
        assert "\0" not in mirrored.text(page["path"])
    assert "<script>" not in mirrored.text("none/index.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *("<table><tr><td>", "<svg>", "<sup>", "<code>`", "<div hidden>", "<table><caption>", "<dl><dt>", "<label>"),
        "<img src=#only-dark>",
    ],
)
def test_a_page_that_is_read_here_takes_no_time(unit: str) -> None:
    """Markup that takes time in the square of its size: below the size from which workers read, that is a moment."""
    body = (unit * (LARGE // len(unit))).encode()
    begun = time.process_time()
    convert_html(body, url="https://example.com/")
    assert time.process_time() - begun < 10
