"""Requirement: HTML Content Fetching and Conversion."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from sitemirror import mirror
from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Everywhere, Mirrored, only_announced, sitemap_of

MEGABYTE = 1024 * 1024


def test_successful_html_conversion(site: Site, out: Path, run_here: RunHere) -> None:
    """Successful HTML conversion: a page becomes Markdown with ATX headings at the path its URL maps to."""
    body = """<main><h1>The guide</h1><p>Some <strong>bold</strong> and <em>slanted</em> words.</p>
        <h2>Steps</h2><ol><li>Install</li><li>Run</li></ol>
        <h3>Code</h3><pre><code class="language-python">print("# not a heading")</code></pre>
        <h6>Small print</h6><table><tr><th>Name</th><th>Size</th></tr><tr><td>a</td><td>1</td></tr></table></main>"""
    site.html_page("/guide/start", "The guide", body)
    site.page(
        "/xhtml",
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head>'
        "<body><h1>Strict</h1><h2>Part</h2><p>Text</p></body></html>",
        type="application/xhtml+xml; charset=utf-8",
    )
    site.sitemap(urls=["/guide/start", "/xhtml"])

    assert run_here("mirror", site.url, *FAST, "--output", out).json["successful"] == 2

    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"guide/start/index.md", "xhtml/index.md"}
    head = f'---\ntitle: "The guide"\nurl: "{site.url}/guide/start"\n'
    assert mirrored.text("guide/start/index.md").startswith(head)
    lines = mirrored.markdown("guide/start/index.md").splitlines()
    for heading in ("# The guide", "## Steps", "### Code", "###### Small print", "Some **bold** and *slanted* words."):
        assert heading in lines
    assert "1. Install" in lines
    assert "```python" in lines
    assert 'print("# not a heading")' in lines
    assert [cell.strip() for cell in lines[-1].strip("|").split("|")] == ["a", "1"]
    assert not any(line and set(line) <= {"="} for line in lines)  # no underlined headings
    assert mirrored.markdown("xhtml/index.md") == "# Strict\n\n## Part\n\nText\n"


def test_non_html_content_handling(site: Site, out: Path, run_here: RunHere) -> None:
    """Non-HTML content handling: a PDF leaves a placeholder with URL and type, and its body is not downloaded."""
    pdf = site.page("/manual.pdf", "%PDF-1.7", type="application/pdf")
    site.fault("/manual.pdf", only_announced(8 * MEGABYTE))
    after = site.html_page("/after", "After", "<h1>After</h1>")
    site.sitemap(urls=[pdf, after])

    done = run_here("mirror", site.url, *FAST, "--timeout", 10, "--output", out)

    assert (done.json["status"], done.json["successful"], done.json["skipped"]) == ("ok", 1, 1)
    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"after/index.md"}
    [placeholder] = mirrored.placeholders["_skipped"]
    assert pdf in placeholder
    assert "- Content type: application/pdf\n" in placeholder
    assert f"- Size: {8 * MEGABYTE:,} bytes\n" in placeholder
    [skip] = mirrored.manifest["skips"]
    assert (skip["url"], skip["content_type"], skip["size_bytes"]) == (pdf, "application/pdf", 8 * MEGABYTE)
    assert f"- Reason: {skip['reason']}\n" in placeholder
    assert site.count("/manual.pdf") == 1


async def test_relative_url_absolutification(site: Site, out: Path) -> None:
    """Relative URL absolutification: images and links lead to the site, wherever the copy is read."""
    host = "example.com"
    body = """<h1>Pictures</h1><p><img src="/images/logo.png"></p><p><img src="near.png" alt="near"></p>
        <p><a href="../up">up</a> <a href="#here">here</a> <a href="//cdn.example.net/x">cdn</a>
        <a href="https://other.example/">other</a> <a href="?q=1">query</a></p>"""
    site.html_page("/docs/pictures", "Pictures", body, host=host)
    based = '<!DOCTYPE html><title>B</title><base href="/elsewhere/"><h1>B</h1><p><img src="a.png" alt=""></p>'
    site.page("/based", based, host=host)
    sitemap_of(site, host, "/docs/pictures", "/based")

    await mirror(f"http://{host}/", output=out, rate_limit=0, resolver=Everywhere(site))

    mirrored = Mirrored(out / host)
    text = mirrored.markdown("docs/pictures/index.md")
    assert "![](http://example.com/images/logo.png)" in text
    assert "![near](http://example.com/docs/near.png)" in text
    assert "[up](http://example.com/up)" in text
    assert "[here](#here)" in text  # within the page, wherever that is
    assert "[cdn](http://cdn.example.net/x)" in text
    assert "[other](https://other.example/)" in text
    assert "[query](http://example.com/docs/pictures?q=1)" in text
    assert "![](http://example.com/elsewhere/a.png)" in mirrored.markdown("based/index.md")


@pytest.mark.parametrize("content", ["auto", "main", "full"])
async def test_script_and_style_removal(site: Site, out: Path, content: Literal["auto", "main", "full"]) -> None:
    """Script and style removal: no code and no rules in the text, and none of the text around them is lost."""
    paragraph = "<p>A paragraph of real text, long enough to be taken for the content of a page by anybody.</p>"
    body = f"""<article><h1>Clean</h1>{paragraph}
        <script>var polluting = "<h1>not a heading</h1><p>not a paragraph</p>";</script>
        <p>Between the two.</p>
        <style>.polluting {{ color: red }}</style>
        <script type="application/ld+json">{{"polluting": true}}</script>
        <p onclick="polluting()">After <style>p.polluting{{}}</style>both.</p>{paragraph}</article>"""
    site.html_page("/page", "Clean", body)
    site.sitemap()

    await mirror(site.url, output=out, rate_limit=0, content=content)

    text = Mirrored.of(site, out).text("page/index.md")
    for kept in ("# Clean", "Between the two.", "After both.", "A paragraph of real text"):
        assert kept in text
    for gone in ("polluting", "color: red", "not a heading", "not a paragraph", "<script", "<style"):
        assert gone not in text
