"""A folder belongs to the format of the first file that is saved there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror
from sitemirror.errors import NoSitemap, OutputError
from tests.run.conftest import Copy
from tests.site import Site


def _no_sitemap(site: Site) -> dict[str, Any]:
    return {"discover": "sitemap"}


def _nothing_in_scope(site: Site) -> dict[str, Any]:
    site.sitemap(urls=["/a"])
    return {"include_path": ["/nowhere/*"]}


def _all_failed(site: Site) -> dict[str, Any]:
    site.sitemap(urls=["/missing", "/missing-too"])
    return {}


@pytest.mark.parametrize("prepare", [_no_sitemap, _nothing_in_scope, _all_failed])
async def test_a_run_that_saved_nothing_claims_no_folder(site: Site, out: Path, copy: Copy, prepare: Any) -> None:
    """A crawl into the same folder saves its HTML there."""
    site.html_page("/", "Home", '<p>Welcome to this site. <a href="/a">a</a></p>')
    site.html_page("/a", "A", "<p>The page a.</p>")
    options = prepare(site)
    with suppress(NoSitemap):
        assert (await mirror(site.url, output=out, rate_limit=0, **options)).successful == 0

    crawled = await crawl(site.url, output=out, rate_limit=0)

    assert crawled.successful == 2
    assert (copy.folder / "index.html").is_file()
    with pytest.raises(OutputError, match=r"another format \(html, not markdown\)"):
        await mirror(site.url, output=out, rate_limit=0)
