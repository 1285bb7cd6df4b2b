"""Reads one start tag where it stands in the source: what its attributes say, and where to write what they say now."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import turbohtml

from sitemirror.convert.source import Coding, Edit

_BLANK: Final = r"\t\n\f\r "
_NAME: Final = re.compile(rf"<[A-Za-z][^{_BLANK}/>]*+")
_ATTRIBUTE: Final = re.compile(
    rf"[{_BLANK}/]*+([^{_BLANK}/>][^{_BLANK}/>=]*+)"
    rf"(?:[{_BLANK}]*+=[{_BLANK}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_BLANK}>\"'][^{_BLANK}>]*+)|(?=>)))?+"
)
_END: Final = re.compile(rf"[{_BLANK}/]*+>")
_BARE: Final = re.compile(rf"[^{_BLANK}\"'=<>`]+")
_QUOTES: Final = ("", "", '"', "'", "")  # by the last group of _ATTRIBUTE that matched


class Attribute(NamedTuple):
    """One attribute in the source."""

    raw: str  # the value as written, without its quotes
    start: int  # of the name
    value: int  # where the value begins, quotes included
    end: int
    quote: str
    lead: str  # what a value needs before it: `=` after a name that stands alone

    @property
    def is_plain(self) -> bool:
        """Whether the value, once decoded, is what is written."""
        return "&" not in self.raw and "\0" not in self.raw

    def says(self, coding: Coding) -> str:
        """The value, with its character references resolved."""
        if self.is_plain:
            return coding.decode(self.raw)
        # Which references count depends on what follows them, in values only; the tokenizer knows.
        token = next(iter(turbohtml.tokenize(f"<a b={self.quote}{coding.decode(self.raw)}{self.quote} >")))
        return (token.attrs or [("", "")])[0][1]

    def replaced(self, text: str) -> Edit:
        """The edit that gives the attribute another value."""
        text = text.replace("&", "&amp;")
        if self.quote or not self.raw or not _BARE.fullmatch(text):
            quote = self.quote or '"'
            text = quote + text.replace(quote, "&quot;" if quote == '"' else "&#39;") + quote
        return self.value, self.end, self.lead + text


class Tag:
    """One start tag in the source."""

    __slots__ = ("end", "names", "start")

    def __init__(self, start: int, end: int, names: dict[str, re.Match[str]]) -> None:
        self.start = start
        self.end = end
        self.names = names  # lower-cased; of two attributes with the same name the first counts

    def __getitem__(self, name: str) -> Attribute:
        found = self.names[name]
        group = found.lastindex or 1
        end = found.end()
        if group == 1:
            return Attribute("", found.start(1), end, end, "", "=" if found.end(1) == end else "")
        quote = _QUOTES[group]
        return Attribute(found[group], found.start(1), found.start(group) - len(quote), end, quote, "")

    def without(self, name: str) -> Edit | None:
        """The edit that takes an attribute out."""
        found = self.names.get(name)
        if found is None:
            return None
        start, end = found.start(1), found.end()
        # With the blank before it, unless that is all that keeps its neighbours apart.
        alone = found.string[end] in "\t\n\f\r >" and found.string[start - 1] in "\t\n\f\r "
        return start - alone, end, ""


def read_tag(text: str, start: int) -> Tag | None:
    """The start tag at `start`; `None` if there is none."""
    name = _NAME.match(text, start)
    if name is None:
        return None
    here = name.end()
    names: dict[str, re.Match[str]] = {}
    while (found := _ATTRIBUTE.match(text, here)) is not None:
        here = found.end()
        names.setdefault(found[1].lower(), found)
    end = _END.match(text, here)
    return None if end is None else Tag(start, end.end(), names)
