"""Atomic writes and line logs, whatever the system refuses."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemirror.errors import OutputError
from sitemirror.store.files import Tree
from sitemirror.store.safe_folders import SteppedFolders
from tests.store.conftest import everything


def fail(monkeypatch: pytest.MonkeyPatch, function: str, number: int) -> None:
    """From now on the system answers calls of `function` with an error."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, function, refuse)


def test_write_creates_the_file_and_its_folders(tree: Tree, out: Path) -> None:
    """Bytes are exact, and no temporary file stays."""
    tree.write("host/a/b/index.md", b"one\r\n\x00")
    assert (out / "host/a/b/index.md").read_bytes() == b"one\r\n\x00"
    assert everything(out) == {"host", "host/a", "host/a/b", "host/a/b/index.md"}


def test_rewrite_replaces_the_file_atomically(tree: Tree, out: Path) -> None:
    """An open handle keeps reading the old file."""
    tree.write("a.md", b"old" * 1000)
    with (out / "a.md").open("rb") as held:
        tree.write("a.md", b"new")
        assert held.read() == b"old" * 1000
    assert tree.read("a.md") == b"new"


def test_files_get_default_permissions(tree: Tree, out: Path) -> None:
    """A mirror is not private as temporary files are."""
    tree.write("a.md", b"")
    (out / "plain").write_bytes(b"")
    assert (out / "a.md").stat().st_mode == (out / "plain").stat().st_mode


def test_longest_names_can_be_written(tree: Tree) -> None:
    """The temporary name does not grow with the file's name."""
    name = "ж" * 118 + ".md"
    tree.write(f"a/{name}", b"x")
    assert tree.read(f"a/{name}") == b"x"


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EROFS, errno.ENAMETOOLONG, errno.EMFILE])
@pytest.mark.parametrize("function", ["open", "write", "replace"])
def test_os_errors_name_the_file_and_the_next_step(
    tree: Tree, out: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int
) -> None:
    """No raw error reaches the user, the old file stays, and nothing half-written does."""
    tree.write("a/x.md", b"old")
    with monkeypatch.context() as broken:
        fail(broken, function, number)
        with pytest.raises(OutputError) as caught:
            tree.write("a/x.md", b"new")
    assert caught.value.hint
    assert caught.value.message.startswith(f"cannot write {out / 'a/x.md'}: ")
    assert everything(out) == {"a", "a/x.md"}
    assert tree.read("a/x.md") == b"old"


def test_control_characters_in_a_path_do_not_reach_the_message(tree: Tree) -> None:
    """A name from the network cannot write to the terminal."""
    with pytest.raises(OutputError) as caught:
        tree.read("a\x1b[2J")
    assert "\x1b" not in caught.value.message


