"""Short ways to say a page in a test."""

from __future__ import annotations

from sitemirror.convert import convert_html
from sitemirror.model import Page

URL = "https://example.com/docs/page.html"


def page(html: bytes | str, *, url: str = URL, content: str = "full", charset: str | None = None) -> Page:
    """`html` converted, with everything kept unless a test asks otherwise."""
    return convert_html(html, url=url, content=content, charset=charset)


def markdown(html: bytes | str, *, url: str = URL, content: str = "full") -> str:
    """The Markdown of `html`."""
    return page(html, url=url, content=content).markdown
