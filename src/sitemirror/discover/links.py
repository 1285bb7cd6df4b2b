"""Finds every link of a page: where it leads, and what it needs to look right.

The page is parsed once and its linking elements are walked in document order. A `noscript` counts, since a mirror's
reader may have no scripts; a `template` does not, since nothing in it is shown unless a script copies it (a shadow root
is shown, so it counts). Comments are no elements, so nothing in them is ever seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

import turbohtml

from sitemirror import refresh, srcset
from sitemirror.discover.found import (
    ASSET,
    FRAME,
    LINK,
    LINKED_ASSET,
    SHY_LINK,
    Collector,
    PageLinks,
    Role,
)
from sitemirror.urls import InvalidUrl, normalize
from sitemirror.xml_styles import style_sheets


def _words(text: str) -> frozenset[str]:
    """Names in HTML are case-insensitive and apart by blanks."""
    return frozenset(text.lower().split())


_SHY: Final = _words("nofollow ugc sponsored")

# What `<link rel>` may say. Other words name no document a reader would open: hints for connections, endpoints for
# programs (pingback, oEmbed, EditURI), and whatever a plug-in made up. So does a link without `rel`.
_NEEDED_RELS: Final = _words(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon"
    " manifest modulepreload"
)
_HINT_RELS: Final = _words("preload prefetch prerender")
_PAGE_RELS: Final = _words(
    "canonical alternate next prev previous first last begin end start up top home index contents toc chapter section"
    " subsection appendix glossary bookmark help author license copyright privacy-policy terms-of-service amphtml"
    " shortlink archives tag"
)
_DOCUMENT: Final = _words("document frame iframe")  # values of `as`
_PAGE_NAME: Final = re.compile(r"(?:^|/)[^/.?#]*+(?:\.(?:x?html?|php|aspx?|jsp|md|markdown))?(?:[?#]|$)", re.IGNORECASE)
_MAX_NESTING: Final = 3  # of pages in srcdoc attributes
_SRCSETS: Final = ("srcset", *srcset.LAZY_SRCSETS)
_FOR_PROGRAMS: Final = re.compile(r"json|oembed", re.IGNORECASE)


def page_links(html: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """The links of the page at `url`, which is normalised. `charset` is the header's. Never raises; linear time."""
    # A drawing may name its sheets before its first element, which for the parser is a comment.
    return tree_links(_parse(html, charset), url=url, sheets=style_sheets(html))


def tree_links(tree: turbohtml.Document, *, url: str, sheets: Iterable[str] = ()) -> PageLinks:
    """The same for a page that is parsed already, with its shadow roots as templates. Takes templates out of it.

    `sheets` are those that stand in no element.
    """
    elements, anywhere = _walk(tree)
    links = Collector(url=url, base=_base(elements, url), encoding=tree.encoding)
    for sheet in sheets:
        links.add_resource(sheet, LINKED_ASSET)
    nofollow = _read_all(elements, links, anywhere=anywhere)
    nested, nesting = [element for element in elements if element.tag == "iframe"], _MAX_NESTING
    while nested and nesting:
        nested, nesting = [inner for frame in nested for inner in _read_srcdoc(frame, links)], nesting - 1
    return links.links(nofollow=nofollow)


def _read_all(elements: list[turbohtml.Element], links: Collector, *, anywhere: bool) -> bool:
    """Takes all links of these. Whether they ask that none be followed."""
    nofollow = False
    for element in elements:
        tag = element.tag
        read = _READERS.get(tag)
        if read is not None:
            read(element, links)
        elif tag == "meta":
            nofollow |= _read_meta(element, links)
        if anywhere:
            _read_looks(element, links)
    return nofollow


def _read_srcdoc(frame: turbohtml.Element, links: Collector) -> list[turbohtml.Element]:
    """Takes the links of the page that stands in a frame's attribute; its own links count from where ours do.

    Gives the frames in it.
    """
    page = frame.attr("srcdoc")
    if not page:
        return []
    elements, anywhere = _walk(turbohtml.parse(page, positions=False, allow_declarative_shadow_roots=False))
    _read_all(elements, links, anywhere=anywhere)
    return [element for element in elements if element.tag == "iframe"]


def _parse(html: bytes, charset: str | None) -> turbohtml.Document:
    # Shadow roots are kept as templates, which can be walked like anything else.
    if charset is not None:
        try:
            return turbohtml.parse(html, encoding=charset, positions=False, allow_declarative_shadow_roots=False)
        except (LookupError, ValueError):
            pass  # A header with an unknown charset says nothing; the page may.
    return turbohtml.parse(html, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False)


def _walk(tree: turbohtml.Document) -> tuple[list[turbohtml.Element], bool]:
    """What may hold a link, in document order, and whether any element may hold one for its looks."""
    elements = list(tree.iter_elements(_TAGS))
    if any(element.tag == "template" for element in elements):
        tree.remove("template:not([shadowrootmode])")
        elements = list(tree.iter_elements(_TAGS))
    # One selector for both would do, but takes three times as long, and few pages have any of these.
    anywhere = tree.select_one(_ANYWHERE) is not None
    return (tree.select(_SELECTOR) if anywhere else elements), anywhere


def _base(elements: list[turbohtml.Element], url: str) -> str:
    """What relative URLs count from. Only the first `<base href>` counts, and only if it can."""
    for element in elements:
        if element.tag != "base" or element.namespace is not turbohtml.Namespace.HTML:
            continue
        if (href := element.attr("href")) is not None:
            try:
                return normalize(href, url)
            except InvalidUrl:
                break
    return url


