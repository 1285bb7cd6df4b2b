"""Names that are a file to one page and a folder to another, whichever comes first."""

from __future__ import annotations

import pytest

from tests.crawl.conftest import Copy, Crawl
from tests.site import Site, faults


async def test_a_folder_is_needed_where_a_file_is_still_coming(site: Site, run: Crawl, copy: Copy) -> None:
    """/data trickles in while /data/x arrives: both are saved, under names of their own."""
    site.html_page("/", "Home", '<img src="/data"><a href="/data/x">x</a>')
    site.page("/data", b"\x00" * 4000, type="application/octet-stream")
    site.fault("/data", faults.drip(4000))
    site.html_page("/data/x", "X", "<p>x</p>")
    report = await run(concurrency=4)
    assert report.status == "ok"
    assert {path.partition("/")[0].partition("_")[0] for path in copy.files} >= {"data", "index.html"}
    assert sum(len(data) == 4000 for data in copy.files.values()) == 1


@pytest.mark.parametrize("format", ["html", "markdown"])
async def test_a_page_below_index_html_comes_before_its_page(site: Site, run: Crawl, format: str) -> None:
    """/x/index.html/deep makes a folder of the name that /x's file has: the run goes on, and both are saved."""
    site.html_page("/", "Home", '<a href="/x/index.html/deep">deep</a><a href="/late">late</a>')
    site.html_page("/x/index.html/deep", "Deep", "<p>deep</p>")
    site.html_page("/late", "Late", '<a href="/x">x</a>')
    site.html_page("/x", "X", "<p>x</p>")
    report = await run(format=format)
    assert (report.status, report.successful) == ("ok", 4)
