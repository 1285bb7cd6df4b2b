"""Find and rewrite URLs of a style sheet: url(), image-set() and @import in any spelling.

A scanner of CSS tokens, so that comments, strings and longer names that only look like a URL are skipped. Linear: what
was skipped is never looked at again. Rewriting leaves all other bytes as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sitemirror.links.attributes import ASSET
from sitemirror.links.found import Collector, PageLinks
from sitemirror.links.resolve import Localizer, ReferenceRelinker
from sitemirror.links.source import PLAIN, Coding, Edit, SourceText, apply, declared_by_css
from sitemirror.links.values import Rewrite, rewrite_resource

_SPACE: Final = r"(?:\r\n|[ \t\r\n\f])"
_ESCAPE: Final = rf"\\(?:[0-9a-fA-F]{{1,6}}+{_SPACE}?+|[^\r\n\f0-9a-fA-F])"
_WORD: Final = rf"(?:[^\x01-,./:-@\[-\^`{{-\x7f]++|{_ESCAPE})++"
_COMMENT: Final = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_GAP: Final = rf"(?:{_SPACE}|{_COMMENT})*+"
_IN_STRING: Final = rf"\\(?:[0-9a-fA-F]{{1,6}}+{_SPACE}?+|\r\n|[\s\S]|\Z)"
_IN_DOUBLE: Final = rf'(?:[^"\\\n\r\f]++|{_IN_STRING})*+'
_IN_SINGLE: Final = rf"(?:[^'\\\n\r\f]++|{_IN_STRING})*+"
_ANY_STRING: Final = f"\"{_IN_DOUBLE}\"?+|'{_IN_SINGLE}'?+"
_BARE: Final = rf"(?:[^\x00-\x20\"'()\\\x7f]++|{_ESCAPE})++"


def _string(name: str) -> str:
    """A string that is closed, if only by the end of the sheet. At a line's end it is none."""
    return f"(?:\"(?P<{name}_double>{_IN_DOUBLE})(?:\"|\\Z)|'(?P<{name}_single>{_IN_SINGLE})(?:'|\\Z))"


def _spelled(word: str) -> str:
    """`word` in either case, each letter plain or as a CSS escape."""
    letters = []
    for letter in word:
        plain = "" if letter in "abcdef" else rf"|\\{letter}"
        letters.append(rf"(?:{letter}{plain}|\\0{{0,4}}(?:{ord(letter):x}|{ord(letter.upper()):x}){_SPACE}?+)")
    return f"(?i:{''.join(letters)})"


_URL: Final = _spelled("url") + r"\("
_URL_BODY: Final = rf"{_SPACE}*+(?:(?P<bare>{_BARE})(?={_SPACE}*+(?:\)|\Z))|{_string('url')})"
_IMAGE_SET: Final = rf"(?:{_spelled('-webkit-')})?+{_spelled('image-set')}\("
_IMPORT: Final = rf"@{_spelled('import')}{_GAP}"
# What follows the parenthesis of a `url(` that is none, up to its end. With a string it is a function like any other.
_REMNANTS: Final = rf"(?!{_SPACE}*+[\"'])(?:[^)\\]++|\\[\s\S]|\\\Z)*+\)?+"
# Their URLs are names that nobody fetches.
_NAMING: Final = (
    rf"@(?:{_spelled('namespace')}|(?:{_spelled('-moz-')})?+{_spelled('document')})(?!{_WORD})"
    rf"(?:[\x01-!$%&(-,.:<-?\[\]^`|~\x7f]++|{_COMMENT}|/|{_ANY_STRING}"
    rf"|{_URL}(?:{_REMNANTS})?+|[#@]?+{_WORD}|[#@\\])*+"
)

_SKIPPED: Final = "|".join(
    (
        r"[\x01-!$%&(-,.:-?\[\]^`{-\x7f]++",
        _COMMENT,
        _ANY_STRING,
        rf"(?![uUiI\\-]){_WORD}",  # All others have to be looked at twice.
        rf"(?!{_URL}|{_IMAGE_SET}){_WORD}",
        rf"#(?:{_WORD})?+",
        _NAMING,
        rf"(?!{_IMPORT}[\"'])@(?:{_WORD})?+",
        "/",
        r"\\(?=[\r\n\f]|\Z)",
    )
)
_NEXT: Final = re.compile(
    rf"(?:{_SKIPPED})*+(?:{_URL}(?:{_URL_BODY})?+|{_IMPORT}{_string('import')}|(?P<set>{_IMAGE_SET})|@)"
)
_SET_PART: Final = re.compile(
    rf"(?P<url>{_URL}{_URL_BODY})|(?P<bad>{_URL})|{_string('set')}|(?P<open>(?:{_WORD})?+\()|(?P<close>\))|(?P<end>[;{{}}])"
    rf"|{_COMMENT}|{_ANY_STRING}|[#@]?+{_WORD}|[\x01-!$%&*-,.:<-?\[\]^`|~\x7f]++|[\s\S]"
)
_BAD_URL: Final = re.compile(_REMNANTS)
_NAMES: Final = ("url(", "image-set(", "@import")
# The same names with escapes, perhaps: a word from its first escape on, and the parenthesis after the word.
_ESCAPED_WORDS: Final = re.compile(rf"{_ESCAPE}(?:{_WORD})?+(\()?+").finditer
_ESCAPED_AT: Final = re.compile(r"@[A-Za-z-]*+\\").search
_ESCAPED: Final = re.compile(rf"\\(?:([0-9a-fA-F]{{1,6}}){_SPACE}?|\r\n|[\n\r\f]|([\s\S]?))")
_WIDE: Final = re.compile(r"[^\x00-\x7f]")
_SPECIAL: Final = {
    '"': re.compile(r'[\\<\x00-\x1f"\x7f]'),
    "'": re.compile(r"[\\<\x00-\x1f'\x7f]"),
    "": re.compile(r"[\\<\x00- \"'()\x7f]"),
}


