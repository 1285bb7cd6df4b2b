"""Export mirrors for pipelines: records of pages or sections, as JSON lines or Parquet.

Ids depend on URL and headings alone, so the same page has the same id in every export. Records are made one after
another: an export of 50,000 pages holds one page, or with Parquet one row group.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeAlias, overload

from sitemirror.errors import OutputError, UsageError
from sitemirror.links.markdown import body_start
from sitemirror.publish.json_text import Sink, json_bytes
from sitemirror.publish.manifest import PageRow
from sitemirror.reading.changed_pages import changed_pages, parse_since, removed_pages
from sitemirror.reading.mirrors import Mirror, decode, find_mirrors
from sitemirror.reading.sections import MAX_TOKENS, estimate_tokens, split

if TYPE_CHECKING:
    import pyarrow

Problem: TypeAlias = Callable[[str], None]

_LANGUAGE: Final = re.compile(r'^language: (".*")$', re.MULTILINE)
_ROW_GROUP: Final = 8 << 20
"""Characters of text in a row group of Parquet."""


class Unit(StrEnum):
    """The unit of an export: a record is one of these."""

    PAGES = "pages"
    SECTIONS = "sections"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A page, or one that was removed."""

    id: str
    """16 hex digits of a hash of the URL."""
    url: str
    site: str
    """The host, as the mirror's folder is called."""
    path: str | None
    """The file, relative to the mirror's folder."""
    title: str | None
    text: str | None
    """The Markdown without front matter; null for a removed page."""
    tokens: int
    """Estimated."""
    sha256: str | None
    """Of the file's bytes."""
    language: str | None
    changed_at: str | None
    """When the file came to say what it says."""
    fetched_at: str | None
    """When the server last confirmed it."""
    removed_at: str | None = None
    """When the page was missed; null for a page that is there. Only exports since some time have such records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRecord:
    """A section of a page, or a page that was removed with all its sections."""

    id: str
    """16 hex digits of a hash of URL and headings; the page's id for a removed page."""
    page_id: str
    url: str
    site: str
    path: str | None
    title: str | None
    """The page's."""
    headings: tuple[str, ...]
    """Titles from the page's own down to the section's."""
    anchor: str
    first_line: int
    last_line: int
    text: str | None
    tokens: int
    sha256: str | None
    """Of the page's file."""
    language: str | None
    changed_at: str | None
    """The page's."""
    fetched_at: str | None
    removed_at: str | None = None


Record: TypeAlias = PageRecord | SectionRecord


@overload
def export(
    *folders: str | os.PathLike[str],
    unit: Literal["pages"] = "pages",
    since: str | None = None,
    max_tokens: int = MAX_TOKENS,
    on_problem: Problem | None = None,
) -> Iterator[PageRecord]: ...


@overload
def export(
    *folders: str | os.PathLike[str],
    unit: Literal["sections"],
    since: str | None = None,
    max_tokens: int = MAX_TOKENS,
    on_problem: Problem | None = None,
) -> Iterator[SectionRecord]: ...


def export(
    *folders: str | os.PathLike[str],
    unit: str = "pages",
    since: str | None = None,
    max_tokens: int = MAX_TOKENS,
    on_problem: Problem | None = None,
) -> Iterator[Record]:
    """Yield a record for each page or section of the mirrors in or below the folders.

    With `since`, a date or a time, only pages that changed then or later, after them those that were removed.
    `on_problem` gets a sentence for each page whose file cannot be read; without it, that is an `OutputError`.
    """
    mirrors = markdown_mirrors([Path(folder) for folder in folders])
    wanted = _unit(unit)
    moment = None if since is None else parse_since(since)
    return _records(mirrors, wanted, moment, max_tokens, on_problem)


def _unit(name: str) -> Unit:
    try:
        return Unit(name)
    except ValueError:
        raise UsageError(f"unit must be pages or sections, not {name!r}") from None


def markdown_mirrors(folders: Iterable[Path]) -> list[Mirror]:
    """Open the mirrors in or below the folders. Raises `UsageError` for one without Markdown."""
    mirrors = find_mirrors(folders)
    for mirror in mirrors:
        if next(mirror.pages(), None) is not None and next(mirror.markdown_pages(), None) is None:
            raise UsageError(
                f"{mirror.folder} has no Markdown, only HTML", hint="mirror it with --format markdown or both"
            )
    return mirrors


def pages_with_text(
    mirror: Mirror, since: str | None, on_problem: Problem | None
) -> Iterator[tuple[PageRow, bytes, str]]:
    """Yield a mirror's pages with the bytes and the text of their files."""
    for page in mirror.markdown_pages() if since is None else changed_pages(mirror, since):
        data = mirror.read(page)
        if data is not None:
            yield page, data, decode(data)
            continue
        message = f"{mirror.file(page)} cannot be read"
        if on_problem is None:
            raise OutputError(message, hint="`sitemirror verify` checks the mirror; --update fetches the page again")
        on_problem(message)


