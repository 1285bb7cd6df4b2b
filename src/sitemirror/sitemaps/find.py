"""Candidate URLs of sitemaps, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sitemirror import urls

WELL_KNOWN: Final = ("sitemap.xml", "sitemap_index.xml", "sitemap.xml.gz", "sitemap.txt", "wp-sitemap.xml")

# Endings of files as opposed to folders: /docs/v1.2 is a folder, /docs/index.html is not.
_FILE_ENDINGS: Final = (
    *(".html", ".htm", ".xhtml", ".php", ".asp", ".aspx", ".jsp", ".md", ".markdown"),
    *(".xml", ".gz", ".txt", ".rss", ".atom", ".rdf", ".json", ".pdf"),
)


def scope_folder(path: str) -> str:
    """The folder of a start URL's path, with a slash at the end."""
    folder, _, name = path.rpartition("/")
    if name.lower().endswith(_FILE_ENDINGS):
        return folder + "/"
    return path if path.endswith("/") else path + "/"


def candidates(start_url: str, robots_sitemaps: Iterable[str]) -> list[list[str]]:
    """Groups of distinct sitemap URLs. Groups are tried in order until one works, each as a whole."""
    origin = urls.origin(start_url)
    folder = scope_folder(urls.parts(start_url).path)
    named = list(normalize_all(robots_sitemaps, origin + "/"))
    groups: list[list[str]] = []
    if folder == "/":
        groups.append(named)
    else:
        own = [url for url in named if _is_under(url, start_url, folder)]
        groups.append(own)
        groups += [[origin + folder + name] for name in WELL_KNOWN]
        groups.append([url for url in named if url not in own])
    groups += [[f"{origin}/{name}"] for name in WELL_KNOWN]
    return _without_repeats(groups)


def sitemap_links(html: bytes, base_url: str) -> list[str]:
    """The targets of a page's `<link rel="sitemap">` elements."""
    import turbohtml  # Not needed for a site whose robots.txt names its sitemaps.

    document = turbohtml.parse(html)
    base = base_url
    for element in document.select("base[href]")[:1]:
        base = next(normalize_all([element.attr("href") or ""], base_url), base_url)
    named = (
        element.attr("href") or ""
        for element in document.select("link[href]")
        if "sitemap" in (element.attr("rel") or "").lower().split()
    )
    return list(dict.fromkeys(normalize_all(named, base)))


def normalize_all(texts: Iterable[str], base: str) -> Iterator[str]:
    """Yields the normalized URL of each text that is one."""
    for text in filter(None, map(str.strip, texts)):
        try:
            yield urls.normalize(text, base)
        except urls.InvalidUrl:
            continue


def _is_under(url: str, start_url: str, folder: str) -> bool:
    found = urls.parts(url)
    return found.host in urls.host_twins(urls.parts(start_url).host) and found.path.startswith(folder)


def _without_repeats(groups: Iterable[Iterable[str]]) -> list[list[str]]:
    seen: set[str] = set()
    distinct: list[list[str]] = []
    for group in groups:
        fresh = [url for url in dict.fromkeys(group) if url not in seen]
        seen.update(fresh)
        if fresh:
            distinct.append(fresh)
    return distinct
