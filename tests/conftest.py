"""What every test can ask for: a site, an output folder, and the program as a user runs it."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

import hypothesis
import pytest

from sitemirror.cli.commands import run_program
from tests.site import NoOpenssl, Site, certificate

# Hundreds of programs are started here: without their bytecode each would compile all of itself anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Time per example says more about the machine than about the code. `bench.quality.robust` asks for many more of them.
# In CI the same examples every time: what is new there comes from the change, not from the dice.
hypothesis.settings.register_profile(
    "sitemirror",
    deadline=None,
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "100")),
    derandomize=bool(os.environ.get("CI")),
)
hypothesis.settings.load_profile("sitemirror")

_NEW_GROUP: Mapping[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if os.name == "nt"
    else {"start_new_session": True}
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it runs in the background like that, and then nothing that is tested could be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if os.name != "nt" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # So does nohup, for the end of the terminal. A handler is not handed down as being ignored is, and ignores it, too.
    signal.signal(signal.SIGHUP, lambda *_: None)


@dataclass(frozen=True, slots=True)
class Finished:
    """The program has run."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout; anything else there is a failure."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            raise AssertionError(f"not one JSON object: {self.stdout!r}\nstderr: {self.stderr}") from None


class RunHere(Protocol):
    """Carries out `sitemirror ARGUMENTS` in this process. `env` is added to a clean environment."""

    def __call__(
        self,
        *arguments: str | Path | float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
    ) -> Finished: ...


class RunCli(Protocol):
    """Runs `sitemirror ARGUMENTS` to its end. `env` is added to a clean environment."""

    def __call__(
        self,
        *arguments: str | Path | float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str | None = None,
        timeout: float = 50,
    ) -> Finished: ...


class StartCli(Protocol):
    """Starts `sitemirror ARGUMENTS` in a process group of its own; end it with `communicate(timeout=…)`."""

    def __call__(
        self, *arguments: str | Path | float, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]: ...


@pytest.fixture
def site() -> Iterator[Site]:
    """A fresh, empty site on loopback."""
    with Site() as started:
        yield started


@pytest.fixture
def tls_site() -> Iterator[Site]:
    """The same over TLS; clients have to trust `tls_site.ca_file`."""
    try:
        secured = Site(tls=certificate.good())
    except NoOpenssl as missing:
        pytest.skip(str(missing))
    with secured:
        yield secured


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the mirror goes. Not made yet."""
    return tmp_path / "out"


@pytest.fixture(scope="session")
def vectors() -> Path:
    """Test data from elsewhere, which is not part of the project."""
    named = os.environ.get("SITEMIRROR_VECTORS")
    if not named:
        pytest.skip("SITEMIRROR_VECTORS names no folder with test data")
    folder = Path(named)
    if not folder.is_dir():
        pytest.skip(f"SITEMIRROR_VECTORS names {folder}, which is not a folder")
    return folder


def start_program(
    arguments: Sequence[str | Path | float],
    env: Mapping[str, str] | None,
    cwd: Path | None = None,
    stdin: int = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """Start `sitemirror ARGUMENTS` in a process group of its own. `env` is added to a clean environment."""
    return subprocess.Popen(
        [sys.executable, "-m", "sitemirror", *map(str, arguments)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=clean_environment(env),
        cwd=cwd,
        **_NEW_GROUP,
    )


@pytest.fixture
def start_cli(tmp_path: Path) -> Iterator[StartCli]:
    """Starts the program for tests that kill or interrupt it. What still runs at the end of the test is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str | Path | float, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        process = start_program(arguments, env, cwd or tmp_path)
        started.append(process)
        return process

    yield start
    for process in started:
        _end(process)


@pytest.fixture
def run_cli(tmp_path: Path) -> RunCli:
    """Runs the program in a process of its own, in an empty folder."""

    def run(
        *arguments: str | Path | float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str | None = None,
        timeout: float = 50,
    ) -> Finished:
        process = start_program(
            arguments, env, cwd or tmp_path, subprocess.DEVNULL if stdin is None else subprocess.PIPE
        )
        try:
            stdout, stderr = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            stdout, stderr = _end(process)
            pytest.fail(f"still running after {timeout} s: {arguments}\nstdout: {stdout}\nstderr: {stderr}")
        return Finished(process.returncode, stdout, stderr)

    return run


@pytest.fixture
def run_here(tmp_path: Path, run_cli: RunCli) -> RunHere:
    """What `run_cli` does without the half second of a start: for tests of what is said and done, not of a process.

    A run that is to be killed at a step has a process all the same.
    """

    def run(
        *arguments: str | Path | float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
    ) -> Finished:
        if env and "SITEMIRROR_FAILPOINT" in env:
            return run_cli(*arguments, env=env, cwd=cwd)
        printed, said = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        words = [str(argument) for argument in arguments]
        with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()))):
            code = carry_out(words, clean_environment(env), cwd or tmp_path, printed, said)
        return Finished(code, *(stream.buffer.getvalue().decode() for stream in (printed, said)))

    return run


def carry_out(
    arguments: list[str], environment: Mapping[str, str], folder: Path, printed: io.TextIOBase, said: io.TextIOBase
) -> int:
    """The exit code of `sitemirror ARGUMENTS`, carried out in this process as if it were one of its own."""
    threshold = gc.get_threshold()
    with (
        patch.dict(os.environ, environment, clear=True),
        chdir(folder),
        redirect_stdout(printed),
        redirect_stderr(said),
    ):
        try:
            return run_program("sitemirror", arguments)
        finally:  # A run sets these for a process that ends with it.
            gc.set_threshold(*threshold)
            gc.unfreeze()


def clean_environment(added: Mapping[str, str] | None) -> dict[str, str]:
    """This process's environment without what would change the program's behaviour behind a test's back."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("SITEMIRROR_") and not name.upper().endswith("_PROXY")
        if name not in ("FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS")
    }
    # Wide enough that no message is wrapped in the middle of what a test looks for.
    return {**kept, "COLUMNS": "200", "TERM": "dumb", **(added or {})}


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Kills the program with its worker processes and closes the pipes."""
    if os.name != "nt":
        # The leader may be gone while its workers are not.
        _ignoring_absence(lambda: os.killpg(process.pid, signal.SIGKILL))
    _ignoring_absence(process.kill)
    if process.stdout is None or process.stdout.closed:
        process.wait(10)
        return "", ""
    return process.communicate(timeout=10)


def _ignoring_absence(action: Callable[[], None]) -> None:
    try:
        action()
    except (ProcessLookupError, PermissionError):
        pass


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Waits for a program to get somewhere."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "the program did not get there"
        time.sleep(0.01)
