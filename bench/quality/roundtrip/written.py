"""Reads documentation that others wrote, in Material's or MyST's dialect, as if it were one of our sources.

Only what they use is known here. What a generator makes by itself (command references, cross references, lists of
pages) has no source to be compared with: its place is marked, and blocks with the mark are left out of the comparison.
"""

from __future__ import annotations

import re
from typing import Final

MADE: Final = "\u2042"
"""Where the generator writes something of its own."""

_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n---\n", re.S)
_BLOCK: Final = re.compile(r'( *)(!!!|\?\?\?\+?|===) *([\w-]*)[^"\n]*(?:"(.*)")?[ \t]*')
_DIRECTIVE: Final = re.compile(r"( *)(`{3,}|:{3,})\{([\w:-]+)\} ?(.*)")
_OPTION: Final = re.compile(r":[\w-]+:.*")
_FENCE: Final = re.compile(r" *(`{3,}|~{3,})")
_ATTRIBUTES: Final = re.compile(r"[ \t]*\{:?[ \t]*(?:[.#][\w-]|loading=|data-|align=|width=)[^}\n]*\}")
_ICON: Final = re.compile(r":(?:octicons|material|fontawesome|simple)-[\w-]+:[ \t]*|:warning:|(?<=`)#!\w+ ")
_EMOJI: Final = {"white_check_mark": "✅", "x": "❌", "sweat_smile": "😅", "warning": "⚠️"}
_PLACE: Final = re.compile(r"<[A-Z]+_[A-Z_]+>")
_ROLE: Final = re.compile(r"\{[a-z:-]+\}`[^`]*`")
_MADE_LINE: Final = re.compile(r"( *)(?::::|--8<--|\{\{|<!--)")
_TERMS: Final = re.compile(r"^(\S[^\n]*)\n\n?: +([^\n]+(?:\n[ \t]+\S[^\n]*)*)\n(?=\n|\Z)", re.M)
_CODE_OPTIONS: Final = re.compile(r"^( *`{3,}[\w-]+)[ \t][^\n`]*$", re.M)
_NOTES: Final = ("note", "tip", "warning", "caution", "important", "danger", "hint", "attention", "error", "seealso")


def plain_fences(text: str) -> str:
    """`text` without what stands behind a code block's language, which only a project's own plug-ins understand."""
    return _CODE_OPTIONS.sub(r"\1", text)


def from_material(text: str) -> str:
    """A page for MkDocs with Material's theme."""
    text = _FRONT_MATTER.sub("", text)
    for name, sign in _EMOJI.items():
        text = text.replace(f":{name}:", sign)
    return _Material().convert(text.split("\n"))


def from_myst(text: str) -> str:
    """A page for Sphinx with MyST."""
    text = _FRONT_MATTER.sub("", text)
    return _ROLE.sub(MADE, _myst(text.split("\n")))


def _set_in(lines: list[str], start: int, width: int) -> int:
    """Where the lines end that are set in by at least `width`."""
    end = start
    for number in range(start, len(lines)):
        if not lines[number].strip():
            continue
        if len(lines[number]) - len(lines[number].lstrip()) < width:
            break
        end = number + 1
    return end


def _alert(kind: str, title: str, body: str, margin: str) -> list[str]:
    head = f"> [!{kind.upper()}] {title}".rstrip()
    return ["", *(margin + line for line in (head, *(f"> {line}".rstrip() for line in body.split("\n")))), ""]


def _boxed(name: str, label: str, body: str, margin: str) -> list[str]:
    longest = max((len(run) for run in re.findall(r"^ *(:{3,})", body, re.M)), default=2)
    fence = ":" * (longest + 1)
    return ["", *(margin + line for line in (f"{fence}{name} {label}", *body.split("\n"), fence)), ""]


class _Material:
    def convert(self, lines: list[str]) -> str:
        out: list[str] = []
        here = 0
        fence = ""
        while here < len(lines):
            line = lines[here]
            here += 1
            if fence or (opening := _FENCE.match(line)):
                fence = ("" if line.strip() == fence else fence) if fence else (opening[1] if opening else "")
                out.append(line)
            elif block := _BLOCK.fullmatch(line):
                end = _set_in(lines, here, len(block[1]) + 4)
                body = self.convert([one[len(block[1]) + 4 :] for one in lines[here:end]]).strip("\n")
                label = _ICON.sub("", block[4] or "").replace("\\", "").strip()
                match block[2]:
                    case "!!!":
                        out += _alert(block[3], label, body, block[1])
                    case "===":
                        out += _boxed("tab", label, body, block[1])
                    case _:
                        out += _boxed("details", label or block[3].title(), body, block[1])
                here = end
            elif _MADE_LINE.match(line):
                here = _set_in(lines, here, 4)
                out.append(MADE)
            else:
                out.append(_PLACE.sub(MADE, _ICON.sub("", _ATTRIBUTES.sub("", line))))
        return "\n".join(out)


def _myst(lines: list[str]) -> str:
    out: list[str] = []
    here = 0
    fence = ""
    while here < len(lines):
        line = lines[here]
        here += 1
        if fence:
            fence = "" if line.strip() == fence else fence
            out.append(line)
        elif found := _DIRECTIVE.fullmatch(line):
            margin, closing = found[1], found[2]
            end = next((n for n in range(here, len(lines)) if lines[n].strip() == closing), len(lines))
            inside = [one[len(margin) :] for one in lines[here:end]]
            while inside and (_OPTION.fullmatch(inside[0]) or not inside[0].strip()):
                inside.pop(0)
            out += _directive(found[3], found[4].strip(), inside, margin)
            here = end + 1
        elif opening := _FENCE.match(line):
            fence = opening[1]
            out.append(line)
        elif re.fullmatch(r"\([\w :-]+\)=|%.*", line):
            continue
        else:
            out.append(line)
    return _definitions("\n".join(out))


def _definitions(text: str) -> str:
    """Definition lists as our container has them, where a term has one definition of one paragraph."""
    return _TERMS.sub(lambda found: f":::definitions\n- {found[1]}\n  - {' '.join(found[2].split())}\n:::\n", text)


def _directive(name: str, label: str, inside: list[str], margin: str) -> list[str]:
    if name in _NOTES:
        body = "\n".join([label, *_myst(inside).split("\n")]).strip("\n")
        return _alert(name, "", body, margin)
    body = _myst(inside).strip("\n")
    if name == "admonition":
        return _alert("note", label, body, margin)
    if name == "tab":
        return _boxed("tab", label, body, margin)
    return ["", MADE, ""]
