"""Fixes emphasis and code spans for which the renderer falls back on HTML tags.

In the tree: elements that show nothing are removed and nested or split emphasis is simplified, so that Markdown which
is rendered and converted again is the same. In the text: stars and tildes replace tags where CommonMark reads them the
same, which is every emphasis with a letter beyond ASCII in it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final, TypeGuard
from unicodedata import category

from turbohtml import Element, Node, Text

from sitemirror.convert.render.code_ranges import CodeSpans, map_outside_code
from sitemirror.convert.render.markers import TAG_MARKERS, is_marker

_SLANTED: Final = ("em", "i")
_STRONG: Final = ("strong", "b")
_EMPHASIS: Final = (*_SLANTED, *_STRONG)
_STRUCK: Final = ("del", "s", "strike")
_SPLIT: Final = (*_EMPHASIS, *_STRUCK)
_CODE: Final = ("code", "kbd", "samp", "tt")
# What Markdown has no sign for.
_NEUTRAL: Final = frozenset(
    (
        "abbr", "acronym", "bdi", "bdo", "big", "cite", "data", "dfn", "font", "ins", "mark", "small", "span", "sub",
        "sup", "time", "u", "var", "wbr",
    )
)  # fmt: skip
_BLOCKS: Final = ("blockquote", "div", "dl", "li", "ol", "p", "pre", "section", "table", "ul")
_ENDS_LABEL: Final = re.compile(r"[^\[\]]*\]:")
_MOST: Final = 20  # elements around emphasis that are looked at


def join_split_code(element: Element) -> int:
    """Makes one of code that is cut in pieces without anything between them. The number of cuts."""
    return _join(element, _CODE)


def write_code_as_tag(element: Element) -> int:
    """Writes code as a tag that would make its link the definition of one: `[…]:` counts for more than code does."""
    found = [code for code in element.select("a > code") if _ENDS_LABEL.match(code.text) and code.find("*") is None]
    opening, closing = TAG_MARKERS["code"]
    for code in found:
        code.insert(0, Text(opening))
        code.append(Text(closing))
        code.tag = "span"
    return len(found)


def fix_emphasis(element: Element) -> int:
    """Leaves nothing beside emphasis or in it that keeps its signs from being read. The number of changes."""
    bared = _unwrap_neutral(element)
    return bared + _join(element, _SLANTED) + _join(element, _STRONG) + _free_spaces(element)


def end_emphasis_at_breaks(element: Element) -> int:
    """Ends emphasis with its line, and lets it begin again on the next one. The number of line breaks."""
    breaks = [(br, top) for br in element.iter_elements("br") if (top := _emphasis_around(br)) is not None]
    for br, top in reversed(breaks):  # from the last one, so that each moves no more than its own line
        end = top.parent
        while end is not None and isinstance(around := br.parent, Element) and around is not end:
            is_first = br.previous_sibling is None  # To count what is left would take as long as it is, for each line.
            after = Element(around.tag, None, list(br.next_siblings))
            around.insert_after(br)
            if len(after):
                br.insert_after(after)
            if is_first:
                around.decompose()
    return len(breaks)


def _emphasis_around(br: Element) -> Element | None:
    """The outermost emphasis that a line break stands in, with nothing else between them that would be split."""
    found = None
    here = br.parent
    for _level in range(_MOST):
        if not isinstance(here, Element) or (here.tag not in _SPLIT and here.tag not in _NEUTRAL):
            break
        found = here if here.tag in _SPLIT else found
        here = here.parent
    return found


def unnest_emphasis(element: Element) -> int:
    """Takes emphasis out that is the third around its text, and shows no more than one around it does. The number."""
    return _unwrap([part for part in element.iter_elements(_EMPHASIS) if _is_nested(part)])


def unnest_unlike_emphasis(element: Element) -> int:
    """Unnests emphasis like `unnest_emphasis`, but keeps doubled emphasis, which can be written."""
    return _unwrap([part for part in element.iter_elements(_EMPHASIS) if _is_nested(part) and not _is_twice(part)])


def drop_emphasis_in_tables(element: Element) -> int:
    """Takes the emphasis out of tables, and leaves its words. How much there was."""
    return _unwrap([part for part in element.iter_elements(_SPLIT) if part.closest("table") is not None])


def _unwrap(parts: list[Element]) -> int:
    for part in parts:
        part.unwrap()
    return len(parts)


def _unwrap_neutral(element: Element) -> int:
    """Takes elements away that stand between emphasis and the text beside it or in it. Their number."""
    taken = 0
    holders: set[Node] = set()  # of blocks: asking one takes as long as it is
    for part in list(element.iter_elements(_SPLIT)):
        for _time in range(_MOST):
            near = [part.previous_sibling, part.next_sibling, part.parent]
            near += (part[0], part[-1]) if len(part) else ()
            neutral = [node for node in near if _is_neutral(node, holders)]
            if not neutral:
                break
            for node in dict.fromkeys(neutral):
                node.unwrap()
            taken += len(neutral)
    return taken


def _is_neutral(node: Node | None, holders: set[Node]) -> TypeGuard[Element]:
    if not isinstance(node, Element) or node.tag not in _NEUTRAL or node.parent is None or node in holders:
        return False
    if next(node.iter_elements(_BLOCKS), None) is None:
        return True
    holders.add(node)
    return False


def _join(element: Element, tags: tuple[str, ...]) -> int:
    """Makes one of what is cut in pieces that mean the same, without anything between them. The number of cuts."""
    joined = 0
    for part in list(element.iter_elements(tags)):
        if not isinstance(part.next_sibling, Element) or _has_break(part):
            continue  # What ends a line ends its emphasis as well.
        while part.parent is not None and isinstance(after := part.next_sibling, Element) and after.tag in tags:
            if _has_break(after):
                break
            part.extend(list(after.children))
            after.decompose()
            joined += 1
    return joined


def _has_break(part: Element) -> bool:
    return any(isinstance(child, Element) and child.tag == "br" for child in part)


def _free_spaces(element: Element) -> int:
    """Takes blanks out of the ends of emphasis, which can neither begin nor end with one. The number of ends."""
    freed = 0
    for part in list(element.iter_elements(_EMPHASIS)):
        if not len(part):
            continue
        first, last = part[0], part[-1]
        if isinstance(first, Text) and (size := len(first.data) - len(first.data.lstrip())):
            part.insert_before(Text(first.data[:size]))
            first.data = first.data[size:]
            freed += 1
        if isinstance(last, Text) and (size := len(last.data.rstrip())) < len(last.data):
            part.insert_after(Text(last.data[size:]))
            last.data = last.data[:size]
            freed += 1
    return freed


def _is_nested(part: Element) -> bool:
    kind = _SLANTED if part.tag in _SLANTED else _STRONG
    found = [around.tag for around in _around(part) if around.tag in _EMPHASIS]
    return len(found) > 1 and any(tag in kind for tag in found)


def _is_twice(part: Element) -> bool:
    around = part.parent
    if not isinstance(around, Element) or (around.tag in _SLANTED) != (part.tag in _SLANTED):
        return False
    if part.previous_sibling is not None or part.next_sibling is not None:  # To count would take as long as it is deep.
        return False
    outermost = deque(_around(part), maxlen=1)[0].parent
    return not isinstance(outermost, Element) or outermost.tag not in ("td", "th")


def _around(part: Element) -> Iterator[Element]:
    """The inline elements around emphasis, from the inside."""
    around = part.parent
    for _level in range(_MOST):
        if not isinstance(around, Element) or (
            around.tag not in _SPLIT and around.tag not in _NEUTRAL and around.tag != "a"
        ):
            return
        yield around
        around = around.parent


_STARS: Final = {"em": "*", "strong": "**", "s": "~~", "del": "~~", "strike": "~~"}
_SIGNS: Final = ("*", "**", "~~")
_OPENING: Final = re.compile(r"<(?:em|strong|s|del|strike)>").search
# An escape, backticks, a tag: nothing else can be one of these or hide one. Every one begins with a character of its
# own: so they are found ten times faster.
_TOKEN: Final = re.compile(r"\\.|``*+|<(/?)(em|strong|s|del|strike)>", re.S).search


def tags_to_stars(text: str) -> str:
    """`text` with stars for tags, wherever they mean the same by CommonMark's rules. Escapes are still in place."""
    # One character is found ten times faster than a tag, and most pages do not have it.
    if "<" not in text or _OPENING(text) is None:
        return text
    return map_outside_code(text, _stars_in_lines)


