"""Reading links out of files, where pages do not say all of it."""

from __future__ import annotations

import time

import pytest

from sitemirror.links.local import contents_links, html_links, markdown_links
from sitemirror.links.resolve import linked_path


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("[a](b.md) ![c](d%20e.png 'title') [f](<g h.md>)", {"b.md", "d e.png", "g h.md"}),
        (r"\[a\](b.md) `[c](d.md)` ``[e](f.md) ` `` [g](h\(1\).md)", {"h(1).md"}),
        ("```\n[a](b.md)\n```\n[c](d(e).md#f)\n~~~~ md\n[g](h.md)\n~~~\n[i](j.md)\n", {"d(e).md"}),
        ("[a](https://x/y) [b](//x/y) [c](mailto:d) [e](#f) [g]() [h](?i)", set()),
    ],
)
def test_markdown_links(text: str, paths: set[str]) -> None:
    """Inline links and images are links; code, escaped brackets and links to the web are not."""
    assert {path for path, _ in markdown_links(text.encode()).references} == paths


def test_anchors_in_markdown() -> None:
    """Fragments count in files with local links; elsewhere those within the page are the site's own."""
    text = "[a](b.md#c) [d](#e) [f](#) [g](https://x/y#z)\n\n[h]: i.md#j\n"
    assert markdown_links(text.encode()).references == {("b.md", "c"), ("", "e"), ("i.md", "j")}
    assert markdown_links(b"[d](#e) [g](https://x/y#z) [h](mailto:i)").references == set()


def test_contents_links() -> None:
    """Lists in the table of contents may be as deep as the site."""
    text = "# T\n\n- [a](b.md)\n  - [c \\[d\\]](e%20f/index.md)\n        - [g](#h)\n"
    assert contents_links(text.encode()).references == {("b.md", ""), ("e f/index.md", ""), ("", "h")}


def test_html_links() -> None:
    """Fragments count if they lead to an anchor; anchors are ids and names; web URLs are not local."""
    found = html_links(
        b"""<base href=https://x/><link rel=canonical href=a><link rel=preload href=b.js>
        <p id=i><a name=n href=c.html#d>
        <a href="e.html?f#:~:text=g"><img src=h.png#j><iframe src="k.html#l"></iframe>
        <a href=" //x/y"><a href="m\\n.html">
        <svg><use xlink:href="o.svg#p"/></svg><video poster=q.png></video><object data=r.pdf></object>"""
    )
    assert found.anchors == {"i", "n"}
    assert found.references == {
        ("b.js", ""),
        ("c.html", "d"),
        ("e.html", ""),
        ("h.png", ""),
        ("k.html", "l"),
        ("m/n.html", ""),
        ("o.svg", ""),
        ("q.png", ""),
        ("r.pdf", ""),
    }


def test_lazy_and_framed_html() -> None:
    """Lazily loaded files count, and a srcdoc with its own anchors."""
    found = html_links(
        b"""<img data-src=a.png data-srcset="b.png 2x"><iframe data-src=c.html></iframe>
        <img data-lazy-srcset="e.png 1x">
        <iframe srcdoc="<p id=i><a href=#j></a><img src=d.png>"></iframe>"""
    )
    assert found.anchors == set()
    assert found.references == {("a.png", ""), ("b.png", ""), ("c.html", ""), ("d.png", ""), ("e.png", "")}


def test_links_stay_inside_the_output_folder() -> None:
    """Paths are resolved against the file's folder and never leave the output folder."""
    assert linked_path("host/a/index.html", "../b.html") == "host/b.html"
    assert linked_path("host/a/index.html", "") == "host/a/index.html"
    assert linked_path("host/a/index.html", "../../other/x.html") == "other/x.html"
    assert linked_path("host/a/index.html", "../../../x.html") is None
    assert linked_path("host/a/index.html", "/etc/passwd") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["".join("`" * number + " " for number in range(2000)), "[a](" * 50_000, "[a](<" * 50_000, "](((" * 50_000],
)
def test_time_is_linear(text: str) -> None:
    """Unfinished links and code are read in linear time."""
    started = time.process_time()
    markdown_links(text.encode())
    assert time.process_time() - started < 5
