"""Makes the URLs of a style sheet lead into the mirror. All else in it stays byte for byte."""

from __future__ import annotations

from collections.abc import Callable

from sitemirror.convert.link_values import Rewrite, rewrite_loaded
from sitemirror.convert.rewriting import Localizer, Relinker
from sitemirror.convert.source import PLAIN, Coding, Edit, Source, apply, declared_by_css


def localize_css(css: bytes, *, url: str, charset: str | None, target: Callable[[str], str]) -> bytes:
    """`css` with every URL replaced by what `target` says of it, absolute, normalised and without its fragment.

    `url` is where the sheet is from, `charset` what its Content-Type header said, which the sheet says itself then.
    """
    source = Source(css, charset, declared_by_css)
    edits = css_edits(source.text, source, Localizer(url, url, target).link)
    return source.edited(edits + source.redeclared_in_css())


def relink_css(css: bytes, *, change: Callable[[str], str | None]) -> bytes:
    """A localised sheet with its links changed: `change` sees each as it stands, without its fragment."""
    source = Source(css, None, declared_by_css)
    return source.edited(css_edits(source.text, source, Relinker(change).link))


def rewrite_style(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """The URLs of a style attribute."""
    edits = css_edits(text, coding, rewrite)
    return apply(text, edits) if edits else None


def css_edits(text: str, coding: Coding, rewrite: Rewrite) -> list[Edit]:
    """What has to change in `text`, which is CSS in a source's own characters."""
    from sitemirror.css_urls import find_urls, in_ascii, spelled, value  # Its patterns are slow to compile.

    edits: list[Edit] = []
    for start, end, quote in find_urls(coding.masked(text)):
        piece = text[start:end]
        # An escape says a character, so what has any is rewritten in what it says.
        says = value(coding.decode(piece)) if "\\" in piece else piece
        new = rewrite_loaded(says, coding if says is piece else PLAIN, rewrite)
        if new is not None and new != says:
            spelling = spelled(new, quote)
            edits.append((start, end, spelling if says is piece else in_ascii(spelling)))
    return edits
