"""Pack mirrors into a few Markdown files of at most so many tokens, cut between pages where it can be.

A page that is longer than a file is cut between its sections, and only a section that is longer still within itself:
nothing is left out, and no single page makes an export fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sitemirror.errors import OutputError, UsageError
from sitemirror.links.markdown import body_start
from sitemirror.publish import inline
from sitemirror.reading.changed_pages import removed_pages
from sitemirror.reading.export import pages_with_text
from sitemirror.reading.mirrors import Mirror
from sitemirror.reading.sections import estimate_tokens, split
from sitemirror.reading.user_files import replacing

FILE_TOKENS: Final = 100_000
"""Tokens of a file, unless a caller says otherwise: half of what most models read at once."""

_LEAST: Final = 500
_MARGIN: Final = 0.9
"""Part of a file that is filled: for whole files, o200k counts up to 9 % more tokens than the estimate."""


@dataclass(slots=True)
class _File:
    """A file that is filled."""

    parts: list[str] = field(default_factory=list)
    tokens: int = 0

    def add(self, part: str, tokens: int) -> None:
        self.parts.append(part)
        self.tokens += tokens


def write_packed(
    folder: Path,
    name: str,
    mirrors: Iterable[Mirror],
    *,
    max_tokens: int = FILE_TOKENS,
    since: str | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write `NAME-001.md`, `NAME-002.md` … into a folder and return their paths.

    Files of that name that an earlier, larger export left behind are deleted. `since` is as `parse_since` gives it.
    """
    if max_tokens < _LEAST:
        raise UsageError(f"a file must have at least {_LEAST} tokens, not {max_tokens}", hint="give --max-tokens more")
    written: list[Path] = []
    room = int(max_tokens * _MARGIN)
    for file in _fill(_documents(mirrors, room, since, on_problem), room):
        path = folder / f"{name}-{len(written) + 1:03}.md"
        with replacing(path) as sink:
            sink.write("\n".join(file.parts).encode("utf-8", "replace"))
        written.append(path)
    _delete_further(folder, name, len(written))
    return written


def _fill(documents: Iterable[list[tuple[str, int]]], max_tokens: int) -> Iterator[_File]:
    """Put documents (lists of parts with tokens) into files, whole if they fit."""
    file = _File()
    for parts in documents:
        if file.parts and file.tokens + sum(tokens for _, tokens in parts) > max_tokens:
            yield file
            file = _File()
        for part, tokens in parts:
            if file.parts and file.tokens + tokens > max_tokens:
                yield file
                file = _File()
            file.add(part, tokens)
    if file.parts:
        yield file


def _documents(
    mirrors: Iterable[Mirror], room: int, since: str | None, on_problem: Callable[[str], None] | None
) -> Iterator[list[tuple[str, int]]]:
    for mirror in mirrors:
        for page, _, text in pages_with_text(mirror, since, on_problem):
            yield list(_parts(page.url, page.path, text, room))
        if since is not None:
            gone = [f"- {inline.autolink(each.url)}\n" for each in removed_pages(mirror, since)]
            for line in ["Not on the site any more:\n\n", *gone] if gone else []:
                yield [(line, estimate_tokens(line) + 1)]


def _parts(url: str, path: str, text: str, room: int) -> Iterator[tuple[str, int]]:
    """Yield a page whole if it fits, else in pieces of whole sections, each with its source."""
    body = text[body_start(text) :].strip("\n")
    head = f"---\n\nSource: {inline.autolink(url)}\n\n"
    above = estimate_tokens(head) + 2
    tokens = above + estimate_tokens(body)
    if tokens <= room:
        yield f"{head}{body}\n", tokens
        return
    head = f"---\n\nSource: {inline.autolink(url)} (a part of the page)\n\n"
    above = estimate_tokens(head) + 2
    held: list[str] = []
    cost = above
    for section in split(text, url=url, path=path, max_tokens=max(room - above, 1)):
        if held and cost + section.tokens + 1 > room:
            yield head + "".join(held), cost
            held, cost = [], above
        held.append(section.text)
        cost += section.tokens + 1
    if held:
        yield head + "".join(held), cost


def _delete_further(folder: Path, name: str, count: int) -> None:
    pattern = re.compile(rf"{re.escape(name)}-(\d{{3,}})\.md")
    try:
        for path in folder.iterdir() if folder.is_dir() else ():
            if (found := pattern.fullmatch(path.name)) and int(found[1]) > count:
                path.unlink()
    except OSError as error:
        message = f"{folder} has files of an earlier export that cannot be deleted: {error.strerror}"
        raise OutputError(message, hint="delete them by hand, or give another folder") from None
