"""Pages served as XML: their copies are parsed as HTML, and have to say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror.convert.xhtml import as_html
from tests.conftest import RunHere
from tests.crawl.conftest import Copy, Crawl
from tests.site import Site


async def test_xhtml_page_is_saved_completely(site: Site, run: Crawl, copy: Copy) -> None:
    """`<script/>` ends where it begins: the rest is followed, shown, and becomes Markdown."""
    page = (
        '<?xml version="1.0"?>\r\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title>'
        '<script src="/x.js"/><link rel="icon" href="/i.png"/></head>'
        '<body><a id="top"/><p>Text <a href="/next">after</a></p></body></html>'
    )
    site.page("/", page, type="application/xhtml+xml")
    site.page("/x.js", "1", type="text/javascript")
    site.page("/i.png", b"\x89PNG\r\n\x1a\n", type="image/png")
    site.html_page("/next", "Next", "<p>next</p>")
    await run(format="both")
    assert "Text [after]" in copy.text("index.md")
    text = (copy.folder / "index.html").read_bytes().decode()
    assert text == (
        page.replace("<html", "<!DOCTYPE html><html")
        .replace("<head>", '<head><meta charset="utf-8">')
        .replace('<script src="/x.js"/>', '<script src="x.js"></script>')
        .replace('<a id="top"/>', '<a id="top"></a>')
        .replace('"/next"', '"next/index.html"')
        .replace('"/i.png"', '"i.png"')
    )
    assert "next/index.html" in copy.files


async def test_no_post_process_keeps_xhtml_bytes(site: Site, run: Crawl, copy: Copy) -> None:
    """Its links are followed all the same."""
    page = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><a href="/next">x</a></body></html>'
    site.page("/", page, type="application/xhtml+xml")
    site.html_page("/next", "Next", "<p>next</p>")
    await run(post_process=False)
    assert copy.files["index.html"] == page
    assert "next/index.html" in copy.files


def test_convert_reads_xhtml(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """From a URL and from a file."""
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>Text.</p></body></html>'
    site.page("/x", page, type="application/xhtml+xml")
    (tmp_path / "x.xhtml").write_text(page)
    for source in (f"{site.url}/x", tmp_path / "x.xhtml"):
        assert run_here("convert", source, "--no-front-matter").stdout == "Text.\n"


@pytest.mark.parametrize(
    ("xml", "html"),
    [
        (b'<div class="a"/>', b'<div class="a"></div>'),
        (b"<p title='/>' />", b"<p title='/>'></p>"),
        (b"<br/><img src='x' /><hr />", b"<br/><img src='x' /><hr />"),
        (b"<!-- <p/> --><?x <p/> ?>", b"<!-- <p/> --><?x <p/> ?>"),
        (b"<pre><![CDATA[a <b/> && c]]></pre><br/>", b"<pre>a &lt;b/&gt; &amp;&amp; c</pre><br/>"),
        (b"<script>//<![CDATA[\n'<p/>'\n//]]></script><p/>", b"<script>//<![CDATA[\n'<p/>'\n//]]></script><p></p>"),
        (b"<style> <![CDATA[a > b{}]]> </style><p/>", b"<style> a > b{} </style><p></p>"),
        (b"<script>a &lt; b &amp;&amp; '&amp;lt;'</script>", b"<script>a < b && '&lt;'</script>"),
        (b"<script>'&lt;/script>'</script>", b"<script>'&lt;/script>'</script>"),
        (b"<html><p/></html>", b"<!DOCTYPE html><html><p></p></html>"),
        (b"<!DOCTYPE x []><html></html>", b"<!DOCTYPE x []><html></html>"),
        (b"<svg><rect/></svg>", b"<svg><rect></rect></svg>"),
        (b"<p>1 /> 2</p>", b"<p>1 /> 2</p>"),
    ],
)
def test_self_closing_elements_get_end_tags(xml: bytes, html: bytes) -> None:
    """Void elements of HTML do not; plain text is escaped, all else stays."""
    assert as_html(xml) == html


async def test_xhtml_is_utf_8_by_default(site: Site, run: Crawl, copy: Copy) -> None:
    """HTML has no such rule, so the copy declares its encoding."""
    text = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>é <a href="{}">n</a></body></html>'
    site.page("/", text.format("/é"), type="application/xhtml+xml")
    declaration = '<?xml version="1.0" encoding="ISO-8859-2"?>'
    site.page("/%C3%A9", (declaration + text.format("/ł")).encode("iso-8859-2"), type="application/xhtml+xml")
    site.html_page("/%C5%82", "L", "<p>l</p>")
    await run()
    assert '<head><meta charset="utf-8">' in copy.text("index.html")
    assert b'<head><meta charset="iso-8859-2">' in copy.files["é/index.html"]
    assert "ł/index.html" in copy.files
