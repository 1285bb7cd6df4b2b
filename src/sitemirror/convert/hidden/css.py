"""Recognise CSS that hides text: in `style` attributes and in the page's own style sheets.

A rule of a style sheet counts only if it is unconditional, its selector ends in one class or id, no other rule shows
that class or id, and no script of the page mentions it. Another class may show the element, as `md:block` does beside
`hidden`. On a page without scripts, rules for attributes and elements count, too, and so do `visibility` and `opacity`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from turbohtml import Element

from sitemirror.convert.document import Document

_NIL: Final = r"[+-]?(?:0+(?:\.0\d*)?|\.0\d*)"  # zero, or too little to see
_ZERO: Final = rf"{_NIL}[a-z%]*\s*(?:;|$)"
_CLEAR: Final = (
    rf"(?:transparent|(?:rgb|hsl)a?\((?:[^,)]{{0,20}},){{3}}\s*{_NIL}%?\s*\)|[a-z]{{3,5}}\([^)/]{{0,60}}/\s*{_NIL}%?\s*\)"
    r"|#(?:[0-9a-f]{3}){1,2}00?\b)"
)
_SPECK: Final = r"(?:(?:[01](?:\.\d*)?|\.\d+)(?:px|pt)|0?\.1\d*r?em|\d(?:\.\d*)?%)"  # font sizes too small to read
_STYLE: Final = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    rf"|font-size\s*:\s*(?:{_ZERO}|{_SPECK})|font\s*:\s*0[a-z%]*/|opacity\s*:\s*{_ZERO}"
    rf"|(?:color|-webkit-text-fill-color)\s*:\s*{_CLEAR}"
    rf"|scale\s*:\s*{_NIL}%?(?:[\s;]|$)"
    # Off any screen; small offsets are layout.
    r"|(?:left|top|right|bottom|inset|text-indent|margin-left|margin-top)\s*:\s*"
    r"-(?:(?:[5-9]\d\d|\d{4,})(?:\.\d+)?(?:px)?\s*(?:;|$)|\d{3,}(?:r?em|%|vw|vh))"
    r"|clip\s*:\s*rect\(\s*(?:0|1px)[\s,]|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    rf"|clip-path\s*:\s*(?:circle|ellipse)\(\s*{_NIL}[a-z%]*[\s)])"
)
_AFAR: Final = r"[^()]{0,40}-(?:9\d{3,}(?:\.\d+)?px|(?:1[5-9]\d|[2-9]\d\d|\d{4,})v[wh])"
_CHANGED: Final = {
    "transform": re.compile(
        rf"scale(?:x|y|3d)?\((?:[^,()]{{0,20}},)?\s*{_NIL}%?\s*[,)]|translate(?:[xy]|3d)?\({_AFAR}"
    ).search,
    "translate": re.compile(_AFAR).match,
    "filter": re.compile(rf"opacity\(\s*{_NIL}%?\s*\)").search,
}
# Comments, but not within strings and URLs.
_COMMENT: Final = re.compile(r"(\"[^\"]*+\"|'[^']*+'|url\([^)]*+\))|/\*.*?(?:\*/|\Z)", re.I | re.S)
_CLIPS: Final = ("background-clip", "-webkit-background-clip")
_TEXT: Final = re.compile(r"\btext\b")
_MOTIONS: Final = ("transition", "animation", "will-change")
_UNSET: Final = frozenset(("none", "initial", "unset", "auto", ""))
# Overflow properties with the sizes that they clip to.
_CUT_OFF: Final = {
    "overflow": ("width", "height", "max-width", "max-height"),
    "overflow-x": ("width", "max-width"),
    "overflow-y": ("height", "max-height"),
}
_NO_SIZE: Final = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?|(?:1(?:\.0*)?|0?\.\d+)px")
_ROOM: Final = re.compile(r"[1-9]\d+(?:\.\d*)?%")
# Keywords whose value differs between properties.
_NO_COLOURS: Final = frozenset(("inherit", "initial", "unset", "revert", "revert-layer", "none", "auto"))
_NAMED: Final = {"white": "ffffff", "black": "000000", "red": "ff0000", "snow": "fffafa", "ivory": "fffff0"}
_SHORT_HEX: Final = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])f?")
_HEX: Final = re.compile(r"#([0-9a-f]{6})(?:ff)?")
_RGB: Final = re.compile(r"rgba?\( ?(\d{1,3})[ ,] ?(\d{1,3})[ ,] ?(\d{1,3}) ?(?:[,/] ?(?:1(?:\.0*)?|100%) ?)?\)")
_SIZE: Final = re.compile(
    rf"(?!{_SPECK}|{_ZERO})(?:[\d.]+(?:px|pt|pc|rem|cm|mm|in|q|v[a-z]+)|(?!inherit|larger|smaller)[a-z])"
)


def declarations(style: str) -> dict[str, str]:
    """Parse a style into declarations by property; the last one counts, or the last important one."""
    declared: dict[str, str] = {}
    important: set[str] = set()
    if "/*" in style:
        style = _COMMENT.sub(lambda found: found[1] or " ", style)
    for declaration in style.lower().split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip()
        value, mark, _ = value.partition("!")
        if mark:
            important.add(name)
        elif name in important:
            continue
        declared[name] = value.strip()
    declared.pop("", None)
    return declared


def hides_text(declared: Mapping[str, str]) -> bool:
    """True if text with this style is invisible."""
    if not _may_hide(declared):
        return False  # most styles
    shown = set(_shown_otherwise(declared))
    return shown.isdisjoint(declared) or _may_hide(
        {name: value for name, value in declared.items() if name not in shown}
    )


def _may_hide(declared: Mapping[str, str]) -> bool:
    """True if a declaration hides the text unless another one shows it."""
    if _STYLE.search(";".join([f"{name}:{value}" for name, value in declared.items()])):
        return True
    if any(_CHANGED[name](declared[name]) for name in _CHANGED.keys() & declared.keys()):
        return True
    if any(
        _is_cut_off(declared, _CUT_OFF[overflow])
        for overflow in _CUT_OFF.keys() & declared.keys()
        if _cuts(declared[overflow])
    ):
        return True
    if "color" not in declared:
        return False
    ground = _colour(declared.get("background-color") or declared.get("background") or "")
    return bool(ground) and ground == _colour(declared["color"])


def _cuts(overflow: str) -> bool:
    return "hidden" in overflow or "clip" in overflow


def _is_cut_off(declared: Mapping[str, str], sizes: tuple[str, ...]) -> bool:
    for name in sizes:
        if (size := declared.get(name)) and _NO_SIZE.fullmatch(size):
            least = declared.get(f"min-{name.removeprefix('max-')}")
            if (least is None or _NO_SIZE.fullmatch(least)) and not ("height" in name and _room_below(declared)):
                return True
    return False


def _room_below(declared: Mapping[str, str]) -> bool:
    """True if a box of zero height has a height by padding in percent, as around a video."""
    room = declared.get("padding-bottom")
    if room is None:
        sides = declared.get("padding", "").split() or [""]
        room = sides[2] if len(sides) > 2 else sides[0]
    return _ROOM.fullmatch(room) is not None


def _colour(value: str) -> str:
    if value in _NO_COLOURS:
        return ""
    if (known := _NAMED.get(value)) is not None:
        return known
    if found := _SHORT_HEX.fullmatch(value):
        return "".join(digit * 2 for digit in found.groups())
    if found := _HEX.fullmatch(value):
        return found[1]
    if found := _RGB.fullmatch(value):
        return "".join(f"{min(int(part), 255):02x}" for part in found.groups())
    return value


def _shown_otherwise(declared: Mapping[str, str]) -> Iterator[str]:
    """Yield properties that hide nothing, given the other declarations."""
    ground = f"{declared.get('background', '')} {declared.get('background-image', '')}"
    clips = (*_CLIPS, "background")
    is_picture = "gradient(" in ground or "url(" in ground
    if _is_set(declared, "text-shadow") or (is_picture and any(_TEXT.search(declared.get(name, "")) for name in clips)):
        yield from ("color", "-webkit-text-fill-color")  # The text is drawn by its shadow or by a background image.
    if _is_set(declared, "transform") or any(_is_set(declared, name) for name in _MOTIONS):
        yield "opacity"  # It fades in.
    if declared.get("position") in ("relative", "static", "sticky"):
        yield from ("left", "top", "right", "bottom", "inset")


def _is_set(declared: Mapping[str, str], name: str) -> bool:
    return declared.get(name, "none") not in _UNSET


def has_own_size(declared: Mapping[str, str]) -> bool:
    """True if its font size does not depend on the size around it."""
    return _SIZE.match(declared.get("font-size", "")) is not None


def is_visible_again(declared: Mapping[str, str]) -> bool:
    """True if it is visible inside a hidden element."""
    return declared.get("visibility") == "visible"


# Common spellings; plain substring searches rule most sheets out faster than a pattern.
_SIGNS: Final = (
    "display:none", "display: none", "font-size:0", "font-size: 0", "-999", "rect(0", "rect(1px",
    "indent:-", "indent: -", "height:0;", "height: 0;", "height:0}", "height:0px", "height: 0px",
)  # fmt: skip
# Pages with scripts use these for text that fades in.
_FADING: Final = ("visibility:hidden", "visibility: hidden", "opacity:0", "opacity: 0")
# Comments and strings, except single words, which may be attribute values.
_UNREAD: Final = re.compile(
    r"/\*.*?(?:\*/|\Z)|(\"[\w-]*+\"|'[\w-]*+')|\"[^\"\n]*+\"|'[^'\n]*+'",
    re.S,
)
# Sheets with these are not analysed: attribute selectors for class and id, `:checked` and `:target`. Comments are
# searched, too, since removing them takes far longer. Each pattern begins with one character, which is fast.
_BEYOND: Final = (re.compile(r"\[(?:class|id)").search, re.compile(":(?:checked|target)").search)
# Classes that show something, in style sheets that are not inline.
_SHOWS: Final = re.compile(
    r"(?:^|[:-])(?:block|flex|grid|inline|table|contents|show\w*|visible|active|open)(?:-\w+)?$"
).search
# A class or id, also as a descendant of up to four others.
_SELECTOR: Final = re.compile(
    r"(?:[a-z0-9]*+(?:[.#][\w-]++)?+(?: ?> ?| )){0,4}?(?:[a-z][a-z0-9]*+)?[.#](?=[\w-]*$)"
).match
# The same ending in a tag or an attribute.
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
_MOST: Final = 500  # rules, and selectors of one rule, that are analysed
_MOST_PLACES: Final = 50  # occurrences of a name in the sheets
_LONGEST_REMEMBERED: Final = 50_000  # characters of sheets


class HidingRule(NamedTuple):
    """A rule that hides elements; with `inherits`, descendants may be visible again."""

    selector: str
    inherits: bool
    css: str  # all sheets, to look for rules that show another class


def hiding_rules(document: Document) -> list[HidingRule]:
    """Find the rules of a document that hide something; call it before scripts are removed."""
    css = "\n".join([style.text for style in document.styles if _applies(style)]) if document.styles else ""
    if not css:
        return []
    scripts = [element for element in document.head if element.tag == "script"]
    is_still = not any((script.attr("type") or "").lower() in _SCRIPTS for script in scripts)
    found = (_cached_rules if len(css) <= _LONGEST_REMEMBERED else _find_rules)(css, is_still)
    if not found:
        return []
    script_text = "\n".join([script.text for script in scripts])
    return [rule for name, rule in found if not _mentions(script_text, name)]


def _find_rules(css: str, is_still: bool) -> tuple[tuple[str, HidingRule], ...]:
    """Find the rules that hide something unless a script shows it, each with its class or id.

    `is_still` means that the page has no script.
    """
    signs = (*_SIGNS, *_FADING) if is_still else _SIGNS
    if not any(sign in css for sign in signs) or any(found(css) for found in _BEYOND):
        return ()
    css = _UNREAD.sub(r"\1", css)
    found: list[tuple[str, HidingRule]] = []
    judged: set[str] = set()
    blocks: dict[int, dict[str, str]] = {}
    for selectors, declared in _blocks(css, signs):
        names = _hiding_properties(declared, is_still)
        if not names:
            continue
        for selector in map(str.strip, selectors.split(",", _MOST)[:_MOST]):
            name = _name_of(selector, is_still)
            if not name or selector in judged or len(judged) >= _MOST:
                continue
            judged.add(selector)
            if not _is_shown(css, name, names, blocks):
                inherits = names[0] == "font-size" or (names[0] == "visibility" and "visible" in css)
                found.append((name.lstrip(".#"), HidingRule(selector, inherits, css)))
    return tuple(found)


def _name_of(selector: str, is_still: bool) -> str:
    """The last class, id, tag or attribute of a selector; empty if it is too complex."""
    start = _SELECTOR(selector)
    if start is not None:
        return selector[start.end() - 1 :] if _NAME(selector, start.end()) else ""
    found = _NAMELESS(selector) if is_still else None
    return (found[2] or found[1]) if found is not None else ""


_cached_rules: Final = lru_cache(maxsize=16)(_find_rules)  # Pages of a site share their style sheets.


def select_hidden(body: Element, rules: Sequence[HidingRule]) -> list[Element]:
    """Select the elements hidden by `rules` that neither their own style nor another class may show."""
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
    """Yield selectors and declarations of unconditional rules that may hide something."""
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
                if depth == 0 and css.find("{", here, closing) < 0:  # nested rules
                    start = max(css.rfind(end, 0, opening) for end in "{};") + 1
                    yield css[start:opening], declarations(css[opening + 1 : closing])
                done = opening
            here = css.find(sign, closing)


def _hiding_properties(declared: Mapping[str, str], is_still: bool = True) -> tuple[str, ...]:
    """The names of the properties that hide something."""
    if declared.get("display") == "none":
        return ("display",)
    if declared.get("position") in _ABSENT and hides_text({name: declared[name] for name in _AWAY if name in declared}):
        return _AWAY
    for name in ("font-size", "text-indent", *(("opacity", "visibility") if is_still else ())):
        if name in declared and hides_text({one: declared[one] for one in (name, *_MOVES) if one in declared}):
            return (name,)
    if declared.keys().isdisjoint(_MOVES) and hides_text({one: declared[one] for one in _SIZES if one in declared}):
        return _SIZES  # An animated size unfolds.
    return ()


def _is_shown(css: str, name: str, names: tuple[str, ...], blocks: dict[int, dict[str, str]]) -> bool:
    """True if another rule for `name` overrides the hiding properties; `blocks` caches parsed rules."""
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
            if any(one in declared for one in names) and not _hiding_properties(declared):
                return True
        here = css.find(name, end)
    return True


def _mentions(scripts: str, name: str) -> bool:
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
