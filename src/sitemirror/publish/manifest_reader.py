"""Reads `_manifest.json` back: to rebuild a lost state, and to answer which file a URL is in.

The file may be large, damaged, reformatted by somebody's editor or written by another tool that uses the same format.
What is good is returned; what is not is named, never dropped in silence. Paths are given as they stand in the file:
whoever opens them checks first that they lead into the mirror.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

import orjson

from sitemirror.publish.manifest import Element, FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow
from sitemirror.publish.placeholders import placeholder_name

_SECTIONS: Final = ("pages", "failures", "skips", "gone", "not_reached")
_ELEMENT_BEGINS: Final = (b"    {", b'    "')
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NO_HEADER: Final = {
    **dict.fromkeys(("version", "source_url", "crawl_started"), ""),
    **dict.fromkeys(("total_pages", "successful", "failed", "skipped", "duplicates", "not_reached_count"), 0),
    "sitemap_url": None,
    "sitemaps": (),
    "crawl_completed": None,
    "complete": False,
}

T = TypeVar("T")


class ManifestUnreadable(ValueError):
    """The file is not a manifest at all."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A piece of the manifest that could not be understood; the rest could."""

    where: str


Item = ManifestHeader | Element | Damaged


def read_manifest(path: Path) -> Iterator[Item]:
    """The header, then every row; a plain string is a URL that was not reached.

    A manifest as we write it is read line by line in little memory. Any other layout is loaded whole.
    Raises `ManifestUnreadable` when the file is neither, and `OSError` when it cannot be opened.
    """
    if _has_our_layout(path):
        with path.open("rb") as file:
            yield from _by_line(file)
    else:
        yield from _whole(path)


def placeholder_of(row: Element) -> str | None:
    """The placeholder of a URL that was asked for and gave no page, in the mirror's folder; `None` for other rows."""
    match row:
        case FailureRow():
            return f"_failed/{placeholder_name(row.url)}"
        case SkipRow() if row.content_type is not None or row.size_bytes is not None:
            return f"_skipped/{placeholder_name(row.url)}"
        case _:
            return None


def _has_our_layout(path: Path) -> bool:
    """Whether each element has a line of its own, judged by the lines up to the first element."""
    with path.open("rb") as file:
        if file.readline(8).rstrip(b"\r\n") != b"{" or not file.readline(200).startswith(b'  "version": '):
            return False
        for line in file:
            if line.startswith(_ELEMENT_BEGINS):
                return line.rstrip(b"\r\n,").endswith((b"}", b'"')) and len(line.strip()) > 2
            if not line.startswith(b'  "'):
                return line.rstrip() in (b"}", b"  ],")
    return False


def _by_line(lines: Iterable[bytes]) -> Iterator[Item]:
    fields: dict[str, object] = {}
    section = ""
    closed = False
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip(b"\r\n")
        if line.startswith(_ELEMENT_BEGINS) and section:
            row = _element(section, _loads(line.strip().removesuffix(b",")))
            yield Damaged(f"line {number}") if row is None else row
        elif line.startswith(b'  "'):
            name, value = _field(line)
            if name in _SECTIONS:
                if not section:
                    yield _header(fields)
                section = name
            elif name and not section:
                fields[name] = value
            else:
                yield Damaged(f"line {number}")
        elif line == b"}":
            closed = True
        elif line not in (b"{", b"  ],", b"  ]", b""):
            yield Damaged(f"line {number}")
    if not closed:
        if not section:
            yield _header(fields)
        yield Damaged("the file ends too early")


def _field(line: bytes) -> tuple[str, object]:
    """Name and value of a header's line; the name of a list's first line. Empty when it is neither."""
    text = line.strip().removesuffix(b",")
    found = _loads(b"{" + text + (b"]}" if text.endswith(b"[") else b"}"))
    if isinstance(found, dict) and len(found) == 1:
        return next(iter(found.items()))
    return "", None


def _loads(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _whole(path: Path) -> Iterator[Item]:
    try:
        document = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise ManifestUnreadable(f"{path.name} is not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("pages"), list):
        raise ManifestUnreadable(f"{path.name} is JSON, but not a manifest: it has no list of pages")
    yield _header(document)
    for section in _SECTIONS:
        values = document.get(section, [])
        if not isinstance(values, list):
            yield Damaged(section)
            continue
        for number, value in enumerate(values, 1):
            row = _element(section, value)
            yield Damaged(f"{section}, element {number}") if row is None else row


def _header(values: Mapping[str, object]) -> ManifestHeader:
    return _row(ManifestHeader, values, _NO_HEADER)


def _element(section: str, value: object) -> Element | None:
    """The row that an element of the list `section` stands for. None when it lacks what a row cannot be without."""
    if section == "not_reached":
        return value if isinstance(value, str) else None
    if not isinstance(value, dict) or not _text(value.get("url")):
        return None
    match section:
        case "pages" if _text(value.get("path")):
            return _row(PageRow, value)
        case "gone":
            return _row(GoneRow, value)
        case "failures":
            return _row(FailureRow, value, {"error": "unknown"})
        case "skips":
            return _row(SkipRow, value, {"reason": "unknown"})
    return None


def _row(kind: Callable[..., T], values: Mapping[str, object], otherwise: Mapping[str, Any] = _NOTHING) -> T:
    """A field of a wrong type counts as missing, so that other tools' manifests can be read."""
    found = {name: value for name, read in _readers(kind) if (value := read(values.get(name))) is not None}
    return kind(**found | {name: value for name, value in otherwise.items() if not found.get(name)})


@cache
def _readers(kind: Any) -> tuple[tuple[str, Callable[[object], object]], ...]:
    """The fields of a kind of row, each with what reads its type."""
    types = {field.name: field.type for field in fields(kind)}
    plain = {name: get_args(type)[0] if get_origin(type) is Annotated else type for name, type in types.items()}
    return tuple((name, _READERS[type]) for name, type in plain.items())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: object) -> tuple[str, ...] | None:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else None


def _pairs(value: object) -> tuple[tuple[str, str], ...] | None:
    pairs = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return tuple((_text(each.get("lang")) or "", href) for each in pairs if (href := _text(each.get("href"))))


_READERS: Final[dict[Any, Callable[[object], object]]] = {
    str: _text,
    str | None: _text,
    int: _number,
    int | None: _number,
    bool: _flag,
    tuple[str, ...]: _texts,
    tuple[tuple[str, str], ...]: _pairs,
}
