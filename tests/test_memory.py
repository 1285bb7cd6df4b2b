"""What a process may keep for itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sitemirror.memory import Seldom

PAGES = """
import resource, sys
from sitemirror.memory import give_back, return_large_blocks
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
held = bytearray(64 << 20)
del held
give_back()
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]) * resource.getpagesize() >> 20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc can be told")
def test_what_every_page_needs_stays_and_what_one_needed_goes() -> None:
    """Blocks of a usual size are not asked of the system for each page; a very large one is given back at once."""
    done = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True)
    faults, megabytes = map(int, done.stdout.split())
    assert faults < 20  # 300 if each block came anew
    assert megabytes < 64


def test_of_many_who_ask_one_is_heard() -> None:
    """However many sites there are, memory is given back once in so many seconds."""
    seldom = Seldom(10)
    assert [seldom.is_due(now) for now in (3, 3, 12.9, 13, 13, 22, 23.5)] == [
        True,
        False,
        False,
        True,
        False,
        False,
        True,
    ]
