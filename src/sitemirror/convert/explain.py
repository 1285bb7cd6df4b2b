"""Explain the choice of content: every text block of a page, kept or cut, with the reason.

For `sitemirror convert --explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from turbohtml import Element, Node

from sitemirror.convert.content.blocks import PageBlocks
from sitemirror.convert.content.choose import CutReason, choose_content, drop_chrome, drop_css_hidden, drop_unrendered
from sitemirror.convert.document import parse_html
from sitemirror.convert.elements.controls import is_dropped_control
from sitemirror.convert.generators import recognise_generators, vocabulary
from sitemirror.convert.hidden.css import hiding_rules
from sitemirror.convert.metadata.fields import read_metadata
from sitemirror.settings import Content


@dataclass(frozen=True, slots=True)
class Explained:
    """One block of a page's text, in the order of the page."""

    text: str  # on one line
    tag: str  # of the element that contains it
    is_kept: bool
    reason: str  # in a few words, for people


def explain(
    html: bytes | str, *, url: str, content: Content | str = Content.AUTO, charset: str | None = None
) -> list[Explained]:
    """List the text blocks of a page, kept or cut and why; the same choice as in the conversion."""
    document = parse_html(html, url=url, charset=charset)
    body = document.body
    if body is None:
        return []
    generators = recognise_generators(read_metadata(document).signature, body)
    rules = hiding_rules(document)
    drop_unrendered(document)
    page_blocks = PageBlocks(body)
    blocks = [
        (text, page_blocks.tags[owner]) for text, owner in zip(page_blocks.texts, page_blocks.owners, strict=True)
    ]
    cut_elements, css_hidden = drop_chrome(body, document.chrome, rules)
    kept = choose_content(body, Content(content), generators, document)
    drop_css_hidden(css_hidden, cut_elements)
    cut = dict(cut_elements)
    if noise := vocabulary(generators).noise:
        cut.update((found, CutReason.GENERATED) for element in kept for found in element.select(noise))
    if not any(element.text.strip() for element in kept):
        return [_explained(text, tag, True, "everything: the page is only navigation") for text, tag in blocks]
    explained = []
    for (text, tag), nodes in zip(blocks, page_blocks.nodes, strict=True):
        verdicts = [_verdict(node, cut, kept, lambda name: body.find(attrs={"id": name})) for node in nodes]
        # A permalink sign in a heading does not count against the heading.
        is_kept, reason = next((one for one in verdicts if one[0]), verdicts[0])
        explained.append(_explained(text, tag, is_kept, reason))
    return explained


def _explained(text: str, tag: str, is_kept: bool, reason: str) -> Explained:
    return Explained(" ".join(text.split()), tag, is_kept, reason)


def _verdict(
    node: Node,
    cut: Mapping[Element, CutReason],
    kept: Sequence[Element],
    named: Callable[[str], Element | None],
) -> tuple[bool, str]:
    at: Node | None = node
    while at is not None:
        if isinstance(at, Element):
            if is_dropped_control(at, named):
                return False, CutReason.CONTROL.value
            if at in cut:
                return False, cut[at].value
            if at in kept:
                return True, "the page" if at.tag == "body" else f"in the content: {_name(at)}"
        at = at.parent
    return False, CutReason.OUTSIDE.value


def _name(element: Element) -> str:
    name = element.tag
    if value := element.attr("id"):
        return f"{name}#{value}"
    if value := element.attr("class"):
        return f"{name}.{value.split()[0]}" if value.split() else name
    return name
