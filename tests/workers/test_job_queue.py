"""Whose page is next."""

from __future__ import annotations

import asyncio

from sitemirror.stopwatch import IDLE
from sitemirror.workers.pool import JobQueue
from sitemirror.workers.worker import WorkerJob


def job(site: str, size: int) -> WorkerJob:
    loop = asyncio.new_event_loop()
    try:
        return WorkerJob((b"", b"x" * size), loop.create_future(), IDLE, site)
    finally:
        loop.close()


def order(line: JobQueue) -> str:
    return "".join(line.next().site for _ in range(len(line)))


def test_a_site_is_served_in_its_own_order() -> None:
    """Those that a lost worker gives back are its first again."""
    line, jobs = JobQueue(), [job("a", 10) for _ in range(5)]
    for one in jobs:
        line.add(one)
    taken = [line.next(), line.next()]
    line.put_back(taken)
    assert list(line) == jobs
    assert [line.next() for _ in range(5)] == jobs


def test_the_site_that_has_had_the_least_is_next() -> None:
    """By bytes: ten small pages weigh as much as one large one."""
    line = JobQueue()
    for _ in range(3):
        line.add(job("L", 1000))
    for _ in range(20):
        line.add(job("s", 100))
    assert order(line) == "L" + "s" * 10 + "L" + "s" * 10 + "L"


def test_nobody_saves_up_by_not_asking() -> None:
    """A site that comes late has its share from then on, and not what others had before."""
    line = JobQueue()
    for _ in range(50):
        line.add(job("a", 100))
    for _ in range(40):
        line.next()
    for _ in range(10):
        line.add(job("b", 100))
    assert sorted(order(line)[:10]) == ["a"] * 5 + ["b"] * 5
