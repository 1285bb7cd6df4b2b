"""What a page says of itself: title, description, canonical URL, language, author, dates, and where it stands.

The head is read in one pass, and where sources disagree the same one always wins: the page's own elements, then
OpenGraph, then Dublin Core, then JSON-LD. `docs/front-matter.md` has the whole order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import turbohtml

from sitemirror.convert.breadcrumbs import read_breadcrumbs
from sitemirror.convert.document import Document
from sitemirror.convert.generators import Generator
from sitemirror.convert.linked_data import LinkedData, date_of, read_linked_data
from sitemirror.convert.links import Resolver
from sitemirror.convert.one_line import one_line

_DESCRIPTION: Final = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_TITLE: Final = ("og:title", "twitter:title", "dc.title", "dcterms.title")
_AUTHOR: Final = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author")
_PUBLISHED: Final = (
    "article:published_time", "date", "dc.date", "dcterms.created", "dcterms.issued", "datepublished", "pubdate",
    "citation_publication_date",
)  # fmt: skip
_MODIFIED: Final = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "datemodified")
_LANGUAGES: Final = ("content-language", "og:locale", "dc.language", "dcterms.language")
_SECTION: Final = ("article:section", "dc.subject", "dcterms.subject")

_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_WAYS: Final = {"prev": "previous", "previous": "previous", "next": "next"}


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
    neighbours: dict[str, str] = {}
    for element in document.head:
        match element.tag:
            case "meta":
                name = element.attr("name") or _other_name(element)
                if name and (value := element.attr("content")):
                    name = name.lower()
                    if name == "generator":
                        signature.append(value[:200])  # Themes name themselves beside what they are built on.
                    meta.setdefault(name, value)
            case "link":
                if not (href := element.attr("href")) or not (rel := element.attr("rel")):
                    continue
                words = rel.lower().split()
                if "canonical" in words and canonical is None:
                    canonical = href
                elif "stylesheet" in words and len(signature) < 50:
                    signature.append(href[:200])
                else:
                    way = next(filter(None, map(_WAYS.get, words)), None)
                    if way is not None:
                        neighbours.setdefault(way, href)
            case "script":
                source = element.attr("src")
                if source and len(signature) < 50:
                    signature.append(source[:200])
                elif (element.attr("type") or "").lower().startswith("application/ld+json"):
                    json_ld.append(element.text)
            case "title" if title is None and element.namespace is turbohtml.Namespace.HTML:
                title = one_line(element.text)
    linked = read_linked_data(json_ld) if json_ld else LinkedData()
    return Metadata(
        title=title or _first(meta, _TITLE) or linked.texts.get("title"),
        canonical=document.absolute(canonical),
        fields=_fields(document, meta, linked, neighbours),
        signature=" ".join(signature),
    )


def with_neighbours(metadata: Metadata, document: Document, generators: Sequence[Generator]) -> Metadata:
    """Adds the pages before and after this one, where the head does not name them but the page links to them."""
    body = document.body
    found: dict[str, object] = {}
    for generator in generators if body is not None else ():
        for way, selector in (("previous", generator.previous), ("next", generator.next)):
            if not selector or way in metadata.fields or way in found:
                continue
            anchor = body.select_one(selector) if body is not None else None
            if anchor is not None and (url := document.absolute(anchor.attr("href"))):
                found[way] = url
    return replace(metadata, fields={**metadata.fields, **found}) if found else metadata


def _other_name(meta: turbohtml.Element) -> str | None:
    """What a meta element without a name is about."""
    name = meta.attr("property") or meta.attr("itemprop")
    if name is None and (meta.attr("http-equiv") or "").lower() == "content-language":
        return "content-language"
    return name


def _fields(
    document: Document, meta: dict[str, str], linked: LinkedData, neighbours: dict[str, str]
) -> dict[str, object]:
    texts = linked.texts
    author = _first(meta, _AUTHOR)
    if author is not None and "://" in author:
        author = None  # OpenGraph's author is often the address of a profile.
    found: dict[str, object] = {
        "description": _first(meta, _DESCRIPTION) or texts.get("description"),
        "language": _language(document, meta) or texts.get("language"),
        "author": author or texts.get("author"),
        "published": _first_date(meta, _PUBLISHED) or texts.get("published"),
        "modified": _first_date(meta, _MODIFIED) or texts.get("modified"),
        "section": _first(meta, _SECTION) or texts.get("section"),
        "breadcrumbs": list(linked.breadcrumbs) or read_breadcrumbs(document),
    }
    if neighbours:
        urls = Resolver(document.base)
        found |= {way: urls[neighbours[way]] for way in ("previous", "next") if way in neighbours}
    return {name: value for name, value in found.items() if value}


def _language(document: Document, meta: dict[str, str]) -> str | None:
    root = document.tree.root
    named = (root.attr("lang") or root.attr("xml:lang") or "").strip() if root is not None else ""
    for language in (named, *[meta[name].strip() for name in _LANGUAGES if name in meta]):
        if _LANGUAGE.fullmatch(language):
            return language.replace("_", "-")  # OpenGraph's way
    return None


def _first(meta: dict[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if (value := meta.get(name)) and (text := one_line(value)):
            return text
    return None


def _first_date(meta: dict[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if (value := meta.get(name)) and (date := date_of(value)):
            return date
    return None
