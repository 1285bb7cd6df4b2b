"""Broken XML costs no entry: reading goes on from the last complete one, and one sentence says where and why."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.model import Entry, SitemapRef
from tests.sitemaps.reading import block, numbered, read, read_pieces, urlset

FAULTS = {
    "ampersand": "<url><loc>https://example.com/?a=1&b=2&copy=3</loc></url>",
    "entity": "<url><loc>https://example.com/x</loc><title>a&nbsp;b</title></url>",
    "end tag": "<url><loc>https://example.com/x</lco><lastmod>2026-01-02</lastmod></url>",
    "no end tag": "<url><loc>https://example.com/x<lastmod>2026-01-02</lastmod></url>",
    "no block end": "<url><loc>https://example.com/x</loc>",
    "stray end": "</url><url><loc>https://example.com/x</loc></url>",
    "misspelt child": "<url><changefreq>daily</changefrq><loc>https://example.com/x</loc></url>",
    "attribute": "<url id=7><loc>https://example.com/x</loc></url>",
    "quote": '<url><loc a="b>https://example.com/x</loc></url>',
    "control": "<url><loc>https://example.com/x</loc>\x01\x00</url>",
    "less than": "<url><loc>https://example.com/x</loc><title>1 < 2 <3</title></url>",
    "bracket": "<url><loc>https://example.com/x</loc</url>",
    "doubled": '<url><loc a="1" a="2">https://example.com/x</loc></url>',
    "second document": '<?xml version="1.0"?><urlset><url><loc>https://example.com/x</loc></url>',
    "unclosed comment": "<!-- <url><loc>https://example.com/x</loc></url>",
    "double hyphen": "<!-- a -- b --><url><loc>https://example.com/x</loc></url>",
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("before", [0, 1, 1500])
def test_each_entry_comes_out_once(fault: str, before: int) -> None:
    """Entries before, at and after the error come out in order, with one Problem."""
    locs = numbered(before + 50)
    body = urlset(*map(block, locs[:before]), fault, *map(block, locs[before:]))
    reading = read(body)
    spoilt = "https://example.com/?a=1&b=2&copy=3" if "copy" in fault else "https://example.com/x"
    assert reading.locs == [*locs[:before], spoilt, *locs[before:]]
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith("broken XML")
    assert not reading.truncated
    assert [entry.lastmod for entry in reading.entries if entry.loc in locs] == ["2026-01-02"] * len(locs)


def test_problem_has_line_and_reason() -> None:
    """Lines are counted from the top of the file, leading blanks included."""
    body = b"\n\n" + urlset(block("https://example.com/a"), "<url><loc>https://example.com/?a&b</loc></url>")
    assert read(body).problems == [
        "broken XML, read as far as entries can be recognised: line 9, column 35: not well-formed (invalid token)"
    ]


@pytest.mark.parametrize("padding", range(0, 200, 3))
def test_errors_across_block_boundaries(padding: int) -> None:
    """The boundaries of the reader's blocks do not affect what is salvaged."""
    filler = f"<!--{'x' * (128 * 1024 - 700 + padding)}-->"
    body = urlset(
        block("https://example.com/1"),
        "<url><loc>https://example.com/?a=1&b=2</loc></url>",
        filler,
        *map(block, numbered(8)),
        "<url><loc><![CDATA[https://example.com/?c&d]]></loc>"
        '<xhtml:link rel="alternate" hreflang="de" href="/de"/></url>',
        "<url><loc>https://example.com/?e=1&amp;f</loc></url>",
    )
    reading = read(body)
    assert reading.entries[0].loc == "https://example.com/1"
    assert [entry.loc for entry in reading.entries[1:]] == [
        "https://example.com/?a=1&b=2",
        *numbered(8),
        "https://example.com/?c&d",
        "https://example.com/?e=1&f",
    ]
    assert reading.entries[-2].alternates == (("de", "/de"),)


