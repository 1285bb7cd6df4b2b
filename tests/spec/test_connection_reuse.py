"""Requirement: Connection pooling reuses TCP connections."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site, faults
from tests.spec.mirrored import FAST


@pytest.mark.parametrize(("urls", "slots"), [(1000, 1), (200, 4)])
def test_reuse_connections_to_same_domain(site: Site, out: Path, run_here: RunHere, urls: int, slots: int) -> None:
    """Reuse connections to same domain: 1000 URLs of one host need no more connections than there are slots."""
    paths = site.fill(urls)
    site.sitemap()

    done = run_here("mirror", site.url, *FAST, "--quiet", "--concurrency", slots, "--output", out)

    assert done.json["successful"] == urls
    assert len([path for path in site.paths() if path.startswith("/page")]) == len(paths)
    assert site.connections <= slots


def test_reuse_of_connections_after_trouble(site: Site, out: Path, run_here: RunHere) -> None:
    """Errors, redirects and skipped files keep the connection; only those that the server closes are replaced."""
    paths = site.fill(60)
    for path in paths[5:15]:
        site.fault(path, faults.status(404))
    for path in paths[20:30]:
        site.fault(path, faults.redirect_to(paths[0]))
    for number in range(10):
        site.page(f"/file/{number}", b"%PDF" * 100, type="application/pdf")
    for path in paths[40:42]:
        site.fault(path, faults.close_after())
    site.sitemap(urls=[*paths, *(f"/file/{number}" for number in range(10))])

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert (done.json["successful"], done.json["failed"], done.json["skipped"]) == (40, 10, 10)
    assert site.connections <= 1 + 2
