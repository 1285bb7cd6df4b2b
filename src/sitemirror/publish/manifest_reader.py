"""Reads `_manifest.json` back: to rebuild a lost state, and to answer which file a URL is in.

The file may be large, damaged, reformatted by somebody's editor or written by another tool that uses the same format.
What is good is returned; what is not is named, never dropped in silence. Paths are given as they stand in the file:
whoever opens them checks first that they lead into the mirror.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from sitemirror.publish.manifest import Element, FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow

_SECTIONS: Final = ("pages", "failures", "skips", "gone", "not_reached")
_ELEMENT_BEGINS: Final = (b"    {", b'    "')


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


class _Fields:
    """Reads fields by type. A field of a wrong type counts as missing, so that other tools' manifests can be read."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def text(self, name: str) -> str | None:
        value = self._values.get(name)
        return value if isinstance(value, str) else None

    def number(self, name: str) -> int | None:
        value = self._values.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._values.get(name)
        return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        values = self._values.get(name)
        found = (_Fields(value) for value in values if isinstance(value, dict)) if isinstance(values, list) else ()
        return tuple((pair.text("lang") or "", href) for pair in found if (href := pair.text("href")))


def _header(values: Mapping[str, object]) -> ManifestHeader:
    fields = _Fields(values)
    return ManifestHeader(
        version=fields.text("version") or "",
        source_url=fields.text("source_url") or "",
        sitemap_url=fields.text("sitemap_url"),
        sitemaps=fields.texts("sitemaps"),
        crawl_started=fields.text("crawl_started") or "",
        crawl_completed=fields.text("crawl_completed"),
        complete=values.get("complete") is True,
        total_pages=fields.number("total_pages") or 0,
        successful=fields.number("successful") or 0,
        failed=fields.number("failed") or 0,
        skipped=fields.number("skipped") or 0,
        duplicates=fields.number("duplicates") or 0,
        not_reached_count=fields.number("not_reached_count") or 0,
    )


def _element(section: str, value: object) -> Element | None:
    """The row that an element of the list `section` stands for. None when it lacks what a row cannot be without."""
    if section == "not_reached":
        return value if isinstance(value, str) else None
    if not isinstance(value, dict):
        return None
    fields = _Fields(value)
    url, path = fields.text("url"), fields.text("path")
    if not url:
        return None
    match section:
        case "pages" if path:
            return _page(url, path, fields)
        case "gone":
            return GoneRow(url=url, path=path, since=fields.text("since"))
        case "failures":
            return FailureRow(
                url=url,
                error=fields.text("error") or "unknown",
                attempts=fields.number("attempts") or 1,
                at=fields.text("at"),
                final_url=fields.text("final_url"),
                redirects=fields.number("redirects") or 0,
                depth=fields.number("depth"),
            )
        case "skips":
            return SkipRow(
                url=url,
                reason=fields.text("reason") or "unknown",
                content_type=fields.text("content_type"),
                size_bytes=fields.number("size_bytes"),
                depth=fields.number("depth"),
            )
    return None


def _page(url: str, path: str, fields: _Fields) -> PageRow:
    return PageRow(
        url=url,
        path=path,
        size_bytes=fields.number("size_bytes"),
        fetched_at=fields.text("fetched_at"),
        title=fields.text("title"),
        sha256=fields.text("sha256"),
        lastmod=fields.text("lastmod"),
        etag=fields.text("etag"),
        last_modified=fields.text("last_modified"),
        content_type=fields.text("content_type"),
        final_url=fields.text("final_url"),
        canonical_url=fields.text("canonical_url"),
        aliases=fields.texts("aliases"),
        alternates=fields.pairs("alternates"),
        html_path=fields.text("html_path"),
        preferred_path=fields.text("preferred_path"),
        hidden_texts=fields.number("hidden_texts"),
        refresh_error=fields.text("refresh_error"),
        depth=fields.number("depth"),
    )
