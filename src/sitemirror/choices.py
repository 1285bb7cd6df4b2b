"""The words that some settings choose from. Apart from the settings, so that a worker process starts without them."""

from __future__ import annotations

from enum import StrEnum


class OnError(StrEnum):
    """What a page's failure does to the run."""

    SKIP = "skip"
    RETRY = "retry"
    ABORT = "abort"


class Content(StrEnum):
    """How much of a page is kept."""

    AUTO = "auto"
    MAIN = "main"
    FULL = "full"


class Format(StrEnum):
    """What is written. `list` prints json or md; mirror and crawl save markdown, html or both."""

    JSON = "json"
    MD = "md"
    MARKDOWN = "markdown"
    HTML = "html"
    BOTH = "both"


class Links(StrEnum):
    """How links in Markdown to other pages are written."""

    ABSOLUTE = "absolute"
    LOCAL = "local"


class Source(StrEnum):
    """Where URLs come from."""

    SITEMAP = "sitemap"
    LINKS = "links"
