"""`--links local`: pages that link to one another on disk, with anchors that exist."""

from __future__ import annotations

from tests.engine.conftest import Copy, Mirror
from tests.site import Site


async def test_links_between_saved_pages_lead_from_file_to_file(site: Site, run: Mirror, copy: Copy) -> None:
    """Saved pages are linked by relative paths, also under another name; everything else stays absolute."""
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


async def test_the_manifest_knows_the_bytes_with_local_links(site: Site, run: Mirror, copy: Copy) -> None:
    """Hashes are of the files as they are, and a second run changes neither."""
    from hashlib import sha256

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


async def test_a_page_that_came_later_is_linked_from_the_old_ones(site: Site, run: Mirror, copy: Copy) -> None:
    """A link that had to stay absolute becomes local when its page is saved."""
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
