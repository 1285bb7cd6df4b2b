"""Files change places, and the program is killed before each single thing it does to the disk or to the state."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import md5
from itertools import count
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemirror.engine.publication import _settle
from sitemirror.engine.session import Session
from sitemirror.store.files import Tree
from sitemirror.store.moves import ASIDE, Move, finish_moves, start_moves
from sitemirror.store.paths import asset_path, collision_path, folders, moved_folder, page_path
from sitemirror.store.placement import Placement
from sitemirror.store.restore import Remembered, Restorer
from sitemirror.store.settle import settle
from sitemirror.store.state import State

HOST = "site.test"
SITE = f"http://{HOST}"
_STATE = "_state.sqlite3"

# --- a program that can be killed at any moment ------------------------------------------------------------------


class Killed(BaseException):
    """The program is gone."""


class _Fate:
    """How many more things may happen. After the last one nothing does, as nothing is done by a dead program."""

    def __init__(self) -> None:
        self.left: int | None = None

    def step(self) -> None:
        if self.left is not None:
            if not self.left:
                raise Killed
            self.left -= 1


_fate = _Fate()


class _Connection(sqlite3.Connection):
    """What is not committed when the program dies has never been."""

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            _fate.step()
        return super().execute(sql, *parameters)


def _mortal(act: Callable[..., Any]) -> Callable[..., Any]:
    def acting(*arguments: Any, **options: Any) -> Any:
        _fate.step()
        return act(*arguments, **options)

    return acting


@contextmanager
def _killed_after(steps: int) -> Iterator[None]:
    """The block is left after so many changes to files and commits, unless it ends before."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("rename", "replace", "rmdir", "mkdir", "unlink"):
            patch.setattr(os, name, _mortal(getattr(os, name)))
        _fate.left = steps
        try:
            yield
        finally:
            _fate.left = None


# --- a mirror ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Saved:
    """A URL's file: where it is, if not where it wants to be, and what else is known of it."""

    url: str
    at: str = ""
    kind: str = "page"
    body: str = ""  # pages with the same are equal
    both: bool = False  # Markdown with the HTML beside it

    @property
    def wanted(self) -> str:
        if self.kind == "asset":
            return f"{HOST}/{asset_path(self.url)}"
        return f"{HOST}/{page_path(self.url, '.md' if self.both else '.html')}"

    @property
    def path(self) -> str:
        return f"{HOST}/{self.at}" if self.at else self.wanted

    @property
    def html_path(self) -> str | None:
        if self.kind == "asset":
            return None
        return self.path.removesuffix(".md") + ".html" if self.both else self.path


@lru_cache(maxsize=1)
def _empty_state() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        State.open(Path(folder) / _STATE).close()
        return (Path(folder) / _STATE).read_bytes()


