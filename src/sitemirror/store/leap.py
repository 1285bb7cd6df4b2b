"""Opens a folder by one call that follows no symlink, however deep it is: `openat2` of Linux, which Python lacks.

A page's folder is four or five steps deep, and to take each by itself costs ten calls where this costs one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from errno import ENOENT
from functools import cache
from struct import pack
from typing import Final

MISSING: Final = -2
"""Nothing stands at the path."""

_FAILED: Final = -1
_AT_FDCWD: Final = -100
_OPENAT2: Final = 437  # on Alpha it is another, and on MIPS, where this is none at all
_RESOLVE_NO_SYMLINKS: Final = 4


def no_leap(path: str) -> int:
    """For systems that have no such call."""
    return _FAILED


def leap(path: str) -> int:
    """The descriptor of the folder at an absolute path, `MISSING`, or -1 when there is more to say than this can."""
    return _leap()(path)


@cache
def _leap() -> Callable[[str], int]:
    if sys.platform != "linux" or os.uname().machine == "alpha":
        return no_leap
    try:
        import ctypes  # Every run has it by now; `--version` and `convert` do without.

        call = ctypes.CDLL(None, use_errno=True).syscall
    except (ImportError, OSError, AttributeError):
        return no_leap
    number, here, size = ctypes.c_long(_OPENAT2), ctypes.c_int(_AT_FDCWD), ctypes.c_size_t(24)
    how = ctypes.create_string_buffer(
        pack("QQQ", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS), 24
    )
    last_error = ctypes.get_errno

    def in_one(path: str) -> int:
        fd: int = call(number, here, os.fsencode(path), how, size)
        if fd >= 0:
            return fd
        return MISSING if last_error() == ENOENT else _FAILED

    found = in_one("/")
    if found < 0:  # an old kernel, or a container that forbids it
        return no_leap
    os.close(found)
    return in_one