SOUND = [
    block("https://example.com/?a=1&amp;b=2"),
    "<url><loc><![CDATA[https://example.com/?a&b]]></loc><priority>0.5</priority></url>",
    "<url><image:image><image:loc>/1.png</image:loc><loc>/2.png</loc></image:image><loc>/p</loc></url>",
    "<url><loc>/q</loc><xhtml:link rel='alternate' hreflang=\"de\" href='/de?a&amp;b>c'/><lastmod>2026</lastmod></url>",
    "<!-- <url><loc>/no</loc></url> -->",
    "<url/>",
    "<url><loc/></url>",
    "<url><loc><url>/nested</url></loc><lastmod> 1 </lastmod></url>",
    "<url>https://example.com/bare</url>",
    "<url>words</url>",
    "<url><loc>/1</loc><lastmod>1</lastmod><loc>/2</loc></url>",
    "<sitemap><loc>/child.xml</loc></sitemap>",
    "<other><loc>/no</loc></other>",
    "<s:url a='1'><s:loc>/pre<!-- x -->fix</s:loc><s:lastmod/></s:url>",
]


@given(st.lists(st.sampled_from(SOUND)))
def test_both_readers_agree_on_valid_entries(blocks: list[str]) -> None:
    """After an error, valid entries have the same result as before it."""
    sound, broken = read(urlset(*blocks)), read(urlset("<x>&</x>", *blocks))
    assert broken.events[1:] == sound.events
    assert broken.kind == sound.kind


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (b"https://example.com/?a=1&b=2", "https://example.com/?a=1&b=2"),
        (b"https://example.com/?a=1&amp;b=2&c", "https://example.com/?a=1&b=2&c"),
        (b"https://example.com/&eacute;&#233;&#xe9;", "https://example.com/ééé"),
        (b"https://example.com/?a&copy=1&nosuch;", "https://example.com/?a&copy=1&nosuch;"),
        (b"https://example.com/&nbsp;", "https://example.com/"),
        (b"https://example.com/&#0;&#xD800;&#x110000;", "https://example.com/\ufffd\ufffd\ufffd"),
        (b"https://example.com/caf\xe9", "https://example.com/caf%E9"),
        ("https://example.com/ü/".encode() + b"\xff\xfe", "https://example.com/ü/%FF%FE"),
        (b"<![CDATA[https://example.com/?a&b&amp;]]>&", "https://example.com/?a&b&amp;&"),
        (b"<!-- & -->https://example.com/?a<5&x", "https://example.com/?a<5&x"),
    ],
)
def test_salvaged_urls_are_not_guessed(written: bytes, meant: str) -> None:
    """Bytes that are not text are percent-encoded, not replaced."""
    body = urlset("<url>&<loc>@</loc></url>").replace(b"@", written)
    assert read(body).locs == [meant]


def test_extensions_in_broken_files_are_no_pages() -> None:
    """Images and videos do not become pages in the tolerant reader."""
    reading = read(
        urlset(
            "<url><loc>https://example.com/a</loc><image:image><image:loc>https://example.com/a?x&y</image:loc>"
            "<loc>https://example.com/no</loc><image:title>A & B</image:title></image:image></url>",
            "<url><video:video><video:title>x<br>y</video:title></video:video><loc>https://example.com/b</loc>"
            "<lastmod>2026</lastmod><priority>0.5</priority></url>",
            "<url><loc><url>https://example.com/c</url></loc></url>",
        )
    )
    assert reading.entries == [
        Entry("https://example.com/a"),
        Entry("https://example.com/b", "2026", "0.5"),
        Entry("https://example.com/c"),
    ]


def test_broken_index_gives_child_sitemaps() -> None:
    """Bare URLs and repeated locs of an index are salvaged, too."""
    reading = read(
        b"<sitemapindex><sitemap><loc>/1.xml?a&b</loc><lastmod>2026</lastmod><loc>/2.xml</loc></sitemap>"
        b"<sitemap>https://example.com/3.xml?c&d</sitemap></sitemapindex>"
    )
    assert reading.kind == "index"
    assert reading.children == [
        SitemapRef("/1.xml?a&b", "2026"),
        SitemapRef("/2.xml"),
        SitemapRef("https://example.com/3.xml?c&d"),
    ]


def test_file_broken_before_its_root_is_recognised() -> None:
    """The kind of file is detected from its entries."""
    reading = read(b'<?xml version="1.0" encoding=UTF-8?><urlset>' + block("https://example.com/a").encode())
    assert (reading.kind, reading.locs, len(reading.problems)) == ("urlset", ["https://example.com/a"], 1)


