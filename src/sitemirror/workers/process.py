"""The program of a worker process: jobs from stdin, one by one, answers to stdout.

It is started as a program of its own and not forked, since a fork of a program with threads may hang. It uses neither
network nor state, and writes only saved pages whose links it makes local. It ends when its input does, so also when its
parent is killed.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from contextlib import suppress
from importlib import import_module
from struct import Struct
from typing import BinaryIO, Final

from sitemirror.memory import give_back, return_large_blocks
from sitemirror.workers.jobs import Message, answer_job

HEADER: Final = Struct("<IIf")
"""Header of a message: the lengths of its two parts, and the seconds that an answer took."""

MOST_MEMORY: Final = 4 << 30
"""Limit of a worker's address space, in bytes, where the system can enforce it. A page of 10 MB with an element every
few bytes takes a third of it.
"""

_BUFFER: Final = 1 << 18
_LARGE: Final = 1 << 18  # bytes of a page whose tree is worth releasing
_MANY: Final = 1 << 23  # bytes of pages after which freed memory is fragmented
_NOTHING: Final[Message] = (b"", b"")


def run_jobs() -> None:
    """Run jobs until stdin ends."""
    import_module("sitemirror.workers.readers")  # Not imported by the parent, which uses the rest of this module.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the whole group; the parent says when to end
    with os.fdopen(os.dup(0), "rb", _BUFFER) as jobs, os.fdopen(os.dup(1), "wb", _BUFFER) as results:
        # Output of libraries must not get among the answers.
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)
        _bound_memory()
        return_large_blocks()
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        send(results, _NOTHING)
        read = 0
        while (job := receive(jobs)) is not None:
            begun = time.perf_counter()
            answer = answer_job(job)
            send(results, answer, seconds=time.perf_counter() - begun)
            read += len(job[1])
            if len(job[1]) > _LARGE or read > _MANY:
                read = 0
                job, answer = _NOTHING, _NOTHING
                gc.collect()  # Python's own pool of freed objects is scattered among the memory of pages.
                give_back()


def _bound_memory() -> None:
    """Limit the memory of this process. A page beyond the limit fails, or its worker ends."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    with suppress(ValueError, OSError):  # macOS knows the limit and refuses to set it
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def framed(message: Message, *, seconds: float = 0.0) -> bytes:
    """Encode a message for a pipe."""
    head, body = message
    return b"".join((HEADER.pack(len(head), len(body), seconds), head, body))


def send(file: BinaryIO, message: Message, *, seconds: float = 0.0) -> None:
    file.write(framed(message, seconds=seconds))
    file.flush()


def receive(file: BinaryIO) -> Message | None:
    """Read the next message; None at the end."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    head_size, body_size, _ = HEADER.unpack(header)
    return file.read(head_size), file.read(body_size)
