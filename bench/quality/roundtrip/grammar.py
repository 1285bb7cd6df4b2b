"""Markdown as both sides of the comparison are read: CommonMark, GFM's tables, and what documentation adds to them.

Footnotes and formulas are read wherever they stand. The containers (`:::tab Label` … `:::`) are the sources' alone:
every generator spells tabs, folded parts, figures and definition lists in another way, so the sources use none of them.
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

_CONTAINER: Final = re.compile(r"(:{3,})(\w+)[ \t]*(.*?)[ \t]*")
_FOOTNOTE: Final = re.compile(r"\[\^([^\]\s]+)\]:[ \t]*(.*)")
_FOOTNOTE_REFERENCE: Final = re.compile(r"\[\^([^\]\s]+)\]")
_FORMULA: Final = re.compile(r"\$\$(?=\S)([^$]+?)(?<=\S)\$\$|\$(?=[^\s$])([^$]*?)(?<=[^\s\\])\$(?!\d)", re.S)
_INTERRUPTS: Final[RuleOptionsType] = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def read(text: str) -> SyntaxTreeNode:
    """The tree of a Markdown text that anybody wrote."""
    return SyntaxTreeNode(_PLAIN.parse(text))


def read_source(text: str) -> SyntaxTreeNode:
    """The tree of one of our sources, containers included."""
    return SyntaxTreeNode(_SOURCE.parse(text))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.block.ruler.before("reference", "footnote", _footnote, _INTERRUPTS)
    parser.block.ruler.before("fence", "formula_block", _formula_block, _INTERRUPTS)
    parser.inline.ruler.before("link", "footnote_reference", _footnote_reference)
    parser.inline.ruler.before("escape", "formula", _formula)
    return parser


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _container(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    opening = _CONTAINER.fullmatch(_line(state, start))
    if opening is None:
        return False
    last = next((line for line in range(start + 1, end) if _line(state, line).rstrip() == opening[1]), end)
    if silent:
        return True
    token = state.push("container_open", "div", 1)
    token.info, token.meta = opening[2], {"label": opening[3]}
    parent, state.parentType = state.parentType, "container"
    before, state.lineMax = state.lineMax, last
    state.md.block.tokenize(state, start + 1, last)
    state.parentType, state.lineMax = parent, before
    state.push("container_close", "div", -1)
    state.line = last + 1
    return True


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start) or (found := _FOOTNOTE.fullmatch(_line(state, start))) is None:
        return False
    if silent:
        return True
    last = start + 1
    lines = [found[2]]
    while last < end and not state.isEmpty(last) and not _FOOTNOTE.fullmatch(_line(state, last)):
        lines.append(_line(state, last))
        last += 1
    state.push("footnote_open", "div", 1).meta = {"label": found[1]}
    token = state.push("inline", "", 0)
    token.content, token.children, token.map = "\n".join(lines).strip(), [], [start, last]
    state.push("footnote_close", "div", -1)
    state.line = last
    return True


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = _line(state, start)
    if state.is_code_block(start) or not first.startswith("$$"):
        return False
    if len(first.strip()) > 4 and first.rstrip().endswith("$$"):
        last, inside = start, [first.strip()[2:-2]]
    else:
        last = next((line for line in range(start + 1, end) if _line(state, line).rstrip().endswith("$$")), end)
        if last == end:
            return False
        inside = [first[2:], *(_line(state, line) for line in range(start + 1, last)), _line(state, last).rstrip()[:-2]]
    if silent:
        return True
    state.push("formula_block", "", 0).content = "\n".join(inside).strip()
    state.line = last + 1
    return True


def _footnote_reference(state: StateInline, silent: bool) -> bool:
    found = _FOOTNOTE_REFERENCE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("footnote_reference", "", 0).meta = {"label": found[1]}
    state.pos = found.end()
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    found = _FORMULA.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = (found[1] or found[2]).strip()
    state.pos = found.end()
    return True


_PLAIN: Final = _parser()
_SOURCE: Final = _parser()
_SOURCE.block.ruler.before("fence", "container", _container, _INTERRUPTS)
