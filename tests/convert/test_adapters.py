"""Generators are files: each is read, and each names what the converter knows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import turbohtml

from sitemirror.convert import convert_html
from sitemirror.convert.elements.rules import ROLES
from sitemirror.convert.generators import Generator, generators, read_generator, recognise_generators, vocabulary
from tests.convert.pages import markdown

FILES = Path(__file__).parents[2] / "src" / "sitemirror" / "convert" / "adapters"
GOLDEN = Path(__file__).parents[1] / "golden"
BODY = turbohtml.parse("<p>x</p>").select("body")[0]
CHROME_IDS = re.compile(r"#([\w-]+)")
ALERTS = {"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"}


def test_every_adapter_file_is_valid() -> None:
    """Whoever adds a file has added a generator."""
    assert len(generators()) == len(list(FILES.glob("*.toml"))) - 1 >= 19


@pytest.mark.parametrize("generator", generators(), ids=lambda generator: generator.name)
def test_selectors_and_roles_are_valid(generator: Generator) -> None:
    """A slip in a file is found here, not on a page."""
    tree = turbohtml.parse("<p>x</p>")
    selectors = [generator.content, generator.chrome, generator.noise, generator.unwrap, generator.formulas]
    selectors += [generator.sign, generator.needed, generator.heading, generator.previous, generator.next]
    selectors += generator.titles
    selectors += [part for tabs in (generator.tabs or {}).values() for part in (tabs.labels, tabs.panels)]
    for selector in filter(None, selectors):
        tree.select(selector)
    assert generator.marks or generator.sign
    assert {*(generator.roles or {}).values(), *(generator.everywhere or {}).values()} <= set(ROLES)
    assert set((generator.alerts or {}).values()) <= ALERTS


def test_an_unknown_key_is_refused() -> None:
    """A misspelt key would be silence otherwise."""
    with pytest.raises(ValueError, match="nosie"):
        read_generator('name = "X"\nnosie = [".a"]')


def test_new_generator_needs_only_a_file() -> None:
    """What a file says is all that the converter has to know."""
    generator = read_generator(
        'name = "X"\nrecognised_by = ["x-press"]\nnoise = [".copy"]\n[classes]\nadmonition = ["heads-up"]\n'
        '[alerts]\nheads-up = "IMPORTANT"\n[languages]\nwarbler = "wrb"'
    )
    names = vocabulary((generator,))
    assert names.roles["heads-up"] == "admonition"
    assert names.alerts["heads-up"] == "IMPORTANT"
    assert names.noise.endswith(".copy")
    assert not recognise_generators("", BODY)


def test_every_generator_has_a_golden_page() -> None:
    """For each file there is a page that is recognised by it."""
    seen = set[str]()
    for page in GOLDEN.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        head = " ".join(re.findall(r'(?:href|src|content)="?([^">]+)', text))
        seen.update(generator.name for generator in recognise_generators(head, turbohtml.parse(text).select("body")[0]))
    assert {generator.name for generator in generators()} - seen <= {"Antora"}


@pytest.mark.parametrize(
    ("head", "around"),
    [
        (
            '<script src="../search/main.js"></script>',
            "<main><h1>T</h1><p>Words</p></main><div class=modal id=search role=dialog><h4>Search</h4></div>",
        ),
        (
            '<script src="../search/main.js"></script>',
            "<main><div class=home-top><a href=/>Site</a></div><h1>T</h1><p>Words</p>"
            '<ul class="metadata page-metadata"><li>Last updated:</li></ul></main>',
        ),
        (
            '<script src="_static/doctools.js"></script>',
            '<main><article class="yue" role="main"><h1>T</h1><p>Words</p></article><div class="navigation flex">'
            '<div class="navigation-prev"><a href="a.html">Previous</a></div></div></main>',
        ),
        (
            '<script src="_static/doctools.js"></script>',
            '<div id="right-column"><div class="document clearer body"><h1>T</h1><p>Words</p></div>'
            '<div class="footer-relations"><a href="a.html">Before</a></div></div>'
            '<div class="footer">Made by Sphinx</div>',
        ),
    ],
    ids=["MkDocs, Cinder", "MkDocs, Ivory and Bootstrap 4", "Sphinx, Shibuya", "Sphinx, Guzzle"],
)
def test_third_party_themes_lose_their_chrome(head: str, around: str) -> None:
    """What a generator's themes put around a page is no part of it."""
    assert markdown(f"{head}{around}", content="auto") == "# T\n\nWords\n"


