"""Bytes that get further than noise does: pieces of each format, put together at random, and noise between them."""

from __future__ import annotations

import gzip
from typing import Final

from hypothesis import strategies as st

_BLANKS: Final = (" ", "\n", "\n\n", "\r", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\x00", "\x1b")
# Taken apart at blanks; ␣ is a blank inside a piece.
_PIECES: Final = {
    "urls": """
        http:// https:// // / \\ ? # @ : %2e%2e .. . %00 %2f %5c [::1] 127.1 0x7f EXAMPLE.com xn-- ü.test 。
        example.com :80 :443
        _manifest.json con aux.txt .html .php index.html %C3%A9 %ff &amp; \u202e é 😀 \ud800
        sitemap-20260101-000000.md
    """,
    "sitemaps": """
        <urlset> </urlset> <url> </url> <loc> </loc> https://example.com/a <sitemapindex> <sitemap> </sitemap> <lastmod>
        </lastmod> <![CDATA[␣]]> <!--␣--> &amp; &#x41; &bad; <?xml␣version="1.0"?> <!DOCTYPE␣x␣[<!ENTITY␣a␣"b">]>
        xmlns="x"
        <rss><channel><item><link> </link> <feed><entry> <priority>0.5</priority> \ufeff \x00 < > " ' <image:loc>
    """,
    "robots": """
        User-agent: * sitemirror Disallow: / Allow: Crawl-delay: 1 1e999 nan -5 Sitemap: https://example.com/s.xml #
        *a* $ %2f \ufeff é , / 512
    """,
    "headers": """
        Fri, 31 Dec 1999 23:59:59 GMT 120 -1 1e9 99999999999999999999 2026-01-02 T03:04:05 Z +01:00 -0000 24:00
        2026-W01
        text/html ; charset= " ' utf-8 application/ + xml , nan inf \x00 \x1b \u202e 0000 12/31/1999
    """,
    "conversion": """
        <p> </p> <b> </b> <i> <a␣href="/x"> </a> <table> <tr> <td> <th> <ul> <li> <ol> <pre> <code> ``` ` * _ [ ] (
        ) | \\ # - + 1.
        <h1> <h2> <br> <hr> <img␣src=a␣alt=b> <script> </script> &lt;script&gt; javascript: <div␣hidden> <main>
        <aside> <nav>
        <dl> <dt> <dd> <details> <summary> <sup> <math> <svg> <title> --- \x00 \x1b \u202e é <!--␣-->
        <meta␣charset=utf-16>
        <base␣href="//evil.test/"> <blockquote> <figure> <template> <select> <option> <frameset> <frame␣src=a>
        &nbsp; &#0; &#x9b;
        <kbd> <section> <label> <input␣type=checkbox> <ruby> <rt> <del> <q> class="admonition" role="tabpanel" id="a"
    """,
    "links": """
        <a␣href="/x"> <a␣href='../y#z'> <img␣srcset="a␣1x,␣b␣2x"> <link␣rel=stylesheet␣href=s.css>
        <style>a{background:url(b)}</style>
        @import "c.css"; url( ) ' " url('d.png') \\ /* */ <base␣href="/b/"> style="background:url(e)" <script␣src=f>
        </a> < > & &amp;
        <meta␣http-equiv=refresh␣content="0;url=g"> <frame␣src=h> [t](https://example.com/i) <https://example.com/j>
        ![a](k) data:, #
        <form␣action=l> <object␣data=m> <svg><use␣href="#n"> <iframe␣srcdoc="<a␣href=o>"> <noscript> <template> \x00
        é
    """,
}


def inputs(target: str) -> st.SearchStrategy[bytes]:
    """What to feed a target with."""
    noise = st.binary(max_size=60)
    pieces = [*(piece.replace("␣", " ") for piece in _PIECES[target].split()), *_BLANKS] if target in _PIECES else []
    if not pieces:
        return noise | noise.map(gzip.compress) | noise.map(lambda data: gzip.compress(data * 999)[:-3])
    known = st.sampled_from([piece.encode("utf-8", "surrogatepass") for piece in pieces])
    mixed = st.lists(known | known | known | st.binary(max_size=4), max_size=40).map(b"".join)
    return (mixed | mixed.map(gzip.compress) | noise) if target == "sitemaps" else (mixed | noise)
