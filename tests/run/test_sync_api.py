"""The library's functions for programs without an event loop."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from sitemirror import convert_url_sync, crawl_sync, list_site_sync, mirror_sync


@pytest.mark.parametrize("run", [mirror_sync, crawl_sync, list_site_sync, convert_url_sync])
async def test_inside_a_loop_they_say_so_and_no_more(run: Callable[[str], Any]) -> None:
    """The error is the one that Python has for it, and nothing is left behind that Python warns of."""
    gc.collect()  # what others have left
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="running event loop"):
            run("http://127.0.0.1:9/")
        gc.collect()
    assert [str(warning.message) for warning in seen] == []
