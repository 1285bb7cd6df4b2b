"""The pool of workers: the same readings as in this process, and no page, hang or crash that costs more than itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from sitemirror.errors import DiskFull, OutputError
from sitemirror.stopwatch import IDLE, Running, Stage
from sitemirror.workers import jobs, pool, process
from sitemirror.workers.jobs import ConvertOptions, JobFailed, PageSource, Received
from sitemirror.workers.readers import READERS
from sitemirror.workers.worker import Worker, WorkerJob
from tests.workers.pools import ALL, PAGE, URL, pool_of, source, started


async def test_a_worker_reads_as_this_process_does() -> None:
    """Markdown, links, metadata and anchors are the same, whoever reads: page, text, style sheet."""
    wanted = [("html", source()), ("text", source(b"# T\n\ntext")), ("css", source(b"a{background:url(b.png)}"))]
    async with pool_of(1) as (readers, _):
        await started(readers)
        for kind, page in wanted:
            assert await readers.read(kind, page, ALL) == READERS[kind](page, ALL)
        assert len(readers.pids) == 1


async def test_answers_find_their_askers() -> None:
    """Two hundred pages at once, over two workers: each asker gets its own page."""
    async with pool_of(2) as (readers, _):
        await started(readers)
        pages = [f"<title>t{n}</title><p>{'x' * (n * 37 % 5000)} number {n}" for n in range(200)]
        found = await asyncio.gather(*(readers.read("html", source(page.encode()), ConvertOptions()) for page in pages))
    assert [reading.title for reading in found] == [f"t{n}" for n in range(200)]


@pytest.mark.slow
async def test_reading_time_is_measured_where_it_happens() -> None:
    """In this process or in a worker: the seconds of each page without its wait for the others."""
    large = source(b"<p>words <b>and</b> more" * 20_000)
    watch = Running(1)
    told = watch.stages[Stage.CONVERTING]
    async with pool_of(1) as (readers, _):
        await started(readers)
        begun = time.perf_counter()
        await asyncio.gather(*(readers.read("html", large, ConvertOptions(), watch) for _ in range(4)))
        took = time.perf_counter() - begun
    assert told.count == 4
    assert took / 10 < told.seconds <= took
    async with pool_of(0) as (readers, _):
        await readers.read("html", large, ConvertOptions(), watch)
    assert told.count == 5


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="Windows has other priorities")
def test_a_worker_steps_back_before_it_loads_anything(tmp_path: Path) -> None:
    """Its parent has requests to send, also in the half second that loading takes."""
    (tmp_path / "looking.py").write_text("import os; print(os.getpriority(os.PRIO_PROCESS, 0)); raise SystemExit")
    command = (sys.executable, "-S", "-c", pool._BOOT, "looking", str(tmp_path), *sys.path)
    told = subprocess.run(command, capture_output=True, check=True).stdout
    assert int(told) > os.getpriority(os.PRIO_PROCESS, 0)


async def test_a_worker_that_dies_is_replaced() -> None:
    """A worker killed from outside costs nothing: its pages are read by another, and there are as many as before."""
    async with pool_of(2) as (readers, _):
        for _ in range(3):
            for pid in await started(readers):
                os.kill(pid, signal.SIGKILL)
            found = await asyncio.gather(*(readers.read("html", source(), ConvertOptions()) for _ in range(20)))
            assert {reading.title for reading in found} == {"A page"}
        assert len(await started(readers)) == 2


async def test_a_page_that_kills_its_worker_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that ends its process twice is answered with the reason; those behind it are done."""
    monkeypatch.setattr(pool, "_BOOT", _booting("if b'poison' in job[1]: os._exit(139)"))
    async with pool_of(1) as (readers, _):
        await started(readers)
        bad = asyncio.create_task(readers.read("html", source(b"<p>poison"), ConvertOptions()))
        good = [asyncio.create_task(readers.read("html", source(), ConvertOptions())) for _ in range(5)]
        with pytest.raises(JobFailed, match="the worker died of it"):
            await bad
        assert [reading.title for reading in await asyncio.gather(*good)] == ["A page"] * 5


