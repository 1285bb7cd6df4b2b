"""URL → path: the rules and table of the contract, and properties of every URL."""

from __future__ import annotations

from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.store.paths import (
    asset_path,
    asset_paths,
    collision_path,
    folders_above,
    host_folder,
    moved_folder,
    page_path,
)
from sitemirror.urls import normalize
from tests.store.naming import SITE, objections, url_for, urls


def h(text: str, digits: int = 8) -> str:
    return md5(text.encode()).hexdigest()[:digits]


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/api/users/create", "api/users/create/index.md"),
        ("/", "index.md"),
        ("/index.html", "index.md"),
        ("/a", "a/index.md"),
        ("/a/", "a/index.md"),
        ("/a.html", "a/index.md"),
        ("/a/index.html", "a/index.md"),
        ("/a/INDEX.Php", "a/index.md"),
        ("/a/index", "a/index/index.md"),
        ("/v1.2", "v1.2/index.md"),
        ("/a.b.aspx", "a.b/index.md"),
        ("/readme.txt", "readme.txt/index.md"),
        ("/.html", ".html/index.md"),
        ("/a.html/", "a.html/index.md"),
        ("/a#part", "a/index.md"),
        ("/a/../b/./c", "b/c/index.md"),
        ("/search?q=test&page=2", f"search__q_{h('q=test&page=2')}.md"),
        ("/a.html?x=1", f"a__q_{h('x=1')}.md"),
        ("/a/?x=1", f"a/index__q_{h('x=1')}.md"),
        ("/a/index.html?x=1", f"a/index__q_{h('x=1')}.md"),
        ("/?x=1", f"index__q_{h('x=1')}.md"),
        ("/a?", f"a__q_{h('')}.md"),
        ("/a?x=%20%C3%A9", f"a__q_{h('x=%20%C3%A9')}.md"),
        ("/_manifest.json", "__manifest.json/index.md"),
        ("/a/_manifest.json", "a/_manifest.json/index.md"),
        ("/%20x", "__x/index.md"),
        ("/mirror-index.json", "_mirror-index.json/index.md"),
        ("/sitemap-20260103-200000.md", "sitemap-20260103-200000/index.md"),
        ("/sitemap-20260103-200000.md/", "_sitemap-20260103-200000.md/index.md"),
        ("/a//b", "a/_/b/index.md"),
        ("//", "__/index.md"),
        ("/x%2F..%2Fy", "x_.._y/index.md"),
        ("/con.html", "con_/index.md"),
        ("/aux.txt?x", f"aux_.txt__q_{h('x')}.md"),
    ],
)
def test_page_paths_follow_the_contract(path: str, file: str) -> None:
    """Each row of the table, and each rule's own cases."""
    assert page_path(normalize(SITE + path)) == file


def test_html_paths_differ_only_in_the_extension() -> None:
    """Only the extension differs."""
    assert page_path(url_for("a"), ".html") == "a/index.html"
    assert page_path(url_for("a?x"), ".html") == f"a__q_{h('x')}.html"
    assert page_path(url_for(""), ".html") == "index.html"


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/logo.png", "logo.png"),
        ("/s.css?v=3", f"s__q_{h('v=3')}.css"),
        ("/img/avatar", "img/avatar"),
        ("/img/avatar?s=80", f"img/avatar__q_{h('s=80')}"),
        ("/img/", "img/index"),
        ("/", "index"),
        ("/_state.sqlite3", "__state.sqlite3"),
        ("/%20lock", "__lock"),
        ("/mirror-index.json", "_mirror-index.json"),
        ("/sitemap-20260103-200000.md", "_sitemap-20260103-200000.md"),
        ("/assets/con.js", "assets/con_.js"),
        ("/.git/config", ".git_/config"),
        (f"/{'x' * 300}.woff2", f"{'x' * 185}_{h('x' * 300 + '.woff2')}.woff2"),
    ],
)
def test_assets_keep_their_names(path: str, file: str) -> None:
    """Name and extension stay, with the query's hash between them."""
    assert asset_path(normalize(SITE + path)) == file


