"""Crawlee's HTTP crawler, saving what the server sent; its queue is kept in memory, the quickest that it has."""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported,untyped-decorator"

from __future__ import annotations

import asyncio
import logging

from crawlee import ConcurrencySettings
from crawlee.crawlers import HttpCrawler, HttpCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from bench.drivers.listed import Listed


async def crawl(work: Listed) -> None:
    """Every URL once, bytes to disk."""
    slots = ConcurrencySettings(min_concurrency=work.slots, desired_concurrency=work.slots, max_concurrency=work.slots)
    crawler = HttpCrawler(
        concurrency_settings=slots,
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        use_session_pool=False,
    )

    @crawler.router.default_handler
    async def keep(context: HttpCrawlingContext) -> None:
        work.save_html(context.request.url, await context.http_response.read())

    work.begin()
    await crawler.run(work.urls)
    work.end()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    asyncio.run(crawl(Listed()))
