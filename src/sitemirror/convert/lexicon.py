"""What words were found to say of the text that they name or stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

NOTHING: Final = 128  # what a word says that says nothing; more speaks for content

_NAME: Final = re.compile(r"[A-Z]?[a-z]+")
_SMALL: Final = bytes(sign if chr(sign) in "abcdefghijklmnopqrstuvwxyz" else 32 for sign in range(256))
_REMEMBERED: Final = 10_000  # names
_LONGEST: Final = 200  # characters of those
_TOLD: Final = 120  # characters of a block that is told by what it begins with
_BEGINNING: Final = 40  # characters of that


class _JudgedNames(dict[str, int]):
    """What the words of names come to. The pages of a site share theirs, and looking again would give the same."""

    def __init__(self, words: Mapping[str, int]) -> None:
        super().__init__()
        self._words = words

    def __missing__(self, name: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        total = sum(map(self._words.get, name_words(name), repeat(0)), NOTHING)
        found = 0 if total < 0 else 255 if total > 255 else total
        if len(name) <= _LONGEST:
            self[name] = found
        return found


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What words say: more than 0 speaks for content."""

    names: Mapping[str, int] = field(default_factory=dict)  # of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # the first words of a block, and pairs of them
    judged_names: Mapping[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "judged_names", _JudgedNames(self.names))

    def says(self, texts: Iterable[str]) -> dict[str, int]:
        """What the first words of blocks say together, as a byte; a long block is told by more than that."""
        get = self.words.get
        said = {}
        for text in texts:
            total = NOTHING
            if len(text) < _TOLD:
                for word in first_words(text):
                    total += get(word, 0)
            said[text] = 0 if total < 0 else 255 if total > 255 else total
        return said


def name_words(names: str) -> list[str]:
    """The words that classes and ids are made of."""
    if names.islower():  # as most are: in half the time, what is left when all other signs are blanks
        return names.encode("ascii", "replace").translate(_SMALL).decode().split()
    return " ".join(_NAME.findall(names)).lower().split()


def first_words(text: str) -> list[str]:
    """What a block begins with: words, and the first two of them together."""
    found = text[:_BEGINNING].lower().split()
    if len(found) > 1:
        found.append(f"{found[0]} {found[1]}")
    return found
