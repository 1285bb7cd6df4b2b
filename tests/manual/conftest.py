"""The manual for this folder's tests, and one undisturbed mirror of it that they share."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.server import program
from tests.manual.server import SOURCE, Manual

SLOTS = 8
FAST = ("--rate-limit", 0, "--concurrency", SLOTS, "--max-pages", 0)


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A finished mirror: what the program reported, and its folder."""

    report: dict[str, Any]
    output: Path

    @property
    def home(self) -> Path:
        return Path(self.report["output_dir"])

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.home / "_manifest.json").read_text(encoding="utf-8"))
        return found


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manual]:
    """The PostgreSQL manual behind nginx."""
    if program() is None:
        pytest.skip("nginx is not installed")
    if not SOURCE.is_dir():
        pytest.skip(f"{SOURCE} is missing; Debian's package postgresql-doc-15 has it")
    with Manual(tmp_path_factory.mktemp("manual")) as started:
        yield started


@pytest.fixture(scope="module")
def mirrored(manual: Manual, tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    """The manual mirrored once from beginning to end. Look, but do not touch: copy it to go on from it."""
    return copied(tmp_path_factory.mktemp("mirrored"), "mirror", manual.url)


def copied(output: Path, *arguments: str) -> Mirrored:
    """What `sitemirror ARGUMENTS` has made of the manual, as fast as it goes."""
    done = subprocess.run(
        [sys.executable, "-m", "sitemirror", *arguments, *map(str, FAST), "--output", str(output)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return Mirrored(json.loads(done.stdout), output)
