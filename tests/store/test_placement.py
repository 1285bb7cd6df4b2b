"""Two URLs, one path: which keeps it, and that nothing is ever overwritten."""

from __future__ import annotations

import random
from hashlib import md5

from hypothesis import given
from hypothesis import strategies as st

from sitemirror.store.paths import asset_path, fold, folders, page_path
from sitemirror.store.placement import settle
from tests.store.naming import SITE, objections, url_for, urls


def h(text: str, digits: int = 8) -> str:
    return md5(text.encode()).hexdigest()[:digits]


def wanted(*found: str) -> list[tuple[str, str, str | None]]:
    return [(url, page_path(url), None) for url in found]


def assert_apart(paths: list[str]) -> None:
    """No two are one file, and none stands where another needs a folder."""
    files = [fold(path) for path in paths]
    assert len(set(files)) == len(files)
    assert not set(files) & {folder for path in files for folder in folders(path)}


def test_the_url_that_sorts_first_keeps_the_path() -> None:
    """`/p` before `/p/`, whichever was fetched first."""
    first, second = f"{SITE}/p", f"{SITE}/p/"
    expected = {first: "p/index.md", second: f"p_{h(second)}.md"}
    assert settle(wanted(first, second)) == expected
    assert settle(wanted(second, first)) == expected


def test_published_path_never_moves() -> None:
    """A new page that sorts first does not displace a published one."""
    first, second = f"{SITE}/p", f"{SITE}/p/"
    assert settle([(first, "p/index.md", None), (second, "p/index.md", "p/index.md")]) == {
        first: f"p_{h(first)}.md",
        second: "p/index.md",
    }
    old = f"p_{h(second)}.md"
    assert settle([(second, "p/index.md", old)]) == {second: old}


def test_paths_that_differ_in_case_or_composition_collide() -> None:
    """macOS and Windows would make one file of them."""
    upper, lower = url_for("Docs/%C3%89t%C3%A9"), url_for("docs/e%CC%81t%C3%A9")
    settled = settle(wanted(upper, lower))
    assert settled[upper] == "Docs/Été/index.md"
    assert settled[lower] == f"docs/été_{h(lower)}.md"


def test_queries_with_one_short_hash_are_both_kept() -> None:
    """`page=179844` and `page=5415` share eight digits of md5."""
    one, other = f"{SITE}/c?page=179844", f"{SITE}/c?page=5415"
    assert settle(wanted(one, other)) == {one: "c__q_327e8aeb.md", other: f"c__q_327e8aeb_{h(other)}.md"}


def test_file_yields_to_a_folder_that_sorts_first() -> None:
    """`/?x` is a file at the root; a page below a segment of that name needs a folder there."""
    file = f"{SITE}/a/?x"
    below = f"{SITE}/a/%69ndex__q_{h('x')}.md/deep"
    assert below < file
    settled = settle(wanted(file, below))
    assert settled[below] == f"a/index__q_{h('x')}.md/deep/index.md"
    assert settled[file] == f"a/index__q_{h('x')}_{h(file)}.md"


def test_folder_yields_to_a_file_that_sorts_first() -> None:
    """`/` is `index.md`, so `/index.md/deep` cannot have a folder of that name."""
    settled = settle(wanted(f"{SITE}/index.md/deep", f"{SITE}/Index.md/too", f"{SITE}/"))
    assert settled[f"{SITE}/"] == "index.md"
    assert settled[f"{SITE}/index.md/deep"] == f"index.md_{h(f'{SITE}/index.md/deep')}/deep/index.md"
    assert settled[f"{SITE}/Index.md/too"] == f"Index.md_{h(f'{SITE}/Index.md/too')}/too/index.md"


def test_renamed_page_gets_no_other_pages_preferred_path() -> None:
    """The hash is lengthened until the name is free."""
    loser = f"{SITE}/logo.png"
    taken = f"{SITE}/logo_{h(loser)}.png"
    pages = [(url, asset_path(url), None) for url in (f"{SITE}/Logo.png", loser, taken)]
    settled = settle(pages)
    assert settled[taken] == f"logo_{h(loser)}.png"
    assert settled[loser] == f"logo_{h(loser, 9)}.png"


def test_names_in_use_elsewhere_are_not_allocated() -> None:
    """A caller that places only the conflicts passes the paths in use by the rest."""
    first, second = f"{SITE}/P", f"{SITE}/p"
    used = {f"p_{h(second)}.md", f"p_{h(second, 9)}.md"}
    assert settle(wanted(first, second), used.__contains__)[second] == f"p_{h(second, 10)}.md"


def test_hosts_do_not_collide() -> None:
    """Equal paths of two hosts are no conflict, and a renamed page stays with its host."""
    pages = [
        ("http://a.test/", "a.test/index.md", None),
        ("http://b.test/", "b.test/index.md", None),
        ("http://b.test/index.html", "b.test/index.md", None),
    ]
    assert settle(pages)["http://b.test/index.html"] == f"b.test/index_{h('http://b.test/index.html')}.md"


@given(st.lists(urls(), unique=True, max_size=12), st.randoms(use_true_random=False))
def test_no_two_urls_share_a_file_and_order_does_not_matter(found: list[str], shuffle: random.Random) -> None:
    """For any set of URLs, in any order: one file each, no file in a folder's place, every name valid."""
    pages = wanted(*found)
    settled = settle(pages)
    assert set(settled) == set(found)
    assert_apart(list(settled.values()))
    assert [problem for path in settled.values() for problem in objections(path)] == []
    shuffle.shuffle(pages)
    assert settle(pages) == settled


@given(st.lists(urls(), unique=True, max_size=10), st.integers(0, 10))
def test_second_run_moves_no_published_path(found: list[str], count: int) -> None:
    """New pages are placed around the published ones."""
    published = settle(wanted(*found[:count]))
    settled = settle((url, page_path(url), published.get(url)) for url in found)
    assert {url: settled[url] for url in published} == published
    assert_apart(list(settled.values()))


@given(st.lists(urls(), unique=True, max_size=10))
def test_placing_only_the_conflicts_gives_the_same_paths(found: list[str]) -> None:
    """A large mirror need not be held in memory."""
    pages = wanted(*found)
    folds = [fold(path) for _, path, _ in pages]
    needed = {folder for path in folds for folder in folders(path)}
    shared = {path for path in folds if folds.count(path) > 1 or path in needed}
    hit = [any(f == s or f.startswith(s + "/") for s in shared) for f in folds]
    rest = [path for path, conflict in zip(folds, hit, strict=True) if not conflict]
    used = {*rest, *(folder for path in rest for folder in folders(path))}
    partly = {url: path for (url, path, _), conflict in zip(pages, hit, strict=True) if not conflict}
    conflicts = (page for page, conflict in zip(pages, hit, strict=True) if conflict)
    partly |= settle(conflicts, lambda path: fold(path) in used)
    assert partly == settle(pages)


def test_many_conflicts_are_placed_in_linear_time() -> None:
    """Time grows with the number of pages, not with its square."""
    count = 20_000
    found = [url for number in range(count // 2) for url in (f"{SITE}/p{number}", f"{SITE}/P{number}/")]
    settled = settle(wanted(*found))
    assert len(set(settled.values())) == count
