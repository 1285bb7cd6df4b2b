"""Files that somebody edited: rewriting links leaves them alone, and `verify` reports them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sitemirror
from tests.run.conftest import Copy, Mirror
from tests.site import Site


def told(copy: Copy) -> set[str]:
    """The files, as paths in the copy, that `verify` finds changed; and it finds nothing else."""
    problems = sitemirror.verify(copy.folder).problems
    assert {problem.kind for problem in problems} <= {"changed"}
    return {Path(problem.where).relative_to(copy.folder).as_posix() for problem in problems}


def edit(file: Path) -> str:
    """Changes the file without changing its size."""
    text = file.read_text(encoding="utf-8").replace("Hello", "HELLO")
    file.write_text(text, encoding="utf-8")
    return text


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("format", ["markdown", "both"])
async def test_edited_markdown_is_reported_by_verify(
    site: Site, run: Mirror, copy: Copy, format: str, update: bool
) -> None:
    """A run rewrites links only in unedited files; the edited one stays as it is."""
    site.html_page("/a", "A", '<p>Hello <a href="/b">b</a> <a href="/c">c</a></p>')
    site.html_page("/b", "B", '<p>b <a href="/c">c</a></p>')
    site.html_page("/c", "C", "<p>c</p>")
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2020-01-01")])
    await run(links="local", format=format)
    text = edit(copy.folder / "a/index.md")
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2020-01-01"), "/c"])
    await run(links="local", format=format, update=update)
    assert copy.text("a/index.md") == text
    assert "[c](../c/index.md)" in copy.text("b/index.md")
    assert told(copy) == {"a/index.md"}
    await run(links="local", format=format, re_download_all=True)
    assert "Hello" in copy.text("a/index.md")
    assert "[c](../c/index.md)" in copy.text("a/index.md")
    assert told(copy) == set()


async def test_edited_markdown_keeps_its_local_links(site: Site, run: Mirror, copy: Copy) -> None:
    """A run without --links local leaves it alone as well."""
    site.html_page("/a", "A", '<p>Hello <a href="/b">b</a></p>')
    site.html_page("/b", "B", '<p>b <a href="/a">a</a></p>')
    site.sitemap(urls=["/a", "/b"])
    await run(links="local")
    text = edit(copy.folder / "a/index.md")
    await run()
    assert copy.text("a/index.md") == text
    assert f"[a]({site.url}/a)" in copy.text("b/index.md")
    assert told(copy) == {"a/index.md"}


async def test_edited_html_is_reported_by_verify(site: Site, run: Mirror, copy: Copy) -> None:
    """Also where a page was added that it links to."""
    site.html_page("/a", "A", '<p>Hello <a href="/b">b</a></p>')
    site.html_page("/b", "B", "<p>b</p>")
    site.html_page("/c", "C", '<p>c <a href="/b">b</a></p>')
    site.sitemap(urls=[("/a", "2020-01-01"), ("/c", "2020-01-01")])
    await run(format="html")
    text = edit(copy.folder / "a/index.html")
    site.sitemap(urls=[("/a", "2020-01-01"), ("/c", "2020-01-01"), "/b"])
    await run(format="html", update=True)
    assert copy.text("a/index.html") == text
    assert 'href="../b/index.html"' in copy.text("c/index.html")
    assert told(copy) == {"a/index.html"}


@pytest.mark.parametrize("discover", ["sitemap", "links"])
@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_local_links_do_not_make_a_page_changed(
    site: Site, run: Mirror, copy: Copy, format: str, discover: str
) -> None:
    """Received bytes are compared with received bytes, not with the file whose links were rewritten."""
    site.html_page("/", "Home", '<p>Hello <a href="/b">b</a></p>')
    site.html_page("/b", "B", '<p>b <a href="/">home</a></p>')
    site.sitemap(urls=["/", "/b"])
    options = {"links": "local", "format": format, "discover": discover}
    await run(**options)
    files = {file: file.read_bytes() for file in copy.folder.rglob("index.*")}
    report = await run(**options, re_download_all=True)
    assert (report.status, report.new, report.changed) == ("ok", 0, 0)
    assert {file: file.read_bytes() for file in copy.folder.rglob("index.*")} == files
    assert told(copy) == set()
