"""The disk space guard, and errors about an unusable output folder."""

from __future__ import annotations

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Event

import pytest

from sitemirror.errors import DiskFull, OutputError
from sitemirror.store.disk import SharedSync, Space, space, sync_file_system
from sitemirror.store.files import Tree

MB = 1024 * 1024


class Disk:
    """A disk with as much room as a test says."""

    def __init__(self, free: int, files: int | None = None) -> None:
        self.left = Space(free, files)
        self.looks = 0

    def __call__(self, where: int | str) -> Space:
        self.looks += 1
        return self.left


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_run_does_not_start_on_a_full_disk(out: Path) -> None:
    """The error says how much is free, where, how much is needed and how to continue."""
    tree = Tree(out, min_free_mb=100, measure=Disk(40 * MB))
    tree.prepare()
    with pytest.raises(DiskFull) as caught:
        tree.check_space()
    assert caught.value.message == f"Insufficient disk space: 40 MB free in {out}{os.sep}, 100 MB needed"
    assert "resumes" in caught.value.hint
    assert "--min-free-mb" in caught.value.hint


def test_every_write_checks_free_space(out: Path) -> None:
    """The limit stops a run between two writes, not some time later; nothing more is written."""
    disk = Disk(101 * MB)
    tree = Tree(out, min_free_mb=100, measure=disk)
    tree.prepare()
    with tree.log("log") as log:
        tree.write("a.md", b"x")
        log.append(b"one\n")
        assert disk.looks >= 2
        disk.left = Space(100 * MB - 1, None)
        with pytest.raises(DiskFull):
            tree.write("b.md", b"x")
        with pytest.raises(DiskFull):
            log.append(b"two\n")
        with pytest.raises(DiskFull), tree.replace_with("a.md") as draft:
            draft.write(b"y")
    assert files_in(out) == ["a.md", "log"]
    assert (out / "a.md").read_bytes() == b"x"
    assert (out / "log").read_bytes() == b"one\n"


def test_draft_stops_when_the_disk_fills_up(out: Path) -> None:
    """A manifest of many megabytes is checked while it is written."""
    disk = Disk(200 * MB)
    tree = Tree(out, min_free_mb=100, measure=disk)
    tree.prepare()

    def write_on() -> None:
        with tree.replace_with("m.json") as draft:
            draft.write(b"x" * MB)
            disk.left = Space(0, None)
            draft.write(b"x" * MB)

    with pytest.raises(DiskFull):
        write_on()
    assert files_in(out) == []


@pytest.mark.parametrize(("files", "full"), [(999, True), (1000, False), (None, False)])
def test_missing_inodes_are_a_full_disk(out: Path, files: int | None, full: bool) -> None:
    """A file system that does not count them is not full."""
    tree = Tree(out, min_free_mb=1, measure=Disk(10**12, files))
    tree.prepare()
    if full:
        with pytest.raises(DiskFull, match="Insufficient disk space: 999 free inodes"):
            tree.check_space()
    else:
        tree.check_space()


def test_zero_disables_the_guard(out: Path) -> None:
    """With `--min-free-mb 0` free space is not queried."""
    disk = Disk(0, 0)
    tree = Tree(out, min_free_mb=0, measure=disk)
    tree.prepare()
    tree.check_space()
    tree.write("a.md", b"x")
    assert disk.looks == 0


def test_real_disk_is_measured(out: Path) -> None:
    """The numbers come from the system, and a limit above them stops the run."""
    assert space(str(out.parent)).bytes > 0
    tree = Tree(out, min_free_mb=10**12)
    tree.prepare()
    with pytest.raises(DiskFull, match="Insufficient disk space"):
        tree.write("a.md", b"x")
    assert files_in(out) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)])
