"""`_index.md`: links that open the local files, whatever the pages call themselves."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sitemirror.publish.contents import FAILURES_SHOWN, ContentsRow, order, write_contents
from sitemirror.publish.manifest import FailureRow, ManifestHeader
from sitemirror.text import printable

RENDERER = MarkdownIt("commonmark")
HEADER = ManifestHeader(
    source_url="https://example.com/",
    sitemap_url=None,
    sitemaps=(),
    crawl_started="2026-01-03T20:00:00Z",
    crawl_completed="2026-01-04T10:00:00Z",
    complete=True,
    total_pages=5_000,
    successful=4_950,
    failed=0,
    skipped=50,
    duplicates=7,
    not_reached_count=0,
)


def _in_folder(path: str) -> str:
    return path.removeprefix("example.com/")


def page(url: str, path: str, title: str | None = None) -> ContentsRow:
    """A page whose path is, as in the state, that from the output folder."""
    return url, f"example.com/{path}", title


def contents(rows: Iterable[ContentsRow], header: ManifestHeader = HEADER, failures: Iterable[FailureRow] = ()) -> str:
    ordered = sorted(rows, key=lambda row: (order(row[0]), row[0]))
    file = io.BytesIO()
    write_contents(
        file, header, host="example.com", rows=lambda start: ordered[start:], here=_in_folder, failures=failures
    )
    return file.getvalue().decode()


def links(markdown: str) -> list[tuple[str, str]]:
    """Text and destination of every link below the head."""
    found: list[tuple[str, str]] = []
    for token in RENDERER.parse(markdown.partition("\n---\n")[2]):
        href, text = "", ""
        for child in token.children or ():
            if child.type == "link_open":
                href, text = str(child.attrs["href"]), ""
            elif child.type == "link_close":
                found.append((text, href))
            text += child.content
    return found


def test_contents_have_documented_layout() -> None:
    """A head, then the pages by folder with their titles, or paths if there are none."""
    rows = [
        page("https://example.com/", "index.md", "Welcome"),
        page("https://example.com/docs/", "docs/index.md", "Docs [draft]"),
        page("https://example.com/docs/my_page", "docs/my_page/index.md"),
        page("https://example.com/docs/api/a", "docs/api/a/index.md", "  A\nof\tB "),
        page("https://example.com/docs/api/b?x=1", "docs/api/b__q_8a0b5d4e.md", " "),
    ]
    assert contents(rows) == (
        "# example.com\n"
        "\n"
        "- Source: [https://example.com/](https://example.com/)\n"
        "- Pages: 4,950 of 5,000 (failed: 0, skipped: 50, not reached: 0)\n"
        "- Duplicates: 7 (URLs listed more than once, and other URLs of the same pages)\n"
        "- Mirrored: 2026-01-04T10:00:00Z\n"
        "\n"
        "---\n"
        "\n"
        "- [Welcome](index.md)\n"
        "\n"
        "## docs/ (4)\n"
        "\n"
        "- [Docs \\[draft\\]](docs/index.md)\n"
        "- [/docs/my_page](docs/my_page/index.md)\n"
        "\n"
        "### docs/api/ (2)\n"
        "\n"
        "- [A of B](docs/api/a/index.md)\n"
        "- [/docs/api/b?x=1](docs/api/b__q_8a0b5d4e.md)\n"
    )


def test_links_lead_to_existing_files(tmp_path: Path) -> None:
    """Names with blanks, parentheses, percent signs and other scripts lead to their files on disk."""
    paths = ["a_(b)/index.md", "c d/index.md", "100%/index.md", "ü/日本/index.md", "x__q_1.md", "#1/[2]/index.md"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    text = contents([page(f"https://example.com/{n}", path) for n, path in enumerate(paths)])
    opened = [tmp_path / unquote(href) for _, href in links(text)]
    assert all(file.is_file() for file in opened)
    assert len(set(opened)) == len(paths)


def test_incomplete_mirror_is_marked() -> None:
    """The contents of an interrupted mirror say so, and how to resume it."""
    text = contents([], replace(HEADER, complete=False, crawl_completed=None, not_reached_count=3))
    assert "**Incomplete**" in text
    assert "not reached: 3" in text
    assert "- Mirrored: 2026-01-03T20:00:00Z" in text


def test_first_fifty_failures_are_listed() -> None:
    """The log has the rest; no more failures are read than are shown."""
    read: list[int] = []

    def failures() -> Iterable[FailureRow]:
        for n in range(1_000):
            read.append(n)
            yield FailureRow(url=f"https://example.com/{n}", error="HTTP 404\n<b>")

    text = contents([], replace(HEADER, failed=1_000), failures())
    assert "## Failed (1,000)\n\n- [https://example.com/0](https://example.com/0): HTTP 404\\\\x0a\\<b\\>\n" in text
    assert text.count(": HTTP 404") == len(read) == FAILURES_SHOWN
    assert "950 more are in [\\_failed.log](_failed.log)." in text


def test_few_failures_have_no_remainder() -> None:
    """With fewer than fifty failures no remainder is mentioned."""
    text = contents([], replace(HEADER, failed=1), [FailureRow(url="https://example.com/x", error="timed out")])
    assert "more are in" not in text
    assert "[\\_failed.log](_failed.log)" in text


def test_no_failures_give_no_section() -> None:
    """A mirror without failures has no section for them."""
    assert "Failed" not in contents([page("https://example.com/", "index.md")])


@given(st.lists(st.tuples(st.text(max_size=30), st.sampled_from("ab")), min_size=1, max_size=6))
@settings(max_examples=50)
def test_titles_render_as_written(pages: list[tuple[str, str]]) -> None:
    """Titles of any content render as themselves, each linked to its own file."""
    rows = [
        page(f"https://example.com/{folder}/{n}", f"{folder}/{n}/index.md", title)
        for n, (title, folder) in enumerate(pages)
    ]
    expected = {
        (printable(" ".join(title.split())) or f"/{folder}/{n}", f"{folder}/{n}/index.md")
        for n, (title, folder) in enumerate(pages)
    }
    assert set(links(contents(rows))) == expected
