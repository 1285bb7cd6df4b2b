"""Finds the rules of a page's own style sheets that hide text for good, so far as that can be told without a browser.

A rule counts that holds always and ends in one name, if no other rule shows what has that name and no script of the
page speaks of it: whoever hides what somebody is to see later has to say so. Another name of an element may show it as
well, as `md:block` does beside `hidden`. Where the page has no script that could show anything later, rules for
attributes and elements count as well, and what is hidden as makers of pages hide what fades in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from turbohtml import Element

from sitemirror.convert.document import Document
from sitemirror.convert.styles import declarations, hides

# How it is written, by machines and by people: what is not there is found out faster than by any pattern.
_SIGNS: Final = (
    "display:none", "display: none", "font-size:0", "font-size: 0", "-999", "rect(0", "rect(1px",
    "indent:-", "indent: -", "height:0;", "height: 0;", "height:0}", "height:0px", "height: 0px",
)  # fmt: skip
# With these makers of pages hide what a script fades in.
_FADING: Final = ("visibility:hidden", "visibility: hidden", "opacity:0", "opacity: 0")
# Comments and texts, but for single words: those may be an attribute's.
_UNREAD: Final = re.compile(
    r"/\*.*?(?:\*/|\Z)|(\"[\w-]*+\"|'[\w-]*+')|\"[^\"\n]*+\"|'[^'\n]*+'",
    re.S,
)
# Sheets that show by these what somebody has ticked or gone to, or what only begins with a name, are not understood.
# They are looked for in comments, too: most sheets have some, and taking the comments out takes far longer.
# Each begins with one character: that is found faster than a text of several.
_BEYOND: Final = (re.compile(r"\[(?:class|id)").search, re.compile(":(?:checked|target)").search)
# What names say that show something, in sheets that are not the page's own.
_SHOWS: Final = re.compile(
    r"(?:^|[:-])(?:block|flex|grid|inline|table|contents|show\w*|visible|active|open)(?:-\w+)?$"
).search
# One name, or one in something else that has a name or a tag.
_SELECTOR: Final = re.compile(
    r"(?:[a-z0-9]*+(?:[.#][\w-]++)?+(?: ?> ?| )){0,4}?(?:[a-z][a-z0-9]*+)?[.#](?=[\w-]*$)"
).match
# The same that ends in a tag or an attribute.
_NAMELESS: Final = re.compile(
    r"(?:[a-z0-9]*+(?:[.#][\w-]++)?+(?: ?> ?| )){0,4}?(?=[a-z\[])"
    r"([a-z][a-z0-9]*+)?+(\[[\w-]+(?:=[\"']?[\w-]+[\"']?)?\])?+"
).fullmatch
_NAME: Final = re.compile(r"-?[A-Za-z_][\w-]*+").fullmatch
_MEDIA: Final = frozenset(("", "all", "screen"))
_AWAY: Final = ("position", "left", "top", "right", "bottom", "clip", "clip-path")
_ABSENT: Final = ("absolute", "fixed")
_SIZES: Final = (
    "overflow", "overflow-x", "overflow-y", "height", "max-height", "min-height", "width", "max-width", "min-width",
    "padding", "padding-bottom",
)  # fmt: skip
_MOVES: Final = ("transition", "animation", "will-change", "transform")
_ALL: Final = ("display", *_AWAY, *_SIZES, "font-size", "text-indent", "visibility", "opacity")
_SCRIPTS: Final = ("", "module", "text/javascript", "application/javascript", "text/babel")  # types of those that run
_MOST: Final = 500  # rules that are looked at, and selectors of one that are
_MOST_PLACES: Final = 50  # of a name in the sheets
_LONGEST_REMEMBERED: Final = 50_000  # characters of sheets


class Rule(NamedTuple):
    """A rule that hides what its selector finds; `inherits` if what is in that may show itself all the same."""

    selector: str
    inherits: bool
    css: str  # all that the sheets say, in which another name may be shown


def hiding_rules(document: Document) -> list[Rule]:
    """The rules of a document that hide something. To be asked before its scripts are taken out."""
    css = "\n".join([style.text for style in document.styles if _applies(style)]) if document.styles else ""
    if not css:
        return []
    scripts = [element for element in document.head if element.tag == "script"]
    is_still = not any((script.attr("type") or "").lower() in _SCRIPTS for script in scripts)
    found = (_remembered if len(css) <= _LONGEST_REMEMBERED else _hiding)(css, is_still)
    if not found:
        return []
    said = "\n".join([script.text for script in scripts])
    return [rule for name, rule in found if not _speaks_of(said, name)]


def _hiding(css: str, is_still: bool) -> tuple[tuple[str, Rule], ...]:
    """The rules of style sheets that hide something for good unless a script shows it, each with its name.

    `is_still` on a page that has no script.
    """
    signs = (*_SIGNS, *_FADING) if is_still else _SIGNS
    if not any(sign in css for sign in signs) or any(found(css) for found in _BEYOND):
        return ()
    css = _UNREAD.sub(r"\1", css)
    found: list[tuple[str, Rule]] = []
    judged: set[str] = set()
    blocks: dict[int, dict[str, str]] = {}
    for selectors, declared in _blocks(css, signs):
        names = _hidden_by(declared, is_still)
        if not names:
            continue
        for selector in map(str.strip, selectors.split(",", _MOST)[:_MOST]):
            name = _name_of(selector, is_still)
            if not name or selector in judged or len(judged) >= _MOST:
                continue
            judged.add(selector)
            if not _is_shown(css, name, names, blocks):
                inherits = names[0] == "font-size" or (names[0] == "visibility" and "visible" in css)
                found.append((name.lstrip(".#"), Rule(selector, inherits, css)))
    return tuple(found)


def _name_of(selector: str, is_still: bool) -> str:
    """What a rule ends in; empty if it is not understood."""
    start = _SELECTOR(selector)
    if start is not None:
        return selector[start.end() - 1 :] if _NAME(selector, start.end()) else ""
    found = _NAMELESS(selector) if is_still else None
    return (found[2] or found[1]) if found is not None else ""


_remembered: Final = lru_cache(maxsize=16)(_hiding)  # The pages of a site have the same sheets.


def hidden_by(body: Element, rules: Sequence[Rule]) -> list[Element]:
    """What the rules hide, but for what its own style or another of its names may show."""
    inherits = {rule.selector: rule.inherits for rule in rules}
    names = {selector[max(0, selector.rfind("."), selector.rfind("#")) :] for selector in inherits}
    found: dict[Element, None] = {}
    for is_loose in (False, True):
        if selectors := [selector for selector, inherited in inherits.items() if inherited is is_loose]:
            for element in body.select(", ".join(selectors)):
                style = element.attr("style")
                if style is not None and not declarations(style).keys().isdisjoint(_ALL):
                    continue
                if any(_may_show(name, rules[0].css) for name in _names_of(element) if name not in names):
                    continue
                if not is_loose or element.find() is None:
                    found[element] = None
    return list(found)


def _names_of(element: Element) -> list[str]:
    id = element.attr("id")
    return [*[f".{name}" for name in (element.attr("class") or "").split()], *([f"#{id}"] if id else [])]


def _may_show(name: str, css: str) -> bool:
    return name in css or _NAME(name, 1) is None or _SHOWS(name, 1) is not None


def _applies(style: Element) -> bool:
    return (style.attr("media") or "").strip().lower() in _MEDIA and style.closest("noscript") is None


def _blocks(css: str, signs: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The blocks that may hide something and hold always: what stands before them, and what they declare."""
    left = _MOST
    for sign in signs:
        done = depth = 0
        here = css.find(sign)
        while here >= 0 and left:
            left -= 1
            opening, closing = css.rfind("{", done, here), css.find("}", here)
            closing = len(css) if closing < 0 else closing
            if opening >= 0:
                depth += css.count("{", done, opening) - css.count("}", done, opening)
                if depth == 0 and css.find("{", here, closing) < 0:  # What is nested says more.
                    start = max(css.rfind(end, 0, opening) for end in "{};") + 1
                    yield css[start:opening], declarations(css[opening + 1 : closing])
                done = opening
            here = css.find(sign, closing)


