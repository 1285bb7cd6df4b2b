"""Which part of the page is kept, by each of the three sizes."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown, page

PROSE = "The quick brown fox jumps over the lazy dog and thinks nothing of it. " * 8


def test_full_keeps_body_without_navigation() -> None:
    """Headers and text outside the main part stay; what HTML calls chrome goes, by element or by role."""
    html = (
        "<header><h1>Site</h1></header><nav>menu</nav><div role=navigation>menu</div><main><p>Main</p></main>"
        "<p>Outside</p><aside>teaser</aside><div role=complementary>teaser</div><div role=search>find</div>"
        "<footer>fine print</footer><div role=contentinfo>fine print</div>"
    )
    assert markdown(html, content="full") == "# Site\n\nMain\n\nOutside\n"


@pytest.mark.parametrize(
    "aside",
    [
        '<aside class="footnote brackets">kept</aside>',
        '<aside role="doc-footnote">kept</aside>',
        '<section role="doc-endnotes">kept</section>',
        '<aside class="admonition warning">kept</aside>',
        '<aside class="starlight-aside starlight-aside--tip">kept</aside>',
        '<aside class="callout">kept</aside>',
        '<aside role="note">kept</aside>',
        '<aside class="notice">kept</aside>',
        '<aside class="success">kept</aside>',
        '<p>a</p><aside class="quote no-group"><blockquote>kept</blockquote></aside>',  # Discourse's
        '<main><aside class="onebox"><a href="/x">kept, with nothing else</a></aside></main>',
        '<article><p>a</p><aside class="sidebar"><p>kept</p></aside></article>',
        "<div><section><h2>T</h2><p>a</p><aside><p>kept</p></aside></section></div>",  # as in RFCs
        '<main><aside class="margin"><p>kept, with <a href="/x">a link</a> in it</p></aside></main>',
    ],
)
@pytest.mark.parametrize("content", ["full", "auto", "main"])
def test_content_asides_are_kept(aside: str, content: str) -> None:
    """Footnotes, admonitions and notes beside the text are part of it."""
    assert "kept" in markdown(f"<body>{aside}", content=content)


@pytest.mark.parametrize(
    "aside",
    [
        '<aside class="sidebar">gone</aside>',
        '<aside class="cookie-notice">gone</aside>',
        "<section><div>Text</div><aside>gone</aside></section>",
        '<main><aside class="related-posts"><p>gone</p></aside></main>',
        '<main><aside><ul><li><a href="/1">gone</a><li><a href="/2">gone too</a></ul></aside></main>',
        "<article><aside><form>gone <input></form></aside></article>",
        '<article><aside class="table-of-contents">gone</aside></article>',
    ],
)
def test_chrome_asides_are_removed(aside: str) -> None:
    """Teasers, lists of links and forms beside the text are not part of it."""
    assert "gone" not in markdown(f"<p>Text</p>{aside}")


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>secret</p>",
        '<p style="display:none">secret</p>',
        '<span style="color: red; DISPLAY : none !important">secret</span>',
        '<div style="visibility: hidden">secret</div>',
        "<dialog>secret</dialog>",
    ],
)
def test_hidden_text_is_removed(hidden: str) -> None:
    """What no reader sees is how prompts are smuggled to agents."""
    assert markdown(f"<p>Text</p>{hidden}") == "Text\n"


@pytest.mark.parametrize(
    "shown",
    [
        "<div role=tabpanel hidden>shown</div>",
        '<div class="tab-pane" style="display:none">shown</div>',
        "<button aria-controls=more>More</button><div id=more hidden>shown</div>",
        '<a data-bs-target="#more">More</a><div id=more style="display: none">shown</div>',
        '<p hidden="until-found">shown</p>',
        '<div style="display:none"><main><p>shown</p></main></div>',
        '<body style="visibility:hidden"><p>shown</p>',
        "<details><summary>Sum</summary>shown</details>",
        '<p style="background: none; overflow: hidden">shown</p>',
        "<dialog open>shown</dialog>",
    ],
)
def test_revealed_text_is_kept(shown: str) -> None:
    """Tabs, folded sections and pages that fade in are content."""
    assert "shown" in markdown(shown)


def test_quotation_keeps_its_source() -> None:
    """The footer of a blockquote says who is quoted."""
    assert markdown("<blockquote><p>Q</p><footer>Me</footer></blockquote>") == "> Q\n>\n> Me\n"


def test_unclosed_nav_does_not_remove_the_page() -> None:
    """Broken markup may put the page inside its own menu."""
    html = "<nav><a href=/>Home</a><main><h1>Title</h1><p>Text</p></main><footer>f</footer>"
    assert "# Title\n\nText" in markdown(html)


def test_unclosed_aside_does_not_remove_the_page() -> None:
    """A banner without an end holds the main part, so it is no aside."""
    assert "Text" in markdown("<aside class=banner><p>News</p><main><p>Text</p></main>")


def test_sphinx_folder_alone_does_not_identify_sphinx() -> None:
    """Hosts of blogs have a folder `_static` as well; their pages are judged like any other."""
    head = '<head><script src="/_static/all.js"></script><script src="/wp-content/x.js"></script></head>'
    assert "Other story 2" not in markdown(f"{head}<main>{blog_page()}</main>", content="main")


def test_chrome_only_page_is_kept() -> None:
    """Better too much than an empty file."""
    assert markdown("<nav><a href=/a>A</a></nav>", content="auto") == "[A](https://example.com/a)\n"


@pytest.mark.parametrize("content", ["auto", "main"])
@pytest.mark.parametrize(
    "open_tag", ["<main>", "<div role=main>", "<article>", "<div id=content>", '<div class="markdown-body">']
)
def test_marked_main_element_is_used(content: str, open_tag: str) -> None:
    """Where the page marks its content, a sidebar of divs beside it is left out."""
    beside = "<div>Login | <a href=/x>Menu</a></div>"
    html = f"{beside}{open_tag}<h1>Title</h1><p>{PROSE}</p></div></article></main><div>Ads</div>"
    assert markdown(html, content=content) == f"# Title\n\n{PROSE.strip()}\n"


def test_heading_with_content_class_is_no_content() -> None:
    """The id of a heading is made from its words, and a chapter may be called Content."""
    html = f"<h1>Title</h1><p>{PROSE}</p><h2 id=content>Content</h2><p>{PROSE}</p>"
    assert markdown(html, content="main").count(PROSE.strip()) == 2


def test_auto_keeps_text_in_doubt() -> None:
    """A landmark that holds only part of the text does not decide what the page is."""
    html = f"<main><p>Intro</p></main><div><h2>Chapter</h2><p>{PROSE}</p><p>{PROSE}</p></div>"
    assert "## Chapter" in markdown(html, content="auto")
    assert markdown(html, content="main") == "Intro\n"


def test_empty_main_element_is_ignored() -> None:
    """Pages filled by script leave their main element empty."""
    html = f"<main></main><div id=app><h1>Title</h1><p>{PROSE}</p></div>"
    for content in ("auto", "main"):
        assert PROSE.strip() in markdown(html, content=content)


def test_title_above_the_main_element_is_kept() -> None:
    """The page's one h1 often stands in a header outside; a linked one is the site's name."""
    body = f"<main><h2>Part</h2><p>{PROSE}</p></main>"
    assert markdown(f"<header><h1>Title</h1></header>{body}", content="auto").startswith("# Title\n\n## Part\n")
    assert markdown(f"<header><h1><a href=/>Site</a></h1></header>{body}", content="auto").startswith("## Part\n")


def test_all_articles_of_a_page_are_kept() -> None:
    """A blog's front page or a thread is all of its articles, nested ones once."""
    html = f"<article><p>One</p><article><p>Two</p></article></article><article><p>Three {PROSE}</p></article><p>Ad</p>"
    assert markdown(html, content="auto") == f"One\n\nTwo\n\nThree {PROSE.strip()}\n"


