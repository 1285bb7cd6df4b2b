"""The server as clients meet it: the SDK's client in both generations of the protocol, over stdio and over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import RunHere, StartCli

sdk = pytest.importorskip("mcp", reason="the extra mcp is not installed")

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SITEMIRROR_")}

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@asynccontextmanager
async def stdio_client(folder: Path, mode: str = "auto") -> AsyncIterator[Any]:
    """A client of a server of its own, in a process."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "sitemirror", "mcp", str(folder)], env=ENVIRONMENT, cwd=str(folder.parent)
    )
    async with sdk.Client(stdio_client(command), mode=mode) as client:
        yield client


@pytest.fixture
def server(mirrors: Path, start_cli: StartCli) -> Iterator[str]:
    """The address of a server over HTTP."""
    process = start_cli("mcp", mirrors, "--http", 0)
    assert process.stderr is not None
    address = process.stderr.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address), address
    yield address
    process.kill()
    process.communicate()


async def exercise(client: Any) -> None:
    """What a client does with a server."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["docs_list", "docs_search", "docs_read", "docs_outline", "docs_changes"]
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert tool.annotations.idempotent_hint
        assert tool.annotations.open_world_hint is False
    found = await client.call_tool("docs_search", {"q": "install", "site": "docs"})
    assert not found.is_error
    assert "guide/install" in found.content[0].text
    wrong = await client.call_tool("docs_read", {"ref": "instal", "in": "docs"})
    assert wrong.is_error
    assert "Near ones: guide/install/index.md" in wrong.content[0].text
    unknown = await client.call_tool("docs_fetch", {})
    assert unknown.is_error
    assert "The tools: docs_list" in unknown.content[0].text
    resources = (await client.list_resources()).resources
    assert [str(each.uri) for each in resources] == [
        "sitemirror://docs.example.com/",
        "sitemirror://other.example.com/",
    ]
    [template] = (await client.list_resource_templates()).resource_templates
    assert template.uri_template == "sitemirror://{mirror}/{+path}"
    page = await client.read_resource("sitemirror://docs.example.com/guide/install/index.md")
    assert "# Install\n" in page.contents[0].text
    assert re.search(r"\[quote [0-9a-f]{12}\]", page.contents[0].text)
    assert "guide/ (2 pages)" in (await client.read_resource("sitemirror://docs.example.com/")).contents[0].text
    for missing in ("sitemirror://docs.example.com/nothing.md", "sitemirror://nowhere/", "file:///etc/passwd"):
        with pytest.raises(sdk.MCPError) as refused:
            await client.read_resource(missing)
        assert refused.value.error.code == -32602


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_stdio_serves_both_generations(own: Path, mode: str) -> None:
    """With the handshake of the years before and without."""
    async with stdio_client(own, mode) as client:
        await exercise(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_http_serves_both_generations(server: str, mode: str) -> None:
    """The same over HTTP."""
    async with sdk.Client(server, mode=mode) as client:
        await exercise(client)


def test_only_messages_are_on_stdout(own: Path) -> None:
    """Whatever a call does: each line is JSON-RPC, and the process ends with stdin."""
    asked: list[dict[str, Any]] = [
        {"method": "initialize", "id": 1, "params": HELLO},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "id": 2, "params": {"name": "docs_search", "arguments": {"query": "install"}}},
        {"method": "tools/call", "id": 3, "params": {"name": "docs_read", "arguments": {"ref": "\0"}}},
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked)
    process = subprocess.Popen(
        [sys.executable, "-m", "sitemirror", "mcp", str(own)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.flush()
    lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    out, _ = process.communicate(timeout=30)
    assert {line["id"] for line in lines} == {1, 2, 3}
    assert out == ""
    assert process.returncode == 0


async def test_server_starts_before_there_is_a_mirror(tmp_path: Path) -> None:
    """Its answers say what is missing."""
    (tmp_path / "output").mkdir()
    async with stdio_client(tmp_path / "output") as client:
        assert (await client.list_resources()).resources == []
        answer = await client.call_tool("docs_list", {})
    assert answer.is_error
    assert "no mirror in" in answer.content[0].text


# --- who may ask over HTTP --------------------------------------------------------------------------------------------


def post(address: str, **headers: str) -> int:
    """The status of a request with these headers."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Host": parts.netloc}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    connection.request("POST", parts.path, body, given | headers)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_other_hosts_and_origins_are_refused(server: str) -> None:
    """Neither a name that was made to lead here, nor a page from another program's port on this machine."""
    port = urlsplit(server).port
    assert post(server) == 200
    assert post(server, Host=f"localhost:{port}", Origin=f"http://localhost:{port}") == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", "localhost", f"127.0.0.1.evil.example:{port}"):
        assert post(server, Host=host) == 421, host
    origins = ("http://evil.example", "http://localhost:3000", f"https://127.0.0.1:{port}", "null", "http://127.0.0.1")
    for origin in origins:
        assert post(server, Origin=origin) == 403, origin


def test_server_listens_on_loopback_alone(server: str) -> None:
    """No other address of the machine answers."""
    import psutil

    port = urlsplit(server).port
    listening = [
        each.laddr for each in psutil.net_connections("tcp") if each.status == psutil.CONN_LISTEN and each.laddr
    ]
    assert {address.ip for address in listening if address.port == port} == {"127.0.0.1"}


# --- the command ------------------------------------------------------------------------------------------------------


def test_missing_extra_is_named(run_here: RunHere, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, with the command that installs it."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "sitemirror.mcp.server", raising=False)
    for name in [name for name in sys.modules if name.startswith("mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    done = run_here("mcp")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'sitemirror[mcp]'" in done.stderr


@pytest.mark.parametrize("port", ["x", "70000", "-1", ""])
def test_port_must_be_one(run_here: RunHere, port: str) -> None:
    """Else the usage is wrong."""
    done = run_here("mcp", f"--http={port}")
    assert done.returncode == 2
    assert "--http must be a port from 0 to 65535" in done.stderr


def test_other_commands_do_not_load_the_sdk() -> None:
    """It takes half a second."""
    script = (
        "import sys; from sitemirror.cli.commands import run_program; run_program('sitemirror', ['agents', '--help'])\n"
        "print('mcp' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "False"
