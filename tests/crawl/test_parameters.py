"""Query parameters of found links: tracking is dropped, and options say what else is, or is kept."""

from __future__ import annotations

import pytest

from sitemirror import verify
from sitemirror.publish.report import RunStatus
from tests.crawl.conftest import Copy, Crawl, asked, link
from tests.site import Site

QUERIES = ("?utm_source=home", "?fbclid=1&id=2", "?id=2&gclid=3", "?id=2", "?print=1", "?sort=b&id=2")


def _put_pages(site: Site) -> None:
    site.html_page("/", "Home", link(*(f"/a{query}" for query in QUERIES)))
    for query in ("", *QUERIES):
        site.html_page(f"/a{query}", "A", f"<p>a {query.partition('id=')[2][:1]}{'print' in query}</p>")


async def test_tracking_parameters_are_dropped_from_links(site: Site, run: Crawl, copy: Copy) -> None:
    """Each page is fetched once, and links to any of its URLs lead to its file."""
    _put_pages(site)
    await run()
    assert set(asked(site)) == {"/", "/a", "/a?id=2", "/a?print=1", "/a?sort=b&id=2"}
    assert 'href="http' not in copy.text("index.html")
    assert verify(copy.folder).status is RunStatus.OK


async def test_strip_params_drops_more(site: Site, run: Crawl, copy: Copy) -> None:
    """`--strip-params print --strip-params s*`, in HTML and in Markdown with local links."""
    _put_pages(site)
    await run(strip_params=("print", "s*"))
    assert set(asked(site)) == {"/", "/a", "/a?id=2"}
    assert 'href="http' not in copy.text("index.html")
    assert verify(copy.folder).status is RunStatus.OK


async def test_strip_params_holds_for_links_in_markdown(site: Site, run: Crawl, copy: Copy) -> None:
    """Local links lead to the file of the URL without the parameter."""
    _put_pages(site)
    await run(strip_params=("print", "sort"), format="markdown", links="local")
    assert set(asked(site)) == {"/", "/a", "/a?id=2"}
    assert "http" not in copy.text("index.md").partition("# Home")[2]


async def test_keep_params_keeps_tracking(site: Site, run: Crawl) -> None:
    """For sites whose pages do differ by them."""
    _put_pages(site)
    await run(keep_params=("utm_*",))
    assert "/a?utm_source=home" in asked(site)
    assert "/a?fbclid=1&id=2" not in asked(site)


@pytest.mark.parametrize("discover", ["sitemap", "links"])
async def test_given_urls_keep_their_parameters(site: Site, run: Crawl, discover: str) -> None:
    """What a sitemap lists, and the start URL, are requested as they are."""
    site.html_page("/?utm_source=start", "Home", "<p>home</p>")
    site.html_page("/a?utm_source=listed", "A", "<p>a</p>")
    site.sitemap(urls=["/?utm_source=start", "/a?utm_source=listed"])
    await run(f"{site.url}/?utm_source=start", discover=discover)
    assert "/?utm_source=start" in asked(site)
    assert ("/a?utm_source=listed" in asked(site)) == (discover == "sitemap")
