"""What words were found to say of the text that they name or stand in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

NOTHING: Final = 128  # what a word says that says nothing; more speaks for content

_NAME: Final = re.compile(r"[A-Z]?[a-z]+")
_SMALL: Final = bytes(sign if chr(sign) in "abcdefghijklmnopqrstuvwxyz" else 32 for sign in range(256))
_REMEMBERED: Final = 10_000  # names, or texts
TOLD: Final = 120  # characters of a block that is told by what it begins with, and of what is remembered
_BEGINNING: Final = 40  # characters of that


class _Judged(dict[str, int]):
    """What is said by names, or texts. The pages of a site share theirs, and looking again would give the same."""

    def __init__(self, judge: Callable[[str], int]) -> None:
        super().__init__()
        self._judge = judge

    def __missing__(self, text: str) -> int:
        found = self._judge(text)
        if len(text) < TOLD:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = found
        return found


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What words say: more than 0 speaks for content."""

    names: Mapping[str, int] = field(default_factory=dict)  # of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # the first words of a block, and pairs of them
    judged_names: Mapping[str, int] = field(init=False, compare=False, repr=False)
    """What all names of a part say together, as a byte."""
    judged_texts: Mapping[str, int] = field(init=False, compare=False, repr=False)
    """What the first words of a block say together, as a byte; a long block is told by more than that."""

    def __post_init__(self) -> None:
        # What a part is called is often made of the same few names, in ever new ways.
        single = _Judged(self._name)
        together = _Judged(lambda names: _byte(sum(map(single.__getitem__, names.split()), NOTHING)))
        object.__setattr__(self, "judged_names", together)
        object.__setattr__(self, "judged_texts", _Judged(self._text))

    def _name(self, name: str) -> int:
        return sum(map(self.names.get, name_words(name), repeat(0)))

    def _text(self, text: str) -> int:
        total, get = NOTHING, self.words.get
        if len(text) < TOLD:
            for word in first_words(text):
                total += get(word, 0)
        return _byte(total)


def _byte(number: int) -> int:
    return 0 if number < 0 else 255 if number > 255 else number


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
