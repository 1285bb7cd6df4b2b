"""Files of a mirror that somebody edited: a run never takes them for its own, whatever it does to links."""

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
async def test_markdown_that_was_edited_is_told_by_verify_after_another_run(
    site: Site, run: Mirror, copy: Copy, format: str, update: bool
) -> None:
    """Links are led on in the files that are as they were saved; the edited one stays as its editor left it."""
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


async def test_edited_markdown_is_not_led_back_to_the_site(site: Site, run: Mirror, copy: Copy) -> None:
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


async def test_html_that_was_edited_is_told_by_verify_after_another_run(site: Site, run: Mirror, copy: Copy) -> None:
    """Also where a page has come that it links to."""
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
async def test_pages_with_local_links_that_are_as_they_were_have_not_changed(
    site: Site, run: Mirror, copy: Copy, format: str, discover: str
) -> None:
    """What was received is compared with what was received before, and not with the file that has other links."""
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
