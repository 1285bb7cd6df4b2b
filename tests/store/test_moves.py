"""Moving files, with a kill before every single change of disk or state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import md5
from itertools import count
from pathlib import Path

import pytest

from sitemirror.store.paths import asset_path, collision_path, folders, moved_folder, page_path
from sitemirror.store.placement import ASIDE, MOVED, Placement, settle
from tests.store.killable import HOST, SITE, Mirror, Saved


def _provisional(url: str, kind: str = "page", extension: str = ".html", digits: int = 8) -> str:
    return collision_path(asset_path(url) if kind == "asset" else page_path(url, extension), url, digits)


def _beside(url: str, blocked: str, extension: str = ".html") -> str:
    return moved_folder(page_path(url, extension), blocked, url)


def _asset(path: str, at: str = "") -> Saved:
    return Saved(SITE + path, at, "asset")


def _page(path: str, at: str = "") -> Saved:
    return Saved(SITE + path, at)


_QUERY = f"index__q_{md5(b'x').hexdigest()[:8]}.html"
_LOGO = f"/logo_{md5(f'{SITE}/logo.png'.encode()).hexdigest()[:8]}.png"
_DATA = _provisional(f"{SITE}/data", "asset")

SHAPES: Mapping[str, tuple[list[Saved], list[str]]] = {
    "a file wants the name of a folder": ([_asset("/data", _DATA), _page("/data/x"), _page("/data/y/z")], []),
    "a file is at home, a folder beside it": (
        [_asset("/data"), _page("/data/x", _beside(f"{SITE}/data/x", "data"))],
        [],
    ),
    "a folder wants the name of a file": (
        [_page("/a/?x"), _page(f"/a/%69{_QUERY[1:]}/deep", _beside(f"{SITE}/a/%69{_QUERY[1:]}/deep", f"a/{_QUERY}"))],
        [],
    ),
    "two files change places": ([_page("/p", _provisional(f"{SITE}/p")), _page("/p/")], []),
    "three want one name": (
        [_page("/p", _provisional(f"{SITE}/p")), _page("/p/"), _page("/P", _provisional(f"{SITE}/P"))],
        [],
    ),
    "one takes the place of one who takes another": (
        [_asset("/Logo.png", _provisional(f"{SITE}/Logo.png", "asset")), _asset("/logo.png"), _asset(_LOGO)],
        [],
    ),
    "a provisional name is wanted": (
        [_asset("/Logo.png"), _asset("/logo.png", _LOGO[1:]), _asset(_LOGO, _provisional(SITE + _LOGO, "asset"))],
        [],
    ),
    "a file where a folder was, whose page goes where a file was": (
        [
            _asset("/data", _DATA),
            _page("/data/x"),
            _page("/data/p", f"data/p_{md5(f'{SITE}/data/p'.encode()).hexdigest()[:8]}.html"),
            _page("/data/p/"),
        ],
        [],
    ),
    "a page in a folder that is named like a page": (
        [_page("/"), _page("/index.html/deep", _beside(f"{SITE}/index.html/deep", "index.html"))],
        [],
    ),
    "pages of which some are one": (
        [
            Saved(f"{SITE}/t/", body="t"),
            Saved(f"{SITE}/t", _provisional(f"{SITE}/t"), body="t"),
            Saved(f"{SITE}/T", _provisional(f"{SITE}/T"), body="T"),
        ],
        [],
    ),
    "Markdown with its HTML": (
        [
            Saved(f"{SITE}/p/", both=True),
            Saved(f"{SITE}/p", _provisional(f"{SITE}/p", extension=".md"), both=True),
            Saved(f"{SITE}/data/x", both=True),
            _asset("/data", _DATA),
        ],
        [],
    ),
    "Markdown with its HTML, of which some are one": (
        [
            Saved(f"{SITE}/t/", body="t", both=True),
            Saved(f"{SITE}/t", _provisional(f"{SITE}/t", extension=".md"), body="t", both=True),
            Saved(f"{SITE}/T", _provisional(f"{SITE}/T", extension=".md"), body="T", both=True),
        ],
        [],
    ),
    "an empty folder was left at a name": ([_asset("/data", _DATA)], ["data/x/", "data/y/"]),
    "files were left at names before their rows were": (
        [_page("/p", _provisional(f"{SITE}/p")), _page("/p/")],
        [_provisional(f"{SITE}/p/")],
    ),
    "a file was left at the name that its page wants": (
        [_page("/P", _provisional(f"{SITE}/P")), _page("/p")],
        ["P/index.html"],
    ),
    "a file was left in a folder beside": (
        [_asset("/data", _DATA), _page("/data/x")],
        [_beside(f"{SITE}/data/x", "data")],
    ),
    "Markdown and HTML were left at names before their rows were": (
        [Saved(f"{SITE}/p", _provisional(f"{SITE}/p", extension=".md"), both=True), Saved(f"{SITE}/p/", both=True)],
        [_provisional(f"{SITE}/p/", extension=extension) for extension in (".md", ".html")],
    ),
    "Markdown and HTML were left that a page once had": (
        [Saved(f"{SITE}/p", both=True), Saved(f"{SITE}/p/", _provisional(f"{SITE}/p/", extension=".md"), both=True)],
        [_provisional(f"{SITE}/p", extension=extension) for extension in (".md", ".html")],
    ),
    "somebody's file is at the name that a page gets": (
        [_asset("/Logo.png"), _asset("/logo.png", _provisional(f"{SITE}/logo.png", "asset", digits=12)), _asset(_LOGO)],
        [_provisional(f"{SITE}/logo.png", "asset", digits=9)],
    ),
    "files were left at both provisional names of a page": (
        [_asset("/Logo.png"), _asset("/logo.png", _provisional(f"{SITE}/logo.png", "asset", digits=9)), _asset(_LOGO)],
        [_provisional(f"{SITE}/logo.png", "asset", digits=12), _provisional(f"{SITE}/Logo.png", "asset")],
    ),
}


def _expected(pages: Sequence[Saved]) -> dict[str, str]:
    """Who is where in the end, by the rule alone: of equal pages here the URL that sorts first stays."""
    kept: dict[str, Saved] = {}
    for page in sorted(pages, key=lambda page: page.url):
        kept.setdefault(page.body or page.url, page)
    return settle((page.url, page.wanted, None) for page in kept.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_kill_before_any_step_gives_the_same_mirror(shape: str, tmp_path: Path) -> None:
    """Interrupted once or twice: files, folders and rows are the same in the end."""
    pages, others = SHAPES[shape]
    start = Mirror(tmp_path / "start")
    start.begin(pages, others)
    whole = start.copied(tmp_path / "whole")
    whole.finish()
    expected = _expected(pages)
    assert {url: row[0] for url, row in whole.rows.items() if row[2] == 1} == expected
    said = {f"{HOST}/{path}": text for path, text in whole.files.items() if text is not None}
    assert {path: said[path].split()[0] for path in expected.values()} == {path: url for url, path in expected.items()}
    assert len(said) == sum(2 if page.both else 1 for page in pages if page.url in expected)
    assert {folder for path in said for folder in folders(path)} == {HOST} | {
        f"{HOST}/{path}" for path, text in whole.files.items() if text is None
    }
    for steps in count():
        killed = start.copied(tmp_path / f"killed-{steps}")
        if not killed.killed(killed.finish, steps):
            break
        killed.killed(killed.finish, steps // 2)
        killed.finish()
        assert (steps, killed.files) == (steps, whole.files)
        assert (steps, killed.rows) == (steps, whole.rows)
        assert killed.notes | whole.notes <= {MOVED}  # which is for the links between files
    assert steps >= (2 if expected == {page.url: page.path for page in pages} and not others else 4)


def test_placed_files_are_not_moved_again(tmp_path: Path) -> None:
    """A second placement finds nothing to do."""
    for number, (pages, others) in enumerate(SHAPES.values()):
        mirror = Mirror(tmp_path / str(number))
        mirror.begin(pages, others)
        mirror.finish()
        before = mirror.files, mirror.rows
        with mirror.state() as state:
            assert Placement(state, mirror.tree).moves() == []
        mirror.finish()
        assert (mirror.files, mirror.rows) == before


def test_foreign_file_in_a_folder_stays(tmp_path: Path) -> None:
    """A page whose path is a folder with a foreign file keeps its temporary name, and the state has it."""
    mirror = Mirror(tmp_path)
    mirror.begin([_asset("/data", _DATA), _page("/data/x")], ["data/notes.txt"])
    mirror.finish()
    assert mirror.files == {
        _DATA: f"{SITE}/data",
        "data": None,
        "data/notes.txt": "nobody's",
        "data/x": None,
        "data/x/index.html": f"{SITE}/data/x .html",
    }
    assert mirror.rows[f"{SITE}/data"][0] == f"{HOST}/{_DATA}"
    assert mirror.rows[f"{SITE}/data/x"][0] == f"{HOST}/data/x/index.html"


def test_foreign_file_in_place_of_a_folder_stays(tmp_path: Path) -> None:
    """A page below that path keeps its temporary name, and the state has it."""
    odd = _beside(f"{SITE}/data/x", "data")
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/data/x", odd)], ["data"])
    mirror.finish()
    assert mirror.rows[f"{SITE}/data/x"][0] == f"{HOST}/{odd}"
    assert mirror.files["data"] == "nobody's"
    assert mirror.files[odd] == f"{SITE}/data/x .html"


def test_case_insensitive_name_is_not_a_second_file(tmp_path: Path) -> None:
    """`p/index.html` exists because `P/index.html` does: it is no leftover."""
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/P"), _page("/p", _provisional(f"{SITE}/p"))], [])
    (tmp_path / HOST / "p").mkdir()
    (tmp_path / HOST / "p/index.html").hardlink_to(tmp_path / HOST / "P/index.html")
    with mirror.state() as state:
        assert Placement(state, mirror.tree).moves() == []


def test_moved_files_are_verified_after_a_power_cut(tmp_path: Path) -> None:
    """Renames may be lost with the system's cache, so the next run compares moved files with their hash."""
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/p", _provisional(f"{SITE}/p")), _page("/p/"), _page("/q")], [])
    mirror.finish()
    with mirror.state() as state:
        unsure = state.db.execute("SELECT url FROM page JOIN url USING (id) WHERE durable = 0 ORDER BY url")
        assert unsure.fetchall() == [(f"{SITE}/p",), (f"{SITE}/p/",)]


def test_files_set_aside_before_state_loss_do_not_block_moves(tmp_path: Path) -> None:
    """A kill midway, and the state deleted: the next plan is still completed."""
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/p", _provisional(f"{SITE}/p")), _page("/p/")], [f"{ASIDE}/{number}" for number in range(4)])
    mirror.finish()
    assert mirror.rows[f"{SITE}/p"][0] == f"{HOST}/p/index.html"
    assert mirror.files["p/index.html"] == f"{SITE}/p .html"