def _records(
    mirrors: Iterable[Mirror], unit: Unit, since: str | None, max_tokens: int, on_problem: Problem | None
) -> Iterator[Record]:
    for mirror in mirrors:
        for page, data, text in pages_with_text(mirror, since, on_problem):
            if unit is Unit.PAGES:
                yield _page_record(mirror, page, data, text)
            else:
                yield from _section_records(mirror, page, data, text, max_tokens)
        if since is not None:
            for removed in removed_pages(mirror, since):
                yield _removal(unit, removed.url, mirror.name, removed.path, removed.at)


def page_id(url: str) -> str:
    """Return the id of a page: 16 hex digits of a hash of its URL."""
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _page_record(mirror: Mirror, page: PageRow, data: bytes, text: str) -> PageRecord:
    body = text[body_start(text) :]
    return PageRecord(
        id=page_id(page.url),
        url=page.url,
        site=mirror.name,
        path=page.path,
        title=page.title,
        text=body,
        tokens=estimate_tokens(body),
        sha256=sha256(data).hexdigest(),
        language=_language(text),
        changed_at=page.changed_at,
        fetched_at=page.fetched_at,
    )


def _section_records(mirror: Mirror, page: PageRow, data: bytes, text: str, max_tokens: int) -> Iterator[SectionRecord]:
    of_page, digest, language = page_id(page.url), sha256(data).hexdigest(), _language(text)
    for section in split(text, url=page.url, path=page.path, max_tokens=max_tokens):
        yield SectionRecord(
            id=section.id,
            page_id=of_page,
            url=page.url,
            site=mirror.name,
            path=page.path,
            title=page.title,
            headings=section.headings,
            anchor=section.anchor,
            first_line=section.lines[0],
            last_line=section.lines[1],
            text=section.text,
            tokens=section.tokens,
            sha256=digest,
            language=language,
            changed_at=page.changed_at,
            fetched_at=page.fetched_at,
        )


def _removal(unit: Unit, url: str, site: str, path: str | None, at: str) -> Record:
    common: dict[str, Any] = {
        **dict.fromkeys(("title", "text", "sha256", "language", "changed_at", "fetched_at")),
        "id": page_id(url),
        "url": url,
        "site": site,
        "path": path,
        "tokens": 0,
        "removed_at": at,
    }
    if unit is Unit.PAGES:
        return PageRecord(**common)
    return SectionRecord(**common, page_id=page_id(url), headings=(), anchor="", first_line=0, last_line=0)


def _language(text: str) -> str | None:
    """Return the language that the front matter names."""
    found = _LANGUAGE.search(text, 0, body_start(text))
    if found is None:
        return None
    try:
        value = json.loads(found[1])
    except ValueError:  # YAML knows escapes that JSON does not.
        return None
    return value if isinstance(value, str) else None


# --- files ------------------------------------------------------------------------------------------------------------


def write_jsonl(file: Sink, records: Iterable[Record]) -> int:
    """Write one JSON object a line; return how many."""
    count = 0
    for count, record in enumerate(records, 1):  # noqa: B007
        file.write(json_bytes(record) + b"\n")
    return count


def write_parquet(file: BinaryIO, records: Iterable[Record], unit: Unit) -> int:
    """Write a Parquet file and return the number of rows. Raises `UsageError` without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            "Parquet needs the package pyarrow", hint="pip install 'sitemirror[parquet]', or use --format jsonl"
        ) from None
    schema = _parquet_schema(unit)
    count = size = 0
    held: list[dict[str, Any]] = []
    names = [field.name for field in fields(PageRecord if unit is Unit.PAGES else SectionRecord)]
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for record in records:
            held.append({name: _storable(getattr(record, name)) for name in names})
            count += 1
            size += len(record.text or "")
            if size >= _ROW_GROUP:
                writer.write_table(pyarrow.Table.from_pylist(held, schema=schema))
                held, size = [], 0
        if held:
            writer.write_table(pyarrow.Table.from_pylist(held, schema=schema))
    return count


def _storable(value: object) -> object:
    """Replace lone surrogates, which UTF-8 does not have."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [_storable(each) for each in value] if isinstance(value, tuple) else value


def _parquet_schema(unit: Unit) -> pyarrow.Schema:
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int32()
    kinds = {"tokens": number, "first_line": number, "last_line": number, "headings": pyarrow.list_(text)}
    kinds["text"] = pyarrow.large_string()
    record = PageRecord if unit is Unit.PAGES else SectionRecord
    return pyarrow.schema([(field.name, kinds.get(field.name, text)) for field in fields(record)])
