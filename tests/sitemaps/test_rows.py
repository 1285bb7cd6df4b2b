"""Plain entries are matched in rows: the outcome is the same as one by one, whatever surrounds them."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.model import Problem
from sitemirror.sitemaps.entries import EntryBatch, Event
from sitemirror.sitemaps.parse import SitemapParser
from tests.sitemaps.reading import LIMIT, block, numbered, read, urlset

ORDINARY = [block(url) for url in numbered(3_000)]  # some 300 KB: more than two of the blocks that are read at once
UNUSUAL = {
    "comment": "<url><!-- <loc>https://example.com/no</loc> --><loc>https://example.com/yes</loc></url>",
    "cdata": "<url><loc><![CDATA[https://example.com/?a&b]]></loc></url>",
    "reference": "<url><loc>https://example.com/?a&#38;b&lt;</loc></url>",
    "amp": "<url><loc>https://example.com/?a&amp;b&amp;amp;c</loc></url>",
    "attribute": '<url id="1"><loc x="y">https://example.com/</loc></url>',
    "upper": "<URL><LOC>https://example.com/</LOC></URL>",
    "prefix": '<s:url xmlns:s="s"><s:loc>https://example.com/</s:loc></s:url>',
    "image": '<url><loc>https://example.com/</loc><i:image xmlns:i="i"><i:loc>/no</i:loc></i:image></url>',
    "language": '<url><loc>https://example.com/</loc><link rel="alternate" hreflang="de" href="/de"/></url>',
    "order": "<url><priority>1</priority><lastmod>2026-01-02</lastmod><loc>https://example.com/</loc></url>",
    "two": "<url><loc>https://example.com/1</loc><lastmod>2026</lastmod><loc>https://example.com/2</loc></url>",
    "two dates": "<url><loc>https://example.com/</loc><lastmod>1</lastmod><lastmod>2</lastmod></url>",
    "letters": "<url><loc>https://example.com/päge</loc></url>",
    "invisible": "<url><loc>\u200bhttps://example.com/\ufeff</loc></url>",
    "own text": "<url>https://example.com/</url>",
    "blanks": "<url>\r\n<loc>\r\n\thttps://example.com/ \n</loc ><lastmod> 2026-01-02 </lastmod>\t</url >",
    "blank inside": "<url><loc>https://example.com/a b</loc><lastmod>2 January</lastmod></url>",
    "empty values": "<url><loc>https://example.com/</loc><lastmod></lastmod><changefreq/><priority/></url>",
    "long date": f"<url><loc>https://example.com/</loc><lastmod>{'2' * 101}</lastmod></url>",
    "long priority": f"<url><loc>https://example.com/</loc><priority>{'1' * 21}</priority></url>",
    "no url": "<url>x</url>",
    "relative": "<url><loc>/a]]b</loc><changefreq>daily</changefreq><priority>0.5</priority></url>",
    "child": "<sitemap><loc>https://example.com/s.xml</loc></sitemap>",
    "between": "<x><y/>https://example.com/no</x>",
    "hidden": f"<!-- {ORDINARY[0] * 1_500} -->",
    "hidden in an entry": f"<url><loc>https://example.com/</loc><!-- </url>{ORDINARY[0] * 1_500}<url> --></url>",
    "quoted": f"<url><loc>https://example.com/</loc><x><![CDATA[</url>{ORDINARY[0] * 1_500}]]></x></url>",
}


@cache
def events_of(one: str) -> tuple[Event, ...]:
    return read(urlset(one)).events


def alone(*blocks: str) -> list[Event]:
    """The events of each block in a file of its own."""
    return [event for one in blocks for event in events_of(one)]


@pytest.mark.parametrize("odd", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_entry_among_ordinary_ones(odd: str) -> None:
    """An unusual entry does not affect the thousands of entries before and after it."""
    before, after = ORDINARY[:2_000], ORDINARY[2_000:]
    expected = alone(*before, odd, *after)
    expected.sort(key=lambda event: isinstance(event, Problem))  # which are reported at the end
    assert list(read(urlset(*before, odd, *after)).events) == expected


@given(
    st.lists(st.sampled_from([*UNUSUAL.values(), *ORDINARY[:20]]), max_size=40),
    st.sampled_from(["", "\n", " \r\n\t"]),
)
def test_any_rows(blocks: list[str], gap: str) -> None:
    """Any entries with any blanks between them come out unchanged, once."""
    found = [event for event in read(urlset(gap.join(blocks))).events if not isinstance(event, Problem)]
    assert found == [event for event in alone(*blocks) if not isinstance(event, Problem)]


@pytest.mark.parametrize(("opener", "closer"), [("<!--", "-->"), ("<x><![CDATA[", "]]></x>")])
def test_entries_in_long_comments_are_ignored(opener: str, closer: str) -> None:
    """Entries in comments and CDATA are ignored at any position."""
    entry = "<url><loc>/no</loc></url>"
    for shift in range(len(entry)):
        hidden = f"{opener}{' ' * shift}{entry * 12_000}{closer}"
        assert read(urlset(block("/1"), hidden, block("/2"))).locs == ["/1", "/2"]


def test_plain_entries_come_in_batches() -> None:
    """A file of plain entries is not parsed entry by entry."""
    parser = SitemapParser(max_bytes=LIMIT)
    found = [item for batch in parser.batches(urlset(*ORDINARY)) for item in batch]
    by_row = sum(len(item.locs) for item in found if isinstance(item, EntryBatch))
    assert by_row > 2_000
    assert len(found) < 50


@pytest.mark.parametrize("fault", ["<url><loc>https://example.com/?a&b</loc></url>", "</urlset>x", "<url>\x00</url>"])
def test_position_of_an_error(fault: str) -> None:
    """Line and column of an error are not affected by batches."""
    body = urlset(*ORDINARY[:2_500], f"  {fault}", *ORDINARY[2_500:])
    line = body[: body.index(fault.encode())].count(b"\n") + 1
    reading = read(body)
    assert f"line {line:,}, column" in reading.problems[0]
    assert [loc for loc in reading.locs if "?" not in loc] == numbered(3_000)


@pytest.mark.parametrize("size", [5_000, 131_072 + 4096, 200_001])
def test_truncated_file(size: int) -> None:
    """A truncated file gives every entry with a complete URL, once."""
    body = urlset(*ORDINARY)[:size]
    assert read(body).locs == numbered(3_000)[: body.count(b"</loc>")]
    assert read(urlset(*ORDINARY), max_bytes=size).locs == numbered(3_000)[: body.count(b"</loc>")]
