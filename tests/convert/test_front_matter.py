"""Front matter is YAML that the page's own words cannot break."""

from __future__ import annotations

import pytest
import strictyaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.convert import front_matter, read_front_matter_url, with_front_matter
from sitemirror.model import Page
from tests.convert.pages import markdown

URL = "https://example.com/a?b=c%20d"


def parsed(page: Page) -> dict[str, object]:
    """The block as a YAML parser reads it."""
    block = front_matter(page)
    first, *lines, last, end = block.split("\n")
    assert (first, last, end) == ("---", "---", "")
    data = strictyaml.dirty_load("\n".join(lines), allow_flow_style=True).data
    assert isinstance(data, dict)
    return data


def test_title_and_url_come_first() -> None:
    """Title, url, then the page's metadata in their order."""
    page = Page(URL, "# T\n", title="T", metadata={"description": "D", "language": "en", "tags": ["a", "b"]})
    assert front_matter(page) == (
        f'---\ntitle: "T"\nurl: "{URL}"\ndescription: "D"\nlanguage: "en"\ntags: ["a", "b"]\n---\n'
    )
    assert with_front_matter(page) == front_matter(page) + "\n# T\n"


def test_empty_page_has_its_url() -> None:
    """Without a title and text the block stands alone."""
    assert with_front_matter(Page(URL, "")) == f'---\nurl: "{URL}"\n---\n'


HOSTILE = [
    "---\nurl: evil", 'a"b\\c', "a: b # c", "\x00\x1b\x7f\x85\x9f", "\u2028---\u2029", "\ufeffbom", "- x", "&a *b !c",
    "'", "yes", "null", "1e3", "{a: b}", "%TAG", "@x", "`x`", "\ud800", "\ufffe\uffff", "😀\U000e0001", "\t", " ",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_escaped(text: str) -> None:
    """Line breaks, quotes, markers, controls and YAML's own signs come back as the text they are."""
    page = Page(URL, "x\n", title=text, metadata={"description": text})
    shown = text.encode("utf-8", "replace").decode()
    assert parsed(page) == {"title": shown, "url": URL, "description": shown}
    assert read_front_matter_url(with_front_matter(page).encode()) == URL
    assert len(front_matter(page).splitlines()) == 5


@given(st.text(), st.text())
def test_any_text_round_trips(title: str, description: str) -> None:
    """No title or description can be written that reads as anything else."""
    page = Page(URL, "", title=title, metadata={"description": description})
    expected = {"title": title, "url": URL, "description": description}
    assert parsed(page) == {name: value for name, value in expected.items() if value}


def test_field_names_are_safe() -> None:
    """Names that are no names are left out."""
    assert parsed(Page(URL, "", metadata={"a\nb": "x", "ok": 1, "": "y", "flag": True})) == {
        "url": URL,
        "ok": "1",
        "flag": "true",
    }


@pytest.mark.parametrize(
    ("head", "url"),
    [
        (b'---\nurl: "https://a.example/"\n---\n', "https://a.example/"),
        (b'\xef\xbb\xbf---\r\ntitle: "x"\r\nurl: "https://a.example/"\r\n---\r\n', "https://a.example/"),
        (b"---\nurl: https://a.example/\n---\n", "https://a.example/"),
        (b"---\nurl: 'https://a.example/it''s'\n---\n", "https://a.example/it's"),
        (b'---\ntitle: "x"\nurl: "https://a.example/cut', None),
        (b'---\ntitle: "x"\n---\nurl: "https://a.example/"\n', None),
        (b'# Heading\nurl: "https://a.example/"\n', None),
        (b'---\nurl: "unclosed\n---\n', None),
        (b'---\nurl: "\xff"\n---\n', None),
        (b"---\nurl: ''\n---\n", None),
        (b"", None),
        (b"---", None),
    ],
)
def test_the_url_is_read_back(head: bytes, url: str | None) -> None:
    """The state can be rebuilt from saved files, also those an editor has touched; a torn one says nothing."""
    assert read_front_matter_url(head) == url


@given(st.binary(max_size=80))
def test_reading_never_raises(head: bytes) -> None:
    """Any bytes are a url or none."""
    assert read_front_matter_url(b"---\nurl: " + head) is None or isinstance(
        read_front_matter_url(b"---\nurl: " + head), str
    )


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    """Boost's pages begin with a rule; without front matter a reader would take what follows for it."""
    assert markdown("<hr><p>one</p><hr><p>two</p>") == "***\n\none\n\n---\n\ntwo\n"
