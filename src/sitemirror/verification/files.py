"""Compare files with the sizes and hashes that the manifest and the mirror index give for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from sitemirror.errors import OutputError
from sitemirror.publish.file_names import MIRROR_INDEX
from sitemirror.publish.mirror_index_check import IndexEntry, NotAnIndex, Section, read_index, validate_index
from sitemirror.publish.report import ProblemKind
from sitemirror.store.browse import Browser
from sitemirror.store.safe_folders import is_contained
from sitemirror.text import printable
from sitemirror.verification.report import Problems

_CHUNK: Final = 1 << 20
_MAX_BODY: Final = 64 << 20  # larger files are hashed, but not searched for links
_AFTER_THE_ENTRIES: Final = ("graph", "skipped_urls", "errors")


class FileCheck:
    """Reads each file of a mirror once and remembers its size and hash.

    Paths are relative to the output folder; `where` makes them relative to the user's.
    """

    def __init__(self, browser: Browser, problems: Problems, where: Callable[[str], str]) -> None:
        self._browser = browser
        self._problems = problems
        self._where = where
        self._read: dict[str, tuple[int, bytes]] = {}
        self.bad: set[str] = set()
        """Files with a problem. Each is reported once, however many lists name it."""

    def compare(self, rel: str, size: int | None, digest: str | None, by: str) -> None:
        """Report the file `rel` if it differs from the size and hash that `by` gives."""
        self.body(rel, size, digest, by, limit=0)

    def body(self, rel: str, size: int | None, digest: str | None, by: str, *, limit: int = _MAX_BODY) -> bytes | None:
        """Compare the file and return its bytes, unless there are more than `limit`."""
        data: bytes | None = None
        known = self._read.get(rel) if not limit else None
        if known is None:
            try:
                known, data = self._load(rel, limit)
            except (FileNotFoundError, NotADirectoryError):
                self._report(ProblemKind.MISSING, rel, f"{by} names it, but it is not there")
            except OutputError as error:
                self._report(ProblemKind.UNREADABLE, rel, error.message)
            except (OSError, ValueError) as error:
                self._report(ProblemKind.UNREADABLE, rel, f"cannot be read: {error}")
        if known is None:
            return None
        actual_size, actual_digest = known
        if size is not None and actual_size != size:
            self._report(ProblemKind.CHANGED, rel, f"has {actual_size:,} bytes; {by} says {size:,}")
        elif digest is not None and actual_digest.hex() != digest.lower():
            said = printable(digest, limit=64)
            self._report(ProblemKind.CHANGED, rel, f"is not what was saved: its sha256 is not {said}, as {by} says")
        return data

    def _load(self, rel: str, limit: int) -> tuple[tuple[int, bytes], bytes | None]:
        hashed, size, body = sha256(), 0, bytearray()
        with self._browser.open(rel) as file:
            while chunk := file.read(_CHUNK):
                hashed.update(chunk)
                size += len(chunk)
                if size <= limit:
                    body += chunk
        self._problems.files += rel not in self._read
        found = self._read[rel] = (size, hashed.digest())
        return found, bytes(body) if size <= limit else None

    def _report(self, kind: ProblemKind, rel: str, message: str) -> None:
        if rel not in self.bad:
            self.bad.add(rel)
            self._problems.add(kind, self._where(rel), message)


def check_mirror_index(path: Path, home: str, files: FileCheck, problems: Problems, where: str) -> None:
    """Check the index at `path` against its format, and the files it names in the folder `home`."""
    for problem in validate_index(path):
        problems.add(ProblemKind.INDEX, where, problem)
    for entry in _entries(path):
        value = entry.value
        if not isinstance(value, dict):
            continue
        size = digest = None
        if entry.section == "items" and value.get("type") == "file":
            local, size, digest = value.get("path"), value.get("size"), value.get("sha256")
        elif entry.section == "urls":
            local = value.get("local_path")
        else:
            continue
        if isinstance(local, str) and is_contained(local):  # else the check of the format has reported it
            digest = digest if isinstance(digest, str) else None
            files.compare(f"{home}/{local}", _integer(size), digest, MIRROR_INDEX)


def has_local_links(path: Path) -> bool | None:
    """True if the run of this index made links local; `None` if the index does not say."""
    for entry in _entries(path):
        match entry:
            case IndexEntry("meta", _, {"args": {"post_process": bool(answer)}}):
                return answer
            case IndexEntry("meta"):
                return None
    return None


def _entries(path: Path) -> Iterator[IndexEntry]:
    """Yield the entries before the graph up to the first error, which `validate_index` reports."""
    with suppress(NotAnIndex, OSError):
        for piece in read_index(path):
            if isinstance(piece, Section) and piece.name in _AFTER_THE_ENTRIES:
                return
            if isinstance(piece, IndexEntry):
                yield piece


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