def _read_looks(element: turbohtml.Element, links: Collector) -> None:
    if (background := element.attr("background")) is not None and element.tag in _BACKGROUNDS:
        links.add_resource(background, ASSET)
    if style := element.attr("style"):
        _read_css(style, links)


def _read_anchor(element: turbohtml.Element, links: Collector) -> None:
    shy = (rel := element.attr("rel")) is not None and not _SHY.isdisjoint(_words(rel))
    href = element.attr("href")
    links.add(href if href is not None else element.attr("xlink:href"), SHY_LINK if shy else LINK)


def _read_link(element: turbohtml.Element, links: Collector) -> None:
    rels = _words(element.attr("rel") or "")
    href = element.attr("href")
    role = _link_role(rels, element, href or "")
    if role is not None:
        links.add_resource(href, SHY_LINK if role is LINK and not _SHY.isdisjoint(rels) else role)
    if role is LINKED_ASSET and (sizes := element.attr("imagesrcset")):
        _read_srcset(sizes, links)


def _link_role(rels: frozenset[str], element: turbohtml.Element, href: str) -> Role | None:
    if not _NEEDED_RELS.isdisjoint(rels):
        return LINKED_ASSET
    if not _HINT_RELS.isdisjoint(rels):
        # Without `as`, the name has to tell: `/next/` and `/next.html` are pages, `/app.js` is not.
        purpose = (element.attr("as") or "").strip().lower()
        if "prerender" in rels or purpose in _DOCUMENT or (not purpose and _PAGE_NAME.search(href.partition("?")[0])):
            return LINK
        return LINKED_ASSET
    if _PAGE_RELS.isdisjoint(rels) or ("alternate" in rels and _FOR_PROGRAMS.search(element.attr("type") or "")):
        return None
    return LINK


def _read_meta(element: turbohtml.Element, links: Collector) -> bool:
    """Follows a refresh. Whether the page asks that none of its links be followed."""
    content = element.attr("content") or ""
    if (element.attr("http-equiv") or "").strip().lower() == "refresh":
        links.add_resource(refresh.url(content), LINK)
    if (element.attr("name") or "").strip().lower() != "robots":
        return False
    return not {"nofollow", "none"}.isdisjoint(_words(content.replace(",", " ")))


def _read_frame(element: turbohtml.Element, links: Collector) -> None:
    links.add_resource(element.attr("src"), FRAME)
    links.add_resource(element.attr("data-src"), FRAME)


def _read_media(element: turbohtml.Element, links: Collector) -> None:
    links.add_resource(element.attr("src"), ASSET)
    for name in srcset.LAZY_SOURCES:
        links.add_resource(element.attr(name), ASSET)
    for name in _SRCSETS:
        if sizes := element.attr(name):
            _read_srcset(sizes, links)
    if element.tag == "video":
        links.add_resource(element.attr("poster"), ASSET)


def _read_plugin(element: turbohtml.Element, links: Collector) -> None:
    is_page = (element.attr("type") or "").strip().lower().startswith("text/html")
    links.add_resource(element.attr("data" if element.tag == "object" else "src"), FRAME if is_page else ASSET)


def _read_input(element: turbohtml.Element, links: Collector) -> None:
    if (element.attr("type") or "").strip().lower() == "image":
        links.add_resource(element.attr("src"), ASSET)


def _read_script(element: turbohtml.Element, links: Collector) -> None:
    if element.namespace is turbohtml.Namespace.SVG:
        _read_drawn(element, links)
    else:
        links.add_resource(element.attr("src"), ASSET)


def _read_drawn(element: turbohtml.Element, links: Collector) -> None:
    href = element.attr("href")
    links.add_resource(href if href is not None else element.attr("xlink:href"), ASSET)


def _read_style(element: turbohtml.Element, links: Collector) -> None:
    if (element.attr("type") or "").strip().lower() in ("", "text/css"):
        _read_css(element.text, links)


def _read_css(css: str, links: Collector) -> None:
    if "(" not in css and "@" not in css:
        return
    from sitemirror.discover.stylesheet import references  # Its patterns take longer to compile than all else here.

    for reference in references(css):
        links.add_resource(reference, ASSET)


def _read_srcset(sizes: str, links: Collector) -> None:
    for url in srcset.urls(sizes):
        links.add_resource(url, ASSET)


_BACKGROUNDS: Final = _words("body table thead tbody tfoot tr td th")
_READERS: Final[dict[str, Callable[[turbohtml.Element, Collector], None]]] = {
    "a": _read_anchor,
    "area": _read_anchor,
    "link": _read_link,
    "iframe": _read_frame,
    "frame": _read_frame,
    "img": _read_media,
    "source": _read_media,
    "video": _read_media,
    "audio": _read_media,
    "track": _read_media,
    "object": _read_plugin,
    "embed": _read_plugin,
    "input": _read_input,
    "script": _read_script,
    "image": _read_drawn,
    "use": _read_drawn,
    "feImage": _read_drawn,
    "style": _read_style,
}
_TAGS: Final = (*_READERS, "base", "meta", "template")
_ANYWHERE: Final = '[style*="("],[background]'  # No URL stands in a `style` without a function.
_SELECTOR: Final = ",".join((*_TAGS, _ANYWHERE))
