"""One run at a time in a folder, and a lock that never outlives its process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from sitemirror.errors import FolderLocked, OutputError
from sitemirror.store.lock import FolderLock, OtherHostLocks

_HOLD = """
import sys, time
from pathlib import Path
from sitemirror.store.lock import FolderLock
with FolderLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

_HOLD_OTHER = """
import sys
from pathlib import Path
from sitemirror.store.lock import OtherHostLocks
folder = Path(sys.argv[1])
with OtherHostLocks(folder.parent) as others:
    others.acquire(folder.name)
    print("held", flush=True)
    sys.stdin.read()
"""

_FORK = """
import os, sys, time
from pathlib import Path
from sitemirror.store.lock import FolderLock
FolderLock(Path(sys.argv[1])).acquire()
if os.fork() == 0:
    print("held", flush=True)
    sys.stdin.read()
    os._exit(0)
time.sleep(60)
"""


@contextmanager
def process(code: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that holds the lock until its stdin is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "held\n"
            yield started
        finally:
            started.kill()


def test_error_names_the_holder_of_the_lock(tmp_path: Path) -> None:
    """And the folder, and says what to do."""
    folder = tmp_path / "example.com"
    with process(_HOLD, folder) as holder:
        with pytest.raises(FolderLocked) as caught:
            FolderLock(folder).acquire()
        assert f"process {holder.pid}" in caught.value.message
        assert "example.com" in caught.value.message
        assert "wait" in caught.value.hint


def test_kill_releases_the_lock(tmp_path: Path) -> None:
    """Nothing has to be cleaned up by hand after kill -9."""
    folder = tmp_path / "example.com"
    with process(_HOLD, folder) as holder:
        holder.kill()
        holder.wait()
        with FolderLock(folder):
            assert (folder / "_lock").read_text() == f"{os.getpid()}\n"
    assert not (folder / "_lock").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_workers_do_not_inherit_the_lock(tmp_path: Path) -> None:
    """A forked child that outlives its killed parent does not hold the folder."""
    folder = tmp_path / "example.com"
    with process(_FORK, folder) as holder:
        with pytest.raises(FolderLocked):
            FolderLock(folder).acquire()
        holder.kill()
        holder.wait()
        FolderLock(folder).acquire().release()


def test_released_lock_leaves_no_file(tmp_path: Path) -> None:
    """Nor a folder created for it; a folder with content stays."""
    with FolderLock(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    with FolderLock(tmp_path / "old"):
        pass
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]
    with FolderLock(tmp_path / "new"):
        (tmp_path / "new" / "page.md").write_bytes(b"x")
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / "page.md"]


def test_one_process_cannot_lock_twice(tmp_path: Path) -> None:
    """Two runs in one process are two runs; afterwards the folder is free again."""
    with FolderLock(tmp_path / "x") as held:
        with pytest.raises(FolderLocked):
            FolderLock(tmp_path / "x").acquire()
        with pytest.raises(FolderLocked):
            held.acquire()
        with FolderLock(tmp_path / "y"):
            pass
    with FolderLock(tmp_path / "x"):
        pass


