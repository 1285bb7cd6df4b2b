"""Loads mirrors into LangChain: a document for each page, or for each section. Copy it into your project.

pip install sitemirror langchain-core
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

import sitemirror


class MirrorLoader(BaseLoader):
    """Loads the sections of mirrors, or their pages. Ids are stable, so that a store can replace what changed."""

    def __init__(self, *folders: str, unit: str = "sections", since: str | None = None, max_tokens: int = 800) -> None:
        self._folders = folders
        self._unit = unit
        self._since = since
        self._max_tokens = max_tokens

    def lazy_load(self) -> Iterator[Document]:
        """Yield documents one after another; removed pages are left out, see `removed_ids`."""
        for record in self._records():
            if record.text is not None:
                yield Document(id=record.id, page_content=record.text, metadata=metadata(record))

    def removed_ids(self) -> Iterator[str]:
        """Yield the ids of pages that were removed since: drop what has one of them as its `page_id`."""
        return (record.id for record in self._records() if record.removed_at is not None)

    def _records(self) -> Iterator[sitemirror.PageRecord | sitemirror.SectionRecord]:
        if self._unit == "pages":
            yield from sitemirror.export(*self._folders, since=self._since)
        else:
            yield from sitemirror.export(
                *self._folders, unit="sections", since=self._since, max_tokens=self._max_tokens
            )


def metadata(record: sitemirror.PageRecord | sitemirror.SectionRecord) -> dict[str, object]:
    """Make what a store keeps beside the text; `source` is what LangChain cites."""
    found: dict[str, object] = {
        "source": record.url,
        "site": record.site,
        "path": record.path,
        "title": record.title,
        "changed_at": record.changed_at,
    }
    if isinstance(record, sitemirror.SectionRecord):
        found |= {"page_id": record.page_id, "headings": list(record.headings), "anchor": record.anchor}
    return found


if __name__ == "__main__":
    for document in MirrorLoader(*sys.argv[1:]).lazy_load():
        print(document.id, document.metadata["source"], len(document.page_content))
