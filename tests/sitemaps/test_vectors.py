"""Other projects' test data, run in place: their sitemaps give the same URLs, their robots.txt the same verdicts."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sitemirror.model import Entry
from sitemirror.run.robots import Robots
from sitemirror.sitemaps.parse import SitemapParser
from tests.sitemaps.reading import feed, read, read_pieces

pytestmark = pytest.mark.vectors

MEGABYTE = 1024 * 1024
# Cases whose expectation we do not share, each with the reason.
OTHER_ROBOTS = {
    "GoogleOnly_AcceptUserAgentUpToFirstSpace": "a user agent with a blank in it; ours has none",
    "GoogleOnly_LineTooLong": "Google cuts lines at 16 KB; the RFC does not",
    "ID_Encoding": "Google does not decode escapes; to us equal URLs are equal",
    "ID_LineSyntax_Groups_OtherRules": "a line like Noindex ends a group, as in reppy's and protego's tests",
    "testBigCrawlDelay": "crawler-commons gives up on hosts that ask for long delays; that is for the caller",
    "testHtmlMarkupInRobotsTxt": "rules inside an HTML page are not rules",
    "test_no_leading_user_agent": "rules before the first user-agent line belong to nobody",
    "test_skip_malformed_line": "a rule without its colon is a rule, as for Google",
    "test_unicode_url_and_useragent": "the name before the slash is the product; what follows is a comment",
}


def _cases(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def test_robots_txt_agrees_with_other_parsers(vectors: Path) -> None:
    """Where Google's parser, protego and the case's author agree, so do we, with listed exceptions."""
    agreed = 0
    for case in _cases(vectors / "robots-consensus" / "cases.jsonl"):
        verdict = Robots.parse(case["robots"].encode(), case["ua"]).allowed(case["url"])
        if case["consensus"]:
            assert verdict == case["allowed"], case
            agreed += 1
        elif verdict != case["allowed"]:
            assert case["test"].rpartition("::")[2].partition("[")[0] in OTHER_ROBOTS, case
    assert agreed == 672


@pytest.mark.parametrize("source", ["robots-google", "robots-crawlercommons", "robots-reppy"])
def test_robots_verdicts(vectors: Path, source: str) -> None:
    """The cases of each source pass, with listed exceptions."""
    for case in _cases(vectors / source / "cases.jsonl"):
        verdict = Robots.parse(case["robots"].encode(), case["ua"]).allowed(case["url"])
        assert verdict == case["allowed"] or case["test"] in OTHER_ROBOTS, case


def test_robots_protego(vectors: Path) -> None:
    """protego's own verdicts and delays are unchanged; rates and visiting hours are not supported."""
    seen = set()
    for case in _cases(vectors / "robots-protego" / "cases.jsonl"):
        seen.add(case["op"])
        url, agent = case["args"] if case["op"] == "can_fetch" else ("", case["args"][0])
        robots = Robots.parse(case["robots"].encode(), agent)
        name = case["test"].rpartition("::")[2].partition("[")[0]
        if case["op"] == "can_fetch":
            assert robots.allowed(url) == case["result"] or name in OTHER_ROBOTS, case
        elif case["op"] == "crawl_delay":
            assert robots.crawl_delay == case["result"], case
    assert {"can_fetch", "crawl_delay"} <= seen


@pytest.mark.parametrize(
    ("name", "agent", "sitemaps", "delay"),
    [
        (
            "sitemap-robots",
            "x",
            ("http://domain.com/sitemap.xml", "http://domain.com/dir/MixedCased-sitemap.xml"),
            None,
        ),
        ("sitemap-robots-dedup", "x", ("http://example.org/sitemap.xml",), None),
        ("relative-sitemap-robots", "x", ("/sitemap.xml",), None),
        ("robots-with-utf8-bom", "x", ("http://www.newsweek.com/sitemap_index.xml",), None),
        ("robots-with-utf16le-bom", "x", ("http://www.newsweek.com/sitemap_index.xml",), None),
        ("robots-with-utf16be-bom", "x", ("http://www.newsweek.com/sitemap_index.xml",), None),
        ("dos-line-endings", "x", (), 1.0),
        ("crawl-delay-group-merging", "mybot", (), 10.0),
        ("crawl-delay-group-merging", "x", (), 30.0),
    ],
)
def test_robots_files(vectors: Path, name: str, agent: str, sitemaps: tuple[str, ...], delay: float | None) -> None:
    """Whole files: sitemap lines, delays and byte order marks."""
    robots = Robots.parse((vectors / "robots-crawlercommons" / f"{name}.txt").read_bytes(), agent)
    assert (robots.sitemaps, robots.crawl_delay) == (sitemaps, delay)
    if "bom" in name:
        assert not robots.allowed("http://www.newsweek.com/login.aspx")
        assert robots.allowed("http://www.newsweek.com/")