class Spot(NamedTuple):
    """The span of a URL: inside its quotes, or bare between the parentheses of `url()`."""

    start: int
    end: int
    quote: str  # empty for a bare one


def css_links(css: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """The requisites of the style sheet at `url`. `charset` is the header's. Never raises."""
    links = Collector(url=url, base=url)
    for reference in css_urls(decode_css(css, charset)):
        links.add_resource(reference, ASSET)
    return links.links()


def css_urls(css: str) -> Iterator[str]:
    """The URLs of a style sheet or `style` attribute, unescaped, in order."""
    if "(" in css or "@" in css:
        for start, end, _ in find_urls(css):
            yield value(css[start:end])


def decode_css(css: bytes, charset: str | None = None) -> str:
    """Decode a style sheet: by byte order mark, header, `@charset`, or UTF-8, in this order."""
    source = SourceText(css, charset, declared_by_css)
    return source.decode(source.text).removeprefix("\ufeff")


def localize_css(css: bytes, *, url: str, charset: str | None, target: Callable[[str], str]) -> bytes:
    """Replace every URL of `css` by `target(url)`; the URL is absolute, normalised, without fragment.

    `url` is the address of the sheet, `charset` that of its Content-Type header, which the sheet then declares itself.
    """
    source = SourceText(css, charset, declared_by_css)
    edits = css_edits(source.text, source, Localizer(url, url, target).link)
    return source.edited(edits + source.redeclared_in_css())


def relink_css(css: bytes, *, change: Callable[[str], str | None]) -> bytes:
    """A localised sheet with its links changed: `change` gets each as it is written, without its fragment."""
    source = SourceText(css, None, declared_by_css)
    return source.edited(css_edits(source.text, source, ReferenceRelinker(change).link))


def rewrite_style(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """Rewrites the URLs of a style attribute."""
    edits = css_edits(text, coding, rewrite)
    return apply(text, edits) if edits else None


def css_edits(text: str, coding: Coding, rewrite: Rewrite) -> list[Edit]:
    """The edits that rewrite `text`, which is CSS in a source's own characters."""
    edits: list[Edit] = []
    for start, end, quote in find_urls(coding.masked(text)):
        piece = text[start:end]
        # A URL with escapes is rewritten in decoded form.
        decoded = value(coding.decode(piece)) if "\\" in piece else piece
        new = rewrite_resource(decoded, coding if decoded is piece else PLAIN, rewrite)
        if new is not None and new != decoded:
            spelling = spelled(new, quote)
            edits.append((start, end, spelling if decoded is piece else in_ascii(spelling)))
    return edits


def find_urls(css: str) -> Iterator[Spot]:
    """The URLs of `css`, in order."""
    here, last = 0, _last(css)
    while here <= last and (found := _NEXT.match(css, here)) is not None:
        here = found.end()
        if found["set"] is not None:
            spots, here = _image_set(css, here)
            yield from spots
        elif (spot := _spot(found)) is not None:
            yield spot
        elif found[0].endswith("("):
            here = _end_of_bad_url(css, here)


def _last(css: str) -> int:
    """The last place where a URL may begin, which is faster than scanning the rest; -1 if there is none."""
    if "\\" in css and (_ESCAPED_AT(css) or any(word[1] for word in _ESCAPED_WORDS(css))):
        return len(css)
    small = css.lower()
    return max(map(small.rfind, _NAMES))


def value(text: str) -> str:
    """The text of a spot without its escapes."""
    return _ESCAPED.sub(_unescape, text) if "\\" in text else text


def spelled(url: str, quote: str) -> str:
    """`url` escaped for a spot with `quote`, in a style element too."""
    return _SPECIAL[quote].sub(_escape, url)


def in_ascii(spelling: str) -> str:
    """The same in ASCII: what was decoded may say what the sheet's own bytes cannot."""
    return spelling if spelling.isascii() else _WIDE.sub(lambda found: f"\\{ord(found[0]):x} ", spelling)


def _image_set(css: str, here: int) -> tuple[list[Spot], int]:
    """The URLs between the parentheses of an image-set(), where a string is one, and where it ends."""
    spots: list[Spot] = []
    depth = 1
    while depth and (found := _SET_PART.match(css, here)) is not None:
        here = found.end()
        spot = _spot(found)
        if spot is not None and (depth == 1 or found["url"] is not None):
            spots.append(spot)
        elif found["open"] is not None:
            depth += 1
        elif found["close"] is not None:
            depth -= 1
        elif found["bad"] is not None:
            here = _end_of_bad_url(css, here)
            depth += css[here - 1] == "("  # a function, with a string that is none
        elif found["end"] is not None:
            break
        if found["url"] is not None:
            depth += 1  # its parenthesis is still to come
    return spots, here


def _end_of_bad_url(css: str, here: int) -> int:
    found = _BAD_URL.match(css, here)
    return here if found is None else found.end()


def _spot(found: re.Match[str]) -> Spot | None:
    for name, quote in _QUOTES.items():
        if name in found.re.groupindex and found.start(name) >= 0:
            return Spot(*found.span(name), quote)
    return None


_QUOTES: Final = {
    "bare": "",
    **{
        f"{name}_{kind}": quote
        for name in ("url", "import", "set")
        for kind, quote in (("double", '"'), ("single", "'"))
    },
}


def _unescape(found: re.Match[str]) -> str:
    if found[1]:
        code = int(found[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return found[2] or ""


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return f"\\{ord(char):x} " if char < " " or char in "<\x7f" else "\\" + char
