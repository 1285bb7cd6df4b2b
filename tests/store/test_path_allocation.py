"""Two URLs, one path: which keeps it, that nothing is ever overwritten, and that a kill changes nothing."""

from __future__ import annotations

import random
import tempfile
from hashlib import md5
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemirror.store.paths import asset_path, fold, folders_above, page_path
from sitemirror.store.tables import FileKind
from tests.store.naming import SITE, objections, url_for, urls
from tests.store.placed import Placed, settled


def h(text: str, digits: int = 8) -> str:
    return md5(text.encode()).hexdigest()[:digits]


def assert_apart(paths: list[str]) -> None:
    """No two are one file, and none stands where another needs a folder."""
    files = [fold(path) for path in paths]
    assert len(set(files)) == len(files)
    assert not set(files) & {folder for path in files for folder in folders_above(path)}


def test_the_url_that_sorts_first_keeps_the_path(tmp_path: Path) -> None:
    """`/p` before `/p/`, whichever was fetched first."""
    first, second = f"{SITE}/p", f"{SITE}/p/"
    expected = {first: "p/index.md", second: f"p_{h(second)}.md"}
    assert settled(tmp_path / "a", (first, second)) == expected
    assert settled(tmp_path / "b", (second, first)) == expected


def test_published_path_never_moves(tmp_path: Path) -> None:
    """A new page that sorts first does not displace a published one."""
    first, second = f"{SITE}/p", f"{SITE}/p/"
    placed = Placed(tmp_path / "a")
    placed.save(second, "p/index.md", at="p/index.md")
    placed.save(first, "p/index.md")
    placed.settle()
    assert placed.paths == {first: f"p_{h(first)}.md", second: "p/index.md"}
    alone = Placed(tmp_path / "b")
    alone.save(second, "p/index.md", at=f"p_{h(second)}.md")
    alone.settle()
    assert alone.paths == {second: f"p_{h(second)}.md"}


def test_page_comes_home_when_its_rival_is_no_page(tmp_path: Path) -> None:
    """What turned out a redirect has no file: nobody keeps an odd name for it, unless it is published."""
    first, second = f"{SITE}/p", f"{SITE}/p/"
    placed = Placed(tmp_path)
    for url in (first, second):
        placed.save(url, "p/index.md")
    placed.db.execute("DELETE FROM file WHERE path = 'p/index.md'")
    placed.tree.remove("p/index.md")
    placed.settle()
    assert placed.paths == {second: "p/index.md"}
    assert placed.is_right()


def test_gone_page_gives_way_to_one_with_its_very_path(tmp_path: Path) -> None:
    """A site that drops `.html` from its URLs has all its pages so; only some systems take `P` for `p`."""
    old, new, upper = f"{SITE}/p.html", f"{SITE}/p", f"{SITE}/P"
    placed = Placed(tmp_path)
    placed.save(old, "p/index.md", at="p/index.md")
    placed.save(upper + "2", "P2/index.md", at="P2/index.md")
    placed.db.execute("UPDATE url SET gone_since = '2026-01-01T00:00:00Z', gone_cause = 1")
    placed.save(new, "p/index.md")
    placed.save(f"{SITE}/p2", "p2/index.md")
    placed.settle()
    assert placed.paths == {new: "p/index.md", upper + "2": "P2/index.md", f"{SITE}/p2": f"p2_{h(f'{SITE}/p2')}.md"}
    assert placed.is_right()


def test_paths_that_differ_in_case_or_composition_collide(tmp_path: Path) -> None:
    """macOS and Windows would make one file of them."""
    upper, lower = url_for("Docs/%C3%89t%C3%A9"), url_for("docs/e%CC%81t%C3%A9")
    found = settled(tmp_path, (lower, upper))
    assert found[upper] == "Docs/Été/index.md"
    assert found[lower] == f"docs/été_{h(lower)}.md"


def test_queries_with_one_short_hash_are_both_kept(tmp_path: Path) -> None:
    """`page=179844` and `page=5415` share eight digits of md5."""
    one, other = f"{SITE}/c?page=179844", f"{SITE}/c?page=5415"
    assert settled(tmp_path, (other, one)) == {one: "c__q_327e8aeb.md", other: f"c__q_327e8aeb_{h(other)}.md"}


@pytest.mark.parametrize("order", [1, -1])
def test_folder_of_pages_is_never_the_file_of_one(order: int, tmp_path: Path) -> None:
    """A folder that is named like a page's file has another name, so that they cannot meet."""
    found = [f"{SITE}/", f"{SITE}/index.md/deep", f"{SITE}/Index.md/too", f"{SITE}/a/?x", f"{SITE}/a/%69ndex.html/deep"]
    paths = settled(tmp_path, found[::order])
    assert paths == {url: page_path(url) for url in found}
    assert_apart(list(paths.values()))


