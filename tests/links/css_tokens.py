"""A plain reading of CSS Syntax Level 3, character by character: slow, and easy to compare with the standard."""

from __future__ import annotations

import re

SPACE = " \t\r\n\f"
NAMING = {"namespace", "document", "-moz-document"}  # their URLs are names that nobody fetches


def tokens(css: str) -> list[tuple[str, str]]:
    """The tokens that matter here, as (kind, value): string, bad-string, url, bad-url, function, at, ident, char."""
    found: list[tuple[str, str]] = []
    here = 0
    while here < len(css):
        kind, value, here = _token(css, here)
        if kind:
            found.append((kind, value))
    return found


def urls(css: str) -> list[str]:
    """What the sheet loads, in order."""
    found: list[str] = []
    stream = [token for token in tokens(css) if token[0] != "space"]
    sets: list[bool] = []  # for each open parenthesis: whether it is an image-set's own
    naming = False
    for index, (kind, value) in enumerate(stream):
        before = stream[index - 1] if index else ("", "")
        if kind in ("function", "char") and not naming and value.endswith("("):
            sets.append(value.lower() in ("image-set(", "-webkit-image-set("))
        elif (kind, value) == ("char", ")") and sets:
            sets.pop()
        elif kind == "char" and value in ";{}":
            sets, naming = [], False
        elif kind == "at":
            naming = naming or (value.lower() in NAMING and not any(sets))
        elif naming:
            continue
        elif kind == "url":
            found.append(value)
        elif kind == "string":
            called = before[0] == "function" and before[1].lower() == "url("
            imported = before[0] == "at" and before[1].lower() == "import" and not any(sets)
            if called or imported or (sum(sets) == 1 and sets[-1]):
                found.append(value)
    return found


def _token(css: str, here: int) -> tuple[str, str, int]:
    char = css[here]
    if css.startswith("/*", here):
        end = css.find("*/", here + 2)
        return "", "", len(css) if end < 0 else end + 2
    if char in SPACE:
        return "space", " ", here + 1
    if char in "\"'":
        return _string(css, here)
    if char in "#@" and _starts_name(css, here + 1):
        value, end = _name(css, here + 1)
        return ("hash" if char == "#" else "at"), value, end
    if char.isdigit():
        end = here
        while end < len(css) and css[end].isdigit():
            end += 1
        if _starts_name(css, end):
            value, end = _name(css, end)
        return "number", css[here:end], end
    if _starts_name(css, here):
        value, end = _name(css, here)
        if css[end : end + 1] != "(":
            return "ident", value, end
        if value.lower() != "url":
            return "function", value + "(", end + 1
        rest = re.compile(r"(?:\r\n|[ \t\r\n\f])*").match(css, end + 1)
        assert rest is not None
        if css[rest.end() : rest.end() + 1] in ("'", '"'):
            return "function", value + "(", end + 1
        return _url(css, rest.end())
    return "char", char, here + 1


def _valid_escape(css: str, here: int) -> bool:
    return css[here : here + 1] == "\\" and css[here + 1 : here + 2] not in ("\n", "\r", "\f", "")


def _starts_name(css: str, here: int) -> bool:
    char = css[here : here + 1]
    return bool(char) and (char.isalnum() or char in "-_\0" or not char.isascii() or _valid_escape(css, here))


def _name(css: str, here: int) -> tuple[str, int]:
    value = ""
    while here < len(css):
        char = css[here]
        if char.isalnum() or char in "-_\0" or not char.isascii():
            value += char
            here += 1
        elif _valid_escape(css, here):
            piece, here = _escaped(css, here)
            value += piece
        else:
            break
    return value, here


def _escaped(css: str, here: int) -> tuple[str, int]:
    digits = re.compile(r"[0-9a-fA-F]{1,6}").match(css, here + 1)
    if digits is None:
        return css[here + 1], here + 2
    end = digits.end()
    if css.startswith("\r\n", end):
        end += 2
    elif css[end : end + 1] and css[end] in SPACE:
        end += 1
    code = int(digits[0], 16)
    return (chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"), end


def _string(css: str, here: int) -> tuple[str, str, int]:
    quote, value = css[here], ""
    here += 1
    while here < len(css):
        char = css[here]
        if char == quote:
            return "string", value, here + 1
        if char in "\n\r\f":
            return "bad-string", value, here
        if char == "\\":
            if here + 1 == len(css):
                here += 1
            elif css.startswith("\r\n", here + 1):
                here += 3
            elif css[here + 1] in "\n\r\f":
                here += 2
            else:
                piece, here = _escaped(css, here)
                value += piece
        else:
            value += char
            here += 1
    return "string", value, here


def _url(css: str, here: int) -> tuple[str, str, int]:
    value = ""
    while here < len(css):
        char = css[here]
        if char == ")":
            return "url", value, here + 1
        if char in SPACE:
            while here < len(css) and css[here] in SPACE:
                here += 1
            if here == len(css) or css[here] == ")":
                return "url", value, here + 1
            break
        if char in "\"'(\x7f" or char < " " or (char == "\\" and not _valid_escape(css, here)):
            break
        if char == "\\":
            piece, here = _escaped(css, here)
            value += piece
        else:
            value += char
            here += 1
    else:
        return "url", value, here
    while here < len(css) and css[here] != ")":
        here += 2 if _valid_escape(css, here) else 1
    return "bad-url", "", here + 1