def test_common_class_names_apply_to_every_page() -> None:
    """A name with one meaning needs no head that gives the generator away."""
    box = (
        '<aside class="starlight-aside starlight-aside--tip"><p class="starlight-aside__title">Tip</p><p>x</p></aside>'
    )
    assert markdown(box) == "> [!TIP]\n> x\n"
    assert markdown('<div class="notice"><p>x</p></div>') == "x\n"


@pytest.mark.parametrize("path", sorted(FILES.glob("*.toml")), ids=lambda path: path.stem)
def test_chrome_never_matches_headings_or_sections(path: Path) -> None:
    """Their ids are made from their words, and those may be what a generator calls its menus."""
    text = path.read_text(encoding="utf-8")
    chrome = read_generator(text).chrome
    for name in CHROME_IDS.findall(" ".join(tomllib.loads(text).get("chrome", ()))):
        html = f'<div><h2 id="{name}">Heading</h2></div><section id="{name}"><h2>Section</h2></section>'
        body = turbohtml.parse(html).select("body")[0]
        body.remove(chrome)
        assert body.text == "HeadingSection", name


@pytest.mark.parametrize(
    ("head", "content"),
    [
        ('<meta name="generator" content="Mintlify">', '<div id="content-area"><h1>T</h1>{0}</div>'),
        ('<meta name="generator" content="Asciidoctor 2.0.20">', "<h1>T</h1>{0}"),
        ('<link rel="stylesheet" href="css/chrome.css">', '<div id="content"><main><h1>T</h1>{0}</main></div>'),
        ('<meta name="generator" content="MediaWiki 1.41">', '<div id="bodyContent"><h1>T</h1>{0}</div>'),
        ('<meta name="generator" content="Doxygen 1.9.8">', '<div id="doc-content"><h1>T</h1>{0}</div>'),
    ],
)
def test_headings_with_menu_class_are_kept(head: str, content: str) -> None:
    """Sections about a footer, a sidebar or a table of contents are sections like any other."""
    names = ("sidebar", "navbar", "table-of-contents", "pagination", "footer", "menu-bar", "toc", "top")
    headings = "".join(f'<h2 id="{name}">About {name}</h2><p>x</p>' for name in names)
    text = markdown(f"{head}{content.format(headings)}", content="auto")
    assert all(f"## About {name}\n" in text for name in names)


@pytest.mark.parametrize(
    ("head", "content"),
    [
        (
            '<link rel="stylesheet" href="_static/pygments.css">',
            '<div class="related"><h3>Navigation</h3></div><div class="documentwrapper"><div class="body" role="main">'
            '<h1>T</h1><div class="related docutils container"><p>Words</p></div></div></div>',
        ),
        (
            '<link rel="stylesheet" href="_static/pygments.css">',
            '<div class="sphinxsidebar"><div id="searchbox">Navigation</div></div><div class="body" role="main">'
            '<h1>T</h1><div class="section" id="searchbox"><p>Words</p></div></div>',
        ),
        *(
            (
                '<meta name="generator" content="Jekyll v4.3.2">',
                f'<div class="{name}">Navigation</div><main><h1>T</h1><div class="{name}"><p>Words</p></div></main>',
            )
            for name in ("search", "sidebar", "pagination")
        ),
        (
            '<meta name="generator" content="mkdocs-1.5.3, mkdocs-material-9.5.3">',
            '<div class="modal" id="mkdocs_search_modal" role="dialog">Navigation</div>'
            '<article class="md-content__inner"><h1>T</h1><div class="modal"><p>Words</p></div></article>',
        ),
    ],
)
def test_author_boxes_with_menu_class_are_kept(head: str, content: str) -> None:
    """A name that authors give to their own boxes takes away only what the generator has written."""
    assert markdown(head + content, content="auto") == "# T\n\nWords\n"


