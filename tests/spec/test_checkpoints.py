"""Requirement: Resumable Checkpoint System."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from sitemirror import mirror
from tests.conftest import RunHere, StartCli, until
from tests.site import Exchange, Site, faults
from tests.spec.mirrored import FAST, Mirrored


class StandingLoop(asyncio.SelectorEventLoop):
    """Its time stands still but for what the test adds: what waits a second waits for ever, or not at all."""

    added = 0.0

    def time(self) -> float:
        return 1000.0 + self.added

    async def after(self, seconds: float) -> None:
        """Time passes, and whoever waited for it has done what it had to do."""
        self.added += seconds
        for _ in range(100):
            await asyncio.sleep(0)


class Arrival:
    """A page that is held back: the test learns that it was asked for."""

    def __init__(self, site: Site, path: str) -> None:
        self.gate = threading.Event()
        self._came = threading.Event()
        held = faults.held(self.gate)

        async def step(exchange: Exchange) -> None:
            self._came.set()
            await held(exchange)

        site.fault(path, step)

    async def wait(self) -> None:
        assert await asyncio.to_thread(self._came.wait, 20)


def test_checkpoint_creation(site: Site, out: Path) -> None:
    """Checkpoint creation: a page's URL is in `_processed.txt` a second after the page is saved, and never before."""
    paths = site.fill(7)
    site.fault(paths[2], faults.status(404))
    fifth, sixth = Arrival(site, paths[4]), Arrival(site, paths[5])
    site.sitemap(urls=paths)
    mirrored = Mirrored.of(site, out)
    log = mirrored.folder / "_processed.txt"
    first, second = [site.url + path for path in (*paths[:2], paths[3])], site.url + paths[4]
    loop = StandingLoop()

    async def saved(path: str) -> None:
        while not (mirrored.folder / path[1:] / "index.md").exists():
            await asyncio.sleep(0)

    async def watch() -> None:
        await fifth.wait()
        await saved(paths[3])
        await loop.after(1.0)
        assert mirrored.processed == first
        inode, before = log.stat().st_ino, log.read_bytes()
        for path in (*paths[:2], paths[3]):
            assert "This is page number" in mirrored.text(f"{path[1:]}/index.md")

        fifth.gate.set()
        await sixth.wait()
        await saved(paths[4])
        await loop.after(1.0)
        assert mirrored.processed == [*first, second]
        assert log.stat().st_ino == inode  # appended to, not written anew
        assert log.read_bytes().startswith(before)

    async def run() -> None:
        mirroring = asyncio.ensure_future(mirror(site.url, output=out, rate_limit=0))
        try:
            await watch()
        finally:
            fifth.gate.set()
            sixth.gate.set()
            await mirroring

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(run())
    assert mirrored.processed == [*first, second, site.url + paths[5], site.url + paths[6]]


def test_checkpoint_creation_in_batches(site: Site, out: Path, run_here: RunHere) -> None:
    """Checkpoint creation: however fast pages come, never more than 16 are saved without their lines."""
    paths = site.fill(150)
    site.sitemap(urls=paths)
    mirrored = Mirrored.of(site, out)
    behind: list[int] = []
    ahead: list[str] = []

    def on_disk() -> set[str]:
        return {site.url + path for path in paths if (mirrored.folder / path[1:] / "index.md").exists()}

    async def step(exchange: Exchange) -> None:
        # The program goes on meanwhile: a file is looked for after its line, or a line after its file.
        told = set(mirrored.processed)
        there = on_disk()
        ahead.extend(told - there)
        behind.append(len(there - set(mirrored.processed)))
        await faults.ok()(exchange)

    for path in paths:
        site.fault(path, step)

    assert run_here("mirror", site.url, *FAST, "--output", out).json["successful"] == 150

    assert len(behind) == 150
    assert max(behind) <= 16
    assert ahead == []
    assert sorted(mirrored.processed) == [site.url + path for path in paths]


def test_resume_from_checkpoint(site: Site, out: Path, run_here: RunHere) -> None:
    """Resume from checkpoint: with nothing but `_processed.txt` there, its URLs are not asked for again."""
    paths = site.fill(14)
    site.sitemap()
    mirrored = Mirrored.of(site, out)
    mirrored.folder.mkdir(parents=True)
    done = [site.url + path for path in paths[:3]]
    # The last line was torn by a crash: it may be page 14 or any other, so it counts for nothing.
    (mirrored.folder / "_processed.txt").write_text("\n".join([*done, site.url + "/page/001"]), encoding="utf-8")

    report = run_here("mirror", site.url, *FAST, "--output", out).json

    assert [path for path in site.paths() if path.startswith("/page")] == paths[3:]
    assert report["successful"] == 14
    assert mirrored.processed == [site.url + path for path in paths]


