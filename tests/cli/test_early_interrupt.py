"""Ctrl+C while the program loads, where it only reads, and when it has ended: one line, and never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import StartCli, clean_environment
from tests.site import Site, faults

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")

# A finder that never finds anything, and sends the signal when a certain module is looked for.
AT_IMPORT = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""

AT_EXIT = """
import atexit, os, signal, sys
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
"""

AT_LAST = """
import atexit, signal, sys
atexit.register(lambda: sys.stderr.write(str(signal.getsignal(signal.SIGINT)) + chr(10)))
"""

START = "sys.argv[0] = 'sitemirror'\nfrom sitemirror.cli import main\nsys.exit(main())"


def run(code: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code + START, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=clean_environment(None), cwd=cwd, timeout=40, check=False
    )


@pytest.mark.parametrize(
    "module",
    [
        "sitemirror.cli.commands",
        "sitemirror.settings",
        "sitemirror.cli.job",
        "sitemirror.cli.progress",
        "sitemirror.publish.report",
    ],
)
def test_ctrl_c_while_modules_load_gives_one_line(tmp_path: Path, module: str) -> None:
    """During any import: exit code 130, one line on stderr, nothing on stdout or disk."""
    done = run(AT_IMPORT.format(module=module), "mirror", "http://127.0.0.1:9/", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_convert_fetches_gives_one_line(site: Site, start_cli: StartCli) -> None:
    """`convert` ends at once, however slow the server is."""
    site.html_page("/a", "A", "<p>A</p>")
    gate = threading.Event()
    site.fault("/a", faults.held(gate))
    process = start_cli("convert", f"{site.url}/a")
    deadline = time.monotonic() + 30
    while not site.count("/a"):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    gate.set()
    assert (process.returncode, stdout, stderr) == (130, "", "interrupted\n")


def test_ctrl_c_after_the_end_changes_nothing(site: Site, out: Path, tmp_path: Path) -> None:
    """After the run, Ctrl+C changes neither exit code nor output."""
    site.fill(1)
    site.sitemap()
    done = run(AT_EXIT, "mirror", site.url, "--rate-limit", "0", "--output", str(out), "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "ok"


def test_ctrl_c_is_ignored_during_python_shutdown(tmp_path: Path) -> None:
    """Handlers no longer run then, so the signal would change the exit code."""
    done = run(AT_LAST, "where", "http://127.0.0.1:9/a", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, str(signal.SIG_IGN))


def test_ctrl_c_is_ignored_where_the_shell_wants_that(tmp_path: Path) -> None:
    """What a shell starts in the background is not ended by the Ctrl+C that ends what is in front."""
    ignoring = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = run(ignoring + AT_IMPORT.format(module="sitemirror.settings"), "where", "http://127.0.0.1:9/a", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{Path('output', '127.0.0.1_9', 'a', 'index.md')}\n")