class Mirror:
    """A folder with files, each saying whose it is, and the state that knows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = Tree(folder, min_free_mb=0)

    def copied(self, folder: Path) -> Mirror:
        copytree(self.folder, folder)
        return Mirror(folder)

    def begin(self, pages: Sequence[Saved], others: Sequence[str]) -> None:
        """`others` are files of nobody; a name with a slash at its end is an empty folder."""
        (self.folder / HOST).mkdir(parents=True)
        (self.folder / HOST / _STATE).write_bytes(_empty_state())
        with self.state() as state, state.transaction() as db:
            restorer = Restorer(state)
            for number, page in enumerate(pages, 1):
                for path in {page.path, page.html_path} - {None}:
                    self.put(str(path), f"{page.url} {Path(str(path)).suffix}".strip())
                restorer.page(Remembered(page.url, page.path, page.wanted, html_path=page.html_path))
                db.execute("UPDATE url SET kind = ? WHERE id = ?", (1 if page.kind == "page" else 2, number))
                db.execute("UPDATE page SET body = ? WHERE id = ?", (page.body.encode() or None, number))
        for other in others:
            if other.endswith("/"):
                (self.folder / HOST / other).mkdir(parents=True)
            else:
                self.put(f"{HOST}/{other}", "nobody's")

    def put(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    @contextmanager
    def state(self) -> Iterator[State]:
        path = self.folder / HOST / _STATE
        db = sqlite3.connect(path, isolation_level=None, factory=_Connection)
        db.execute("PRAGMA synchronous = OFF")  # Programs die here, not machines.
        try:
            yield State(path, db)
        finally:
            db.close()

    def finish(self) -> None:
        """What a run does: it makes good what one before it has left, and settles when it ends."""
        with self.state() as state:
            finish_moves(state, self.tree)
            _settle(cast(Session, SimpleNamespace(warn=lambda _: None)), state, self.tree)

    def killed(self, run: Callable[[], None], after: int) -> bool:
        """Whether the kill came before the end."""
        try:
            with _killed_after(after):
                run()
        except Killed:
            return True
        return False

    @property
    def files(self) -> dict[str, str | None]:
        """Everything there is below the host's folder but the state: what files say, None for folders."""
        top = self.folder / HOST
        return {
            path.relative_to(top).as_posix(): path.read_text("utf-8") if path.is_file() else None
            for path in top.rglob("*")
            if not path.name.startswith(_STATE)
        }

    @property
    def rows(self) -> dict[str, tuple[str, str | None, int, str | None]]:
        """URL → (path, HTML's path, status, the URL it leads to)."""
        with self.state() as state:
            found = state.db.execute(
                "SELECT url.url, path, html_path, url.status, other.url FROM page JOIN url USING (id) "
                "LEFT JOIN url AS other ON other.id = url.leads_to"
            )
            return {url: tuple(rest) for url, *rest in found}

    @property
    def notes(self) -> set[str]:
        """What the state has to remember."""
        with self.state() as state:
            return {row[0] for row in state.db.execute("SELECT name FROM meta")}


# --- whole mirrors -----------------------------------------------------------------------------------------------


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
def test_killed_before_every_step_the_mirror_is_the_same(shape: str, tmp_path: Path) -> None:
    """Wherever settling is cut off, once or twice: files, folders and rows end as if nobody had disturbed it."""
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
        assert killed.notes == whole.notes == set()
    assert steps >= (2 if expected == {page.url: page.path for page in pages} and not others else 4)


def test_a_settled_mirror_is_left_alone(tmp_path: Path) -> None:
    """Settling again finds nothing to do."""
    for number, (pages, others) in enumerate(SHAPES.values()):
        mirror = Mirror(tmp_path / str(number))
        mirror.begin(pages, others)
        mirror.finish()
        before = mirror.files, mirror.rows
        with mirror.state() as state:
            assert Placement(state, mirror.tree).moves() == []
        mirror.finish()
        assert (mirror.files, mirror.rows) == before


def test_what_somebody_put_into_a_folder_stays(tmp_path: Path) -> None:
    """A page whose name is a folder with a stranger's file keeps its odd name, and the state says so."""
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


def test_what_somebody_put_in_place_of_a_folder_stays(tmp_path: Path) -> None:
    """A page below a name at which a stranger's file is keeps its odd name, and the state says so."""
    odd = _beside(f"{SITE}/data/x", "data")
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/data/x", odd)], ["data"])
    mirror.finish()
    assert mirror.rows[f"{SITE}/data/x"][0] == f"{HOST}/{odd}"
    assert mirror.files["data"] == "nobody's"
    assert mirror.files[odd] == f"{SITE}/data/x .html"


def test_a_file_with_two_names_is_not_taken_for_two(tmp_path: Path) -> None:
    """Where case does not count, `p/index.html` is there because `P/index.html` is: it is nobody's leftover."""
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/P"), _page("/p", _provisional(f"{SITE}/p"))], [])
    (tmp_path / HOST / "p").mkdir()
    (tmp_path / HOST / "p/index.html").hardlink_to(tmp_path / HOST / "P/index.html")
    with mirror.state() as state:
        assert Placement(state, mirror.tree).moves() == []


