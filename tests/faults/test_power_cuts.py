"""Simulated power cuts: files that were not synced are lost, and the state is older."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import RunHere, clean_environment
from tests.crawl.conftest import Copy, timeless
from tests.site import Site

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills with signals")


def _killed(run_here: RunHere, site: Site, out: Path, step: str, *more: str) -> None:
    env = {"SITEMIRROR_FAILPOINT": step}
    done = run_here("mirror", site.url, "--rate-limit", 0, "--quiet", "--output", out, *more, env=env)
    assert done.returncode == -signal.SIGKILL, done.stderr


def _as_after_a_start(folder: Path) -> None:
    """The machine has been started again since the last run."""
    with closing(sqlite3.connect(folder / "_state.sqlite3")) as db, db:
        if not db.execute("UPDATE run SET boot_id = 'another' WHERE boot_id != ''").rowcount:
            pytest.skip("this system does not tell one start of the machine from another")


@pytest.mark.timeout(120)
def test_state_and_pages_older_than_the_log(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """`_processed.txt` reached the disk, the last rows and pages did not: no missing page counts."""
    site.sitemap(urls=site.fill(60))
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", tmp_path / "whole").returncode == 0
    out = tmp_path / "cut"
    folder = out / f"127.0.0.1_{site.port}"
    _killed(run_here, site, out, "lines-appended:1")
    kept = tmp_path / "kept"
    kept.mkdir()
    for file in folder.glob("_state.sqlite3*"):
        shutil.copy(file, kept)
    before = set(folder.rglob("index.md"))
    _killed(run_here, site, out, "lines-appended:2")
    for file in folder.glob("_state.sqlite3*"):
        file.unlink()
    for file in kept.iterdir():
        shutil.copy(file, folder)
    for number, page in enumerate(sorted(set(folder.rglob("index.md")) - before)):
        page.write_bytes(b"") if number % 2 else page.unlink()
    lines = (folder / "_processed.txt").read_text("utf-8").splitlines()
    assert len(lines) > len(before) / 2
    _as_after_a_start(folder)
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json["successful"] == 60
    whole, cut = Copy(tmp_path / "whole" / folder.name), Copy(folder)
    assert cut.files == whole.files
    assert timeless(cut.manifest) == timeless(whole.manifest)
    done = (folder / "_processed.txt").read_text("utf-8").splitlines()
    assert len(done) == len(set(done)) == 60


@pytest.mark.timeout(120)
def test_state_older_than_relinked_files(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """Files with new links reached the disk, and what was noted of them did not: nobody has edited those files. That
    holds until a run has come to its links again."""
    paths = site.fill(30)
    for path in paths:
        site.html_page(path, path, "".join(f'<p><a href="{other}">To {other}</a></p>' for other in paths[:5]))
    site.sitemap(urls=paths)
    out, whole = tmp_path / "cut", tmp_path / "whole"
    folder, kept = out / f"127.0.0.1_{site.port}", tmp_path / "kept"
    local = ("--links", "local")
    assert run_here("mirror", site.url, "--rate-limit", 0, *local, "--output", whole).returncode == 0
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).returncode == 0
    _killed(run_here, site, out, "settled:1", *local)
    kept.mkdir()
    for file in folder.glob("_state.sqlite3*"):
        shutil.copy(file, kept)
    _killed(run_here, site, out, "page-linked:9", *local)
    for file in folder.glob("_state.sqlite3*"):
        file.unlink()
    for file in kept.iterdir():
        shutil.copy(file, folder)
    _as_after_a_start(folder)

    _killed(run_here, site, out, "settled:1", *local)
    assert run_here("mirror", site.url, "--rate-limit", 0, *local, "--output", out).returncode == 0

    assert Copy(folder).files == Copy(whole / folder.name).files
    assert timeless(Copy(folder).manifest) == timeless(Copy(whole / folder.name).manifest)
    assert run_here("verify", out).returncode == 0

    page = folder / "page" / "0007" / "index.md"
    page.write_text(page.read_text("utf-8") + "\nMine.\n", "utf-8")
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).returncode == 0
    assert f"({site.url}" not in page.read_text("utf-8")  # edited, so its links are left alone


@pytest.mark.timeout(120)
def test_file_lost_in_an_undetected_power_cut_is_fetched(site: Site, run_here: RunHere, tmp_path: Path) -> None:
    """Some systems have no boot id: a file missing after a kill is fetched again."""
    site.sitemap(urls=site.fill(60))
    both = ("--format", "both")
    assert run_here("mirror", site.url, "--rate-limit", 0, *both, "--output", tmp_path / "whole").returncode == 0
    out = tmp_path / "cut"
    folder = out / f"127.0.0.1_{site.port}"
    _killed(run_here, site, out, "lines-appended:1", *both)
    with closing(sqlite3.connect(folder / "_state.sqlite3")) as db, db:
        [(lost,)] = db.execute("SELECT path FROM file WHERE kind = 2 LIMIT 1").fetchall()
        db.execute("UPDATE run SET boot_id = ''")
    (out / lost).unlink()

    assert run_here("mirror", site.url, "--rate-limit", 0, *both, "--output", out).returncode == 0

    assert Copy(folder).files == Copy(tmp_path / "whole" / folder.name).files
    assert run_here("verify", out).returncode == 0


@pytest.mark.timeout(120)
def test_no_row_is_durable_before_its_file_is(site: Site, out: Path, tmp_path: Path) -> None:
    """As the kernel sees it: each file whose row says durable was synced after its rename."""
    if shutil.which("strace") is None:
        pytest.skip("strace shows the order of writes, and is not here")
    site.sitemap(urls=site.fill(60))
    site.latency = 0.4
    log = tmp_path / "strace"
    calls = "rename,renameat,renameat2,fsync,fdatasync,syncfs"
    traced = ["strace", "-f", "-y", "-qq", "-o", str(log), "-e", f"trace={calls}"]
    run = [sys.executable, "-m", "sitemirror", "mirror", site.url, "--rate-limit", "0", "--output", str(out)]
    process = subprocess.Popen(
        [*traced, *run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment(None),
        start_new_session=True, cwd=tmp_path,
    )  # fmt: skip
    state = out / f"127.0.0.1_{site.port}" / "_state.sqlite3"
    try:
        durable: list[str] = []
        deadline = time.monotonic() + 60
        while len(durable) < 5 and time.monotonic() < deadline:
            time.sleep(0.5)
            if state.exists() and len(site.requests) > 8:
                with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as db:
                    durable = [path for (path,) in db.execute("SELECT path FROM file WHERE durable = 1")]
        calls_seen = log.read_text("utf-8", "replace").splitlines()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
    if not calls_seen:
        pytest.skip("strace may not trace here")
    assert len(durable) >= 5
    for path in durable:
        folder, name = str(out / Path(path).parent), Path(path).name
        renamed = _last(calls_seen, rf'rename.*<{re.escape(folder)}>, "{re.escape(name)}"')
        synced = max(
            _last(calls_seen, rf"fsync\(\d+<{re.escape(folder)}/{re.escape(name)}>"),
            _last(calls_seen, r"syncfs\(.*= 0|syncfs resumed.*= 0"),
        )
        assert 0 <= renamed < synced, path


@pytest.mark.timeout(120)
def test_pages_of_a_killed_run_are_synced_before_they_count(
    site: Site, run_here: RunHere, out: Path, tmp_path: Path
) -> None:
    """That the next run can read a page says nothing about the disk."""
    if shutil.which("strace") is None:
        pytest.skip("strace shows what is synced, and is not here")
    site.sitemap(urls=site.fill(60))
    _killed(run_here, site, out, "lines-appended:2")
    log = tmp_path / "strace"
    traced = ["strace", "-f", "-y", "-qq", "-o", str(log), "-e", "trace=fsync,fdatasync,syncfs"]
    run = [sys.executable, "-m", "sitemirror", "mirror", site.url, "--rate-limit", "0", "--output", str(out)]
    subprocess.run(
        [*traced, *run], capture_output=True, cwd=tmp_path, timeout=60, check=False,
        env=clean_environment({"SITEMIRROR_FAILPOINT": "lines-appended:1"}),
    )  # fmt: skip
    calls_seen = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
    if not calls_seen:
        pytest.skip("strace may not trace here")
    with closing(sqlite3.connect(out / f"127.0.0.1_{site.port}" / "_state.sqlite3")) as db:
        durable = [path for (path,) in db.execute("SELECT path FROM file WHERE durable = 1")]
    assert len(durable) >= 2  # of two batches
    together = _last(calls_seen, r"syncfs\(.*= 0|syncfs resumed.*= 0")
    for path in durable:
        assert together >= 0 or _last(calls_seen, rf"fsync\(\d+<{re.escape(str(out / path))}>") >= 0, path


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_pages_are_synced_before_the_manifest(site: Site, run_here: RunHere, out: Path, command: str) -> None:
    """Also in a run that ends before the first periodic sync."""
    site.html_page("/", "Home", "".join(f'<a href="{path}">a page</a>' for path in site.fill(30)))
    site.sitemap()
    assert run_here(command, site.url, "--rate-limit", "0", "--output", out).json["successful"] == 31
    with closing(sqlite3.connect(out / f"127.0.0.1_{site.port}" / "_state.sqlite3")) as db:
        assert db.execute("SELECT durable, count(*) FROM file GROUP BY durable").fetchall() == [(1, 31)]


def _last(lines: list[str], wanted: str) -> int:
    """The number of the last line that has it; -1 for none."""
    return max((number for number, line in enumerate(lines) if re.search(wanted, line)), default=-1)
