"""The jobs that wait for a worker, and whose is next: one site's large pages do not hold up the others' small ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from sitemirror.workers.worker import Job

_SITES: Final = 10_000  # that are remembered


class Line:
    """First come, first served within a site; among sites the one that has had the least, in bytes."""

    def __init__(self) -> None:
        self._jobs: dict[str, deque[Job]] = {}
        self._had: dict[str, int] = {}
        self._now = 0  # what the site had before, that was served last: nobody saves up by not asking

    def __bool__(self) -> bool:
        return bool(self._jobs)  # asked for every page, where the number would be counted

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values()))

    def __iter__(self) -> Iterator[Job]:
        for jobs in self._jobs.values():
            yield from jobs

    def add(self, job: Job) -> None:
        self._of(job).append(job)

    def put_back(self, jobs: Iterable[Job]) -> None:
        """These were given to a worker, which did not get to them: they are the next of their sites."""
        for job in reversed(list(jobs)):
            self._of(job).appendleft(job)

    def _of(self, job: Job) -> deque[Job]:
        jobs = self._jobs.get(job.site)
        if jobs is None:
            if len(self._had) > _SITES:
                self._had = {site: had for site, had in self._had.items() if site in self._jobs}
            jobs = self._jobs[job.site] = deque()
            self._had[job.site] = max(self._had.get(job.site, 0), self._now)
        return jobs

    def next(self) -> Job:
        """Takes the next job out of the line, which must not be empty."""
        site = min(self._jobs, key=self._had.__getitem__)
        jobs = self._jobs[site]
        job = jobs.popleft()
        if not jobs:
            del self._jobs[site]
        self._now = self._had[site]
        self._had[site] += job.size
        return job

    def clear(self) -> None:
        self._jobs.clear()
