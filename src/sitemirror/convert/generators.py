"""Documentation generators: class names and content selectors, one TOML file each in `adapters/`.

A new generator needs a new file and no code. Matching dozens of class names on every page costs more than parsing it,
so the names of a generator are used only on pages whose head names it: in the generator meta element, or by the style
sheets and scripts that it loads. A few are recognised by an element of the body if no head names them: their pages are
often embedded in a site's own template. `common.toml` applies to every page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from turbohtml import Element

# Beside this file, as in every installed package: `importlib.resources` takes 7 ms to load.
_ADAPTERS: Final = Path(__file__).with_name("adapters")
_COMMON: Final = "common.toml"
_CLASS: Final = re.compile(r"\.[\w-]+")
_ID: Final = re.compile(r"#[\w-]+")
# Elements that menus, banners and the like are made of.
_BOXES: Final = ":is(div, article, section, aside, header, footer, nav, ul, ol, form, p, button, table, details)"
_MOST_REMEMBERED: Final = 2000  # class attributes cached across pages
_LONGEST_REMEMBERED: Final = 200  # characters of a cached one
_Value = TypeVar("_Value")


class ClassLookup(dict[str, _Value]):
    """A cache of look-ups by class attribute; a manual has few distinct ones on many elements."""

    def __init__(self, look_up: Callable[[str], _Value]) -> None:
        super().__init__()
        self._look_up = look_up

    def __missing__(self, classes: str) -> _Value:
        found = self._look_up(classes)
        if len(classes) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[classes] = found
        return found


@dataclass(frozen=True, slots=True)
class Tabs:
    """Selectors of the labels and panels inside a set of tabs."""

    labels: str
    panels: str


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """How pages of a generator are recognised, and the names of their parts; see `docs/adapters.md`."""

    name: str
    marks: tuple[str, ...] = ()
    sign: str = ""  # selects an element that hardly any other pages have
    needed: str = ""  # a mark counts only with this element: other sites may have files of that name
    content: str = ""
    around: str = ""  # selects section heads: the content contains all of them
    is_body: bool = False  # the content is the body without the chrome
    heading: str = ""  # selects a title outside of the content
    chrome: str = ""  # selects elements that are never content
    noise: str = ""
    unwrap: str = ""
    formulas: str = ""
    marks_formulas: bool = False  # Text between TeX delimiters elsewhere is no formula.
    previous: str = ""
    next: str = ""
    modified: str = ""  # selects the date of the last change
    titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    roles: Mapping[str, str] | None = None
    everywhere: Mapping[str, str] | None = None  # roles that apply to every page, since the name is unambiguous
    tabs: Mapping[str, Tabs] | None = None
    alerts: Mapping[str, str] | None = None
    languages: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The names of all generators of a page, merged with the common ones."""

    roles: Mapping[str, str]
    """Class name → role of an element: admonition, tabs, listing, numbered, signature, footnote …"""
    role_by_classes: ClassLookup[str | None]
    """Class attribute → role, by the first of its names that has one."""
    tabs: Mapping[str, Tabs]
    alerts: Mapping[str, str]
    """Name of an admonition → GitHub alert."""
    languages: Mapping[str, str]
    titles: str
    noise: str
    unwrap: str
    formulas: str
    marks_formulas: bool
    tags: tuple[str, ...]


def recognise_generators(signature: str, body: Element) -> tuple[Generator, ...]:
    """Recognise the generators of a page; often several, since themes build on one another."""
    found = tuple(one for one in _named(signature) if not one.needed or body.select_one(one.needed) is not None)
    if found:
        return found
    signed = _signed()
    # One query for all, since hardly any page matches.
    if body.select_one(", ".join(one.sign for one in signed)) is None:
        return ()
    return tuple(one for one in signed if body.select_one(one.sign) is not None)


@lru_cache(maxsize=64)  # Pages of a site share their style sheets.
def _named(signature: str) -> tuple[Generator, ...]:
    """The generators named in a page's head."""
    return tuple(one for one in generators() if any(mark in signature for mark in one.marks))


@cache
def _signed() -> tuple[Generator, ...]:
    """The generators that can be recognised by an element of the body."""
    return tuple(one for one in generators() if one.sign)


@cache
def generators() -> tuple[Generator, ...]:
    """All generators, in the order of their file names."""
    found = [entry for entry in _ADAPTERS.iterdir() if entry.name.endswith(".toml")]
    return tuple(
        read_generator(entry.read_text(encoding="utf-8"))
        for entry in sorted(found, key=lambda entry: entry.name)
        if entry.name != _COMMON
    )


