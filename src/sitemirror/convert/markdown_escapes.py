"""Takes back the escapes that a sentence does not need.

The renderer escapes every sign that could mean something somewhere. Whether it does depends on its neighbours and on
what else stands in the paragraph, by the rules of CommonMark: `snake\\_case` says no more than `snake_case`.
A paragraph is one line here, or several that end in a hard break, since the renderer never wraps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sitemirror.convert.markdown_code import CodeSpans, LineOfCode, fences
from sitemirror.convert.markdown_spots import TAG

_PREFIX: Final = re.compile(r"(?:[ \t>]|[-*+] |[0-9]{1,9}[.)] |#{1,6} )*+")
# What has to be told from text, each whole: code, the target of a link, a tag or autolink, a sign that is escaped, and
# signs that are not.
_TOKEN: Final = re.compile(
    r"(?P<code>`++)"
    r"|(?P<target>\]\((?:<(?:[^<>\n\\]|\\.)*+>|(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.)*+\))*+)(?:\s++\"(?:[^\"\\]|\\.)*+\")?+\))"
    r"|(?P<tag><[^\s<>]++>)"
    r"|\\(?P<escaped>.)"
    r"|(?P<sign>[*_\[\]~])"
)
_ANY_TOKEN: Final = re.compile(r"[`\]<\\*_\[~]").search  # where one may begin: ten times faster to find
_MAYBE_TAG: Final = re.compile(
    rf"{TAG}|<[!?]|<[A-Za-z][A-Za-z0-9.+-]*+:[^\s<>]*+>|<[^\s<>@]++@[^\s<>]++>|"
    # Nothing begins with these in CommonMark unless a tag does; there are renderers that are not so exact.
    r"</?(?:script|style|iframe|object|embed|svg|math|form|input|button|meta|link|base|img|video|audio|textarea|select|"
    r"template|frame|frameset)\b",
    re.I,
)
_ESCAPE: Final = re.compile(r"\\(.)")
_LONGEST_TAG: Final = 1000  # characters, of what is text and looks like one
_OPENS_BLOCK: Final = re.compile(r"<[A-Za-z/]")
# What follows a sign at the beginning of a line where it makes the line a heading, an underline or an item.
_FIRST: Final = {
    "#": re.compile(r"#*+(?:\s|\Z)"),
    "=": re.compile(r"=*+\s*+(?:\n|\Z)"),
    **dict.fromkeys("-+.)", re.compile(r"[^A-Za-z0-9]|\Z")),
}
_QUESTIONABLE: Final = frozenset("*_[]~#=+.)\\-")  # what a first look does not settle
_IN_QUESTION: Final = re.compile(r"\\[*_\[\]~#=+.)\\-]").search
_ALERT: Final = re.compile(r"([ >]*)((?:[-*+] |[0-9]{1,9}[.)] )*+)> \\\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\\\] ")
_MOST: Final = 500_000  # characters that are looked at; no page that is read by people has so many in question
_DIGITS: Final = 9  # that the number of an item has at most
_FENCE_LENGTH: Final = 6  # of three escaped signs
_TASK: Final = (" ", "x", "X")


def unescaped(text: str, source: str) -> str:
    """`text` without the escapes that change nothing. `source` is the text that it was rendered from."""
    # Nothing is escaped in code. Where the source has no backslash there is none in its code either, and no need to
    # know where that is.
    has_own = "\\" in source
    blocks = list(fences(text)) if has_own else []
    is_code = LineOfCode(text).is_code if has_own else _is_no_code
    text, is_settled = _at_sight(text, blocks, is_code)
    if is_settled:
        return text
    pieces: list[str] = []
    done = 0
    left = _MOST
    for start, end in _paragraphs(text, list(fences(text)) if has_own else []):
        left -= end - start
        if left < 0:
            break
        pieces += (text[done:start], _paragraph(text[start:end]))
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _is_no_code(_: int) -> bool:
    return False


def _at_sight(text: str, blocks: Sequence[tuple[int, int]], is_code: Callable[[int], bool]) -> tuple[str, bool]:
    """`text` without the escapes of which their neighbours alone say that they change nothing: nearly all there are.

    And whether the others are of a kind that is needed in any case.
    """
    dropped: list[int] = []
    is_settled = True
    rest = iter(blocks)
    block = next(rest, None)
    here = 0
    # Finding a character is a hundred times faster than searching for a pattern that begins with none.
    while (start := text.find("\\", here)) >= 0:
        here = start + 2
        while block is not None and block[1] <= start:
            block = next(rest, None)
        if block is not None and block[0] <= start:
            here = block[1]
            continue
        sign = text[start + 1 : here]
        if sign == "_":
            is_idle = _is_within_word(text, start, here)
        elif sign == "<":
            is_idle = not _may_be_tag(text, start + 1) and not _opens_block(text, start)
        else:
            is_idle = False
        if is_idle and not is_code(start):
            dropped.append(start)
        elif sign in _QUESTIONABLE:
            is_settled = False
    return _without(text, dropped), is_settled


def _is_within_word(text: str, start: int, end: int) -> bool:
    """Whether an underscore stands between two letters or digits, where it marks nothing."""
    return text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()


def _may_be_tag(text: str, start: int) -> bool:
    """Whether the `<` at `start` would begin a tag, also when the escapes in what follows are gone."""
    if _MAYBE_TAG.match(text, start):
        return True
    end = text.find(">", start, start + _LONGEST_TAG) + 1
    return "\\" in text[start:end] and _MAYBE_TAG.match(_ESCAPE.sub(r"\1", text[start:end])) is not None


def _opens_block(text: str, start: int) -> bool:
    """Whether the escaped `<` at `start` would begin a block of HTML, tag or not."""
    if _OPENS_BLOCK.match(text, start + 1) is None:
        return False
    return _PREFIX.fullmatch(text, text.rfind("\n", 0, start) + 1, start) is not None


def _paragraphs(text: str, blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where the paragraphs with an escape in them begin and end; none of them is code."""
    rest = iter(blocks)
    block = next(rest, None)
    here = 0
    while (escape := _IN_QUESTION(text, here)) is not None:
        found = escape.start()
        while block is not None and block[1] <= found:
            block = next(rest, None)
        if block is not None and block[0] <= found:
            here = block[1]
            continue
        start = text.rfind("\n", here, found) + 1 or here
        while start > here and text.endswith("\\\n", 0, start):
            start = text.rfind("\n", here, start - 1) + 1 or here
        end = text.find("\n", found)
        while end > 0 and text[end - 1] == "\\":
            end = text.find("\n", end + 1)
        end = len(text) if end < 0 else end
        yield start, end
        here = end


