"""`--links local`: links between files, with anchors that exist."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import sitemirror
from sitemirror import mirror
from sitemirror.events import PageSaved
from tests.run.conftest import Copy, Mirror
from tests.site import Site, faults

USERS = """<h1>Users</h1><p id="intro">All of them.</p>
    <section id="sec-17"><div><h2>Create a user</h2></div><p>Text. <b id="opt">name</b> is needed.</p></section>
    <a name="old"></a><h2 id="x.y">Remove &amp; restore</h2><p>Text, and more: <i id="%C3%A9t%C3%A9">a</i>.</p>"""


def links(text: str) -> dict[str, str]:
    """Text of a link → where it leads."""
    return dict(re.findall(r"\[([^\]]*)\]\(([^)]*)\)", text))


def sound(copy: Copy) -> bool:
    """Whether `verify` has nothing to say against the copy."""
    return sitemirror.verify(copy.folder).problems == ()


async def test_links_between_saved_pages_are_relative(site: Site, run: Mirror, copy: Copy) -> None:
    """Also to aliases; all other links stay absolute."""
    site.html_page(
        "/guide/start",
        "Start",
        '<h1>Start</h1><p><a href="../api/users">users</a> <a href="/old">old</a> <a href="/missing">missing</a> '
        '<a href="https://other.example/">other</a> <a href="/api/users#create-a-user">create</a> '
        '<a href="/api/users#nowhere">nowhere</a> <img src="/logo.png" alt="logo"></p>',
    )
    site.html_page("/api/users", "Users", '<h1>Users</h1><h2 id="create-a-user">Create a user</h2><p>text</p>')
    site.redirect("/old", "/api/users")
    site.sitemap(urls=["/guide/start", "/api/users", "/old"])
    report = await run(links="local")
    assert report.status == "ok"
    page = copy.text("guide/start/index.md")
    assert "[users](../../api/users/index.md)" in page
    assert "[old](../../api/users/index.md)" in page
    assert "[create](../../api/users/index.md#create-a-user)" in page
    assert "[nowhere](../../api/users/index.md)" in page  # the page has no such place
    assert f"[missing]({site.url}/missing)" in page
    assert "[other](https://other.example/)" in page
    assert f"![logo]({site.url}/logo.png)" in page
    assert f'url: "{site.url}/guide/start"' in page


async def test_manifest_hashes_files_with_local_links(site: Site, run: Mirror, copy: Copy) -> None:
    """A second run changes neither files nor hashes."""
    site.html_page("/a", "A", '<p><a href="/b">b</a></p>', etag='"1"')
    site.html_page("/b", "B", '<p><a href="/a">a</a></p>', etag='"1"')
    site.sitemap(urls=["/a", "/b"])
    await run(links="local")
    before = copy.files
    for page in copy.manifest["pages"]:
        assert page["sha256"] == sha256(before[page["path"]]).hexdigest()
        assert page["size_bytes"] == len(before[page["path"]])
    await run(links="local", update=True)
    assert copy.files == before


async def test_links_to_a_page_saved_later_become_local(site: Site, run: Mirror, copy: Copy) -> None:
    """An absolute link becomes local when its page is saved."""
    site.html_page("/a", "A", '<p><a href="/b">b</a></p>')
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a"])
    await run(links="local")
    assert f"[b]({site.url}/b)" in copy.text("a/index.md")
    site.sitemap(urls=["/a", "/b"])
    await run(links="local")
    assert "[b](../b/index.md)" in copy.text("a/index.md")


async def test_absolute_links_are_the_default(site: Site, run: Mirror, copy: Copy) -> None:
    """Without the option links lead to the site."""
    site.html_page("/a", "A", '<p><a href="/b">b</a></p>')
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/b"])
    await run()
    assert f"[b]({site.url}/b)" in copy.text("a/index.md")


async def test_run_without_the_option_makes_links_absolute(site: Site, run: Mirror, copy: Copy) -> None:
    """Every file is as if links had never been local, with nothing fetched; and local again on request."""
    site.html_page("/a", "A", '<p><a href="/b#place">b</a> <a href="#here">h</a></p><h2 id="here">There</h2>')
    site.html_page("/b", "B", '<h1>B</h1><p>b</p><h2 id="place">A place</h2>')
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2020-01-01")])
    await run()
    absolute = copy.files
    await run(links="local", re_download_all=True)
    local = copy.files
    assert links(copy.text("a/index.md")) == {"b": "../b/index.md#a-place", "h": "#there"}
    site.clear_log()
    for option, files in (("absolute", absolute), ("local", local), ("absolute", absolute)):
        await run(links=option, update=True)
        assert copy.files == files
        assert sound(copy)
    assert (site.count("/a"), site.count("/b")) == (0, 0)


async def test_fragments_become_anchors_of_their_heading(site: Site, run: Mirror, copy: Copy) -> None:
    """An id on a section, in a text or before a heading becomes that heading's anchor, or else is dropped."""
    fragments = ["sec-17", "opt", "old", "x.y", "%25C3%25A9t%25C3%25A9", "intro", "Create-A-User", "gone", "top"]
    body = " ".join(f'<a href="/users#{name}">{name}</a>' for name in fragments)
    site.html_page(
        "/start",
        "Start",
        f'<h1>Start</h1><p>{body} <a href="/moved#sec-17">moved</a> <a href="/users#old:~:text=x">text</a></p>',
    )
    site.html_page("/users", "Users", USERS)
    site.redirect("/moved", "/users")
    site.sitemap(urls=["/start", "/users", "/moved"])
    await run(links="local")
    found = links(copy.text("start/index.md"))
    file = "../users/index.md"
    assert found == {
        "sec-17": f"{file}#create-a-user",
        "opt": f"{file}#create-a-user",
        "old": f"{file}#remove--restore",
        "x.y": f"{file}#remove--restore",
        "%25C3%25A9t%25C3%25A9": f"{file}#remove--restore",
        "intro": f"{file}#users",
        "Create-A-User": f"{file}#create-a-user",
        "gone": file,
        "top": file,
        "moved": f"{file}#create-a-user",
        "text": f"{file}#remove--restore",
    }
    assert sound(copy)


