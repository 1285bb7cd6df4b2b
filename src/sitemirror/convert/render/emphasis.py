"""Fix emphasis and code spans for which the renderer falls back on HTML tags.

In the tree, elements without effect are removed and nested or split emphasis is simplified, so that converting the
rendered Markdown again gives the same Markdown. In the text, stars and tildes replace tags where CommonMark reads them
the same; the renderer writes tags for all emphasis with non-ASCII letters.
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
# Elements without Markdown syntax.
_NEUTRAL: Final = frozenset(
    (
        "abbr", "acronym", "bdi", "bdo", "big", "cite", "data", "dfn", "font", "ins", "mark", "small", "span", "sub",
        "sup", "time", "u", "var", "wbr",
    )
)  # fmt: skip
_BLOCKS: Final = ("blockquote", "div", "dl", "li", "ol", "p", "pre", "section", "table", "ul")
_ENDS_LABEL: Final = re.compile(r"[^\[\]]*\]:")
_MOST: Final = 20  # ancestors of emphasis that are searched


def join_split_code(element: Element) -> int:
    """Join adjacent code elements; returns the number of joins."""
    return _join(element, _CODE)


def write_code_as_tag(element: Element) -> int:
    """Write code as a tag in links that would be read as definitions (`[…]:`)."""
    found = [code for code in element.select("a > code") if _ENDS_LABEL.match(code.text) and code.find("*") is None]
    opening, closing = TAG_MARKERS["code"]
    for code in found:
        code.insert(0, Text(opening))
        code.append(Text(closing))
        code.tag = "span"
    return len(found)


def fix_emphasis(element: Element) -> int:
    """Simplify emphasis so that its delimiters are recognised; returns the number of changes."""
    unwrapped = _unwrap_neutral(element)
    return unwrapped + _join(element, _SLANTED) + _join(element, _STRONG) + _free_spaces(element)


def end_emphasis_at_breaks(element: Element) -> int:
    """Split emphasis at line breaks; returns their number."""
    breaks = [(br, top) for br in element.iter_elements("br") if (top := _emphasis_around(br)) is not None]
    for br, top in reversed(breaks):  # from the last one, so that each moves only its own line
        end = top.parent
        while end is not None and isinstance(around := br.parent, Element) and around is not end:
            is_first = br.previous_sibling is None  # `len` would take quadratic time.
            after = Element(around.tag, None, list(br.next_siblings))
            around.insert_after(br)
            if len(after):
                br.insert_after(after)
            if is_first:
                around.decompose()
    return len(breaks)


def _emphasis_around(br: Element) -> Element | None:
    """The outermost emphasis around a line break, with only inline elements in between."""
    found = None
    here = br.parent
    for _level in range(_MOST):
        if not isinstance(here, Element) or (here.tag not in _SPLIT and here.tag not in _NEUTRAL):
            break
        found = here if here.tag in _SPLIT else found
        here = here.parent
    return found


def unnest_emphasis(element: Element) -> int:
    """Unwrap emphasis nested three deep that repeats an outer one; returns the number."""
    return _unwrap([part for part in element.iter_elements(_EMPHASIS) if _is_nested(part)])


def unnest_unlike_emphasis(element: Element) -> int:
    """Unnest emphasis like `unnest_emphasis`, except doubled emphasis, which can be written."""
    return _unwrap([part for part in element.iter_elements(_EMPHASIS) if _is_nested(part) and not _is_twice(part)])


def drop_emphasis_in_tables(element: Element) -> int:
    """Unwrap all emphasis in tables; returns the number."""
    return _unwrap([part for part in element.iter_elements(_SPLIT) if part.closest("table") is not None])


def _unwrap(parts: list[Element]) -> int:
    for part in parts:
        part.unwrap()
    return len(parts)


def _unwrap_neutral(element: Element) -> int:
    """Unwrap elements without Markdown syntax next to or in emphasis; returns their number."""
    count = 0
    holders: set[Node] = set()  # elements that contain blocks; a cache, since searching each takes as long as it is
    for part in list(element.iter_elements(_SPLIT)):
        for _time in range(_MOST):
            near = [part.previous_sibling, part.next_sibling, part.parent]
            near += (part[0], part[-1]) if len(part) else ()
            neutral = [node for node in near if _is_neutral(node, holders)]
            if not neutral:
                break
            for node in dict.fromkeys(neutral):
                node.unwrap()
            count += len(neutral)
    return count


def _is_neutral(node: Node | None, holders: set[Node]) -> TypeGuard[Element]:
    if not isinstance(node, Element) or node.tag not in _NEUTRAL or node.parent is None or node in holders:
        return False
    if next(node.iter_elements(_BLOCKS), None) is None:
        return True
    holders.add(node)
    return False


def _join(element: Element, tags: tuple[str, ...]) -> int:
    """Join adjacent elements of the same meaning; returns the number of joins."""
    joined = 0
    for part in list(element.iter_elements(tags)):
        if not isinstance(part.next_sibling, Element) or _has_break(part):
            continue  # Emphasis ends at line breaks.
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
    """Move blanks at the ends of emphasis out of it; returns the number of ends."""
    moved = 0
    for part in list(element.iter_elements(_EMPHASIS)):
        if not len(part):
            continue
        first, last = part[0], part[-1]
        if isinstance(first, Text) and (size := len(first.data) - len(first.data.lstrip())):
            part.insert_before(Text(first.data[:size]))
            first.data = first.data[size:]
            moved += 1
        if isinstance(last, Text) and (size := len(last.data.rstrip())) < len(last.data):
            part.insert_after(Text(last.data[size:]))
            last.data = last.data[:size]
            moved += 1
    return moved


def _is_nested(part: Element) -> bool:
    kind = _SLANTED if part.tag in _SLANTED else _STRONG
    found = [around.tag for around in _around(part) if around.tag in _EMPHASIS]
    return len(found) > 1 and any(tag in kind for tag in found)


def _is_twice(part: Element) -> bool:
    around = part.parent
    if not isinstance(around, Element) or (around.tag in _SLANTED) != (part.tag in _SLANTED):
        return False
    if part.previous_sibling is not None or part.next_sibling is not None:  # `len` would take quadratic time.
        return False
    outermost = deque(_around(part), maxlen=1)[0].parent
    return not isinstance(outermost, Element) or outermost.tag not in ("td", "th")


def _around(part: Element) -> Iterator[Element]:
    """Yield the inline elements around emphasis, from the inside."""
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
# Escapes, backticks and tags: the only tokens that matter here. Each begins with a literal, which is ten times faster.
_TOKEN: Final = re.compile(r"\\.|``*+|<(/?)(em|strong|s|del|strike)>", re.S).search


def tags_to_stars(text: str) -> str:
    """Replace tags by stars where CommonMark reads them the same; call it before removing escapes."""
    # most pages; one character is found ten times faster than a tag
    if "<" not in text or _OPENING(text) is None:
        return text
    return map_outside_code(text, _stars_in_lines)


def _stars_in_lines(text: str) -> str:
    """Process line by line; emphasis across a hard break keeps its tags."""
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
    open_tags: list[tuple[str, int, int, frozenset[str]]] = []  # name, start, end, delimiters open there
    open_signs: frozenset[str] = frozenset()
    known_up_to = 0
    edits: list[tuple[int, int, str]] = []
    begun: dict[int, str] = {}  # delimiters of opening tags, by position
    ended: dict[int, str] = {}  # delimiters of closing tags, by end position
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
            # Stars right after stars would form one run; underscores do not.
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
    """Estimate the delimiters that are open at `end` by counting."""
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
    """True if delimiters in place of two tags would open and close without joining others.

    `within` are the delimiters of emphasis with the same start or end, `around` those of outer emphasis: within a word,
    a delimiter closes emphasis of its kind before it opens any.
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
    """True if a bracket ends a tag: literal opening brackets are escaped."""
    opening = text.rfind("<", start, end)
    return opening >= 0 and text[opening - 1] != "\\"


def _is_escaped(text: str, place: int) -> bool:
    """True if an escaped character is there, which joins no run."""
    start = place
    while start and text[start - 1] == "\\":
        start -= 1
    return (place - start) % 2 == 1


def _flanks(outside: str, within: str) -> bool:
    """True if stars between the two belong to inner emphasis."""
    if _is_blank(within):
        return False
    return not _is_mark(within) or _is_blank(outside) or _is_mark(outside)


def _is_blank(char: str) -> bool:
    return not char or char.isspace()


def _is_mark(char: str) -> bool:
    # Markers become tags or begin with punctuation.
    return char != "" and (category(char)[0] in "PS" or is_marker(char))
