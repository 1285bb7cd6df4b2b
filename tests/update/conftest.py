"""Updates of a mirror: the fixtures of tests/run."""

from __future__ import annotations

from tests.run.conftest import copy as copy
from tests.run.conftest import run as run
