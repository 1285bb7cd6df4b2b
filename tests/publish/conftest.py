"""The file that every test of the mirror index writes."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the index goes; nothing is there yet."""
    return tmp_path / "mirror-index.json"
