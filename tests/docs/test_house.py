"""`scripts/house` counts what CONTRIBUTING.md asks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.house import count, read_modules
from tests.docs.blocks import ROOT

SOURCES = {
    "__init__.py": '"""The package."""\n',
    "model.py": '"""Where the types are."""\n\nGONE = "no longer there: "\n\n\nclass Place:\n    """A place."""\n',
    "store.py": (
        '"""Saves pages."""\n\nfrom sitemirror import model\n\n\nclass Place:\n    """Another place."""\n\n\n'
        "def left(reason: str) -> bool:\n"
        f'    """{"Tell in far too many words " * 5}."""\n'
        '    return reason.startswith("HTTP ") or model.GONE in reason\n'
    ),
    "run.py": (
        '"""Runs it."""\n\nfrom sitemirror.store import left\nimport sitemirror.model\n\n'
        "QUERY = \"SELECT 1 FROM url WHERE reason LIKE 'HTTP %'\"\n\n\n"
        "def left_over() -> bool:\n    return left(QUERY)\n"
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "sitemirror"
    folder.mkdir(parents=True)
    for name, text in SOURCES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path / "src"


def test_counts_of_a_small_package(source: Path) -> None:
    """Importers, repeated names, docstrings and code that reads messages are found."""
    counts = count(read_modules(source))
    assert (counts.modules, counts.lines) == (4, sum(text.count("\n") for text in SOURCES.values()))
    assert counts.one_importer == ["sitemirror.store"]
    assert counts.small_with_one_importer == ["sitemirror.store (12 lines, for sitemirror.run)"]
    assert counts.classes_twice == {"Place": 2}
    assert counts.functions_twice == {}
    assert counts.bad_starts == ["sitemirror.model:1"]
    assert counts.long_summaries == ["sitemirror.store:10"]
    assert counts.message_reads == ["sitemirror.run:6", "sitemirror.store:12"]


def test_trace_sees_the_stages_of_a_page() -> None:
    """A traced run passes through fetching, converting and storing, in this process."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/house.py"), "--since", "HEAD", "--trace", "--list"],
        capture_output=True, text=True, timeout=55, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "0/0  commit subjects" in done.stdout
    pairs = [line.split(" -> ")[1] for line in done.stdout.splitlines() if " -> " in line]
    for stage in ("fetch", "convert", "store"):
        assert any(called.startswith(f"sitemirror.{stage}") for called in pairs), stage
