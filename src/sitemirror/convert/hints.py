"""What a page's own head and address say of it, as far as that helps to judge its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from turbohtml import Element

_OG: Final = {"article": 1, "website": 2, "product": 3, "product.group": 3, "product.item": 3, "profile": 4, "book": 4}
_TYPE: Final = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
# One bit each: what the page's own data call the page or things on it.
_TYPES: Final = {
    "Article": 1, "NewsArticle": 1, "BlogPosting": 1, "TechArticle": 1, "ScholarlyArticle": 1, "Report": 1,
    "Recipe": 1, "HowTo": 1, "Product": 2, "ProductGroup": 2, "Offer": 2, "AggregateOffer": 2,
}  # fmt: skip

# Parts of an address, or of its host's name, that documentation has.
_DOCUMENTATION: Final = frozenset(
    (
        "docs", "doc", "documentation", "reference", "manual", "manuals", "guide", "guides", "handbook", "tutorial",
        "tutorials", "learn", "api",
    )
)  # fmt: skip
_ARTICLES: Final = frozenset(("blog", "blogs", "news"))  # which are articles about anything


@dataclass(frozen=True, slots=True)
class Hints:
    """What the head and the address say."""

    graph: int = 0  # the page's OpenGraph type, by number
    has_article: bool = False  # whether schema.org's data name an article, or something else that is read
    has_product: bool = False  # or something that is sold
    titles: str = ""  # what the page is called, in small letters and one line, each way that it is
    is_documentation: bool = False  # whether its address says so
    path: str = ""  # where it is on its site

    @property
    def is_article(self) -> bool:
        """Whether the page says that it is one text with a beginning and an end."""
        return self.graph == _OG["article"] or (self.has_article and not self.has_product)


def hints(head: Iterable[Element], url: str) -> Hints:
    """Reads what is in a page's head, and in its address."""
    graph = found = 0
    titles: list[str] = []
    for element in head:
        tag = element.tag
        if tag == "meta":
            name = element.attr("property")
            if name == "og:type":
                graph = graph or _OG.get((element.attr("content") or "").strip().lower(), 5)
            elif name == "og:title":
                titles.append(element.attr("content") or "")
        elif tag == "title":
            titles.append(element.text)
        elif tag == "script" and element.attr("type") == "application/ld+json":
            for name in _TYPE.findall(element.text):
                found |= _TYPES.get(name, 0)
    called = " ".join(" | ".join(titles).lower().split())
    path = "/" + url.partition("://")[2].partition("/")[2].partition("?")[0].partition("#")[0]
    return Hints(graph, bool(found & 1), bool(found & 2), called, _speaks_of_documentation(url), path)


def _speaks_of_documentation(url: str) -> bool:
    address = url.partition("://")[2].partition("?")[0].partition("#")[0].lower()
    host, _, path = address.partition("/")
    names = {*host.split(".")[:-2], *path.split("/")}
    return not _DOCUMENTATION.isdisjoint(names) and _ARTICLES.isdisjoint(names)
