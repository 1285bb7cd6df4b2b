"""SVG files load pictures and styles like pages, and link to pages."""

from __future__ import annotations

from tests.conftest import RunCli
from tests.crawl.conftest import Copy, Crawl, asked
from tests.site import Site

_DRAWING = """<?xml version="1.0" encoding="UTF-8"?>\r
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [ <!ENTITY ns "http://www.w3.org/2000/svg"> ]>\r
<svg xmlns="&ns;" xmlns:xlink="http://www.w3.org/1999/xlink"><style><![CDATA[ @import "more.css"; ]]></style>
  <defs><linearGradient id="g"/></defs><rect fill="url(#g)"/><use xlink:href="#g"/>
  <image href="/photo.png?v=1&amp;w=2" width="2"/><a xlink:href='{}'><text>Ä &lt;</text></a></svg>
"""


def _build(site: Site) -> None:
    site.page("/", '<title>Home</title><object data="/img/graph.svg" type="image/svg+xml"></object>')
    site.page("/img/graph.svg", _DRAWING.format("../api.html#send"), type="image/svg+xml")
    site.page("/img/more.css", "rect { stroke: red }", type="text/css")
    site.page("/photo.png?v=1&w=2", b"\x89PNG\r\n\x1a\n", type="image/png")
    site.html_page("/api.html", "API", "<h2 id=send>Send</h2>")


async def test_assets_and_links_of_an_svg_are_saved(site: Site, run: Crawl, copy: Copy, run_cli: RunCli) -> None:
    """They become local links that verify follows; all other bytes stay."""
    _build(site)
    await run()
    picture = next(name for name in copy.files if name.startswith("photo__q_"))
    assert set(copy.files) == {"index.html", "img/graph.svg", "img/more.css", picture, "api/index.html"}
    expected = _DRAWING.format("../api/index.html#send").replace("/photo.png?v=1&amp;w=2", f"../{picture}")
    assert copy.files["img/graph.svg"] == expected.encode()
    assert run_cli("verify", copy.folder).json["problems_total"] == 0
    (copy.folder / "img/graph.svg").write_text("<svg><a href='../nowhere.html'/></svg>")
    problems = run_cli("verify", copy.folder).json["problems"]
    assert any(problem["where"].endswith("graph.svg") and problem["kind"] == "link" for problem in problems)


async def test_svg_is_read_again_after_state_loss(site: Site, run: Crawl, copy: Copy) -> None:
    """What may have links is requested once, and its links stay the same."""
    _build(site)
    await run()
    files = copy.files
    for part in copy.folder.glob("_state.sqlite3*"):
        part.unlink()
    site.clear_log()
    await run()
    assert copy.files == files
    assert sorted({*asked(site)}) == ["/", "/api.html", "/img/graph.svg", "/img/more.css"]
    site.clear_log()
    await run()
    assert copy.files == files
    assert asked(site) == ["/"]


async def test_page_linked_from_an_svg_is_one_link_deeper(site: Site, run: Crawl, copy: Copy) -> None:
    """The assets of an SVG belong to its page's depth; a page it links to is one deeper."""
    _build(site)
    await run(link_depth=0)
    assert "api/index.html" not in copy.files
    assert f"{site.url}/api.html#send" in copy.text("img/graph.svg")
    await run(link_depth=1)
    assert "'../api/index.html#send'" in copy.text("img/graph.svg")


async def test_xml_stylesheet_of_an_svg_is_saved(site: Site, run: Crawl, copy: Copy, run_cli: RunCli) -> None:
    """Its link is local, its own assets are saved, and verify follows it."""
    drawing = (
        "<?xml version='1.0'?><?xml-stylesheet type='text/css' href='{}'?><svg xmlns='http://www.w3.org/2000/svg'/>"
    )
    site.page("/", '<title>Home</title><img src="/img/graph.svg">')
    site.page("/img/graph.svg", drawing.format("look?a=1&amp;b=2"), type="image/svg+xml; charset=utf-8")
    site.page("/img/look?a=1&b=2", "svg { cursor: url(hand.png) }", type="text/css")
    site.page("/img/hand.png", b"\x89PNG\r\n\x1a\n", type="image/png")
    await run()
    (sheet,) = (name for name in copy.files if name.endswith(".css"))
    assert "img/hand.png" in copy.files
    assert copy.text("img/graph.svg") == drawing.format(sheet.removeprefix("img/"))
    assert run_cli("verify", copy.folder).json["problems_total"] == 0
    (copy.folder / "img/graph.svg").write_text(drawing.format("nowhere.css"))
    problems = run_cli("verify", copy.folder).json["problems"]
    assert any(problem["where"].endswith("graph.svg") and problem["kind"] == "link" for problem in problems)
