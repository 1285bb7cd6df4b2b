"""Completion scripts, in the shells that are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sitemirror.cli.completion import completion_script, entries
from sitemirror.cli.options import Command, options_of
from sitemirror.cli.parser import SHELLS

BASH_TRIAL = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sitemirror
printf '%s\\n' "${COMPREPLY[@]}"
"""

ZSH_TRIAL = """
zmodload zsh/zpty
zpty trial zsh -f -i
zpty -w trial "PROMPT= ; autoload -Uz compinit && compinit -u -D && source $1 && echo LOADED"
zpty -r trial output '*LOADED*LOADED*'
zpty -w -n trial "sitemirror $2"$'\\t'$'\\t'
sleep 1
while zpty -r -t trial output; do print -r -- $output; done
"""


def script(shell: str, tmp_path: Path) -> Path:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / f"sitemirror.{shell}"
    path.write_text(completion_script(shell), encoding="utf-8")
    return path


def bash(tmp_path: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    file = script("bash", tmp_path)
    done = subprocess.run(
        ["bash", "-c", BASH_TRIAL, "bash", file, "sitemirror", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=20,
    )
    assert done.stderr in ("", "bash: compopt: not currently executing completion function\n")
    return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []


def test_every_option_is_in_the_table() -> None:
    """Nothing that a command takes is missing from its completion."""
    for command in Command:
        names = {name for entry in entries(command) for name in entry.names}
        typed = {part for option in options_of(command) for name in option.names for part in name.split("/")}
        assert typed | {"--help", "--help-all", "--config"} <= names


@pytest.mark.parametrize("shell", SHELLS)
def test_the_program_prints_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On stdout, ready for `eval` or a file."""
    from sitemirror.cli.commands import run_program

    assert run_program("sitemirror", ["completion", shell]) == 0
    assert capsys.readouterr() == (completion_script(shell), "")


def test_bash_completes_commands(tmp_path: Path) -> None:
    """Also help and completion."""
    assert bash(tmp_path, "m") == ["mirror", "mcp"]
    assert set(bash(tmp_path, "")) >= {*Command, "help", "completion", "--version"}
    assert bash(tmp_path, "completion", "z") == ["zsh"]
    assert bash(tmp_path, "help", "cr") == ["crawl"]


def test_bash_completes_options_and_values(tmp_path: Path) -> None:
    """Options of this command alone; the choices of an option, attached or not."""
    assert bash(tmp_path, "mirror", "--include-") == ["--include-path"]
    assert bash(tmp_path, "verify", "--inc") == []
    assert bash(tmp_path, "mirror", "--format", "") == ["markdown", "html", "both"]
    assert bash(tmp_path, "list", "--format", "") == ["json", "md"]
    assert bash(tmp_path, "export", "--format", "") == ["jsonl", "parquet", "md"]
    assert bash(tmp_path, "agents", "--mcp", "c") == ["claude", "cursor", "codex"]
    assert bash(tmp_path, "mirror", "--format", "=", "h") == ["html"]
    assert bash(tmp_path, "mirror", "--format", "=") == ["markdown", "html", "both"]
    assert bash(tmp_path, "mirror", "--rate-limit", "") == []


def test_bash_completes_paths(tmp_path: Path) -> None:
    """Folders for update and --output, files for convert; blanks in a name do not split it."""
    (tmp_path / "my mirrors").mkdir()
    (tmp_path / "my page.html").touch()
    assert bash(tmp_path, "update", "my") == ["my mirrors"]
    assert bash(tmp_path, "mirror", "-o", "my") == ["my mirrors"]
    assert set(bash(tmp_path, "convert", "my")) == {"my mirrors", "my page.html"}


def test_zsh_completes(tmp_path: Path) -> None:
    """In an interactive shell, as a person would see it."""
    file = script("zsh", tmp_path)

    def offered(typed: str) -> str:
        command = ["zsh", "-f", "-c", ZSH_TRIAL, "zsh", str(file), typed]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout

    assert "mirror" in offered("mirr")
    assert "--include-path" in offered("mirror --incl")
    shown = offered("mirror --format ")
    assert all(choice in shown for choice in ("markdown", "html", "both"))


def test_fish_completes(tmp_path: Path) -> None:
    """As fish itself lists the candidates."""
    file = script("fish", tmp_path)

    def offered(typed: str) -> list[str]:
        command = ["fish", "-N", "-c", f"source {file}; complete -C '{typed}'"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    assert offered("sitemirror mirr") == ["mirror"]
    assert offered("sitemirror mirror --include-") == ["--include-path"]
    assert offered("sitemirror mirror --format ") == ["both", "html", "markdown"]