def test_short_writes_are_completed(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may write fewer bytes at a time than it was given."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    tree.write("a.md", b"0123456789" * 10)
    monkeypatch.undo()
    assert tree.read("a.md") == b"0123456789" * 10


def test_draft_appears_only_when_complete(tree: Tree, out: Path) -> None:
    """Readers see the old file until the new one is complete."""
    tree.write("h/_manifest.json", b"old")
    with tree.replace_with("h/_manifest.json") as draft:
        for _ in range(100):
            draft.write(b"0123456789" * 1000)
        assert tree.read("h/_manifest.json") == b"old"
    assert tree.read("h/_manifest.json") == b"0123456789" * 100_000
    assert everything(out) == {"h", "h/_manifest.json"}


def test_failed_draft_leaves_nothing(tree: Tree, out: Path) -> None:
    """The error passes through and the old file stays."""
    tree.write("m.json", b"old")

    def write_half() -> None:
        with tree.replace_with("m.json") as draft:
            draft.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert everything(out) == {"m.json"}
    assert tree.read("m.json") == b"old"


@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without"])
def test_added_draft_replaces_nothing(tree: Tree, out: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """A name in use, even by a dangling symlink, gets a number."""
    tree.write("h/a.md", b"old")
    (out / "h/a-2.md").symlink_to("nowhere")
    if not links:
        fail(monkeypatch, "link", errno.EPERM)
    names = []
    for text in (b"third", b"fourth"):
        with tree.add("h/a.md") as draft:
            draft.write(text)
        names.append(draft.rel)
    assert names == ["h/a-3.md", "h/a-4.md"]
    assert [tree.read(f"h/{name}.md") for name in ("a", "a-3", "a-4")] == [b"old", b"third", b"fourth"]
    assert everything(out) == {"h", "h/a.md", "h/a-2.md", "h/a-3.md", "h/a-4.md"}


def test_log_grows_by_whole_lines(tree: Tree) -> None:
    """Each append is on disk at once, and a reopened log continues at the end."""
    with tree.log("h/_processed.txt") as log:
        log.append(b"one\n")
        log.append(b"two\nthree\n")
        assert tree.read("h/_processed.txt") == b"one\ntwo\nthree\n"
    tree.append("h/_processed.txt", b"four\n")
    assert tree.read("h/_processed.txt") == b"one\ntwo\nthree\nfour\n"
    with pytest.raises(ValueError, match="newline"):
        tree.append("h/_processed.txt", b"no newline")


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=5).map(lambda line: line.replace(b"\n", b"") + b"\n")), st.binary(max_size=9))
def test_torn_last_line_is_cut_off(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], torn: bytes) -> None:
    """`/p/1` may be the torn `/p/12`: only lines with their newline count."""
    root = tmp_path_factory.mktemp("out")
    torn = torn.replace(b"\n", b"")
    (root / "log").write_bytes(b"".join(lines) + torn)
    Tree(root, min_free_mb=0).append("log", b"next\n")
    assert (root / "log").read_bytes() == b"".join(lines) + b"next\n"


def test_long_torn_line_is_cut_off(tree: Tree, out: Path) -> None:
    """Also where the last newline is far from the end."""
    (out / "log").write_bytes(b"good\n" + b"x" * 200_000)
    tree.append("log", b"next\n")
    assert tree.read("log") == b"good\nnext\n"


