"""Writes a source's tree as AsciiDoc, which shares nothing with Markdown but the idea."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.tree import SyntaxTreeNode

from bench.quality.roundtrip.dialects import alert_of, label_of
from bench.quality.roundtrip.grammar import read

# What AsciiDoc would read as markup, in text that means itself.
_SPECIAL: Final = re.compile(r"[*_`#+^~{}\[\]<>\\|&]|\.{3}|--|'|\(C\)|\"")
_SETTINGS: Final = """\
:toc: left
:experimental:
:stem: latexmath
:idprefix:
:idseparator: -
:sectanchors:
:icons: font
:figure-caption!:
"""
_MARK: Final = re.compile(r"\A\d+\.")
_TASK: Final = re.compile(r"\[([ xX])\] ")


class AsciiDoc:
    """Asciidoctor's language."""

    def page(self, tree: SyntaxTreeNode) -> str:
        """The page's source in this language."""
        self._footnotes = {
            str(node.meta["label"]): self.inline(node.children[0]) for node in tree.children if node.type == "footnote"
        }
        head, *rest = tree.children
        return f"= {self.inline(head.children[0])}\n{_SETTINGS}\n{self.blocks(rest)}\n"

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> str:
        return "\n\n".join(filter(None, map(self.block, nodes)))

    def block(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "heading":
                return f"{'=' * len(node.markup)} {self.inline(node.children[0])}"
            case "paragraph":
                # What looks like the mark of an item must not begin the line.
                return _MARK.sub(r"{empty}\g<0>", self.inline(node.children[0]), count=1)
            case "bullet_list" | "ordered_list":
                return self.listing(node, 1)
            case "fence":
                return f"[source,{node.info}]\n----\n{node.content.rstrip()}\n----"
            case "table":
                return self.table(node)
            case "hr":
                return "'''"
            case "formula_block":
                return f"[stem]\n++++\n{node.content}\n++++"
            case "footnote":
                return ""
            case "blockquote":
                return self.quote(node)
            case "container":
                return self.container(node)
        raise ValueError(f"sources have no {node.type}")

    def quote(self, node: SyntaxTreeNode, level: int = 0) -> str:
        found = alert_of(node)
        if found is None:
            fence = "_" * (4 + sum(1 for _ in _quotes_in(node)))
            return f"[quote]\n{fence}\n{self.blocks(node.children)}\n{fence}"
        kind, title, rest = found
        heading = f".{title}\n" if title else ""
        body = f"{self.blocks(read(rest).children)}\n\n{self.blocks(node.children[1:])}".strip()
        return f"[{kind.upper()}]\n{heading}====\n{body}\n===="

    def container(self, node: SyntaxTreeNode) -> str:
        label = label_of(node)
        match node.info:
            case "tabs":
                tabs = "\n\n".join(
                    f"{label_of(tab)}::\n+\n--\n{self.blocks(tab.children)}\n--" for tab in node.children
                )
                return f"[tabs]\n======\n{tabs}\n======"
            case "details":
                return f".{label}\n[%collapsible]\n=====\n{self.blocks(node.children)}\n====="
            case "figure":
                source, _, alt = label.partition(" ")
                return f".{self.blocks(node.children)}\nimage::{source}[{alt}]"
            case "definitions":
                return "\n".join(self._definition(item) for item in node.children[0].children)
            case "function":
                return f"=== `+{label}+`\n\n{self.blocks(node.children)}"
        raise ValueError(f"sources have no {node.info}")

    def _definition(self, item: SyntaxTreeNode) -> str:
        term = self.inline(item.children[0].children[0])
        meanings = "\n+\n".join(self.blocks(one.children) for one in item.children[1].children)
        return f"{term}:: {meanings}"

    def listing(self, node: SyntaxTreeNode, depth: int) -> str:
        mark = ("." if node.type == "ordered_list" else "*") * depth
        lines = [f"[start={node.attrs['start']}]"] if node.attrs.get("start") else []
        for item in node.children:
            first, *rest = item.children
            lines.append(f"{mark} {self.inline(first.children[0])}")
            for child in rest:
                if child.type in ("bullet_list", "ordered_list"):
                    lines.append(self.listing(child, depth + 1))
                else:
                    lines.append(f"+\n{self.block(child)}")
        return "\n".join(lines)

    def table(self, node: SyntaxTreeNode) -> str:
        rows = [row for part in node.children for row in part.children]
        marks = {"text-align:center": "^", "text-align:right": ">"}
        columns = ",".join(marks.get(str(cell.attrs.get("style", "")), "<") for cell in rows[0].children)
        lines = ["\n".join(f"|{self.cell(cell)}" for cell in row.children) for row in rows]
        return f'[%header,cols="{columns}"]\n|===\n' + "\n\n".join(lines) + "\n|==="

    def cell(self, node: SyntaxTreeNode) -> str:
        return self.inline(node.children[0]).replace("|", r"\|") if node.children else ""

    def inline(self, node: SyntaxTreeNode) -> str:
        return "".join(map(self._piece, node.children))

    def _piece(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "text" | "text_special":
                task = _TASK.match(node.content)
                if task is not None and node.previous_sibling is None:
                    return task[0] + _literal(node.content[task.end() :])
                return _literal(node.content)
            case "code_inline":
                return f"`+{node.content}+`"
            case "softbreak":
                return "\n"
            case "hardbreak":
                return " +\n"
            case "formula":
                return f"stem:[{node.content.replace(']', chr(92) + ']')}]"
            case "em":
                return f"__{self.inline(node)}__"
            case "strong":
                return f"**{self.inline(node)}**"
            case "s":
                return f"[.line-through]##{self.inline(node)}##"
            case "image":
                return f"image:{node.attrs['src']}[{self.inline(node)}]"
            case "link":
                return self._link(node)
            case "footnote_reference":
                return f"footnote:[{self._footnotes[str(node.meta['label'])]}]"
            case "html_inline":
                return {"<kbd>": "kbd:[", "</kbd>": "]", "<br>": " +\n"}[node.content]
        raise ValueError(f"sources have no {node.type}")

    def _link(self, node: SyntaxTreeNode) -> str:
        href, words = str(node.attrs["href"]), self.inline(node)
        page, mark, anchor = href.partition("#")
        if "://" not in href and not href.startswith("mailto:"):
            return (
                f"<<{page.replace('.md', '.adoc')}{mark}{anchor},{words}>>"
                if not page
                else (f"xref:{page.replace('.md', '.adoc')}{mark}{anchor}[{words}]")
            )
        if node.children[0].type == "image":
            return f"image:{node.children[0].attrs['src']}[{self.inline(node.children[0])},link={href}]"
        return f"link:++{href}++[{words.replace(']', chr(92) + ']')}]"


def _quotes_in(node: SyntaxTreeNode) -> list[SyntaxTreeNode]:
    return [one for one in node.walk(include_self=False) if one.type == "blockquote"]


def _literal(text: str) -> str:
    return _SPECIAL.sub(_reference, text)


def _reference(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(character)};" for character in found[0])
