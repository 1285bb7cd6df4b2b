"""Our server in a client's configuration: in its documented form, and nothing else changed."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.agents.clients import Client, add_server, remove_server
from sitemirror.errors import UsageError

COMMAND = ("/usr/bin/python3", "-m", "sitemirror", "mcp", '/docs/my "site"/é')
JSON = [Client.CLAUDE, Client.CURSOR, Client.VSCODE]
ENTRY = {"command": COMMAND[0], "args": list(COMMAND[1:])}


def test_new_files_have_the_documented_form() -> None:
    """`mcpServers` for Claude Code and Cursor, `servers` with a type for VS Code, a table for Codex."""
    for client in (Client.CLAUDE, Client.CURSOR):
        assert json.loads(add_server(None, client, COMMAND)) == {"mcpServers": {"sitemirror": ENTRY}}
    vscode = {"servers": {"sitemirror": {"type": "stdio", **ENTRY}}}
    assert json.loads(add_server(None, Client.VSCODE, COMMAND)) == vscode
    codex = tomllib.loads(add_server(None, Client.CODEX, COMMAND).decode())
    assert codex == {"mcp_servers": {"sitemirror": {**ENTRY, "startup_timeout_sec": 30}}}
    for client in Client:
        assert remove_server(add_server(None, client, COMMAND), client) is None


FILES = [
    '{"mcpServers": {"other": {"command": "x", "args": ["{", "}"]}}}',
    '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
    '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"a": {},\n\t\t"b": {"x": [1, 2.50]}\n\t}\n}',
    '{\r\n    "z": 1,\r\n    "a": "\\u00e9 \\" }"\r\n}\r\n',
    "{}",
    "{}\n",
    "{\n}\n",
    '{"mcpServers": {}}',
    '{"mcpServers": {\n}, "servers": { }}\n',
    '\ufeff{"mcpServers": {"other": {}}}',
    '{ "servers" : { "o" : 1 } , "mcpServers" : { "o" : 1 } }',
    "",
    "\n",
]


@pytest.mark.parametrize("text", FILES)
@pytest.mark.parametrize("client", JSON)
def test_json_gets_the_entry_and_gives_it_back(text: str, client: Client) -> None:
    """Whatever its layout: all that was there stays, byte for byte, and the same is left afterwards."""
    data = text.encode()
    added = add_server(data, client, COMMAND)
    before = json.loads(text.removeprefix("\ufeff") or "{}") if text.strip() else {}
    after = json.loads(added.decode("utf-8-sig"))
    name = "servers" if client is Client.VSCODE else "mcpServers"
    assert after[name].pop("sitemirror")["args"] == ENTRY["args"]
    before.setdefault(name, {})
    assert after == before
    assert add_server(added, client, COMMAND) == added
    if text.strip():
        assert remove_server(added, client) == data


VALUES = st.recursive(
    st.none() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=5), VALUES), st.sampled_from([None, 0, 2, "\t"]))
def test_any_json_object_comes_back(value: dict[str, object], indent: int | str | None) -> None:
    """In any layout that a printer gives."""
    data = json.dumps(value, indent=indent).encode()
    added = add_server(data, Client.VSCODE, COMMAND) if "servers" not in value else data
    assert remove_server(added, Client.VSCODE) == data


def test_entry_is_renewed_in_place() -> None:
    """Another folder replaces the old one; what the user wrote around it stays."""
    data = b'{\n  "mcpServers": {\n    "sitemirror": {"command": "old"},\n    "other": {}\n  }\n}\n'
    added = add_server(data, Client.CLAUDE, COMMAND)
    assert list(json.loads(added)["mcpServers"]) == ["sitemirror", "other"]
    assert json.loads(added)["mcpServers"]["sitemirror"] == ENTRY
    left = remove_server(added, Client.CLAUDE)
    assert left == b'{\n  "mcpServers": {\n    "other": {}\n  }\n}\n'


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // mine\n  "mcpServers": {}\n}',
        '{"mcpServers": {"a": {},}}',
        '{"mcpServers": []}',
        '{"mcpServers": {}, "mcpServers": {}}',
        "[]",
        "not JSON",
        "\udc80",
    ],
)
def test_json_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    """Comments, trailing commas, names that stand twice: the message has the entry to put in by hand."""
    with pytest.raises(UsageError) as refused:
        add_server(text.encode("utf-8", "surrogateescape"), Client.CLAUDE, COMMAND)
    assert '"sitemirror": {"command"' in refused.value.hint
    assert "nothing was changed" in refused.value.message


TOMLS = ['model = "x"\n\n[mcp_servers.other]\ncommand = "y"\n', "# only a comment", "", 'a = """\r\n"""\r\n']


@pytest.mark.parametrize("text", TOMLS)
def test_toml_gets_a_table_and_gives_it_back(text: str) -> None:
    """Comments and layout stay."""
    added = add_server(text.encode(), Client.CODEX, COMMAND)
    found = tomllib.loads(added.decode())
    assert found["mcp_servers"].pop("sitemirror")["command"] == COMMAND[0]
    assert add_server(added, Client.CODEX, COMMAND) == added
    assert remove_server(added, Client.CODEX) == text.encode()


@pytest.mark.parametrize(
    "text", ["[mcp_servers.sitemirror]\ncommand = 'x'\n", "mcp_servers = {a = {}}\n", "a = \n", "mcp_servers = 1\n"]
)
def test_toml_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    """A server of that name which is not ours, an inline table, an error."""
    with pytest.raises(UsageError):
        add_server(text.encode(), Client.CODEX, COMMAND)


@pytest.mark.parametrize("client", list(Client))
def test_nothing_to_remove_changes_nothing(client: Client) -> None:
    """A file without our entry stays as it is."""
    data = b"a = 1\n" if client is Client.CODEX else b'{"mcpServers": {"a": 1}, "servers": {}}'
    assert remove_server(data, client) == data
