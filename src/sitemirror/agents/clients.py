"""Add our MCP server to a client's project configuration, and remove it again.

Only the bytes of our entry change. JSON is edited as text for that: a parser and a printer would reorder, indent and
escape anew. A file that is not plain JSON (comments, trailing commas) is refused with the entry to put in by hand.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from json.decoder import JSONDecoder
from typing import Any, Final

from sitemirror.agents.marked_block import TOML, has_block, put_block, remove_block
from sitemirror.errors import UsageError

SERVER_NAME: Final = "sitemirror"

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = JSONDecoder()


class Client(StrEnum):
    """Programs that start MCP servers and have a configuration file in a project."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    CODEX = "codex"
    VSCODE = "vscode"


CONFIGURATION: Final[Mapping[Client, str]] = {
    Client.CLAUDE: ".mcp.json",
    Client.CURSOR: ".cursor/mcp.json",
    Client.CODEX: ".codex/config.toml",
    Client.VSCODE: ".vscode/mcp.json",
}
"""The file of each, relative to the project's folder."""

_SERVERS: Final[Mapping[Client, str]] = {
    Client.CLAUDE: "mcpServers",
    Client.CURSOR: "mcpServers",
    Client.VSCODE: "servers",
}


def add_server(data: bytes | None, client: Client, command: Sequence[str]) -> bytes:
    """Return the configuration with our server, started by `command`; `None` is a new file.

    Raises `UsageError` where the file cannot be edited without touching what is not ours.
    """
    program, *arguments = command
    if client is Client.CODEX:
        return _add_to_toml(data, program, arguments)
    entry: dict[str, object] = {"command": program, "args": arguments}
    if client is Client.VSCODE:
        entry = {"type": "stdio", **entry}
    servers = _SERVERS[client]
    if data is None or not data.strip():
        return (json.dumps({servers: {SERVER_NAME: entry}}, indent=2) + "\n").encode()
    text, top = _read(data, entry)
    found = top.get(servers)
    if found is None:
        return _insert(text, top, servers, {SERVER_NAME: entry}).encode()
    if not text.startswith("{", found.start):
        raise _refusal(f'"{servers}" is not an object', entry)
    inner = _members(text, found.start)
    ours = inner.get(SERVER_NAME)
    if ours is None:
        return _insert(text, inner, SERVER_NAME, entry).encode()
    if json.loads(text[ours.start : ours.end]) == entry:
        return data
    value = _printed(entry, text, _indent_before(text, ours.key))
    return f"{text[: ours.start]}{value}{text[ours.end :]}".encode()


def remove_server(data: bytes, client: Client) -> bytes | None:
    """Return the configuration without our server; `None` if nothing but it was in the file."""
    if client is Client.CODEX:
        return remove_block(data, TOML)
    if not data.strip():
        return data
    text, top = _read(data, None)
    found = top.get(_SERVERS[client])
    if found is None or not text.startswith("{", found.start):
        return data
    inner = _members(text, found.start)
    if SERVER_NAME not in inner:
        return data
    # An object of the user's that was empty got our member without a blank in front, and one of ours has a blank.
    if len(inner) > 1 or inner[SERVER_NAME].key == inner.start + 1:
        return _without(text, inner, SERVER_NAME).encode()
    if len(top) > 1 or found.key == top.start + 1:
        return _without(text, top, _SERVERS[client]).encode()
    return None


# --- TOML -------------------------------------------------------------------------------------------------------------


def _add_to_toml(data: bytes | None, program: str, arguments: Sequence[str]) -> bytes:
    # A JSON string without characters above U+FFFF is a TOML string. `ensure_ascii` would spell those as surrogates.
    listed = ", ".join(json.dumps(each, ensure_ascii=False) for each in arguments)
    block = (
        f"[mcp_servers.{SERVER_NAME}]\ncommand = {json.dumps(program, ensure_ascii=False)}\nargs = [{listed}]\n"
        "startup_timeout_sec = 30"
    )
    before = _toml(data or b"")
    servers = before.get("mcp_servers", {})
    if not isinstance(servers, dict) or (SERVER_NAME in servers and not has_block(data or b"", TOML)):
        raise UsageError(
            f"a server called {SERVER_NAME} is there already, without the markers of this command",
            hint=f"take [mcp_servers.{SERVER_NAME}] out by hand, and run the same command again",
        )
    edited = put_block(data, block, TOML)
    try:
        _toml(edited)
    except UsageError as error:
        raise UsageError(error.message, hint=f"add this by hand:\n{block}") from None
    return edited


def _toml(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"it is not TOML: {error}", hint="correct it first; nothing was changed") from None


# --- JSON as text -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Member:
    """Places of a member in the text."""

    key: int
    start: int  # of the value
    end: int


class _Members(dict[str, _Member]):
    """The members of an object that begins at `start`."""

    start = 0


def _read(data: bytes, entry: Mapping[str, object] | None) -> tuple[str, _Members]:
    try:
        text = data.decode()
        top = _BLANK.match(text, 1 if text.startswith("\ufeff") else 0)
        value = json.loads(text.removeprefix("\ufeff"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise _refusal(f"it is not plain JSON: {error}", entry) from None
    if top is None or not isinstance(value, dict):
        raise _refusal("it is not an object", entry)
    try:
        return text, _members(text, top.end())
    except _SameName as twice:
        raise _refusal(f'it has "{twice}" more than once', entry) from None


class _SameName(Exception):
    """An object has two members of one name."""


def _members(text: str, start: int) -> _Members:
    """Find the members of the object at `start`, in text that is known to be JSON."""
    found = _Members()
    found.start = start
    at = _skip(text, start + 1)
    while text[at] != "}":
        key = at
        name, at = _DECODER.raw_decode(text, at)
        begin = _skip(text, _skip(text, at) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(text, begin)
        if name in found:
            raise _SameName(name)
        found[name] = _Member(key, begin, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _insert(text: str, members: _Members, name: str, value: Mapping[str, object]) -> str:
    """Add a member behind the last one, laid out like it."""
    if not members:  # Nothing in front of it, by which removal knows that the object was there before.
        at = members.start + 1
        return f"{text[:at]}{json.dumps(name)}: {_printed(value, text, None)}{text[at:]}"
    last = list(members.values())[-1]
    indent = _indent_before(text, last.key)
    before = ", " if indent is None else f",{_newline(text)}{indent}"
    return f"{text[: last.end]}{before}{json.dumps(name)}: {_printed(value, text, indent)}{text[last.end :]}"


def _without(text: str, members: _Members, name: str) -> str:
    """Cut a member and the comma that it needed."""
    names = list(members)
    at = names.index(name)
    ours = members[name]
    if at:
        return text[: members[names[at - 1]].end] + text[ours.end :]
    if len(names) > 1:
        return text[: ours.key] + text[members[names[1]].key :]
    return text[: ours.key] + text[ours.end :]


def _printed(value: Mapping[str, object], text: str, indent: str | None) -> str:
    if indent is None:
        return "{ " + json.dumps(value)[1:]
    unit = "\t" if indent.startswith("\t") else "  "
    return json.dumps(value, indent=unit).replace("\n", _newline(text) + indent)


def _indent_before(text: str, at: int) -> str | None:
    """The white space before a member on its line; `None` if it has no line of its own."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if not line.strip() and "\n" in text[:at] else None


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _refusal(reason: str, entry: Mapping[str, object] | None) -> UsageError:
    hint = "take the entry out by hand"
    if entry is not None:
        hint = f'add this by hand: "{SERVER_NAME}": {json.dumps(entry)}'
    return UsageError(f"{reason}; nothing was changed", hint=hint)