def test_wiki_title_outside_the_content_is_kept() -> None:
    """Also where the content has headings of the first rank, as many manuals have."""
    html = (
        '<meta name=generator content="MediaWiki 1.43"><h1 id=firstHeading>Lamps</h1>'
        "<div id=bodyContent><p>Two kinds.</p><h1>Oil</h1><p>Smoky.</p></div>"
    )
    page = convert_html(html, url="https://example.com/")
    assert page.markdown == "# Lamps\n\nTwo kinds.\n\n# Oil\n\nSmoky.\n"


def test_function_named_source_is_kept() -> None:
    """The name of what is declared stays in the signature; a link to where it is written stands beside it."""
    html = (
        '<meta name=generator content=rustdoc><section id=main-content><h1>Error</h1><h4 class="code-header">fn '
        '<a href="#method.source" class="fn">source</a>(&amp;self)</h4><h4 class="code-header">fn '
        '<a href="#method.cause" class="fn">cause</a>(&amp;self) <a href="/src/e.html">source</a></h4></section>'
    )
    page = convert_html(html, url="https://example.com/")
    assert "#### `fn source(&self)`\n" in page.markdown
    assert "#### `fn cause(&self)` [source](https://example.com/src/e.html)" in page.markdown


@pytest.mark.parametrize(
    ("head", "box"),
    [
        ('<link rel=stylesheet href="/style/online.css">', "<div class=sidebar>"),
        ('<script src="/lib/fzy.js"></script>', "<div id=toc>"),
    ],
)
def test_common_file_name_does_not_identify_a_generator(head: str, box: str) -> None:
    """Any site may have one; a box in its text is cut only where the page is that generator's in other ways, too."""
    text = "<p>A long paragraph of the article, with more than a few words in it, and another sentence.</p>"
    html = f"<title>T</title>{head}<main><h1>Lamps</h1>{text}{box}<p>Oil is cheap.</p></div>{text}</main>"
    for content in ("auto", "main"):
        assert "Oil is cheap." in convert_html(html, url="https://example.com/", content=content).markdown


def test_animated_terminal_session_has_no_tags() -> None:
    """What is shown is the text that they would colour, and code that is no such session keeps all of its own."""
    html = (
        '<meta name=generator content="mkdocs-1.6, mkdocs-material-9.5"><div class="md-content__inner"><h1>Run</h1>'
        '<div class="termy"><div class="language-console"><pre><code>'
        '$ &lt;font color="#4E9A06"&gt;lamp&lt;/font&gt; dev\n'
        "  &lt;b&gt;&amp;apos;on&amp;apos;&lt;/b&gt; (Press CTRL+C to quit), if 1 &lt; List&lt;int&gt;\n"
        "</code></pre></div></div>"
        "<pre><code>&lt;b&gt;bold&lt;/b&gt;\n</code></pre></div>"
    )
    page = convert_html(html, url="https://example.com/")
    assert "```console\n$ lamp dev\n  'on' (Press CTRL+C to quit), if 1 < List<int>\n```" in page.markdown
    assert "```\n<b>bold</b>\n```" in page.markdown


@pytest.mark.parametrize(
    ("head", "html", "text"),
    [
        (
            '<meta name="generator" content="Doxygen 1.9.8">',
            '<p>Let <img class="formulaInl" alt="$ a_1 &lt; b $" src="form_0.png"/> be.</p>\n<p class="formulaDsp">\n'
            '<img class="formulaDsp" alt="\\[ x^2 \\]" src="form_1.png"/>\n</p>\n<p class="formulaDsp">\n'
            '<img class="formulaDsp" alt="\\begin{align*} y \\end{align*}" src="form_2.png"/>\n</p>',
            "Let $a_1 < b$ be.\n\n$$\nx^2\n$$\n\n$$\n\\begin{align*} y \\end{align*}\n$$\n",
        ),
        (
            '<link rel="stylesheet" href="_static/pygments.css">',
            '<p>Let <img class="math" src="_images/math/a.png" alt="a^2" style="vertical-align: 0px"/> be.</p>'
            '<div class="math"><p><img src="_images/math/b.png" alt="x &amp; y"/></p></div>'
            '<p><img class="math" src="_images/math/c.png"/></p>',
            "Let $a^2$ be.\n\n$$\nx & y\n$$\n\n![](https://example.com/docs/_images/math/c.png)\n",
        ),
    ],
)
def test_images_of_formulas_become_tex(head: str, html: str, text: str) -> None:
    """A formula that was drawn when the page was made has its TeX beside the picture."""
    assert markdown(head + html) == text


