"""Scrapy, with markdownify turning each page into Markdown as it comes."""
# mypy: disable-error-code="import-not-found,misc,no-any-unimported"

from __future__ import annotations

from markdownify import markdownify
from scrapy.http import Response

from bench.drivers.scrapy_raw import Raw, crawl


class Markdown(Raw):
    """Every URL once, Markdown to disk."""

    name = "markdown"

    def keep(self, response: Response) -> None:
        self.work.save_markdown(response.url, markdownify(response.text))


if __name__ == "__main__":
    crawl(Markdown)
