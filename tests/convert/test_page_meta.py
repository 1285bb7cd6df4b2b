"""What the mirror index tells of a page."""

from __future__ import annotations

import time

import pytest

from sitemirror.convert.document import parse_html
from sitemirror.convert.metadata.summary import MAX_HEADING, MAX_HEADINGS, MAX_LANGUAGES, page_meta, read_page_meta
from sitemirror.model import PageMeta
from tests.convert.pages import URL


def meta(html: str, *, url: str = URL, charset: str | None = None) -> PageMeta:
    return page_meta(html.encode(), url=url, charset=charset)


def words(html: str) -> int:
    return meta(html).word_count


def test_every_field_is_read() -> None:
    """Title, description, canonical, robots, languages and headings come from one look at the page."""
    html = """<!doctype html><html><head><title> The\n title </title>
      <meta name="Description" content=" What it  is "><meta name="ROBOTS" content="noindex, follow">
      <link rel="canonical" href="../canonical?x=1#top">
      <link rel="alternate" hreflang="de" href="/de/page"><link rel=alternate hreflang=x-default href="https://example.com">
      </head><body><h1>One <em>and</em> only</h1><p>Some words here.</p><h2>First</h2><h2> Second\n one </h2></body>"""
    assert meta(html) == PageMeta(
        title="The title",
        meta_description="What it is",
        canonical_url="https://example.com/canonical?x=1",
        robots="noindex, follow",
        hreflang=(("de", "https://example.com/de/page"), ("x-default", "https://example.com/")),
        h1=("One and only",),
        h2=("First", "Second one"),
        word_count=9,
    )


def test_page_without_metadata() -> None:
    """What the page does not say stays unknown; its words are counted all the same."""
    assert meta("<p>just text") == PageMeta(word_count=2)
    assert meta("") == PageMeta()


def test_relative_urls_are_resolved_against_base() -> None:
    """`<base href>` holds for canonical and alternates."""
    found = meta(
        '<base href="https://cdn.example/x/"><link rel=canonical href=y><link rel=alternate hreflang=fr href=z>'
    )
    assert found.canonical_url == "https://cdn.example/x/y"
    assert found.hreflang == (("fr", "https://cdn.example/x/z"),)


@pytest.mark.parametrize(
    "href", ["", "   ", "javascript:void(0)", "mailto:a@b.c", "http://[", "http://u:p@example.com/"]
)
def test_invalid_urls_are_omitted(href: str) -> None:
    """A canonical or alternate that nobody can fetch is as good as absent."""
    found = meta(f'<link rel=canonical href="{href}"><link rel=alternate hreflang=de href="{href}">')
    assert (found.canonical_url, found.hreflang) == (None, ())


def test_first_title_wins_and_robots_are_joined() -> None:
    """As search engines read them: all robots rules hold together; later titles do not."""
    found = meta(
        "<svg><title>icon</title></svg><title>A</title><title>B</title><meta name=description content=C>"
        "<meta name=description content=D><meta name=robots content=noindex><meta name=robots content=nofollow>"
        "<meta name=robots content=noindex><meta name=googlebot content=nosnippet>"
    )
    assert (found.title, found.meta_description, found.robots) == ("A", "C", "noindex, nofollow")


def test_alternates_need_a_language() -> None:
    """Feeds and print versions are alternates too; repeated translations are told once."""
    found = meta(
        '<link rel=alternate type="application/rss+xml" href=/feed><link rel=stylesheet hreflang=de href=/s>'
        "<link rel='home alternate' hreflang=de href=/de><link rel=alternate hreflang=de href=/de>"
    )
    assert found.hreflang == (("de", "https://example.com/de"),)


def test_headings_lose_only_permalinks() -> None:
    """The sign that links a heading to itself is no part of its words; a C# is."""
    found = meta(
        '<h1>Guide<a class=headerlink href="#guide">¶</a></h1><h2><a href="#c">#</a> C#</h2>'
        '<h2>F#<span><a href="#f">#</a></span></h2><h2><a href="#x">Linked words</a></h2><h2><img></h2><h3>Deep</h3>'
    )
    assert (found.h1, found.h2) == (("Guide",), ("C#", "F#", "Linked words"))


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<p>a<p>b", 2),
        ("<div>a</div>b", 2),
        ("<ul><li>a</li><li>b</li></ul>c", 3),
        ("<table><tr><td>1</td><td>2</td></tr></table>", 2),
        ("a<br>b <img alt='not read'>c<hr>d", 4),
        ("H<sub>2</sub>O and <b>B</b>old", 3),
        ("<pre>foo<span>.</span>bar(<span>x</span>)  y</pre>", 2),
        ("a<!-- no comment -->b", 1),
        ("<nav>one</nav><footer>two</footer>", 2),
    ],
)
def test_word_count(html: str, count: int) -> None:
    """Blocks, cells and line breaks end a word; markup inside a word does not."""
    assert words(html) == count