def test_releasing_twice_or_without_a_lock_is_harmless(tmp_path: Path) -> None:
    """And it does not release somebody else's lock."""
    lock = FolderLock(tmp_path / "x")
    lock.release()
    with FolderLock(tmp_path / "x"):
        lock.release()
        with pytest.raises(FolderLocked):
            lock.acquire()


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need a privilege on Windows")
def test_symlinks_are_not_followed(tmp_path: Path) -> None:
    """Neither a linked folder nor a linked lock file is written to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs").write_text("theirs")
    (tmp_path / "linked").symlink_to(outside)
    with pytest.raises(OutputError, match="symlink"):
        FolderLock(tmp_path / "linked").acquire()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "_lock").symlink_to(outside / "theirs")
    with pytest.raises(OutputError, match=r"_lock is a symlink$"):
        FolderLock(tmp_path / "folder").acquire()
    assert [path.name for path in outside.iterdir()] == ["theirs"]
    assert (outside / "theirs").read_text() == "theirs"


def test_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    """Its parent is missing, or a file has its name."""
    (tmp_path / "file").write_bytes(b"")
    for folder in (tmp_path / "file", tmp_path / "missing" / "deep"):
        with pytest.raises(OutputError) as caught:
            FolderLock(folder).acquire()
        assert caught.value.hint


def test_folder_in_place_of_the_lock_file_is_named(tmp_path: Path) -> None:
    """Moving away what the error names does not move the mirror."""
    (tmp_path / "host" / "_lock").mkdir(parents=True)
    with pytest.raises(OutputError) as caught:
        FolderLock(tmp_path / "host").acquire()
    assert caught.value.message == f"cannot write {tmp_path / 'host' / '_lock'}: something else is in its place"


def test_two_processes_never_hold_the_lock_at_once(tmp_path: Path) -> None:
    """Removing the lock file on release opens no gap between competitors."""
    folder, mark = tmp_path / "x", tmp_path / "mark"

    def compete() -> int:
        held = 0
        while held < 150:
            try:
                with FolderLock(folder):
                    mark.touch(exist_ok=False)
                    mark.unlink()
                    held += 1
            except FolderLocked:
                continue
        return held

    with ThreadPoolExecutor(4) as racers:
        assert sum(racers.map(lambda _: compete(), range(4))) == 600
    assert not (folder / "_lock").exists()


def test_folder_of_another_host_excludes_its_own_run(tmp_path: Path) -> None:
    """And runs for third hosts that write there; the error names the process that holds it."""
    folder = tmp_path / "api.example.com"
    with process(_HOLD_OTHER, folder) as holder:
        for lock in (FolderLock(folder).acquire, lambda: OtherHostLocks(tmp_path).acquire(folder.name)):
            with pytest.raises(FolderLocked) as caught:
                lock()
            assert f"process {holder.pid}" in caught.value.message
        with OtherHostLocks(tmp_path) as others:
            others.acquire("www.example.com")
        assert holder.stdin is not None
        holder.stdin.close()
        assert holder.wait(10) == 0
        assert list(tmp_path.iterdir()) == []


def test_own_run_excludes_others_from_its_folder(tmp_path: Path) -> None:
    """Also within one process, and until it ends."""
    with FolderLock(tmp_path / "example.com"), OtherHostLocks(tmp_path) as others:
        with pytest.raises(FolderLocked) as caught:
            others.acquire("example.com")
        assert caught.value.pid == os.getpid()
    with OtherHostLocks(tmp_path) as others, OtherHostLocks(tmp_path) as more:
        others.acquire("example.com")
        with pytest.raises(FolderLocked):
            more.acquire("example.com")
        more.acquire("example.org")
    assert list(tmp_path.iterdir()) == []


def test_kill_releases_folders_of_other_hosts(tmp_path: Path) -> None:
    """The files that it leaves are taken over."""
    folder = tmp_path / "api.example.com"
    with process(_HOLD_OTHER, folder) as holder:
        holder.kill()
        holder.wait()
        with FolderLock(folder):
            assert (folder / "_lock").read_text() == f"{os.getpid()}\n"
        with OtherHostLocks(tmp_path) as others:
            others.acquire(folder.name)
    assert not list(tmp_path.rglob("_lock"))


@pytest.mark.skipif(sys.platform != "linux", reason="one open file each elsewhere")
def test_many_folders_of_other_hosts_cost_one_open_file(tmp_path: Path) -> None:
    """Folders that were there before stay."""
    (tmp_path / "h7").mkdir()
    before = len([*Path("/proc/self/fd").iterdir()])
    with OtherHostLocks(tmp_path) as others:
        for number in range(300):
            others.acquire(f"h{number}")
        assert len([*Path("/proc/self/fd").iterdir()]) == before + 1
    assert [path.name for path in tmp_path.iterdir()] == ["h7"]