async def test_a_page_that_hangs_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that does not end is ended, with its worker; those behind it are done by the next."""
    monkeypatch.setattr(pool, "_TICK", 0.1)
    monkeypatch.setattr(pool, "_BOOT", _booting("if b'endless' in job[1]: time.sleep(600)"))
    async with pool_of(1) as (readers, _):
        await started(readers)
        # Little time for this page alone: a busy machine may take long to start a worker, before it and after.
        monkeypatch.setattr(pool, "LONGEST", 0.5)
        bad = asyncio.create_task(readers.read("html", source(b"<p>endless"), ConvertOptions()))
        good = asyncio.create_task(readers.read("html", source(), ConvertOptions()))
        with pytest.raises(JobFailed, match="took longer than"):
            await bad
        monkeypatch.setattr(pool, "LONGEST", 60)
        assert (await good).title == "A page"


@pytest.mark.parametrize("cores", [1, 2])
async def test_a_large_page_is_never_read_here(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    """A pool left to itself gives large pages to a worker from the first on, so none can end or stop the run."""
    monkeypatch.setattr(pool, "suitable_workers", lambda: cores - 1)
    monkeypatch.setattr(pool, "_BOOT", _booting("if b'poison' in job[1]: os._exit(139)"))
    async with pool_of(0) as (readers, _):
        large = source(b"<title>Large</title>poison" + b" " * pool.LARGE)
        bad = asyncio.create_task(readers.read("html", large, ConvertOptions()))
        assert (await readers.read("html", source(), ConvertOptions())).title == "A page"
        with pytest.raises(JobFailed, match="the worker died of it"):
            await bad
        good = await readers.read("html", source(b"<title>Large</title>" + b" " * pool.LARGE), ConvertOptions())
        assert good.title == "Large"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to its memory")
async def test_a_page_cannot_take_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that wants more memory than a page may need costs that page alone."""
    monkeypatch.setattr(pool, "_BOOT", _booting("if b'greedy' in job[1]: bytearray(5 << 30)"))
    async with pool_of(1) as (readers, _):
        await started(readers)
        bad = asyncio.create_task(readers.read("html", source(b"<p>greedy"), ConvertOptions()))
        good = asyncio.create_task(readers.read("html", source(), ConvertOptions()))
        with pytest.raises(JobFailed, match=r"MemoryError|the worker died of it"):
            await bad
        assert (await good).title == "A page"


async def test_error_while_reading_is_the_pages_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a worker and in this process alike."""
    monkeypatch.setattr(pool, "_BOOT", _booting("if b'odd' in job[1]: return jobs._dump({'error': 'Odd: page'}), b''"))
    async with pool_of(1) as (readers, _):
        await started(readers)
        with pytest.raises(JobFailed, match="Odd: page"):
            await readers.read("html", source(b"<p>odd"), ConvertOptions())
    monkeypatch.setitem(READERS, "html", _broken)
    async with pool_of(0) as (readers, _):
        with pytest.raises(JobFailed, match="ZeroDivisionError"):
            await readers.read("html", source(), ConvertOptions())


async def test_without_processes_it_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no worker can be started, this process reads, and says so once if workers were asked for."""
    for program in ("/nonexistent/python", "/bin/false" if os.name == "posix" else sys.executable):
        monkeypatch.setattr(sys, "executable", program)
        async with pool_of(2) as (readers, warnings):
            for _ in range(200):
                assert (await readers.read("html", source(), ConvertOptions())).title == "A page"
                await asyncio.sleep(0.005)
                if warnings:
                    break
            assert len(warnings) == 1
            assert "no workers" in warnings[0]
            assert (await readers.read("html", source(), ConvertOptions())).title == "A page"
            assert readers.pids == []


