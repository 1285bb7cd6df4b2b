"""Chains of similar pages: endless ones are cut, long ones of real sites are read to their end."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.crawl.conftest import Copy, Crawl, link
from tests.crawl.walk import walk
from tests.site import Site

CHAIN = "trap: more than 200 links in a row to URLs of the same shape"
MENU = ("/", "/about", "/contact", "/logo.png")
WORDS = "amber birch cedar delta ember fjord grove heron inlet jetty knoll larch maple north ocean pearl quartz river"


def number(path: str) -> int:
    return int(re.findall(r"\d+", path)[-1])


def _words(seed: int) -> str:
    """A few words, the same each time, and not the same for two numbers."""
    words, text = WORDS.split(), list[str]()
    while seed or not text:
        seed, rest = divmod(seed, len(words))
        text.append(words[rest])
    return "-".join(text)


@pytest.mark.parametrize("shapes", [1, 2, 3, 4, 16])
def test_alternating_endless_pages_are_cut(tmp_path: Path, shapes: int) -> None:
    """`/a/1` leads to `/b/1`, that to `/a/2` and so on, each with the same menu: cut after some 200 links."""

    def links(path: str) -> list[str]:
        turn = number(path) if path.startswith("/row") else -1
        return [f"/row{'abcdefghijklmnop'[(turn + 1) % shapes]}/{turn + 1}", *MENU] if path != "/about" else []

    found = walk(tmp_path, links)
    assert set(found.cut.values()) == {CHAIN}
    assert 200 <= len(found.visited) <= 230


def test_calendar_in_another_language_is_cut(tmp_path: Path) -> None:
    """Its months are alternating words."""
    months = ["januar", "februar", "maerz", "april", "mai", "juni", "juli", "august", "herbst", "winter", "eis"]

    def links(path: str) -> list[str]:
        if path == "/":
            return ["/kalender/2031/januar"]
        _, _, year, month = path.split("/")
        turn = int(year) * 11 + months.index(month) + 1
        return [f"/kalender/{turn // 11}/{months[turn % 11]}"]

    found = walk(tmp_path, links)
    assert set(found.cut.values()) == {CHAIN}
    assert 200 <= len(found.visited) <= 220


def test_calendar_with_days_is_cut(tmp_path: Path) -> None:
    """Every month has days, a print view and a login that leads back: nothing but dates."""

    def links(path: str) -> list[str]:
        months = re.fullmatch(r"/cal/(\d+)/(\d+)", path)
        if months is None:
            return ["/cal/2031/01", *MENU] if path == "/" else list(MENU)
        turn = int(months[1]) * 12 + int(months[2])
        days = [f"{path}/{day:02}" for day in range(1, 29)]
        return [f"/cal/{turn // 12}/{turn % 12 + 1:02}", *days, f"/print{path}", f"/login?next={path}", *MENU]

    found = walk(tmp_path, links)
    assert set(found.cut.values()) == {CHAIN}
    assert sum(1 for path in found.visited if re.fullmatch(r"/cal/\d+/\d+", path)) == pytest.approx(200, abs=3)


def test_counter_without_new_content_is_cut(tmp_path: Path) -> None:
    """The page's own number in its print view is no new content."""

    def links(path: str) -> list[str]:
        here = number(path) if path.startswith("/list?p=") else 0
        return [f"/list?p={here + 1}", f"/print?p={here}", f"/login?back=/list?p={here}", *MENU]

    found = walk(tmp_path, links)
    assert len(found.visited) < 800
    assert CHAIN in found.cut.values()


def test_endless_chain_with_new_content_is_cut_later(tmp_path: Path) -> None:
    """Something new on every page: five to ten times as much is fetched as of a chain without."""

    def links(path: str) -> list[str]:
        if path.startswith("/item"):
            return list(MENU)
        here = number(path) if path.startswith("/list") else 0
        return [f"/list/{here + 1}", f"/item/{here * 7 + 100_000}", *MENU]

    found = walk(tmp_path, links)
    assert sum(path.startswith("/list/") for path in found.visited) == 1551
    assert set(found.cut.values()) == {CHAIN}


def test_large_site_is_not_cut(tmp_path: Path) -> None:
    """A blog of 3,000 posts whose archive is 300 pages deep, and a wiki of 2,000 dense pages."""
    chance = random.Random(4)
    posts = [f"/{2000 + at // 240}/{at // 20 % 12 + 1:02}/{_words(at)}/" for at in range(3_000)]
    wiki = [f"/wiki/{_words(at).title()}_{at % 7}" for at in range(2_000)]
    leads = {page: [*chance.sample(wiki, 20), wiki[(at + 1) % 2_000]] for at, page in enumerate(wiki)}
    leads |= {post: posts[max(0, at - 1) : at + 2] for at, post in enumerate(posts)}
    for page in range(1, 301):
        older = [f"/blog/page/{page + 1}/"] if page < 300 else []
        leads[f"/blog/page/{page}/" if page > 1 else "/blog/"] = [*older, *posts[page * 10 - 10 : page * 10]]
    found = walk(tmp_path, lambda path: [*leads.get(path, ("/blog/", wiki[0])), *MENU])
    assert found.cut == {}
    assert set(found.visited) == {*leads, *MENU}


def test_numbered_archive_is_not_cut(tmp_path: Path) -> None:
    """Posts and pages have only numbers; a list of all posts besides does not change that."""

    def links(path: str) -> list[str]:
        here = number(path) if path.startswith("/page/") else 1
        older = [f"/page/{here + 1}"] if here < 400 else []
        everything = [f"/post/{post}" for post in range(11, 4_011)] if path == "/all" else []
        return [*older, *everything, *(f"/post/{here * 10 + post}" for post in range(1, 11)), "/all"]

    found = walk(tmp_path, lambda path: ["/"] if path.startswith("/post") else links(path))
    assert found.cut == {}
    assert len(found.visited) == 1 + 399 + 4_000 + 1


def test_comic_of_a_thousand_pages_is_not_cut(tmp_path: Path) -> None:
    """Each strip only links to the next, and has its own picture."""

    def links(path: str) -> list[str]:
        here = number(path) if path.startswith("/strip") else 0
        return [f"/strip/{here + 1}", f"/img/{here * 13 + 5000}.png", *MENU] if here < 1_000 else list(MENU)

    found = walk(tmp_path, links)
    assert found.cut == {}
    assert sum(path.startswith("/strip/") for path in found.visited) == 1_000


async def test_endless_chain_of_redirects_is_cut(site: Site, run: Crawl, copy: Copy) -> None:
    """Each page leads to the next through a redirect, so no link leads from page to page."""
    site.html_page("/", "Home", link("/go/0"))
    for turn in range(260):
        site.redirect(f"/go/{turn}", f"/row/{turn}")
        site.html_page(f"/row/{turn}", f"Row {turn}", link(f"/go/{turn + 1}"))
    await run()
    assert [(detail, reason) for reason, detail in copy.skipped.values()] == [(CHAIN, "filter-exclude")]
    assert 200 <= len(copy.files) <= 205
