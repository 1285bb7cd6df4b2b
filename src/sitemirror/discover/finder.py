"""Knows where sitemaps are: which URLs to try, in which order, and what a sitemap looks like from its first bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sitemirror import urls
from sitemirror.discover.inflate import Inflater
from sitemirror.discover.recode import Recoder
from sitemirror.discover.sniff import HEAD, Shape, first_line_is_url, has_sitemap_root, shape, skip_blanks

WELL_KNOWN: Final = ("sitemap.xml", "sitemap_index.xml", "sitemap.xml.gz", "sitemap.txt", "wp-sitemap.xml")

# Endings of files as opposed to folders: /docs/v1.2 is a folder, /docs/index.html is not.
_FILE_ENDINGS: Final = (
    *(".html", ".htm", ".xhtml", ".php", ".asp", ".aspx", ".jsp", ".md", ".markdown"),
    *(".xml", ".gz", ".txt", ".rss", ".atom", ".rdf", ".json", ".pdf"),
)


def scope_folder(path: str) -> str:
    """The folder that a start URL's path stands for, with a slash at the end."""
    folder, _, name = path.rpartition("/")
    if name.lower().endswith(_FILE_ENDINGS):
        return folder + "/"
    return path if path.endswith("/") else path + "/"


def candidates(start_url: str, robots_sitemaps: Iterable[str]) -> list[list[str]]:
    """Groups of sitemap URLs, to be tried in order until one works; within a group all are read. No URL comes twice."""
    origin = urls.origin(start_url)
    folder = scope_folder(urls.parts(start_url).path)
    named = list(normalized(robots_sitemaps, origin + "/"))
    groups: list[list[str]] = []
    if folder == "/":
        groups.append(named)
    else:
        own = [url for url in named if _lies_under(url, start_url, folder)]
        groups.append(own)
        groups += [[origin + folder + name] for name in WELL_KNOWN]
        groups.append([url for url in named if url not in own])
    groups += [[f"{origin}/{name}"] for name in WELL_KNOWN]
    return _without_repeats(groups)


def sitemap_links(html: bytes, base_url: str) -> list[str]:
    """What a page's `<link rel="sitemap">` elements point to."""
    import turbohtml  # A site whose robots.txt names its sitemaps needs none of it here.

    document = turbohtml.parse(html)
    base = base_url
    for element in document.select("base[href]")[:1]:
        base = next(normalized([element.attr("href") or ""], base_url), base_url)
    named = (
        element.attr("href") or ""
        for element in document.select("link[href]")
        if "sitemap" in (element.attr("rel") or "").lower().split()
    )
    return list(dict.fromkeys(normalized(named, base)))


def looks_like_sitemap(head: bytes, content_type: str) -> bool:
    """Whether a body that begins with `head` is a sitemap, a feed or a list of URLs rather than a page.

    A list of URLs is believed only if its first line is one: any text may have a URL somewhere.
    """
    start = _readable_start(head)
    match shape(start):
        case Shape.XML | Shape.LATE_XML:
            return has_sitemap_root(start)
        case Shape.TEXT:
            return "html" not in content_type.lower() and first_line_is_url(start)
        case _:
            return False


def _readable_start(head: bytes) -> bytes:
    for _ in range(2):
        head = next(Inflater().feed(head), b"")
    recoder = Recoder()
    return skip_blanks(recoder.feed(head) + recoder.close())[:HEAD]


def normalized(texts: Iterable[str], base: str) -> Iterator[str]:
    """The one spelling of each, as far as it is a URL."""
    for text in filter(None, map(str.strip, texts)):
        try:
            yield urls.normalize(text, base)
        except urls.InvalidUrl:
            continue


def _lies_under(url: str, start_url: str, folder: str) -> bool:
    found = urls.parts(url)
    return found.host in urls.host_twins(urls.parts(start_url).host) and found.path.startswith(folder)


def _without_repeats(groups: Iterable[Iterable[str]]) -> list[list[str]]:
    seen: set[str] = set()
    kept: list[list[str]] = []
    for group in groups:
        fresh = [url for url in dict.fromkeys(group) if url not in seen]
        seen.update(fresh)
        if fresh:
            kept.append(fresh)
    return kept
