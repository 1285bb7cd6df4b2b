"""What a program used is counted with all it started, and nothing of it is left behind."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from bench.processes import in_session
from bench.program import DidNotWork, Running, run_other

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

HOLDS_MEMORY = """
import subprocess, sys, time
hold = "import time; kept = bytearray(40_000_000); time.sleep(1.2)"
both = [subprocess.Popen([sys.executable, "-c", hold]) for _ in range(2)]
for one in both: one.wait()
"""

# The parent ends at once and never asks how its child ended, as a server of forked workers does.
LEAVES_WORK_BEHIND = """
import os, time
if os.fork() == 0:
    while time.process_time() < 0.4: pass
    os._exit(0)
"""

WAITS = """
import os, sys, time
os.fork()
open(sys.argv[1] + str(os.getpid()), "w").close()
time.sleep(60)
"""


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", program, *arguments]


@pytest.mark.slow
@linux
def test_memory_is_the_sum_over_all_processes() -> None:
    """Two children with 40 MB each show up in the peak, though the parent has none of it."""
    ended = run_other(python(HOLDS_MEMORY))
    assert 80 < ended.peak_pss_mb < 200
    assert len(ended.memory) > 1


@linux
def test_cpu_time_of_orphans_is_counted() -> None:
    """Work of a process that outlived its parent belongs to the program."""
    assert run_other(python(LEAVES_WORK_BEHIND)).cpu_seconds > 0.35


@linux
def test_a_kill_ends_everything(tmp_path: Path) -> None:
    """No process of the program is left, and it is not waited for."""
    with Running(python(WAITS, f"{tmp_path}/")) as running:
        deadline = time.monotonic() + 20
        while len(list(tmp_path.iterdir())) < 2:
            assert time.monotonic() < deadline
            assert running.alive
            time.sleep(0.01)
        running.kill()
        pids = {int(path.name) for path in tmp_path.iterdir()}
    assert not any(pid in pids for session in pids for pid in in_session(session))


def test_a_program_that_fails_is_no_measurement() -> None:
    """What it said is in the complaint."""
    with pytest.raises(DidNotWork, match="ended with 3:\nno such luck"):
        run_other(python("import sys; sys.stderr.write('no such luck'); sys.exit(3)"))


@pytest.mark.slow
def test_a_program_that_hangs_is_ended() -> None:
    """The time it may take is kept to."""
    began = time.monotonic()
    with pytest.raises(DidNotWork, match="still running"):
        run_other(python("import time; time.sleep(60)"), timeout=0.5)
    assert time.monotonic() - began < 20


def test_settings_of_ours_do_not_reach_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither our own variables nor proxies change what is measured; what the benchmark asks for does."""
    monkeypatch.setenv("SITEMIRROR_RATE_LIMIT", "1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    program = "import json, os; print(json.dumps(sorted(os.environ)))"
    names = run_other(python(program), environment={"FOR_A_PEER": "1"}).stdout.decode()
    assert "FOR_A_PEER" in names
    assert "PATH" in names or "PATH" not in os.environ
    assert "SITEMIRROR" not in names
    assert "proxy" not in names
