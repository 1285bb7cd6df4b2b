"""A run resumes after a stop, a kill, and the loss of any of its files."""

from __future__ import annotations

import signal
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from sitemirror import mirror
from sitemirror.errors import EmptySitemap, FolderLocked, OutputError, Unreachable
from sitemirror.store.database import State, host_pauses, peek
from tests.conftest import RunHere, StartCli, until
from tests.run.conftest import Copy, Mirror
from tests.site import Site
from tests.site.faults import held, ok, status


def _pages(site: Site) -> list[str]:
    return [path for path in site.paths() if path.startswith("/page")]


async def test_second_run_fetches_only_unsaved_pages(site: Site, run: Mirror) -> None:
    """Saved pages are not requested again; new ones are."""
    paths = site.fill(6)
    site.sitemap(urls=paths[:4])
    await run()
    site.clear_log()
    site.sitemap(urls=paths)
    report = await run()
    assert report.successful == 6
    assert sorted(_pages(site)) == paths[4:]


async def test_max_pages_is_exact_and_the_next_run_continues(site: Site, run: Mirror, copy: Copy) -> None:
    """With five slots and some failures exactly N pages are new; the next run fetches the rest."""
    paths = site.fill(20)
    site.fault(paths[0], status(404))
    site.sitemap(urls=paths)
    report = await run(max_pages=7, concurrency=5)
    assert (report.status, report.successful) == ("partial", 7)
    assert copy.manifest["complete"] is False
    assert len(copy.accounted()) == 20
    report = await run(max_pages=0, concurrency=5)
    assert (report.successful, report.failed, report.not_reached) == (19, 1, 0)
    assert max(site.count(path) for path in paths[1:]) == 1
    assert site.count("/sitemap.xml") == 1  # a run that goes on does not read the sitemaps again


@pytest.mark.parametrize("concurrency", [1, 8])
def test_killed_and_resumed_run_gives_the_same_tree(
    site: Site, start_cli: StartCli, run_here: RunHere, tmp_path: Path, concurrency: int
) -> None:
    """Five kills at growing numbers of requests: same files, same manifest but for times, little refetched."""
    paths = [*site.fill(120), "/p", "/p/"]
    site.html_page("/p", "P", "<p>bare</p>")
    site.html_page("/p/", "P", "<p>slash</p>")
    site.redirect("/old", paths[3])
    site.sitemap(urls=[*paths, "/old"])
    options = ("--rate-limit", 0, "--concurrency", concurrency, "--quiet")
    assert run_here("mirror", site.url, *options, "--output", tmp_path / "whole").returncode == 0
    site.clear_log()
    site.latency = 0.01
    for kill in range(1, 6):
        process = start_cli("mirror", site.url, *options, "--output", tmp_path / "killed")
        deadline = time.monotonic() + 20
        while len(site.requests) < kill * 22 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=10)
    finished = run_here("mirror", site.url, *options, "--output", tmp_path / "killed")
    assert finished.json["status"] == "ok"
    host = f"127.0.0.1_{site.port}"
    whole, killed = Copy(tmp_path / "whole" / host), Copy(tmp_path / "killed" / host)
    assert killed.files == whole.files
    assert _timeless(killed.manifest) == _timeless(whole.manifest)
    assert not list((tmp_path / "killed").rglob("*.tmp"))
    fetched = len([path for path in site.paths() if path in paths])
    assert fetched - len(paths) <= 5 * (concurrency + 32)


def _timeless(manifest: dict[str, object]) -> object:
    times = ("fetched_at", "changed_at", "crawl_started", "crawl_completed")
    pages = manifest["pages"]
    assert isinstance(pages, list)
    return (
        {name: value for name, value in manifest.items() if name not in (*times, "pages")},
        [{name: value for name, value in page.items() if name not in times} for page in pages],
    )


async def test_lost_state_is_rebuilt_from_the_mirror(site: Site, run: Mirror, copy: Copy) -> None:
    """Without `_state.sqlite3` nothing is refetched; aliases, failures and gone pages are still known."""
    paths = site.fill(5)
    site.redirect("/old", paths[0])
    site.sitemap(urls=[*paths, "/old", "/missing"])
    await run()
    site.sitemap(urls=[*paths[:4], "/old", "/missing"])
    await run(update=True)
    before = copy.manifest
    (copy.folder / "_state.sqlite3").unlink()
    site.clear_log()
    report = await run()
    assert _pages(site) == []
    assert report.successful == 4
    assert any("state" in warning for warning in report.warnings)
    after = copy.manifest
    for part in ("pages", "gone"):
        assert after[part] == before[part]
    assert copy.accounted() == sorted([*paths, "/old", "/missing"])


