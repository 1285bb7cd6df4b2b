"""A page that is nothing but an immediate meta refresh is a redirect."""

from __future__ import annotations

import pytest

from tests.convert.pages import page


@pytest.mark.parametrize(
    "html",
    [
        '<meta http-equiv="refresh" content="0; url=/new">',
        "<META HTTP-EQUIV=Refresh CONTENT='1;URL=\"/new\"'><title>Redirecting…</title>",
        '<meta http-equiv="refresh" content="0;url=../new#part"><p>It has moved. <a href="/new">Click here</a>.</p>',
        '<meta http-equiv="refresh" content="0; https://example.com/new"><script>location = "/new"; // '
        + "x" * 500
        + "</script>",
        '<base href="https://example.com/"><meta http-equiv="refresh" content="0; url=new">',
        '<meta http-equiv="refresh" content="0; url=/new">Redirecting to https://example.com/' + "new" * 80,
    ],
)
def test_redirects_are_recognised(html: str) -> None:
    """With or without the usual sentence and link, resolved and normalised."""
    assert page(html, content="auto").refresh == "https://example.com/new"


@pytest.mark.parametrize(
    "html",
    [
        '<meta http-equiv="refresh" content="5; url=/new"><p>Wait.</p>',
        '<meta http-equiv="refresh" content="0"><p>Reloads.</p>',
        '<meta http-equiv="refresh" content="0; url=/docs/page.html"><p>Reloads.</p>',
        '<meta http-equiv="refresh" content="0; url=javascript:alert(1)">',
        '<meta http-equiv="refresh" content="0; url=/new"><p>' + "Real content. " * 30 + "</p>",
        '<meta http-equiv="refresh" content="0; url=/new"><p><a href="/other">Another page</a></p>',
        '<meta http-equiv="refresh" content="0; url=/new"><pre>code</pre>',
        '<noscript><meta http-equiv="refresh" content="0; url=/nojs"></noscript><p>App</p>',
        "<p>0; url=/new</p>",
        '<meta http-equiv="refresh" content=".com; url=/new"><p>A dot is no number.</p>',
    ],
)
def test_pages_are_not_redirects(html: str) -> None:
    """Time to read, a reload, other links or real text make it a page."""
    assert page(html, content="auto").refresh is None
