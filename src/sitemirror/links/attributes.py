"""The table of HTML attributes that hold URLs: how each writes them, and what a crawl makes of them.

Crawling, rewriting and verifying all read this table, so that what is found is also rewritten, and checked afterwards.
`convert` makes URLs absolute with the parser's own table, which has all of these but the lazy ones.
"""

from __future__ import annotations

import re
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from turbohtml import Element


class LinkKind(StrEnum):
    """The probable kind of a link's target. The media type of the response decides."""

    PAGE = "page"
    ASSET = "asset"


class Role(NamedTuple):
    """The role of an attribute's URL in a crawl."""

    kind: LinkKind
    requisite: bool  # needed to show the page itself, so it belongs to the page's own depth
    attribute: str  # "href" or "src", which is how the mirror index tells edges apart
    nofollow: bool = False

    def merged(self, other: Role) -> Role:
        """The role of a URL with two roles: a requisite if either is, nofollow only if both are."""
        asset = LinkKind.ASSET in (self.kind, other.kind)
        return Role(
            LinkKind.ASSET if asset else LinkKind.PAGE,
            self.requisite or other.requisite,
            self.attribute,
            self.nofollow and other.nofollow,
        )


LINK: Final = Role(LinkKind.PAGE, requisite=False, attribute="href")
NOFOLLOW_LINK: Final = LINK._replace(nofollow=True)
FRAME: Final = Role(LinkKind.PAGE, requisite=True, attribute="src")
LINKED_ASSET: Final = Role(LinkKind.ASSET, requisite=True, attribute="href")
ASSET: Final = Role(LinkKind.ASSET, requisite=True, attribute="src")


class Syntax(Enum):
    """How an attribute's value writes URLs."""

    LINK = "one URL; an empty one is the page itself"
    RESOURCE = "one URL to load; an empty one or a bare fragment loads nothing"
    SRCSET = "URLs with sizes"
    CSS = "declarations"
    HTML = "a whole page"
    REFRESH = "seconds, then a URL; only in a meta refresh"
    ACTION = "one URL that a form is sent to: always an address on the web, never a file"


class UrlAttribute(NamedTuple):
    """One attribute that holds URLs."""

    name: str
    syntax: Syntax
    role: Role | None  # `None`: nothing that a crawl fetches


def words(text: str) -> frozenset[str]:
    """The words of a list such as `rel`, in lower case."""
    return frozenset(text.lower().split())


# Scripts put these in the place of `src` and `srcset` when a reader comes near.
LAZY_SOURCES: Final = ("data-src", "data-lazy-src", "data-original")
LAZY_SRCSETS: Final = ("data-srcset", "data-lazy-srcset")

_MEDIA: Final = (
    *(UrlAttribute(name, Syntax.RESOURCE, ASSET) for name in ("src", *LAZY_SOURCES)),
    *(UrlAttribute(name, Syntax.SRCSET, ASSET) for name in ("srcset", *LAZY_SRCSETS)),
)
_FRAME: Final = tuple(UrlAttribute(name, Syntax.RESOURCE, FRAME) for name in ("src", "data-src"))
_SOURCE: Final = UrlAttribute("src", Syntax.RESOURCE, ASSET)
_FORM_ACTION: Final = UrlAttribute("formaction", Syntax.ACTION, None)
_LINK: Final = (UrlAttribute("href", Syntax.LINK, LINK),)
_DRAWN: Final = tuple(UrlAttribute(name, Syntax.RESOURCE, ASSET) for name in ("href", "xlink:href"))

STYLE: Final = UrlAttribute("style", Syntax.CSS, ASSET)
"""The attribute that any element may have."""

BACKGROUND: Final = UrlAttribute("background", Syntax.RESOURCE, ASSET)
"""The attribute that the body, tables and their parts may have."""

