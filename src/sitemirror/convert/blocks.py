"""Reads a page's tree as text blocks: the smallest pieces that are kept or cut, with all that speaks for either.

A block is a run of text that no block-level element interrupts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from turbohtml import Element, Node, Text

_LINK: Final = 1 << 0
_FLAGS: Final = {
    "a": _LINK,
    "main": 1 << 1,
    "article": 1 << 2,
    "section": 1 << 3,
    "aside": 1 << 4,
    "nav": 1 << 5,
    "header": 1 << 6,
    "footer": 1 << 7,
    "form": 1 << 8,
    "table": 1 << 9,
    "ul": 1 << 10,
    "ol": 1 << 10,
    "blockquote": 1 << 11,
    "figure": 1 << 12,
    "dl": 1 << 13,
    "details": 1 << 14,
    "dialog": 1 << 15,
    "address": 1 << 16,
    "fieldset": 1 << 8,
    "search": 1 << 8,
    "menu": 1 << 10,
}
_ROLES: Final = {
    "main": _FLAGS["main"],
    "article": _FLAGS["article"],
    "complementary": _FLAGS["aside"],
    "navigation": _FLAGS["nav"],
    "menu": _FLAGS["nav"],
    "menubar": _FLAGS["nav"],
    "banner": _FLAGS["header"],
    "contentinfo": _FLAGS["footer"],
    "search": _FLAGS["form"],
    "dialog": _FLAGS["dialog"],
    "alertdialog": _FLAGS["dialog"],
    "list": _FLAGS["ul"],
}
FLAGS: Final = 17

# What a block's own element is, as a number.
_KINDS: Final = {
    "p": 1, "li": 2, "h1": 3, "h2": 4, "h3": 5, "h4": 6, "h5": 7, "h6": 8, "td": 9, "th": 10, "dt": 11, "dd": 12,
    "pre": 13, "figcaption": 14, "caption": 14, "blockquote": 15, "summary": 16, "button": 17, "label": 18,
    "legend": 18, "option": 19, "a": 20, "div": 21, "section": 22, "article": 23, "header": 24, "footer": 25,
    "main": 26, "nav": 27, "aside": 28, "form": 29, "address": 30, "time": 31, "span": 32, "body": 33,
}  # fmt: skip
_BLOCKS: Final = (
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hgroup", "hr", "label", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "search",
    "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
)  # fmt: skip
_IS_BLOCK: Final = frozenset(_BLOCKS)
_SILENT: Final = frozenset(
    ("script", "style", "template", "noscript", "svg", "iframe", "video", "audio", "canvas", "object")
)
_NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_WORD: Final = re.compile(r"\w+")
_SENTENCE_END: Final = (".", "!", "?", "…", "。", "”", '"', "’")
_SHORT: Final = 10  # words of a block that are looked up


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What words were found to say of the text they name or stand in: 128 says nothing, more says content."""

    names: Mapping[str, int] = field(default_factory=dict)  # words of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # first words of a block, and pairs of them


class Container:
    """A block-level element."""

    __slots__ = ("depth", "element", "end", "flags", "high", "low", "own", "parent", "path", "start", "tag", "words")

    def __init__(self, element: Element, tag: str, parent: Container | None, start: int) -> None:
        self.element = element
        self.tag = tag
        self.parent = parent
        self.start = start
        self.end = start
        self.flags = 0
        self.own = self.low = self.high = 128
        self.depth = 0
        self.path = 0
        self.words: list[str] = []


class Block:
    """One run of text."""

    __slots__ = ("container", "links", "names", "nodes", "text")

    def __init__(self, container: Container, nodes: list[Node], text: str, links: int, names: str) -> None:
        self.container = container
        self.nodes = nodes
        self.text = text
        self.links = links  # characters of it in links
        self.names = names


class Reading:
    """A page's blocks and containers, in order."""

    __slots__ = ("_lexicon", "_named", "blocks", "containers")

    def __init__(self, body: Element, lexicon: Lexicon) -> None:
        self.blocks: list[Block] = []
        self.containers: list[Container] = []
        self._lexicon = lexicon.names
        self._named: dict[str, list[str]] = {}
        root = self._open(body, "body", None)
        self._read(body, root, 0)
        root.end = len(self.blocks)

    def _open(self, element: Element, tag: str, parent: Container | None) -> Container:
        made = Container(element, tag, parent, len(self.blocks))
        flags = _FLAGS.get(tag, 0)
        if (role := element.attr("role")) is not None:
            flags |= _ROLES.get(role, 0)
        cls = element.attr("class") or ""
        if name := element.attr("id"):
            cls = f"{cls} {name}"
        made.path = hash_of(tag, cls)
        if parent is not None:
            flags |= parent.flags
            made.depth = parent.depth + 1
            made.low, made.high = parent.low, parent.high
        made.flags = flags
        if cls:
            words = made.words = self.named(cls)
            if words:
                score = self.judged(words)
                made.own = score
                made.low = min(made.low, score)
                made.high = max(made.high, score)
        self.containers.append(made)
        return made

    def named(self, names: str) -> list[str]:
        found = self._named.get(names)
        if found is None:
            found = self._named[names] = [word.lower() for word in _NAME.findall(names) if len(word) > 1]
        return found

    def judged(self, words: list[str]) -> int:
        """What the words say that differs most from nothing."""
        total = 0
        get = self._lexicon.get
        for word in words:
            total += get(word, 128) - 128
        return max(0, min(255, 128 + total))

    def _read(self, element: Element, here: Container, link: int) -> None:
        texts: list[str] = []
        nodes: list[Node] = []
        linked = 0
        names = ""
        for child in element.children:
            if type(child) is Text:
                texts.append(child.data)
                nodes.append(child)
                continue
            if type(child) is not Element:
                continue
            tag = child.tag
            if tag in _SILENT:
                nodes.append(child)
                continue
            if tag == "br":
                texts.append("\n")
                nodes.append(child)
                continue
            if tag not in _IS_BLOCK:
                before = len(texts)
                found = _inline(child, texts, tag == "a")
                if found >= 0:
                    nodes.append(child)
                    linked += found
                    if not names and len(texts) > before:
                        names = child.attr("class") or tag
                    continue
                del texts[before:]
            if texts:
                self._close(here, nodes, texts, linked, link, names)
                texts, nodes, linked, names = [], [], 0, ""
            elif nodes:
                nodes = []
            inside = self._open(child, tag, here)
            self._read(child, inside, link or tag == "a")
            inside.end = len(self.blocks)
        if texts:
            self._close(here, nodes, texts, linked, link, names)

    def _close(self, here: Container, nodes: list[Node], texts: list[str], linked: int, link: int, names: str) -> None:
        text = "".join(texts).strip()
        if text:
            self.blocks.append(Block(here, nodes, text, len(text) if link else linked, names))


def _inline(element: Element, texts: list[str], is_link: bool) -> int:
    """Adds the text of an element and tells how much of it is linked; -1 if there are blocks in it."""
    linked = 0
    for child in element.children:
        if type(child) is Text:
            data = child.data
            texts.append(data)
            if is_link:
                linked += len(data)
        elif type(child) is Element:
            tag = child.tag
            if tag in _IS_BLOCK:
                return -1
            if tag == "br":
                texts.append("\n")
            elif tag not in _SILENT:
                found = _inline(child, texts, is_link or tag == "a")
                if found < 0:
                    return -1
                linked += found
    return linked


def hash_of(tag: str, names: str) -> int:
    return hash((tag, names))