async def test_workers_end_with_the_pool() -> None:
    """Closing leaves no process behind, also when they are busy or have only just been started."""
    async with pool_of(2) as (readers, _):
        pids = await started(readers)
        tasks = [asyncio.create_task(readers.read("html", source(PAGE * 2000), ConvertOptions())) for _ in range(8)]
        await asyncio.sleep(0)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert all(isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*tasks, return_exceptions=True))
    async with pool_of(2) as (readers, _):
        await readers.read("html", source(), ConvertOptions())  # They are being started.


async def test_a_saved_file_is_rewritten_by_a_worker(tmp_path: Path) -> None:
    """Links become local in place; size and hash are those of the new file; what was done already stays."""
    file = tmp_path / "h" / "a" / "index.html"
    file.parent.mkdir(parents=True)
    html = b'<a href="/b#x">b</a><a href="/c">c</a>'
    file.write_bytes(html)
    targets = {"https://h/b": "h/b/index.html"}
    received = Received(str(tmp_path), "h/a/index.html", sha256(html).hexdigest(), "https://h/a", None, None, targets)
    async with pool_of(1) as (readers, _):
        await started(readers)
        [(size, digest)] = await readers.localize([received])
        assert file.read_bytes() == b'<a href="../b/index.html#x">b</a><a href="https://h/c">c</a>'
        assert (size, digest) == (len(file.read_bytes()), sha256(file.read_bytes()).hexdigest())
        assert await readers.localize([received, received]) == [(size, digest)] * 2


@pytest.mark.parametrize("workers", [0, 1])
async def test_what_the_disk_refuses_ends_the_run(tmp_path: Path, workers: int) -> None:
    """A file that cannot be read or written is no page's failure: the refusal arrives as it is, from a worker too."""
    received = Received(str(tmp_path), "h/missing.html", "x", "https://h/a", None, content_type=None, targets={})
    async with pool_of(workers) as (readers, _):
        if workers:
            await started(readers)
        with pytest.raises(OutputError, match="cannot read h/missing"):
            await readers.localize([received])


def test_a_full_disk_stays_a_full_disk() -> None:
    """The kind of refusal survives the way from the worker: the run ends as it would have in one process."""
    with pytest.raises(DiskFull, match="no room") as caught:
        jobs.raise_failure((b'{"refused": {"full": true, "message": "no room", "hint": "free some"}}', b""))
    assert caught.value.hint == "free some"


def test_messages_survive_the_pipe(tmp_path: Path) -> None:
    """A message of any size and content, half surrogate pairs included, is read as it was sent; an end is an end."""
    file = tmp_path / "pipe"
    messages = [(b"", b""), (b"[1]", bytes(range(256)) * 5000), (jobs._dump(["\ud800"]), b"")]
    with file.open("wb") as out:
        for message in messages:
            process.send(out, message)
    with file.open("rb") as back:
        assert [process.receive(back) for _ in messages] == messages
        assert process.receive(back) is None


def _broken(_: PageSource, __: ConvertOptions) -> jobs.ParsedPage:
    raise ZeroDivisionError


def _booting(first: str) -> str:
    """A worker's first words that make it do something else with certain jobs."""
    return f"""
import os, sys, time
sys.path[:] = sys.argv[1:]
from sitemirror.workers import jobs, process
real = process.answer_job
def do(job):
    {first}
    return real(job)
process.answer_job = do
process.run_jobs()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
async def test_a_worker_that_dies_while_it_starts_is_replaced() -> None:
    """One that is killed before it has said a word is no sign that none can be had."""
    async with pool_of(1) as (readers, warnings):
        await readers.read("html", source(), ConvertOptions())
        while not readers._workers or not readers._workers[0].pid:
            await asyncio.sleep(0)
        os.kill(readers._workers[0].pid, signal.SIGKILL)
        assert len(await started(readers)) == 1
    assert warnings == []


async def test_rewriting_is_spread_over_all_workers(tmp_path: Path) -> None:
    """Jobs that carry no page count as well, or one worker would have them all."""
    (tmp_path / "a.html").write_bytes(b"<p>x")
    file = Received(str(tmp_path), "a.html", None, URL, "utf-8", content_type=None, targets={})
    async with pool_of(2) as (readers, _):
        await started(readers)
        waiting = [asyncio.create_task(readers.localize([file])) for _ in range(10)]
        await asyncio.sleep(0)
        assert [len(worker.jobs) for worker in readers._workers] == [5, 5]
        await asyncio.gather(*waiting)


async def test_standing_still_is_no_hanging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was suspended for longer than a page may take goes on with that page."""
    async with pool_of(1) as (readers, _):
        await started(readers)
        monkeypatch.setattr(pool, "LONGEST", 5.0)
        monkeypatch.setattr(pool, "_STANDSTILL", 0.2)
        reading = asyncio.create_task(readers.read("html", source(PAGE * 300), ConvertOptions()))
        await asyncio.sleep(0)
        readers._workers[0]._began -= 60
        readers._ticked -= 60
        readers._tick()
        assert (await reading).title == "A page"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no way to see a process' memory here")
