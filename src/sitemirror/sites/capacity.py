"""Limit the sites that run at once by connections and by the files that a process may open."""

from __future__ import annotations

from typing import Final

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

FILES_PER_SITE: Final = 8
"""Its state (three files), its lock, its log, and a page being written or forced onto the disk."""

FILES_BESIDE: Final = 64
"""Other open files of the process: its streams, pipes to workers, lookups."""

_WITHOUT_LIMITS: Final = 2048  # Windows has none that counts sockets.
_ENOUGH: Final = 65_536


def open_files() -> int:
    """The number of files that this process may have open."""
    if resource is None:
        return _WITHOUT_LIMITS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _ENOUGH if soft == resource.RLIM_INFINITY else min(soft, _ENOUGH)


def allow_more_files() -> None:
    """Raise the limit as far as the system allows. For programs only: it is that of the whole process."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _ENOUGH:
        return
    # macOS refuses more than 10,240, even with a higher limit.
    for files in (_ENOUGH, 10_240):
        most = files if hard == resource.RLIM_INFINITY else min(files, hard)
        if most <= soft:
            return
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (ValueError, OSError):
            continue
        return


class Capacity:
    """The connections and open files that are free. One site alone always fits."""

    def __init__(self, connections: int, files: int) -> None:
        self._connections = self._most_connections = connections
        self._files = self._most_files = max(files - FILES_BESIDE, 1)
        self._sites = 0

    def acquire(self, concurrency: int) -> bool:
        """Reserve what a site needs. False if it is not free."""
        connections, files = self._cost(concurrency)
        if self._sites and (connections > self._connections or files > self._files):
            return False
        self._connections -= connections
        self._files -= files
        self._sites += 1
        return True

    def release(self, concurrency: int) -> None:
        connections, files = self._cost(concurrency)
        self._connections += connections
        self._files += files
        self._sites -= 1

    def _cost(self, concurrency: int) -> tuple[int, int]:
        return min(concurrency, self._most_connections), min(FILES_PER_SITE + concurrency, self._most_files)
