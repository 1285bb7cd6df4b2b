"""Writes a source's tree in the Markdown that each generator understands: a template for each thing they differ in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.tree import SyntaxTreeNode

_KEY: Final = re.compile(r"<kbd>(.*?)</kbd>")
_KEYS: Final = re.compile(r"<kbd>\w+</kbd>(?:\+<kbd>\w+</kbd>)*")
_LISTS: Final = ("bullet_list", "ordered_list")
_ALERT: Final = re.compile(r"\[!(\w+)\][ \t]*(.*)")
# What MDX reads as it stands, and what it would take for an expression or an element.
_MDX: Final = re.compile(r"(`+).*?\1|(?<!\\)\$.*?\$|</?kbd>|<br>|<(\w+:[^>]*)>|([{<])", re.S)


def indented(text: str, by: str) -> str:
    """`text` with every line but empty ones moved to the right."""
    return "\n".join(by + line if line else line for line in text.split("\n"))


def label_of(node: SyntaxTreeNode) -> str:
    """What a container is called in the source."""
    return str(node.meta.get("label", ""))


def depth_of(node: SyntaxTreeNode) -> int:
    """How many levels of containers and alerts are in `node`: the outer one needs the longer fence."""
    own = node.type == "container" or (node.type == "blockquote" and alert_of(node) is not None)
    return own + max((depth_of(child) for child in node.children), default=0)


def alert_of(quote: SyntaxTreeNode) -> tuple[str, str, str] | None:
    """Kind, title and the rest of the first paragraph, if the quotation is an alert."""
    first, _, rest = (
        quote.children[0].children[0].content.partition("\n") if quote.children[0].children else ("", "", "")
    )
    found = _ALERT.fullmatch(first)
    return None if found is None else (found[1].lower(), found[2], rest)


class Markdown:
    """What all of them agree on."""

    indent: str | None = None  # of what belongs to a list item; the width of its mark where a dialect does not care

    def page(self, tree: SyntaxTreeNode) -> str:
        """The page's source in this dialect."""
        return self.blocks(tree.children) + "\n"

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> str:
        return "\n\n".join(filter(None, map(self.block, nodes)))

    def block(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "heading":
                return f"{node.markup} {self.inline(node.children[0])}"
            case "paragraph":
                return self.inline(node.children[0])
            case kind if kind in _LISTS:
                return self.listing(node)
            case "fence":
                return self.code(node.info, node.content)
            case "table":
                return self.table(node)
            case "hr":
                return "---"
            case "formula_block":
                return self.formula(node.content)
            case "footnote":
                return f"[^{node.meta['label']}]: {self.inline(node.children[0])}"
            case "blockquote":
                found = alert_of(node)
                if found is None:
                    return "\n".join(f"> {line}".rstrip() for line in self.blocks(node.children).split("\n"))
                kind, title, rest = found
                return self.admonition(
                    kind, title, f"{rest}\n\n{self.blocks(node.children[1:])}".strip(), depth_of(node)
                )
            case "container":
                return self.container(node)
        raise ValueError(f"sources have no {node.type}")

    def container(self, node: SyntaxTreeNode) -> str:
        label = label_of(node)
        match node.info:
            case "tabs":
                return self.tabs([(label_of(tab), self.blocks(tab.children)) for tab in node.children], depth_of(node))
            case "details":
                return self.details(label, self.blocks(node.children))
            case "figure":
                source, _, alt = label.partition(" ")
                return self.figure(source, alt, self.blocks(node.children))
            case "definitions":
                return "\n\n".join(
                    self.definition(
                        self.inline(item.children[0].children[0]),
                        [self.blocks(one.children) for one in item.children[1].children],
                    )
                    for item in node.children[0].children
                )
            case "function":
                return self.function(label, self.blocks(node.children))
        raise ValueError(f"sources have no {node.info}")

    def inline(self, node: SyntaxTreeNode) -> str:
        return node.content

    def listing(self, node: SyntaxTreeNode) -> str:
        number = int(node.attrs.get("start") or 1)
        loose = any(not item.children[0].hidden for item in node.children)
        items = []
        for item in node.children:
            mark = f"{number}. " if node.type == "ordered_list" else "- "
            number += 1
            by = self.indent or " " * len(mark)
            apart = loose or any(one.type not in _LISTS for one in item.children[1:])
            inside = ("\n\n" if apart else "\n").join(map(self.block, item.children))
            items.append(mark + indented(inside, by).strip())
        return ("\n\n" if loose else "\n").join(items)

    def code(self, language: str, content: str) -> str:
        return f"```{language}\n{content.rstrip()}\n```"

    def table(self, node: SyntaxTreeNode) -> str:
        head, *rest = [row for part in node.children for row in part.children]
        marks = {"text-align:left": ":---", "text-align:center": ":---:", "text-align:right": "---:"}
        line = " | ".join(marks.get(str(cell.attrs.get("style", "")), "---") for cell in head.children)
        rows = [" | ".join(self.cell(cell) for cell in row.children) for row in (head, *rest)]
        return "\n".join(f"| {row} |" for row in (rows[0], line, *rows[1:]))

    def cell(self, node: SyntaxTreeNode) -> str:
        return self.inline(node.children[0]).replace("|", r"\|") if node.children else ""

    def formula(self, tex: str) -> str:
        return f"$$\n{tex}\n$$"

    def function(self, signature: str, body: str) -> str:
        return f"### `{signature}`\n\n{body}"

    def definition(self, term: str, meanings: Sequence[str]) -> str:
        return term + "".join(f"\n:   {indented(meaning, '    ').strip()}\n" for meaning in meanings).rstrip()

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        raise NotImplementedError

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        raise NotImplementedError

    def details(self, summary: str, body: str) -> str:
        raise NotImplementedError

    def figure(self, source: str, alt: str, caption: str) -> str:
        raise NotImplementedError


class Myst(Markdown):
    """Sphinx with MyST and sphinx-design."""

    def inline(self, node: SyntaxTreeNode) -> str:
        return _KEY.sub(r"{kbd}`\1`", node.content)

    def code(self, language: str, content: str) -> str:
        return super().code("{mermaid}" if language == "mermaid" else language, content)

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        fence = ":" * (depth + 2)
        if title:
            return f"{fence}{{admonition}} {title}\n:class: {kind}\n\n{body}\n{fence}"
        return f"{fence}{{{kind}}}\n{body}\n{fence}"

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        outer, inner = ":" * (depth + 2), ":" * (depth + 1)
        items = "\n".join(f"{inner}{{tab-item}} {label}\n{body}\n{inner}" for label, body in tabs)
        return f"{outer}{{tab-set}}\n{items}\n{outer}"

    def details(self, summary: str, body: str) -> str:
        return f"::::{{dropdown}} {summary}\n{body}\n::::"

    def figure(self, source: str, alt: str, caption: str) -> str:
        return f":::{{figure}} {source}\n:alt: {alt}\n\n{caption}\n:::"

    def function(self, signature: str, body: str) -> str:
        return f"::::{{py:function}} {signature}\n\n{body}\n::::"


class Material(Markdown):
    """MkDocs with Material's theme: Python-Markdown and the extensions that its manual recommends."""

    indent = "    "

    def inline(self, node: SyntaxTreeNode) -> str:
        text = node.content.replace("\\\n", "  \n")
        return _KEYS.sub(lambda keys: f"++{'+'.join(_KEY.findall(keys[0])).lower()}++", text)

    def cell(self, node: SyntaxTreeNode) -> str:
        # A bar in code needs no backslash here, and would keep it.
        return self.inline(node.children[0]) if node.children else ""

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        # Material has other names for two of GitHub's five.
        name = {"important": "important", "caution": "danger"}.get(kind, kind)
        heading = f' "{title}"' if title else ""
        return f"!!! {name}{heading}\n\n{indented(body, '    ')}"

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        return "\n\n".join(f'=== "{label}"\n\n{indented(body, "    ")}' for label, body in tabs)

    def details(self, summary: str, body: str) -> str:
        return f'??? note "{summary}"\n\n{indented(body, "    ")}'

    def figure(self, source: str, alt: str, caption: str) -> str:
        return f'<figure markdown="span">\n  ![{alt}]({source})\n  <figcaption>{caption}</figcaption>\n</figure>'


class VitePress(Markdown):
    """VitePress with its containers, and markdown-it's plugins for the rest."""

    def inline(self, node: SyntaxTreeNode) -> str:
        return node.content.replace("](pictures/", "](/pictures/")

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        # Its containers have four names; GitHub's alerts have the others.
        name = {"note": "info", "caution": "danger"}.get(kind, kind)
        if name == "important":
            quoted = "\n".join(f"> {line}".rstrip() for line in body.split("\n"))
            return f"> [!IMPORTANT] {title}".rstrip() + f"\n{quoted}"
        fence = ":" * (depth + 2)
        return f"{fence} {name} {title}".rstrip() + f"\n{body}\n{fence}"

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        if all(body.startswith("```") and body.count("```") == 2 and body.endswith("```") for _, body in tabs):
            blocks = [body.replace("\n", f" [{label}]\n", 1) for label, body in tabs]
            return "::: code-group\n" + "\n\n".join(blocks) + "\n:::"
        # It has tabs for code alone. A plug-in has others, but sends no more than the first of them.
        return "\n\n".join(f"**{label}**\n\n{body}" for label, body in tabs)

    def details(self, summary: str, body: str) -> str:
        return f":::: details {summary}\n{body}\n::::"

    def figure(self, source: str, alt: str, caption: str) -> str:
        return f'<figure>\n  <img src="/{source}" alt="{alt}">\n  <figcaption>{caption}</figcaption>\n</figure>'


class Docsy(Markdown):
    """Hugo with the Docsy theme: Goldmark, GitHub's alerts and the theme's short codes."""

    def page(self, tree: SyntaxTreeNode) -> str:
        title, *rest = tree.children
        return f"---\ntitle: {title.children[0].content}\n---\n\n{self.blocks(rest)}\n"

    def inline(self, node: SyntaxTreeNode) -> str:
        return node.content.replace("](pictures/", "](/pictures/")

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        quoted = "\n".join(f"> {line}".rstrip() for line in body.split("\n"))
        return f"> [!{kind.upper()}] {title}".rstrip() + f"\n{quoted}"

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        items = "\n".join(f'{{{{% tab header="{label}" %}}}}\n{body}\n{{{{% /tab %}}}}' for label, body in tabs)
        return f"{{{{< tabpane text=true >}}}}\n{items}\n{{{{< /tabpane >}}}}"

    def details(self, summary: str, body: str) -> str:
        return f'{{{{< details summary="{summary}" >}}}}\n{body}\n{{{{< /details >}}}}'

    def figure(self, source: str, alt: str, caption: str) -> str:
        return f'{{{{< figure src="/{source}" alt="{alt}" caption="{caption}" >}}}}'


class Mdx(Markdown):
    """Markdown that is half JavaScript: braces and pointed brackets mean something."""

    def inline(self, node: SyntaxTreeNode) -> str:
        return _MDX.sub(_mdx, node.content)

    def definition(self, term: str, meanings: Sequence[str]) -> str:
        said = "".join(f"<dd>\n\n{meaning}\n\n</dd>\n" for meaning in meanings)
        return f"<dl>\n<dt>{term}</dt>\n{said}</dl>"

    def details(self, summary: str, body: str) -> str:
        return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"

    def figure(self, source: str, alt: str, caption: str) -> str:
        return f"<figure>\n\n![{alt}]({source})\n\n<figcaption>{caption}</figcaption>\n</figure>"


def _mdx(found: re.Match[str]) -> str:
    if found[2]:
        return f"[{found[2]}]({found[2]})"  # It has no autolinks.
    if found[0] == "<br>":
        return "<br/>"
    return f"\\{found[3]}" if found[3] else found[0]


class Docusaurus(Mdx):
    """Docusaurus with its classic theme, and KaTeX."""

    def page(self, tree: SyntaxTreeNode) -> str:
        imports = "import Tabs from '@theme/Tabs';\nimport TabItem from '@theme/TabItem';\n\n"
        return imports + super().page(tree)

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        # `important` is a box for information; only without a title of its own it says what it is.
        name = {"caution": "danger"}.get(kind, kind)
        fence = ":" * (depth + 2)
        return f"{fence}{name}{f'[{title}]' if title else ''}\n\n{body}\n\n{fence}"

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        items = "".join(f'<TabItem value="{label}" label="{label}">\n\n{body}\n\n</TabItem>\n' for label, body in tabs)
        return f"<Tabs>\n{items}</Tabs>"


class Starlight(Mdx):
    """Starlight, on Astro."""

    def page(self, tree: SyntaxTreeNode) -> str:
        title, *rest = tree.children
        imports = "import { Tabs, TabItem } from '@astrojs/starlight/components';\n\n"
        return f"---\ntitle: {title.children[0].content}\n---\n\n{imports}{self.blocks(rest)}\n"

    def inline(self, node: SyntaxTreeNode) -> str:
        return super().inline(node).replace("](pictures/", "](/pictures/")

    def figure(self, source: str, alt: str, caption: str) -> str:
        return super().figure(f"/{source}", alt, caption)

    def admonition(self, kind: str, title: str, body: str, depth: int) -> str:
        # It has four kinds.
        name = {"important": "note", "warning": "caution", "caution": "danger"}.get(kind, kind)
        title = title or kind.capitalize()
        fence = ":" * (depth + 2)
        return f"{fence}{name}{f'[{title}]' if title else ''}\n{body}\n{fence}"

    def tabs(self, tabs: Sequence[tuple[str, str]], depth: int) -> str:
        items = "".join(f'<TabItem label="{label}">\n\n{body}\n\n</TabItem>\n' for label, body in tabs)
        return f"<Tabs>\n{items}</Tabs>"