def _hidden_by(declared: Mapping[str, str], is_still: bool = True) -> tuple[str, ...]:
    """The names of what hides, if it does."""
    if declared.get("display") == "none":
        return ("display",)
    if declared.get("position") in _ABSENT and hides({name: declared[name] for name in _AWAY if name in declared}):
        return _AWAY
    for name in ("font-size", "text-indent", *(("opacity", "visibility") if is_still else ())):
        if name in declared and hides({one: declared[one] for one in (name, *_MOVES) if one in declared}):
            return (name,)
    if declared.keys().isdisjoint(_MOVES) and hides({one: declared[one] for one in _SIZES if one in declared}):
        return _SIZES  # What moves unfolds.
    return ()


def _is_shown(css: str, name: str, names: tuple[str, ...], blocks: dict[int, dict[str, str]]) -> bool:
    """Whether any rule for `name` declares otherwise what hides it. `blocks` are those read before, by their places."""
    here = css.find(name)
    for _place in range(_MOST_PLACES):
        if here < 0:
            return False
        end = here + len(name)
        opening = css.find("{", end)
        closing = css.find("}", opening)
        if opening < 0 or closing < 0:
            return False
        if not _in_name(css[end]):
            if opening not in blocks:
                blocks[opening] = declarations(css[opening + 1 : closing])
            declared = blocks[opening]
            if any(one in declared for one in names) and not _hidden_by(declared):
                return True
        here = css.find(name, end)
    return True


def _speaks_of(scripts: str, name: str) -> bool:
    here = scripts.find(name)
    for _place in range(_MOST_PLACES):
        if here < 0:
            return False
        end = here + len(name)
        if not (_in_name(scripts[here - 1 : here]) or _in_name(scripts[end : end + 1])):
            return True
        here = scripts.find(name, end)
    return True


def _in_name(char: str) -> bool:
    return char.isalnum() or (char != "" and char in "-_")