async def test_links_within_a_page_become_anchors(site: Site, run: Mirror, copy: Copy) -> None:
    """They lead to the file's own headings, or to the file, however the page wrote them."""
    site.html_page(
        "/a",
        "A",
        f"""<p id="first">Before all. <a href="#sec-2">two</a> <a href="/a#sec-2">whole</a> <a href="#first">up</a>
        <a href="#nowhere">nowhere</a> <a href="/a">itself</a> <a href="#one">one</a> <a href="/b">b</a></p>
        <h2>One</h2><p>x</p><h2 id="sec-2">Two</h2><p>x</p><h2 id="one">Three</h2><p>{"x " * 50}</p>""",
    )
    site.html_page("/b", "B", "<h1>B</h1><p>x</p>")
    site.sitemap(urls=["/a", "/b"])
    await run(links="local")
    expected = {
        "two": "#two",
        "whole": "#two",
        "up": "index.md",
        "nowhere": "index.md",
        "itself": "index.md",
        "one": "#three",  # although a heading has that very name
        "b": "../b/index.md",
    }
    assert links(copy.text("a/index.md")) == expected
    for options in ({}, {"update": True}):
        await run(links="local", **options)
        assert links(copy.text("a/index.md")) == expected
    assert sound(copy)


async def test_links_follow_changes_of_their_target(site: Site, run: Mirror, copy: Copy) -> None:
    """After an update an unchanged page links to the new heading, the new page, or back to the site."""
    site.html_page(
        "/a",
        "A",
        '<h1 id="t">A</h1><p><a href="/b#i">heading</a> <a href="/b#j">place</a> <a href="/c#i">moved</a> '
        '<a href="/d#i">d</a> <a href="#t">here</a></p>',
        etag='"1"',
    )
    for name in "bcd":
        site.html_page(f"/{name}", name, f'<h1>{name}</h1><h2 id="i">Old name</h2><p id="j">x</p>', etag='"1"')
    site.sitemap(urls=["/a", "/b", "/c", "/d"])
    await run(links="local")
    page = "a/index.md"
    assert links(copy.text(page)) == {
        "heading": "../b/index.md#old-name",
        "place": "../b/index.md#old-name",
        "moved": "../c/index.md#old-name",
        "d": "../d/index.md#old-name",
        "here": "#a",
    }
    site.html_page("/b", "b", '<h1>b</h1><h2 id="i">New name</h2><p>x</p><h2>Other</h2><p id="j">x</p>', etag='"2"')
    site.redirect("/c", "/e")
    site.html_page("/e", "e", '<h1>e</h1><p id="i">x</p>')
    site.sitemap(urls=["/a", "/b", "/c"])
    site.clear_log()
    await run(links="local", update=True)
    assert [seen.path for seen in site.requests_for("/a")] == ["/a"]  # answered 304
    assert links(copy.text(page)) == {
        "heading": "../b/index.md#new-name",
        "place": "../b/index.md#other",
        "moved": "../e/index.md#e",
        "d": "../d/index.md#old-name",  # gone from the site, kept on disk
        "here": "#a",
    }
    assert sound(copy)
    (copy.folder / "d/index.md").unlink()
    await run(links="local", update=True)
    assert links(copy.text(page))["d"] == f"{site.url}/d#i"
    assert sound(copy)


async def test_fragments_in_a_copy_made_with_absolute_links(site: Site, run: Mirror, copy: Copy) -> None:
    """Without the site's ids, a fragment is kept if a heading has that anchor."""
    site.html_page("/a", "A", '<p><a href="/b#two-words">yes</a> <a href="/b#id">no</a> <a href="/b">b</a></p>')
    site.html_page("/b", "B", '<h1>B</h1><h2 id="id">Two words</h2><p>x</p>')
    site.sitemap(urls=["/a", "/b"])
    await run()
    site.clear_log()
    await run(links="local")
    assert not site.requests_for("/a")
    assert links(copy.text("a/index.md")) == {
        "yes": "../b/index.md#two-words",
        "no": "../b/index.md",
        "b": "../b/index.md",
    }
    assert sound(copy)


