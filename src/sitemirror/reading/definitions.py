"""Find what a page defines: functions, classes, options, settings, parameters, terms.

Reference manuals become lists in Markdown. An item that is nothing but code (``- `json.loads(s)` ``) defines a name,
and what is indented below it belongs to that. A name with a text beside it (``- **s** – the text``) is a weaker sign,
as is the first cell of a table's row.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple
from urllib.parse import unquote

from sitemirror.links.markdown import body_start


class Strength(IntEnum):
    """How sure it is that a name is defined and not only mentioned."""

    MENTIONED = 1
    """A name in bold or code that begins an item or a row, with a text beside it: parameters, fields, summaries."""
    NAMED = 2
    """An item or a heading that is one name."""
    SIGNATURE = 3
    """The same with arguments, a type or an owner."""


class Definition(NamedTuple):
    """A name that a page defines."""

    name: str  # with its owners, joined with dots: "json.JSONDecoder.decode"
    line: int  # in the file, counted from 1
    strength: Strength


_LINK_END: Final = r"\]\((?:<[^>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[ \t]+\"[^\"\n]*\")?\)"
_SOURCE: Final = re.compile(r"\[\[[^\[\]\n]*\]" + _LINK_END)  # [[source]](…)
_LINK: Final = re.compile(r"\[([^\[\]\n]*)" + _LINK_END)
_CANDIDATE: Final = re.compile(
    r"\n(?:"
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?P<fence>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})"
    r"|(?P<indent>[ \t]*)[-*+][ \t]+(?P<item>(?:\*\*|`|\[)[^\n]*)"
    r"|\|[ \t]*(?P<cell>(?:\*\*|`|\[)[^\n]*)"
    r"|(?P<level>#{1,6})[ \t]+(?P<title>[^\n]*)"
    r"|(?P<margin>[ \t]*)(?P<paragraph>`[^\n]*`[ \t\r]*(?=\n|\Z))"
    r")"
)
_FRAGMENT: Final = re.compile(r"\]\(#([A-Za-z_][\w]*(?:\.[\w]+)+)(?=[\s)])")
_MODULE: Final = re.compile(r"\]\(#module-([A-Za-z_][\w.]*)(?=[\s)])")
_NAMED_LINK: Final = re.compile(r"\[`+([^`\[\]\n]+)`+\]\(<?([^()\s<>#]+(?:#[^()\s<>]+)?)(?=[\s)>])")
_DOTTED: Final = re.compile(r"(?:module-)?[A-Za-z_]\w*(?:\.\w+)+")
_REFERENCE: Final = re.compile(r"\[[^\[\]\n]*\]\((?!#)")
_CODE: Final = re.compile(r"(`+)([ \t]*[^`].*?)\1(?!`)")
_BOLD: Final = re.compile(r"\*\*((?:[^*\\\n]|\\.)+)\*\*")
_AFTER_NAME: Final = re.compile(r"[ \t\r\\,;/|.:¶]*\Z")
_TYPE: Final = re.compile(r"[ \t]*(?::[ \t]|\(|→|->)")
_BESIDE: Final = re.compile(r"[ \t]*(?:[–—:(|→=,]|-[ \t]|<br>|\Z)")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_KEYWORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    abstract abstractmethod annotation async attribute awaitable class classmethod command const constructor
    coroutine crate def default define deprecated enum event exception extern field filter final fn func
    function in inline interface impl lookup macro method module mut namespace new object operator optional
    out override package private property protected pub public readonly record sealed setting signal static
    staticmethod struct synchronized template tag trait transient type typealias typedef union unsafe using
    val var variable virtual void volatile where
    """,
    )
)
_CUT: Final = re.compile(r"[(\[{=]|(?<=\S)<|[ \t](?:->|→)[ \t]|:[ \t]|[ \t]#")
_OPTION: Final = re.compile(r"(?:^|[ \t,/|])(--?[A-Za-z?][\w-]*)")
_NAME: Final = re.compile(r"[^\W\d][\w$!?-]*(?:(?:\.|::|->|#|/)[~\w$-]+)*|[@$%.][\w.-]+|[!-/:-@\[-`{-~]{1,5}")
_SEPARATOR: Final = re.compile(r"\.|::|->|#|/")
_MOST: Final = 300  # characters of a signature that are looked at


