"""Finds what a style sheet needs: `url()`, `image-set()` and `@import`, told apart from comments and plain strings.

Style sheets are scanned by tokens, not parsed: which rule a URL stands in does not matter to a mirror, whether it is a
URL at all does. Every pattern is possessive, so the time is linear in the size of the sheet.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from typing import Final

import turbohtml.detect  # noqa: F401 – registers the encodings of the web under the names the web has for them

from sitemirror.discover.found import ASSET, Collector, PageLinks

_BLANK: Final = r"[ \t\n\r\f]"
_COMMENT: Final = r"(?>/\*.*?(?:\*/|\Z))"
_GAP: Final = rf"(?:{_BLANK}|{_COMMENT})*+"
_INSIDE: Final = {
    mark: rf"[^{mark}\\\n\r\f]*+(?:\\(?:\r\n|.|\Z)[^{mark}\\\n\r\f]*+)*+"  # a line end ends a string, badly
    for mark in "\"'"
}
_STRING: Final = "(?:" + "|".join(f"{mark}{inside}(?:{mark}|\\Z)" for mark, inside in _INSIDE.items()) + ")"
_ANY_STRING: Final = "(?:" + "|".join(f"{mark}{inside}{mark}?+" for mark, inside in _INSIDE.items()) + ")"
_BARE_RUN: Final = r"""[^"'()\\ \t\n\r\f\x00-\x08\x0b\x0e-\x1f\x7f]*+"""
_BARE: Final = rf"{_BARE_RUN}(?:\\(?:[0-9A-F]{{1,6}}+(?:\r\n|{_BLANK})?+|[^\n\r\f]){_BARE_RUN})*+"
_NAME: Final = r"(?-i:[\w\u0080-\U0010ffff-])"  # both cases of every letter are in it


def _spelled(word: str) -> str:
    """A pattern for `word` with any of its letters escaped: `u\\72l` is `url`."""
    letters = []
    for letter in word:
        codes = "|".join(f"{ord(case):x}" for case in (letter.lower(), letter.upper()))
        letters.append(rf"(?:{letter}|\\0{{0,4}}(?:{codes})(?:\r\n|{_BLANK})?+|\\{letter})")
    return "".join(letters)


_URL: Final = (
    rf"{_spelled('url')}\({_BLANK}*+"
    rf"(?:(?P<quoted>{_STRING}){_BLANK}*+\)?+|(?P<bare>{_BARE}){_BLANK}*+(?:\)|\Z)|[^)\\]*+(?:\\.[^)\\]*+)*+\)?+)"
)

# Strings and comments are matched so that nothing inside them is. A name is looked at only from its first letter, for
# `my-url(` is another function. Namespaces and the conditions of `@document` name sites without fetching them.
_TOKEN: Final = re.compile(
    rf"{_COMMENT}|{_ANY_STRING}"
    rf"|@import(?!{_NAME}){_GAP}(?P<imported>{_STRING})?+"
    rf"|@(?:namespace|(?:-moz-)?document)(?!{_NAME})(?:[^;{{\"']|{_ANY_STRING})*+"
    rf"|(?<!{_NAME})(?:{_URL}|(?P<set>(?:-webkit-)?image-set\())"
    r"|\\.",
    re.IGNORECASE | re.DOTALL,
)
_IN_SET: Final = re.compile(
    rf"{_COMMENT}|(?P<string>{_STRING})|{_ANY_STRING}|(?<!{_NAME})(?:{_URL}|type\({_GAP}{_STRING}{_GAP}\)?+)"
    r"|(?P<open>\()|(?P<close>\))|\\.",
    re.IGNORECASE | re.DOTALL,
)
_BODY: Final = {mark: re.compile(inside, re.DOTALL) for mark, inside in _INSIDE.items()}
_ESCAPE: Final = re.compile(rf"\\(?:([0-9A-Fa-f]{{1,6}})(?:\r\n|{_BLANK})?+|\r\n|[\n\r\f]|(.)|\Z)", re.DOTALL)
_CHARSET: Final = re.compile(rb'@charset "([^"\r\n]{1,64})";')
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def css_links(css: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """What a style sheet at `url` needs. `charset` is the header's. Never raises."""
    links = Collector(url=url, base=url)
    for reference in references(decode(css, charset)):
        links.add_resource(reference, ASSET)
    return links.links()


def references(css: str) -> Iterator[str]:
    """Every URL of a style sheet or `style` attribute, unescaped, in its order."""
    if "(" not in css and "@" not in css:
        return
    position = 0
    while (match := _TOKEN.search(css, position)) is not None:
        position = match.end()
        if match["set"]:
            position = yield from _image_set(css, position)
        elif (found := match["quoted"] or match["imported"]) is not None:
            yield _unquoted(found)
        elif found := match["bare"]:
            yield _unescaped(found)


def decode(css: bytes, charset: str | None = None) -> str:
    """The sheet's text as CSS has it: the byte order mark decides, then the header, then `@charset`, then UTF-8."""
    for mark, encoding in _MARKS:
        if css.startswith(mark):
            return css[len(mark) :].decode(encoding, "replace")
    declared = _CHARSET.match(css)
    labels = (charset, declared[1].decode("latin-1") if declared is not None else None)
    for label in labels:
        codec = _codec(label) if label else None
        if codec is not None and label is not charset and codec.startswith("whatwg_utf_16"):
            codec = None  # What can be read as ASCII is not in UTF-16, whatever it says.
        if codec is not None:
            return css.decode(codec, "replace")
    return css.decode("utf-8", "replace")


def _codec(label: str) -> str | None:
    try:
        return codecs.lookup(f"whatwg-{label.strip()}").name
    except (LookupError, ValueError):
        return None


def _image_set(css: str, position: int) -> Generator[str, None, int]:
    """The choices of an `image-set()`, where a string is a URL too. Returns where the function ends."""
    depth = 1
    while depth and (match := _IN_SET.search(css, position)) is not None:
        position = match.end()
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth -= 1
        elif (found := match["quoted"] or match["string"]) is not None:
            yield _unquoted(found)
        elif found := match["bare"]:
            yield _unescaped(found)
    return position if depth == 0 else len(css)


def _unquoted(string: str) -> str:
    inside = _BODY[string[0]].match(string, 1)
    return _unescaped(inside[0]) if inside is not None else ""


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2] or ""  # nothing for an escaped line end
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF else "\ufffd"
