"""The small parts that Markdown's links are made of: destinations, titles, labels, tags. Each where it begins.

Offsets are into the text of one block; what spans lines there is put back into the file by whoever knows the lines.
"""

from __future__ import annotations

import html
import re
from typing import Final, NamedTuple

TAG: Final = (
    r"<(?:[A-Za-z][A-Za-z0-9-]*+(?:\s++[a-zA-Z_:][a-zA-Z0-9:._-]*+"
    r"(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?+|/[A-Za-z][A-Za-z0-9-]*+\s*+)>"
)
_GAP: Final = re.compile(r"[ \t]*+(?:\n[ \t]*+)?+")
_ANGLED: Final = re.compile(r"<((?:[^<>\n\\]++|\\.)*+)>")
_BREAK: Final = re.compile(r"[()\\\x00-\x20\x7f]")
_TITLE: Final = re.compile(r"\"(?:[^\"\\]++|\\[\s\S])*+\"|'(?:[^'\\]++|\\[\s\S])*+'|\((?:[^()\\]++|\\[\s\S])*+\)")
_LABEL: Final = re.compile(r"\[((?:[^\\\[\]]|\\[\s\S]){0,999}+)\]")
_LINE_END: Final = re.compile(r"[ \t]*+(?:\n|\Z)")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,40});")
_SPOKEN: Final = re.compile(rf"{_ESCAPED.pattern}|(?:\\|[ \t]+)\n")
_MAX_PARENTHESES: Final = 32  # within each other; more are no link in any renderer, and would take long to find out


class Spot(NamedTuple):
    """A destination: where it is, pointed brackets included, and what it says."""

    start: int
    end: int
    url: str


class Definition(NamedTuple):
    """A reference definition."""

    label: str
    spot: Spot


def resolved(text: str) -> str:
    """`text` without backslash escapes and character references."""
    return _ESCAPED.sub(lambda found: found[1] or html.unescape(found[0]), text)


def spoken(text: str) -> str:
    """The same for text that is read: what makes a line break is no part of it."""
    return _SPOKEN.sub(lambda found: "\n" if found[0][-1] == "\n" else found[1] or html.unescape(found[0]), text)


def normalized(label: str) -> str:
    """What two labels have in common that mean the same definition."""
    return " ".join(label.split()).casefold()


def skip_gap(text: str, here: int) -> int:
    """The end of blanks and at most one line end."""
    found = _GAP.match(text, here)
    return here if found is None else found.end()


def destination(text: str, here: int) -> Spot | None:
    """The destination at `here`, which is not empty unless it says so by `<>`."""
    if text.startswith("<", here):
        found = _ANGLED.match(text, here)
        return None if found is None else Spot(here, found.end(), resolved(found[1]))
    depth, end = 0, here
    while (stop := _BREAK.search(text, end)) is not None:
        end = stop.start()
        match stop[0]:
            case "(":
                depth += 1
                if depth > _MAX_PARENTHESES:
                    return None
            case ")":
                if not depth:
                    break
                depth -= 1
            case "\\" if end + 1 < len(text) and text[end + 1] > " ":
                end += 1
            case "\\":
                pass
            case _:
                break
        end += 1
    else:
        end = len(text)
    return Spot(here, end, resolved(text[here:end])) if end > here and not depth else None


def title_end(text: str, here: int) -> int | None:
    """The end of the title at `here`."""
    found = _TITLE.match(text, here)
    return None if found is None else found.end()


def label(text: str, here: int) -> tuple[str, int] | None:
    """The label in brackets at `here`, and its end. It may be empty."""
    found = _LABEL.match(text, here)
    return None if found is None else (found[1], found.end())


def definitions(text: str) -> tuple[list[Definition], int]:
    """The reference definitions that a paragraph begins with, and where its own text begins."""
    found: list[Definition] = []
    here = 0
    while text.startswith("[", here) and (one := _definition(text, here)) is not None:
        definition, here = one
        found.append(definition)
    return found, here


def _definition(text: str, here: int) -> tuple[Definition, int] | None:
    name = label(text, here)
    if name is None or not name[0].strip() or not text.startswith(":", name[1]):
        return None
    spot = destination(text, skip_gap(text, name[1] + 1))
    if spot is None:
        return None
    bare = _LINE_END.match(text, spot.end)
    gap = skip_gap(text, spot.end)
    if gap > spot.end and (title := title_end(text, gap)) is not None:
        end = _LINE_END.match(text, title)
        if end is not None:
            return Definition(normalized(name[0]), spot), end.end()
    return None if bare is None else (Definition(normalized(name[0]), spot), bare.end())
