"""Which URLs the path globs let through, however they are spelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl_sync, list_site_sync, mirror_sync
from sitemirror.frontier.scope import Scope
from sitemirror.reasons import Reason
from sitemirror.settings import Settings
from tests.site import Site

START = "https://docs.example.com/"


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("/caf\u00e9", "/caf%C3%A9", True),
        ("/caf\u00e9", "/caf%c3%a9", True),
        ("/caf%C3%A9", "/caf%C3%A9", True),
        ("/caf%c3%a9*", "/caf%C3%A9/x", True),
        ("/caf%C3%A9", "/caf%c3%a9", True),
        ("/%e9", "/%E9", True),
        ("/A%2fB", "/a%2Fb", False),
        ("/sp ace/*", "/sp%20ace/x", True),
        ("/100%", "/100%25", True),
        ("/a/b", "/a%2Fb", False),
        ("/a%2Fb", "/a%2Fb", True),
        ("/?", "/%2F", False),
        ("/%E9", "/%E9", True),
        ("/caf\u00e9", "/cafe", False),
    ],
)
def test_a_glob_matches_either_spelling(glob: str, path: str, matches: bool) -> None:
    """As it stands in the URL and as it is shown; an encoded slash never becomes one that parts folders."""
    included = Scope(Settings(include_path=(glob,)), start_url=START)
    excluded = Scope(Settings(exclude_path=(glob,)), start_url=START)
    url = START[:-1] + path
    assert included.reason(url) == (None if matches else Reason.NOT_INCLUDED)
    assert excluded.reason(url) == (Reason.EXCLUDED if matches else None)


@pytest.mark.parametrize("run", [list_site_sync, mirror_sync, crawl_sync])
def test_globs_are_typed_as_the_outline_prints_them(site: Site, out: Path, run: Any) -> None:
    """`/café*` takes what is under it, and `/sp ace` can be left out; with every command."""
    pages = ("/caf%C3%A9", "/caf%C3%A9/sp%20ace", "/caf%C3%A9/x", "/other")
    for path in pages:
        site.html_page(path, path, f"<h1>{path}</h1>")
    site.html_page("/", "Home", "".join(f'<a href="{path}">x</a>' for path in pages))
    site.sitemap(urls=pages)
    report = run(site.url, output=out, rate_limit=0, include_path=("/caf\u00e9*",), exclude_path=("*/sp ace",))
    if run is list_site_sync:
        assert report.total_urls == 2
    else:
        fetched = [path for path in site.paths() if path.startswith(("/caf", "/other"))]
        assert sorted(fetched) == ["/caf%C3%A9", "/caf%C3%A9/x"]


@pytest.mark.parametrize(
    ("glob", "tail", "matches"),
    [
        ("*?print=*", "a?print=1", True),
        ("*?print=*", "a?x=1&print=1", True),
        ("*print=*", "a?x=1&print=1", True),
        ("https://docs.example.com/a*", "a?x", True),
        ("http://*", "a", False),
        ("*caf\u00e9*", "a?q=caf%C3%A9", True),
        ("*caf%c3%a9*", "a?q=caf%C3%A9", True),
        ("/a*", "a", False),
    ],
)
def test_a_glob_for_whole_urls(glob: str, tail: str, matches: bool) -> None:
    """Scheme, host, path and query, in either spelling."""
    included = Scope(Settings(include=(glob,)), start_url=START)
    excluded = Scope(Settings(exclude=(glob,)), start_url=START)
    assert included.reason(START + tail) == (None if matches else Reason.URL_NOT_INCLUDED)
    assert excluded.reason(START + tail) == (Reason.URL_EXCLUDED if matches else None)
    assert not included.takes_all(START[:-1])


def test_unmatched_globs_are_known() -> None:
    """Also where another glob has decided already."""
    scope = Scope(Settings(include_path=("/a*", "/b*"), exclude=("*x*", "*y*")), start_url=START)
    assert scope.unmatched_globs() == ["--include-path /a*", "--include-path /b*", "--exclude *x*", "--exclude *y*"]
    scope.reason(START + "a/x")
    assert scope.unmatched_globs() == ["--include-path /b*", "--exclude *y*"]
