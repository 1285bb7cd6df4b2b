"""A site with all that makes order matter: what a kill could confuse is in it once or more."""

from __future__ import annotations

from tests.crawl.conftest import link
from tests.site import Site


def build(site: Site, *, leaves: int = 40) -> None:
    """Fills `site` for a mirror by its sitemap as well as for a crawl by its links."""
    paths = site.fill(leaves, "/leaf")
    site.robots("User-agent: *\nDisallow: /secret\n")
    groups = [f"/group/{number}" for number in range(8)]
    # Those that have to give way come first, so that files change places when all are known.
    odd = ["/p/", "/p", "/same", "/same/", "/case", "/Case", "/data/x", "/data", "/older", "/old", "/list?page=2"]
    site.html_page("/", "Home", link(*groups, *odd, "/missing", "/secret", "http://other.example/"))
    share = -(-leaves // len(groups))
    for number, group in enumerate(groups):
        near = link(*paths[number * share : number * share + share + 2], groups[(number + 3) % 8], *odd)
        pictures = "".join(f'<img src="/i/{picture}.png">' for picture in range(number, number + 4))
        site.html_page(group, group, f'<link rel="stylesheet" href="/css/{number % 3}.css">{near}{pictures}')
    for number in range(12):
        site.page(f"/i/{number}.png", bytes([number]) * 3000, type="image/png")
    for number in range(3):
        css = f'@import "{(number + 1) % 3}.css"; p {{ background: url(/i/{number}.png) }}'
        site.page(f"/css/{number}.css", css, type="text/css")
    for path in ("/p", "/p/", "/Case", "/case", "/data/x", "/list?page=2"):
        site.html_page(path, f"At {path}", f"<p>All about {path}</p>")
    for path in ("/same", "/same/"):
        canonical = f'<link rel="canonical" href="{site.url}/same/">'
        site.page(path, f"<html><head><title>Same</title>{canonical}</head><body><p>The same.</p></body></html>")
    site.page("/data", b"{}", type="application/json")
    site.redirect("/old", paths[3])
    site.redirect("/older", "/old")
    site.sitemap(urls=["/", *reversed(groups), *odd, *paths, "/missing", "/i/1.png"])


AGAIN_IN_EVERY_RUN = frozenset({"/", "/robots.txt", "/sitemap.xml", "/missing"})
"""Asked for whatever was done before: where a run begins, and what failed."""
