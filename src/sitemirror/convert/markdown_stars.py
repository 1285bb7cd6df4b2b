"""Says emphasis with stars, and what is struck with tildes, where the renderer fell back on tags though they would do.

It does for every emphasis with a letter beyond ASCII in it, which is to say in most languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from unicodedata import category

from sitemirror.convert.markdown_code import CodeSpans, outside_code
from sitemirror.convert.marks import is_mark

_STARS: Final = {"em": "*", "strong": "**", "s": "~~", "del": "~~", "strike": "~~"}
_SIGNS: Final = ("*", "**", "~~")
_OPENING: Final = re.compile(r"<(?:em|strong|s|del|strike)>").search
# An escape, backticks, a tag: nothing else can be one of these or hide one. Every one begins with a character of its
# own: so they are found ten times faster.
_TOKEN: Final = re.compile(r"\\.|``*+|<(/?)(em|strong|s|del|strike)>", re.S).search
_PAIR: Final = re.compile(r"<(em|strong|s|del|strike)>([^<]+)</\1>").finditer


def starred(text: str) -> str:
    """`text` with stars for tags, wherever they mean the same by CommonMark's rules. Escapes are still in place."""
    # One character is found ten times faster than a tag, and most pages do not have it.
    if "<" not in text or _OPENING(text) is None:
        return text
    return outside_code(text, _starred_lines)


def _starred_lines(text: str) -> str:
    """Line by line: emphasis that goes on past a hard break keeps its tags."""
    pieces: list[str] = []
    done = 0
    while (found := _OPENING(text, done)) is not None:
        start = text.rfind("\n", done, found.start()) + 1 or done
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        pieces += (text[done:start], _starred_line(text[start:end]))
        done = end
    return "".join((*pieces, text[done:]))


def _starred_line(text: str) -> str:
    if "`" not in text and "\\" not in text and (found := list(_PAIR(text))) and 2 * len(found) == text.count("<"):
        return _starred_pairs(text, found)
    code = CodeSpans(text)
    open_tags: list[tuple[str, int, int, frozenset[str]]] = []  # name, where it begins and ends, the signs open there
    open_signs: frozenset[str] = frozenset()
    told = 0  # how far they are known
    edits: list[tuple[int, int, str]] = []
    begun: dict[int, str] = {}  # the signs that stand for opening tags, by where those begin
    ended: dict[int, str] = {}  # and for closing ones, by where those end
    here = 0
    while (token := _TOKEN(text, here)) is not None:
        start, here = token.span()
        is_closing, name = token.groups()
        if name is None:
            if text[start] == "`":
                here = code.end(start, here)
        elif not is_closing:
            open_signs = _open_signs(open_signs, text, told, start)
            told = start
            open_tags.append((name, start, here, open_signs))
        elif open_tags and open_tags[-1][0] == name:
            _, opening, inside, around = open_tags.pop()
            around = around.union([_STARS[outer] for outer, *_ in open_tags])
            sign = _STARS[name]
            # Right behind others stars would mingle with them; underscores do not.
            beside = ended.get(opening, "")
            outer = open_tags[-1][0] if open_tags and open_tags[-1][2] == opening else ""
            if beside[-1:] == "*" or outer == "strong":
                sign = sign.replace("*", "_")
            within = (begun.get(inside, ""), ended.get(start, ""))
            before = beside[-1:] or text[max(opening - 1, 0) : opening]
            if _can_mark(text, sign, before, inside, start, here, within, around):
                edits += ((opening, inside, sign), (start, here, sign))
                begun[opening], ended[here] = sign + within[0], within[1] + sign
    pieces: list[str] = []
    done = 0
    for start, end, stars in sorted(edits):
        pieces += (text[done:start], stars)
        done = end
    return "".join((*pieces, text[done:]))


def _starred_pairs(text: str, found: Iterable[re.Match[str]]) -> str:
    """The same for a line with nothing in it but words and tags around some of them, which is most lines."""
    pieces: list[str] = []
    done = starred_up_to = told = 0
    open_signs: frozenset[str] = frozenset()
    for pair in found:
        opening, end = pair.span()
        open_signs = _open_signs(open_signs, text, told, opening)
        told = end
        inside, closing = pair.span(2)
        stars = _STARS[pair[1]]
        before = text[max(opening - 1, 0) : opening]
        if opening == starred_up_to and opening:
            before = pieces[-1][-1]
            stars = stars.replace("*", "_") if before == "*" else stars
        if _can_mark(text, stars, before, inside, closing, end, around=open_signs):
            pieces += (text[done:opening], stars, pair[2], stars)
            done = starred_up_to = end
    pieces.append(text[done:])
    return "".join(pieces)


def _open_signs(known: frozenset[str], text: str, start: int, end: int) -> frozenset[str]:
    """The signs of the emphasis that the renderer has begun and not ended by `end`, as far as counting them tells."""
    return known.symmetric_difference([sign for sign in _SIGNS if text.count(sign, start, end) % 2])


def _can_mark(
    text: str,
    sign: str,
    before: str,
    inside: int,
    closing: int,
    end: int,
    within: tuple[str, str] = ("", ""),
    around: frozenset[str] = frozenset(),
) -> bool:
    """Whether signs in place of two tags would open and close, with no other so near that they would mingle.

    `within` are the signs of emphasis that begins or ends with it, `around` those of emphasis that it stands in: within
    a word, a sign ends emphasis of its kind before it begins any.
    """
    mark = sign[0]
    first, last = within[0][:1] or text[inside : inside + 1], within[1][-1:] or text[closing - 1 : closing]
    after = text[end : end + 1]
    if inside >= closing or mark in (before, after) or first == "<":
        return False
    if sign in around and _flanks(first, before):
        return False
    if mark == "_" and (before.isalnum() or after.isalnum()):
        return False
    if first.isalnum() and last.isalnum():
        return True
    if (mark == first and (sign, within[0]) != ("*", "**")) or (
        mark == last and len(within[1]) + len(sign) != len("***") and not _is_escaped(text, closing - 1)
    ):
        return False
    if not within[1] and last == ">" and _ends_with_tag(text, inside, closing):
        return False
    return _flanks(before, first) and _flanks(after, last)


def _ends_with_tag(text: str, start: int, end: int) -> bool:
    """Whether the bracket at the end is a tag's: an opening one of the text's own has an escape."""
    opening = text.rfind("<", start, end)
    return opening >= 0 and text[opening - 1] != "\\"


def _is_escaped(text: str, place: int) -> bool:
    """Whether a sign of the text's own stands there, which mingles with no other."""
    start = place
    while start and text[start - 1] == "\\":
        start -= 1
    return (place - start) % 2 == 1


def _flanks(outside: str, within: str) -> bool:
    """Whether stars between the two belong to what is within."""
    if _is_blank(within):
        return False
    return not _is_mark(within) or _is_blank(outside) or _is_mark(outside)


def _is_blank(char: str) -> bool:
    return not char or char.isspace()


def _is_mark(char: str) -> bool:
    # A mark of our own will be a tag, or begin with another sign.
    return char != "" and (category(char)[0] in "PS" or is_mark(char))
