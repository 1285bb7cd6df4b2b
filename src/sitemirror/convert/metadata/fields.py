"""Page metadata: title, description, language, author, dates, breadcrumbs, neighbours, meta refresh.

The head is read in one pass. Precedence: the page's own elements, OpenGraph, Dublin Core, JSON-LD;
`docs/front-matter.md` has the full order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import orjson
import turbohtml
from turbohtml import Element

from sitemirror.convert.document import Document
from sitemirror.convert.generators import Generator
from sitemirror.convert.hidden.characters import one_line
from sitemirror.links.resolve import Resolver
from sitemirror.links.values import parse_refresh
from sitemirror.text import unescape
from sitemirror.urls import InvalidUrl, normalize

_TRAIL: Final = "readcrumb"  # without its first letter, which may be a capital
_LISTS_ABOVE: Final = 40  # Breadcrumbs are above the page, seldom after long menus.
_BESIDE: Final = "breadcrumbs-aside"  # Read the Docs': a link to the source of the page
_MAX_CRUMBS: Final = 20
_MAX_CRUMB: Final = 200  # characters
_SEPARATORS: Final = "/>›»→\\|· \xa0"


def read_breadcrumbs(document: Document) -> list[str]:
    """The names in the first breadcrumb trail, without those that are pictures."""
    if len(document.lists) <= _LISTS_ABOVE:
        found = [element for element in document.lists if _is_trail(element)]
        trail = next((element for element in found if element.closest("body") is not None), None)
    else:
        body = document.body
        above = islice(body.iter_elements(("nav", "ol", "ul")), _LISTS_ABOVE) if body is not None else ()
        trail = next(filter(_is_trail, above), None)
    return [] if trail is None else _steps(trail)


def _is_trail(element: Element) -> bool:
    return _TRAIL in (element.attr("class") or "") or _TRAIL in (element.attr("aria-label") or "")


def _steps(trail: Element) -> list[str]:
    steps: list[str] = []
    for item in trail.find_all("li", limit=_MAX_CRUMBS) or trail.find_all("a", limit=_MAX_CRUMBS):
        if _BESIDE in (item.attr("class") or ""):
            continue
        text = (one_line(item.text) or "").strip(_SEPARATORS)
        if text and len(text) <= _MAX_CRUMB:
            steps.append(text)
    return steps


_TIME: Final = r"[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
# Ruby and Go write a blank before the zone. Years 0 and 1 are dates that were never set.
_DATE: Final = re.compile(rf"(?!000[01])(\d{{4}}-\d\d-\d\d(?:{_TIME})?)(?: ?(Z|[+-]\d\d:?\d\d)(?: UTC)?)?", re.ASCII)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_NOBODY: Final = ("undefined", "null")
_MAX_JSON: Final = 512 * 1024
_MAX_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class LinkedData:
    """Metadata from JSON-LD, empty where the page has none. Malformed data counts as absent."""

    texts: Mapping[str, str] = field(default_factory=dict)
    breadcrumbs: tuple[str, ...] = ()


def read_linked_data(blocks: Iterable[str]) -> LinkedData:
    """Read JSON-LD blocks in order; the first value of each field counts."""
    texts: dict[str, str] = {}
    breadcrumbs: tuple[str, ...] = ()
    things = list(_things(blocks))
    named = {thing.get("@id"): thing for thing in things if "name" in thing and isinstance(thing.get("@id"), str)}
    for thing in things:
        if _kind(thing) == "BreadcrumbList":
            breadcrumbs = breadcrumbs or _trail(thing.get("itemListElement"))
            continue
        language = thing.get("inLanguage")
        candidates = {
            "title": thing.get("headline"),
            "description": thing.get("description"),
            "language": language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else None,
            "author": _author_name(thing.get("author"), named),
            "published": iso_date(thing.get("datePublished")),
            "modified": iso_date(thing.get("dateModified")),
            "section": _article_section(thing.get("articleSection")),
        }
        if thing.get("headline") or candidates["published"] or candidates["modified"]:
            for name, value in candidates.items():
                if isinstance(value, str) and (text := _plain(value)):
                    texts.setdefault(name, text)
    return LinkedData(texts, breadcrumbs)


def iso_date(value: object) -> str | None:
    """A date in ISO 8601; `None` for anything else."""
    text = value.strip() if isinstance(value, str) else ""
    found = _DATE.fullmatch(text)
    return found[1] + (found[2] or "") if found is not None else None


def _plain(text: str) -> str | None:
    """Unescape and clean a JSON-LD text; blog software writes HTML entities into it."""
    return one_line(unescape(text))


def _kind(thing: Mapping[str, object]) -> object:
    kind = thing.get("@type")
    return kind[0] if isinstance(kind, list) and kind else kind


def _trail(items: object) -> tuple[str, ...]:
    """The names in a BreadcrumbList, by position."""
    steps: list[tuple[float, str]] = []
    for number, item in enumerate(items[:_MAX_CRUMBS] if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        page = item.get("item")
        name = item.get("name") or (page.get("name") if isinstance(page, dict) else None)
        position = item.get("position")
        if isinstance(name, str) and (text := _plain(name)):
            steps.append((_number(position, number), text))
    return tuple(name for _, name in sorted(steps, key=lambda step: step[0]))


def _number(position: object, otherwise: int) -> float:
    if isinstance(position, str) and position.strip().isdecimal() and len(position) < _MAX_DIGITS:
        return int(position)
    return position if isinstance(position, int | float) else otherwise


def _article_section(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _things(blocks: Iterable[str]) -> Iterator[dict[str, object]]:
    for block in blocks:
        if len(block) > _MAX_JSON:
            continue
        data = _read(block)
        for item in data if isinstance(data, list) else [data]:
            if isinstance(item, dict):
                yield item
                graph = item.get("@graph")
                if isinstance(graph, list):
                    yield from (node for node in graph if isinstance(node, dict))
                subject = item.get("mainEntity")  # of a forum page
                if isinstance(subject, dict):
                    yield subject


def _read(block: str) -> object:
    try:
        return orjson.loads(block)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(block, strict=False)  # allows line breaks within strings, which templates produce
    except (ValueError, RecursionError):
        return None


def author_names(names: Iterable[str]) -> str | None:
    """Join author names, without profile URLs and empty template values."""
    plain = (_plain(name) for name in names)
    found = [name.strip(" ,") for name in plain if name and "://" not in name and name not in _NOBODY]
    found = list(dict.fromkeys(filter(None, found)))
    # "Roy, Aniruddha" is one name.
    return one_line(("; " if len(found) > 1 and any("," in name for name in found) else ", ").join(found))


def _author_name(value: object, named: Mapping[object, Mapping[str, object]]) -> str | None:
    names: list[str] = []
    for item in value[:20] if isinstance(value, list) else [value]:
        name = item
        if isinstance(item, dict):
            name = item.get("name") or named.get(str(item.get("@id")), {}).get("name")
        if isinstance(name, str):
            names.append(name)
    return author_names(names)


_DESCRIPTION: Final = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_TITLE: Final = ("og:title", "twitter:title", "dc.title", "dcterms.title")
_AUTHOR: Final = (
    "author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "sailthru.author",
)  # fmt: skip
_ONE_BY_ONE: Final = frozenset(_AUTHOR[1:])  # one element for each author
_PUBLISHED: Final = (
    "article:published_time", "date", "dc.date", "dcterms.date", "dcterms.created", "dcterms.issued", "datepublished",
    "pubdate", "citation_publication_date", "dc.date.issued", "parsely-pub-date",
)  # fmt: skip
_MODIFIED: Final = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "datemodified")
_LANGUAGES: Final = ("content-language", "og:locale", "dc.language", "dcterms.language")
_SECTION: Final = ("article:section", "dc.subject", "dcterms.subject")

# Escaped twice: an entity right behind a word or sentence, or one that no sentence would mention.
_ESCAPED_TWICE: Final = re.compile(
    r"(?<=[\w.,;:!?)])&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]+);|&(?:amp|hellip|quot|#0*39);", re.ASCII
)
_MADE_BY: Final = re.compile(r"\s*Generated by \w+")
_FIRST_NODES: Final = 4  # of a head
_DIRECTIONS: Final = {"prev": "previous", "previous": "previous", "next": "next"}


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a page; `None` where the page has none."""

    title: str | None
    canonical: str | None  # normalised
    fields: dict[str, object]  # front matter except title and url, in order
    signature: str  # generator, style sheets and scripts in one text, to recognise generators


