"""Any plan of moves is completed, with a kill before each of its steps."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemirror.store.paths import folders
from sitemirror.store.placement import Move, finish_moves, start_moves
from tests.store.killable import HOST, Mirror


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
def test_named_plans_are_completed(ways: dict[str, str], tmp_path: Path) -> None:
    """Swaps, cycles, chains, and files and folders that exchange names."""
    _check_plan(tmp_path, ways, ["z/bystander"])


_NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)


def _apart(paths: Sequence[str]) -> bool:
    """Whether these can be files at the same time."""
    return not {folder for path in paths for folder in folders(path)} & set(paths)


@settings(max_examples=15)
@given(st.data())
def test_random_plans_are_completed(data: st.DataObject) -> None:
    """Any files to any places, some to none."""
    olds = data.draw(st.lists(_NAMES, min_size=1, max_size=5, unique=True).filter(_apart))
    news = st.lists(_NAMES, min_size=len(olds), max_size=len(olds), unique=True).filter(_apart)
    places = [place if data.draw(st.integers(0, 4)) else "" for place in data.draw(news)]
    with tempfile.TemporaryDirectory() as folder:
        _check_plan(Path(folder), dict(zip(olds, places, strict=True)))
