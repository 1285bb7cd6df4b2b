"""Connections kept and used again, against a new one for every request: what each costs per page, with one slot.

Loopback shows what a handshake costs in work; what it costs in distance is played by the server, which waits one round
trip before every answer and, on a new connection, one more for TCP and one more for TLS, as a far server would.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench import record
from bench.program import expect, run
from tests.site import Exchange, Site, certificate, faults


def far_away(round_trip: float, handshakes: int, then: faults.Step) -> faults.Step:
    """Answers as a server does that is `round_trip` seconds away."""
    met: set[int] = set()

    async def step(exchange: Exchange) -> None:
        fresh = exchange.seen.connection not in met
        met.add(exchange.seen.connection)
        if wait := round_trip * (1 + handshakes * fresh):
            await exchange.pause(wait)
        await then(exchange)

    return step


def per_page(site: Site, pages: int, *, round_trip: float, pooled: faults.Step | None = None) -> float:
    """Milliseconds a page, from the first page's request to the last page's answer. `pooled` replaces the closing."""
    handshakes = 1 if site.ca_file is None else 2
    site.fault("*", far_away(round_trip, handshakes, pooled or faults.close_after()))
    site.clear_log()
    trust = ("--ca-file", site.ca_file) if site.ca_file else ()
    with tempfile.TemporaryDirectory() as out:
        ran = run("mirror", site.url, "--rate-limit", 0, *trust, "--output", Path(out), "--quiet")
    expect("pages saved", ran.report["successful"], pages)
    seen = [request for request in site.requests if request.path.startswith("/page/")]
    expect("page requests", len(seen), pages)
    expect("connections", site.connections if pooled else min(site.connections, pages), 1 if pooled else pages)
    # The end of the last answer is a request's own time; what came before it is handshakes and answers, page by page.
    took = max(request.finished or 0.0 for request in seen) - min(request.time for request in seen)
    return took / pages * 1000


def compare(site: Site, pages: int, found: record.Record, name: str, round_trip: float = 0.0) -> None:
    """Both ways over one site, and their ratio."""
    kept = per_page(site, pages, round_trip=round_trip, pooled=faults.ok())
    fresh = per_page(site, pages, round_trip=round_trip)
    found.add(
        record.Figure(f"{name}: a connection per request", fresh, "ms"),
        record.Figure(f"{name}: kept and used again", kept, "ms"),
        record.at_least(f"{name}: ratio", fresh / kept, "×", 1.0),
    )


def measure(options: argparse.Namespace) -> record.Record:
    """Plain and over TLS, near and far."""
    found = record.Record("pooling", {"pages": options.pages, "round trip": f"{options.round_trip * 1000:g} ms"})
    for tls, kind in ((None, "plain"), (certificate.good(), "TLS")):
        with Site(tls=tls) as site:
            site.fill(options.pages)
            site.sitemap()
            compare(site, options.pages, found, f"{kind}, loopback")
            if options.round_trip:
                compare(site, options.pages, found, f"{kind}, far (simulated)", options.round_trip)
    return found


if __name__ == "__main__":
    record.main(
        measure,
        record.parser(
            "pooling",
            __doc__,
            [
                ("--pages", 200, "pages on the site"),
                ("--round-trip", 0.03, "seconds to the far server and back; 0 = leave it out"),
            ],
        ),
    )
