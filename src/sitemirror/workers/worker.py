"""A worker process as the pool sees it: its jobs, its answers and its deadline."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from sitemirror.stopwatch import Stopwatch
from sitemirror.workers.jobs import Message
from sitemirror.workers.process import HEADER, framed

if TYPE_CHECKING:
    from sitemirror.workers.pool import Pool

AHEAD: Final = 8
"""Maximum number of jobs given to a worker: it should not wait for the next, nor hold many that others could do."""

BYTES_AHEAD: Final = 256 * 1024
"""The same in bytes: no job waits behind a large page."""

LONGEST_START: Final = 20.0
"""Seconds until a worker has to report that it is ready. In a frozen program, the executable that was started may not
be Python.
"""

_LEAVING: Final = 1.0  # seconds that a worker has to end after it stops answering


@dataclass(slots=True, eq=False)
class WorkerJob:
    """A job and the future of its answer."""

    message: Message
    result: asyncio.Future[Message | str]
    watch: Stopwatch
    site: str = ""  # whose page it is
    deaths: int = 0
    size: int = field(init=False)  # bytes

    def __post_init__(self) -> None:
        head, body = self.message
        self.size = len(head) + len(body)

    def answer(self, answer: Message | str) -> None:
        """Resolve the future. A text is the reason why there is no answer. The caller may have been cancelled."""
        if not self.result.done():
            self.result.set_result(answer)


@dataclass(slots=True, eq=False)
class Worker(asyncio.SubprocessProtocol):
    """A worker process. It runs its jobs in the order they are given."""

    owner: Pool
    jobs: deque[WorkerJob] = field(default_factory=deque)
    is_up: bool = False
    timed_out: bool = False
    load: int = 0  # bytes of jobs without an answer
    ended: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _transport: asyncio.SubprocessTransport | None = None
    _pipe: asyncio.WriteTransport | None = None  # to it
    _received: bytearray = field(default_factory=bytearray)  # an incomplete answer
    _enough: int = 0  # minimum number of bytes until it is complete
    _began: float = field(default_factory=time.monotonic)
    _is_leaving: bool = False  # a pipe is closed, so asyncio will report the end soon

    def do(self, job: WorkerJob) -> None:
        if not self.jobs:
            self._began = time.monotonic()
        self.jobs.append(job)
        self.load += job.size
        pipe = self._pipe
        if pipe is not None and not pipe.is_closing():  # else it is ending, and its jobs are put back
            pipe.write(framed(job.message))

    @property
    def has_room(self) -> bool:
        """True if it can be given another job."""
        return self.is_up and not self._is_leaving and len(self.jobs) < AHEAD and self.load < BYTES_AHEAD

    @property
    def pid(self) -> int:
        return 0 if self._transport is None else self._transport.get_pid() or 0

    def restart_deadline(self) -> None:
        """Restart the deadline of its job."""
        self._began = time.monotonic()

    def check(self, longest: float) -> None:
        """End the process if its start or a job takes too long, and call `lost`."""
        limit = longest if self.is_up else min(longest, LONGEST_START)
        if (self.jobs or not self.is_up) and not self.timed_out and time.monotonic() - self._began > limit:
            self.timed_out = True
            self.kill()

    def end(self) -> None:
        """Ask the process to end: it does when its input is closed."""
        if self._pipe is not None:
            self._pipe.close()

    def kill(self) -> None:
        """Kill the process if it still runs. asyncio reports its end later, and the pipes are closed then.

        Closing them here would poll the process and reap it before asyncio's watcher, which would then complain of an
        unknown child.
        """
        self._is_leaving = True
        if self._transport is not None and not self.ended.done():
            with suppress(ProcessLookupError):
                self._transport.kill()

    # --- called by asyncio -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._pipe = cast(asyncio.WriteTransport | None, self._transport.get_pipe_transport(0))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        received = self._received
        if received:
            received += data
            if len(received) < self._enough:
                return
            data = bytes(received)
            received.clear()
        start, enough = 0, HEADER.size
        while start + enough <= len(data):
            head_size, body_size, seconds = HEADER.unpack_from(data, start)
            begin = start + HEADER.size
            end = begin + head_size + body_size
            if end > len(data):
                enough = end - start
                break
            self._answered((data[begin : begin + head_size], data[begin + head_size : end]), seconds)
            start = end
        if start < len(data):  # Most answers arrive whole, and are cut out of the buffer once.
            received += data[start:]
            self._enough = enough

    def _answered(self, answer: Message, seconds: float) -> None:
        if not self.is_up:  # The first message only reports that it is ready.
            self.is_up = True
            self.owner.up()
            return
        job = self.jobs.popleft()
        self.load -= job.size
        self._began = time.monotonic()
        job.watch.worked(seconds)
        job.answer(answer)
        self.owner.answered()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._is_leaving = True
        if fd == 1:  # It stops answering, usually because it ends; polling it now would reap it too early, too.
            asyncio.get_running_loop().call_later(_LEAVING, self.kill)

    def process_exited(self) -> None:
        if self._transport is not None:
            self._transport.close()
        if not self.ended.done():
            self.ended.set_result(None)
        self.owner.lost(self)
