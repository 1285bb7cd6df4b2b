"""What is kept of an answer, on its way from the network to the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitemirror.discover.links import PageLinks
from sitemirror.model import Validators


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that is in place already: it was streamed there."""

    path: str
    wanted: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Taken:
    """An answer, turned into what is kept of it."""

    status: int
    headers: Mapping[str, str]
    content_type: str
    charset: str | None
    fetched_at: str
    body: bytes  # 16 bytes that equal pages have in common; empty for assets, which are never one page
    title: str | None = None
    canonical: str | None = None
    markdown: bytes | None = None  # the whole file
    html: bytes | None = None  # as received; also a stylesheet's bytes
    asset: Asset | None = None
    links: PageLinks | None = None
    meta: str | None = None  # JSON

    @property
    def is_page(self) -> bool:
        return bool(self.body)

    @property
    def validators(self) -> Validators:
        return Validators(self.headers.get("etag"), self.headers.get("last-modified"))
