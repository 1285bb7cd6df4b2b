"""Compares files with what is written of them. Reads each once, in pieces, and remembers what it was."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final

from sitemirror.errors import OutputError
from sitemirror.publish.report import ProblemKind
from sitemirror.store.browse import Browser
from sitemirror.text import printable
from sitemirror.verification.report import Findings

_PIECE: Final = 1 << 20
_MAX_BODY: Final = 64 << 20  # larger files are hashed, but not searched for links


class FileCheck:
    """The files of one mirror. Paths are relative to the output folder; `where` makes them the reader's."""

    def __init__(self, browser: Browser, findings: Findings, where: Callable[[str], str]) -> None:
        self._browser = browser
        self._findings = findings
        self._where = where
        self._read: dict[str, tuple[int, bytes]] = {}
        self.bad: set[str] = set()
        """Files that something is wrong with; it is said once, however many lists name them."""

    def compare(self, rel: str, size: int | None, digest: str | None, by: str) -> None:
        """Says what is wrong with the file `rel`, of which `by` says that it has this size and hash."""
        self.body(rel, size, digest, by, keep=0)

    def body(self, rel: str, size: int | None, digest: str | None, by: str, *, keep: int = _MAX_BODY) -> bytes | None:
        """The same; gives the file's bytes, unless there are more than `keep`."""
        data: bytes | None = None
        known = self._read.get(rel) if not keep else None
        if known is None:
            try:
                known, data = self._fetch(rel, keep)
            except (FileNotFoundError, NotADirectoryError):
                self._complain(ProblemKind.MISSING, rel, f"{by} names it, but it is not there")
            except OutputError as error:
                self._complain(ProblemKind.UNREADABLE, rel, error.message)
            except (OSError, ValueError) as error:
                self._complain(ProblemKind.UNREADABLE, rel, f"cannot be read: {error}")
        if known is None:
            return None
        there, hashed = known
        if size is not None and there != size:
            self._complain(ProblemKind.CHANGED, rel, f"has {there:,} bytes; {by} says {size:,}")
        elif digest is not None and hashed.hex() != digest.lower():
            told = printable(digest, limit=64)
            self._complain(ProblemKind.CHANGED, rel, f"is not what was saved: its sha256 is not {told}, as {by} says")
        return data

    def _fetch(self, rel: str, keep: int) -> tuple[tuple[int, bytes], bytes | None]:
        hashed, size, kept = sha256(), 0, bytearray()
        with self._browser.open(rel) as file:
            while piece := file.read(_PIECE):
                hashed.update(piece)
                size += len(piece)
                if size <= keep:
                    kept += piece
        self._findings.files += rel not in self._read
        found = self._read[rel] = (size, hashed.digest())
        return found, bytes(kept) if size <= keep else None

    def _complain(self, kind: ProblemKind, rel: str, message: str) -> None:
        if rel not in self.bad:
            self.bad.add(rel)
            self._findings.add(kind, self._where(rel), message)