def test_sitemaps_of_crawler_commons(vectors: Path) -> None:
    """As many distinct URLs as crawler-commons finds, and the very ones where it names them."""
    folder = vectors / "sitemaps-crawlercommons"
    seen = 0
    for case in _cases(folder / "cases.jsonl"):
        for name in filter(None, [case["file"], *case["resource"]]):
            body = (folder / name).read_bytes()
            reading = read(body)
            assert read_pieces(body[at : at + 1] for at in range(len(body))) == reading
            found = list(dict.fromkeys(reading.locs))
            # Its test installs a filter that adds the scheme to "www.example.com"; a list names whole URLs.
            expected = 1 if case["test"] == "testSitemapTXTfilterUrls" else case["expected_entries"]
            # It refuses two files for broken XML and for their namespace; we read what there is.
            assert len(found) == (expected if expected is not None else 1), case
            assert not case["expected_urls"] or found == case["expected_urls"]
            seen += 1
    assert seen >= 22


def test_sitemap_extensions_of_crawler_commons(vectors: Path) -> None:
    """Files full of images, videos, news and page maps give their pages and nothing else, as ElementTree sees them."""
    folder = vectors / "sitemaps-crawlercommons" / "sitemaps" / "extension"
    files = sorted(folder.iterdir())
    assert len(files) == 9
    for file in files:
        reading = read(file.read_bytes())
        pages = [(loc.text or "").strip() for loc in ElementTree.parse(file).getroot().iterfind("{*}url/{*}loc")]
        assert (reading.locs, reading.problems) == (pages, [])
        links = ElementTree.parse(file).getroot().findall("{*}url/{*}link")
        assert sum(len(entry.alternates) for entry in reading.entries) == len(links)


def test_sitemaps_of_scrapy(vectors: Path) -> None:
    """The same URLs, dates, priorities and alternates as Scrapy's own tests expect."""
    for case in _cases(vectors / "sitemaps-scrapy" / "cases.jsonl"):
        reading = read(case["input"]["bytes_latin1"].encode("latin-1"))
        if case["test"] == "test_xml_entity_expansion":
            # Scrapy reads on without the entity; a sitemap with a DTD is refused here.
            assert (reading.locs, len(reading.problems)) == ([], 1)
            continue
        assert reading.locs == [entry["loc"] for entry in case["expected"]], case
        for found, expected in zip(reading.events, case["expected"], strict=False):
            assert getattr(found, "lastmod", None) == (expected.get("lastmod") or None)
            if isinstance(found, Entry):
                assert found.priority == expected.get("priority")
                assert [href for _, href in found.alternates] == expected.get("alternate", [])


@pytest.mark.parametrize(
    ("name", "kind", "count", "problems"),
    [
        ("error_sitemap.xml", "urlset", 0, 2),
        ("image_sitemap.xml", "urlset", 2, 0),
        ("news_sitemap.xml", "urlset", 6, 0),
        ("regular_sitemap.xml", "urlset", 5, 0),
        ("regular_sitemap.xml.gz", "urlset", 5, 0),
        ("sitemap_index.xml", "index", 4, 0),
        ("video_sitemap.xml", "urlset", 6, 0),
        ("zipped_sitemap.xml.gz", "urlset", 5, 0),
    ],
)
def test_sitemaps_of_advertools(vectors: Path, name: str, kind: str, count: int, problems: int) -> None:
    """Every page of each file, gzip or not whatever the name says."""
    reading = read((vectors / "sitemaps-advertools" / "tests/data/sitemap_testing" / name).read_bytes())
    assert (reading.kind, len(reading.locs), len(reading.problems)) == (kind, count, problems)
    assert len(set(reading.locs)) == count


@pytest.mark.slow
def test_xml_attacks(vectors: Path) -> None:
    """Attacks give no entries and cost less than a megabyte and two seconds."""
    tail = b"<urlset><url><loc>https://example.com/&xxe;</loc></url></urlset>"
    for file in sorted((vectors / "xml-attacks").rglob("*")):
        if not file.is_file():
            continue
        body = file.read_bytes()
        pieces = [body] if file.suffix != ".txt" else body.splitlines()
        for piece in pieces:
            start = time.process_time()
            reading = read(piece)
            assert reading.locs == []
            assert reading.problems
            assert time.process_time() - start < 2
            if piece.lstrip().startswith((b"<?xml", b"<!DOCTYPE")) and b"<!DOCTYPE" in piece[:2000]:
                assert any("DTD" in problem or "HTML" in problem for problem in reading.problems), piece[:300]
                assert read(piece + tail).locs == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sitemap_1GiB.xml.gz", "zeros_1GiB.gz", "zeros_1GiB.gz.gz", "zeros_1GiB.br", "zeros_1GiB.zst"]
)
def test_bombs(vectors: Path, name: str) -> None:
    """A bomb of a gibibyte stops at the limit or earlier, in little memory."""
    body = (vectors / "bombs" / "gen" / name).read_bytes()
    for packed in (body, gzip.compress(body)):
        parser = SitemapParser(max_bytes=10 * MEGABYTE)
        tracemalloc.start()
        start = time.process_time()
        events = feed(parser, packed) + parser.close()
        elapsed, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert parser.stopped
        assert parser.decoded_bytes <= 10 * MEGABYTE
        assert not any(isinstance(event, Entry) for event in events)
        assert (peak < 10 * MEGABYTE, elapsed < 10) == (True, True)