def definitions(markdown: str) -> Iterator[Definition]:
    """Yield what a page's file defines, in order."""
    start = body_start(markdown)
    text = "\n" + markdown[start:]
    line = markdown.count("\n", 0, start)
    here = 0
    fence = ""
    known = _named_in_links(text)
    for module in dict.fromkeys(_MODULE.findall(text)):
        yield Definition(module, line + 1, Strength.NAMED)
    owners: list[tuple[int, str]] = []  # indentation and name of the definitions around
    for match in _CANDIDATE.finditer(text):
        line += text.count("\n", here, match.start() + 1)
        here = match.start() + 1
        if match["fence"]:
            if not fence:
                fence = match["fence"]
            elif match["fence"].startswith(fence) and not text[match.end() : text.find("\n", match.end())].strip():
                fence = ""
            continue
        if fence:
            continue
        if match["level"]:
            owners.clear()
            yield from (
                Definition(known.get(name, name), line, strength) for name, strength in _in_title(match["title"])
            )
            continue
        indent = len((match["indent"] or match["margin"] or "").expandtabs(4))
        while owners and owners[-1][0] >= indent:
            owners.pop()
        around = owners[:-1] if match["paragraph"] else owners  # A signature below another one is its neighbour.
        owner = around[-1][1] if around else ""
        item = match["item"] or ""
        for number, (name, strength) in enumerate(_read(item or match["cell"] or match["paragraph"])):
            full = name if not owner or "." in name else f"{owner}.{name}"
            full = known.get(full, full)
            if match["cell"] is not None:
                strength = Strength.MENTIONED
            if strength > Strength.MENTIONED and not number and item.startswith("`"):
                owners.append((indent, full))
            yield Definition(full, line, strength)


class Reference(NamedTuple):
    """A link to another page whose text is a name that the link's address ends with, too."""

    name: str
    target: str  # URL, or path below the mirror's folder


def references(markdown: str, path: str) -> set[Reference]:
    """Find the names that a page's links say other pages define. `path` is the page's own file."""
    found: set[Reference] = set()
    for code, destination in _NAMED_LINK.findall(markdown):
        target, _, fragment = destination.partition("#")
        if not target:
            continue
        text = _names(code, Strength.NAMED)
        end = fragment or target.rpartition("/")[2].rpartition(".")[0]
        last = _parts(text[0][0])[-1] if text else ""
        if not last or not end.endswith(last) or end[: -len(last)][-1:].isalnum():
            continue
        is_dotted = "." in end and _DOTTED.fullmatch(end)
        name = ".".join(_without_kinds(end.removeprefix("module-").split("."))) if is_dotted else text[0][0]
        if "://" not in target:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
        found.add(Reference(name, target))
    return found


def split_name(name: str) -> list[str]:
    """Split a name into its owners and itself, in lower case: `std::vector` → `std`, `vector`."""
    return _parts(name.lower())


def _parts(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(name) if part] or [name]


def _named_in_links(text: str) -> dict[str, str]:
    """Read full names from links within the page: a name and its ends, each with the whole.

    `[decode()](#json.JSONDecoder.decode)` says to which module the class belongs. Ends that belong to two names are
    left out.
    """
    found: dict[str, str] = {}
    for fragment in dict.fromkeys(_FRAGMENT.findall(text)):
        parts = _without_kinds(fragment.split("."))
        for start in range(1, len(parts)):
            end = ".".join(parts[start:])
            found[end] = "" if end in found else ".".join(parts)
    return {end: whole for end, whole in found.items() if whole}


