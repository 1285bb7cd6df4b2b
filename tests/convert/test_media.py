"""Pictures, videos and frames."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


@pytest.mark.parametrize(
    "html",
    [
        '<img src="/p.jpg" alt="P">',
        '<img srcset="/s.jpg 400w, /p.jpg 800w" alt="P">',
        '<img srcset="/s.jpg, /p.jpg 2x" alt="P">',
        f'<img src="{PIXEL}" data-src="/p.jpg" alt="P">',
        '<img src="" data-lazy-src="/p.jpg" alt="P">',
        f'<img src="{PIXEL}" data-srcset="/s.jpg 1x, /p.jpg 3x" alt="P">',
        '<picture><source srcset="/p.jpg"><img alt="P"></picture>',
        '<noscript><img src="/p.jpg" alt="P"></noscript>',
        f'<img src="{PIXEL}"><noscript><img src="/p.jpg" alt="P"></noscript>',
        '<img data-src="/p.jpg" alt="P"><noscript><img src="/other.jpg" alt="P"></noscript>',
        '<img src="/p.jpg" alt="P"><img src="/count" width="1" height="1">',
    ],
)
def test_image_sources(html: str) -> None:
    """Lazy, responsive and scriptless pictures all come out once, with an absolute address."""
    assert markdown(html) == "![P](https://example.com/p.jpg)\n"


@pytest.mark.parametrize("source", [PIXEL, "javascript:alert(1)", "blob:https://example.com/1", ""])
def test_invalid_image_leaves_its_alt_text(source: str) -> None:
    """Data in an address is noise; the alternative text is not."""
    assert markdown(f'<p>a <img src="{source}" alt="the &lt;chart&gt;"> b</p>') == "a the \\<chart> b\n"
    assert markdown(f'<p>a <a href="/x"><img src="{source}"></a> b</p>') == "a b\n"


def test_alternative_text_is_one_line() -> None:
    """Line breaks in alt and title do not break the picture."""
    html = '<img src="/p.jpg" alt="a\n   ]b" title="c\n d">'
    assert markdown(html) == '![a \\]b](https://example.com/p.jpg "c d")\n'


@pytest.mark.parametrize(
    ("srcset", "best"),
    [
        ("a.png", "a.png"),
        ("a.png 1x, b.png 2x", "b.png"),
        ("a.png 800w,b.png 400w", "a.png"),
        (
            "https://c.example/w_400,h_3/a.png 400w, https://c.example/w_800,h_6/a.png 800w",
            "https://c.example/w_800,h_6/a.png",
        ),
        ("  a.png  ,  ", "a.png"),
        ("a.png oddx, b.png 0.5x", "b.png"),  # no browser takes the first
        ("a.png 3w 4h, b.png 2w", "a.png"),
    ],
)
def test_the_largest_candidate_wins(srcset: str, best: str) -> None:
    """Of a srcset the largest picture is taken; commas inside an address are part of it."""
    there = best if best.startswith("https:") else f"https://example.com/docs/{best}"
    assert markdown(f'<img srcset="{srcset}" alt="P">') == f"![P]({there})\n"


def test_invalid_srcset_leaves_the_alt_text() -> None:
    """Where no picture can be had, its text is said."""
    assert markdown('<img srcset=", ," alt="A cat">') == "A cat\n"


def test_blank_lazy_source_is_ignored() -> None:
    """It is not the page itself."""
    assert (
        markdown('<img data-src=" " data-srcset="a.png 1x, b.png 2x" alt="P">')
        == "![P](https://example.com/docs/b.png)\n"
    )
    assert markdown('<img data-src=" " alt="A cat">') == "A cat\n"


def test_lazy_source_is_one_url() -> None:
    """It is no list: blanks and commas are its own."""
    assert markdown('<img data-src="a b, c.png 2x" alt="P">') == "![P](https://example.com/docs/a%20b,%20c.png%202x)\n"


def test_videos_audio_and_frames_become_links() -> None:
    """What plays on the page can still be reached from the file."""
    assert markdown('<video src="v.mp4" poster="p.jpg" title="Film"></video>') == (
        "[![Film](https://example.com/docs/p.jpg)](https://example.com/docs/v.mp4)\n"
    )
    assert markdown('<audio><source src="/a.ogg">no sound</audio>') == "[audio](https://example.com/a.ogg)\n"
    assert markdown('<iframe src="//v.example/1" title="A film"></iframe>') == "[A film](https://v.example/1)\n"
    assert markdown('<iframe src="//t.example/count" width="0" height="0"></iframe>x') == "x\n"
    assert (
        markdown("<video>Read the <a href='/t'>transcript</a>.</video>")
        == "Read the [transcript](https://example.com/t).\n"
    )


def test_noscript_without_image_is_removed() -> None:
    """Requests to turn scripts on and counters are not content."""
    html = '<body><noscript>Please enable JavaScript.<img src="/c" width="1" height="1"></noscript><p>Text</p>'
    assert markdown(html) == "Text\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<p><a href="/x"><code><img src="/i" alt="k"></code></a>',
            "[![k](https://example.com/i)](https://example.com/x)",
        ),
        ('<p>a <code>b<img src="/i" alt="k"></code> d', "a `b`![k](https://example.com/i) d"),
        ('<pre>x <code>y<img src="/i" alt="k"></code></pre>', "```\nx y\n```\n\n![k](https://example.com/i)"),
        ('<pre><img src="/i" alt="k"></pre>', "![k](https://example.com/i)"),
    ],
)
def test_images_in_code_are_kept(html: str, expected: str) -> None:
    """Code holds no pictures in Markdown, so they stand beside it, or in its place where it is nothing else."""
    assert markdown(html) == expected + "\n"


def test_drawing_with_html_keeps_its_text() -> None:
    """Diagrams are often drawn with boxes of HTML for their labels."""
    box = "<foreignObject><div>Start here</div></foreignObject>"
    assert markdown(f"<p><svg>{box}</svg></p>") == "Start here\n"


def test_drawing_labels_are_written_once() -> None:
    """Of the two labels of a switch a browser shows the first, and the other where it cannot."""
    box = "<foreignObject><div>Start here</div></foreignObject>"
    assert markdown(f"<p><svg><switch>{box}<text>Start he…</text></switch></svg></p>") == "Start here\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<a href="/p"><video src="/v.mp4"></video></a>',
            "[video](https://example.com/v.mp4)\n\n<https://example.com/p>\n",
        ),
        (
            '<a href="/p">See <iframe src="/f" title="Film"></iframe></a>',
            "[Film](https://example.com/f)\n\n[See](https://example.com/p)\n",
        ),
        (
            '<a href="/p">See <video src="/1"></video><video src="/2"></video></a>',
            "[video](https://example.com/1)\n\n[video](https://example.com/2)\n\n[See](https://example.com/p)\n",
        ),
        (
            '<a href="/p">See <object data="/f"></object></a>',
            "<https://example.com/f>\n\n[See](https://example.com/p)\n",
        ),
    ],
)
def test_media_in_a_link_is_before_it(html: str, expected: str) -> None:
    """Markdown has no links in links: both are kept, one after the other."""
    assert markdown(html) == expected


def test_placeholder_image_is_removed() -> None:
    """One that is a pixel high is a gap, unless it says something."""
    assert markdown('<p>a <img src="s.gif" width="40" height="1"></p>') == "a\n"
    assert markdown('<p><img src="/s.png" width="40" height="1" alt="L"></p>') == "![L](https://example.com/s.png)\n"


def test_link_arrow_leaves_no_blank() -> None:
    """Nor does the blank before it, where the sentence ends with the link."""
    html = '<p>See the <a href="https://a.example/">forum<!-- -->&nbsp;<svg viewBox="0 0 24 24"></svg></a>.</p>'
    assert markdown(html) == "See the [forum](https://a.example/).\n"


def test_embedded_drawing_is_an_image() -> None:
    """Doxygen's diagrams are frames or objects, and a browser draws them as it does pictures."""
    html = '<iframe src="a_graph.svg"><p>No SVG</p></iframe><p><object data="b.svg?1" title="B"></object></p>'
    assert markdown(html) == ("![](https://example.com/docs/a_graph.svg)\n\n![B](https://example.com/docs/b.svg?1)\n")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Press{0}now", "Press Save now"),
        ("Press {0}.", "Press Save."),
        ("({0})", "(Save)"),
        ("Press<b>{0}</b><i>now</i>", "Press **Save** *now*"),
        ("a<br>{0}<br>b", "a\\\nSave\\\nb"),
        ('<a href="/x"><span>{0}</span>Start</a>', "[Save Start](https://example.com/x)"),
    ],
)
def test_alt_text_of_removed_image_is_separated(html: str, expected: str) -> None:
    """Nobody can follow a data: address, so its words are said; they run together with none beside them."""
    picture = '<img src="data:image/png;base64,AAAA" alt="Save">'
    assert markdown(f"<p>{html.format(picture)}</p>") == f"{expected}\n"