async def test_worker_releases_memory_of_a_large_page() -> None:
    """One large page among many does not keep a worker large for the rest of the run."""

    def resident(pid: int) -> int:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async with pool_of(1) as (readers, _):
        [pid] = await started(readers)
        before = resident(pid)
        await readers.read("html", source(b"<p>" + b"<b>word</b> " * 300_000), ConvertOptions())
        await readers.read("html", source(), ConvertOptions())
        assert resident(pid) - before < 25_000_000


async def test_large_pages_of_one_site_do_not_hold_up_another() -> None:
    """A worker that has a large page in hand is given no other, and the site that has had the least is next."""
    large, done = b"<p>words <b>and</b> more" * 40_000, list[str]()

    async def read(body: bytes, url: str) -> None:
        await readers.read("html", source(body, url), ConvertOptions())
        done.append(url)

    async with pool_of(1) as (readers, _):
        await started(readers)
        heavy = [read(large, "https://heavy.example/") for _ in range(6)]
        light = [read(PAGE, "https://light.example/") for _ in range(30)]
        await asyncio.gather(*heavy, *light)
    assert len(done) == 36
    assert "https://heavy.example/" not in done[1:31]  # the one that was in hand, and then all of the small ones


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
async def test_answers_come_in_pieces_of_any_size(size: int) -> None:
    """Wherever a pipe cuts, each job gets its own answer, whole."""
    async with pool_of(0) as (readers, _):
        worker = Worker(readers, is_up=True)
        answers = [(b"[%d]" % number, bytes([number]) * (number * 37 % 900)) for number in range(20)]
        asked = [WorkerJob((b"", b""), asyncio.get_running_loop().create_future(), IDLE) for _ in answers]
        worker.jobs.extend(asked)
        sent = b"".join(map(process.framed, answers))
        for start in range(0, len(sent), size):
            worker.pipe_data_received(1, sent[start : start + size])
        assert [job.result.result() for job in asked] == answers
        assert not worker._received


@pytest.mark.parametrize("pipe", [0, 1])
async def test_a_worker_that_is_leaving_is_given_nothing(pipe: int) -> None:
    """Between the end of its pipes and that of its process it still seems to be there."""
    async with pool_of(0) as (readers, _):
        worker = Worker(readers, is_up=True)
        assert worker.has_room
        worker.pipe_connection_lost(pipe, None)
        assert not worker.has_room


def _itself(worker: Worker) -> Worker:
    return worker


@pytest.mark.skipif(os.name == "nt", reason="asyncio waits otherwise there")
async def test_that_workers_end_is_heard_by_whoever_waits_for_it(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody else asks the system whether a child has ended, which tells it once: asyncio would complain in the log."""
    async with pool_of(0) as (readers, _):
        for _ in range(12):
            workers = [Worker(readers) for _ in range(5)]
            start, command = asyncio.get_running_loop().subprocess_exec, (sys.executable, "-I", "-S", "-c", "pass")
            for worker in workers:
                await start(partial(_itself, worker), *command)
            await asyncio.wait([worker.ended for worker in workers])
    assert caplog.messages == []
