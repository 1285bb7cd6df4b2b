"""Parsers of pages. Loaded only where pages are parsed: a run with workers starts without them."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Final

import orjson

from sitemirror.convert.document import decode_text, parse_html
from sitemirror.convert.metadata.summary import describe, read_page_meta
from sitemirror.links.html import page_links, tree_links
from sitemirror.text import count_words, count_words_of_html, is_readable
from sitemirror.workers.jobs import ConvertOptions, PageSource, ParsedPage


def read_html(source: PageSource, options: ConvertOptions) -> ParsedPage:
    """Parse an HTML page once for all that the run needs."""
    body, url, charset = source.body, source.url, source.charset
    document = parse_html(body, url=url, charset=charset)
    text = decode_text(body, document.tree.encoding)
    if not is_readable(text):
        return ParsedPage(is_unreadable=True)
    meta = orjson.dumps(read_page_meta(document, len(body))).decode() if options.meta else None
    links = None
    if options.links:
        # Conversion reads shadow roots as content, link extraction as separate trees.
        apart = b"shadowrootmode" in body
        links = page_links(body, url=url, charset=charset) if apart else tree_links(document.tree, url=url)
    if not options.markdown:
        says = describe(document)
        return ParsedPage(
            _digest(body),
            says.title,
            says.canonical,
            says.refresh,
            links=links,
            meta=meta,
            is_wordless=not count_words_of_html(text, 1),
        )
    # A crawl that saves HTML only needs no conversion.
    from sitemirror.convert.metadata.front_matter import front_matter
    from sitemirror.convert.page import convert_document

    page = convert_document(document, body, content=options.content, charset=charset)
    markdown = page.markdown.encode("utf-8", "replace")
    digest = _digest(markdown)
    if options.front_matter:
        before = front_matter(page).encode("utf-8", "replace")
        markdown = b"%b\n%b" % (before, markdown) if markdown else before
    anchors = None
    if options.anchors:
        from sitemirror.convert.anchors import pack_fragments  # Only for --links local.

        anchors = pack_fragments(body, url=url, charset=charset, content=options.content)
    return ParsedPage(
        digest,
        page.title,
        page.canonical,
        page.refresh,
        markdown,
        links,
        meta,
        anchors,
        page.hidden_texts,
        is_wordless=not count_words(page.markdown, 1),
    )


def read_text(source: PageSource, _: ConvertOptions) -> ParsedPage:
    """Read a page of plain text or Markdown."""
    from sitemirror.convert.page import convert_text  # Loaded with the first page.

    if not is_readable(decode_text(source.body, source.charset)):
        return ParsedPage(is_unreadable=True)
    page = convert_text(source.body, url=source.url, charset=source.charset)
    markdown = page.markdown.encode("utf-8", "replace")
    return ParsedPage(
        _digest(markdown),
        page.title,
        markdown=markdown,
        hidden_texts=page.hidden_texts,
        is_wordless=not count_words(page.markdown, 1),
    )


def read_css(source: PageSource, _: ConvertOptions) -> ParsedPage:
    """Find the URLs of a style sheet."""
    from sitemirror.links.css import css_links  # Most pages are parsed before the first style sheet.

    return ParsedPage(links=css_links(source.body, url=source.url, charset=source.charset))


def read_svg(source: PageSource, _: ConvertOptions) -> ParsedPage:
    """Find the URLs of a drawing: diagrams of manuals link to their pages."""
    return ParsedPage(links=page_links(source.body, url=source.url, charset=source.charset))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


READERS: Final[dict[str, Callable[[PageSource, ConvertOptions], ParsedPage]]] = {
    "html": read_html,
    "text": read_text,
    "css": read_css,
    "svg": read_svg,
}
