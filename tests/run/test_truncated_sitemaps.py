"""Sitemaps that end before their root element does are incomplete."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.copies import Copy
from tests.site import Site

PAGES = 20


def _listing(site: Site) -> bytes:
    rows = "".join(f"<url><loc>{site.url}/p{number}</loc></url>\n" for number in range(PAGES))
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'.encode()


def _in_a_loc(body: bytes) -> bytes:
    return body[: body.index(b"/p15<") + 2]


def _before_the_end(body: bytes) -> bytes:
    return body[: body.index(b"</urlset")]


def _in_gzip(body: bytes) -> bytes:
    return gzip.compress(body, 0)[:-200]


def _after_a_fault(body: bytes) -> bytes:
    return _in_a_loc(body.replace(b"/p0<", b"/p0?a&b<"))


CUTS = [_in_a_loc, _before_the_end, _in_gzip, _after_a_fault]


def _serve(site: Site, body: bytes, place: str) -> None:
    if place == "/child.xml":
        site.sitemap_index("/sitemap.xml", [place])
    site.page(place, body, type="application/xml")


@pytest.mark.parametrize("place", ["/sitemap.xml", "/child.xml"])
@pytest.mark.parametrize("cut", CUTS)
def test_truncated_sitemap_makes_a_run_partial(
    site: Site, out: Path, run_here: RunHere, cut: Callable[[bytes], bytes], place: str
) -> None:
    """Listing and mirror are partial and report it as incomplete; no page is gone because of it."""
    for number in range(PAGES):
        site.html_page(f"/p{number}", f"P{number}", f"<h1>P{number}</h1>")
    body = _listing(site)
    _serve(site, body, place)
    whole = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert (whole.json["status"], whole.json["successful"]) == ("ok", PAGES)

    _serve(site, cut(body), place)
    listed = run_here("list", site.url, "--rate-limit", 0, "--output", out)
    assert (listed.returncode, listed.json["status"]) == (0, "partial")
    assert "**Incomplete**" in Path(listed.json["outline"]).read_text("utf-8")
    for options in ([], ["--update"]):
        again = run_here("mirror", site.url, "--rate-limit", 0, "--output", out, *options)
        assert (again.returncode, again.json["status"]) == (0, "partial")
        manifest = Copy(Path(again.json["output_dir"])).manifest
        assert manifest["complete"] is False
        assert manifest["gone"] == []
        assert len(manifest["pages"]) == PAGES


@pytest.mark.parametrize(("step", "read"), [("lines-appended:1", 1), ("file-renamed:2", 1), ("file-renamed:3", 2)])
def test_resumed_run_reports_a_truncated_sitemap_again(
    site: Site, out: Path, run_here: RunHere, step: str, read: int
) -> None:
    """The run that read it was killed; the resumed one is partial for the same reason."""
    for number in range(PAGES):
        site.html_page(f"/p{number}", f"P{number}", f"<h1>P{number}</h1>")
    body = _listing(site)
    site.page("/cut.xml", _in_a_loc(body), type="application/xml")
    site.page("/whole.xml", body, type="application/xml")
    site.sitemap_index("/sitemap.xml", ["/cut.xml", "/whole.xml"])
    arguments = ("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert run_here(*arguments, env={"SITEMIRROR_FAILPOINT": step}).returncode < 0
    done = run_here(*arguments)
    assert site.count("/cut.xml") == read
    assert (done.json["status"], done.json["successful"]) == ("partial", PAGES)
    [warning] = done.json["warnings"]
    assert f"{site.url}/cut.xml" in warning


def test_malformed_but_complete_sitemap_is_complete(site: Site, out: Path, run_here: RunHere) -> None:
    """With an unescaped ampersand all entries are still read."""
    site.html_page("/p0?a&b", "P0", "<h1>P0</h1>")
    entry = f"<url><loc>{site.url}/p0?a&b</loc></url>"
    site.page("/sitemap.xml", f"<urlset>{entry}</urlset>".encode(), type="application/xml")
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert (done.json["status"], len(done.json["warnings"])) == ("ok", 1)
    assert Copy(Path(done.json["output_dir"])).manifest["complete"] is True