def test_unmarked_page_in_auto_and_main() -> None:
    """Without landmarks auto cuts nothing, main looks for the densest part; of documentation it cuts nothing."""
    menu = "".join(f"<li><a href=/{number}>Item {number}</a>" for number in range(30))
    html = f"<div><ul>{menu}</ul></div><div><h1>Title</h1><p>{PROSE}</p><p>{PROSE}</p></div>"
    assert "Item 7" in markdown(html, content="auto")
    assert "Item 7" in markdown(html, content="main")  # below /docs/
    guessed = page(html, url="https://example.com/page.html", content="main").markdown
    assert "Item 7" not in guessed
    assert PROSE.strip() in guessed


def test_known_generators_lose_their_chrome() -> None:
    """Where the head names the generator, its navigation goes even without HTML's own elements."""
    page = '<div class="navheader">Prev Next</div><div class="sect1"><h2>T</h2><p>Text</p></div>'
    head = '<meta name="generator" content="DocBook XSL Stylesheets V1">'
    assert markdown(head + page, content="auto") == "## T\n\nText\n"
    assert "Prev" in markdown(page, content="auto")


def test_unknown_content_option_is_refused() -> None:
    """A wrong word is the caller's mistake, not the page's."""
    with pytest.raises(ValueError, match="medium"):
        markdown("<p>x</p>", content="medium")


