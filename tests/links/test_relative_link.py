"""A link between two files of the mirror is found by whoever opens the copy from disk."""

from __future__ import annotations

from urllib.parse import quote, unquote

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.resolve import relative_link

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


@pytest.mark.parametrize(
    ("here", "there", "link"),
    [
        ("index.html", "index.html", "index.html"),
        ("index.html", "a/index.html", "a/index.html"),
        ("a/index.html", "index.html", "../index.html"),
        ("a/b/index.html", "a/c/index.html", "../c/index.html"),
        ("a/index.html", "a/b.css", "b.css"),
        ("a/b/c.html", "a/b/c.html", "c.html"),
        ("a/b/c.html", "a/b", "../b"),
        ("x/index.html", "_external/cdn.example_8080/s.css", "../_external/cdn.example_8080/s.css"),
        ("index.html", "100% what?#1 (x)'&\".png", "100%25%20what%3F%231%20%28x%29%27%26%22.png"),
        ("index.html", "straße/日本.html", "stra%C3%9Fe/%E6%97%A5%E6%9C%AC.html"),
        ("index.html", "mailto:x/a.html", "./mailto:x/a.html"),
        ("a/index.html", "a/c:d.html", "./c:d.html"),
        ("a/index.html", "c:d.html", "../c:d.html"),
    ],
)
def test_links_are_relative_and_encoded(here: str, there: str, link: str) -> None:
    """Characters with a meaning in URLs are percent-encoded."""
    assert relative_link(here, there) == link


@given(PATHS, PATHS)
def test_links_resolve_to_the_file(here: str, there: str) -> None:
    """Resolved against the file's URL, the link gives the other file's path."""
    link = relative_link(here, there)
    found = ada_url.URL(link, "file:///mirror/" + quote(here))
    assert link.isascii()
    assert unquote(found.pathname) == f"/mirror/{there}"
    assert not found.search
    assert not found.hash