@lru_cache(maxsize=64)
def vocabulary(found: tuple[Generator, ...] = ()) -> Vocabulary:
    """The vocabulary for a page of these generators."""
    common = read_generator(_ADAPTERS.joinpath(_COMMON).read_text(encoding="utf-8"))
    every = (common, *found)
    # Look-ups that cost nothing apply even if the head does not name the generator.
    known = (common, *generators())
    roles = _merged([*(one.everywhere for one in known), *(one.roles for one in every)])
    return Vocabulary(
        roles=roles,
        role_by_classes=ClassLookup(lambda classes: next(filter(None, map(roles.get, classes.split())), None)),
        tabs=_merged(one.tabs for one in known),
        alerts=_merged(one.alerts for one in every),
        languages=_merged(one.languages for one in every),
        titles=any_of(dict.fromkeys(title for one in known for title in one.titles)),
        noise=_joined(one.noise for one in every),
        unwrap=_joined(one.unwrap for one in every),
        formulas=_joined(one.formulas for one in every),
        marks_formulas=any(one.marks_formulas for one in every),
        tags=tuple(dict.fromkeys(tag for one in every for tag in one.tags)),
    )


def read_generator(text: str) -> Generator:
    """Read a generator from the text of its file; raises `ValueError` for unknown keys."""
    import tomllib  # loaded with the first page

    data = tomllib.loads(text)
    tabs: Sequence[Mapping[str, str]] = data.pop("tabs", ())
    content: Sequence[str] = data.pop("content", ())
    generator = Generator(
        name=data.pop("name"),
        marks=tuple(data.pop("recognised_by", ())),
        sign=any_of(data.pop("recognised_in", ())),
        needed=any_of(data.pop("only_with", ())),
        content=any_of([selector for selector in content if selector != "body"]),
        around=any_of(data.pop("around", ())),
        is_body="body" in content,
        heading=any_of(data.pop("heading", ())),
        chrome=_chrome(data.pop("chrome", ())),
        noise=any_of(data.pop("noise", ())),
        unwrap=any_of(data.pop("unwrap", ())),
        formulas=any_of(data.pop("formulas", ())),
        marks_formulas=data.pop("marks_formulas", False),
        previous=any_of(data.pop("previous", ())),
        next=any_of(data.pop("next", ())),
        modified=any_of(data.pop("modified", ())),
        titles=tuple(data.pop("titles", ())),
        tags=tuple(data.pop("tags", ())),
        roles=_by_name(data.pop("classes", {})),
        everywhere=_by_name(data.pop("everywhere", {})) | {one["box"]: "tabs" for one in tabs},
        tabs={one["box"]: Tabs(one["labels"], one["panels"]) for one in tabs},
        alerts=data.pop("alerts", {}),
        languages=data.pop("languages", {}),
    )
    if data:
        raise ValueError(f"{generator.name}: unknown {', '.join(sorted(data))}")
    return generator


def _chrome(selectors: Sequence[str]) -> str:
    """Join chrome selectors; bare class names and ids match only block elements."""
    classes = [one for one in selectors if _CLASS.fullmatch(one)]
    ids = [one for one in selectors if _ID.fullmatch(one)]
    others = [one for one in selectors if one not in classes and one not in ids]
    # The id of a section comes from its heading and may be any word.
    of_classes = [f"{_BOXES}[class]:is({', '.join(classes)})"] if classes else []
    of_ids = [f"{_BOXES}[id]:is({', '.join(ids)}):not(section)"] if ids else []
    return ", ".join((*others, *of_classes, *of_ids))


def _by_name(names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {name: role for role, every in names.items() for name in every}


def any_of(selectors: Iterable[str]) -> str:
    """Join selectors. Class names go into one `:is()`, which takes less than half the time."""
    every = list(selectors)
    classes = [one for one in every if _CLASS.fullmatch(one)]
    others = [one for one in every if one not in classes]
    return ", ".join([*others, f"[class]:is({', '.join(classes)})"] if len(classes) > 1 else every)


def _joined(selectors: Iterable[str]) -> str:
    return ", ".join(filter(None, selectors))


def _merged(mappings: Iterable[Mapping[str, _Value] | None]) -> dict[str, _Value]:
    merged: dict[str, _Value] = {}
    for mapping in mappings:
        merged.update(mapping or {})
    return merged
