"""The whole program on a whole manual: every page saved, a kill survived, an update that takes only what changed."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RunCli, StartCli
from tests.manual.conftest import FAST, SLOTS, Mirrored
from tests.manual.server import Manual

# A whole manual, several times, beside whatever else the machine does.
pytestmark = [pytest.mark.nginx, pytest.mark.timeout(180)]

IN_THE_PIPELINE = 32
"""Pages beyond the requests in flight that a kill may cost."""


def page_files(output: Path) -> dict[str, bytes]:
    """Every page of a mirror, without the tool's own files."""
    return {
        path.relative_to(output).as_posix(): path.read_bytes()
        for path in output.rglob("*.md")
        if not path.name.startswith("_")
    }


def without_times(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest but for when things happened."""
    times = ("crawl_started", "crawl_completed", "fetched_at", "changed_at")
    pages = [{key: value for key, value in page.items() if key not in times} for page in manifest["pages"]]
    return {key: value for key, value in manifest.items() if key not in times} | {"pages": pages}


def copy_of(mirrored: Mirrored, out: Path) -> Path:
    """The shared mirror to go on from, with its files' times. Returns the folder of the host in it."""
    shutil.copytree(mirrored.output, out)
    return out / mirrored.home.name


def test_every_page_is_saved(manual: Manual, mirrored: Mirrored) -> None:
    """Each URL of the sitemap is a page or a page's alias, and each page's file holds what the manifest says."""
    assert (mirrored.report["status"], mirrored.report["failed"]) == ("ok", 0)
    manifest = mirrored.manifest
    assert manifest["complete"] is True
    named = Counter(url for page in manifest["pages"] for url in (page["url"], *page["aliases"]))
    assert len(manual.pages) >= 1000
    assert named == Counter(map(manual.url_of, manual.pages))
    for page in manifest["pages"]:
        data = (mirrored.home / page["path"]).read_bytes()
        assert sha256(data).hexdigest() == page["sha256"], page["path"]
        assert len(data) == page["size_bytes"]
    assert {page["path"] for page in manifest["pages"]} == {
        name.partition("/")[2] for name in page_files(mirrored.output)
    }


def test_each_page_was_asked_for_once(manual: Manual, mirrored: Mirrored, run_cli: RunCli, out: Path) -> None:
    """An undisturbed run asks for every page exactly once."""
    manual.forget()
    assert run_cli("mirror", manual.url, *FAST, "--output", out, timeout=100).returncode == 0
    asked = Counter(line.path.lstrip("/") for line in manual.seen() if line.method == "GET")
    assert asked == Counter(manual.pages)
    assert page_files(out) == page_files(mirrored.output)


@pytest.mark.skipif(os.name == "nt", reason="kill -9 is POSIX")
def test_killed_halfway_it_ends_with_the_same_tree(
    manual: Manual, mirrored: Mirrored, start_cli: StartCli, run_cli: RunCli, out: Path
) -> None:
    """kill -9 in the middle costs at most the pages in flight and in the pipeline; the outcome is the same."""
    manual.forget()
    process = start_cli("mirror", manual.url, *FAST, "--output", out, "--quiet")
    deadline = time.monotonic() + 60
    while manual.answered() < len(manual.pages) // 2:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "too slow to be killed halfway"
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=10)
    assert len(page_files(out)) < len(manual.pages)

    done = run_cli("mirror", manual.url, *FAST, "--output", out, timeout=100)

    assert done.returncode == 0, done.stderr[-2000:]
    asked = Counter(line.path for line in manual.seen() if line.method == "GET")
    assert len(asked) == len(manual.pages)
    assert asked.total() - len(asked) <= SLOTS + IN_THE_PIPELINE
    assert page_files(out) == page_files(mirrored.output)
    assert without_times(Mirrored(done.json, out).manifest) == without_times(mirrored.manifest)
    assert not list(out.rglob("*.tmp"))


def test_an_update_takes_only_what_changed(manual: Manual, mirrored: Mirrored, run_cli: RunCli, out: Path) -> None:
    """Right after, nothing is fetched; after three pages changed, those three are fetched and written, no others."""
    home = copy_of(mirrored, out)
    before = page_files(out)
    manual.forget()
    again = run_cli("mirror", manual.url, *FAST, "--update", "--output", out, timeout=100)
    assert again.json["status"] == "ok", again.stderr[-2000:]
    assert [line for line in manual.seen() if line.status == 200] == []
    assert page_files(out) == before

    changed = ["sql-select.html", "index.html", "tutorial-join.html"]
    paths = {page["url"]: f"{home.name}/{page['path']}" for page in mirrored.manifest["pages"]}
    untouched = {name: (out / name).stat().st_ino for name in before}
    try:
        for page in changed:
            manual.change(page, f"News about {page}.")
        manual.write_sitemap()
        manual.forget()
        updated = run_cli("mirror", manual.url, *FAST, "--update", "--output", out, timeout=100)
    finally:
        manual.restore()

    assert updated.json["status"] == "ok", updated.stderr[-2000:]
    fetched = sorted(line.path.lstrip("/") for line in manual.seen() if line.method == "GET" and line.status == 200)
    assert fetched == sorted(changed)
    after = page_files(out)
    rewritten = {name for name in after if after[name] != before.get(name)}
    assert rewritten == {paths[manual.url_of(page)] for page in changed}
    for page in changed:
        assert f"News about {page}." in after[paths[manual.url_of(page)]].decode()
    assert {name for name in before if (out / name).stat().st_ino != untouched[name]} == rewritten


def test_without_dates_every_page_is_asked_and_none_is_sent(
    manual: Manual, mirrored: Mirrored, run_cli: RunCli, out: Path
) -> None:
    """A sitemap that gives no dates costs one conditional request a page, all answered 304."""
    copy_of(mirrored, out)
    before = page_files(out)
    manual.write_sitemap(dated=())
    manual.forget()
    try:
        done = run_cli("mirror", manual.url, *FAST, "--update", "--output", out, timeout=100)
    finally:
        manual.restore()
    assert done.json["status"] == "ok", done.stderr[-2000:]
    assert Counter(line.status for line in manual.seen() if line.method == "GET") == {304: len(manual.pages)}
    assert page_files(out) == before
