"""Compares `mirror-index.json` with its format and with the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sitemirror.publish.file_names import MIRROR_INDEX
from sitemirror.publish.mirror_index_check import Entry, NotAnIndex, Section, read_index, validate_index
from sitemirror.publish.report import ProblemKind
from sitemirror.store.safe_folders import is_contained
from sitemirror.verification.files import FileCheck
from sitemirror.verification.report import Findings

_FROM_HERE_ON = ("graph", "skipped_urls", "errors")


def check_index(path: Path, home: str, files: FileCheck, findings: Findings, where: str) -> None:
    """Says what is wrong with the index at `path`, whose mirror is the folder `home`."""
    for problem in validate_index(path):
        findings.add(ProblemKind.INDEX, where, problem)
    for entry in _entries(path):
        value = entry.value
        if not isinstance(value, dict):
            continue
        if entry.section == "items" and value.get("type") == "file":
            local = value.get("path")
        elif entry.section == "urls":
            local = value.get("local_path")
        else:
            continue
        if not isinstance(local, str) or not is_contained(local):
            continue  # said by the check of the format
        size, digest = (value.get("size"), value.get("sha256")) if entry.section == "items" else (None, None)
        files.compare(f"{home}/{local}", _number(size), digest if isinstance(digest, str) else None, MIRROR_INDEX)


def makes_links_local(path: Path) -> bool | None:
    """Whether the index says that links were made to work offline; `None` if it does not say."""
    for entry in _entries(path):
        if entry.section == "meta":
            args = entry.value.get("args") if isinstance(entry.value, dict) else None
            told = args.get("post_process") if isinstance(args, dict) else None
            return told if isinstance(told, bool) else None
    return None


def _entries(path: Path) -> Iterator[Entry]:
    """Yield the entries before the graph, as far as they can be read; `validate_index` reports where that ends."""
    with suppress(NotAnIndex, OSError):
        for piece in read_index(path):
            if isinstance(piece, Section) and piece.name in _FROM_HERE_ON:
                return
            if isinstance(piece, Entry):
                yield piece


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
