"""Several people, or one in several places, with one copy."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import RunHere, StartCli, clean_environment, until
from tests.crawl.conftest import Copy, link
from tests.site import Site, faults


def _fast(site: Site, out: Path) -> tuple[str | Path | float, ...]:
    return (site.url, "--rate-limit", 0, "--quiet", "--output", out)


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_verify_during_a_run(site: Site, out: Path, run_here: RunHere, start_cli: StartCli, command: str) -> None:
    """It neither fails nor disturbs the run; afterwards the copy is sound."""
    paths = site.fill(60)
    site.html_page("/", "Home", link(*paths))
    site.sitemap(urls=["/", *paths])
    assert run_here(command, *_fast(site, out), "--max-pages", 20).json["successful"] == 20
    gate = threading.Event()
    site.fault(paths[40], faults.held(gate), faults.ok())
    site.clear_log()
    process = start_cli(command, *_fast(site, out))
    site.wait_for(20, timeout=30)
    during = run_here("verify", out)
    gate.set()
    said, errors = process.communicate(timeout=50)
    assert "Traceback" not in during.stderr
    assert during.json["command"] == "verify"
    assert process.returncode == 0, errors
    assert '"successful": 61' in said
    assert run_here("verify", out).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="a umask is something else there")
def test_runs_under_different_umasks(site: Site, out: Path, tmp_path: Path) -> None:
    """Files get the permissions of each user's umask, and a later run can continue with them."""
    paths = site.fill(6)
    site.sitemap(urls=paths[:3])
    command = [sys.executable, "-m", "sitemirror", "mirror", *map(str, _fast(site, out))]
    for umask, listed in ((0o077, paths[:3]), (0o002, paths)):
        site.sitemap(urls=listed)
        done = subprocess.run(
            command, umask=umask, check=True, capture_output=True, timeout=50, cwd=tmp_path, env=clean_environment(None)
        )
        assert done.returncode == 0
    folder = out / f"127.0.0.1_{site.port}"

    def rights(path: str) -> int:
        return stat.S_IMODE((folder / f"{path[1:]}/index.md").stat().st_mode)

    assert [rights(path) for path in paths] == [0o600] * 3 + [0o664] * 3


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_moved_copy_is_updated(site: Site, tmp_path: Path, run_here: RunHere, command: str) -> None:
    """Copied to another place with new mtimes, as by a checkout: an update fetches only changes."""
    pages = {f"/page/{number}": f"e{number}" for number in range(8)}
    site.html_page("/", "Home", link(*pages), etag="home")
    for path, etag in pages.items():
        site.html_page(path, path, link("/", "/page/3"), etag=etag)
    site.sitemap(urls=["/", *pages])
    assert run_here(command, *_fast(site, tmp_path / "here")).returncode == 0
    shutil.copytree(tmp_path / "here", tmp_path / "there" / "deep", copy_function=shutil.copyfile)
    shutil.rmtree(tmp_path / "here")
    site.html_page("/page/3", "Third", "<p>changed</p>", etag="e3-2")
    site.clear_log()
    done = run_here(command, *_fast(site, tmp_path / "there" / "deep"), "--update")
    assert (done.json["status"], done.json["successful"]) == ("ok", 9)
    whole = [seen.path for seen in site.requests if seen.method == "GET" and seen.status == 200]
    assert [path for path in whole if path not in ("/robots.txt", "/sitemap.xml")] == ["/page/3"]
    copy = Copy(tmp_path / "there" / "deep" / f"127.0.0.1_{site.port}")
    assert sum(b"changed" in data for data in copy.files.values()) == 1
    assert run_here("verify", tmp_path / "there" / "deep").returncode == 0
    assert not (tmp_path / "here").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names a process's children")
def test_second_ctrl_c_ends_workers(site: Site, out: Path, start_cli: StartCli) -> None:
    """A worker that hangs in a page ends with the run."""
    paths, gate = site.fill(5), threading.Event()
    site.fault(paths[-1], faults.held(gate))
    site.sitemap(urls=paths)
    process = start_cli("mirror", *_fast(site, out), "--workers", 1)
    home = out / f"127.0.0.1_{site.port}"
    until(lambda: home.joinpath("page", "0002", "index.md").exists())
    [worker] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()
    os.kill(int(worker), signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    gate.set()
    assert process.returncode == 130
    until(lambda: not _lives(int(worker)))


def _lives(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return False
