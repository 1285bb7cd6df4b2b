"""List mode's outline: what a person reads after `sitemirror list`."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sitemirror.publish.contents import OutlineHeader, OutlineRow, OutlineSitemap, order, write_outline

RENDERER = MarkdownIt("commonmark")
HEADER = OutlineHeader(
    host="example.com",
    source_url="https://example.com/",
    made_at="2026-01-03T20:00:00Z",
    total_urls=1_234,
    duplicates=12,
    complete=True,
)
ROWS: list[OutlineRow] = [
    ("https://example.com/", None, None),
    ("https://example.com/docs/", "2026-01-02", "0.8"),
    ("https://example.com/docs/a_b?x=1&y=(2)", "2026-01-02T10:00:00+01:00", None),
    ("https://example.com/docs/%E6%97%A5", None, "1.0"),
    ("https://api.example.com/v1", None, None),
]


def outline(
    rows: Iterable[OutlineRow] = ROWS, header: OutlineHeader = HEADER, sitemaps: Iterable[OutlineSitemap] = ()
) -> str:
    ordered = sorted(rows, key=lambda row: order(row[0]))
    file = io.BytesIO()
    write_outline(file, header, sitemaps=sitemaps, rows=lambda start: iter(ordered[start:]))
    return file.getvalue().decode()


def links(markdown: str) -> list[str]:
    tokens = RENDERER.parse(markdown)
    children = (child for token in tokens for child in token.children or ())
    return [str(child.attrs["href"]) for child in children if child.type == "link_open"]


def test_outline_has_documented_layout() -> None:
    """Head, sitemaps with counts and problems, then URLs by folder with lastmod and priority."""
    sitemaps = [
        OutlineSitemap("https://example.com/sitemap.xml", 1_246),
        OutlineSitemap("https://example.com/one.xml", 1),
        OutlineSitemap("https://example.com/news.xml", 0, "HTML instead of XML: <title>\nGone"),
    ]
    assert outline(sitemaps=sitemaps) == (
        "# Sitemap of example.com\n"
        "\n"
        "- Source: [https://example.com/](https://example.com/)\n"
        "- Made: 2026-01-03T20:00:00Z\n"
        "- URLs: 1,234 (repeats left out: 12)\n"
        "- Sitemaps:\n"
        "  - [https://example.com/sitemap.xml](https://example.com/sitemap.xml): 1,246 URLs\n"
        "  - [https://example.com/one.xml](https://example.com/one.xml): 1 URL\n"
        "  - [https://example.com/news.xml](https://example.com/news.xml): 0 URLs; "
        "problem: HTML instead of XML: \\<title\\>\\\\x0aGone\n"
        "\n"
        "---\n"
        "\n"
        "- [api.example.com/v1](https://api.example.com/v1)\n"
        "- [/](https://example.com/)\n"
        "\n"
        "## docs/ (3)\n"
        "\n"
        "- [/docs/](https://example.com/docs/) · 2026-01-02 · priority 0.8\n"
        "- [/docs/日](https://example.com/docs/%E6%97%A5) · priority 1.0\n"
        "- [/docs/a_b?x=1&y=(2)](https://example.com/docs/a_b?x=1&y=\\(2\\)) · 2026-01-02T10:00:00+01:00\n"
    )


def test_incomplete_outline_is_marked() -> None:
    """An outline of an interrupted or incomplete list says so."""
    assert "**Incomplete**" in outline(header=replace(HEADER, complete=False))
    assert "**Incomplete**" not in outline()


def test_outline_without_urls_is_valid() -> None:
    """Without URLs in scope the head is written without a list."""
    text = outline([], sitemaps=[OutlineSitemap("https://example.com/s.xml", 0)])
    assert text.endswith("\n---\n")


def test_large_outline_is_complete_and_deterministic() -> None:
    """Each of 10,000 URLs is linked exactly once, and the same rows give the same bytes."""

    def rows() -> Iterator[OutlineRow]:
        return ((f"https://example.com/{n % 7}/{n % 101}/{n}", "2026-01-02", None) for n in range(10_000))

    text = outline(rows())
    assert text == outline(rows())
    urls = [line.partition("](")[2].partition(")")[0] for line in text.partition("---")[2].splitlines() if "](" in line]
    assert sorted(urls) == sorted(row[0] for row in rows())


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "_x_", "%5B", "`", "*", "a%0Ab", "%E2%80%AE", "&lt;", "|", "!", "#"]),
            st.text(max_size=12),
            st.text(max_size=12),
        ),
        max_size=8,
    )
)
def test_hostile_values_are_escaped(pieces: list[tuple[str, str, str]]) -> None:
    """Hostile folders, dates and priorities add no links or markup."""
    rows = [(f"https://example.com/{name}/{n}", date, rank) for n, (name, date, rank) in enumerate(pieces)]
    text = outline(rows)
    tokens = RENDERER.parse(text)
    inner = [child.type for token in tokens for child in token.children or ()]
    assert set(inner) <= {"text", "text_special", "link_open", "link_close"}
    assert len(links(text)) == len(rows) + 1
    assert {token.type for token in tokens}.isdisjoint({"code_block", "fence", "html_block", "blockquote_open"})


@given(
    st.lists(
        st.builds(
            "{}{}".format,
            st.sampled_from(["https://example.com/", "http://example.com/", "https://example.com/_", "https://a.b/"]),
            st.text("aB1_-.~!$&'()*+,;=:@%/?[]|^{}#\"\\", max_size=10),
        ),
        unique=True,
        max_size=6,
    )
)
def test_batches_equal_single_rows(urls: list[str]) -> None:
    """A URL's line does not depend on the rows in the same batch."""

    def items(rows: list[OutlineRow]) -> list[str]:
        return [line for line in outline(rows).partition("\n---\n")[2].splitlines() if line.startswith("- ")]

    rows: list[OutlineRow] = [(url, "2026_01_02", "_") for url in urls]
    assert sorted(items(rows)) == sorted(line for row in rows for line in items([row]))
    neighbours: list[OutlineRow] = [(f"https://example.com/plain_{n}", None, None) for n in range(3)]
    assert set(items(rows)) <= set(items([*rows, *neighbours]))
