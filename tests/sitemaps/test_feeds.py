"""RSS and Atom feeds serve as sitemaps."""

from __future__ import annotations

from sitemirror.model import Entry
from tests.sitemaps.reading import read


def test_rss_2_items() -> None:
    """The link of an item is the page and its pubDate the date; the channel's own links are not pages."""
    reading = read(
        b"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
        <link>https://example.com/</link><atom:link href="https://example.com/feed" rel="self"/>
        <image><url>https://example.com/logo.png</url><link>https://example.com/</link></image>
        <item><title>One</title><link> https://example.com/1?a=1&amp;b=2 </link>
          <description><![CDATA[<link>https://example.com/no</link>]]></description>
          <source url="https://other.example/feed">Other</source>
          <guid isPermaLink="false">tag:1</guid><pubDate>Thu, 05 Jan 2017 13:34:51 +0100</pubDate></item>
        </channel></rss>"""
    )
    assert reading.kind == "rss"
    assert list(reading.events) == [Entry("https://example.com/1?a=1&b=2", "Thu, 05 Jan 2017 13:34:51 +0100")]


def test_rss_guid_replaces_missing_link() -> None:
    """A guid that is a URL is used if there is no link."""
    reading = read(
        b"<rss><channel><item><guid>https://example.com/1</guid></item>"
        b"<item><guid>https://example.com/no</guid><atom:link href='x'/><link>https://example.com/2</link></item>"
        b"<item><guid isPermaLink='false'>7bd204c6</guid></item></channel></rss>"
    )
    assert reading.locs == ["https://example.com/1", "https://example.com/2"]
    assert reading.problems == ["1 entry without a URL"]


def test_rss_1_items() -> None:
    """RSS 1.0 has its items beside the channel, and Dublin Core dates."""
    reading = read(
        b"""<rdf:RDF xmlns:rdf="urn:rdf" xmlns="http://purl.org/rss/1.0/" xmlns:dc="urn:dc">
        <channel rdf:about="https://example.com/news"><link>https://example.com/</link>
        <items><rdf:Seq><rdf:li resource="https://example.com/1"/></rdf:Seq></items></channel>
        <item rdf:about="https://example.com/1"><link>https://example.com/1</link><dc:date>2026-01-02</dc:date></item>
        </rdf:RDF>"""
    )
    assert (reading.kind, list(reading.events)) == ("rss", [Entry("https://example.com/1", "2026-01-02")])


def test_atom_entries() -> None:
    """The alternate link is the page, preferably HTML; updated has precedence over published."""
    reading = read(
        b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/>
        <updated>2003-12-13T18:30:02Z</updated>
        <entry><link rel="edit" href="https://example.com/1/edit"/>
          <link rel="alternate" type="application/json" href="https://example.com/1.json"/>
          <link rel="alternate" type="text/html" href="https://example.com/1"/>
          <source><link href="https://other.example/"/><updated>1999</updated></source>
          <published>2001</published><updated>2002-02-02T00:00:00Z</updated></entry>
        <entry><link href="/2"/><published>2001</published>
          <content type="xhtml"><div><link href="https://example.com/no"/></div></content></entry>
        <entry><link type="application/pdf" href="https://example.com/3.pdf"/></entry><entry>words</entry></feed>"""
    )
    assert (reading.kind, reading.problems) == ("atom", ["1 entry without a URL"])
    assert reading.entries == [
        Entry("https://example.com/1", "2002-02-02T00:00:00Z"),
        Entry("/2", "2001"),
        Entry("https://example.com/3.pdf"),
    ]


def test_broken_feed_is_salvaged() -> None:
    """A feed with unescaped HTML gives every item, and no links from descriptions."""
    reading = read(
        b"<rss><channel><item><link>https://example.com/1</link></item>"
        b"<item><description>a<br>b &nbsp; <link href='https://example.com/no'><p>c</description>"
        b"<link>https://example.com/2?a=1&b=2</link><pubDate>Thu, 05 Jan 2017 13:34:51 GMT</pubDate></item>"
        b"<item><link>https://example.com/3</link></item></channel></rss>"
    )
    assert reading.locs == ["https://example.com/1", "https://example.com/2?a=1&b=2", "https://example.com/3"]
    assert reading.entries[1].lastmod == "Thu, 05 Jan 2017 13:34:51 GMT"
    assert len(reading.problems) == 1


def test_broken_atom_feed_is_salvaged() -> None:
    """Links in attributes are found after an error, with any quotes."""
    reading = read(
        b"<feed><entry><title>A & B</title><link rel='alternate' href='https://example.com/1?a=1&amp;b=2'/></entry>"
        b'<entry><link href="https://example.com/2"><updated>2002</updated></entry>'
        b"<entry><link href=https://example.com/3 rel=alternate></entry></feed>"
    )
    assert reading.locs == ["https://example.com/1?a=1&b=2", "https://example.com/2", "https://example.com/3"]
    assert reading.kind == "atom"
