"""Which certificates are trusted: the system's, and those of `--ca-file`.

Read when the first TLS connection is made, because there are many of them. A mirror over http needs none.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from sitemirror.errors import UsageError


class Trust:
    """One TLS context, for a run or for several. A `ca_file` that cannot be used is wrong usage, and shows at once."""

    def __init__(self, ca_file: Path | None) -> None:
        self._context = _context(ca_file) if ca_file is not None else None

    @property
    def context(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = _context(None)
        return self._context


def _context(ca_file: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if ca_file is None:
        return context
    try:
        context.load_verify_locations(cafile=ca_file)
    except ssl.SSLError:
        hint = "--ca-file takes a PEM file (-----BEGIN CERTIFICATE-----)"
        raise UsageError(f"{ca_file} holds no certificate", hint=hint) from None
    except OSError as error:
        raise UsageError(f"cannot read {ca_file}: {error.strerror}", hint="check --ca-file") from None
    return context