def test_doxygen_lists_are_unwrapped() -> None:
    """What folds them, and the letters for the kind of an entry, are drawn with them and say nothing alone."""
    html = (
        '<div class="directory"><div class="levels">[detail level <span onclick="javascript:toggleLevel(1);">1'
        '</span><span onclick="javascript:toggleLevel(2);">2</span>]</div><table class="directory"><tr>'
        '<td class="entry"><span style="width:0px;display:inline-block;">&#160;</span><span id="arr_0_" class="arrow">'
        '&#9660;</span><span class="icona"><span class="icon">N</span></span><b>garden</b></td><td class="desc">All'
        '</td></tr><tr><td class="entry"><span style="width:32px;display:inline-block;">&#160;</span>'
        '<span class="icona"><span class="icon">C</span></span><b>Bed</b></td><td class="desc">One</td></tr></table>'
    )
    text = markdown(f'<meta name="generator" content="Doxygen 1.9.8">{html}')
    assert text == "| **garden** | All |\n| --- | --- |\n| **Bed** | One |\n"


def test_haiku_header_is_removed() -> None:
    """Sphinx's theme says the title above the page, where the page says it again."""
    html = (
        '<link rel="stylesheet" href="_static/pygments.css"><div class="header" role="banner"><h1 class="heading">'
        '<a href="index.html"><span>Garden</span></a></h1><h2 class="heading"><span>Beds</span></h2></div>'
        '<div class="content" role="main"><section id="beds"><h1>Beds</h1><p>Text.</p></section></div>'
    )
    assert markdown(html, content="auto") == "# Beds\n\nText.\n"


def test_doxygen_member_links_are_kept() -> None:
    """A class or a namespace in a list is a way to its page; the page's own contents and groups are the frame's."""
    html = (
        '<meta name="generator" content="Doxygen 1.9"><div class="header"><div class="headertitle"><div class="title">'
        'geo<div class="ingroups"><a href="g.html">Shapes</a></div></div></div></div><div class="contents">'
        '<div class="toc"><h3>Table of Contents</h3><ul><li><a href="#c">Classes</a></li></ul></div>'
        '<table class="memberdecls"><tr class="heading"><td colspan="2"><h2>Classes</h2></td></tr>'
        '<tr class="memitem:"><td class="memItemLeft">class &#160;</td><td><a href="/Shape.html">Shape</a></td></tr>'
        '<tr class="memitem:"><td class="memItemLeft"><a href="/Size.html">Size</a> &#160;</td><td><b>f</b> '
        '(<a href="/Size.html">Size</a>)</td></tr></table></div>'
    )
    said = "# geo\n\n## Classes\n\n- [`class Shape`](https://example.com/Shape.html)\n- `Size f (Size)`\n"
    assert markdown(html, content="auto") == said


def test_wordpress_file_block_is_one_link() -> None:
    """The button beside a file's name leads to the same file."""
    html = (
        '<meta name="generator" content="WordPress 6.6"><div class="wp-block-file"><a href="/f.pdf">f.pdf</a>'
        '<a href="/f.pdf" class="wp-block-file__button" download>Download</a></div>'
    )
    assert markdown(html) == "[f.pdf](https://example.com/f.pdf)\n"


def test_typedoc_words_and_notes() -> None:
    """What a parameter is stands before its name, with no blank between them but the style sheet's."""
    html = (
        '<script src="assets/navigation.js"></script><div class="tsd-alert tsd-alert-warning">'
        '<div class="tsd-alert-title"><span>Warning</span></div><p>B</p></div>'
        '<ul><li><code class="tsd-tag">Optional</code><span>size</span>: number</li></ul>'
    )
    assert markdown(html) == "> [!WARNING]\n> B\n\n- `Optional` size: number\n"


