"""Remove the backslash escapes that a paragraph does not need.

The renderer escapes every character that could be syntax in some context. By CommonMark, this depends on its neighbours
and on the rest of the paragraph: `snake\\_case` means the same as `snake_case`. A paragraph is one line, or several
with hard breaks, since the renderer never wraps.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sitemirror.convert.render.code_ranges import CodeSpans, CodeTracker, code_fences

# A raw HTML tag by CommonMark.
_TAG: Final = (
    r"<(?:[A-Za-z][A-Za-z0-9-]*+(?:\s++[a-zA-Z_:][a-zA-Z0-9:._-]*+"
    r"(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?+|/[A-Za-z][A-Za-z0-9-]*+\s*+)>"
)
_PREFIX: Final = re.compile(r"(?:[ \t>]|[-*+] |[0-9]{1,9}[.)] |#{1,6} )*+")
# Tokens that are not text: escapes, backticks, brackets with link destinations, tags, autolinks. Each begins with a
# literal, which is ten times faster.
_SPECIAL: Final = (
    r"\\.|``*+|\[|\](?:\((?:<(?:[^<>\n\\]++|\\.)*+>|(?:[^\s()\\<]++|\\.|\((?:[^\s()\\]++|\\.)*+\))*+)"
    r"(?:\s++\"(?:[^\"\\]++|\\.)*+\")?+\))?+|<[^\s<>]++>"
)
_ANY_TOKEN: Final = re.compile(_SPECIAL).search
_ANY_TOKEN_OR_SIGN: Final = re.compile(rf"{_SPECIAL}|\*|_|~").search  # with delimiters that are not escaped
_MAYBE_TAG: Final = re.compile(
    rf"{_TAG}|<[!?]|<[A-Za-z][A-Za-z0-9.+-]*+:[^\s<>]*+>|<[^\s<>@]++@[^\s<>]++>|"
    # By CommonMark only complete tags count; some renderers are less strict about these.
    r"</?(?:script|style|iframe|object|embed|svg|math|form|input|button|meta|link|base|img|video|audio|textarea|select|"
    r"template|frame|frameset)\b",
    re.I,
)
_ESCAPE: Final = re.compile(r"\\(.)")
_LONGEST_TAG: Final = 1000  # characters of text that looks like a tag
_OPENS_BLOCK: Final = re.compile(r"<[A-Za-z/]")
# Text after a character at the beginning of a line that makes it a heading, an underline or an item.
_FIRST: Final = {
    "#": re.compile(r"#*+(?:\s|\Z)"),
    "=": re.compile(r"=*+\s*+(?:\n|\Z)"),
    **dict.fromkeys("-+.)", re.compile(r"[^A-Za-z0-9]|\Z")),
}
_QUESTIONABLE: Final = frozenset("*_[]~#=+.)\\-")  # depends on the paragraph
_IN_QUESTION: Final = re.compile(r"\\[*_\[\]~#=+.)\\-]").finditer
_ALERT: Final = re.compile(r"([ >]*)((?:[-*+] |[0-9]{1,9}[.)] )*+)> \\\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\\\] ")
_MOST: Final = 500_000  # characters of paragraphs that are parsed; a limit for abnormal pages
_DIGITS: Final = 9  # of the number of an item, at most
_FENCE_LENGTH: Final = 6  # three escaped characters
_TASK: Final = (" ", "x", "X")


def drop_needless_escapes(text: str) -> str:
    """Remove the escapes that have no effect."""
    # Most escapes are needless by their neighbours alone. For others the whole paragraph decides.
    ends: dict[int, int] = {}
    dropped, questions = _sort_escapes(text, ends)
    if not questions:
        return _without(text, dropped)
    pieces: list[str] = []
    done = passed = 0
    left = _MOST
    for start, end in _paragraphs(text, questions, ends):
        first = bisect_left(dropped, start, passed)
        last = bisect_left(dropped, end, first)
        paragraph = text[start:end]
        if first < last:
            paragraph = _without(paragraph, [place - start for place in dropped[first:last]])
        left -= len(paragraph)
        if left < 0:
            break
        for place in dropped[passed:first]:
            pieces.append(text[done:place])
            done = place + 1
        pieces += (text[done:start], _paragraph(paragraph))
        done, passed = end, last
    for place in dropped[passed:]:
        pieces.append(text[done:place])
        done = place + 1
    pieces.append(text[done:])
    return "".join(pieces)


def _sort_escapes(text: str, ends: dict[int, int]) -> tuple[list[int], list[int]]:
    """Find the escapes outside of code that have no effect, and those for which the paragraph decides.

    The latter include the last apparent escape of each code block, whose end is added to `ends`: paragraphs after it do
    not reach back further.
    """
    dropped: list[int] = []
    questions: list[int] = []
    is_code = CodeTracker(text).is_code
    blocks = iter(code_fences(text))
    block = next(blocks, None)
    start = text.find("\\")
    while start >= 0:
        while block is not None and block[1] <= start:
            block = next(blocks, None)
        if block is not None and block[0] <= start:
            here = block[1]
            if own := [found.start() for found in _IN_QUESTION(text, start, here)]:
                questions.append(own[-1])
                ends[own[-1]] = here
        else:
            here = start + 2
            sign = text[start + 1 : here]
            if sign == "_":
                is_idle = _is_within_word(text, start, here)
            else:
                is_idle = sign == "<" and _is_idle_bracket(text, start)
            if is_idle and not is_code(start):
                dropped.append(start)
            elif sign in _QUESTIONABLE:
                questions.append(start)
        start = text.find("\\", here)
    return dropped, questions


def _is_idle_bracket(text: str, start: int) -> bool:
    """True if the escaped `<` at `start` would be literal without its escape."""
    return not _may_be_tag(text, start + 1) and not _opens_block(text, start)


def _is_within_word(text: str, start: int, end: int) -> bool:
    """True if an underscore is between two letters or digits, where it is literal."""
    return text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()


def _may_be_tag(text: str, start: int) -> bool:
    """True if the `<` at `start` would begin a tag, also without the escapes after it."""
    if _MAYBE_TAG.match(text, start):
        return True
    end = text.find(">", start, start + _LONGEST_TAG) + 1
    return "\\" in text[start:end] and _MAYBE_TAG.match(_ESCAPE.sub(r"\1", text[start:end])) is not None


def _opens_block(text: str, start: int) -> bool:
    """True if the escaped `<` at `start` would begin an HTML block."""
    if _OPENS_BLOCK.match(text, start + 1) is None:
        return False
    return _PREFIX.fullmatch(text, text.rfind("\n", 0, start) + 1, start) is not None


def _paragraphs(text: str, questions: Sequence[int], ends: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each paragraph with an undecided escape."""
    here = 0
    for found in questions:
        if found < here:
            continue
        if found in ends:
            here = ends[found]
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


