"""Where a writer's bytes go: an open file, or anything that takes bytes as one does."""

from __future__ import annotations

from typing import Protocol


class Sink(Protocol):
    """All that the writers here ask of a file."""

    def write(self, data: bytes, /) -> int: ...
