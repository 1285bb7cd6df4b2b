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


HEAVY = {"typer", "rich", "pydantic", "aiohttp", "asyncio", "turbohtml", "orjson", "sqlite3", "ssl", "dataclasses"}


@pytest.mark.parametrize(
    "code",
    [
        "import sitemirror",
        "import sys; sys.argv = ['sitemirror', '--version']; from sitemirror.cli import main; main()",
        "import sitemirror.__main__",
    ],
)
def test_the_front_door_loads_nothing(code: str) -> None:
    """The version, the package and `python -m sitemirror` cost no more than Python itself."""
    assert not loaded_by(code) & HEAVY


def test_a_name_of_the_library_loads_only_its_own_part() -> None:
    """Who converts a page needs no HTTP client, and who only has settings to make needs nothing at all."""
    assert not loaded_by("from sitemirror import convert_html") & {"aiohttp", "asyncio", "pydantic", "sqlite3", "typer"}
    assert not loaded_by("from sitemirror import Settings; Settings(concurrency=5)") & (HEAVY - {"dataclasses"})
    assert not loaded_by("from sitemirror import mirror, verify") & {"aiohttp", "pydantic", "sqlite3", "turbohtml"}


def test_the_system_s_certificates_are_read_when_they_are_needed(tls_site: Site, run_cli: RunCli, out: Path) -> None:
    """The program does not read them while it starts, and yet trusts whom the system trusts, and nobody else."""
    tls_site.fill(1)
    tls_site.sitemap()
    arguments = ("mirror", tls_site.url, "--rate-limit", "0", "--output", out)
    refused = run_cli(*arguments)
    assert (refused.returncode, tls_site.requests) == (1, [])
    assert "self-signed certificate" in refused.stderr
    trusted = run_cli(*arguments, env={"SSL_CERT_FILE": str(tls_site.ca_file)})
    assert (trusted.returncode, trusted.json["successful"]) == (0, 1), trusted.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["mirror", "--help"], ["crawl", "-h"]])
def test_help_is_drawn_without_what_a_run_or_a_parser_needs(arguments: list[str]) -> None:
    """Help is asked for in passing, and answers at once."""
    code = f"import sys; sys.argv = ['sitemirror', *{arguments}]; from sitemirror.cli import main; main()"
    assert not loaded_by(code) & (HEAVY - {"dataclasses"})
