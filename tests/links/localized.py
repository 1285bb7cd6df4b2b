"""Links of a saved page changed by what they lead to, as a run changes them by what it has saved."""

from __future__ import annotations

from collections.abc import Callable

from sitemirror.links.markdown import relink_markdown
from sitemirror.links.rewrite_html import localize_html
from sitemirror.urls import InvalidUrl, normalize

PAGE = "https://example.com/docs/page.html"
SAVED = "https://example.com/"


def into_the_mirror(url: str) -> str:
    """Whatever is on the site is saved under `../m/`; the rest of the web is not."""
    return "../m/" + url.removeprefix(SAVED) if url.startswith(SAVED) else url


def localized(
    html: str | bytes,
    *,
    url: str = PAGE,
    charset: str | None = None,
    target: Callable[[str], str] = into_the_mirror,
) -> str:
    """`html` localised, as text."""
    body = html.encode() if isinstance(html, str) else html
    return localize_html(body, url=url, charset=charset, target=target).decode()


def localize_markdown(markdown: str, *, target: Callable[[str, str], str | None]) -> str:
    """`markdown` with every link for which `target` has an answer leading there: it is given URL and fragment.

    The URL is absolute and normalised, and empty for a link within the page.
    """
    return relink_markdown(markdown, change=lambda destination: _asked(destination, target))


def _asked(url: str, target: Callable[[str, str], str | None]) -> str | None:
    address, _, fragment = url.partition("#")
    if not address:
        return target("", fragment) if fragment else None
    try:
        return target(normalize(address), fragment)
    except InvalidUrl:
        return None
