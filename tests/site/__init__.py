"""A real HTTP server on loopback with named faults, so that behaviour is asserted from the other end of the wire."""

from __future__ import annotations

from tests.site import faults
from tests.site.answers import Answer
from tests.site.certificate import NoOpenssl
from tests.site.server import Site
from tests.site.wire import Exchange, Seen

__all__ = ["Answer", "Exchange", "NoOpenssl", "Seen", "Site", "faults"]
