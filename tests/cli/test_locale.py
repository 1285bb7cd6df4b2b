"""The locale does not decide what can be mirrored."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RunCli, clean_environment
from tests.site import Site

PAGES = ("/p/日本", "/p/caf%C3%A9", "/p/plain")


@pytest.fixture
def latin(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose locale is ISO-8859-1."""
    maker = shutil.which("localedef")
    if maker is None:
        pytest.skip("no localedef")
    name = "en_US.ISO-8859-1"
    made = subprocess.run([maker, "-i", "en_US", "-f", "ISO-8859-1", str(tmp_path / name)], capture_output=True)
    if not (tmp_path / name).is_dir():
        pytest.skip(f"no such locale: {made.stderr.decode(errors='replace')}")
    return {"LOCPATH": str(tmp_path), "LC_ALL": name, "PYTHONUTF8": "", "PYTHONIOENCODING": ""}


@pytest.fixture
def polyglot(site: Site) -> Site:
    """A site whose pages have names in three scripts."""
    for path in PAGES:
        site.html_page(path, path, f"<h1>Page</h1><p>{path}</p>")
    site.sitemap()
    return site


@pytest.mark.parametrize("workers", ["0", "1"])
def test_file_names_are_utf_8_in_every_locale(
    polyglot: Site, run_cli: RunCli, out: Path, latin: dict[str, str], workers: str
) -> None:
    """A mirror made in ISO-8859-1 equals one made in UTF-8, for verify and where, too."""
    arguments = ("mirror", polyglot.url, "--rate-limit", "0", "--links", "local", "--workers", workers, "--output", out)
    done = run_cli(*arguments, env=latin)
    assert (done.returncode, done.json["successful"]) == (0, 3), done.stderr
    folder = Path(done.json["output_dir"])
    saved = {file.parent.name.encode() for file in folder.glob("p/*/index.md")}
    assert saved == {"日本".encode(), "café".encode(), b"plain"}
    for env in (latin, {}):
        assert run_cli("verify", folder, env=env).returncode == 0
        found = run_cli("where", polyglot.url + PAGES[0], "--output", out, env=env)
        assert Path(found.stdout.strip()).is_file(), found.stderr


def test_folder_name_keeps_its_bytes(polyglot: Site, tmp_path: Path, latin: dict[str, str]) -> None:
    """The bytes of the argument name the folder."""
    arguments = ["-m", "sitemirror", "mirror", polyglot.url, "--rate-limit", "0", "--output"]
    command: list[str | bytes] = [sys.executable, *arguments, b"D\xe9"]
    done = subprocess.run(command, env=clean_environment(latin), cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"D\xe9" in os.listdir(bytes(tmp_path))  # noqa: PTH208


def test_unencodable_name_fails_one_page(polyglot: Site, tmp_path: Path, latin: dict[str, str]) -> None:
    """In the library, a name outside the program's encoding costs one page."""
    code = f"""
import sitemirror, sys
report = sitemirror.mirror_sync({polyglot.url!r}, output="out", rate_limit=0)
print(sys.getfilesystemencoding(), report.status, report.successful, report.failed)
"""
    env = {**clean_environment(latin), "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["iso8859-1", "partial", "2", "1"], done.stderr
    (log,) = tmp_path.glob("out/*/_failed.log")
    assert "cannot be written in iso8859-1" in log.read_text(encoding="utf-8")