@pytest.mark.parametrize("format", ["markdown", "both"])
async def test_links_stay_valid_after_state_loss(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A rebuilt state has no ids: links stay as they are, or lose precision where they must change."""
    site.html_page("/a", "A", '<h1 id="t">A</h1><p><a href="/b#i">b</a> <a href="#t">here</a></p>')
    site.html_page("/b", "B", '<h1>B</h1><h2 id="i">Two</h2><p>x</p>')
    site.sitemap(urls=["/a", "/b"])
    await run(links="local", format=format)
    before = copy.files
    assert links(copy.text("a/index.md")) == {"b": "../b/index.md#two", "here": "#a"}
    (copy.folder / "_state.sqlite3").unlink()
    await run(links="local", format=format)
    assert copy.files == before
    (copy.folder / "_state.sqlite3").unlink()
    (copy.folder / "b/index.md").write_bytes(before["b/index.md"].replace(b"Two", b"Three"))
    await run(links="local", format=format)
    assert links(copy.text("a/index.md")) == {"b": "../b/index.md", "here": "#a"}
    await run(links="local", format=format, update=True, re_download_all=True)
    assert copy.files == before
    assert sound(copy)


async def test_kill_between_relinked_files_and_state(site: Site, run: Mirror, copy: Copy) -> None:
    """Files that a killed run relinked are recognised."""
    site.html_page(
        "/a", "A", '<h1>T</h1><p><a href="#x">x</a> <a href="/b#i">b</a></p><h2 id="t">X</h2><h2 id="x">T</h2>'
    )
    site.html_page("/b", "B", '<h1>B</h1><h2 id="i">Two</h2><p>x</p>')
    site.sitemap(urls=["/a", "/b"])
    await run()
    await run()
    state = (copy.folder / "_state.sqlite3").read_bytes()
    await run(links="local")
    before = copy.files
    assert links(copy.text("a/index.md"))["x"] == "#x"  # nothing is known of its ids but that a heading has the name
    (copy.folder / "_state.sqlite3").write_bytes(state)
    await run(links="local")
    assert copy.files == before
    await run(links="local", update=True, re_download_all=True)
    assert links(copy.text("a/index.md")) == {"x": "#t-1", "b": "../b/index.md#two"}
    assert sound(copy)


async def test_links_with_names_that_need_escaping(site: Site, run: Mirror, copy: Copy) -> None:
    """Readers, verify and the next run resolve them."""
    name = "/a%20(b)%26c"
    site.html_page(
        name,
        "Odd",
        '<h1>Odd</h1><h2 id="1">Größe (x) &amp; <code>a_b</code></h2><p><a href="#1">1</a> <a href="/z">z</a></p>',
    )
    site.html_page(
        "/z",
        "Z",
        f'<h1>Z</h1><p>{site.url}{name}#1 <a href="{name}#1">{site.url}{name}#1</a> <a href="{name}">y</a></p>',
    )
    site.sitemap(urls=[name, "/z"])
    await run(links="local")
    before = copy.files
    assert "(../a_\\(b\\)&c/index.md" not in copy.text("z/index.md")
    assert links(copy.text("z/index.md"))["y"] == "../a_%28b%29%26c/index.md"
    assert copy.text("z/index.md").count("%26c/index.md#größe-x--a_b") == 1
    assert sound(copy)
    assert sitemirror.verify(copy.folder).checked.anchors == 2
    await run(links="local", update=True)
    assert copy.files == before


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_interrupted_update_leaves_no_dead_links(site: Site, out: Path, copy: Copy, format: str) -> None:
    """The file of a page that has moved stays until a run is complete; then links lead to the new place."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.html_page("/b", "B", "<p>b</p>", etag='"1"')
    site.html_page("/z", "Z", '<p><a href="/a">to a</a> <a href="/b">to b</a></p>', etag='"1"')
    site.sitemap(urls=["/a", "/b", "/z"])
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": format, "links": "local"}
    await mirror(site.url, **options)
    site.redirect("/a", "/new/a", 301)
    site.html_page("/new/a", "A", "<p>a</p>")
    site.fault("/b", faults.slow(5))  # longer than the run waits when it is stopped
    stopped = mirror(site.url, **options, update=True)
    async for event in stopped:
        if isinstance(event, PageSaved) and event.url.endswith("/new/a"):
            stopped.stop()
    assert (await stopped).status == "interrupted"
    assert (copy.folder / "a").exists()
    assert sound(copy)
    site.heal("/b")
    assert (await mirror(site.url, **options, update=True)).status == "ok"
    assert not (copy.folder / "a").exists()
    ending = "html" if format == "html" else "md"
    assert f"new/a/index.{ending}" in copy.text(f"z/index.{ending}")
    assert sound(copy)
