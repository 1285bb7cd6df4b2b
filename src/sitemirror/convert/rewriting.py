"""What a reference becomes: in a page as received (`Localizer`), in a page of the mirror (`Relinker`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

import ada_url

from sitemirror.convert.links import Resolver
from sitemirror.urls import InvalidUrl, joined, normalize, with_encoded_query

_WEB: Final = ("https://", "http://")


class Localizer:
    """Resolves references as a browser does and asks where they lead now. Pages repeat their links: asks once."""

    def __init__(
        self, url: str, base: str, target: Callable[[str], str], encoding: Callable[[], str | None] = lambda: None
    ) -> None:
        """`encoding` says that of the page, if it is asked for."""
        self._encoding = encoding
        self._page = url
        self._base = base
        # Empty where a base is nothing that references could simply be joined to.
        self._folder = base[: base.partition("?")[0].rfind("/") + 1] if base.startswith(_WEB) else ""
        self._target = target
        self._absolute: dict[str, str | None] = {}
        self._targets: dict[str, str] = {}
        self._links: dict[str, tuple[str | None, bool]] = {}  # what a reference becomes, and whether it is this page

    def based_on(self, href: str) -> Localizer:
        """The same for a page with a base element; one that is no address is as good as none."""
        try:
            return Localizer(self._page, normalize(href, self._page), self._target, self._encoding)
        except InvalidUrl:
            return self

    def link(self, reference: str, fragment: str) -> str | None:
        """What a reference with its fragment becomes; `None` if it stays."""
        known = self._links.get(reference)
        if known is None:
            absolute = self._resolve(reference)
            if absolute is None:
                return self._unfetchable(reference, fragment)
            if fragment and absolute == self._page:
                return fragment
            new: str | None = self._targets.get(absolute)
            if new is None:
                new = self._targets[absolute] = self._target(absolute)
            if new == absolute == self._page and not reference.strip():
                new = ""  # An empty reference means the page that it stands in, wherever that is.
            elif new == absolute and reference[:8].lower().startswith(_WEB):
                new = None
            known = self._links[reference] = new, absolute == self._page
        new, is_here = known
        if fragment and is_here:
            return fragment
        return None if new is None else new + fragment

    def address(self, reference: str, fragment: str) -> str | None:
        """The same for a reference that names a place on the web, whatever is saved: it becomes absolute."""
        absolute = self._resolve(reference)
        if absolute is None:
            return self._unfetchable(reference, fragment)
        return None if reference[:8].lower().startswith(_WEB) else absolute + fragment

    @cached_property
    def _urls(self) -> Resolver:
        return Resolver(self._base)

    def _resolve(self, reference: str) -> str | None:
        if reference in self._absolute:
            return self._absolute[reference]
        absolute: str | None
        absolute = joined(self._folder, reference) if self._folder else None
        if absolute is None:
            own = reference
            if "?" in reference and not reference.isascii():
                own = with_encoded_query(reference, self._encoding())
            try:
                absolute = normalize(self._urls[own] or own)
            except InvalidUrl:
                absolute = None
        self._absolute[reference] = absolute
        return absolute

    def _unfetchable(self, reference: str, fragment: str) -> str | None:
        """What is not fetched stays, unless it is relative (`//user@host`, too long): it would lead into the disk."""
        found = self._urls[reference] or ""
        if not found.startswith(_WEB) or ada_url.check_url(reference):
            return None
        return found + fragment


class Relinker:
    """Asks of each reference, as it stands, whether it changes."""

    def __init__(self, change: Callable[[str], str | None]) -> None:
        self._change = change

    def based_on(self, _href: str) -> Relinker:
        """References are taken as they stand."""
        return self

    def link(self, reference: str, fragment: str) -> str | None:
        """What a reference with its fragment becomes; `None` if it stays, as links within the page do."""
        new = self._change(reference) if reference else None
        return None if new is None else new + fragment

    def address(self, _reference: str, _fragment: str) -> str | None:
        """Addresses on the web do not depend on where a file is."""
        return None
