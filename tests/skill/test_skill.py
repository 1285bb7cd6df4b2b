"""The skill is valid, complete, and works where nothing but its own folder is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.package_skill import MAX_BYTES, MAX_LINES, SKILL, pack, problems
from tests.docs.blocks import EMPTY_HOST, Reader, blocks
from tests.site import Site

SCRIPT = "scripts/sitemap_to_markdown.py"
# A Python that sees the standard library alone, as if sitemirror were not installed for it.
BARE = (sys.executable, "-I", "-S")
needs_sh = pytest.mark.skipif(not shutil.which("sh"), reason="needs sh")


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The skill as somebody gets it: packed, and unpacked in an empty folder."""
    archive = pack(SKILL, tmp_path / "dist" / "skill.zip")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "skills")
    return tmp_path / "skills" / SKILL.name


def run(*command: str | Path, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command with nothing but `path` in PATH."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SITEMIRROR_")}
    env |= {"PATH": str(path or cwd / "nothing"), "SITEMIRROR_RATE_LIMIT": "0", "COLUMNS": "200", "TERM": "dumb"}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=50, check=False
    )


def test_the_validator_accepts_it() -> None:
    """`agentskills validate` finds nothing wrong."""
    validator = shutil.which("agentskills", path=str(Path(sys.executable).parent))
    if validator is None:
        pytest.skip("agentskills is not installed beside this Python")
    done = subprocess.run([validator, "validate", str(SKILL)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_folder_is_complete() -> None:
    """Our own check finds nothing wrong, either."""
    assert list(problems(SKILL)) == []


def _without_manual(skill: Path) -> None:
    (skill / "SKILL.md").unlink()


def _renamed(skill: Path) -> None:
    manual = skill / "SKILL.md"
    manual.write_text(manual.read_text(encoding="utf-8").replace("name: sitemap", "name: sidemap"), encoding="utf-8")


def _without_script(skill: Path) -> None:
    (skill / SCRIPT).unlink()


def _with_a_foreign_file(skill: Path) -> None:
    (skill / ".DS_Store").write_bytes(b"")


def _with_a_link_to_nowhere(skill: Path) -> None:
    with (skill / "SKILL.md").open("a", encoding="utf-8") as manual:
        manual.write("See [more](references/more.md).\n")


def _with_a_broken_script(skill: Path) -> None:
    (skill / SCRIPT).write_text("def main(:\n", encoding="utf-8")


def _too_long(skill: Path) -> None:
    with (skill / "SKILL.md").open("a", encoding="utf-8") as manual:
        manual.write("more\n" * MAX_LINES)


def _too_large(skill: Path) -> None:
    (skill / "scripts" / "data.py").write_text(f"DATA = '{'x' * MAX_BYTES}'\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (_without_manual, "SKILL.md is missing"),
        (_renamed, "SKILL.md calls it sidemap-to-markdown"),
        (_without_script, f"SKILL.md names {SCRIPT}, which is not there"),
        (_with_a_foreign_file, ".DS_Store does not belong"),
        (_with_a_link_to_nowhere, "SKILL.md names references/more.md"),
        (_with_a_broken_script, f"{SCRIPT} is not valid Python"),
        (_too_long, f"SKILL.md has more than {MAX_LINES} lines"),
        (_too_large, f"more than {MAX_BYTES}"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_the_check_finds_what_is_wrong(spoil: Callable[[Path], None], complaint: str, tmp_path: Path) -> None:
    """A folder that would not work on its own is not packed."""
    skill = tmp_path / SKILL.name
    shutil.copytree(SKILL, skill)
    spoil(skill)
    assert any(complaint in problem for problem in problems(skill)), list(problems(skill))


def test_the_same_skill_gives_the_same_archive(tmp_path: Path) -> None:
    """Times and the order of files on disk do not matter."""
    copy = tmp_path / SKILL.name
    shutil.copytree(SKILL, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    assert pack(SKILL, tmp_path / "a.zip").read_bytes() == pack(copy, tmp_path / "b.zip").read_bytes()


def test_unpacked_it_explains_itself_and_lists_a_site(unpacked: Path, site: Site) -> None:
    """In an empty folder the script shows its help, and lists a site as one JSON object."""
    assert sorted(path.name for path in unpacked.parent.iterdir()) == [SKILL.name]
    helped = run(sys.executable, SCRIPT, "--help", cwd=unpacked)
    assert helped.returncode == 0
    assert "--list-only" in helped.stdout
    site.fill(3)
    site.sitemap()
    done = run(sys.executable, SCRIPT, "--url", site.url, "--quiet", cwd=unpacked)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["status"], report["total_urls"]) == ("ok", 3)
    assert (unpacked / report["outline"]).is_file()


@needs_sh
def test_the_commands_in_the_manual_run(unpacked: Path, site: Site, tmp_path: Path) -> None:
    """What SKILL.md tells an agent to type works as it stands."""
    home = tmp_path / "home"
    home.mkdir()
    reader = Reader(site, home)
    reader.open_sites(f"https://docs.example.com https://{EMPTY_HOST}")
    reader.folder = unpacked
    scripts = [block.text for block in blocks(SKILL / "SKILL.md") if block.language == "sh"]
    assert scripts
    for script in scripts:
        done = reader.sh(script)
        assert done.code == 0, done.output
    assert list(unpacked.glob("output/*/_manifest.json"))


def test_without_sitemirror_it_says_how_to_get_it(unpacked: Path) -> None:
    """Alone on a machine, the script ends with one line that says what is missing and one that says what to type."""
    done = run(*BARE, SCRIPT, "--url", "https://docs.example.com/", cwd=unpacked)
    assert (done.returncode, done.stdout) == (1, "")
    problem, hint = done.stderr.splitlines()
    assert "sitemirror is not installed" in problem
    assert hint.startswith("hint: python3 -m pip install")


@needs_sh
def test_an_installed_command_is_used(unpacked: Path, site: Site, tmp_path: Path) -> None:
    """Where the package lives in another Python, its command on the PATH is run, with arguments and exit code."""
    home = tmp_path / "home"
    home.mkdir()
    Reader(site, home)
    done = run(*BARE, SCRIPT, "--version", cwd=unpacked, path=home / "bin")
    assert (done.returncode, done.stdout.split()[0]) == (0, "sitemirror")
    assert run(*BARE, SCRIPT, "--no-such-option", cwd=unpacked, path=home / "bin").returncode == 2


@needs_sh
def test_inside_the_repository_its_environment_is_used(tmp_path: Path) -> None:
    """In a checkout the script asks scripts/venv for a Python and runs the package with it."""
    root = tmp_path / "checkout"
    shutil.copytree(SKILL, root / "skills" / SKILL.name)
    (root / "src" / "sitemirror").mkdir(parents=True)
    (root / "scripts").mkdir()
    setup = root / "scripts" / "venv"
    setup.write_text(f"#!/bin/sh\necho '{sys.executable}'\n", encoding="utf-8")
    setup.chmod(0o755)
    done = run(*BARE, root / "skills" / SKILL.name / SCRIPT, "--version", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (0, "sitemirror")
