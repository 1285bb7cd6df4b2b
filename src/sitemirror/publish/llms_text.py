"""Write `_llms.txt`, the list of pages that agents look for (https://llmstxt.org, version 2).

Readers of this format are regular expressions more often than Markdown parsers. So a title has no square brackets, an
address no parentheses, each page is one line, and folders are headings of the second level, however deep they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from sitemirror.errors import OutputError
from sitemirror.publish import inline
from sitemirror.publish.contents import ContentsRow, Heading, heading_text, label, sections
from sitemirror.publish.json_text import Sink
from sitemirror.publish.manifest import ManifestHeader
from sitemirror.text import counted

DESCRIBED_AT_MOST: Final = 2_000
"""Pages of a mirror whose descriptions are listed. A longer list is for programs, and each one costs opening a file."""

DESCRIPTION_LIMIT: Final = 200
"""Characters of a description."""

TOP: Final = "Top level"
"""The heading of pages that are in no folder: every page has to be below some heading."""

_BRACKETS: Final = str.maketrans("[]", "()")
_DESCRIPTION: Final = re.compile(rb'^description: (".*")$', re.MULTILINE)


def write_llms_text(
    file: Sink,
    header: ManifestHeader,
    *,
    host: str,
    rows: Callable[[int], Iterable[ContentsRow]],
    here: Callable[[str], str],
    read: Callable[[str], bytes],
) -> None:
    """Write the Markdown files of a mirror by folder, with titles and descriptions.

    `rows` and `here` are those of `write_contents`; `read` gives the bytes of a page's file.
    """
    describes = len(list(islice(rows(0), DESCRIBED_AT_MOST + 1))) <= DESCRIBED_AT_MOST
    file.write(_head(header, host))
    title = TOP
    for span in sections(rows, lambda row: row[0], host):
        if isinstance(span, Heading):
            title = heading_text(span)
            continue
        for url, path, name in span:
            if not path.endswith(".md"):
                continue
            if title:
                file.write(f"\n## {title}\n\n".encode())
                title = ""
            shown = label(url, (name or "").translate(_BRACKETS), host).translate(_BRACKETS)
            about = _description(read, path) if describes else ""
            file.write(f"- {inline.file_link(shown, here(path))}{about}\n".encode())


def _head(header: ManifestHeader, host: str) -> bytes:
    pages = counted(header.successful, "page")
    lines = [
        f"# {inline.text(host)}",
        "",
        f"> A copy of {inline.text(header.source_url)}: {pages} as Markdown files, links relative to this one.",
        "",
        f"Copied: {header.crawl_completed or header.crawl_started}"
        + ("." if header.complete else "; incomplete, as the run did not come to its end."),
    ]
    return ("\n".join(lines) + "\n").encode()


def _description(read: Callable[[str], bytes], path: str) -> str:
    """Return the description in a page's front matter as the end of its line; empty if there is none."""
    try:
        data = read(path)
    except OutputError:  # Somebody deleted it. The list is of what the manifest names.
        return ""
    head, found, _ = data.partition(b"\n---\n")
    match = _DESCRIPTION.search(head) if found and head.startswith(b"---\n") else None
    if match is None:
        return ""
    try:
        text = " ".join(str(json.loads(match[1])).split())
    except ValueError:  # YAML knows escapes that JSON does not.
        return ""
    return f": {inline.text(text, limit=DESCRIPTION_LIMIT)}" if text else ""
