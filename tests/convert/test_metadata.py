"""What a page says of itself."""

from __future__ import annotations

import json

import pytest

from tests.convert.pages import page


def test_metadata_precedence() -> None:
    """Description first, then language, author and dates, and the canonical URL where it differs."""
    found = page(
        '<html lang="de"><head><title> Der\n Titel </title><meta name="DESCRIPTION" content=" Kurz&#10;gesagt ">'
        '<meta name="author" content="A. B."><meta property="article:published_time" content="2024-01-02T03:04:05Z">'
        '<meta property="article:modified_time" content="2024-02-03"><link rel="canonical" href="/x"></head><p>x'
    )
    assert found.title == "Der Titel"
    assert list(found.metadata.items()) == [
        ("description", "Kurz gesagt"),
        ("language", "de"),
        ("author", "A. B."),
        ("published", "2024-01-02T03:04:05Z"),
        ("modified", "2024-02-03"),
        ("canonical", "https://example.com/x"),
    ]


def test_bare_page_has_no_metadata() -> None:
    """Nothing is invented."""
    found = page("<p>x</p>")
    assert (found.title, found.metadata, found.canonical, found.refresh) == (None, {}, None, None)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>A</title><meta property='og:title' content='B'><h1>C</h1>", "A"),
        ("<title> </title><meta property='og:title' content='B'><h1>C</h1>", "B"),
        ("<h1>C <em>d</em></h1>", "C d"),
        ("<svg><title>icon</title></svg><title>A</title>", "A"),
        ("<svg><title>icon</title></svg>", None),
        ("<title>&lt;b&gt; \x1b[31m</title>", "<b> [31m"),
        ("<head><noscript><img src=x></noscript><title>A</title></head>", "A"),
    ],
)
def test_title_precedence(html: str, title: str | None) -> None:
    """The title element, else OpenGraph, else the first h1; never an icon's."""
    assert page(html).title == title


@pytest.mark.parametrize(
    ("href", "canonical"),
    [
        ("https://EXAMPLE.com:443/a/../b#c", "https://example.com/b"),
        ("other", "https://example.com/docs/other"),
        ("javascript:0", None),
        ("https://u:p@example.com/", None),
        ("http://[", None),
        ("  ", None),
    ],
)
def test_canonical_url_is_normalised(href: str, canonical: str | None) -> None:
    """Resolved against the base, normalised, and dropped if it is no address."""
    assert page(f'<link rel="shortlink canonical" href="{href}">').canonical == canonical


def test_canonical_is_resolved_against_base() -> None:
    """The base element moves the canonical URL too, and the first one counts."""
    html = "<base href='/b/'><link rel=canonical href=x><link rel=canonical href=y>"
    assert page(html).canonical == "https://example.com/b/x"


def test_canonical_equal_to_url_is_omitted() -> None:
    """Front matter names the canonical URL only where it is another."""
    found = page('<link rel="canonical" href="https://example.com/docs/page.html">')
    assert found.canonical == found.url
    assert "canonical" not in found.metadata


@pytest.mark.parametrize("value", ["2024-13", "yesterday", "2024-01-02T03:04:05Z\nx: y", "", "٢٠٢٤-01-01"])
def test_invalid_dates_are_omitted(value: str) -> None:
    """What is no ISO date is left out."""
    assert "published" not in page(f'<meta property="article:published_time" content="{value}">').metadata


def test_json_ld_fills_gaps() -> None:
    """An article's own data are used where the head has none."""
    data = {
        "@graph": [{"name": "Site"}, {"headline": "H", "author": [{"name": "A"}, "B"], "datePublished": "2024-01-02"}]
    }
    found = page(f'<script type="application/ld+json">{json.dumps(data)}</script><p>x')
    assert found.title == "H"
    assert found.metadata == {"author": "A, B", "published": "2024-01-02"}


@pytest.mark.parametrize(
    "block",
    [
        "{",
        "[" * 100_000,
        '{"headline": {"a": 1}, "author": {"name": ["x"]}, "datePublished": 5}',
        '"x"',
        "null",
        "[[]]",
        "",
    ],
)
def test_broken_json_ld_is_ignored(block: str) -> None:
    """Malformed or hostile data cost nothing but themselves."""
    found = page(f'<script type="application/ld+json">{block}</script><p>x')
    assert (found.markdown, found.title, found.metadata) == ("x\n", None, {})


