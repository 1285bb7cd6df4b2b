"""`sitemirror agents` as a user runs it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.agents.conftest import MakeMirror
from tests.conftest import RunHere


def test_index_is_printed(make_mirror: MakeMirror, run_here: RunHere, out: Path) -> None:
    """Without --write nothing is written."""
    folder = make_mirror({"/": "Home", "/guide/a": "A"})
    before = sorted(out.parent.rglob("*"))
    done = run_here("agents", folder)
    assert done.returncode == 0
    assert "- guide/ (1): a/index.md" in done.stdout
    assert sorted(out.parent.rglob("*")) == before


@pytest.mark.parametrize("data", [b"# Rules\nBe kind.", b"# Rules\r\n\r\nBe kind.\r\n", b"", None])
def test_written_and_removed_leaves_the_file_as_it_was(
    make_mirror: MakeMirror, run_here: RunHere, tmp_path: Path, out: Path, data: bytes | None
) -> None:
    """Twice written is written once; a file that was not there is not there again."""
    make_mirror({"/": "Home", "/guide/a": "A"})
    file = tmp_path / "project" / "AGENTS.md"
    file.parent.mkdir()
    if data is not None:
        file.write_bytes(data)
        file.chmod(0o640)
    for _ in range(2):
        assert run_here("agents", out, "--write", file).returncode == 0
    written = file.read_bytes()
    assert written.startswith(data or b"")
    assert written.count(b"guide/ (1)") == 1
    if data is not None:
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
    done = run_here("agents", "--remove", "--write", file)
    assert done.returncode == 0, done.stderr
    assert (file.read_bytes() if file.exists() else None) == data
    assert "nothing of sitemirror's" in run_here("agents", "--remove", "--write", file).stderr
    assert [each.name for each in file.parent.iterdir()] == ([] if data is None else ["AGENTS.md"])


def test_symlink_stays_one(make_mirror: MakeMirror, run_here: RunHere, tmp_path: Path, out: Path) -> None:
    """CLAUDE.md is often a link to AGENTS.md."""
    make_mirror({"/": "Home"})
    target, link = tmp_path / "AGENTS.md", tmp_path / "CLAUDE.md"
    target.write_bytes(b"# Rules\n")
    link.symlink_to(target)
    assert run_here("agents", out, "--write", link).returncode == 0
    assert link.is_symlink()
    assert b"sitemirror begin" in target.read_bytes()


@pytest.mark.parametrize("client", ["claude", "cursor", "codex", "vscode"])
def test_server_is_added_and_removed(
    make_mirror: MakeMirror, run_here: RunHere, tmp_path: Path, out: Path, client: str
) -> None:
    """The change is shown; what the entry starts is this program with absolute paths."""
    make_mirror({"/": "Home"})
    project = tmp_path / "project"
    project.mkdir()
    done = run_here("agents", out, "--mcp", client, "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    [file] = [path for path in project.rglob("*") if path.is_file()]
    assert "+" in done.stderr
    assert json.dumps(str(out)) in file.read_text("utf-8")
    assert run_here("agents", out, "--mcp", client, cwd=project).stderr.endswith("nothing to change\n")
    assert run_here("agents", "--remove", "--mcp", client, "--yes", cwd=project).returncode == 0
    assert not file.exists()


def test_nothing_is_changed_unasked(make_mirror: MakeMirror, run_here: RunHere, tmp_path: Path, out: Path) -> None:
    """A configuration starts programs: without a terminal to ask at, --yes is needed."""
    make_mirror({"/": "Home"})
    project = tmp_path / "project"
    project.mkdir()
    done = run_here("agents", out, "--mcp", "claude", cwd=project)
    assert (done.returncode, list(project.iterdir())) == (2, [])
    assert '+  "mcpServers"' in done.stderr
    assert "--yes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--remove",), "--remove needs to know from where"),
        (("--mcp", "emacs"), "--mcp must be one of claude, cursor, codex, vscode, got emacs"),
        (("--write", ""), "--write is empty"),
        (("nowhere",), "nowhere does not exist"),
        (("--remove", "--write", "AGENTS.md", "output"), "--remove takes no folders"),
    ],
)
def test_wrong_usage(run_here: RunHere, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Each mistake has its message and a hint."""
    done = run_here("agents", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "hint: " in done.stderr


def test_refused_file_stays_as_it_is(make_mirror: MakeMirror, run_here: RunHere, tmp_path: Path, out: Path) -> None:
    """JSON with comments is not ours to lay out anew; the message says what to put in."""
    make_mirror({"/": "Home"})
    data = b'{\n  // mine\n  "mcpServers": {}\n}\n'
    file = tmp_path / ".mcp.json"
    file.write_bytes(data)
    done = run_here("agents", out, "--mcp", "claude", "--yes", cwd=tmp_path)
    assert (done.returncode, file.read_bytes()) == (2, data)
    assert ".mcp.json: it is not plain JSON" in done.stderr
    assert str(out) in done.stderr
