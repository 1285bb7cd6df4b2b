"""A sitemap that lists pages of thousands of hosts costs no more open files than one that lists one host's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site import Site

if sys.platform == "win32":
    pytest.skip("ulimit is a Unix thing", allow_module_level=True)

START = "example.localhost"
OPEN_FILES = 256
HOSTS = 600
"""More than twice as many as files may be open."""


def _mirror(site: Site, out: Path) -> subprocess.CompletedProcess[str]:
    limits = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({OPEN_FILES}, {OPEN_FILES})); "
    code = limits + "import sys; from sitemirror.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "mirror", site.url_of(START), "--rate-limit", "0", "--output", str(out)]
    return subprocess.run([*command, "--concurrency", "4"], capture_output=True, text=True, timeout=55)


def test_pages_of_many_subdomains_are_saved(site: Site, out: Path) -> None:
    """With 256 open files; and the second run finds nothing left to do."""
    site.html_page("/page", "Page", "<h1>Page</h1><p>The same page under every name.</p>")
    hosts = [f"h{number}.{START}" for number in range(HOSTS)]
    site.sitemap(urls=[f"{site.url_of(host)}/page" for host in hosts])
    done = _mirror(site, out)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["status"], report["successful"]) == ("ok", HOSTS)
    assert len(list(out.glob("h*/page/index.md"))) == HOSTS
    assert not list(out.rglob("_lock"))
    site.clear_log()
    assert json.loads(_mirror(site, out).stdout)["successful"] == HOSTS
    assert not site.requests_for("/page")
