"""robots.txt is read as RFC 9309 says, in every encoding it comes in, and cannot be made expensive."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.run.robots import Robots

AGENT = "sitemirror/1.0 (+https://example.com/)"
RULES = "User-agent: sitemirror\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 2.5\nSitemap: /s.xml\n"


def test_rules_of_our_own_group() -> None:
    """The group that names us counts, not the one for everybody, and the longest match decides."""
    robots = Robots.parse(f"User-agent: *\nDisallow: /\nCrawl-delay: 9\n\n{RULES}".encode(), AGENT)
    assert robots.allowed("https://example.com/")
    assert robots.allowed("https://example.com/private/open/x")
    assert not robots.allowed("https://example.com/private/x")
    assert robots.crawl_delay == 2.5


def test_rules_for_everybody() -> None:
    """Without a group of our own, the one for everybody counts; without either, all is allowed."""
    robots = Robots.parse(b"User-agent: otherbot\nDisallow: /\n\nUser-agent: *\nDisallow: /*.pdf$\n", AGENT)
    assert not robots.allowed("https://example.com/a.pdf")
    assert robots.allowed("https://example.com/a.pdf?x=1")
    assert robots.crawl_delay is None
    assert Robots.parse(b"User-agent: otherbot\nDisallow: /\n", AGENT).allowed("https://example.com/a")


@pytest.mark.parametrize(
    "name", ["sitemirror", "SiteMirror", "sitemirror/2.0", "otherbot, sitemirror", "sitemirror bot"]
)
def test_ways_of_naming_us(name: str) -> None:
    """Case, versions and lists of names do not hide that we are meant."""
    robots = Robots.parse(f"User-agent: {name}\nDisallow: /\n\nUser-agent: *\nDisallow:\n".encode(), AGENT)
    assert not robots.allowed("https://example.com/")


@pytest.mark.parametrize("name", ["mirror", "mysitemirror", "example", "1.0", "sitemirror-news"])
def test_others_are_not_us(name: str) -> None:
    """A name that merely is inside ours, or has ours inside, is somebody else's."""
    assert Robots.parse(f"User-agent: {name}\nDisallow: /\n".encode(), AGENT).allowed("https://example.com/")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_ends_and_marks(line_end: str, codec: str) -> None:
    """Any line end and any byte order mark leave the first rule, and all others, in force."""
    robots = Robots.parse(RULES.replace("\n", line_end).encode(codec), AGENT)
    assert not robots.allowed("https://example.com/private")
    assert (robots.crawl_delay, robots.sitemaps) == (2.5, ("/s.xml",))


def test_only_line_ends_end_lines() -> None:
    """What Python takes for a line end cannot smuggle a rule out of a comment."""
    robots = Robots.parse(
        "User-agent: *\nAllow: /\n# no\u2028Disallow: /\x0cDisallow: /\x85Disallow: /".encode(), AGENT
    )
    assert robots.allowed("https://example.com/")


def test_sitemap_lines() -> None:
    """Sitemap lines count wherever they stand and however they are spelt, as written, each once."""
    robots = Robots.parse(
        b"sitemap: https://example.com/A.xml?x=1 # main\n"
        b"User-agent: *\nSITEMAP:/b.xml\n\tSite-map : https://example.com/c d.xml\nDisallow: /\n"
        b"Sitemap: https://example.com/A.xml?x=1\nsitemaps https://example.com/e.xml\n"
        b"# Sitemap: https://example.com/no.xml\nSitemap:\nSitemap-of: /no\nDisallow: /sitemap: no\nhttps://example.com/\n",
        AGENT,
    )
    assert robots.sitemaps == (
        "https://example.com/A.xml?x=1",
        "/b.xml",
        "https://example.com/c d.xml",
        "https://example.com/e.xml",
    )
    assert not robots.allowed("https://example.com/")


@pytest.mark.parametrize("value", ["soon", "-1", "inf", "nan", "", "1 day", "9" * 400])
def test_senseless_delays_are_ignored(value: str) -> None:
    """A delay that is no number of seconds is none."""
    assert Robots.parse(f"User-agent: *\nCrawl-delay: {value}\n".encode(), AGENT).crawl_delay is None


def test_large_files_are_cut_between_lines() -> None:
    """Rules count up to 512 KiB, a rule torn there does not, and Sitemap lines count from anywhere."""
    start = b"User-agent: *\nDisallow: /first\n"
    torn = b"Disallow: /torn-off\n"
    padding = b"#" * (512 * 1024 - len(start) - len(b"Disallow: /") - 1) + b"\n"
    robots = Robots.parse(start + padding + torn + b"Disallow: /late\nSitemap: /s.xml\n", AGENT)
    assert not robots.allowed("https://example.com/first")
    assert robots.allowed("https://example.com/other")
    assert robots.allowed("https://example.com/late")
    assert robots.sitemaps == ("/s.xml",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        random.Random(1).randbytes(20_000_000),
        b"\0" * 20_000_000,
        b"Sitemap: https://example.com/\n" * 1_000_000,
        b"sitemap" * 3_000_000,
        b"User-agent: sitemirror\nDisallow: /" + b"*a" * 5_000_000,
        b"User-agent: *\nDisallow: /a*b*c*d*e$\n" * 500_000,
        b"User-agent: a,b,c,d,e,f\n" * 1_000_000,
        b"User-agent: " + b"a," * 10_000_000,
    ],
    ids=["random", "zeros", "sitemaps", "words", "pattern", "rules", "agents", "names"],
)
def test_hostile_files_are_quick(body: bytes) -> None:
    """Twenty megabytes of anything are read in moments."""
    start = time.process_time()
    robots = Robots.parse(body, AGENT)
    robots.allowed("https://example.com/" + "a" * 2000)
    assert time.process_time() - start < 8
    assert len(robots.sitemaps) <= 1


@given(st.binary(), st.text())
def test_any_bytes(body: bytes, agent: str) -> None:
    """No bytes and no user agent make it raise."""
    robots = Robots.parse(body, agent)
    assert robots.allowed("https://example.com/") in (True, False)
    assert robots.crawl_delay is None or robots.crawl_delay >= 0


def test_no_robots_and_no_answer() -> None:
    """A missing robots.txt allows everything, one that cannot be had forbids everything."""
    assert Robots.allow_all().allowed("https://example.com/x")
    assert not Robots.disallow_all().allowed("https://example.com/x")
    assert Robots.allow_all().sitemaps == Robots.disallow_all().sitemaps == ()
    assert Robots.allow_all().crawl_delay is None
