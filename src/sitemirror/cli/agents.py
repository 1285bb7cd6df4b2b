"""Run `sitemirror agents`: print the index, or add it and the server to the agents' files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Final, TypeVar

from sitemirror.agents.clients import CONFIGURATION, Client, add_server, remove_server
from sitemirror.agents.index import make_index
from sitemirror.agents.marked_block import MARKDOWN, put_block, remove_block
from sitemirror.cli import streams
from sitemirror.cli.parser import CommandLine
from sitemirror.errors import OutputError, UsageError
from sitemirror.reading.mirrors import DEFAULT_FOLDER, find_mirrors
from sitemirror.reading.user_files import replacing
from sitemirror.text import counted, printable

T = TypeVar("T")

_MAX_BYTES: Final = 16 << 20  # No file that somebody wrote for an agent is as large.


def run_agents(line: CommandLine) -> int:
    """Run the command and return its exit code."""
    folders = [Path(each) for each in line.targets] or [DEFAULT_FOLDER]
    file, client = line.more.get("--write"), _client(line.more.get("--mcp"))
    if file == "":
        raise UsageError("--write is empty", hint="give a path, such as AGENTS.md")
    if line.more.get("--remove"):
        if file is None and client is None:
            raise UsageError("--remove needs to know from where", hint="add --write AGENTS.md, or --mcp and a client")
        if line.targets:
            raise UsageError("--remove takes no folders", hint="leave them out: all that this command added is removed")
        if file is not None:
            _remove_block(Path(file))
        return _remove_server(client, line) if client is not None else 0
    mirrors = find_mirrors(folders)
    if file is not None:
        path = Path(file)
        text = make_index(mirrors, seen_from=path.absolute().parent)
        _replace(path, _edited(path, lambda: put_block(_read(path), text, MARKDOWN)))
        _note(f"{path}: index of {counted(len(mirrors), 'folder')}, {len(text.encode()):,} bytes")
    if client is not None:
        command = [sys.executable, "-m", "sitemirror", "mcp", *(str(folder.absolute()) for folder in folders)]
        path = Path(CONFIGURATION[client])
        return _change(path, _edited(path, lambda: add_server(_read(path), client, command)), line)
    if file is None:
        streams.print_page(make_index(mirrors, seen_from=Path.cwd()) + "\n")
    return 0


def _client(name: str | None) -> Client | None:
    if name is None:
        return None
    try:
        return Client(name)
    except ValueError:
        names = ", ".join(Client)
        raise UsageError(f"--mcp must be one of {names}, got {name}", hint="see `sitemirror agents --help`") from None


def _remove_block(path: Path) -> None:
    data = _read(path)
    left = None if data is None else _edited(path, lambda: remove_block(data, MARKDOWN))
    if left == data:
        _note(f"{path}: nothing of sitemirror's is in it")
        return
    _replace(path, left)
    _note(f"{path}: {'deleted, as it held nothing else' if left is None else 'index removed'}")


def _remove_server(client: Client, line: CommandLine) -> int:
    path = Path(CONFIGURATION[client])
    data = _read(path)
    if data is None:
        _note(f"{path}: nothing of sitemirror's is in it")
        return 0
    return _change(path, _edited(path, lambda: remove_server(data, client)), line)


def _change(path: Path, new: bytes | None, line: CommandLine) -> int:
    """Show how a file would change, ask, and change it: configuration starts programs."""
    old = _read(path)
    if old == new:
        _note(f"{path}: nothing to change")
        return 0
    before, after = ((data or b"").decode("utf-8", "replace").splitlines() for data in (old, new))
    was, is_now = (str(path) if data is not None else os.devnull for data in (old, new))
    for shown in unified_diff(before, after, was, is_now, lineterm=""):
        print(printable(shown), file=sys.stderr)
    if not line.more.get("--yes") and not _is_agreed():
        _note(f"{path}: nothing was changed")
        return 1
    _replace(path, new)
    _note(f"{path}: {'deleted' if new is None else 'written'}")
    return 0


def _is_agreed() -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation without a terminal", hint="give --yes to make this change")
    print("Change the file like this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# --- the user's files -------------------------------------------------------------------------------------------------


def _edited(path: Path, edit: Callable[[], T]) -> T:
    try:
        return edit()
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from None


def _read(path: Path) -> bytes | None:
    """Return a file's bytes; `None` if there is no file."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}", hint="name a text file") from None
    if len(data) > _MAX_BYTES:
        raise OutputError(f"{path} is larger than 16 MB", hint="name a text file, such as AGENTS.md")
    return data


def _replace(path: Path, data: bytes | None) -> None:
    if data is not None:
        with replacing(path) as file:
            file.write(data)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot delete {path}: {error.strerror}", hint="check the folder's permissions") from None


def _note(text: str) -> None:
    print(printable(text), file=sys.stderr)