class _Firsts:
    """The positions where lines begin after their prefixes, where block syntax may start."""

    __slots__ = ("_places", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: set[int] | None = None  # computed on demand; few paragraphs need it

    def __contains__(self, place: int) -> bool:
        if self._places is None:
            text, start, more = self._text, 0, True
            self._places = set()
            while more:
                prefix = _PREFIX.match(text, start)
                assert prefix is not None
                self._places.add(prefix.end())
                start = text.find("\n", start) + 1
                more = start > 0
        return place in self._places


def _alert(found: re.Match[str]) -> str:
    """Keep literal alert syntax at the beginning of a quotation escaped."""
    outer, items, kind = found.groups()
    return f"{outer}{items}> [!{kind}]\n{outer}{' ' * len(items)}> "


def _paragraph(text: str) -> str:
    if "\\[!" in text:
        text = _ALERT.sub(_alert, text, count=1) if _ALERT.match(text) else text
    code, firsts = CodeSpans(text), _Firsts(text)
    runs: dict[str, list[tuple[int, int]]] = {}  # runs of escaped delimiters
    marking: set[str] = set()  # unescaped delimiters
    dropped: list[int] = []  # positions of needless backslashes
    brackets: list[tuple[int, bool]] = []
    any_token = _ANY_TOKEN_OR_SIGN if "\\*" in text or "\\_" in text or "\\~" in text else _ANY_TOKEN
    here = 0
    while (token := any_token(text, here)) is not None:
        start, here = token.span()
        match text[start]:
            case "\\":
                sign = text[start + 1]
                if sign in "*_~":
                    _add_run(runs.setdefault(sign, []), start)
                elif sign == "[":
                    brackets.append((start, True))
                elif sign == "]":
                    if brackets and brackets[-1][1]:
                        opening = brackets.pop()[0]
                        dropped += (opening, start) if _is_plain_bracket(text, opening, start, firsts) else ()
                elif sign == "\\":
                    if text[here : here + 1].isalnum():
                        dropped.append(start)
                elif sign in _FIRST and _is_idle_first(text, sign, start, firsts):
                    dropped.append(start)
            case "`":
                here = code.end(start, here)
            case "[":
                brackets.append((start, False))
            case "]":
                _close_link(brackets)
            case "<":
                pass
            case sign if sign != "_" or not _is_within_word(text, start, here):
                marking.add(sign)
    for sign, found in runs.items():
        dropped += _idle(text, sign, found, firsts, sign in marking)
    return _without(text, dropped)


def _add_run(runs: list[tuple[int, int]], start: int) -> None:
    """Add an escaped delimiter, which may extend the run before it."""
    if runs and runs[-1][1] == start:
        runs[-1] = (runs[-1][0], start + 2)
    else:
        runs.append((start, start + 2))


def _is_idle_first(text: str, sign: str, start: int, firsts: _Firsts) -> bool:
    """True if a character at the beginning of a line begins no block."""
    if _FIRST[sign].match(text, start + 2):
        return False
    if start in firsts:
        return True
    before = text[max(0, start - _DIGITS) : start]
    digits = len(before) - len(before.rstrip("0123456789"))
    return sign in ".)" and digits > 0 and start - digits in firsts


def _close_link(brackets: list[tuple[int, bool]]) -> None:
    """Discard unbalanced brackets in a link's text, which must stay escaped."""
    while brackets and brackets.pop()[1]:
        pass


def _is_plain_bracket(text: str, opening: int, closing: int, firsts: _Firsts) -> bool:
    """True if brackets would be literal: no link, definition, footnote, alert or checkbox."""
    if text[closing + 2 : closing + 3] in ("(", ":"):
        return False
    inside = text[opening + 2 : closing]
    return not inside.startswith(("!", "^")) and not (inside in _TASK and opening in firsts)


def _idle(text: str, sign: str, runs: list[tuple[int, int]], firsts: _Firsts, is_marking: bool) -> list[int]:
    """The needless backslashes before delimiters `sign`."""
    idle: list[int] = []
    if sign == "~":
        start, end = runs[0]
        if len(runs) == 1 and not is_marking and (end - start < _FENCE_LENGTH or start not in firsts):
            idle += range(start, end, 2)
        return idle
    roles = [_role(text, sign, *run) for run in runs]
    last_closing = max([number for number, (_, closes) in enumerate(roles) if closes], default=-1)
    for number, ((start, end), (opens, closes)) in enumerate(zip(runs, roles, strict=True)):
        is_idle = not opens and not closes
        if not is_idle and not is_marking:
            # A run that can only close has no opener, since those before it stay escaped.
            is_idle = not opens or last_closing <= number
        # A line of delimiters only is a rule, and one before a blank begins an item.
        if is_idle and (text[end : end + 1].isalnum() or start not in firsts):
            idle += range(start, end, 2)
    return idle


def _role(text: str, sign: str, start: int, end: int) -> tuple[bool, bool]:
    """True if a run is left-flanking and right-flanking by CommonMark."""
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
    """True if a character is an ordinary letter, digit or blank."""
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