def test_resume_from_checkpoint_after_a_kill(site: Site, out: Path, start_cli: StartCli, run_here: RunHere) -> None:
    """Resume from checkpoint: killed outright and started again, a run asks only for what it had not saved."""
    paths = site.fill(40)
    site.sitemap()
    gate = threading.Event()
    site.fault(paths[25], faults.held(gate))
    mirrored = Mirrored.of(site, out)
    process = start_cli("mirror", site.url, *FAST, "--output", out)
    until(lambda: len(mirrored.processed) >= 25)
    process.kill()
    process.communicate(timeout=10)
    gate.set()
    site.clear_log()

    report = run_here("mirror", site.url, *FAST, "--output", out).json

    assert (report["status"], report["successful"]) == ("ok", 40)
    assert [path for path in site.paths() if path.startswith("/page")] == paths[25:]
    assert sorted(mirrored.processed) == [site.url + path for path in paths]
    assert mirrored.manifest["complete"] is True


@pytest.mark.parametrize(
    "damage",
    [b'{"version": 1, "started_at": "20', b"\x00\xff" * 50, b"", b"[]", b'{"version": 1}'],
    ids=["cut", "binary", "empty", "list", "fields missing"],
)
async def test_corrupt_checkpoint_recovery(site: Site, out: Path, damage: bytes) -> None:
    """Corrupt checkpoint recovery: set aside and warned of; what is saved stays saved and is not fetched again."""
    paths = site.fill(6)
    site.sitemap()
    await mirror(site.url, output=out, rate_limit=0, max_pages=3)
    mirrored = Mirrored.of(site, out)
    (mirrored.folder / "_checkpoint.json").write_bytes(damage)
    site.clear_log()

    report = await mirror(site.url, output=out, rate_limit=0)

    assert (mirrored.folder / "_checkpoint.json.corrupt").read_bytes() == damage
    assert any("_checkpoint.json" in warning and "corrupt" in warning for warning in report.warnings)
    assert (report.status, report.successful) == ("ok", 6)
    assert [path for path in site.paths() if path.startswith("/page")] == paths[3:]
    assert site.count("/sitemap.xml") == 1  # how far the sitemap had been read is not known any more
    assert mirrored.checkpoint["total_processed"] == 6


def test_corrupt_checkpoint_recovery_of_everything(site: Site, out: Path, run_here: RunHere) -> None:
    """Corrupt checkpoint recovery: with the working state spoilt as well, the pages on disk still count."""
    paths = site.fill(6)
    site.sitemap()
    run_here("mirror", site.url, *FAST, "--output", out, "--max-pages", 4)
    mirrored = Mirrored.of(site, out)
    for name in ("_checkpoint.json", "_state.sqlite3", "_manifest.json"):
        (mirrored.folder / name).write_bytes(b"{ not what it was")
    site.clear_log()

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert done.returncode == 0, done.stderr
    for name in ("_checkpoint.json", "_state.sqlite3"):
        assert (mirrored.folder / f"{name}.corrupt").read_bytes() == b"{ not what it was"
        assert f"{name}.corrupt" in done.stderr
    assert [path for path in site.paths() if path.startswith("/page")] == paths[4:]
    assert done.json["successful"] == 6
    manifest = json.loads((mirrored.folder / "_manifest.json").read_bytes())
    assert [page["url"] for page in manifest["pages"]] == [site.url + path for path in paths]
    for page in manifest["pages"]:
        assert page["size_bytes"] == (mirrored.folder / page["path"]).stat().st_size


@pytest.mark.timeout(180)  # 1,100 checkpoints, on a machine that may be busy with others' work
def test_a_checkpoint_of_many_sitemaps_stays_small_and_adds_up(site: Site, out: Path, run_here: RunHere) -> None:
    """It names the newest thousand that are done, counts those before, and knows that an index lists them."""
    names = [f"/s/{number}.xml" for number in range(1100)]
    for name in names:
        site.sitemap(name, urls=["/"])
    site.fault(names[-1], faults.status(404))
    site.sitemap_index("/sitemap.xml", names)
    site.page("/", "<title>Home</title>")

    run_here("list", site.url, *FAST, "--output", out)

    checkpoint = json.loads(next(out.rglob("_checkpoint-list.json")).read_text("utf-8"))
    assert [row["url"] for row in checkpoint["sitemaps"]] == [site.url + name for name in names[100:]]
    assert {row["status"] for row in checkpoint["sitemaps"]} == {"completed"}  # of the last, too: nobody reads it now
    assert checkpoint["sitemaps_completed_before"] == 101
    assert checkpoint["sitemap_type"] == "index"
