"""Copy a website to disk, as clean Markdown or as HTML with its assets.

    import sitemirror
    report = sitemirror.mirror_sync("https://docs.example.com/")  # in a coroutine: await sitemirror.mirror(...)

Names are loaded when they are first used, so that `sitemirror --version` is fast.
"""

from __future__ import annotations

from sitemirror.version import __version__

TYPE_CHECKING = False  # True to type checkers. Importing `typing` would take longer than everything else here.
if TYPE_CHECKING:
    from sitemirror.api import (
        Run,
        convert_url,
        convert_url_sync,
        crawl,
        crawl_sync,
        list_site,
        list_site_sync,
        mirror,
        mirror_sync,
        search,
        sections,
        verify,
        where,
    )
    from sitemirror.convert import convert_html
    from sitemirror.errors import SitemirrorError
    from sitemirror.model import Page
    from sitemirror.page_stream import MirroredPage, pages
    from sitemirror.publish.report import ListReport, MirrorReport, SitesReport, VerifyReport
    from sitemirror.reading.export import PageRecord, SectionRecord, export
    from sitemirror.reading.search import SearchReport, SearchResult
    from sitemirror.reading.sections import Section
    from sitemirror.settings import Options, Settings
    from sitemirror.sites import (
        Site,
        crawl_sites,
        crawl_sites_sync,
        mirror_sites,
        mirror_sites_sync,
        update_mirrors,
        update_mirrors_sync,
    )

__all__ = [
    "ListReport",
    "MirrorReport",
    "MirroredPage",
    "Options",
    "Page",
    "PageRecord",
    "Run",
    "SearchReport",
    "SearchResult",
    "Section",
    "SectionRecord",
    "Settings",
    "Site",
    "SitemirrorError",
    "SitesReport",
    "VerifyReport",
    "__version__",
    "convert_html",
    "convert_url",
    "convert_url_sync",
    "crawl",
    "crawl_sites",
    "crawl_sites_sync",
    "crawl_sync",
    "export",
    "list_site",
    "list_site_sync",
    "mirror",
    "mirror_sites",
    "mirror_sites_sync",
    "mirror_sync",
    "pages",
    "search",
    "sections",
    "update_mirrors",
    "update_mirrors_sync",
    "verify",
    "where",
]

_HOMES = {
    "Page": "model",
    "MirroredPage": "page_stream",
    "Options": "settings",
    "SearchReport": "reading.search",
    "SearchResult": "reading.search",
    "Section": "reading.sections",
    "Settings": "settings",
    "SitemirrorError": "errors",
    "convert_html": "convert",
    "pages": "page_stream",
    **dict.fromkeys(("Site", "crawl_sites", "crawl_sites_sync", "mirror_sites", "mirror_sites_sync"), "sites"),
    **dict.fromkeys(("update_mirrors", "update_mirrors_sync"), "sites"),
    **dict.fromkeys(("PageRecord", "SectionRecord", "export"), "reading.export"),
    **dict.fromkeys(("ListReport", "MirrorReport", "SitesReport", "VerifyReport"), "publish.report"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return __all__