def test_moved_files_are_looked_at_after_a_power_cut(tmp_path: Path) -> None:
    """Renames may be lost with the system's cache, so the next run compares what moved with its hash."""
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/p", _provisional(f"{SITE}/p")), _page("/p/"), _page("/q")], [])
    mirror.finish()
    with mirror.state() as state:
        unsure = state.db.execute("SELECT url FROM page JOIN url USING (id) WHERE durable = 0 ORDER BY url")
        assert unsure.fetchall() == [(f"{SITE}/p",), (f"{SITE}/p/",)]


# --- any plan ----------------------------------------------------------------------------------------------------


def _moves(ways: Mapping[str, str]) -> list[Move]:
    return [Move(0, f"{HOST}/{old}", new and f"{HOST}/{new}") for old, new in ways.items()]


def _check_plan(folder: Path, ways: Mapping[str, str], bystanders: Sequence[str] = ()) -> None:
    """Carries a plan out, killed before each of its steps."""
    start = Mirror(folder / "start")
    start.begin([], [])
    for path in (*ways, *bystanders):
        start.put(f"{HOST}/{path}", path)
    with start.state() as state, state.transaction():
        start_moves(state, _moves(ways))
    for steps in count():
        mirror = start.copied(folder / str(steps))

        def run(mirror: Mirror = mirror) -> None:
            with mirror.state() as state:
                finish_moves(state, mirror.tree)

        killed = mirror.killed(run, steps)
        if killed:
            mirror.killed(run, steps // 3)
            run()
        files = {path: text for path, text in mirror.files.items() if text is not None}
        assert files == {new: old for old, new in ways.items() if new} | {path: path for path in bystanders}
        assert {path for path, text in mirror.files.items() if text is None} == {
            folder for path in files for folder in folders(path)
        }
        if not killed:
            return


@pytest.mark.parametrize(
    "ways",
    [
        {"a": "b", "b": "a"},
        {"a": "b", "b": "c", "c": "a"},
        {"a": "b", "b": "c", "c": "d"},
        {"c": "d", "b": "c", "a": "b"},
        {"a": "a/b"},
        {"a/b": "a"},
        {"a/b/c": "a", "a/d": "e"},
        {"a": "b/x", "b": "a/x"},
        {"a/x": "b", "b/x": "a"},
        {"a/x": "b/x/y", "b": "a"},
        {"a": "", "b": "a", "c": "b"},
        {"a/x": "", "a/y/z": "", "b": "a"},
        {"A": "a", "b": "A2"},
    ],
    ids=lambda ways: ", ".join(f"{old}-{new or 'nowhere'}".replace("/", ":") for old, new in ways.items()),
)
def test_a_plan_is_carried_out_whatever_it_is(ways: dict[str, str], tmp_path: Path) -> None:
    """Swaps, circles, chains, and files and folders that take each other's names."""
    _check_plan(tmp_path, ways, ["z/bystander"])


_NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)


def _apart(paths: Sequence[str]) -> bool:
    """Whether these can be files at the same time."""
    return not {folder for path in paths for folder in folders(path)} & set(paths)


@settings(max_examples=15)
@given(st.data())
def test_any_plan_is_carried_out(data: st.DataObject) -> None:
    """Any files to any places, some to none."""
    olds = data.draw(st.lists(_NAMES, min_size=1, max_size=5, unique=True).filter(_apart))
    news = st.lists(_NAMES, min_size=len(olds), max_size=len(olds), unique=True).filter(_apart)
    places = [place if data.draw(st.integers(0, 4)) else "" for place in data.draw(news)]
    with tempfile.TemporaryDirectory() as folder:
        _check_plan(Path(folder), dict(zip(olds, places, strict=True)))


def test_what_a_lost_state_left_aside_is_in_nobodys_way(tmp_path: Path) -> None:
    """A kill in the middle, and the state deleted: the next plan is carried out all the same."""
    mirror = Mirror(tmp_path)
    mirror.begin([_page("/p", _provisional(f"{SITE}/p")), _page("/p/")], [f"{ASIDE}/{number}" for number in range(4)])
    mirror.finish()
    assert mirror.rows[f"{SITE}/p"][0] == f"{HOST}/p/index.html"
    assert mirror.files["p/index.html"] == f"{SITE}/p .html"
