"""crawl4ai with its HTTP strategy, which needs no browser, to Markdown."""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported"

from __future__ import annotations

import asyncio

from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig, MemoryAdaptiveDispatcher
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.async_logger import AsyncLogger

from bench.drivers.listed import Listed


async def crawl(work: Listed) -> None:
    """Every URL once; results are saved as they come."""
    logger = AsyncLogger(verbose=False)
    strategy = AsyncHTTPCrawlerStrategy(HTTPCrawlerConfig(), logger=logger, max_connections=work.slots)
    settings = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, stream=True, verbose=False)
    dispatcher = MemoryAdaptiveDispatcher(max_session_permit=work.slots)
    async with AsyncWebCrawler(crawler_strategy=strategy, logger=logger, verbose=False) as crawler:
        work.begin()
        async for result in await crawler.arun_many(work.urls, config=settings, dispatcher=dispatcher):
            if result.success:
                work.save_markdown(result.url, result.markdown.raw_markdown)
    work.end()


if __name__ == "__main__":
    asyncio.run(crawl(Listed()))