def read_metadata(document: Document) -> Metadata:
    """Read the head, and those of its elements that a broken page has in its body."""
    title: str | None = None
    canonical: str | None = None
    meta: dict[str, str] = {}
    authors: dict[str, list[str]] = {}
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
                        signature.append(value[:200])  # Themes add a name of their own.
                    if name in _ONE_BY_ONE:
                        authors.setdefault(name, []).append(value)
                    if not meta.get(name, "").strip():
                        meta[name] = value
            case "link":
                if not (href := element.attr("href")) or not (rel := element.attr("rel")):
                    continue
                words = rel.lower().split()
                if "canonical" in words and canonical is None:
                    canonical = href
                elif "stylesheet" in words and len(signature) < 50:
                    signature.append(href[:200])
                else:
                    direction = next(filter(None, map(_DIRECTIONS.get, words)), None)
                    if direction is not None:
                        neighbours.setdefault(direction, href)
            case "script":
                source = element.attr("src")
                if source and len(signature) < 50:
                    signature.append(source[:200])
                elif (element.attr("type") or "").lower().startswith("application/ld+json"):
                    json_ld.append(element.text)
            case "title" if title is None and element.namespace is turbohtml.Namespace.HTML:
                title = one_line(element.text)
    if (maker := _maker_comment(document)) is not None:
        signature.append(maker)
    linked = read_linked_data(json_ld) if json_ld else LinkedData()
    return Metadata(
        title=title or _first(meta, _TITLE) or linked.texts.get("title"),
        canonical=document.absolute(canonical),
        fields=_fields(document, meta, authors, linked, neighbours),
        signature=" ".join(signature),
    )