async def test_damaged_state_is_set_aside_and_rebuilt(site: Site, run: Mirror, copy: Copy) -> None:
    """A state that SQLite cannot read is kept as `.corrupt`; no page is fetched again."""
    site.sitemap(urls=site.fill(3))
    await run()
    (copy.folder / "_state.sqlite3").write_bytes(b"this is not a database" * 1000)
    site.clear_log()
    report = await run()
    assert report.successful == 3
    assert _pages(site) == []
    assert (copy.folder / "_state.sqlite3.corrupt").exists()


async def test_processed_urls_count_as_done_without_state_or_manifest(site: Site, run: Mirror, copy: Copy) -> None:
    """`_processed.txt` alone is enough; a last line without its newline does not count."""
    paths = site.fill(4)
    site.sitemap(urls=paths)
    copy.folder.mkdir(parents=True)
    lines = [f"{site.url}{path}" for path in paths]
    (copy.folder / "_processed.txt").write_text(f"{lines[0]}\n{lines[1]}\n{lines[2]}", "utf-8")
    report = await run()
    assert report.successful == 4
    assert sorted(_pages(site)) == paths[2:]
    assert (copy.folder / "_processed.txt").read_text("utf-8").splitlines() == lines


async def test_kill_between_state_and_log_loses_no_line(site: Site, run: Mirror, copy: Copy) -> None:
    """A log that lacks its last lines, one of them torn, is completed from the state."""
    paths = site.fill(5)
    site.sitemap(urls=paths)
    await run()
    log = copy.folder / "_processed.txt"
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    with sqlite3.connect(copy.folder / "_state.sqlite3") as db:
        offset = len(b"".join(lines[:2]))
        db.execute("UPDATE mirror SET log_offset = ?, log_lines = ?", (offset, b"".join(lines[2:]).decode()))
    db.close()
    log.write_bytes(b"".join(lines[:3]) + lines[3][:10])
    site.clear_log()
    await run()
    assert log.read_bytes() == whole
    assert _pages(site) == []


async def test_pages_lost_in_a_power_cut_are_fetched_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A recorded page whose bytes never reached the disk is fetched again."""
    paths = site.fill(4)
    site.sitemap(urls=paths)
    await run(max_pages=3)
    with sqlite3.connect(copy.folder / "_state.sqlite3") as db:
        db.execute("UPDATE file SET durable = 0")  # as it is until the pages are forced onto the disk
        db.execute("UPDATE run SET boot_id = 'another'")
    db.close()
    files = sorted(copy.folder.rglob("page/*/index.md"))
    files[0].unlink()
    files[1].write_bytes(b"")
    site.clear_log()
    report = await run(max_pages=0)
    assert report.successful == 4
    assert sorted(_pages(site)) == [paths[0], paths[1], paths[3]]
    assert all(data for data in copy.files.values())


def test_second_run_in_one_folder_is_refused(site: Site, start_cli: StartCli, run_here: RunHere, out: Path) -> None:
    """It ends with an error while the first continues; after a kill the lock is free."""
    paths, gate = site.fill(30), threading.Event()
    site.sitemap(urls=paths)
    site.fault(paths[3], held(gate), ok())
    first = start_cli("mirror", site.url, "--rate-limit", 0, "--output", out)
    site.wait_for(6, timeout=30)
    second = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert second.returncode == 1
    assert second.json["status"] == "error"
    assert "another" in second.json["error"]
    first.kill()
    first.communicate(timeout=10)
    gate.set()
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json["successful"] == 30


async def test_locked_folder_raises_its_own_error(site: Site, out: Path) -> None:
    """A library user can tell a locked folder from other failures."""
    site.latency = 0.1
    site.sitemap(urls=site.fill(20))
    run = mirror(site.url, output=out, rate_limit=0)
    async for _ in run:
        with pytest.raises(FolderLocked):
            await mirror(site.url, output=out, rate_limit=0)
        break
    run.stop()
    assert (await run).status == "interrupted"


async def test_pages_of_a_subdomain_have_their_own_folder(site: Site, out: Path) -> None:
    """The manifest's path leads to the folder of the other host."""
    main, docs = site.url_of("site.localhost"), site.url_of("docs.site.localhost")
    site.html_page("/a", "A", "<p>a</p>", host="site.localhost")
    site.html_page("/b", "B", "<p>b</p>", host="docs.site.localhost")
    site.sitemap(urls=[f"{main}/a", f"{docs}/b"], host="site.localhost")
    report = await mirror(main, output=out, rate_limit=0)
    copy = Copy(out / f"site.localhost_{site.port}")
    assert report.successful == 2
    paths = sorted(page["path"] for page in copy.manifest["pages"])
    assert paths == [f"../docs.site.localhost_{site.port}/b/index.md", "a/index.md"]
    assert all((copy.folder / path).exists() for path in paths)
    assert not list(out.rglob("_lock*"))


