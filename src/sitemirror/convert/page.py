"""Convert a page from bytes to Markdown: the order of the steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from turbohtml import Element, Text

from sitemirror.convert.content.choose import (
    choose_content,
    count_hidden_texts,
    drop_chrome,
    drop_css_hidden,
    drop_hidden,
    drop_unrendered,
)
from sitemirror.convert.document import Document, decode_text, parse_html
from sitemirror.convert.elements.inline import STYLED, convert_text_styles, limit_breaks
from sitemirror.convert.elements.links import clean_links, collect_links, make_links_absolute
from sitemirror.convert.elements.rules import convert_elements
from sitemirror.convert.elements.tables import make_rectangular
from sitemirror.convert.generators import Vocabulary, recognise_generators, vocabulary
from sitemirror.convert.hidden.characters import one_line, strip_invisible
from sitemirror.convert.hidden.css import HidingRule, hiding_rules
from sitemirror.convert.metadata.fields import (
    Metadata,
    add_neighbours,
    declared_refresh,
    read_metadata,
    refresh_target,
)
from sitemirror.convert.render.renderer import render
from sitemirror.errors import UsageError, wrong_type
from sitemirror.links.resolve import Resolver
from sitemirror.model import Link, Page
from sitemirror.settings import Content

_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_ATX: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_SETEXT: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_MANY_BREAKS: Final = 2000
_LINES_WITH_A_TITLE: Final = 200


def convert_html(
    html: bytes | str, *, url: str, content: Content | str = Content.AUTO, charset: str | None = None
) -> Page:
    """Convert an HTML page; no page content makes it raise.

    `charset` is the one in the Content-Type header. Raises `UsageError` for arguments of the wrong type.
    """
    chosen = _check_arguments(html, url, content, charset)
    document = parse_html(html, url=url, charset=charset)
    body = document.body
    links: tuple[Link, ...] = ()
    urls = Resolver(document.base, document.tree.encoding)
    rules = hiding_rules(document)
    if body is not None:
        drop_unrendered(document)
        links = collect_links(body, urls)
    return _convert(document, body, html, chosen, charset, urls, links, rules)


def _check_arguments(html: object, url: object, content: Content | str, charset: object) -> Content:
    if not isinstance(html, str | bytes | bytearray | memoryview):
        raise wrong_type("html", html, "bytes or text", hint="pass the page, not its name")
    for name, value in (("url", url), ("charset", charset or "")):
        if not isinstance(value, str):
            raise wrong_type(name, value, "text", hint="use an empty string if it is unknown")
    try:
        return Content(content)
    except ValueError:
        names = ", ".join(Content)
        raise UsageError(f"content must be one of {names}, got {content!r}", hint="auto is the default") from None


def convert_document(document: Document, html: bytes | str, *, content: Content, charset: str | None = None) -> Page:
    """Convert a parsed page, modifying its tree; `html` is the source it was parsed from.

    Collect the page's links before, since most of them are not part of its content.
    """
    body = document.body
    rules = hiding_rules(document)
    if body is not None:
        drop_unrendered(document)
    return _convert(document, body, html, content, charset, Resolver(document.base, document.tree.encoding), (), rules)


def _convert(
    document: Document,
    body: Element | None,
    html: bytes | str,
    content: Content,
    charset: str | None,
    urls: Resolver,
    links: tuple[Link, ...],
    rules: Sequence[HidingRule],
) -> Page:
    metadata = read_metadata(document)
    if body is None:
        return _frameset(document, metadata)
    if document.breaks > _MANY_BREAKS:
        limit_breaks(body)
    generators = recognise_generators(metadata.signature, body)
    metadata = add_neighbours(metadata, document, generators)
    refresh = refresh_target(document)
    title = metadata.title or _heading(body, urls)
    cut, css_hidden = drop_chrome(body, document.chrome, rules)
    names = vocabulary(generators)
    chosen = choose_content(body, content, generators, document)
    drop_css_hidden(css_hidden, cut)
    hidden_texts = count_hidden_texts(cut)
    markdown, invisible = _markdown(chosen, urls, names)
    if not markdown:
        # A page of navigation alone, or a nav that was never closed: keep it all rather than nothing.
        if hidden_texts:
            again = parse_html(html, url=document.url, charset=charset)
            markdown, invisible = _whole_body(again, urls, names, without_hidden=True)
        if not markdown:
            again = parse_html(html, url=document.url, charset=charset)
            markdown, invisible = _whole_body(again, urls, names, without_hidden=False)
    markdown = _mark_leading_rule(_drop_repeated_title(markdown))
    return _page(document, metadata, title, markdown, links, refresh, hidden_texts + invisible)


def _mark_leading_rule(markdown: str) -> str:
    """Write a leading rule with stars; with dashes it would be read as front matter."""
    return f"***\n{markdown[4:]}" if markdown.startswith("---\n") else markdown


def _drop_repeated_title(markdown: str) -> str:
    """Drop the second of two equal titles, with which Texinfo manuals begin."""
    title = markdown[: markdown.find("\n\n") + 2]
    return markdown[len(title) :] if title.startswith("# ") and markdown.startswith(title, len(title)) else markdown


def describe_document(document: Document) -> Page:
    """Read everything but the Markdown of a parsed page; may remove scripts from the tree."""
    metadata = read_metadata(document)
    body = document.body
    title = metadata.title
    if title is None and body is not None:
        title = _heading(body, Resolver(document.base, document.tree.encoding))
    refresh = None
    if declared_refresh(document) is not None:
        if body is not None:
            drop_unrendered(document)
        refresh = refresh_target(document)
    return _page(document, metadata, title, "", (), refresh)


def _heading(body: Element, urls: Resolver) -> str | None:
    """The first heading, as the title of a page without one."""
    heading = body.find("h1")
    if heading is None:
        return None
    clean_links(heading, urls)
    return one_line(heading.text)


def convert_text(body: bytes, *, url: str, charset: str | None = None) -> Page:
    """Keep a plain text or Markdown page as it is, in UTF-8 with LF line ends."""
    text, invisible = strip_invisible(decode_text(body, charset))
    text = text.rstrip("\n")
    return Page(url=url, markdown=text + "\n" if text else "", title=_first_heading(text), hidden_texts=invisible)


def _markdown(elements: Sequence[Element], urls: Resolver, names: Vocabulary) -> tuple[str, int]:
    """Convert the chosen elements to Markdown; also returns the number of invisible texts removed."""
    for element in elements:
        clean_links(element, urls)
        make_links_absolute(element, urls)
        convert_elements(element, urls, names)
    text, invisible = render(elements)
    if "<table" in text:
        # A table with rows of unequal length became HTML; checking every row beforehand is slower.
        for element in elements:
            for table in element.iter_elements("table", include_self=True):
                make_rectangular(table)
        text, more = render(elements)
        invisible += more
    return text, invisible


def _whole_body(document: Document, urls: Resolver, names: Vocabulary, *, without_hidden: bool) -> tuple[str, int]:
    body = document.body
    if body is None:
        return "", 0
    rules = hiding_rules(document) if without_hidden else ()
    drop_unrendered(document)
    if without_hidden:
        drop_hidden(body, rules)
    if document.breaks > _MANY_BREAKS:
        limit_breaks(body)
    convert_text_styles(body.select(STYLED))
    return _markdown([body], urls, names)


def _frameset(document: Document, metadata: Metadata) -> Page:
    """Convert a frameset to a list of links to its frames."""
    urls = Resolver(document.base, document.tree.encoding)
    found: dict[str, str] = {}
    for frame in document.tree.find_all("frame", src=True):
        target = urls[frame.attr("src") or ""]
        if target is not None and target.startswith("http"):
            found.setdefault(target.partition("#")[0], one_line(frame.attr("title") or frame.attr("name") or "") or "")
    items = [Element("li", None, [Element("a", {"href": url}, [Text(name or url)])]) for url, name in found.items()]
    frames = Element("ul", None, items)
    body = Element("body")
    body.append(frames)
    markdown, _ = _markdown([frames], urls, vocabulary()) if items else ("", 0)
    links = tuple(Link(url, name) for url, name in found.items())
    return _page(document, metadata, metadata.title, markdown, links, refresh_target(document))


def _page(
    document: Document,
    metadata: Metadata,
    title: str | None,
    markdown: str,
    links: tuple[Link, ...],
    refresh: str | None,
    hidden_texts: int = 0,
) -> Page:
    fields = metadata.fields
    if metadata.canonical is not None and metadata.canonical != document.url:
        fields = {**fields, "canonical": metadata.canonical}
    return Page(
        url=document.url,
        markdown=markdown,
        title=title,
        metadata=fields,
        links=links,
        canonical=metadata.canonical,
        refresh=refresh,
        hidden_texts=hidden_texts,
    )


def _first_heading(text: str) -> str | None:
    """The first heading of a Markdown text, outside of fenced code."""
    fence = before = ""
    for line in text.split("\n", _LINES_WITH_A_TITLE)[:_LINES_WITH_A_TITLE]:
        if found := _FENCE.match(line):
            fence = "" if fence and found[1].startswith(fence) else fence or found[1]
        elif not fence and (heading := _ATX.fullmatch(line)) and (title := one_line(heading[1])):
            return title
        elif not fence and before and _SETEXT.fullmatch(line):
            return one_line(before)
        before = line.strip()
    return None
