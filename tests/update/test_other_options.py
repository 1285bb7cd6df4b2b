"""A mirror whose pages were converted with other options: never mixed in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitemirror.errors import OutputError
from tests.conftest import RunHere
from tests.run.conftest import Copy, Mirror
from tests.site import Site


def _site(site: Site) -> None:
    site.html_page("/a", "A", "<nav>menu of the site</nav><main><h1>A</h1><p>text of a</p></main>")
    site.html_page("/b", "B", "<nav>menu of the site</nav><main><h1>B</h1><p>text of b</p></main>")
    site.sitemap(urls=["/a"])


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({}, {"content": "full"}, "--content auto, not --content full"),
        ({"content": "full"}, {}, "--content full, not --content auto"),
        ({}, {"front_matter": False}, "--front-matter, not --no-front-matter"),
        (
            {"front_matter": False},
            {"content": "main"},
            "--content auto --no-front-matter, not --content main --front-matter",
        ),
    ],
)
@pytest.mark.parametrize("update", [False, True])
async def test_other_options_are_refused(
    site: Site, run: Mirror, copy: Copy, before: dict[str, object], after: dict[str, object], message: str, update: bool
) -> None:
    """Nothing is fetched and nothing changes; --re-download-all applies them to all pages."""
    _site(site)
    await run(**before)
    files, manifest = copy.files, copy.manifest
    site.sitemap(urls=["/a", "/b"])
    with pytest.raises(OutputError) as refused:
        await run(**after, update=update)
    assert message in refused.value.message
    assert "--re-download-all" in (refused.value.hint or "")
    assert "--output" in (refused.value.hint or "")
    assert (copy.files, copy.manifest) == (files, manifest)
    assert site.count("/b") == 0

    await run(**after, re_download_all=True)
    assert set(copy.files) == {"a/index.md", "b/index.md"}
    assert all(text.startswith(b"---\n") is after.get("front_matter", True) for text in copy.files.values())
    assert (await run(**after, update=update)).status == "ok"


async def test_same_options_spelt_out_are_accepted(site: Site, run: Mirror) -> None:
    """A default that is given is no other option."""
    _site(site)
    await run()
    assert (await run(content="auto", front_matter=True, update=True)).status == "ok"


async def test_options_without_effect_on_html_are_accepted(site: Site, run: Mirror) -> None:
    """HTML files are as received: neither option changes them."""
    _site(site)
    await run(format="html")
    assert (await run(format="html", content="full", front_matter=False)).status == "ok"


async def test_links_apply_to_all_pages(site: Site, run: Mirror, copy: Copy) -> None:
    """--links changes every file when the run ends, so nothing is mixed."""
    _site(site)
    site.html_page("/a", "A", '<main><h1>A</h1><p><a href="/b">to b</a></p></main>')
    site.sitemap(urls=["/a", "/b"])
    await run()
    assert (await run(links="local")).status == "ok"
    assert "../b/index.md" in copy.text("a/index.md")


@pytest.mark.parametrize("record", [None, "x", [], {"content": "nonsense"}, {"content": ["full"]}])
async def test_mirror_without_a_record_is_accepted(site: Site, run: Mirror, copy: Copy, record: object) -> None:
    """A manifest of an older version, or one that somebody edited, cannot say what the pages were made with."""
    _site(site)
    await run()
    manifest = copy.manifest | {"options": record}
    (copy.folder / "_manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert (await run(content="full")).status == "ok"


def test_refusal_on_the_command_line(site: Site, out: Path, run_here: RunHere) -> None:
    """One error with the choice; `update` takes the options that the mirror remembers."""
    _site(site)
    run_here("mirror", site.url, "--rate-limit", 0, "--content", "full", "--output", out)
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert done.returncode == 1
    assert "was made with --content full, not --content auto" in done.stderr
    assert "--re-download-all" in done.stderr
    assert run_here("update", out).json["status"] == "ok"
