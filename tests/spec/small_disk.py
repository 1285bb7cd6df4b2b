"""A real disk of a few megabytes, in a mount namespace that ends with the program: nothing is left mounted."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Finished

# Mounts a disk of `$1` MB at `$2`, runs the program once for every size that follows, and copies the disk to `$3`.
_SCRIPT: Final = """
size=$1 disk=$2 copy=$3 sizes=$4; shift 4
mount -t tmpfs -o "size=${size}m" tmpfs "$disk" || exit 99
"$@" >"$copy.out" 2>"$copy.err"; code=$?
cp -R "$disk/." "$copy"
for more in $sizes; do
  mount -o "remount,size=${more}m" "$disk" || exit 99
  rm -f "$disk/ballast"
  "$@" >"$copy.more.out" 2>"$copy.more.err"
  echo $? >"$copy.more.code"
  cp -R "$disk/." "$copy.more"
done
exit $code
"""


class SmallDisk:
    """Runs the program with its output on a disk of its own, and once more after the disk has grown."""

    def __init__(self, folder: Path) -> None:
        self._disk = folder / "disk"
        self._copy = folder / "copy"
        self._disk.mkdir()
        self._copy.mkdir()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str | float, size_mb: int, then_mb: int) -> None:
        """Starts `sitemirror ARGUMENTS --output DISK` on `size_mb`; ended, it is run again on `then_mb`."""
        program = [sys.executable, "-m", "sitemirror", *map(str, arguments), "--output", str(self._disk)]
        settings = [str(size_mb), str(self._disk), str(self._copy), str(then_mb)]
        self._process = subprocess.Popen([*mounting(), "sh", "-c", _SCRIPT, "sh", *settings, *program])

    def take(self, megabytes: int) -> None:
        """Somebody else fills the disk, while the program runs: as seen from its own namespace."""
        assert self._process is not None
        with Path(f"/proc/{self._process.pid}/root{self._disk}/ballast").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, megabytes * 1024 * 1024)

    def finish(self) -> tuple[Finished, Path, Finished, Path]:
        """Both runs, each with a copy of what was on the disk after it."""
        assert self._process is not None
        code = self._process.wait(50)
        assert code != 99, "the disk could not be mounted"
        grown = self._copy.with_name("copy.more")
        second = int(self._copy.with_name("copy.more.code").read_text())
        return self._said(self._copy, code), self._copy, self._said(grown, second), grown

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(10)

    def _said(self, copy: Path, code: int) -> Finished:
        out, err = (copy.with_name(f"{copy.name}.{end}").read_text(encoding="utf-8") for end in ("out", "err"))
        return Finished(code, out, err)


@functools.cache
def mounting() -> tuple[str, ...]:
    """The command that gives a program mounts of its own: with root, else in a user namespace where those exist."""
    for command in (("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount")):
        if shutil.which(command[0]) is not None:
            trial = [*command, "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs "$1"', "sh", "/mnt"]
            if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
                return command
    return ()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Skips where no disk can be mounted."""
    if not mounting():
        pytest.skip("mounting a small disk needs Linux with root or with user namespaces")
    disk = SmallDisk(tmp_path)
    yield disk
    disk.close()