def blog_page() -> str:
    """A page of a blog as most are: an article that nothing marks as such, between menus and teasers."""
    text = "".join(
        f"<p>Paragraph {n} tells at some length, and with a comma or two, what the author found out about wool.</p>"
        for n in range(8)
    )
    teasers = "".join(f'<div class="card"><a href="/{n}"><h4>Other story {n}</h4></a></div>' for n in range(6))
    menu = "".join(f'<li><a href="/m{n}">Topic {n}</a></li>' for n in range(8))
    return (
        f'<div class="site-header"><ul class="menu">{menu}</ul></div><div class="post"><h1>About wool</h1>{text}'
        "<h2>Prices</h2><table><tr><th>Kind<th>Price<tr><td>fine<td>12</table><pre><code>knit --rows 12</code></pre>"
        f'<p>That is all there is to say about it, for now.</p></div><div class="related-posts"><h3>Related posts</h3>'
        f'{teasers}</div><div class="newsletter-signup"><p>Subscribe to our newsletter</p></div>'
    )


@pytest.mark.parametrize("content", ["auto", "main"])
def test_unmarked_article_is_kept(content: str) -> None:
    """Paragraphs, headings, tables and code of the content stay where no landmark says what the content is."""
    text = markdown(blog_page(), content=content)
    assert all(f"Paragraph {n} " in text for n in range(8))
    for part in ("# About wool", "## Prices", "| fine | 12 |", "knit --rows 12", "That is all"):
        assert part in text


@pytest.mark.parametrize("row", ['class="nav" role="tablist"', 'class="nav-tabs"'])
def test_tab_labels_are_kept_with_their_panels(row: str) -> None:
    """However little they look like content by themselves."""
    tabs = (
        f'<div class="t"><div {row}><button role="tab" aria-controls="one">Debian</button>'
        '<button role="tab" aria-controls="two">Fedora</button></div><div id="one" role="tabpanel"><p>Refresh the list '
        'of packages first, and then install it.</p></div><div id="two" role="tabpanel"><p>Fedora has it since release '
        "38, which came out in spring.</p></div></div>"
    )
    text = markdown(blog_page().replace("<h2>Prices", f"{tabs}<h2>Prices"), content="auto")
    assert "- **Debian**\n\n  Refresh the list" in text
    assert "- **Fedora**\n\n  Fedora has it" in text


def test_collapsed_answers_are_kept() -> None:
    """A list of tabs that holds its panels is an accordion: what follows says nothing about it."""
    answers = "".join(
        f'<div class="card"><div role="tab"><h5><a href="#a{n}">Does wool of kind {n} keep warm?</a></h5></div>'
        f'<div id="a{n}" class="collapse" role="tabpanel"><p>Answer {n}: for as long as it is dry, and a good while '
        "after that, as every shepherd on these hills will tell you.</p></div></div>"
        for n in range(4)
    )
    page = blog_page().replace('<div class="related', f'<div role="tablist">{answers}</div><div class="related')
    text = markdown(page, content="auto")
    assert all(f"Answer {n}: for as long" in text for n in range(4))


def test_main_removes_surroundings_of_unmarked_article() -> None:
    """Menus, teasers and invitations are known by what they are called, what they say and where they stand."""
    text = markdown(blog_page(), content="main")
    for part in ("Topic 3", "Other story 2", "Related posts", "newsletter"):
        assert part not in text


@pytest.mark.parametrize("name", ["content", "main-content", "mainContent"])
def test_a_menu_before_the_named_content_is_cut(name: str) -> None:
    """Exim's manual has the site's name and menu above an element whose id alone says that it is the content."""
    menu = "".join(f"<li><a href='https://www.example.com/{word}'>{word}</a>" for word in ("Home", "Download", "Wiki"))
    text = "".join(f"<p>{PROSE}</p><pre>a = {number}</pre>" for number in range(10))
    html = (
        f"<h1 id=header><a href='https://www.example.com/'>The Project</a></h1><div id=outer><ul class=nav>{menu}</ul>"
        f"<div id=inner><div id={name}><h2>Chapter 16</h2>{text}</div></div></div>"
    )
    assert markdown(html, content="auto").startswith("## Chapter 16\n\nThe quick")


def test_links_within_the_named_content_stay() -> None:
    """A list of links in the content is a table of contents."""
    links = "".join(f"<li><a href='{number}.html'>Chapter {number}</a>" for number in range(10))
    html = f"<h1>The Project</h1><div id=content><ul>{links}</ul>{f'<p>{PROSE}</p>' * 10}</div>"
    assert markdown(html, content="auto").count(".html)") == 10
