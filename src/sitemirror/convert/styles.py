"""What an element's own style does to its text: whether anybody sees it.

Only what the style itself says; what style sheets say is in `sheets`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_NIL: Final = r"[+-]?(?:0+(?:\.0\d*)?|\.0\d*)"  # nothing, or so little that nobody sees it
_ZERO: Final = rf"{_NIL}[a-z%]*\s*(?:;|$)"
_CLEAR: Final = (
    rf"(?:transparent|(?:rgb|hsl)a?\((?:[^,)]{{0,20}},){{3}}\s*{_NIL}%?\s*\)|[a-z]{{3,5}}\([^)/]{{0,60}}/\s*{_NIL}%?\s*\)"
    r"|#(?:[0-9a-f]{3}){1,2}00?\b)"
)
_SPECK: Final = r"(?:(?:[01](?:\.\d*)?|\.\d+)(?:px|pt)|0?\.1\d*r?em|\d(?:\.\d*)?%)"  # too small a letter to be read
_STYLE: Final = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    rf"|font-size\s*:\s*(?:{_ZERO}|{_SPECK})|font\s*:\s*0[a-z%]*/|opacity\s*:\s*{_ZERO}"
    rf"|(?:color|-webkit-text-fill-color)\s*:\s*{_CLEAR}"
    rf"|scale\s*:\s*{_NIL}%?(?:[\s;]|$)"
    # So far away that no screen is large enough; a little is a layout.
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
# Comments. In a text or an address, what looks like one begins none.
_COMMENT: Final = re.compile(r"(\"[^\"]*+\"|'[^']*+'|url\([^)]*+\))|/\*.*?(?:\*/|\Z)", re.I | re.S)
_CLIPS: Final = ("background-clip", "-webkit-background-clip")
_TEXT: Final = re.compile(r"\btext\b")
_MOTIONS: Final = ("transition", "animation", "will-change")
_UNSET: Final = frozenset(("none", "initial", "unset", "auto", ""))
# What may cut off what is larger than a box: its way, and the sizes that are that way.
_CUT_OFF: Final = {
    "overflow": ("width", "height", "max-width", "max-height"),
    "overflow-x": ("width", "max-width"),
    "overflow-y": ("height", "max-height"),
}
_NO_SIZE: Final = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?|(?:1(?:\.0*)?|0?\.\d+)px")
_ROOM: Final = re.compile(r"[1-9]\d+(?:\.\d*)?%")
# The same word for two things that are not the same.
_NO_COLOURS: Final = frozenset(("inherit", "initial", "unset", "revert", "revert-layer", "none", "auto"))
_NAMED: Final = {"white": "ffffff", "black": "000000", "red": "ff0000", "snow": "fffafa", "ivory": "fffff0"}
_SHORT_HEX: Final = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])f?")
_HEX: Final = re.compile(r"#([0-9a-f]{6})(?:ff)?")
_RGB: Final = re.compile(r"rgba?\( ?(\d{1,3})[ ,] ?(\d{1,3})[ ,] ?(\d{1,3}) ?(?:[,/] ?(?:1(?:\.0*)?|100%) ?)?\)")
_SIZE: Final = re.compile(
    rf"(?!{_SPECK}|{_ZERO})(?:[\d.]+(?:px|pt|pc|rem|cm|mm|in|q|v[a-z]+)|(?!inherit|larger|smaller)[a-z])"
)


def declarations(style: str) -> dict[str, str]:
    """What a style declares, by name; the last of a name counts, or the last that is said to be important."""
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


def hides(declared: Mapping[str, str]) -> bool:
    """Whether nobody sees the text of what has this style."""
    if not _may_hide(declared):
        return False  # as most
    shown = set(_shown_otherwise(declared))
    return shown.isdisjoint(declared) or _may_hide(
        {name: value for name, value in declared.items() if name not in shown}
    )


def _may_hide(declared: Mapping[str, str]) -> bool:
    """Whether one declaration hides the text if no other shows it."""
    if _STYLE.search(";".join([f"{name}:{value}" for name, value in declared.items()])):
        return True
    if any(_CHANGED[name](declared[name]) for name in _CHANGED.keys() & declared.keys()):
        return True
    if any(_is_cut_off(declared, _CUT_OFF[way]) for way in _CUT_OFF.keys() & declared.keys() if _cuts(declared[way])):
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
    """Whether a box without a height has one all the same, from what is left free in it, as around a video."""
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
    """What hides nothing, given what else is declared."""
    ground = f"{declared.get('background', '')} {declared.get('background-image', '')}"
    clips = (*_CLIPS, "background")
    is_picture = "gradient(" in ground or "url(" in ground
    if _is_set(declared, "text-shadow") or (is_picture and any(_TEXT.search(declared.get(name, "")) for name in clips)):
        yield from ("color", "-webkit-text-fill-color")  # What the letters show is their shadow, or a picture.
    if _is_set(declared, "transform") or any(_is_set(declared, name) for name in _MOTIONS):
        yield "opacity"  # It fades in, as soon as somebody comes to it.
    if declared.get("position") in ("relative", "static", "sticky"):
        yield from ("left", "top", "right", "bottom", "inset")


def _is_set(declared: Mapping[str, str], name: str) -> bool:
    return declared.get(name, "none") not in _UNSET


def has_own_size(declared: Mapping[str, str]) -> bool:
    """Whether its letters have a size, whatever size those around it have: a part of nothing is nothing."""
    return _SIZE.match(declared.get("font-size", "")) is not None


def is_visible_again(declared: Mapping[str, str]) -> bool:
    """Whether it is seen in something that is not."""
    return declared.get("visibility") == "visible"
