"""The protocol's own conformance suite, where SITEMIRROR_CONFORMANCE names its program.

npm install @modelcontextprotocol/conformance@0.1.16; it needs Node 22. `tools-call-simple-text` and `tools-call-error`
pass as well, but emptily: an answer that there is no such tool is enough for them. So they are not named here.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import StartCli

pytest.importorskip("mcp", reason="the extra mcp is not installed")

PROGRAM = os.environ.get("SITEMIRROR_CONFORMANCE")
EXPECTED = Path(__file__).with_name("conformance.yml")
APPLY = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]

pytestmark = [
    pytest.mark.skipif(not PROGRAM, reason="SITEMIRROR_CONFORMANCE names no program"),
    pytest.mark.timeout(200),
]


@pytest.fixture
def server(mirrors: Path, start_cli: StartCli) -> Iterator[str]:
    """The address of a server over HTTP."""
    process = start_cli("mcp", mirrors, "--http", 0)
    assert process.stderr is not None
    yield process.stderr.readline().strip()
    process.kill()
    process.communicate()


def run_suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM or "", "server", *arguments], capture_output=True, text=True, check=False)


def test_scenarios_that_apply_pass(server: str) -> None:
    """Each with at least one check that passed."""
    for scenario in APPLY:
        done = run_suite("--url", server, "--scenario", scenario)
        assert done.returncode == 0, done.stdout
        assert re.search(r"Passed: [1-9]\d*/", done.stdout), done.stdout


def test_others_fail_as_expected(server: str) -> None:
    """The list has a reason for each, and none that passes."""
    done = run_suite("--url", server, "--expected-failures", str(EXPECTED))
    assert done.returncode == 0, done.stdout[-3_000:]
