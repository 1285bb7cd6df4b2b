"""Scrapy, saving what the server sent."""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported"

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from bench.drivers.listed import Listed


class Raw(Spider):
    """Every URL once, bytes to disk."""

    name = "raw"
    work: Listed

    async def start(self) -> AsyncIterator[Any]:
        self.work.begin()
        for url in self.work.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        self.keep(response)

    def keep(self, response: Response) -> None:
        self.work.save_html(response.url, response.body)


def crawl(spider: type[Raw]) -> None:
    """Runs a spider without what would slow it down."""
    work = Listed()
    spider.work = work
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": work.slots,
            "CONCURRENT_REQUESTS_PER_DOMAIN": work.slots,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
        }
    )
    process.crawl(spider)
    process.start()
    work.end()


if __name__ == "__main__":
    crawl(Raw)