class _Signs:
    """The signs of one kind in a paragraph: where runs of escaped ones are, and whether there are others."""

    __slots__ = ("is_marking", "runs")

    def __init__(self) -> None:
        self.runs: list[tuple[int, int]] = []
        self.is_marking = False

    def add(self, start: int) -> None:
        if self.runs and self.runs[-1][1] == start:
            self.runs[-1] = (self.runs[-1][0], start + 2)
        else:
            self.runs.append((start, start + 2))


def _alert(found: re.Match[str]) -> str:
    """The first line of a quotation that says what it is, as its page shows it: nobody made an alert of it there."""
    outer, items, kind = found.groups()
    return f"{outer}{items}> [!{kind}]\n{outer}{' ' * len(items)}> "


def _paragraph(text: str) -> str:
    if "\\[!" in text:
        text = _ALERT.sub(_alert, text, count=1) if _ALERT.match(text) else text
    firsts, code = _firsts(text), CodeSpans(text)
    signs = {"*": _Signs(), "_": _Signs(), "~": _Signs()}
    dropped: list[int] = []  # where a backslash can go
    brackets: list[tuple[int, bool]] = []
    here = 0
    while (sign_at := _ANY_TOKEN(text, here)) is not None:
        found = _TOKEN.match(text, sign_at.start())
        if found is None:
            here = sign_at.end()
            continue
        start, here = found.span()
        match found.lastgroup:
            case "code":
                here = code.end(start, here)
            case "target":
                _close_link(brackets)
            case "sign" if (sign := found["sign"]) == "[":
                brackets.append((start, False))
            case "sign" if sign == "]":
                _close_link(brackets)
            case "sign" if sign != "_" or not _is_within_word(text, start, here):
                signs[sign].is_marking = True
            case "escaped":
                sign = found["escaped"]
                if sign in signs:
                    signs[sign].add(start)
                elif sign == "[":
                    brackets.append((start, True))
                elif sign == "]" and brackets and brackets[-1][1]:
                    opening = brackets.pop()[0]
                    if _says_nothing(text, opening, start, opening in firsts):
                        dropped += (opening, start)
                elif sign == "\\":
                    if here < len(text) and text[here].isalnum():
                        dropped.append(start)
                elif sign in _FIRST and _is_idle_first(text, sign, start, firsts):
                    dropped.append(start)
    for sign, group in signs.items():
        if group.runs:
            dropped += _idle(text, sign, group, firsts)
    return _without(text, dropped)