@pytest.mark.parametrize(
    "html",
    [
        "<script>a b</script>",
        "<style>a {b: c}</style>",
        "<template><p>a b</template>",
        "<body><noscript>a b</noscript>",
        "<div hidden>a <b>b</b></div>",
        "<select><option>a<option>b</select>",
        "<textarea>a b</textarea>",
        "<video>no video</video><iframe>no frames</iframe>",
        "<frameset><frame src=x><noframes>a b</noframes></frameset>",
    ],
)
def test_hidden_words_are_not_counted(html: str) -> None:
    """Code, hidden text, form choices and fallbacks are not the page's words."""
    assert words(html) == 0


def test_reading_does_not_change_the_page() -> None:
    """The tree can go on to conversion or link rewriting."""
    document = parse_html("<title>t</title><h1>a<a href='#a'>#</a></h1><script>x</script><p hidden>y", url=URL)
    before = document.tree.html
    assert read_page_meta(document, 100).h1 == ("a",)
    assert document.tree.html == before


def test_charset_of_the_header_is_used() -> None:
    """Bytes are decoded as for conversion."""
    page = "<title>Größe</title>".encode("iso-8859-1")
    assert page_meta(page, url=URL, charset="iso-8859-1").title == "Größe"


def test_text_is_one_line_without_controls() -> None:
    """Nothing that a terminal would obey gets into the index."""
    found = meta("<title>a\x1b[31m\u2028b</title><h1>c\x00\td</h1><meta name=robots content='no\x9bindex'>")
    assert found.title == "a[31m b"
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in f"{found.title}{found.h1[0]}{found.robots}")


def test_metadata_size_is_limited() -> None:
    """Every text and list is cut, whatever the page repeats."""
    html = (
        f"<title>{'t' * 10_000}</title>"
        + "".join(f"<meta name=robots content='{n}{'r' * 200}'>" for n in range(1_000))
        + "".join(f"<link rel=alternate hreflang=l{n} href=/{n}>" for n in range(1_000))
        + f"<link rel=alternate hreflang={'l' * 100} href=/>"
        + "".join(f"<h1>{n} {'h' * 1_000}</h1><h2>{n}</h2>" for n in range(1_000))
    )
    found = meta(html)
    assert found.title is not None
    assert found.robots is not None
    assert (len(found.title), len(found.robots)) == (2_000, 500)
    assert (len(found.hreflang), len(found.h1), len(found.h2)) == (MAX_LANGUAGES, MAX_HEADINGS, MAX_HEADINGS)
    assert max(map(len, found.h1)) == MAX_HEADING


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "a<span>" * 50_000,
        "<div hidden>a" * 50_000,
        "<h1><div><h2>a " * 20_000,
        "<h1>" + "<a href='#'>#</a>" * 50_000,
        "<table><tr><td>" + "w " * 50_000 + "</td><td>b</td></tr>" + "<tr><td>a</td><td>b</td></tr>" * 3_000,
    ],
    ids=["spans", "hidden", "headings", "permalinks", "wide table"],
)
def test_hostile_pages_take_linear_time(html: str) -> None:
    """Nesting and width cost no more than their length."""
    began = time.process_time()
    meta(html)
    assert time.process_time() - began < 5


def test_wide_tables_are_counted_without_laying_them_out() -> None:
    """A table with one long cell among thousands of rows would be gigabytes of blanks if it were drawn."""
    rows = 20_000
    html = "<table>" + "<tr><td>x</td><td>y</td></tr>" * rows + f"<tr><td>{'z' * 1_000_000}</td></tr></table>"
    assert words(html) == 2 * rows + 1


def test_list_numbers_are_no_words() -> None:
    """The numbers before a list's items are the browser's, not the page's."""
    assert words("<ol><li>one<li>two<ul><li>three</ul></ol><ol start=9><li><p>four</ol>") == 4
