"""JSON-LD: what the first article-like thing on a page says of it, and the trail that leads to the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from sitemirror.convert.one_line import one_line

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_MAX_JSON: Final = 512 * 1024
_MAX_CRUMBS: Final = 20
_MAX_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class LinkedData:
    """What was found; empty where the page has none. Anything malformed is as good as absent."""

    texts: Mapping[str, str] = field(default_factory=dict)
    breadcrumbs: tuple[str, ...] = ()


def read_linked_data(blocks: Iterable[str]) -> LinkedData:
    """Reads the blocks in their order; the first that says something counts."""
    texts: dict[str, str] = {}
    breadcrumbs: tuple[str, ...] = ()
    for thing in _things(blocks):
        if _kind(thing) == "BreadcrumbList":
            breadcrumbs = breadcrumbs or _trail(thing.get("itemListElement"))
            continue
        language = thing.get("inLanguage")
        candidates = {
            "title": thing.get("headline"),
            "description": thing.get("description"),
            "language": language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else None,
            "author": _author_name(thing.get("author")),
            "published": date_of(thing.get("datePublished")),
            "modified": date_of(thing.get("dateModified")),
            "section": _section(thing.get("articleSection")),
        }
        if thing.get("headline") or candidates["published"] or candidates["modified"]:
            for name, value in candidates.items():
                if isinstance(value, str) and (text := one_line(value)):
                    texts.setdefault(name, text)
    return LinkedData(texts, breadcrumbs)


def date_of(value: object) -> str | None:
    """A date as ISO 8601 writes it, or nothing."""
    text = value.strip() if isinstance(value, str) else ""
    return text if _DATE.fullmatch(text) else None


def _kind(thing: Mapping[str, object]) -> object:
    kind = thing.get("@type")
    return kind[0] if isinstance(kind, list) and kind else kind


def _trail(items: object) -> tuple[str, ...]:
    """The names of a trail's steps, by their position."""
    steps: list[tuple[float, str]] = []
    for number, item in enumerate(items[:_MAX_CRUMBS] if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        page = item.get("item")
        name = item.get("name") or (page.get("name") if isinstance(page, dict) else None)
        position = item.get("position")
        if isinstance(name, str) and (text := one_line(name)):
            steps.append((_number(position, number), text))
    return tuple(name for _, name in sorted(steps, key=lambda step: step[0]))


def _number(position: object, otherwise: int) -> float:
    if isinstance(position, str) and position.strip().isdecimal() and len(position) < _MAX_DIGITS:
        return int(position)
    return position if isinstance(position, int | float) else otherwise


def _section(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


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
