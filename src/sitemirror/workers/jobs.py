"""What is done to a page's bytes, apart from where: pure functions, so that any process can do them.

A job and its result cross to another process as JSON and one body of bytes: whatever a hostile page makes of a worker,
reading its answer is safe.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import orjson

from sitemirror.choices import Content
from sitemirror.convert.anchors import pack_fragments
from sitemirror.convert.document import parse
from sitemirror.convert.frontmatter import with_front_matter
from sitemirror.convert.localize import localize_html
from sitemirror.convert.localize_css import localize_css
from sitemirror.convert.page import convert_document, convert_text, describe_document
from sitemirror.convert.page_meta import read_page_meta
from sitemirror.discover.found import Found, LinkKind, PageLinks, Refused
from sitemirror.discover.links import page_links, tree_links
from sitemirror.discover.stylesheet import css_links
from sitemirror.frontier.traps import without_session

Message = tuple[bytes, bytes]
"""JSON, and the bytes that go with it."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a run wants to know of its pages."""

    content: Content = Content.AUTO
    front_matter: bool = True
    markdown: bool = True
    links: bool = False
    meta: bool = False
    anchors: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """An answer's body, and what reading it takes."""

    body: bytes
    url: str
    charset: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page's bytes came to."""

    digest: bytes = b""  # 16 bytes that equal pages have in common; empty for what is no page
    title: str | None = None
    canonical: str | None = None
    refresh: str | None = None  # where a page that is nothing but an immediate meta refresh points
    markdown: bytes | None = None  # the whole file
    links: PageLinks | None = None
    meta: str | None = None  # JSON
    anchors: str | None = None  # which heading of the Markdown each id of the page leads to, packed


def read_html(source: Source, wishes: Wishes) -> Reading:
    """Everything that is wanted of an HTML page, from one parse."""
    body, url, charset = source.body, source.url, source.charset
    document = parse(body, url=url, charset=charset)
    meta = orjson.dumps(read_page_meta(document)).decode() if wishes.meta else None
    links = None
    if wishes.links:
        # Converting looks into shadow roots, following links beside them: not in one tree.
        apart = b"shadowrootmode" in body
        links = page_links(body, url=url, charset=charset) if apart else tree_links(document.tree, url=url)
    if not wishes.markdown:
        page = describe_document(document)
        return Reading(_digest(body), page.title, page.canonical, page.refresh, links=links, meta=meta)
    page = convert_document(document, body, content=wishes.content, charset=charset)
    markdown = page.markdown.encode("utf-8", "replace")
    digest = _digest(markdown)
    if wishes.front_matter:
        markdown = with_front_matter(page).encode("utf-8", "replace")
    anchors = pack_fragments(body, url=url, charset=charset, content=wishes.content) if wishes.anchors else None
    return Reading(digest, page.title, page.canonical, page.refresh, markdown, links, meta, anchors)


def read_text(source: Source, _: Wishes) -> Reading:
    """A page of plain text or Markdown."""
    page = convert_text(source.body, url=source.url, charset=source.charset)
    markdown = page.markdown.encode("utf-8", "replace")
    return Reading(_digest(markdown), page.title, markdown=markdown)


def read_css(source: Source, _: Wishes) -> Reading:
    """What a style sheet needs."""
    return Reading(links=css_links(source.body, url=source.url, charset=source.charset))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


READERS: Final[dict[str, Callable[[Source, Wishes], Reading]]] = {
    "html": read_html,
    "text": read_text,
    "css": read_css,
}


def localize(source: Source, *, css: bool, targets: dict[str, str]) -> bytes:
    """A saved file with its links made local: `targets` says what becomes of a URL; those it does not name stay."""
    rewrite = localize_css if css else localize_html

    def target(url: str) -> str:
        return targets.get(without_session(url), url)

    return rewrite(source.body, url=source.url, charset=source.charset, target=target)


# --- across processes ----------------------------------------------------------------------------------------------


def reading_wanted(kind: str, source: Source, wishes: Wishes) -> Message:
    """A job that reads a page."""
    options = (wishes.content.value, wishes.front_matter, wishes.markdown, wishes.links, wishes.meta, wishes.anchors)
    return orjson.dumps((kind, source.url, source.charset, options)), source.body


def localizing_wanted(source: Source, *, css: bool, targets: dict[str, str]) -> Message:
    """A job that makes links local."""
    return orjson.dumps(("localize", source.url, source.charset, (css, targets))), source.body


def do(job: Message) -> Message:
    """Does a job that came from another process. Whatever goes wrong is an answer, too."""
    try:
        kind, url, charset, options = orjson.loads(job[0])
        source = Source(job[1], url, charset)
        if kind == "localize":
            css, targets = options
            return b"[]", localize(source, css=css, targets=targets)
        content, *rest = options
        return _pack(READERS[kind](source, Wishes(Content(content), *rest)))
    except Exception as error:
        return _dump({"error": f"{type(error).__name__}: {error}"}), b""


def _pack(reading: Reading) -> Message:
    links = reading.links
    packed = None
    if links is not None:
        packed = (
            [(one.url, one.kind.value, one.requisite, one.attribute, one.nofollow) for one in links.found],
            [(one.text, one.reason) for one in links.refused],
            links.nofollow,
        )
    told = (
        reading.digest.hex(),
        reading.title,
        reading.canonical,
        reading.refresh,
        reading.markdown is not None,
        packed,
        reading.meta,
        reading.anchors,
    )
    return _dump(told), reading.markdown or b""


def _dump(told: object) -> bytes:
    try:
        return orjson.dumps(told)
    except TypeError:  # half of a surrogate pair, which no file can hold either
        return json.dumps(told).encode()


def error_in(answer: Message) -> str:
    """Why a job could not be done; empty if it was."""
    if not answer[0].startswith(b"{"):
        return ""
    return str(json.loads(answer[0])["error"])


_KINDS: Final = {kind.value: kind for kind in LinkKind}


def reading_from(answer: Message) -> Reading:
    """The reading that another process sent."""
    told, body = answer
    try:
        fields = orjson.loads(told)
    except ValueError:
        fields = json.loads(told)
    digest, title, canonical, refresh, has_markdown, links, meta, anchors = fields
    if links is not None:
        found, refused, nofollow = links
        links = PageLinks(
            tuple(Found(url, _KINDS[kind], *rest) for url, kind, *rest in found),
            tuple(Refused(*one) for one in refused),
            nofollow,
        )
    markdown = body if has_markdown else None
    return Reading(bytes.fromhex(digest), title, canonical, refresh, markdown, links, meta, anchors)
