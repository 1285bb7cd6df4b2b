"""Return unused memory to the system, which the C library would keep for hours."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final

_M_TRIM_THRESHOLD: Final = -1  # glibc's names for them
_M_MMAP_THRESHOLD: Final = -3
# Bytes. Less would go back and be asked for again with every page, and the system clears what it gives: a tenth of a
# page's time.
_LARGE: Final = 1 << 20
_FREE: Final = 2 * _LARGE  # that may lie unused at the end of what the process has


def return_large_blocks() -> None:
    """Return large blocks to the system as soon as they are freed.

    The library starts out like that, but with every large block that it frees it keeps larger ones for itself. This
    holds for the whole process, also for what else it does.
    """
    _tell_malloc("mallopt", _M_MMAP_THRESHOLD, _LARGE)
    _tell_malloc("mallopt", _M_TRIM_THRESHOLD, _FREE)


def give_back() -> None:
    """Return fragmented free memory to the system. Takes milliseconds."""
    _tell_malloc("malloc_trim", 0)


def _tell_malloc(name: str, *values: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes  # When it is needed: `--version` and `list` do without.

    with suppress(OSError, AttributeError):  # musl has none
        getattr(ctypes.CDLL(None), name)(*values)