def _is_idle_first(text: str, sign: str, start: int, firsts: set[int]) -> bool:
    """Whether a sign that can begin a block stands where one begins, and yet begins none."""
    if _FIRST[sign].match(text, start + 2):
        return False
    if start in firsts:
        return True
    digits = len(text[max(0, start - _DIGITS) : start]) - len(
        text[max(0, start - _DIGITS) : start].rstrip("0123456789")
    )
    return sign in ".)" and digits > 0 and start - digits in firsts


def _firsts(text: str) -> set[int]:
    """Where a line's own text begins: signs there can make it a list, a quotation, a table or a line."""
    found: set[int] = set()
    start = 0
    while start <= len(text):
        match = _PREFIX.match(text, start)
        assert match is not None
        found.add(match.end())
        start = text.find("\n", start) + 1
        if not start:
            break
    return found


def _close_link(brackets: list[tuple[int, bool]]) -> None:
    """What is escaped in a link's text and has no partner there has to stay so."""
    while brackets and brackets.pop()[1]:
        pass


def _says_nothing(text: str, opening: int, closing: int, is_first: bool) -> bool:
    """Whether brackets would be nothing but brackets: no link, definition, footnote, alert or box to tick."""
    if text[closing + 2 : closing + 3] in ("(", ":"):
        return False
    inside = text[opening + 2 : closing]
    return not inside.startswith(("!", "^")) and not (is_first and inside in _TASK)


def _idle(text: str, sign: str, group: _Signs, firsts: set[int]) -> Iterator[int]:
    """The backslashes before `sign` that keep nothing from happening."""
    if sign == "~":
        (start, end), *others = group.runs
        if not others and not group.is_marking and (start not in firsts or end - start < _FENCE_LENGTH):
            yield from range(start, end, 2)
        return
    roles = [_role(text, sign, *run) for run in group.runs]
    last_closing = max((number for number, (_, closes) in enumerate(roles) if closes), default=-1)
    for number, (run, (opens, closes)) in enumerate(zip(group.runs, roles, strict=True)):
        is_idle = not opens and not closes
        if not is_idle and not group.is_marking:
            # One that could only be the end has no beginning, since those before it stay escaped.
            is_idle = not opens or last_closing <= number
        # A line of nothing but signs is a rule, and a sign before a blank begins an item.
        if is_idle and (run[0] not in firsts or text[run[1] : run[1] + 1].isalnum()):
            yield from range(*run, 2)


def _role(text: str, sign: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a run of signs could begin and end emphasis, as CommonMark tells by their neighbours."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if not _is_plain(before) or not _is_plain(after):
        return True, True
    space_before, space_after = not before or before.isspace(), not after or after.isspace()
    mark_before, mark_after = _is_mark(before), _is_mark(after)
    left = not space_after and (not mark_after or space_before or mark_before)
    right = not space_before and (not mark_before or space_after or mark_after)
    if sign == "_":
        return left and (not right or mark_before), right and (not left or mark_after)
    return left, right


def _is_plain(char: str) -> bool:
    """Whether it is plain to see what a character is."""
    return char.isascii() or char.isalnum()


def _is_mark(char: str) -> bool:
    return char != "" and not char.isalnum() and not char.isspace()


def _without(text: str, dropped: list[int]) -> str:
    pieces: list[str] = []
    done = 0
    for place in sorted(dropped):
        pieces.append(text[done:place])
        done = place + 1
    return "".join((*pieces, text[done:])) if pieces else text
