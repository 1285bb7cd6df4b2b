"""Disks that refuse: the run stops with one clear line, files stay complete, and the next run resumes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Finished, RunHere, StartCli, clean_environment
from tests.site import Exchange, Site, faults
from tests.spec.small_disk import mounting

# Mounts a disk with the options `$2` at `$1`, runs the program, mounts it again with `$3`, and runs it once more.
_SCRIPT: Final = """
disk=$1 first=$2 then=$3; shift 3
mount -t tmpfs -o "$first" tmpfs "$disk" || exit 99
"$@" >"$disk.1.out" 2>"$disk.1.err"; echo $? >"$disk.1.code"
mount -o "remount,$then" "$disk" || exit 99
"$@" >"$disk.2.out" 2>"$disk.2.err"; echo $? >"$disk.2.code"
cp -R "$disk/." "$disk.copy"
"""


def _on_a_disk(site: Site, folder: Path, first: str, then: str, *options: str) -> tuple[Finished, Finished, Path]:
    """One run on a disk mounted as `first`, another after it was mounted as `then`, and what is on it in the end."""
    if not mounting():
        pytest.skip("mounting a small disk needs Linux with root or with user namespaces")
    disk = folder / "disk"
    disk.mkdir()
    program = [sys.executable, "-m", "sitemirror", "mirror", site.url, "--rate-limit", "0", *options]
    command = [*mounting(), "sh", "-c", _SCRIPT, "sh", str(disk), first, then, *program, "--output", str(disk)]
    subprocess.run(command, check=True, timeout=120, env=clean_environment(None), cwd=folder)
    return *_both_runs(folder), folder / "disk.copy" / f"127.0.0.1_{site.port}"


def _both_runs(folder: Path) -> tuple[Finished, Finished]:
    first, second = (
        Finished(
            int((folder / f"disk.{number}.code").read_text()),
            (folder / f"disk.{number}.out").read_text("utf-8"),
            (folder / f"disk.{number}.err").read_text("utf-8"),
        )
        for number in (1, 2)
    )
    return first, second


def _clear_stop(done: Finished, *words: str) -> None:
    """One error with a hint, and no more fuss."""
    assert (done.returncode, done.json["status"]) == (1, "error"), done.stderr
    assert any(word in done.json["error"] for word in words), done.json["error"]
    assert done.json["hint"]
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


def _pages(folder: Path) -> int:
    return len(list(folder.rglob("page/*/index.md")))


@pytest.mark.parametrize("guard", ["--min-free-mb=1", "--min-free-mb=0"])
def test_missing_inodes_stop_the_run(site: Site, tmp_path: Path, guard: str) -> None:
    """The next run resumes when there are some."""
    site.sitemap(urls=site.fill(40))
    stopped, resumed, copy = _on_a_disk(site, tmp_path, "size=50m,nr_inodes=60", "nr_inodes=5000", guard)
    _clear_stop(stopped, "disk", "inodes")
    assert (resumed.returncode, resumed.json["status"], resumed.json["successful"]) == (0, "ok", 40)
    assert _pages(copy) == 40


def test_read_only_disk_stops_the_run(site: Site, tmp_path: Path) -> None:
    """The copy is unchanged, and the run says why it did nothing."""
    site.sitemap(urls=site.fill(3))
    first, second, copy = _on_a_disk(site, tmp_path, "size=300m", "ro", "--update")
    assert (first.returncode, first.json["successful"]) == (0, 3)
    _clear_stop(second, "Read-only", "read-only", "readonly")
    assert _pages(copy) == 3


def test_foreign_file_in_place_of_a_folder_stops_the_run(site: Site, out: Path, run_here: RunHere) -> None:
    """The file is not touched; without it the next run resumes."""
    site.sitemap(urls=site.fill(3))
    host = out / f"127.0.0.1_{site.port}"
    host.mkdir(parents=True)
    (host / "page").write_text("mine")
    _clear_stop(run_here("mirror", site.url, "--rate-limit", 0, "--output", out), "page")
    assert (host / "page").read_text() == "mine"
    (host / "page").unlink()
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json["successful"] == 3


def test_output_folder_deleted_during_a_run(site: Site, out: Path, run_here: RunHere) -> None:
    """The run ends without a crash, and the next one has every page."""
    paths = site.fill(12)
    site.sitemap(urls=paths)

    async def delete(exchange: Exchange) -> None:
        shutil.rmtree(out)
        await faults.ok()(exchange)

    site.fault(paths[5], delete, faults.ok())
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    again = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert (again.returncode, again.json["successful"]) == (0, 12)
    assert _pages(out) == 12


def _as_anybody() -> list[str]:
    """What goes before a command so that permissions count for it: root has to give up its privilege."""
    if os.name == "nt":
        pytest.skip("permissions are another matter there")
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root is refused nothing, and there is no setpriv to change that")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_permission_lost_midway_stops_the_run(site: Site, out: Path, tmp_path: Path) -> None:
    """Nothing is torn; with the permission restored the next run resumes."""
    paths = site.fill(12)
    site.sitemap(urls=paths)
    pages = out / f"127.0.0.1_{site.port}" / "page"

    async def forbid(exchange: Exchange) -> None:
        pages.chmod(0o555)
        await faults.ok()(exchange)

    site.fault(paths[5], forbid, faults.ok())
    command = [*_as_anybody(), sys.executable, "-m", "sitemirror", "mirror", site.url, "--rate-limit", "0"]

    def run() -> Finished:
        done = subprocess.run(
            [*command, "--output", str(out)], capture_output=True, text=True, check=False, timeout=50, cwd=tmp_path,
            env=clean_environment(None),
        )  # fmt: skip
        return Finished(done.returncode, done.stdout, done.stderr)

    _clear_stop(run(), "ermission")
    assert _pages(out) <= 5
    pages.chmod(0o755)
    assert run().json["successful"] == 12
    assert _pages(out) == 12


def test_symlink_planted_during_a_run(site: Site, out: Path, tmp_path: Path, start_cli: StartCli) -> None:
    """A folder of the copy is replaced by a symlink: nothing is written behind it."""
    if not hasattr(os, "symlink") or os.name == "nt":
        pytest.skip("symlinks need a privilege there")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    paths = site.fill(12)
    site.sitemap(urls=paths)
    host = out / f"127.0.0.1_{site.port}"

    async def plant(exchange: Exchange) -> None:
        shutil.rmtree(host / "page")
        (host / "page").symlink_to(elsewhere)
        await faults.ok()(exchange)

    site.fault(paths[5], plant, faults.ok())
    process = start_cli("mirror", site.url, "--rate-limit", 0, "--output", out)
    said, errors = process.communicate(timeout=50)
    _clear_stop(Finished(process.returncode, said, errors), "symlink")
    assert list(elsewhere.iterdir()) == []


# Makes a disk in the file `$1` at `$2`, and runs the program; when `$3` appears, the disk finds an error in itself and
# turns read-only. Then it is repaired, and the program is run once more.
_FAILING: Final = """
image=$1 disk=$2 go=$3; shift 3
truncate -s 64M "$image" && mkfs.ext4 -q "$image" && mount -o loop,errors=remount-ro "$image" "$disk" || exit 99
switch=/sys/fs/ext4/$(basename "$(losetup -n -O NAME -j "$image")")/trigger_fs_error
[ -w "$switch" ] || exit 99
(while [ ! -e "$go" ]; do sleep 0.05; done; echo 1 >"$switch"; touch "$go.done") &
"$@" >"$disk.1.out" 2>"$disk.1.err"; echo $? >"$disk.1.code"
umount "$disk"; e2fsck -fp "$image" >/dev/null; mount -o loop "$image" "$disk" || exit 98
"$@" >"$disk.2.out" 2>"$disk.2.err"; echo $? >"$disk.2.code"
cp -R "$disk/." "$disk.copy"
"""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_disk_that_turns_read_only_midway_stops_the_run(site: Site, tmp_path: Path, command: str) -> None:
    """A real file system refuses writes while pages arrive; once it is writable the next run resumes."""
    programs = ("unshare", "mkfs.ext4", "losetup", "e2fsck")
    if sys.platform != "linux" or os.geteuid() != 0 or not all(map(shutil.which, programs)):
        pytest.skip(f"needs Linux, root and {', '.join(programs)}")
    paths = site.fill(30)
    site.sitemap(urls=paths)
    site.html_page("/", "Home", "".join(f'<a href="{path}">{path}</a>' for path in paths))
    go = tmp_path / "go"

    async def fail(exchange: Exchange) -> None:
        go.touch()
        while not go.with_name("go.done").exists():
            await exchange.pause(0.05)
        await faults.ok()(exchange)

    site.fault(paths[12], fail, faults.ok())
    disk = tmp_path / "disk"
    disk.mkdir()
    program = [sys.executable, "-m", "sitemirror", command, site.url, "--rate-limit", "0", "--min-free-mb", "1"]
    script = ["unshare", "--mount", "sh", "-c", _FAILING, "sh", str(tmp_path / "image"), str(disk), str(go)]
    done = subprocess.run(
        [*script, *program, "--output", str(disk)], timeout=150, check=False, env=clean_environment(None), cwd=tmp_path
    )
    if done.returncode == 99:
        pytest.skip("no disk in a file can be mounted here")
    assert done.returncode == 0
    stopped, resumed = _both_runs(tmp_path)
    _clear_stop(stopped, "read-only", "readonly", "I/O error")
    pages = 30 + (command == "crawl")
    assert (resumed.returncode, resumed.json["status"], resumed.json["successful"]) == (0, "ok", pages), resumed.stderr
    assert len(list((tmp_path / "disk.copy").rglob("page/*/index.*"))) == 30
    assert not list((tmp_path / "disk.copy").rglob("*.corrupt"))
