"""Compares Markdown by what it says: rendered to HTML, parsed, and reduced to a tree without layout."""

from __future__ import annotations

from typing import Final

from markdown_it import MarkdownIt
from turbohtml import Element, Text, parse

Tree = tuple[object, ...]

_BLOCKS: Final = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr", "br", "div")
)
_KEPT: Final = {"a": ("href", "title"), "img": ("src", "alt", "title"), "ol": ("start",), "code": ("class",)}

_RENDERER: Final = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def to_html(markdown: str) -> str:
    """What a CommonMark renderer makes of `markdown`, raw HTML included."""
    return str(_RENDERER.render(markdown))


def tree(html: str) -> Tree:
    """The body of `html` as nested tuples: tags, the attributes that matter, text with blanks collapsed."""
    body = parse(html).find("body")
    assert body is not None
    return _children(body, verbatim=False)


def _children(element: Element, *, verbatim: bool) -> Tree:
    items: list[object] = []
    for child in element:
        if isinstance(child, Text):
            text = child.data if verbatim else _collapse(child.data)
            if items and isinstance(items[-1], str):
                items[-1] = items[-1] + text if verbatim else _collapse(items[-1] + text)
            else:
                items.append(text)
        elif isinstance(child, Element):
            for item in _element(child, verbatim=verbatim):
                if isinstance(item, str) and items and isinstance(items[-1], str):
                    items[-1] += item
                else:
                    items.append(item)
    return tuple(_trimmed(items)) if not verbatim else tuple(items)


def _element(element: Element, *, verbatim: bool) -> list[object]:
    tag = {"b": "strong", "i": "em", "s": "del"}.get(element.tag, element.tag)
    children = _children(element, verbatim=verbatim or tag == "pre")
    if tag in ("div", "span"):
        return list(children)
    if tag == "input":
        return ["[x]" if element.attr("checked") is not None else "[ ]"]
    # A tight and a loose list differ in their paragraphs only.
    if tag in ("li", "blockquote"):
        children = tuple(
            item
            for child in children
            for item in (child[2:] if tag == "li" and isinstance(child, tuple) and child[0] == "p" else (child,))
        )
    attributes = tuple(element.attr(name) or "" for name in _KEPT.get(tag, ()))
    if tag == "pre":
        children = tuple(_code(children))
    return [(tag, attributes, *children)]


def _code(children: Tree) -> list[object]:
    """A code block's end of line belongs to the fence."""
    if len(children) == 1 and isinstance(children[0], tuple) and children[0][0] == "code":
        code = children[0]
        return [(*code[:2], *(item.strip("\n") if isinstance(item, str) else item for item in code[2:]))]
    return [item.strip("\n") if isinstance(item, str) else item for item in children]


def _collapse(text: str) -> str:
    words = " ".join(text.replace("\xa0", "\ue000").split())
    if not words:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}".replace("\ue000", "\xa0")


def _trimmed(items: list[object]) -> list[object]:
    """Blanks beside a block, and at either end, are not seen."""
    kept: list[object] = []
    for index, item in enumerate(items):
        if isinstance(item, str):
            if index == 0 or _is_block(items[index - 1]):
                item = item.lstrip(" ")
            if index == len(items) - 1 or _is_block(items[index + 1]):
                item = item.rstrip(" ")
            if not item:
                continue
        kept.append(item)
    return kept


def _is_block(item: object) -> bool:
    return isinstance(item, tuple) and item[0] in (*_BLOCKS, "table", "thead", "tbody", "tr", "th", "td")
