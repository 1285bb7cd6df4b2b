"""What is kept of an answer, on its way from the network to the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sitemirror.workers.jobs import Reading


class Asset(NamedTuple):
    """A file that is in place already: it was streamed there."""

    path: str
    wanted: str
    size: int
    sha256: str


class Taken(NamedTuple):
    """An answer, turned into what is kept of it."""

    status: int
    headers: Mapping[str, str]
    content_type: str
    fetched_at: str
    reading: Reading
    html: bytes | None = None  # as received; also a stylesheet's or a drawing's bytes
    asset: Asset | None = None

    @property
    def is_page(self) -> bool:
        return bool(self.reading.digest)
