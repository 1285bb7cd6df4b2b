"""A folder opened by one call is the one that steps would have reached, and never one behind a symlink."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitemirror.errors import OutputError
from sitemirror.store.safe_folders import MISSING, SteppedFolders, leap
from tests.store.conftest import no_symlinks

_FD = leap("/") if os.name == "posix" else -1
if _FD >= 0:
    os.close(_FD)
needs_leap = pytest.mark.skipif(_FD < 0, reason="this system has no openat2")


@needs_leap
def test_a_folder_is_opened_however_deep(tmp_path: Path) -> None:
    """The descriptor is that of the folder itself."""
    deep = tmp_path / "a" / "b c" / "d"
    deep.mkdir(parents=True)
    fd = leap(str(deep))
    try:
        assert os.path.samestat(os.fstat(fd), deep.stat())
        assert not os.get_inheritable(fd)
    finally:
        os.close(fd)


@needs_leap
@no_symlinks
def test_no_symlink_is_passed(tmp_path: Path) -> None:
    """Neither on the way nor at its end; and what is missing, or a file, is told apart from a folder."""
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "file").write_bytes(b"")
    assert leap(f"{tmp_path}/link") == -1
    assert leap(f"{tmp_path}/link/below") == -1
    assert leap(f"{tmp_path}/file") == -1
    assert leap(f"{tmp_path}/real/none") == MISSING


@needs_leap
@no_symlinks
def test_one_call_makes_what_steps_make(tmp_path: Path) -> None:
    """New folders below old ones, and the same refusal where a symlink or a file is in the way."""
    for name, way in (("stepped", ()), ("leapt", (leap,))):
        root = tmp_path / name
        (root / "old").mkdir(parents=True)
        (root / "away").symlink_to(tmp_path, target_is_directory=True)
        (root / "file").write_bytes(b"")
        folders = SteppedFolders(str(root), *way)
        for names in (["old"], ["old", "new", "newer"], ["quite", "new"]):
            place = folders.make(names)
            assert place.fd is not None
            assert os.path.samestat(os.fstat(place.fd), root.joinpath(*names).stat())
            os.close(place.fd)
        for names in (["away", "x"], ["file", "x"]):
            with pytest.raises(OutputError, match=names[0]):
                folders.make(names)
        with pytest.raises(FileNotFoundError):
            folders.find(["old", "none"])


@needs_leap
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """A thousand folders made and found leave as many open files as before."""
    folders = SteppedFolders(str(tmp_path), leap)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- descriptors, not paths
    for number in range(1000):
        for place in (folders.make(["a", f"{number}"]), folders.find(["a", f"{number}"])):
            assert place.fd is not None
            os.close(place.fd)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@pytest.mark.skipif(os.name != "posix", reason="folders are opened from folders on POSIX only")
def test_an_interruption_between_two_steps_is_what_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
