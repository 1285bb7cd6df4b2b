"""Updates of a crawl: the fixtures of tests/crawl."""

from __future__ import annotations

from tests.crawl.conftest import copy as copy
from tests.crawl.conftest import run as run
