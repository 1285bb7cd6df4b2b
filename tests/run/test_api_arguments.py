"""Wrong arguments to the library: the documented exception says what was wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sitemirror
from sitemirror import Site
from sitemirror.errors import UsageError

URL = "https://example.com/"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"html": None}, "html must be bytes or text, not NoneType"),
        ({"html": ["<p>"]}, "html must be bytes or text, not list"),
        ({"url": None}, "url must be text, not NoneType"),
        ({"url": b"https://example.com/"}, "url must be text, not bytes"),
        ({"content": "most"}, "content must be one of auto, main, full, got 'most'"),
        ({"content": None}, "content must be one of auto, main, full, got None"),
        ({"charset": 5}, "charset must be text, not int"),
    ],
)
def test_convert_html_names_the_wrong_argument(arguments: dict[str, Any], message: str) -> None:
    """`convert_html` names the argument."""
    given: dict[str, Any] = {"html": "<p>Hello", "url": URL, **arguments}
    with pytest.raises(UsageError) as raised:
        sitemirror.convert_html(given.pop("html"), **given)
    assert raised.value.message == message
    assert raised.value.hint


@pytest.mark.parametrize("url", [None, 5, b"https://example.com/"])
@pytest.mark.parametrize("name", ["mirror", "crawl", "list_site", "mirror_sync", "convert_url_sync", "where"])
def test_url_must_be_text(name: str, url: Any) -> None:
    """Anything else is refused before the run begins."""
    with pytest.raises(UsageError, match=rf"must be text( or a path)?, not {type(url).__name__}"):
        getattr(sitemirror, name)(url)


@pytest.mark.parametrize(
    ("sites", "message"),
    [
        (None, "sites must be a list of sites, not NoneType"),
        (b"https://example.com/", "sites must be a list of sites, not bytes"),
        ([None], "a site must be a URL, or a mapping with its url, not NoneType"),
        ([("https://example.com/",)], "a site must be a URL, or a mapping with its url, not tuple"),
        ([Site(URL, {})], "settings must be sitemirror.Settings, not dict"),  # type: ignore[arg-type]
    ],
)
def test_sites_must_be_a_list(sites: Any, message: str) -> None:
    """Other types are refused."""
    with pytest.raises(UsageError) as raised:
        sitemirror.mirror_sites(sites)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"output": "x"}}, "settings must be sitemirror.Settings, not dict"),
        ({"concurency": 3}, "there is no option concurency (did you mean concurrency?)"),
        ({"nonsense": 3}, "there is no option nonsense"),
        ({"format": "pdf"}, "format must be one of json, md, markdown, html, both, got pdf"),
    ],
)
def test_unknown_option_is_named_with_a_suggestion(options: dict[str, Any], message: str) -> None:
    """So is a wrong value, with the valid ones."""
    with pytest.raises(UsageError) as raised:
        sitemirror.mirror(URL, **options)
    assert raised.value.message == message


def test_verify_needs_a_folder() -> None:
    """Other types are refused."""
    with pytest.raises(UsageError, match=r"^a folder must be text or a path, not NoneType$"):
        sitemirror.verify(None)  # type: ignore[arg-type]


def test_where_accepts_path_objects(tmp_path: Path) -> None:
    """A file of a mirror may be a `Path`."""
    page = tmp_path / "example.com" / "a" / "index.md"
    page.parent.mkdir(parents=True)
    page.write_text('---\nurl: "https://example.com/a"\n---\n\n# A\n')
    assert sitemirror.where(page) == "https://example.com/a"