async def test_site_without_a_saved_page_is_an_error(site: Site, run: Mirror) -> None:
    """Whether its pages failed or are no pages."""
    site.page("/a.pdf", b"%PDF-1.4", type="application/pdf")
    site.sitemap(urls=["/a.pdf"])
    report = await run()
    assert (report.status, report.skipped, report.successful) == ("error", 1, 0)
    assert (report.error or "").startswith("not one page could be saved: ")


async def test_larger_max_file_size_fetches_skipped_pages(site: Site, run: Mirror) -> None:
    """A page skipped for its size is fetched when --max-file-size allows it, and only then."""
    site.html_page("/small", "S", "<p>small</p>")
    site.html_page("/large", "L", "<p>" + "large " * 60_000 + "</p>")
    site.sitemap(urls=["/small", "/large"])
    report = await run(max_file_size=0.1)
    assert (report.successful, report.skipped) == (1, 1)
    site.clear_log()
    await run(max_file_size=0.1)
    assert site.count("/large") == 0
    report = await run(max_file_size=1)
    assert (report.successful, report.skipped) == (2, 0)


async def test_empty_scope_is_an_error_on_an_existing_mirror(site: Site, run: Mirror) -> None:
    """Pages of an earlier run do not hide that this scope is empty."""
    site.sitemap(urls=site.fill(3))
    await run()
    with pytest.raises(EmptySitemap):
        await run(include_path=("/none/*",))


@pytest.mark.parametrize("where", ["/page/0003", "/sitemap.xml"])
def test_retry_after_survives_a_kill(site: Site, start_cli: StartCli, out: Path, where: str) -> None:
    """The host asked for ten minutes and the run was killed: the next one does not even request the start page."""
    site.sitemap(urls=site.fill(5))
    site.html_page("/", "Home", "<p>home</p>")
    site.fault(where, status(429, retry_after="600"))
    command = ("mirror", site.url, "--rate-limit", 0, "--output", out)
    first = start_cli(*command)
    state = out / f"127.0.0.1_{site.port}" / "_state.sqlite3"
    until(lambda: peek(state, host_pauses) not in (None, "{}"))
    first.kill()
    first.communicate(timeout=10)
    site.clear_log()
    second = start_cli(*command)
    assert second.stderr is not None
    said = second.stderr.readline()
    assert "asked for in the last run" in said
    time.sleep(0.5)
    second.kill()
    second.communicate(timeout=10)
    assert site.requests == []


async def test_reading_a_finished_state_leaves_no_files(site: Site, run: Mirror, copy: Copy) -> None:
    """A run that cannot reach its site has only read the pauses of hosts."""
    site.sitemap(urls=site.fill(2))
    await run()
    site.stop()
    with pytest.raises(Unreachable):
        await run(max_retries=0)
    assert [path.name for path in copy.folder.glob("_state*")] == ["_state.sqlite3"]


async def test_failed_write_of_pauses_ends_the_run(site: Site, run: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listed URLs in the same transaction are lost with it, so continuing would skip them silently."""
    site.sitemap(urls=site.fill(5))
    site.latency = 0.4
    real = State.set_facts

    def refuse(state: State, **facts: object) -> None:
        if facts.get("host_pauses"):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        real(state, **facts)

    monkeypatch.setattr(State, "set_facts", refuse)
    site.fault("/page/0001", status(429, retry_after="30"))
    with pytest.raises(OutputError, match="cannot write"):
        await run()
