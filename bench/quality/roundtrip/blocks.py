"""What a Markdown text is made of, as units that can be counted: headings, paragraphs, items, code, cells, links …

Both sides are read by the same code, so that only what differs on the page counts. Text is compared without its inline
markup, typographic quotes and line ends; what the markup says (code spans, emphasis, links, pictures) is counted too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from markdown_it.tree import SyntaxTreeNode

from bench.quality.roundtrip import grammar


class Kind(StrEnum):
    """What a unit is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "list item"
    TASK = "task"
    CODE = "code"
    CELL = "cell"
    ADMONITION = "admonition"
    TITLE = "admonition title"
    TAB = "tab"
    SUMMARY = "summary"
    FOOTNOTE = "footnote"
    TERM = "term"
    DEFINITION = "definition"
    FORMULA = "formula"
    IMAGE = "image"
    CAPTION = "caption"
    SIGNATURE = "signature"
    LINK = "link"
    SPAN = "code span"
    EMPHASIS = "emphasis"
    KEY = "key"
    HTML = "raw HTML"


_HASH: Final = re.compile(r"-[0-9a-f]{32}(?=\.\w+$)")


@dataclass(frozen=True, slots=True)
class Unit:
    """One of them. `detail` is a heading's level, code's language, a link's target and the like."""

    kind: Kind
    text: str
    detail: str = ""


Target = Callable[[str], str]  # a link's destination in a spelling that both sides share

# GitHub knows five kinds of alert; generators have more names for the same.
_KINDS: Final = {
    "note": ("note", "info", "seealso", "see also", "abstract", "summary", "todo", "example", "question", "quote"),
    "tip": ("tip", "hint", "success"),
    "important": ("important",),
    "warning": ("warning", "attention"),
    "caution": ("caution", "danger", "error", "bug", "failure"),
}
ADMONITIONS: Final = {name: kind for kind, names in _KINDS.items() for name in names}
_LANGUAGES: Final = {
    "py": "python", "python3": "python", "ipython3": "python", "js": "javascript", "ts": "typescript", "rs": "rust",
    "sh": "bash", "shell": "bash", "shell-session": "console", "shellsession": "console", "bash-session": "console",
    "yml": "yaml", "ps1": "powershell", "text": "", "plaintext": "", "plain": "", "txt": "", "default": "", "none": "",
}  # fmt: skip
_TYPOGRAPHIC: Final = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "...", "\xa0": " ", "\u202f": " "}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\xad\ufe0f")
)
_DASHES: Final = re.compile("-{2,3}")
_ALERT: Final = re.compile(r"\[!(\w+)\][+-]?[ \t]*")
_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n---\n", re.S)
_TASK: Final = re.compile(r"\[([ xX])\]\s+")
_FOOTNOTE_MARK: Final = re.compile(r"\[?(?:\d{1,3}|[*†‡])\]?")
_SUMMARY: Final = re.compile(r"<summary[^>]*>(.*?)</summary>", re.S | re.I)
_TAG: Final = re.compile(r"<[^>]*>")
_SINGLE: Final = re.compile(r"([_^])\{(\w)\}")
_FRONT_MARK: Final = re.compile(r"^[:*\s]+|[:\s]+$")


def normal(text: str) -> str:
    """`text` as it is compared."""
    text = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHIC)
    return " ".join(_DASHES.sub("-", text).split())


def units_of(markdown: str, target: Target = str) -> list[Unit]:
    """The units of a Markdown text that anybody wrote; front matter is left out."""
    return _Reader(target).read(grammar.read(_FRONT_MATTER.sub("", markdown)))


def units_of_source(markdown: str, target: Target = str) -> list[Unit]:
    """The units of one of our sources."""
    return _Reader(target).read(grammar.read_source(markdown))


