"""Loads the HTTP client in the program's own process, where nobody else uses it.

aiohttp reads the system's certificates twice while it is loaded, for contexts that it would use by default. Ours never
does: the fetcher brings its own, when there is a TLS connection to make. Reading them takes as long as loading the rest
of aiohttp. Not for the library: other code in that process may rely on the defaults.
"""

from __future__ import annotations

import ssl
from typing import Any


def load_client() -> None:
    """Loads aiohttp. Its own contexts trust nobody afterwards."""
    contexts: Any = ssl.SSLContext
    before = contexts.load_default_certs
    contexts.load_default_certs = contexts.set_default_verify_paths = lambda *_: None
    try:
        import aiohttp  # noqa: F401
    finally:
        contexts.load_default_certs = before
        del contexts.set_default_verify_paths  # The one it has from its base class is there again.
