"""The links of one page at one place, for tests that look at where they lead."""

from __future__ import annotations

from sitemirror.links.found import Found, PageLinks
from sitemirror.links.html import page_links

URL = "https://example.com/docs/guide/page.html"
HERE = "https://example.com/docs/guide/"


def read(html: str, url: str = URL) -> PageLinks:
    """All that a page says of its links."""
    return page_links(html.encode(), url=url)


def only(html: str) -> Found:
    """The one link of a page that has one."""
    (found,) = read(html).found
    return found


def found_urls(html: str, url: str = URL) -> list[str]:
    """Where the links of a page lead, in order."""
    return [found.url for found in read(html, url).found]


def names(html: str) -> list[str]:
    """The same, without the folder of the page."""
    return [url.removeprefix(HERE) for url in found_urls(html)]
