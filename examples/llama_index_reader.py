"""Reads mirrors into LlamaIndex: a node for each section, with links between neighbours. Copy it into your project.

pip install sitemirror llama-index-core
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document, NodeRelationship, TextNode

import sitemirror


class MirrorReader(BaseReader):
    """Reads the pages of mirrors. Ids are stable, so that an index can be refreshed with what changed."""

    def lazy_load_data(self, *folders: str, since: str | None = None, **_: Any) -> Iterable[Document]:
        """Yield a document for each page."""
        for page in sitemirror.export(*folders, since=since):
            if page.text is not None:
                yield Document(
                    id_=page.id,
                    text=page.text,
                    metadata={"url": page.url, "site": page.site, "title": page.title, "changed_at": page.changed_at},
                    excluded_embed_metadata_keys=["changed_at"],
                    excluded_llm_metadata_keys=["changed_at"],
                )


def section_nodes(*folders: str, since: str | None = None, max_tokens: int = 800) -> list[TextNode]:
    """Return a node for each section, already cut: give them to an index without a splitter."""
    nodes: list[TextNode] = []
    before: tuple[str, TextNode] | None = None
    for section in sitemirror.export(*folders, unit="sections", since=since, max_tokens=max_tokens):
        if section.text is None:
            continue
        headings = " > ".join(section.headings)
        node = TextNode(id_=section.id, text=section.text, metadata={"url": section.url, "headings": headings})
        if before is not None and before[0] == section.page_id:
            node.relationships[NodeRelationship.PREVIOUS] = before[1].as_related_node_info()
            before[1].relationships[NodeRelationship.NEXT] = node.as_related_node_info()
        nodes.append(node)
        before = section.page_id, node
    return nodes


if __name__ == "__main__":
    for document in MirrorReader().lazy_load_data(*sys.argv[1:]):
        print(document.id_, document.metadata["url"], len(document.text))
