"""What kind of page its own head says it is, as a few numbers for the judgement of its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from turbohtml import Element

_OG: Final = {"article": 1, "website": 2, "product": 3, "product.group": 3, "product.item": 3, "profile": 4, "book": 4}
_TYPE: Final = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
# One bit each: what the page's own data call the page or things on it.
_TYPES: Final = {
    "Article": 1, "NewsArticle": 1, "BlogPosting": 1, "TechArticle": 1, "ScholarlyArticle": 1, "Report": 1,
    "Recipe": 1, "HowTo": 1, "Product": 2, "ProductGroup": 2, "Offer": 2, "AggregateOffer": 2,
}  # fmt: skip


def hints(head: Iterable[Element]) -> tuple[int, ...]:
    """The page's OpenGraph type, and for each group of schema.org's types whether it is named."""
    og = found = 0
    for element in head:
        tag = element.tag
        if tag == "meta":
            if not og and element.attr("property") == "og:type":
                og = _OG.get((element.attr("content") or "").strip().lower(), 5)
        elif tag == "script" and element.attr("type") == "application/ld+json":
            for name in _TYPE.findall(element.text):
                found |= _TYPES.get(name, 0)
    return og, found & 1, found >> 1