class _Reader:
    def __init__(self, target: Target) -> None:
        self._target = target
        self._units: list[Unit] = []
        self._lists: list[str] = []
        self._quotes = 0

    def read(self, tree: SyntaxTreeNode) -> list[Unit]:
        self._all(tree.children)
        return self._units

    def _all(self, nodes: Sequence[SyntaxTreeNode]) -> None:
        for node in nodes:
            self._block(node)

    def _add(self, kind: Kind, text: str, detail: str = "") -> None:
        if text or kind is Kind.CODE:
            self._units.append(Unit(kind, text, detail))

    def _block(self, node: SyntaxTreeNode) -> None:
        match node.type:
            case "heading":
                self._text(Kind.HEADING, node, node.tag[1:])
            case "paragraph":
                self._text(Kind.PARAGRAPH, node, ">" * self._quotes)
            case "bullet_list" | "ordered_list":
                self._list(node)
            case "blockquote":
                self._quote(node)
            case "fence" | "code_block":
                self._code(node)
            case "th" | "td":
                self._text(Kind.CELL, node, "head" if node.type == "th" else "")
            case "formula_block":
                self._add(Kind.FORMULA, _formula(node.content))
            case "footnote":
                self._text(Kind.FOOTNOTE, node)
            case "html_block":
                self._html(node.content)
            case "container":
                self._container(node)
            case _:
                self._all(node.children)

    def _list(self, node: SyntaxTreeNode) -> None:
        number = int(node.attrs.get("start") or 1)
        for item in node.children:
            self._lists.append(f"{number}." if node.type == "ordered_list" else "-")
            self._item(item)
            self._lists.pop()
            number += 1

    def _item(self, item: SyntaxTreeNode) -> None:
        rest = item.children
        if rest and rest[0].type == "paragraph":
            where = f"{len(self._lists)} {self._lists[-1]}"
            self._text(Kind.ITEM, rest[0], where)
            rest = rest[1:]
        self._all(rest)

    def _quote(self, node: SyntaxTreeNode) -> None:
        first = node.children[0] if node.children else None
        alert = _ALERT.match(first.children[0].content) if first is not None and first.type == "paragraph" else None
        if first is None or alert is None:
            self._quotes += 1
            self._all(node.children)
            self._quotes -= 1
            return
        kind = ADMONITIONS.get(alert[1].lower(), alert[1].lower())
        self._add(Kind.ADMONITION, kind)
        title, _, body = first.children[0].content[alert.end() :].partition("\n")
        quotes, self._quotes = self._quotes, 0
        for part in [*grammar.read(title).children, *grammar.read(body).children, *node.children[1:]]:
            if part.type != "paragraph":
                self._block(part)
            elif title or _is_strong(part):
                if normal(_plain(part.children[0])).casefold().strip(":") not in ADMONITIONS:
                    self._text(Kind.TITLE, part)
                title = ""
            else:
                self._block(part)
        self._quotes = quotes

    def _code(self, node: SyntaxTreeNode) -> None:
        language = node.info.split()[0].strip("{}.").lower() if node.info.strip() else ""
        if language == "math":
            self._add(Kind.FORMULA, _formula(node.content))
            return
        lines = [line.rstrip() for line in node.content.expandtabs(4).strip("\n").split("\n")]
        self._add(Kind.CODE, "\n".join(lines), _LANGUAGES.get(language, language))

    def _html(self, html: str) -> None:
        for summary in _SUMMARY.findall(html):
            self._add(Kind.SUMMARY, normal(_plain(*grammar.read(_TAG.sub("", summary)).children)))
        self._quotes = max(0, self._quotes + html.count("<blockquote") - html.count("</blockquote"))
        self._add(Kind.HTML, normal(_TAG.sub(" ", _SUMMARY.sub("", html))))

    def _container(self, node: SyntaxTreeNode) -> None:
        label = str(node.meta.get("label", ""))
        match node.info:
            case "tab":
                self._add(Kind.TAB, normal(label))
            case "details":
                self._add(Kind.SUMMARY, normal(label))
            case "function":
                self._add(Kind.SIGNATURE, normal(label))
            case "figure":
                source, _, alt = label.partition(" ")
                self._add(Kind.IMAGE, normal(alt), _name(source))
                self._text(Kind.CAPTION, node.children[0])
                return
            case "definitions":
                for item in node.children[0].children:
                    self._text(Kind.TERM, item.children[0])
                    for definition in item.children[1].children:
                        self._text(Kind.DEFINITION, definition.children[0])
                        self._all(definition.children[1:])
                return
        self._all(node.children)

    # What is in a line

    def _text(self, kind: Kind, node: SyntaxTreeNode, detail: str = "") -> None:
        """The unit of a block of text, and those of its markup."""
        inline = node.children[0] if node.children else None
        if inline is None:
            return
        text = normal(_plain(inline))
        if kind is Kind.ITEM and (task := _TASK.match(text)):
            self._add(Kind.TASK, text[task.end() :], "open" if task[1] == " " else "done")
            text = text[task.end() :]
        alone = [child for child in inline.children if child.type != "text" or child.content.strip()]
        if kind is Kind.PARAGRAPH and len(alone) == 1 and alone[0].type == "formula":
            self._add(Kind.FORMULA, _formula(alone[0].content))
            return
        self._add(kind, text, detail)
        self._marks(inline)

    def _marks(self, node: SyntaxTreeNode) -> None:
        for child in node.children:
            match child.type:
                case "link":
                    words = normal(_plain(child)) or "".join(normal(_alt(one)) for one in child.children)
                    if not _is_footnote_mark(child):
                        self._add(Kind.LINK, words, self._target(str(child.attrs["href"])))
                case "image":
                    self._add(Kind.IMAGE, normal(_alt(child)), _name(str(child.attrs["src"])))
                case "code_inline":
                    self._add(Kind.SPAN, normal(child.content))
                case "em" | "strong" | "s":
                    self._add(Kind.EMPHASIS, normal(_plain(child)), child.type)
                case "html_inline" if child.content.lower().startswith("<kbd"):
                    after = child.next_sibling
                    self._add(Kind.KEY, normal(_plain(after)) if after is not None else "")
            self._marks(child)


