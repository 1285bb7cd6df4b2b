"""The benchmarks' pages: always the same choice, and sitemaps that name each of them once."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.corpus import Book, Corpus, Page, everything, mixed

LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
STUB = '<html><head><meta http-equiv="refresh" content="0;URL={target}"></head><body></body></html>'


@pytest.fixture
def books(tmp_path: Path) -> list[Book]:
    """A large manual, one of whose pages in three only leads elsewhere, and a small one."""
    made = []
    for name, count in (("large", 60), ("small", 5)):
        folder = tmp_path / name
        (folder / "deep").mkdir(parents=True)
        for number in range(count):
            stub = STUB.format(target=f"../deep/page-{number + 1}.html#name")
            text = stub if name == "large" and number % 3 == 0 else f"<p>Page {number} of {name}</p>"
            (folder / "deep" / f"page-{number}.html").write_text(text)
        made.append(Book(name, f"{name}-doc", folder))
    return made


def test_a_mix_takes_as_much_from_each_manual_as_it_has(books: list[Book]) -> None:
    """The small manual gives all it has, the large one the rest, and pages that only lead elsewhere are not taken."""
    chosen = mixed(books, 20)
    assert len(chosen) == 20
    assert sum(page.path.startswith("small/") for page in chosen.pages) == 5
    assert chosen.forwarding == 0
    assert sum(page.path.startswith("small/") for page in chosen.first(10).pages) == 5


def test_the_choice_is_the_same_every_time(books: list[Book]) -> None:
    """Neither the order of the file system nor a manual more changes which pages come first."""
    again = [Book(book.name, book.package, book.folder) for book in reversed(books)]
    assert everything(books) == everything(again)
    large = [page for page in everything(books).pages if page.path.startswith("large/")]
    assert large == list(everything(books[:1]).pages)


def test_everything_is_everything(books: list[Book]) -> None:
    """The growth corpus has every file once, but for those that lead out of it."""
    (books[1].folder / "away.html").write_text(STUB.format(target="https://example.com/"))
    pages = everything(books).pages
    assert len(pages) == len({page.path for page in pages}) == 65
    assert everything(books).forwarding == 20
    assert everything(books).first(0) == everything(books)


def test_a_sample_has_the_pages_that_its_stubs_lead_to(books: list[Book]) -> None:
    """Work for a page that leads to another is the same in a part as in the whole: one of each two comes with it."""
    for size in range(2, 65):
        sample = everything(books).first(size)
        paths = {page.path for page in sample.pages[:-1]}
        lost = [page for page in sample.pages[:-1] if page.leads_to and page.leads_to not in paths]
        assert len(lost) <= 1, [page.path for page in lost]


def test_a_large_corpus_has_an_index_of_sitemaps(tmp_path: Path) -> None:
    """Every URL stands in exactly one sitemap, none has too many, and the index names them all."""
    corpus = Corpus(tuple(Page(f"book/{number}.html", Path("unread")) for number in range(25_001)))
    corpus.write(tmp_path, "http://127.0.0.1:1234")
    index = [loc.text or "" for loc in ElementTree.parse(tmp_path / "sitemap.xml").iter(LOC)]
    listed = [[loc.text for loc in ElementTree.parse(tmp_path / url.rpartition("/")[2]).iter(LOC)] for url in index]
    assert [len(part) for part in listed] == [10_000, 10_000, 5_001]
    assert [url for part in listed for url in part] == corpus.urls("http://127.0.0.1:1234")
    assert (tmp_path / "urls.txt").read_text().split() == corpus.urls("http://127.0.0.1:1234")


def test_addresses_are_quoted_where_they_must_be() -> None:
    """Operators stay as they are, spaces and what is not ASCII do not, and XML stays well-formed."""
    page = Page("cpp/operator+=(a b)&~é.html", Path("unread"))
    assert page.quoted == "cpp/operator+=(a%20b)%26~%C3%A9.html"
