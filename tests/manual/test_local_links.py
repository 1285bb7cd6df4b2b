"""A whole manual with `--links local`: its pages lead to one another on disk, to the headings they meant."""

from __future__ import annotations

import posixpath
import random
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
import turbohtml
from markdown_it import MarkdownIt

from tests.conftest import RunCli
from tests.manual.conftest import Mirrored, copied
from tests.manual.server import Manual

pytestmark = [pytest.mark.nginx, pytest.mark.timeout(180)]

RENDERER = MarkdownIt("commonmark").enable("table")
HEADINGS = "h1, h2, h3, h4, h5, h6"
CHOSEN = 80
LONG = ["app-psql.html", "bookindex.html", "runtime-config-query.html", "sql-select.html"]


@pytest.fixture(scope="module")
def linked(manual: Manual, tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    """The manual mirrored once with local links. Look, but do not touch."""
    return copied(tmp_path_factory.mktemp("linked"), "mirror", manual.url, "--links", "local")


def one_line(text: str) -> str:
    return " ".join(text.split())


def headings(markdown: str) -> dict[str, str]:
    """Anchor → what the heading says, for plain headings of a rendered file."""
    found: dict[str, str] = {}
    for token, inner in pairwise(RENDERER.parse(markdown)):
        if token.type == "heading_open":
            said = "".join(part.content for part in inner.children or [] if part.type != "html_inline")
            plain = anchor = re.sub(r"[^\w\- ]", "", said.lower()).replace(" ", "-")
            number = 0
            while anchor in found:
                number += 1
                anchor = f"{plain}-{number}"
            found[anchor] = one_line(said)
    return found


def destinations(markdown: str) -> set[str]:
    """Where the links of a rendered file lead."""
    inner = (part for token in RENDERER.parse(markdown) for part in token.children or [])
    return {unquote(str(part.attrs["href"])) for part in inner if part.type == "link_open"}


def without_front_matter(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("\n---\n", 1)[1]


def title_at(page: turbohtml.Document, name: str) -> str:
    """What the heading says that stands at the very place of an id; empty if none does."""
    place = next((each for each in page.select("[id]") if each.attr("id") == name), None)
    title = place if place is None or place.matches(HEADINGS) else place.select_one(HEADINGS)
    if place is None or title is None or not one_line(place.text).startswith(said := one_line(title.text)):
        return ""
    return said


def wanted_links(html: bytes, name: str, titles: Callable[[str, str], str]) -> set[tuple[str, str]]:
    """(page, heading) of every link in the text of a page that leads to a heading."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    body.remove("div.navheader, div.navfooter")
    found: set[tuple[str, str]] = set()
    for link in body.select('a[href*="#"]'):
        page, _, fragment = (link.attr("href") or "").partition("#")
        # A heading that links to itself is no link in the Markdown.
        if ":" not in page and fragment and link.closest(HEADINGS) is None and link.text.strip():
            found.add((page or name, titles(page or name, unquote(fragment))))
    return {(page, title) for page, title in found if title}


def test_nothing_is_wrong_with_it(linked: Mirrored, run_cli: RunCli) -> None:
    """`verify` follows every link and anchor, thousands of both, and finds all of them good."""
    done = run_cli("verify", linked.home, timeout=100)
    assert done.json["problems"] == []
    assert done.returncode == 0
    assert done.json["checked"]["links"] > 5_000
    assert done.json["checked"]["anchors"] > 3_000


def test_links_that_led_to_a_heading_still_do(manual: Manual, linked: Mirrored) -> None:
    """Whatever page links to a heading of the manual, by the id around it, its Markdown links to that very heading."""
    paths = {
        url.removeprefix(f"{manual.url}/"): page["path"]
        for page in linked.manifest["pages"]
        for url in (page["url"], *page["aliases"])
    }
    parsed = cache(lambda name: turbohtml.parse((manual.site / name).read_bytes()))
    titles = cache(lambda name, fragment: title_at(parsed(name), fragment) if name in paths else "")
    anchors = cache(lambda path: headings(without_front_matter(linked.home / path)))
    count = 0
    for name in [*random.Random(5).sample(sorted(set(manual.pages) - set(LONG)), CHOSEN), *LONG]:
        source = paths[name]
        text = without_front_matter(linked.home / source)
        assert f"]({manual.url}/" not in text.replace(".svg)", ""), name
        led: set[tuple[str, str]] = set()
        for destination in destinations(text):
            path, _, anchor = destination.partition("#")
            if anchor and ":" not in path:
                there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
                led.add((there, anchors(there)[anchor]))
        wanted = {(paths[page], title) for page, title in wanted_links((manual.site / name).read_bytes(), name, titles)}
        assert wanted - led == set(), name
        count += len(wanted)
    assert count > 500
