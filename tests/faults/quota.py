"""Runs a command whose quota is used up at some point: `python -m tests.faults.quota BYTES PLACE COMMAND …`.

The kernel answers EDQUOT to every write of BYTES or more at once, and to every write at PLACE in a file or beyond. A
seccomp filter does it, because many kernels are built without quotas and none holds root to one.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import Final

NEVER: Final = 0xFFFF_FFFF

# What the kernel calls the machine, and its numbers of `write` and `pwrite64`.
_MACHINES: Final = {"x86_64": (0xC000003E, 1, 18), "aarch64": (0xC00000B7, 64, 68)}
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def possible() -> bool:
    """Whether this machine can do it."""
    return sys.platform == "linux" and platform.machine() in _MACHINES and sys.byteorder == "little"


def impose(most: int, place: int) -> None:
    """From now on, also for all programs that are started from here. There is no way back."""
    machine, write, pwrite = _MACHINES[platform.machine()]
    steps = (
        (_LOAD, 0, 0, 4),
        (_IF_EQUAL, 0, 7, machine),  # else allow
        (_LOAD, 0, 0, 0),
        (_IF_EQUAL, 3, 0, write),  # to its number of bytes
        (_IF_EQUAL, 0, 4, pwrite),  # else allow
        (_LOAD, 0, 0, 16 + 3 * 8),
        (_IF_AT_LEAST, 3, 2, place),
        (_LOAD, 0, 0, 16 + 2 * 8),
        (_IF_AT_LEAST, 1, 0, most),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | errno.EDQUOT),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, program, 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "the kernel takes no filter")


if __name__ == "__main__":
    impose(int(sys.argv[1]), int(sys.argv[2]))
    os.execv(sys.argv[3], sys.argv[3:])