def test_disk_full_during_a_write_keeps_the_old_file(out: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Full disk and exceeded quota are the same error to the user."""
    tree = Tree(out, min_free_mb=0)
    tree.prepare()
    tree.write("a.md", b"old")
    write = os.write
    calls = []

    def fills(fd: int, data: bytes) -> int:
        calls.append(fd)
        if len(calls) > 1:
            raise OSError(number, os.strerror(number))
        return write(fd, data[:3])

    monkeypatch.setattr(os, "write", fills)
    with pytest.raises(DiskFull, match="Insufficient disk space") as caught:
        tree.write("a.md", b"new content")
    monkeypatch.undo()
    assert "resumes" in caught.value.hint
    assert files_in(out) == ["a.md"]
    assert (out / "a.md").read_bytes() == b"old"


def test_output_that_is_a_file_is_an_error(out: Path) -> None:
    """So is one below a file."""
    out.write_bytes(b"")
    for root in (out, out / "deeper" / "still"):
        with pytest.raises(OutputError, match="under a file") as caught:
            Tree(root, min_free_mb=0).prepare()
        assert "--output" in caught.value.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows does not remove a folder that somebody works in")
def test_output_in_a_deleted_working_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has removed the folder that the program was started in."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(OutputError, match="cannot write output: No such file") as caught:
        Tree(Path("output"), min_free_mb=0)
    assert "--output" in caught.value.hint


@pytest.mark.parametrize(
    ("number", "match"),
    [
        (errno.EACCES, "permission denied"),
        (errno.EROFS, "read-only"),
        (errno.ENOSPC, "Insufficient"),
        (errno.EMFILE, "too many open files"),
    ],
)
def test_output_that_refuses_files_is_an_error(
    out: Path, monkeypatch: pytest.MonkeyPatch, number: int, match: str
) -> None:
    """An existing folder may not be writable, so it is tried."""
    out.mkdir()
    real = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number))
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match=match) as caught:
        Tree(out, min_free_mb=0).prepare()
    assert caught.value.hint


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold for this user")
def test_unwritable_output_is_an_error(tmp_path: Path) -> None:
    """Whether the folder cannot be created or cannot be written to."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    for root in (closed, closed / "out"):
        with pytest.raises(OutputError, match="permission denied"):
            Tree(root, min_free_mb=0).prepare()


def test_prepare_leaves_only_the_folder(out: Path) -> None:
    """The probe file is removed."""
    Tree(out / "deep", min_free_mb=0).prepare()
    assert list((out / "deep").iterdir()) == []


class Syncs:
    """A disk whose first sync takes until a test lets it end, and whose second may fail."""

    def __init__(self, *, fails: bool = False) -> None:
        self.begun = 0
        self.first_begun, self.first_may_end = Event(), Event()
        self._fails = fails

    def __call__(self) -> None:
        self.begun += 1
        if self.begun == 1:
            self.first_begun.set()
            assert self.first_may_end.wait(10)
        if self.begun == 2 and self._fails:
            raise OSError(errno.EIO, "the disk is broken")


def _ask(disk: Syncs, others: int) -> list[BaseException | None]:
    """One asks, and while it is answered so do `others`. What each of them got."""
    together = SharedSync()
    with ThreadPoolExecutor(others + 1) as threads:
        first = threads.submit(together.sync, disk)
        assert disk.first_begun.wait(10)
        rest = [threads.submit(together.sync, disk) for _ in range(others)]
        time.sleep(0.2)  # All of them wait for their turn by now; one that does not only makes a sync more.
        disk.first_may_end.set()
        return [one.exception(timeout=10) for one in (first, *rest)]


def test_requests_during_a_sync_share_the_next_one() -> None:
    """The current sync began too early for them: it may have missed what they wrote."""
    disk = Syncs()
    assert _ask(disk, others=8) == [None] * 9
    assert disk.begun == 2


def test_failed_sync_is_not_shared() -> None:
    """Its caller gets the error; the next caller tries again."""
    disk = Syncs(fails=True)
    errors = [error for error in _ask(disk, others=8) if error is not None]
    assert [str(error) for error in errors] == ["[Errno 5] the disk is broken"]
    assert disk.begun == 3


def test_small_syncs_are_combined(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred sites that end at once would make the disk's journal wait for each of their files."""
    if sync_file_system(os.open(out.parent, os.O_RDONLY)) is False:
        pytest.skip("this system has no call for all files at once")
    forced: list[int] = []
    monkeypatch.setattr(os, "fsync", forced.append)
    monkeypatch.setattr("sitemirror.store.disk._shared_sync", cache(lambda _: SharedSync()))
    tree = Tree(out, min_free_mb=0)
    tree.prepare()
    tree.write("a/index.md", b"x")
    tree.write("b/index.md", b"x")
    assert tree.sync([]) == set()
    assert tree.sync(["a/index.md"]) == {"a/index.md"}
    alone = len(forced)
    assert alone == 3  # the file and its two folders
    assert tree.sync(["b/index.md"]) == {"b/index.md"}
    assert len(forced) == alone


def test_requests_before_a_sync_began_share_it() -> None:
    """The time of the request counts, although most requests wait for a thread."""
    together, calls = SharedSync(), list[int]()
    with ThreadPoolExecutor(3) as threads:
        asked = [together.begun for _ in range(100)]
        done = [threads.submit(together.sync, lambda: calls.append(1), one) for one in asked]
        assert [one.exception(timeout=10) for one in done] == [None] * 100
    assert calls == [1]
