"""Whole pages in the markup of well-known generators, beside the Markdown that a person has read and approved."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror.convert import convert_html, with_front_matter

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize("source", sorted(GOLDEN.glob("*.html")), ids=lambda path: path.stem)
def test_golden_pages(source: Path) -> None:
    """The page is converted to exactly the Markdown beside it."""
    page = convert_html(source.read_bytes(), url=f"https://example.com/docs/guide/{source.stem}.html")
    assert with_front_matter(page) == source.with_suffix(".md").read_text(encoding="utf-8")


def test_the_golden_pages_are_there() -> None:
    """An empty folder would pass for a good one."""
    assert len(list(GOLDEN.glob("*.html"))) >= 5