def _without_kinds(parts: list[str]) -> list[str]:
    """Leave out what kind of a thing a name is: `c.PyList_New`, `method.push`."""
    while len(parts) > 1 and (parts[0].lower() in _KEYWORDS or len(parts[0]) == 1):
        parts = parts[1:]
    return parts


def _in_title(title: str) -> list[tuple[str, Strength]]:
    """Read a heading that is one name, or `class Name`."""
    if _REFERENCE.match(title):
        return []
    title = _LINK.sub(r"\1", _SOURCE.sub("", title))
    code = _CODE.search(title)
    if code is not None:
        before, after = title[: code.start()].split(), title[code.end() :]
        if len(before) <= 2 and _BESIDE.match(after.rstrip("# \r")):
            return _names(code[2], Strength.NAMED)
        return []
    words = _ESCAPE.sub(r"\1", title).rstrip("# \r").split()
    if not words or len(words) > 3 or not any(re.search(r"[_(:.]|\w[A-Z]", word) for word in words[-1:]):
        return []
    return _names(" ".join(words), Strength.NAMED)


def _read(text: str) -> list[tuple[str, Strength]]:
    """Read the names that an item, cell or paragraph begins with, unless they link elsewhere."""
    text = _SOURCE.sub("", text)
    if _REFERENCE.match(text):
        return []
    is_linked = text.startswith("[")
    text = _LINK.sub(r"\1", text)
    bold = _BOLD.match(text)
    inner = bold[1] if bold is not None else text
    code = _CODE.match(inner)
    if code is None:
        if bold is None:
            return []
        term = _ESCAPE.sub(r"\1", bold[1]).strip()
        rest = text[bold.end() :]
        if _AFTER_NAME.match(rest) and len(term) <= _MOST:
            return [(" ".join(term.split()), Strength.NAMED)]
        return _names(term, Strength.MENTIONED) if _BESIDE.match(rest) else []
    rest = inner[code.end() :] if bold is None else inner[code.end() :] + text[bold.end() :]
    found = [code[2]]
    while (separator := re.match(r"[ \t]*(?:,|/|\||or|<br>|\\)[ \t]*", rest)) and (
        more := _CODE.match(rest, separator.end())
    ):
        found.append(more[2])
        rest = rest[more.end() :]
    if _AFTER_NAME.match(rest) and not is_linked:
        strength = Strength.NAMED
    elif _BESIDE.match(rest):
        strength = Strength.MENTIONED
    else:
        return []
    if rest.lstrip().startswith("(") and strength is Strength.MENTIONED:  # `name` ( `argument` ) → `type`
        found += re.findall(r"<br>`([^\W\d]\w*)` \(", rest)
    return [each for signature in found for each in _names(signature, strength)]


def _names(signature: str, strength: Strength) -> list[tuple[str, Strength]]:
    """Read the name in a signature; several for an option with several spellings."""
    signature = " ".join(signature[:_MOST].split())
    options = _OPTION.findall(signature) if signature.startswith("-") else []
    if options:
        return [(option, strength) for option in options]
    cut = _CUT.search(signature, 1)
    words = (signature[: cut.start()] if cut else signature).split()
    while len(words) > 1 and words[0].strip("[]").lower() in _KEYWORDS:
        del words[0]
    if not words or len(words) > 5:
        return []
    has_arguments = cut is not None and signature[cut.start()] in "([{<"
    word = words[-1] if has_arguments or _SEPARATOR.search(words[-1]) else words[0]
    found = _NAME.match(word.lstrip("*&") or word)
    if found is None:
        return []
    name = ".".join(_parts(found[0].rstrip("-")))
    if strength is Strength.NAMED and (cut is not None or "." in name or len(words) > 1):
        strength = Strength.SIGNATURE
    names = [(name, strength)]
    if not has_arguments and 1 < len(words) <= 3 and strength > Strength.MENTIONED:
        names.append((" ".join(words), strength))  # `django-admin migrate`, `not in`
        if words[-1] != word and (last := _NAME.match(words[-1])):
            names.append((last[0], Strength.NAMED))
    return names
