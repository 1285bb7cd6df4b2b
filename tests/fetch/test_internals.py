"""aiohttp's internals are used in one module only, and are those that it was written for."""

from __future__ import annotations

import ast
import asyncio
import inspect
import tomllib
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import BaseConnector, Connection
from aiohttp.http_parser import RawResponseMessage

from sitemirror.fetch import transport

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sitemirror"
PUBLIC = {"aiohttp", "aiohttp.abc"}


def test_internals_are_used_in_one_module() -> None:
    """Only fetch/transport.py imports private modules or names of aiohttp."""
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _imported(node)
        if name.split(".")[0] == "aiohttp" and (name not in PUBLIC or "._" in name)
    }
    assert users == {"fetch/transport.py"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def test_versions_are_pinned() -> None:
    """The installed version has known internals, and pyproject.toml allows no other minor version."""
    assert aiohttp.__version__.startswith(transport.KNOWN)
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    (known,) = transport.KNOWN
    major, minor = known.rstrip(".").split(".")
    assert f"aiohttp>={major}.{minor},<{major}.{int(minor) + 1}" in dependencies


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (BaseConnector.connect, ["self", "req", "traces", "timeout"]),
        (Connection.release, ["self"]),
        (Connection.close, ["self"]),
        (ResponseHandler.start_timeout, ["self"]),
        (ResponseHandler.read, ["self"]),
        (ResponseHandler.exception, ["self"]),
        (ResponseHandler.force_close, ["self"]),
        (aiohttp.ClientResponse.start, ["self", "connection"]),
        (aiohttp.StreamReader.on_eof, ["self", "callback"]),
        (aiohttp.StreamReader.read_nowait, ["self", "n"]),
        (aiohttp.StreamReader.is_eof, ["self"]),
    ],
)
def test_signatures(function: object, parameters: list[str]) -> None:
    """The functions that are called have the expected parameters."""
    assert callable(function)
    assert list(inspect.signature(function).parameters) == parameters


def test_parameters_by_name() -> None:
    """Keyword arguments exist."""
    limits = {"max_line_size", "max_field_size", "max_headers"}
    settings = {"skip_payload", "read_until_eof", "auto_decompress", "read_timeout"} | limits
    assert settings <= set(inspect.signature(ResponseHandler.set_response_params).parameters)
    assert limits <= set(inspect.signature(aiohttp.ClientSession.__init__).parameters)
    request = set(inspect.signature(aiohttp.ClientRequest.__init__).parameters)
    assert {"method", "url", "headers", "loop", "ssl", "session"} <= request


async def test_attributes() -> None:
    """A connection's protocol and the parser's message have the expected attributes."""
    protocol = ResponseHandler(asyncio.get_running_loop())
    assert protocol.transport is None
    assert protocol.closed is not None
    assert protocol.should_close in (True, False)
    assert protocol.exception() is None
    assert isinstance(inspect.getattr_static(Connection, "protocol"), property)
    assert {"code", "raw_headers"} <= set(dir(RawResponseMessage))
    protocol.set_response_params()
    uses = {name for name in dir(transport.RepairingParser) if not name.startswith("_")}
    assert uses | {"pause_reading", "message_consumed"} <= set(dir(protocol._parser))
    assert issubclass(transport.ParseError, Exception)
    assert transport.ParseError(message="odd").message == "odd"
