"""Nothing is read or written outside the tree, whatever links, pipes and paths are planted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitemirror.errors import OutputError
from sitemirror.store.files import Tree
from sitemirror.store.safe_folders import SteppedFolders
from tests.store.conftest import everything, no_symlinks


@no_symlinks
def test_symlink_in_place_of_a_folder_is_refused(
    tree: Tree, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No operation follows it."""
    monkeypatch.setattr("sitemirror.store.files.others_sync", lambda _: False)  # Together no file is opened at all.
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old.md").write_bytes(b"theirs")
    (out / "host").mkdir()
    (out / "host" / "docs").symlink_to(outside, target_is_directory=True)
    tree.write("host/other.md", b"x")
    actions: list[Callable[[], Any]] = [
        lambda: tree.write("host/docs/new.md", b"x"),
        lambda: tree.write("host/docs/deep/new.md", b"x"),
        lambda: tree.append("host/docs/log.txt", b"x\n"),
        lambda: tree.rename("host/other.md", "host/docs/new.md"),
        lambda: tree.rename("host/docs/old.md", "host/new.md"),
        lambda: tree.remove("host/docs/old.md"),
        lambda: tree.read("host/docs/old.md"),
        lambda: tree.exists("host/docs/old.md"),
        lambda: tree.touch("host/docs/old.md", 0),
        lambda: tree.sync(["host/docs/old.md"]),
    ]
    for action in actions:
        with pytest.raises(OutputError, match="host/docs is a symlink") as caught:
            action()
        assert caught.value.hint
    assert everything(outside) == {"old.md"}
    assert (outside / "old.md").read_bytes() == b"theirs"


@no_symlinks
def test_symlink_in_place_of_a_file_is_replaced(tree: Tree, out: Path, tmp_path: Path) -> None:
    """Its target is untouched."""
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"theirs")
    (out / "a.md").symlink_to(theirs)
    assert not tree.exists("a.md")
    tree.write("a.md", b"ours")
    assert theirs.read_bytes() == b"theirs"
    assert not (out / "a.md").is_symlink()
    (out / "log").symlink_to(theirs)
    for action in (lambda: tree.append("log", b"x\n"), lambda: tree.read("log")):
        with pytest.raises(OutputError, match="log is a symlink"):
            action()
    tree.remove("log")
    assert theirs.read_bytes() == b"theirs"


@no_symlinks
def test_output_folder_may_be_a_symlink(out: Path, tmp_path: Path) -> None:
    """The output folder is the user's choice."""
    (tmp_path / "disk").mkdir()
    out.symlink_to(tmp_path / "disk")
    tree = Tree(out, min_free_mb=0)
    tree.prepare()
    tree.write("a/b.md", b"x")
    assert (tmp_path / "disk/a/b.md").read_bytes() == b"x"


@no_symlinks
def test_folder_replaced_by_a_symlink_between_writes_is_noticed(tree: Tree, out: Path, tmp_path: Path) -> None:
    """Nothing known about a folder is trusted the next time."""
    tree.write("a/b/one.md", b"x")
    (out / "a/b").rename(tmp_path / "moved")
    (out / "a/b").symlink_to(tmp_path / "moved")
    with pytest.raises(OutputError, match="symlink"):
        tree.write("a/b/two.md", b"x")
    assert everything(tmp_path / "moved") == {"one.md"}


def test_folder_deleted_between_writes_is_created_again(tree: Tree, out: Path) -> None:
    """A mirror can be cleared during a run."""
    tree.write("a/b/one.md", b"x")
    (out / "a/b/one.md").unlink()
    (out / "a/b").rmdir()
    tree.write("a/b/two.md", b"x")
    assert tree.exists("a/b/two.md")


@pytest.mark.parametrize("rel", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/", "a\0b"])
def test_paths_out_of_the_tree_are_refused(tree: Tree, rel: str, tmp_path: Path) -> None:
    """Even if the state were tampered with, no path leaves the tree."""
    before = everything(tmp_path)
    for action in (lambda: tree.write(rel, b"x"), lambda: tree.remove(rel), lambda: tree.read(rel)):
        with pytest.raises(OutputError, match="not a path inside"):
            action()
    assert everything(tmp_path) == before


def test_file_in_place_of_a_folder_is_an_error(tree: Tree) -> None:
    """And the other way round; a query is no error."""
    tree.write("a", b"x")
    with pytest.raises(OutputError, match=r"^a in the output folder is a file where a folder is needed$"):
        tree.write("a/b.md", b"x")
    assert not tree.exists("a/b.md")
    tree.remove("a/b.md")
    tree.write("c/d.md", b"x")
    with pytest.raises(OutputError, match=r"^cannot write .*c: something else"):
        tree.write("c", b"x")
    assert tree.is_folder("c")
    assert tree.exists("c/d.md")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_named_pipe_does_not_hang_the_run(tree: Tree, out: Path) -> None:
    """Opening a pipe would wait for its other end for ever."""
    os.mkfifo(out / "pipe")
    with pytest.raises(OutputError):
        tree.read("pipe")
    with pytest.raises(OutputError):
        tree.append("pipe", b"x\n")
    tree.write("pipe", b"x")
    assert tree.read("pipe") == b"x"


@no_symlinks
def test_sweep_does_not_leave_the_tree(tree: Tree, out: Path, tmp_path: Path) -> None:
    """A linked folder is not entered."""
    (tmp_path / "outside").mkdir()
    theirs = tmp_path / "outside" / ".sitemirror 0123456789abcdef.tmp"
    theirs.write_bytes(b"")
    (out / "link").symlink_to(tmp_path / "outside")
    assert tree.sweep_temporary() == 0
    assert theirs.exists()


@pytest.mark.skipif(os.name != "posix", reason="folders are opened from folders on POSIX only")
def test_interruption_between_two_folders_closes_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C right behind a close is not hidden by closing the same folder again, and nothing stays open."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    close, closed = os.close, list[int]()

    def interrupted_once(fd: int) -> None:
        close(fd)
        closed.append(fd)
        if len(closed) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        SteppedFolders(str(tmp_path)).find(["a", "b"])
    assert len(closed) == len(set(closed)) == 2, "the folder it came from and the one it had reached, once each"