ATTRIBUTES: Final[dict[str, tuple[UrlAttribute, ...]]] = {
    "a": _LINK,
    "area": _LINK,
    "link": (UrlAttribute("href", Syntax.RESOURCE, LINKED_ASSET), UrlAttribute("imagesrcset", Syntax.SRCSET, ASSET)),
    "meta": (UrlAttribute("content", Syntax.REFRESH, LINK),),
    "iframe": (*_FRAME, UrlAttribute("srcdoc", Syntax.HTML, None)),
    "frame": _FRAME,
    "img": _MEDIA,
    "source": _MEDIA,
    "video": (*_MEDIA, UrlAttribute("poster", Syntax.RESOURCE, ASSET)),
    "audio": _MEDIA,
    "track": _MEDIA,
    "object": (UrlAttribute("data", Syntax.RESOURCE, ASSET),),
    "embed": (_SOURCE,),
    "input": (_SOURCE, _FORM_ACTION),
    "script": (_SOURCE,),
    "form": (UrlAttribute("action", Syntax.ACTION, None),),
    "button": (_FORM_ACTION,),
    **dict.fromkeys(("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"), (BACKGROUND,)),
}
"""By tag, of HTML elements."""

DRAWN_ATTRIBUTES: Final[dict[str, tuple[UrlAttribute, ...]]] = {
    "a": tuple(UrlAttribute(name, Syntax.LINK, LINK) for name in ("href", "xlink:href")),
    **dict.fromkeys(("image", "use", "feImage", "script"), _DRAWN),
}
"""By tag, of SVG elements."""

OTHER_DRAWN_ATTRIBUTES: Final = tuple(attribute._replace(role=None) for attribute in _DRAWN)
"""Of all other elements of SVG and MathML: gradients, patterns and paths name their models."""

# What `<link rel>` may say. Other words name no document a reader would open: hints for connections, endpoints for
# programs (pingback, oEmbed, EditURI), and whatever a plug-in made up. So does a link without `rel`.
_NEEDED_RELS: Final = words(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon"
    " manifest modulepreload"
)
_HINT_RELS: Final = words("preload prefetch prerender")
_PAGE_RELS: Final = words(
    "canonical alternate next prev previous first last begin end start up top home index contents toc chapter section"
    " subsection appendix glossary bookmark help author license copyright privacy-policy terms-of-service amphtml"
    " shortlink archives tag"
)
_NOFOLLOW_RELS: Final = words("nofollow ugc sponsored")
_DOCUMENT: Final = words("document frame iframe")  # values of `as`
_PAGE_NAME: Final = re.compile(r"(?:^|/)[^/.?#]*+(?:\.(?:x?html?|php|aspx?|jsp|md|markdown))?(?:[?#]|$)", re.IGNORECASE)
_FOR_PROGRAMS: Final = re.compile(r"json|oembed", re.IGNORECASE)


def anchor_role(element: Element) -> Role:
    """The role of an `a` or `area`."""
    rel = element.attr("rel")
    return LINK if rel is None or _NOFOLLOW_RELS.isdisjoint(words(rel)) else NOFOLLOW_LINK


def link_role(element: Element) -> Role | None:
    """The role of a `link`, by its `rel`."""
    rels = words(element.attr("rel") or "")
    if not _NEEDED_RELS.isdisjoint(rels):
        return LINKED_ASSET
    if not _HINT_RELS.isdisjoint(rels):
        # Without `as`, the name has to tell: `/next/` and `/next.html` are pages, `/app.js` is not.
        purpose, path = _said(element, "as"), (element.attr("href") or "").partition("?")[0]
        is_page = "prerender" in rels or purpose in _DOCUMENT or (not purpose and _PAGE_NAME.search(path))
        if not is_page:
            return LINKED_ASSET
    elif _PAGE_RELS.isdisjoint(rels) or ("alternate" in rels and _FOR_PROGRAMS.search(element.attr("type") or "")):
        return None
    return LINK if _NOFOLLOW_RELS.isdisjoint(rels) else NOFOLLOW_LINK


def plugin_role(element: Element) -> Role:
    """The role of an `object` or `embed`, by the type it names."""
    return FRAME if _said(element, "type").startswith("text/html") else ASSET


def input_role(element: Element) -> Role | None:
    """The role of an `input`: only an image button loads its `src`."""
    return ASSET if _said(element, "type") == "image" else None


def is_canonical(element: Element) -> bool:
    """True if a `link` names the address of its own page on the site."""
    return element.tag == "link" and "canonical" in words(element.attr("rel") or "")


def is_refresh(element: Element) -> bool:
    """True if a `meta` is a refresh."""
    return _said(element, "http-equiv") == "refresh"


def is_css(element: Element) -> bool:
    """True if the text of a `style` is CSS."""
    return _said(element, "type") in ("", "text/css")


def _said(element: Element, name: str) -> str:
    return (element.attr(name) or "").strip().lower()