def test_failed_append_tears_no_line(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a line is removed before the error is raised."""
    write = os.write

    def half(fd: int, data: bytes) -> int:
        if len(data) < 4:
            raise OSError(errno.EIO, "broken")
        return write(fd, data[: len(data) // 2])

    with tree.log("log") as log:
        log.append(b"one\n")
        with monkeypatch.context() as broken:
            broken.setattr(os, "write", half)
            with pytest.raises(OutputError, match="log"):
                log.append(b"two two two\n")
        assert tree.read("log") == b"one\n"
        log.append(b"three\n")
    assert tree.read("log") == b"one\nthree\n"


def test_rename_creates_and_removes_folders(tree: Tree, out: Path) -> None:
    """Folders that a move empties are removed."""
    tree.write("h/a/b/index.md", b"x")
    tree.write("h/keep.md", b"y")
    tree.rename("h/a/b/index.md", "h/c/d_12345678.md")
    assert everything(out) == {"h", "h/keep.md", "h/c", "h/c/d_12345678.md"}


def test_rename_never_overwrites(tree: Tree) -> None:
    """A page at the destination is not lost."""
    tree.write("a.md", b"a")
    tree.write("b.md", b"b")
    with pytest.raises(OutputError, match=r"b\.md is taken"):
        tree.rename("a.md", "b.md")
    assert (tree.read("a.md"), tree.read("b.md")) == (b"a", b"b")
    tree.rename("a.md", "a.md")
    assert tree.read("a.md") == b"a"


def test_renaming_a_missing_file_is_an_error(tree: Tree) -> None:
    """A lost file is noticed."""
    with pytest.raises(OutputError):
        tree.rename("gone.md", "new.md")


def test_remove_clears_empty_folders_up_to_the_root(tree: Tree, out: Path) -> None:
    """The root stays even when it is empty; removing again is no error."""
    tree.write("h/a/b/index.md", b"x")
    tree.write("h/a/c.md", b"x")
    tree.remove("h/a/b/index.md")
    assert everything(out) == {"h", "h/a", "h/a/c.md"}
    tree.remove("h/a/c.md")
    tree.remove("h/a/c.md")
    assert everything(out) == set()
    assert out.is_dir()


def test_stat_gives_size_and_time(tree: Tree) -> None:
    """A missing file gives nothing."""
    tree.write("a.md", b"12345")
    tree.touch("a.md", 1_700_000_000)
    assert tree.mtime("a.md") == 1_700_000_000
    found = tree.stat("a.md")
    assert found is not None
    assert found.st_size == 5
    assert tree.stat("b.md") is None
    assert tree.mtime("no/b.md") is None


def test_sync_covers_files_and_their_folders(tree: Tree, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is safe only with its folders; a missing one is no success."""
    tree.write("h/a/one.md", b"1")
    tree.write("h/a/two.md", b"2")
    synced = []
    fsync = os.fsync

    def spy(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", spy)
    monkeypatch.setattr("sitemirror.store.files.others_sync", lambda _: False)  # Another test may have, just before.
    assert tree.sync(["h/a/one.md", "h/a/two.md"]) == {"h/a/one.md", "h/a/two.md"}
    files = {(out / name).stat().st_ino for name in ("h/a/one.md", "h/a/two.md")}
    named = {path.stat().st_ino for path in (out, out / "h", out / "h/a")}
    assert files <= set(synced)
    if isinstance(tree._folders, SteppedFolders):
        assert named <= set(synced)
        assert len(synced) == 5
    assert tree.sync(["h/a/gone.md"]) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux syncs a whole file system")
def test_many_files_are_synced_in_one_call(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of files cost one request to the disk, not two each; a missing one is no success."""
    names = [f"h/{number}/index.md" for number in range(50)]
    for name in names:
        tree.write(name, b"x")
    asked: list[int] = []
    monkeypatch.setattr(os, "fsync", asked.append)
    assert tree.sync([*names, "h/gone/index.md"]) == set(names)
    if isinstance(tree._folders, SteppedFolders):
        assert len(asked) <= 3  # the folders that might have led to the one that is gone


def test_sweep_removes_only_our_own_leftovers(tree: Tree, out: Path) -> None:
    """Files of the site and of the user stay, whatever their names."""
    leftovers = ["h/.sitemirror 0123456789abcdef.tmp", "h/a/b/.sitemirror 0123456789abcdee.tmp"]
    others = ["h/x.tmp", "h/.sitemirror-0123456789abcdef.tmp", "h/a/.sitemirror 0123.tmp", "h/a/index.md"]
    for name in leftovers + others:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(b"")
    assert tree.sweep_temporary("h/a") == 1
    assert tree.sweep_temporary() == 1
    assert tree.sweep_temporary("not-there") == 0
    assert {name for name in everything(out) if (out / name).is_file()} == set(others)


def test_killed_write_leaves_one_leftover_to_sweep(tree: Tree, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays complete."""
    tree.write("a/x.md", b"old")

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", die)
    monkeypatch.setattr(os, "unlink", die)
    with pytest.raises(KeyboardInterrupt):
        tree.write("a/x.md", b"new")
    monkeypatch.undo()
    assert tree.read("a/x.md") == b"old"
    assert len(everything(out)) == 3
    assert tree.sweep_temporary() == 1
    assert everything(out) == {"a", "a/x.md"}


def test_no_descriptor_leaks(tree: Tree, out: Path) -> None:
    """Also when operations fail."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("no way to count descriptors here")
    tree.write("a/x.md", b"x")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        tree.write("a/b/c.md", b"x")
        tree.append("a/log", b"x\n")
        tree.read("a/x.md")
        tree.sync(["a/x.md"])
        tree.sweep_temporary()
        for action in (
            lambda: tree.write("a/x.md/y", b""),
            lambda: tree.append("a", b"x\n"),
            lambda: tree.read("a"),
            lambda: tree.read("no"),
        ):
            with pytest.raises(OutputError):
                action()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