def test_html_in_json_ld() -> None:
    """Blog software escapes its titles for HTML, though nothing in a script is unescaped."""
    trail = {"@type": "BreadcrumbList", "itemListElement": [{"name": "Tips &amp; Tools"}, {"name": "What&#8217;s new"}]}
    article = {"headline": "M&#038;A", "articleSection": "People &amp; HR", "author": "O&#39;Brien"}
    found = page(f'<script type="application/ld+json">{json.dumps([trail, article])}</script><p>x')
    assert found.title == "M&A"
    assert found.metadata == {
        "author": "O'Brien",
        "section": "People & HR",
        "breadcrumbs": ["Tips & Tools", "What’s new"],
    }


@pytest.mark.parametrize(
    ("content", "description"),
    [
        ("aren&amp;rsquo;t", "aren’t"),
        ("It goes on &amp;hellip;", "It goes on …"),
        ("Trends &amp;amp; hacks of Bear&amp;#39;s", "Trends & hacks of Bear's"),
        ("The &amp;nbsp; of HTML", "The &nbsp; of HTML"),
        ("AT&amp;T, R&amp;D; and so on", "AT&T, R&D; and so on"),
    ],
)
def test_double_escaped_text(content: str, description: str) -> None:
    """A mark of HTML that stands in a sentence was escaped once too often; one that it speaks of stays."""
    assert page(f'<meta name="description" content="{content}">').metadata == {"description": description}


def test_forum_page_in_json_ld() -> None:
    """Forums say who asked, and when, of the page's subject, not of the page."""
    subject = {"@type": "Question", "name": "Why?", "datePublished": "2024-01-02", "author": {"name": "Ann"}}
    data = json.dumps({"@type": "QAPage", "mainEntity": subject})
    found = page(f'<title>Why?</title><script type="application/ld+json">{data}</script><p>x')
    assert found.metadata == {"author": "Ann", "published": "2024-01-02"}


def test_author_by_reference() -> None:
    """JSON-LD's articles point at persons that stand beside them."""
    graph = [{"headline": "H", "author": [{"@id": "#a"}, {"@id": "#none"}]}, {"@id": "#a", "name": "Ann"}]
    data = json.dumps({"@graph": graph})
    assert page(f'<script type="application/ld+json">{data}</script><p>x').metadata == {"author": "Ann"}


def test_line_ends_in_json_ld() -> None:
    """A template puts a text of several lines into it as it is."""
    data = '{"headline": "H", "description": "one\ntwo", "datePublished": "2024-01-02"}'
    found = page(f'<script type="application/ld+json">{data}</script><p>x')
    assert found.metadata == {"description": "one two", "published": "2024-01-02"}


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ('<meta name="citation_author" content="Ann"><meta name="citation_author" content="Bob">', "Ann, Bob"),
        ('<meta name="DC.creator" content="A, Ann"><meta name="DC.creator" content="B, Bob">', "A, Ann; B, Bob"),
        ('<meta property="article:author" content="Ann"><meta property="article:author" content="Ann">', "Ann"),
        ('<meta name="author" content=" "><meta name="author" content="Ann">', "Ann"),
        ('<meta name="author" content="undefined"><meta name="parsely-author" content="Ann">', "Ann"),
        ('<meta property="article:author" content="https://x.example/"><meta name="DC.creator" content="Ann">', "Ann"),
        ('<meta name="author" content="Ann, Bob">', "Ann, Bob"),
    ],
)
def test_author_precedence(head: str, author: str) -> None:
    """Each author of a paper has an element; what says nothing hides nobody."""
    assert page(head).metadata == {"author": author}


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("2025-12-02 08:30:10 -0600", "2025-12-02 08:30:10-0600"),
        ("2025-12-13 00:00:00 +0000 UTC", "2025-12-13 00:00:00+0000"),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_dates_in_program_formats(value: str, date: str | None) -> None:
    """A zone may stand apart, and the first day of all means that none was set."""
    assert page(f'<meta name="date" content="{value}">').metadata.get("published") == date


def test_url_is_no_section() -> None:
    """Some name the section's page instead."""
    assert page('<meta property="article:section" content="https://x.example/blog/">').metadata == {}


def test_profile_url_is_no_author() -> None:
    """OpenGraph's author may be a URL."""
    assert page('<meta property="article:author" content="https://x.example/me">').metadata == {}


def test_long_title_is_cut() -> None:
    """A title element that swallowed the page is no title."""
    title = page(f"<title>{'word ' * 100_000}").title
    assert title is not None
    assert len(title) <= 2_000


