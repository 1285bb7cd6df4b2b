"""Each command, program and configuration in the documentation does what the page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sitemirror.cli.config import settings_for
from sitemirror.cli.options import Command
from sitemirror.settings import Settings
from tests.docs.blocks import ROOT, RUN, Block, Reader, blocks, commands, pattern
from tests.site import Site

RUNNABLE = ("sh", "console", "python")


def name(block: object) -> str | None:
    return block.name if isinstance(block, Block) else None


def all_blocks() -> list[Block]:
    return [block for file in RUN for block in blocks(file)]


@pytest.mark.timeout(240)
@pytest.mark.skipif(not (shutil.which("sh") and shutil.which("git")), reason="needs sh and git")
@pytest.mark.parametrize("file", RUN, ids=lambda file: file.stem)
def test_every_block_runs(file: Path, site: Site, tmp_path: Path) -> None:
    """Typed from top to bottom, a page's commands succeed and print what it shows."""
    reader = Reader(site, tmp_path)
    reader.open_sites(file.read_text(encoding="utf-8"))
    for block in blocks(file):
        if block.language in RUNNABLE and not block.comment.startswith(("not run: ", "file: ")):
            run(block, reader)


def run(block: Block, reader: Reader) -> None:
    if block.comment == "in a new folder":
        reader.new_folder()
    if block.language != "console":
        done = reader.sh(block.text) if block.language == "sh" else reader.python(block.text)
        assert done.code == 0, f"{block.name}: exit code {done.code}\n{done.output}"
        return
    expected_code = int(block.words.removeprefix("exit=") or 0)
    for command, expected in commands(block.text):
        done = reader.sh(command)
        assert done.code == expected_code, f"{block.name}: {command}\n{done.output}"
        output = reader.shown(done.output)
        if expected:
            assert pattern(expected).fullmatch(output), f"{block.name}: {command} printed\n{output}"


def test_what_is_not_run_says_why() -> None:
    """Blocks are left out only with a reason, and they are few."""
    left_out = [block for block in all_blocks() if block.comment.startswith("not run:")]
    assert all(len(block.comment) > len("not run: ") + 10 for block in left_out)
    assert len(left_out) <= 2
    assert sum(block.language in RUNNABLE for block in all_blocks()) > 30


@pytest.mark.parametrize("block", [block for block in all_blocks() if block.comment.startswith("file: ")], ids=name)
def test_shown_programs_are_the_ones_in_the_repository(block: Block) -> None:
    """A program that a page shows is the file it names, to the letter."""
    named = (block.file.parent / block.comment.removeprefix("file: ")).resolve()
    assert block.text == named.read_text(encoding="utf-8")


def test_every_example_is_shown() -> None:
    """No example is left without a page that runs it."""
    shown = {block.comment.rpartition("/")[2] for block in all_blocks() if block.comment.startswith("file: ")}
    assert shown == {path.name for path in (ROOT / "examples").glob("*.py")}


@pytest.mark.parametrize("block", [block for block in all_blocks() if block.language == "toml"], ids=name)
@pytest.mark.parametrize("command", [Command.LIST, Command.MIRROR])
def test_configuration_files_are_accepted(block: Block, command: Command, tmp_path: Path) -> None:
    """A configuration that a page shows can be copied as it stands."""
    file = tmp_path / "sitemirror.toml"
    file.write_text(block.text, encoding="utf-8")
    settings = settings_for(command, {}, environ={}, config=file)
    assert settings != Settings()
