"""Words of elements that only a style sheet keeps apart."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

TEXT = "".join(
    f"<p>Paragraph {number} of an article that is long enough to be judged by its blocks, one after the other.</p>"
    for number in range(12)
)


def line(html: str, content: str = "auto") -> str:
    """What becomes of a line within an article."""
    text = markdown(f"<title>Oars</title><h1>Oars</h1>{TEXT}<p>{html}</p>{TEXT}", content=content)
    return text.split("\n\n")[13].strip()


@pytest.mark.parametrize("content", ["auto", "main"])
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<span>Ann Lee</span><time>Mar 7</time>", "Ann Lee Mar 7"),
        ('<a href="/a"><i><span>North Cape</span><span>Tent 6</span></i></a>', "[*North Cape Tent 6*](https://example.com/a)"),
        ("<span>Wide open.</span><!-- by --><b>Photo: Ann</b>", "Wide open. **Photo: Ann**"),
        ("<span>Or call us directly</span><a href='tel:1'><svg></svg>1-844</a>", "Or call us directly [1-844](tel:1)"),
        ("<span>Driver of 40mm ±15%</span><svg></svg><span>Weight</span>", "Driver of 40mm ±15% Weight"),
        ('<a href="/b">news</a><a href="/c">videos</a>', "[news](https://example.com/b) [videos](https://example.com/c)"),
    ],
)  # fmt: skip
def test_adjacent_elements_are_separate_words(html: str, text: str, content: str) -> None:
    """A name and a date, a maker and a product, two links: no blank in the markup, and none of them one word."""
    assert line(html, content) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("The <span>Data</span><span>Feed</span> of it", "The DataFeed of it"),
        ("A <b>T</b><span>here are many of them</span>", "A **T**here are many of them"),
        ("<span>for child</span><span>ren and others</span>", "for children and others"),
        ("<span>of 1</span><span>st class</span> H<sub>2</sub>", "of 1st class H<sub>2</sub>"),
        ('<a href="/b">the case stud</a><a href="/b">ies of it</a>',
         "[the case stud](https://example.com/b)[ies of it](https://example.com/b)"),
        ('日本<a href="/b">日本語</a><a href="/c">文法</a>', "日本[日本語](https://example.com/b)[文法](https://example.com/c)"),
        ("<code><span>the List</span><span>Of Names</span></code>", "`the ListOf Names`"),
        ("</p><pre><span>return err.</span><span>Error() or x</span></pre>", "```\nreturn err.Error() or x\n```"),
        ("</p><pre><div><a href=/b>foo</a><a href=/c>Bar</a></div></pre>", "```\nfooBar\n```"),
        ("The <i>i</i><span>Phone of it</span>, a <i>x</i><span>2 or so</span>", "The *i*Phone of it, a *x*2 or so"),
        ("<span>drawn in 3</span><span>D for</span> $<b>5</b><span>M a year</span>", "drawn in 3D for $**5**M a year"),
    ],
)  # fmt: skip
def test_word_in_several_elements_stays_one(html: str, text: str) -> None:
    """Letters drawn in another way, a name in two colours, links that were broken up; writing without blanks."""
    assert line(html) == text
