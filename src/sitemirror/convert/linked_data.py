"""JSON-LD: what the first article-like thing on a page says of it, and the trail that leads to the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from sitemirror.convert.one_line import one_line
from sitemirror.text import unescape

_TIME: Final = r"[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
# The zone may stand apart, as Ruby and Go write it. What was never set begins with the first day of all.
_DATE: Final = re.compile(rf"(?!000[01])(\d{{4}}-\d\d-\d\d(?:{_TIME})?)(?: ?(Z|[+-]\d\d:?\d\d)(?: UTC)?)?", re.ASCII)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_NOBODY: Final = ("undefined", "null")
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
            "published": date_of(thing.get("datePublished")),
            "modified": date_of(thing.get("dateModified")),
            "section": _section(thing.get("articleSection")),
        }
        if thing.get("headline") or candidates["published"] or candidates["modified"]:
            for name, value in candidates.items():
                if isinstance(value, str) and (text := _plain(value)):
                    texts.setdefault(name, text)
    return LinkedData(texts, breadcrumbs)


def date_of(value: object) -> str | None:
    """A date as ISO 8601 writes it, or nothing."""
    text = value.strip() if isinstance(value, str) else ""
    found = _DATE.fullmatch(text)
    return found[1] + (found[2] or "") if found is not None else None


def _plain(text: str) -> str | None:
    """One line; blog software writes the marks of HTML into it, which mean nothing in a script."""
    return one_line(unescape(text))


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
        if isinstance(name, str) and (text := _plain(name)):
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
        data = _read(block)
        for item in data if isinstance(data, list) else [data]:
            if isinstance(item, dict):
                yield item
                graph = item.get("@graph")
                if isinstance(graph, list):
                    yield from (node for node in graph if isinstance(node, dict))
                subject = item.get("mainEntity")  # of a page in a forum
                if isinstance(subject, dict):
                    yield subject


def _read(block: str) -> object:
    try:
        return orjson.loads(block)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(block, strict=False)  # with line ends within a text, as templates leave them
    except (ValueError, RecursionError):
        return None


def names_of(names: Iterable[str]) -> str | None:
    """Those of them that are names, in one text. An address of a profile is none, nor is what a template left empty."""
    plain = (_plain(name) for name in names)
    found = [name.strip(" ,") for name in plain if name and "://" not in name and name not in _NOBODY]
    found = list(dict.fromkeys(filter(None, found)))
    # "Roy, Aniruddha" is one.
    return one_line(("; " if len(found) > 1 and any("," in name for name in found) else ", ").join(found))


def _author_name(value: object, named: Mapping[object, Mapping[str, object]]) -> str | None:
    names: list[str] = []
    for item in value[:20] if isinstance(value, list) else [value]:
        name = item
        if isinstance(item, dict):
            name = item.get("name") or named.get(str(item.get("@id")), {}).get("name")
        if isinstance(name, str):
            names.append(name)
    return names_of(names)