def test_javadoc_is_recognised_by_comment() -> None:
    """Older versions have nothing else in their heads; what they arrange in lists is no list."""
    html = '<ul class="blockList"><li class="blockList"><h3>Method Summary</h3><p>Text.</p></li></ul>'
    page = "<head>\n<!-- Generated by javadoc (1.8.0_181) on Mon Jan 01 00:00:00 UTC 2024 -->\n<title>A</title></head>"
    assert markdown(f"{page}<body>{html}", content="auto") == "### Method Summary\n\nText.\n"


def test_gitbook_footer_is_removed() -> None:
    """When it was changed is in the front matter; whether it was helpful is nobody's question here."""
    html = (
        '<meta name="generator" content="GitBook (28f7fba)"><main><h1>Kites</h1><div><p>They fly.</p></div>'
        '<div class="mx-auto mt-6"><p class="mr-auto">Last updated <time data-visual-test="transparent"'
        ' datetime="2024-09-17T06:16:41.347Z">1 year ago</time></p><div><p>Was this helpful?</p></div></div></main>'
    )
    page = convert_html(html, url="https://example.com/")
    assert page.markdown == "# Kites\n\nThey fly.\n"
    assert page.metadata["modified"] == "2024-09-17T06:16:41.347Z"


def test_rustdoc_version_leaves_no_dot() -> None:
    """It stands beside the link to the source, as it does beside each method, and goes with it."""
    html = (
        '<meta name="generator" content="rustdoc"><section id="main-content"><div class="main-heading">'
        '<h1>Struct Vec</h1><span class="sub-heading"><span class="since">1.0.0</span> · '
        '<a class="src" href="s.html">Source</a></span>'
        "</div><p>A row of things.</p></section>"
    )
    assert convert_html(html, url="https://example.com/").markdown == "# Struct Vec\n\nA row of things.\n"


def test_javadoc_with_extra_end_tag_is_complete() -> None:
    """A stray tag of an author closes the generator's own boxes, `main` too; what follows is still the page."""
    html = (
        '<head><meta name="generator" content="javadoc/ClassWriterImpl"></head><body><nav>Overview</nav>'
        '<div class="flex-content"><main><h1>Class Oar</h1><ul class="member-list"><li><section><h3>row</h3>'
        '<div class="block">Rows:</ul>hard.</div></section></li><li><section><h3>rest</h3>'
        '<div class="block">Rests.</div></section></li></ul></main><footer>Copyright</footer></div>'
    )
    assert markdown(html, content="auto") == "# Class Oar\n\n### row\n\nRows:\n\nhard.\n\n### rest\n\nRests.\n"


@pytest.mark.parametrize(
    ("head", "box"),
    [
        ('<link rel="stylesheet" href="/themes/heveaboard/style.css">', ""),
        ("", '<div class="navigate"><a class="nav" href="/a">Boats</a></div>'),
        ("", '<div class="topNav"><ul class="navList"><li><a href="/a">Boats</a></li></ul></div>'),
        ('<link rel="stylesheet" href="/highlight/styles/docco.css">', "<div id=container>"),
        ('<meta name="generator" content="AsciiDoc 9.1.0">', ""),
    ],
)
def test_unknown_sites_with_generator_class_names(head: str, box: str) -> None:
    """A maker of rubber, a menu or a theme of that name is no manual, whose whole page would be content."""
    text = (
        "<p>The oars are made of ash or spruce, which are light and strong enough for the sea, and last for years.</p>"
    )
    menu = "".join(f'<li><a href="/{number}">Boat {number}</a></li>' for number in range(12))
    html = (
        f"<head><title>Oars</title>{head}</head><body>{box}<div class=menu><ul>{menu}</ul></div><div class=post>"
        f"<h1>Oars</h1>{text * 12}</div><div class=foot><p>Copyright 2024</p></div>"
    )
    found = markdown(html, url="https://example.com/blog/oars", content="auto")
    assert "The oars" in found
    assert "Boat 3" not in found
