"""What a page says of itself: title, description, canonical URL, language, author and dates.

The head is read in one pass, and where sources disagree the same one always wins: the page's own elements, then
OpenGraph, then JSON-LD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import orjson
import turbohtml

from sitemirror.convert.characters import without_controls
from sitemirror.convert.document import Document
from sitemirror.urls import InvalidUrl, normalize

_DESCRIPTION: Final = ("description", "og:description", "twitter:description", "dc.description")
_TITLE: Final = ("og:title", "twitter:title", "dc.title")
_AUTHOR: Final = ("author", "article:author", "dc.creator")
_PUBLISHED: Final = ("article:published_time", "date", "dc.date", "dcterms.created", "datepublished", "pubdate")
_MODIFIED: Final = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "datemodified")

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_MAX_TEXT: Final = 2_000  # A longer title or description is a page's body that lost its way.
_MAX_JSON: Final = 512 * 1024


@dataclass(frozen=True, slots=True)
class Metadata:
    """The page's own words; `None` where it says nothing."""

    title: str | None
    canonical: str | None  # normalised
    fields: dict[str, object]  # front matter but title and url, in order
    signature: str  # generator, style sheets and scripts in one text: who made the page


def read_metadata(document: Document) -> Metadata:
    """Reads the head, and whatever of it a broken page left in its body."""
    title: str | None = None
    canonical: str | None = None
    meta: dict[str, str] = {}
    signature: list[str] = []
    json_ld: list[str] = []
    for element in document.head:
        match element.tag:
            case "meta":
                name = element.attr("name") or element.attr("property") or element.attr("itemprop")
                if name and (value := element.attr("content")):
                    meta.setdefault(name.lower(), value)
            case "link":
                rel = (element.attr("rel") or "").lower().split()
                href = element.attr("href")
                if href and "canonical" in rel and canonical is None:
                    canonical = href
                elif href and "stylesheet" in rel and len(signature) < 50:
                    signature.append(href[:200])
            case "script":
                source = element.attr("src")
                if source and len(signature) < 50:
                    signature.append(source[:200])
                elif (element.attr("type") or "").lower().startswith("application/ld+json"):
                    json_ld.append(element.text)
            case "title" if title is None and element.namespace is turbohtml.Namespace.HTML:
                title = one_line(element.text)
    linked = _read_json_ld(json_ld) if json_ld else {}
    return Metadata(
        title=title or _first(meta, _TITLE) or linked.get("title"),
        canonical=_canonical(canonical, document.base),
        fields=_fields(document, meta, linked),
        signature=" ".join((meta.get("generator", ""), *signature)),
    )


def one_line(text: str) -> str | None:
    """`text` on one line without needless blanks; `None` if nothing is left."""
    text = " ".join(without_controls(text).split())
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 1].rstrip() + "…"
    return text or None


def _fields(document: Document, meta: dict[str, str], linked: dict[str, str]) -> dict[str, object]:
    root = document.tree.root
    language = (root.attr("lang") or root.attr("xml:lang") or "").strip() if root is not None else ""
    author = _first(meta, _AUTHOR)
    if author is not None and "://" in author:
        author = None  # OpenGraph's author is often the address of a profile.
    found = {
        "description": _first(meta, _DESCRIPTION) or linked.get("description"),
        "language": language if _LANGUAGE.fullmatch(language) else None,
        "author": author or linked.get("author"),
        "published": _first_date(meta, _PUBLISHED) or linked.get("published"),
        "modified": _first_date(meta, _MODIFIED) or linked.get("modified"),
    }
    return {name: value for name, value in found.items() if value}


def _first(meta: dict[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if (value := meta.get(name)) and (text := one_line(value)):
            return text
    return None


def _first_date(meta: dict[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if (value := meta.get(name)) and (date := _date(value)):
            return date
    return None


def _date(value: object) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if _DATE.fullmatch(text) else None


def _canonical(href: str | None, base: str) -> str | None:
    if href is None or not href.strip():
        return None
    try:
        return normalize(href, base)
    except InvalidUrl:
        return None


def _read_json_ld(blocks: Iterable[str]) -> dict[str, str]:
    """The first article-like thing's fields. Anything malformed is as good as absent."""
    found: dict[str, str] = {}
    for thing in _things(blocks):
        candidates = {
            "title": thing.get("headline"),
            "description": thing.get("description"),
            "author": _author_name(thing.get("author")),
            "published": _date(thing.get("datePublished")),
            "modified": _date(thing.get("dateModified")),
        }
        if thing.get("headline") or candidates["published"] or candidates["modified"]:
            for name, value in candidates.items():
                if isinstance(value, str) and (text := one_line(value)):
                    found.setdefault(name, text)
    return found


def _things(blocks: Iterable[str]) -> Iterator[dict[str, object]]:
    for block in blocks:
        if len(block) > _MAX_JSON:
            continue
        try:
            data = orjson.loads(block)
        except orjson.JSONDecodeError:
            continue
        for item in data if isinstance(data, list) else [data]:
            if isinstance(item, dict):
                yield item
                graph = item.get("@graph")
                if isinstance(graph, list):
                    yield from (node for node in graph if isinstance(node, dict))


def _author_name(value: object) -> str | None:
    names: list[str] = []
    for item in value[:20] if isinstance(value, list) else [value]:
        name = item.get("name") if isinstance(item, dict) else item
        if isinstance(name, str) and "://" not in name and name.strip():
            names.append(name)
    return ", ".join(names) or None
