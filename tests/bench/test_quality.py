"""Floors under the quality of `main` and `auto`, on a sample of pages that others chose and wrote down."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from bench.quality import aeb, train_content, wcxb
from bench.quality.labels import labels, words
from bench.quality.said import said
from sitemirror.convert import convert_html
from sitemirror.convert.content.keep import choose_blocks
from sitemirror.settings import Content

VECTORS = os.environ.get("SITEMIRROR_VECTORS")
needs_vectors = pytest.mark.skipif(not VECTORS, reason="SITEMIRROR_VECTORS is not set")


@pytest.mark.vectors
@needs_vectors
@pytest.mark.parametrize(("content", "f1", "recall"), [("main", 0.87, 0.91), ("auto", 0.82, 0.95)])
def test_words_of_all_kinds_of_pages(content: str, f1: float, recall: float) -> None:
    """One WCXB page in twenty-five: what is kept is what people want of the page, and little else."""
    scores = []
    for sample in wcxb.samples(Path(VECTORS or "") / "extract-wcxb", 25):
        if sample.wanted:
            page = convert_html(sample.html, url=sample.url, content=content)
            scores.append(wcxb.score(wcxb.words(said(page.markdown)), wcxb.words(sample.wanted)))
    found = wcxb.mean(scores)
    assert found.f1 >= f1
    assert found.recall >= recall


@pytest.mark.vectors
@needs_vectors
def test_runs_of_words_of_articles() -> None:
    """One article in six: runs of four words, as the article benchmark scores them."""
    counts = []
    for _, url, html, wanted in aeb.samples(Path(VECTORS or "") / "extract-aeb", 6):
        counts.append(aeb.compare(said(convert_html(html, url=url, content="main").markdown), wanted))
    precision, recall, f1 = aeb.total(counts)
    assert f1 >= 0.96
    assert precision >= 0.94
    assert recall >= 0.96


def test_words_are_scored_as_a_bag() -> None:
    """Order does not count, number does; a page without content is right when nothing is found."""
    assert wcxb.score(wcxb.words("b A"), wcxb.words("a, b!")) == (1.0, 1.0, 1.0)
    assert list(wcxb.score(wcxb.words("a a b b"), wcxb.words("a b"))) == pytest.approx([0.5, 1.0, 2 / 3])
    assert wcxb.score(Counter(), Counter()) == (1.0, 1.0, 1.0)
    assert wcxb.score(wcxb.words("a"), Counter()) == (0.0, 0.0, 0.0)


def test_articles_are_scored_by_runs_of_four_words() -> None:
    """Two texts share the runs that they have in common, each as often as both have it."""
    assert aeb.compare("a b c d e", "a b c d f") == (1, 1, 1)
    assert aeb.compare("", "a b") == (0, 0, 1)
    assert aeb.total([(1, 1, 0), (1, 0, 1)]) == (0.75, 0.75, 0.75)


def test_what_a_file_says_is_its_words() -> None:
    """Markup, addresses and descriptions of pictures are not read out."""
    text = said(
        "# A [link](https://example.com/x) ![picture](y.png)\n\n- *b*\\*\n\n| c | d |\n| - | - |\n| `e` | f |\n"
    )
    assert wcxb.words(text) == Counter(["a", "link", "b", "c", "d", "e", "f"])


def test_blocks_are_found_in_the_text_that_is_wanted() -> None:
    """A long block is told by its words; a short one counts only where it stands, and once."""
    wanted = words("Title one two three four five six seven. Share eight nine ten eleven twelve thirteen")
    blocks = [
        words(text)
        for text in (
            "Menu",
            "Title",
            "one two three four five six seven",
            "Share",
            "Share",
            "eight nine ten eleven twelve thirteen",
            "something else that nobody has asked for",
        )
    ]
    assert labels(blocks, wanted) == [0, 1, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("content", [Content.MAIN, Content.AUTO])
def test_pages_that_are_learnt_from_can_be_judged(content: Content) -> None:
    """What is kept of a page in training is decided as for any other: all that a rule asks of it is there."""
    tabs = (
        '<ul class="nav-tabs"><li><a href="#one">One</a></li></ul><div id="one"><p>The first way to a kettle.</p></div>'
    )
    html = (
        "<title>Kettles</title><body><main><h1><a href=/kettles>Kettles</a></h1>"
        + tabs
        + "".join(f"<p>Kettle number {number} boils water in {number + 2} minutes.</p>" for number in range(20))
        + "</main>"
    )
    sample = wcxb.Sample("1", "https://example.com/kettles", "article", html.encode(), "Kettles")
    found = train_content.read(sample)
    assert found is not None
    reading, hints, is_ruled = found
    assert not is_ruled
    kept = choose_blocks(reading, [3.0] * len(reading.texts), content, hints)
    assert reading.texts[kept.index(True)] == "Kettles"