@pytest.mark.parametrize(
    ("path", "content_type", "file"),
    [
        ("/css2?family=Inter", "text/css", f"css2__q_{h('family=Inter')}.css"),
        ("/load.php?only=styles", "text/css", f"load.php__q_{h('only=styles')}.css"),
        ("/s.CSS?v=3", "text/css", f"s__q_{h('v=3')}.CSS"),
        ("/badge/passing", "image/svg+xml", "badge/passing.svg"),
        ("/logo.png", "image/svg+xml", "logo.png.svg"),
        ("/img/avatar", "image/png", "img/avatar"),
        ("/js/app", "text/javascript", "js/app"),
        (f"/{'x' * 300}", "text/css", f"{'x' * 187}_{h('x' * 300)}.css"),
    ],
)
def test_assets_get_the_extension_browsers_need(path: str, content_type: str, file: str) -> None:
    """A local style sheet or SVG is recognised only by its extension; other assets by their first bytes."""
    url = normalize(SITE + path)
    assert asset_path(url, content_type) == file
    assert file in asset_paths(url)


@pytest.mark.parametrize(
    ("segment", "file"),
    [
        ("a" * 197, "a" * 197 + "/index.md"),
        ("a" * 198, "a" * 188 + f"_{h('a' * 198)}.md"),
        ("a" * 300 + ".html", "a" * 188 + f"_{h('a' * 300 + '.html')}.md"),
        ("a" * 185 + "?x", "a" * 185 + f"__q_{h('x')}.md"),
        ("a" * 186 + "?x", "a" * 176 + f"_{h('a' * 186)}__q_{h('x')}.md"),
        ("%C3%A9" * 118, "é" * 118 + "/index.md"),
        ("%C3%A9" * 119, "é" * 114 + f"_{h('%C3%A9' * 119)}.md"),
        ("a" * 250 + "/", "a" * 188 + f"_{h('a' * 250)}.md"),
        ("a" * 200 + "/b", "a" * 200 + "/b/index.md"),
        ("a" * 201 + "/b", "a" * 191 + f"_{h('a' * 201)}/b/index.md"),
        ("%C3%A9" * 121 + "/b", "é" * 115 + f"_{h('%C3%A9' * 121)}/b/index.md"),
        ("_" + "a" * 199 + "/b", "__" + "a" * 189 + f"_{h('_' + 'a' * 199)}/b/index.md"),
    ],
)
def test_long_names_are_cut_and_hashed(segment: str, file: str) -> None:
    """200 characters and 240 bytes hold for every name, exactly, with the hash of the segment as the URL has it."""
    assert page_path(url_for(segment)) == file


def test_path_over_the_limit_hashes_its_middle() -> None:
    """The beginning and the end stay readable, and different middles stay different."""
    deep = [f"folder-number-{number:04d}" for number in range(100)]
    one = page_path(url_for("/".join([*deep, "page"])))
    other = page_path(url_for("/".join([*deep[:70], "else", *deep[71:], "page"])))
    assert len(one.encode()) <= 1000
    assert one.startswith("/".join(deep[:40]) + "/")
    assert one.endswith("/page/index.md")
    assert len(one.split("/")) < 60
    assert one != other


def test_path_at_the_limit_is_unchanged() -> None:
    """1,000 bytes are fine, 1,001 are not."""
    segments = ["x" * 99] * 9
    assert page_path(url_for("/".join([*segments, "y" * 91]))).encode() == (
        "/".join([*segments, "y" * 91, "index.md"]).encode()
    )
    assert "__" in page_path(url_for("/".join([*segments, "y" * 92])))


@pytest.mark.parametrize(
    ("path", "url", "other"),
    [
        ("p/index.md", f"{SITE}/p/", f"p_{h(f'{SITE}/p/')}.md"),
        ("v1.2/index.html", f"{SITE}/v1.2", f"v1.2_{h(f'{SITE}/v1.2')}.html"),
        ("a/b/index.md", f"{SITE}/a/B", f"a/b_{h(f'{SITE}/a/B')}.md"),
        ("c__q_327e8aeb.md", f"{SITE}/c?page=5415", f"c__q_327e8aeb_{h(f'{SITE}/c?page=5415')}.md"),
        ("index.md", f"{SITE}/index.html", f"index_{h(f'{SITE}/index.html')}.md"),
        ("example.com/index.md", f"{SITE}/", f"example.com/index_{h(f'{SITE}/')}.md"),
        ("example.com/p/index.md", f"{SITE}/p", f"example.com/p_{h(f'{SITE}/p')}.md"),
        ("logo.png", f"{SITE}/Logo.png", f"logo_{h(f'{SITE}/Logo.png')}.png"),
    ],
)
def test_colliding_path_gets_the_hash_of_its_url(path: str, url: str, other: str) -> None:
    """The hash goes after the stem, beside the winner's folder; nothing leaves its host's folder."""
    assert collision_path(path, url) == other