def _plain(*nodes: SyntaxTreeNode) -> str:
    """The text that is read."""
    said = []
    for node in nodes:
        match node.type:
            case "text" | "code_inline" | "text_special":
                said.append(node.content)
            case "softbreak" | "hardbreak":
                said.append(" ")
            case "formula":
                said.append(f"${_formula(node.content)}$")
            case "html_inline":
                tag = node.content.lower()
                said.append(" " if tag.startswith("<br") else " - " if tag.startswith("<li") else "")
            case "image" | "footnote_reference":
                pass
            case "link" if _is_footnote_mark(node):
                pass
            case _:
                said.append(_plain(*node.children))
    return "".join(said)


def _alt(node: SyntaxTreeNode) -> str:
    return _plain(*node.children) if node.type == "image" else ""


def _formula(tex: str) -> str:
    """TeX without what says nothing: blanks, and braces around one character."""
    return _SINGLE.sub(r"\1\2", "".join(tex.split()))


def _name(source: str) -> str:
    """The last part of a picture's address, without what a generator adds to tell versions apart."""
    return _HASH.sub("", source.partition("?")[0].rstrip("/").rpartition("/")[2])


def _is_footnote_mark(link: SyntaxTreeNode) -> bool:
    href = str(link.attrs.get("href", ""))
    words = "".join(_plain(child) for child in link.children).strip()
    return "#" in href and (_FOOTNOTE_MARK.fullmatch(words) is not None or words in ("↩", "↩︎", "^", "↑"))


def _is_strong(paragraph: SyntaxTreeNode) -> bool:
    inside = [child for child in paragraph.children[0].children if child.type != "text" or child.content.strip()]
    return len(inside) == 1 and inside[0].type == "strong"


def bare(text: str) -> str:
    """`text` without the marks that set labels apart."""
    return _FRONT_MARK.sub("", text)