def test_commented_entries_are_ignored() -> None:
    """Entries in comments are ignored before and after an error."""
    hidden = f"<!-- {block('https://example.com/hidden')} -->"
    reading = read(urlset(hidden, "<url>&</url>", hidden, block("https://example.com/a")))
    assert reading.locs == ["https://example.com/a"]


@given(st.data())
def test_truncation_keeps_every_complete_entry(data: st.DataObject) -> None:
    """A truncated sitemap gives its complete entries, no partial URL, and a problem."""
    locs = numbered(6)
    body = urlset(*map(block, locs))
    end = data.draw(st.integers(60, len(body) - 12))
    reading = read(body[:end])
    complete = body[:end].count(b"</loc>")
    assert reading.locs in (locs[:complete], locs[: complete + 1])
    assert len(reading.problems) == 1
    assert reading.truncated


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("after", [1, 1500])
def test_broken_and_truncated_file_is_reported_as_truncated(fault: str, after: int) -> None:
    """Truncation is detected after an earlier error, too."""
    body = urlset(fault, *map(block, numbered(after)))
    assert not read(body).truncated
    assert read(body[:-40]).truncated
    assert read(body[: -len("</urlset>") - 1]).truncated


def test_rows_without_a_root_element() -> None:
    """Entries without a root element are complete if the last one is."""
    body = "".join(map(block, numbered(3))).encode()
    assert not read(body).truncated
    assert read(body[:-9]).truncated


TAGS = '<url> </url> <loc> </loc> <urlset> <item> <image:loc> <!-- --> <![CDATA[ ]]> & < > " \0 x https://example.com/'


@given(st.lists(st.sampled_from(TAGS.split(" "))))
def test_any_tags_are_read_to_the_end(parts: list[str]) -> None:
    """Any tags in any order are read, with the same result in small pieces."""
    body = "".join(parts).encode()
    assert read_pieces(bytes([byte]) for byte in body) == read(body)


SOUPS = {
    "comments": b"<!--" * 250_000,
    "cdata": b"<![CDATA[" * 120_000,
    "brackets": b"<" * 2_000_000,
    "brackets in an entry": b"<url>" + b"<" * 1_200_000,
    "blocks": b"<url><loc>" * 120_000,
    "endless tag": b"<a " + b"b" * 4_000_000,
    "endless tag in an entry": b"<url><a " + b"b" * 4_000_000,
    "quotes": b"<url><loc>" + b"<a b='" * 200_000,
    "mixed quotes": b'<url><a b="' + b"x='>" * 1_000_000,
    "ampersands": b"<url><loc>" + b"&" * 4_000_000,
    "references": b"<url><loc>" + b"&#x" * 1_000_000,
    "text": b"<url><loc>" + b"x" * 4_000_000,
    "depth": b"<url>" + b"<a>" * 350_000,
    "attributes": b"<url><link a" + b"=" * 2_000_000 + b">",
    "doctype": b"<!DOCTYPE" + b" " * 4_000_000,
    "ends": b"<url>" + b"</" * 550_000,
    "prefixes": b"<a:" * 1_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("soup", SOUPS.values(), ids=SOUPS)
def test_time_is_linear(soup: bytes) -> None:
    """Input designed to be slow is read in linear time, before and after an error."""
    for start in (b"<urlset>", b"<urlset>&"):
        body = start + soup
        began = time.process_time()
        read_pieces(body[at : at + 1000] for at in range(0, len(body), 1000))
        assert time.process_time() - began < 15


def test_random_damage_costs_only_nearby_entries() -> None:
    """Ten damaged places cost at most their entries and the following ones."""
    chance = random.Random(7)
    locs = numbered(1500)
    for _ in range(8):
        body = bytearray(urlset(*map(block, locs)))
        for _ in range(10):
            body[chance.randrange(200, len(body) - 20)] = chance.choice(b"<>&\"'\0\xff/! ")
        found = read(bytes(body)).locs
        assert len(set(locs) - set(found)) <= 20
        assert len(found) == len(set(found))