def _maker_comment(document: Document) -> str | None:
    """The generator comment at the beginning of the head, as older Javadoc writes it."""
    head = document.tree.find("head")
    for place in range(_FIRST_NODES):
        try:
            node = head[place] if head is not None else None
        except IndexError:
            return None
        if isinstance(node, turbohtml.Comment) and (found := _MADE_BY.match(node.data)) is not None:
            return found[0]
    return None


def add_neighbours(metadata: Metadata, document: Document, generators: Sequence[Generator]) -> Metadata:
    """Add previous and next page and date from the body if the head does not have them."""
    body = document.body
    found: dict[str, object] = {}
    for generator in generators if body is not None else ():
        if body is not None and generator.modified and "modified" not in metadata.fields:
            day = body.select_one(generator.modified)
            if day is not None and (date := iso_date(day.attr("datetime") or day.text)):
                found["modified"] = date
        for direction, selector in (("previous", generator.previous), ("next", generator.next)):
            if not selector or direction in metadata.fields or direction in found:
                continue
            anchor = body.select_one(selector) if body is not None else None
            if anchor is not None and (url := document.absolute(anchor.attr("href"))):
                found[direction] = url
    return replace(metadata, fields={**metadata.fields, **found}) if found else metadata


def _other_name(meta: turbohtml.Element) -> str | None:
    """The name of a meta element by `property`, `itemprop` or `http-equiv`."""
    name = meta.attr("property") or meta.attr("itemprop")
    if name is None and (meta.attr("http-equiv") or "").lower() == "content-language":
        return "content-language"
    return name