def test_lengthened_hashes_still_fit() -> None:
    """However long path and hash are, the name obeys the limits."""
    url = url_for("/".join(["y" * 150] * 6 + ["x" * 80]))
    path = page_path(url)
    for digits in (8, 32, 96):
        assert objections(collision_path(path, url, digits)) == []
        assert objections(moved_folder(path, "/".join(["y" * 150] * 2), url, digits)) == []
        assert h(url, min(digits, 32)) in collision_path(path, url, digits)


def test_folder_that_collides_with_a_file_is_renamed() -> None:
    """Only the colliding component is renamed."""
    url = f"{SITE}/a/index.md/b"
    assert moved_folder("a/index.md/b/index.md", "a/index.md", url) == f"a/index.md_{h(url)}/b/index.md"


def test_folders_are_named_outermost_first() -> None:
    """Every folder a path needs, and not the file itself."""
    assert list(folders_above("a/b/c.md")) == ["a", "a/b"]
    assert list(folders_above("c.md")) == []


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("https://docs.example.com/", "docs.example.com"),
        ("http://Docs.Example.com:80/x", "docs.example.com"),
        ("http://host:8080/", "host_8080"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("http://192.0.2.1:81/", "192.0.2.1_81"),
        ("http://[2001:db8::1]/", "@ipv6-2001-db8--1"),
        ("http://[2001:db8::1]:81/", "@ipv6-2001-db8--1_81"),
        ("http://aux.example/", "aux@.example"),
        ("http://../", "@.@2e"),
    ],
)
def test_host_folders_follow_the_contract(url: str, folder: str) -> None:
    """The host, except for characters that are not portable."""
    assert host_folder(normalize(url)) == folder


def test_distinct_hosts_have_distinct_folders() -> None:
    """No host can be named so that its mirror falls into another's folder."""
    hosts = [
        "foo",
        "foo:8080",
        "foo_8080",
        "foo_8080:80",
        "foo_8080_",
        "foo_",
        "foo__",
        "foo_:8080",
        "foo.",
        "foo.:8080",
    ]
    hosts += [
        "con",
        "con:8080",
        "con_8080",
        "a*b",
        "a2ab",
        "[2a::1]",
        "[2a::1]:1",
        "2a--1",
        "*--1",
        "*--1:1",
        ".",
        "..",
    ]
    hosts += ["." + "a" * 300, "." + "a" * 301, "a" * 250, "a" * 250 + ":81", "ipv6-2a--1", '"', "aux", "aux.aux"]
    spelled = [f"http://{host}/" for host in hosts]
    names = {host_folder(normalize(url)).casefold() for url in spelled}
    assert len(names) == len({normalize(url) for url in spelled})
    assert {problem for name in names for problem in objections("x/" + name)} <= {"name too long"}
    assert max(map(len, names)) <= 240  # a host may have 253 characters, so 200 would cut real ones


@given(urls(), st.sampled_from([".md", ".html"]))
def test_any_url_maps_to_a_portable_page_path(url: str, extension: str) -> None:
    """Inside the root, valid everywhere, clear of our own files, the same every time."""
    path = page_path(url, extension)
    assert objections(path) == []
    assert path.endswith(extension)
    assert page_path(url, extension) == path
    assert objections(collision_path(path, url)) == []


@given(urls())
def test_any_url_maps_to_a_portable_asset_path(url: str) -> None:
    """What holds for pages holds for assets, which keep their own names."""
    path = asset_path(url)
    assert objections(path) == []
    assert objections(collision_path(path, url, 32)) == []