def test_html_beside_markdown_goes_along(tmp_path: Path) -> None:
    """Both files of a page have one name, and an asset that has one of these yields."""
    first, second, asset = f"{SITE}/p", f"{SITE}/p/", f"{SITE}/p/index.html"
    placed = Placed(tmp_path, has_assets=True)
    placed.save(second, "p/index.md", both=True)
    placed.save(first, "p/index.md", both=True)
    placed.save(asset, "p/index.html", kind=FileKind.ASSET)
    placed.settle()
    assert placed.is_right()
    assert placed.paths[first] == "p/index.md"
    assert placed.paths[second] == f"p_{h(second)}.md"
    assert placed.files["p/index.html"] == first


@pytest.mark.parametrize("order", [1, -1])
def test_asset_yields_to_the_folder_of_pages(order: int, tmp_path: Path) -> None:
    """Nobody looks for an asset by its name: pages below have their paths, whichever came first."""
    asset, page = f"{SITE}/data", f"{SITE}/data/x"
    placed = Placed(tmp_path, has_assets=True)
    for url in [asset, page][::order]:
        if url == asset:
            placed.save(url, asset_path(url), kind=FileKind.ASSET)
        else:
            placed.save(url, page_path(url, ".html"), kind=FileKind.HTML)
    placed.settle()
    assert placed.is_right()
    assert_apart(list(placed.paths.values()))
    assert placed.paths[page] == "data/x/index.html"
    assert placed.paths[asset] == f"data_{h(asset)}"


def test_foreign_files_stay(tmp_path: Path) -> None:
    """A page whose path is a folder with somebody's file in it has a name of its own, and the state has it."""
    placed = Placed(tmp_path, has_assets=True)
    placed.tree.write("data/notes.txt", b"nobody's")
    placed.save(f"{SITE}/data", asset_path(f"{SITE}/data"), kind=FileKind.ASSET)
    placed.settle()
    assert placed.files == {"data/notes.txt": "nobody's", f"data_{h(f'{SITE}/data')}": f"{SITE}/data"}


@settings(max_examples=60, deadline=None)
@given(st.lists(urls(), unique=True, max_size=12), st.randoms(use_true_random=False))
def test_no_two_urls_share_a_file_and_order_does_not_matter(found: list[str], shuffle: random.Random) -> None:
    """For any set of URLs, in any order: one file each, no file in a folder's place, every name valid."""
    with tempfile.TemporaryDirectory() as folder:
        paths = settled(Path(folder) / "a", found)
        assert set(paths) == set(found)
        assert_apart(list(paths.values()))
        assert [problem for path in paths.values() for problem in objections(path)] == []
        shuffle.shuffle(found)
        assert settled(Path(folder) / "b", found) == paths


@settings(max_examples=60, deadline=None)
@given(st.lists(urls(), unique=True, max_size=10), st.integers(0, 10))
def test_second_run_moves_no_published_path(found: list[str], pages: int) -> None:
    """New pages are placed around the published ones."""
    with tempfile.TemporaryDirectory() as folder:
        placed = Placed(Path(folder))
        for url in found[:pages]:
            placed.save(url, page_path(url))
        placed.settle()
        published = placed.paths
        for url in found[pages:]:
            placed.save(url, page_path(url))
        placed.settle()
        assert {url: placed.paths[url] for url in published} == published
        assert_apart(list(placed.paths.values()))
        assert placed.is_right()


RIVALS = {
    "two change places": ["/p/", "/p"],
    "three want one path": ["/p/", "/P", "/p"],
    "the hashed path of one is preferred by another": ["/logo.png", f"/logo_{h(f'{SITE}/logo.png')}.png", "/Logo.png"],
    "two pairs": ["/p/", "/p", "/q/", "/q", "/r"],
}


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("rivals", RIVALS)
def test_kill_before_any_operation_gives_the_same_tree(rivals: str, both: bool, tmp_path: Path) -> None:
    """Interrupted once or twice: each file is where its row says, and in the same place as without a kill."""
    names = RIVALS[rivals]
    is_asset = names[0].endswith(".png")
    expected: dict[str, str] = {}
    for kill in count(-1):
        placed = Placed(tmp_path / f"{kill}", has_assets=is_asset)
        for name in names:
            url = SITE + name
            if is_asset:
                placed.save(url, asset_path(url), kind=FileKind.ASSET)
            else:
                placed.save(url, page_path(url), both=both)
        before = placed.files
        placed.settle(*([kill, kill // 2] if kill >= 0 else []))
        assert placed.is_right(), kill
        expected = expected or placed.files
        assert placed.files == expected
        if kill > len(before) * 2:
            break
    assert_apart(list(expected))
