"""The library's functions for programs without an event loop."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from sitemirror import convert_url_sync, crawl_sync, list_site_sync, mirror_sync


@pytest.mark.parametrize("run", [mirror_sync, crawl_sync, list_site_sync, convert_url_sync])
async def test_sync_functions_in_a_loop_raise_one_error(run: Callable[[str], Any]) -> None:
    """The error is Python's own, and no coroutine is left un-awaited."""
    gc.collect()  # what others have left
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="running event loop"):
            run("http://127.0.0.1:9/")
        gc.collect()
    assert [str(warning.message) for warning in seen] == []