@pytest.mark.parametrize(
    ("light", "dark"),
    [
        ('class="block dark:hidden"', 'class="hidden dark:block"'),
        ('class="themedComponent_a1 themedComponent--light_b2"', 'class="themedComponent_a1 themedComponent--dark_c3"'),
        ('class="only-light"', 'class="only-dark"'),
        ('class="dark:sl-hidden"', 'class="light:sl-hidden"'),
    ],
)
def test_light_and_dark_images_are_one(light: str, dark: str) -> None:
    """A page shows one of the two, by its colours; alone, the one for dark ones is all there is."""
    assert (
        markdown(f'<p><img {light} src="/l" alt="L"><img {dark} src="/d" alt="D"></p>')
        == "![L](https://example.com/l)\n"
    )
    assert markdown(f'<p><img {dark} src="/d" alt="D"></p>') == "![D](https://example.com/d)\n"


def test_github_dark_image_by_fragment() -> None:
    """In links of their own, as it makes of all pictures."""
    html = (
        '<p><a href="/l#gh-light-mode-only"><img src="/l#gh-light-mode-only" alt="L"></a>'
        '<a href="/d#gh-dark-mode-only"><img src="/d#gh-dark-mode-only" alt="D"></a></p>'
    )
    assert "D" not in markdown(html)


def test_callout_numbers_in_code_are_kept() -> None:
    """DocBook draws them; the remarks below the code count the same way."""
    html = '<pre>a <img src="/1.png" alt="1">\nb <span><img src="/2.png" alt="(2)"></span></pre>'
    assert markdown(html) == "```\na (1)\nb (2)\n```\n"


def test_emoji_image_becomes_character() -> None:
    """WordPress draws them."""
    assert markdown('<p>a <img src="/s.png" alt="😀" class="wp-smiley"> b</p>') == "a 😀 b\n"


def test_decorative_image_is_removed() -> None:
    """nbconvert has words for every picture that nobody has described."""
    alt = "No description has been provided for this image"
    assert markdown(f'<p>a</p><img alt="{alt}" src="data:image/png;base64,AA==">') == "a\n"


@pytest.mark.parametrize("dark", ['class="only-dark" src="{}.png"', 'src="{}.png#gh-dark-mode-only"'])
def test_dark_images_without_light_ones_are_kept(dark: str) -> None:
    """One goes for its twin on a light ground only."""
    html = f"<p><img {dark.format('a')} alt=A> <img {dark.format('b')} alt=B></p>"
    text = markdown(html)
    assert "![A]" in text
    assert "![B]" in text