def _fields(
    document: Document,
    meta: dict[str, str],
    authors: dict[str, list[str]],
    linked: LinkedData,
    neighbours: dict[str, str],
) -> dict[str, object]:
    texts = linked.texts
    # OpenGraph's author is often a profile URL.
    named = (author_names(authors.get(name) or [meta[name]]) for name in _AUTHOR if name in meta)
    found: dict[str, object] = {
        "description": _first(meta, _DESCRIPTION) or texts.get("description"),
        "language": _language(document, meta) or texts.get("language"),
        "author": next(filter(None, named), None) or texts.get("author"),
        "published": _first_date(meta, _PUBLISHED) or texts.get("published"),
        "modified": _first_date(meta, _MODIFIED) or texts.get("modified"),
        "section": _section(meta) or texts.get("section"),
        "breadcrumbs": list(linked.breadcrumbs) or read_breadcrumbs(document),
    }
    if neighbours:
        urls = Resolver(document.base, document.tree.encoding)
        found |= {
            direction: urls[neighbours[direction]] for direction in ("previous", "next") if direction in neighbours
        }
    return {name: value for name, value in found.items() if value}


def _language(document: Document, meta: dict[str, str]) -> str | None:
    root = document.tree.root
    named = (root.attr("lang") or root.attr("xml:lang") or "").strip() if root is not None else ""
    for language in (named, *[meta[name].strip() for name in _LANGUAGES if name in meta]):
        if _LANGUAGE.fullmatch(language):
            return language.replace("_", "-")  # as OpenGraph writes it
    return None


def _section(meta: dict[str, str]) -> str | None:
    section = _first(meta, _SECTION)
    return None if section is None or "://" in section else section


def _first(meta: dict[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if (value := meta.get(name)) and (text := one_line(_unescape_twice(value))):
            return text
    return None


def _unescape_twice(text: str) -> str:
    return _ESCAPED_TWICE.sub(lambda mark: unescape(mark[0]), text) if "&" in text else text


def _first_date(meta: dict[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if (value := meta.get(name)) and (date := iso_date(value)):
            return date
    return None


_IMMEDIATE: Final = 1  # seconds; a longer delay leaves time to read
# "Redirecting to https://example.com/new… If you are not redirected, click here." and similar, in any language.
_MAX_REFRESH_TEXT: Final = 200
_URL: Final = re.compile(r"https?://\S+")


def refresh_target(document: Document) -> str | None:
    """The normalised target of an immediate meta refresh; `None` if the page has other content.

    Remove scripts and styles of the body before, since their text is not content.
    """
    found = declared_refresh(document)
    if found is None or found[0] > _IMMEDIATE:
        return None
    target = found[1]
    try:
        if target == normalize(document.url):
            return None  # It reloads itself.
    except InvalidUrl:
        return None
    body = document.body
    return None if body is not None and _has_other_content(body, document.base, target) else target


def declared_refresh(document: Document) -> tuple[int, str] | None:
    """The delay in seconds and the normalised target of the first meta refresh."""
    for element in document.head:
        if element.tag == "meta" and (element.attr("http-equiv") or "").strip().lower() == "refresh":
            content = element.attr("content") or ""
            found = parse_refresh(content)
            if found is not None and element.closest("noscript, template") is None:  # applies without scripts only
                url = document.absolute(content[found.start : found.end])
                return None if url is None else (found.seconds, url)
    return None


def _has_other_content(body: Element, base: str, target: str) -> bool:
    for anchor in body.find_all("a", href=True):
        try:
            if normalize(anchor.attr("href") or "", base) != target:
                return True
        except InvalidUrl:
            return True
    if body.find(["img", "pre", "table", "form", "video", "ul", "ol"]) is not None:
        return True
    return len(_URL.sub("", " ".join(body.text.split()))) > _MAX_REFRESH_TEXT
