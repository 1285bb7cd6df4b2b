"""trafilatura's own download and extraction to Markdown, in as many processes as there are cores.

Its command line does the same for a list of URLs, but waits seconds between two pages of one site and extracts in one
thread; this is kinder. A page that it finds no text in becomes an empty file.
"""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported"

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

from trafilatura import extract, fetch_url
from trafilatura.settings import use_config

from bench.drivers.listed import Listed


@cache
def settings() -> Any:
    """Its own, but that loopback may be asked."""
    config = use_config()
    config["DEFAULT"]["SSRF_PROTECTION"] = "off"
    return config


def markdown_of(url: str) -> str | None:
    """One page; `None` when it could not be had."""
    page = fetch_url(url, config=settings())
    if page is None:
        return None
    return extract(page, url=url, output_format="markdown", include_links=True, config=settings()) or ""


def crawl(work: Listed) -> None:
    """Every URL once; results are saved as they come."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        work.begin()
        for url, text in zip(work.urls, pool.map(markdown_of, work.urls, chunksize=4), strict=True):
            if text is not None:
                work.save_markdown(url, text)
    work.end()


if __name__ == "__main__":
    crawl(Listed())