def _stars_in_lines(text: str) -> str:
    """Line by line: emphasis that goes on past a hard break keeps its tags."""
    pieces: list[str] = []
    done = 0
    while (found := _OPENING(text, done)) is not None:
        start = text.rfind("\n", done, found.start()) + 1 or done
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        pieces += (text[done:start], _stars_in_line(text[start:end]))
        done = end
    return "".join((*pieces, text[done:]))


def _stars_in_line(text: str) -> str:
    code = CodeSpans(text)
    open_tags: list[tuple[str, int, int, frozenset[str]]] = []  # name, where it begins and ends, the signs open there
    open_signs: frozenset[str] = frozenset()
    known_up_to = 0
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
            open_signs = _open_signs(open_signs, text, known_up_to, start)
            known_up_to = start
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
    """True if signs in place of two tags would open and close, with no other so near that they would mingle.

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
    """True if the bracket at the end is a tag's: an opening one of the text's own has an escape."""
    opening = text.rfind("<", start, end)
    return opening >= 0 and text[opening - 1] != "\\"


def _is_escaped(text: str, place: int) -> bool:
    """True if a sign of the text's own stands there, which mingles with no other."""
    start = place
    while start and text[start - 1] == "\\":
        start -= 1
    return (place - start) % 2 == 1


def _flanks(outside: str, within: str) -> bool:
    """True if stars between the two belong to what is within."""
    if _is_blank(within):
        return False
    return not _is_mark(within) or _is_blank(outside) or _is_mark(outside)


def _is_blank(char: str) -> bool:
    return not char or char.isspace()


def _is_mark(char: str) -> bool:
    # A mark of our own will be a tag, or begin with another sign.
    return char != "" and (category(char)[0] in "PS" or is_marker(char))
