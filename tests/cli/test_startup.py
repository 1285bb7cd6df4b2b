"""What is not needed is not loaded: the program answers at once, and a run begins before its end is prepared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RunCli
from tests.site import Site


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has after `code`."""
    script = f"{code}\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


HEAVY = {"rich", "pydantic", "aiohttp", "asyncio", "turbohtml", "orjson", "sqlite3", "ssl", "dataclasses"}


@pytest.mark.parametrize(
    "code",
    [
        "import sitemirror",
        "import sys; sys.argv = ['sitemirror', '--version']; from sitemirror.cli import main; main()",
        "import sitemirror.__main__",
    ],
)
def test_entry_points_load_no_modules(code: str) -> None:
    """The version, the package and `python -m sitemirror` load no further modules."""
    assert not loaded_by(code) & HEAVY


def test_library_names_load_lazily() -> None:
    """Converting needs no HTTP client, and settings need nothing."""
    assert not loaded_by("from sitemirror import convert_html") & {"aiohttp", "asyncio", "pydantic", "sqlite3"}
    assert not loaded_by("from sitemirror import Settings; Settings(concurrency=5)") & (HEAVY - {"dataclasses"})
    assert not loaded_by("from sitemirror import mirror, verify") & {"aiohttp", "pydantic", "sqlite3", "turbohtml"}


def test_certificates_are_read_lazily(tls_site: Site, run_cli: RunCli, out: Path) -> None:
    """Certificates are not read at start-up, and the system's are trusted."""
    tls_site.fill(1)
    tls_site.sitemap()
    arguments = ("mirror", tls_site.url, "--rate-limit", "0", "--output", out)
    refused = run_cli(*arguments)
    assert (refused.returncode, tls_site.requests) == (1, [])
    assert "self-signed certificate" in refused.stderr
    trusted = run_cli(*arguments, env={"SSL_CERT_FILE": str(tls_site.ca_file)})
    assert (trusted.returncode, trusted.json["successful"]) == (0, 1), trusted.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["mirror", "--help"], ["crawl", "-h"]])
def test_help_loads_no_run(arguments: list[str]) -> None:
    """Help loads nothing that only a run needs."""
    code = f"import sys; sys.argv = ['sitemirror', *{arguments}]; from sitemirror.cli import main; main()"
    assert not loaded_by(code) & (HEAVY - {"dataclasses"})


AT_FIRST_CONNECTION = """
import socket, sys
seen = []
def look(event, arguments):
    if event == "socket.__new__" and arguments[1] in (socket.AF_INET, socket.AF_INET6) and not seen:
        seen.extend(sys.modules)
sys.addaudithook(look)
from sitemirror.cli import main
code = main()
print(*seen, file=sys.stderr)
sys.exit(code)
"""
AT_THE_END = {"sitemirror.run.finish", "sitemirror.publish.manifest", "sitemirror.publish.contents"}
FOR_OTHERS = {"sitemirror.verification.verify", "sitemirror.run.where", "sitemirror.run.list_urls"}
FOR_A_LOST_STATE = {"sitemirror.run.rebuild", "sitemirror.publish.mirror_index_check"}
FOR_SITEMAPS = {"sitemirror.run.discovery", "sitemirror.sitemaps.parse", "sitemirror.sitemaps.wellformed"}
FOR_STYLE_SHEETS = {"sitemirror.links.css"}
FOR_ODD_INPUT = {"pydantic", "rich", "tomllib", "difflib"}


@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_run_loads_its_end_late(command: str, site: Site, out: Path) -> None:
    """Until its first connection a run loads neither its end nor other commands."""
    first, *_ = site.fill(2)
    site.sitemap()
    start = site.url + (first if command == "crawl" else "")
    arguments = [command, start, "--rate-limit", "0", "--output", str(out), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", AT_FIRST_CONNECTION, *arguments], cwd=out.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    assert "aiohttp" in loaded
    unwanted = AT_THE_END | FOR_OTHERS | FOR_A_LOST_STATE | FOR_SITEMAPS | FOR_STYLE_SHEETS | FOR_ODD_INPUT
    assert not loaded & unwanted
    assert not {name for name in loaded if name.startswith("aiohttp.web")}


def test_update_loads_no_pydantic(site: Site, run_cli: RunCli, out: Path) -> None:
    """Files that the tool wrote itself are read without pydantic."""
    site.fill(2)
    site.sitemap()
    arguments = ["mirror", site.url, "--rate-limit", "0", "--output", str(out), "--quiet", "--update"]
    assert run_cli(*arguments).returncode == 0
    code = f"import sys; sys.argv[1:] = {arguments}; from sitemirror.cli import main; assert main() == 0"
    assert not loaded_by(code) & {"pydantic", "rich", "sitemirror.run.rebuild"}
