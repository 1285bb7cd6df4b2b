"""Links inside the documentation lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PROSE, ROOT, prose

LINKED = (
    *PROSE,
    ROOT / "SECURITY.md",
    *sorted((ROOT / "tests").glob("*.md")),
    *sorted((ROOT / "bench").glob("**/README.md")),
)

_LINK = re.compile(r"\[[^\]\[]*(?:\[[^\]]*\][^\]\[]*)?\]\(([^)\s]+)\)")


def anchors(file: Path) -> set[str]:
    """The names that headings get on the web."""
    headings = re.findall(r"(?m)^#+ (.*)$", prose(file))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("file", LINKED, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_link_resolves(file: Path) -> None:
    """A link to a file or a heading finds it."""
    broken = []
    for link in _LINK.findall(prose(file)):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        found = (file.parent / target).resolve() if target else file
        if not found.exists() or (anchor and anchor not in anchors(found)):
            broken.append(link)
    assert broken == []


def test_index_links_every_page() -> None:
    """README.md links to docs/README.md, which links to every other page of the documentation."""
    index = ROOT / "docs" / "README.md"
    assert "(docs/README.md)" in prose(ROOT / "README.md")
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in _LINK.findall(prose(index))}
    assert set((ROOT / "docs").glob("*.md")) - {index} <= linked


def test_no_home_page_is_claimed() -> None:
    """No page names a public repository: there is none yet."""
    for file in (*PROSE, ROOT / "pyproject.toml", *(ROOT / "skills").rglob("*.py")):
        assert not re.search(r"https://github\.com/[\w.-]+/\w", file.read_text(encoding="utf-8")), file


def test_nothing_names_a_place_on_somebodys_machine() -> None:
    """The pages are for everybody."""
    for file in PROSE:
        assert not re.search(r"/(?:work|root|home/\w+|Users/\w+)/", file.read_text(encoding="utf-8")), file
