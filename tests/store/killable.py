"""A mirror whose program can be killed before each single thing it does to the disk or to the state."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sitemirror.run.finish import _settle
from sitemirror.run.session import Session
from sitemirror.store.database import State
from sitemirror.store.files import Tree
from sitemirror.store.paths import asset_path, page_path
from sitemirror.store.placement import finish_moves
from sitemirror.store.restore import Remembered, Restorer

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
