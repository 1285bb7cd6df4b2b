"""A program that saved less was not faster: what is missing, empty or altered is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.corpus import Page
from bench.kept import Saves, check, paragraph_words
from bench.program import DidNotWork

HTML = """<html><body><nav><p></nav><h1>Title</h1>
<p>Several <b>remarkable</b> sentences<p>about vegetables &amp; gardens
<ul><li>unheard</ul><div class="block">Returns something</div><script>var nonsense;</script></body></html>"""


@pytest.fixture
def pages(tmp_path: Path) -> dict[Page, Path]:
    """Three pages, each with the file that a program has yet to write."""
    made = {}
    for number in range(3):
        source = tmp_path / f"source-{number}.html"
        source.write_text(HTML)
        made[Page(f"book/{number}.html", source)] = tmp_path / f"saved-{number}"
    return made


def test_paragraphs_are_told_from_the_rest(tmp_path: Path) -> None:
    """Words of paragraphs count, with and without end tags; those of lists and scripts do not."""
    (tmp_path / "page.html").write_text(HTML)
    words = paragraph_words(tmp_path / "page.html")
    assert {"Several", "remarkable", "sentences", "about", "vegetables", "gardens", "Returns", "something"} <= words
    assert not {"nonsense", "unheard"} & words


def test_a_missing_page_is_noticed(pages: dict[Page, Path]) -> None:
    """One of three is enough."""
    for file in list(pages.values())[1:]:
        file.write_text(HTML)
    with pytest.raises(DidNotWork, match=r"did not save 1 of 3 pages, such as book/0\.html"):
        check("it", Saves.MARKDOWN, list(pages), pages)


def test_empty_pages_are_noticed(pages: dict[Page, Path]) -> None:
    """A file alone is no page."""
    for file in pages.values():
        file.write_text("# Title\n")
    with pytest.raises(DidNotWork, match="kept only 0% of the words"):
        check("it", Saves.MARKDOWN, list(pages), pages)


def test_what_is_kept_is_measured(pages: dict[Page, Path]) -> None:
    """All the words in other clothes are all the words."""
    for file in pages.values():
        file.write_text("Several **remarkable** sentences\n\nabout *vegetables* & gardens\n\nReturns something\n")
    assert check("it", Saves.MARKDOWN, list(pages), pages) == 1.0


def test_altered_bytes_are_noticed(pages: dict[Page, Path]) -> None:
    """What is said to be saved as sent is compared byte by byte."""
    for file in pages.values():
        file.write_text(HTML)
    assert check("it", Saves.AS_SENT, list(pages), pages) == 1.0
    file.write_text(HTML.replace("Title", "Tittle"))
    with pytest.raises(DidNotWork, match=r"other bytes than were sent, such as book/2\.html"):
        check("it", Saves.AS_SENT, list(pages), pages)
