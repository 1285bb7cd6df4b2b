"""Memory that a process keeps or returns."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PAGES = """
import resource, sys
from sitemirror.memory import return_large_blocks
return_large_blocks()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def page():
    return [bytearray(400_000) for _ in range(3)]
page()
before = faults()
for _ in range(100):
    page()
print((faults() - before) // 100)
for _ in range(2):  # After the first, the library would keep the second.
    held = bytearray(16 << 20)
    after = bytearray(100)
    del held
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]) * resource.getpagesize() >> 20)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_usual_blocks_are_reused_and_large_ones_returned() -> None:
    """Blocks of a usual size are not requested for each page; a very large one is returned at once."""
    done = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True)
    faults, megabytes = map(int, done.stdout.split())
    assert faults < 20  # 300 if each block came anew
    assert megabytes < 20
