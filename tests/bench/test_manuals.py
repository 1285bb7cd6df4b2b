"""Nothing of a manual's content is missing, and nothing of its navigation is left, on a sample of its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.quality.manuals import MANUALS, Count, Manual, check, measure, pages

SAMPLE = 8


@pytest.mark.parametrize("manual", MANUALS, ids=lambda manual: manual.name)
def test_manuals_come_whole(manual: Manual) -> None:
    """Headings, code blocks and tables of a few pages are all in the Markdown, links of the menus are not."""
    found = pages(manual)
    if not found:
        pytest.skip(f"needs the {manual.name} manual from the system's packages")
    count = measure(manual, every=len(found) // SAMPLE)
    assert count.pages
    assert count.missing == []
    assert count.left == []


def test_losses_are_counted(tmp_path: Path) -> None:
    """What is lost on the way, and a menu that is left, are both told."""
    page = tmp_path / "page.html"
    page.write_text(
        "<main><h1>One</h1><p>x</p><div hidden><h2>Two</h2><pre>code</pre></div></main>"
        '<div class="menu"><p>text <a href="menu.html">Menu</a></p></div>',
        encoding="utf-8",
    )
    count = Count()
    check(Manual("Own", str(tmp_path), ("body",), ".menu"), page, count)
    assert count.expected == {"heading": 2, "code block": 1}
    assert [line.partition(": ")[2] for line in count.missing] == ["heading: Two", "code block: code"]
    assert [line.rpartition("/")[2] for line in count.left] == []
    count = Count()
    page.write_text('<p>text</p><div class="menu"><p>text <a href="menu.html">Menu</a></p></div>', encoding="utf-8")
    check(Manual("Own", str(tmp_path), ("body",), ".menu"), page, count)
    assert [line.rpartition("/")[2] for line in count.left] == ["menu.html"]
