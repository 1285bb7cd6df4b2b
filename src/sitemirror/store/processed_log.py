"""`_processed.txt`: one line for each URL, appended after its page is committed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitemirror.store.bulk_insert import Fingerprints
from sitemirror.store.database import State
from sitemirror.store.files import Tree


class ProcessedLog:
    """The log and its record in the state: each batch is announced in the batch's own transaction."""

    def __init__(self, state: State, tree: Tree, name: str) -> None:
        self._state = state
        self._path = tree.root / name
        self._log = tree.log(name)
        self._before: Fingerprints | None = None

    def reread(self) -> None:
        """Make `not_there` read the log again."""
        self._before = None

    def not_there(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that the log did not contain when it was last read."""
        if self._before is None:
            try:
                with self._path.open("rb") as file:
                    self._before = Fingerprints(_fingerprint(line.strip()) for line in file)
            except FileNotFoundError:  # The folder was deleted meanwhile.
                self._before = Fingerprints(())
        before = self._before
        return [line for line in lines if _fingerprint(line.encode()) not in before]

    def announce(self, lines: Sequence[str]) -> None:
        """Record in the state the lines that are about to be appended."""
        self._state.set_facts(log_offset=self._log.size, log_lines="".join(f"{line}\n" for line in lines))

    def append(self, lines: Sequence[str]) -> None:
        self._log.append(_bytes(lines))

    def mend(self) -> Iterator[str]:
        """Append the lines that a kill cut off. If the log was edited, yield every URL: they count as done.

        Opening the log has cut off a line without its newline: `/p/1` may be the torn `/p/12`.
        """
        offset, lines = self._announced()
        if self._log.size == offset + len(lines):
            return
        if offset <= self._log.size < offset + len(lines):
            missing = self.not_there(lines[self._log.size - offset :].decode().splitlines())
            if missing:
                self._log.append(_bytes(missing))
                self.reread()
            self.announce(())
            return
        with self._path.open("rb") as file:
            for line in file:
                if url := line.decode("utf-8", "replace").strip():
                    yield url
        self.announce(())

    def cut_back(self) -> None:
        """Cut off lines that the state does not know: after a power cut their pages may be missing."""
        offset, lines = self._announced()
        if self._log.size > offset + len(lines):
            self._log.cut(offset + len(lines))
            self.announce(())

    def _announced(self) -> tuple[int, bytes]:
        """Offset and text of the last batch."""
        return self._state.fact("log_offset"), self._state.fact("log_lines").encode()

    def close(self) -> None:
        self._log.close()


def _fingerprint(line: bytes) -> int:
    return hash(line) & 0xFFFF_FFFF_FFFF_FFFF


def _bytes(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