def test_breadcrumbs() -> None:
    """Language, section, trail and neighbours, from the head or from what the page shows."""
    trail = {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": 2, "item": {"@id": "/b", "name": "Hives"}},
            {"@type": "ListItem", "position": 1, "name": "Guide"},
            "nothing",
        ],
    }
    found = page(
        f'<meta property="og:locale" content="de_DE"><meta property="article:section" content="Bees">'
        f'<link rel="prev" href="a.html"><link rel="next" href="/c"><link rel="next" href="/d">'
        f'<script type="application/ld+json">{json.dumps({"@graph": [trail]})}</script>'
        f'<nav class="breadcrumb"><ul><li>Other</li></ul></nav><p>x</p>'
    )
    assert found.metadata == {
        "language": "de-DE",
        "section": "Bees",
        "breadcrumbs": ["Guide", "Hives"],
        "previous": "https://example.com/docs/a.html",
        "next": "https://example.com/c",
    }


def test_visible_breadcrumbs() -> None:
    """The first trail's steps, without the signs between them and without pictures."""
    found = page(
        '<nav aria-label="Breadcrumbs"><ol><li><a href="/"><img src="/home.svg"></a></li>'
        '<li><a href="/a">Guide</a> »</li>'
        "<li>Hives</li></ol></nav><h1>Hives</h1>"
    )
    assert found.metadata == {"breadcrumbs": ["Guide", "Hives"]}


def test_link_beside_breadcrumbs_is_ignored() -> None:
    """Read the Docs has a link to the page's source in the same list."""
    html = (
        '<div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs"><li><a href="index.html" '
        'class="icon icon-home" aria-label="Home"></a></li><li class="breadcrumb-item active">Hives</li>'
        '<li class="wy-breadcrumbs-aside"><a href="_sources/hives.rst.txt" rel="nofollow"> View page source</a></li>'
        "</ul></div><p>x</p>"
    )
    assert page(html).metadata == {"breadcrumbs": ["Hives"]}


@pytest.mark.parametrize(
    ("head", "field", "value"),
    [
        ('<meta name="DC.creator" content="D"><meta name="author" content="A">', "author", "A"),
        ('<meta name="DCTERMS.creator" content="D">', "author", "D"),
        ('<meta property="og:description" content="O"><meta name="description" content="M">', "description", "M"),
        ('<meta name="dc.description" content="D"><meta property="og:description" content="O">', "description", "O"),
        ('<meta name="dcterms.date" content="2026-01-02">', "published", "2026-01-02"),
        ('<meta name="dcterms.modified" content="2026-01-02">', "modified", "2026-01-02"),
        ('<meta http-equiv="Content-Language" content="fr">', "language", "fr"),
        ('<meta name="dc.language" content="it"><meta property="og:locale" content="fr">', "language", "fr"),
    ],
)
def test_conflicting_sources_are_deterministic(head: str, field: str, value: str) -> None:
    """The page's own elements, then OpenGraph, then Dublin Core, whatever their order."""
    assert page(f"<html><head>{head}</head><p>x").metadata == {field: value}


def test_previous_and_next_from_links() -> None:
    """A generator that does not name them in the head is known by its links."""
    found = page(
        '<meta name="generator" content="VitePress v1.6"><main class="vp-doc"><h1>T</h1></main>'
        '<footer class="VPDocFooter"><a class="VPLink link pager-link next" href="/b.html">Next page</a></footer>'
    )
    assert found.metadata == {"next": "https://example.com/b.html"}


@pytest.mark.parametrize("menus", [0, 30, 39, 45])
def test_breadcrumbs_must_be_visible_and_near_the_top(menus: int) -> None:
    """Not one in a template, nor one after forty other lists."""
    trail = '<ul class="breadcrumb"><li>{}</li></ul>'
    html = (
        f"<template>{trail.format('Other')}</template>{'<ul><li>x</li></ul>' * menus}{trail.format('Guide')}<h1>T</h1>"
    )
    assert page(html).metadata == ({"breadcrumbs": ["Guide"]} if menus < 40 else {})


def test_authors_are_limited() -> None:
    """As long a line as any other of the metadata."""
    head = "".join(f'<meta name="citation_author" content="Author {number}">' for number in range(1_000))
    author = page(f"<head>{head}</head><p>x").metadata["author"]
    assert isinstance(author, str)
    assert author.startswith("Author 0, Author 1, ")
    assert len(author) <= 2_000
