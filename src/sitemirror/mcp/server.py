"""The MCP server: tools and resources over stdio or loopback HTTP. Only it imports the SDK."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import anyio
import anyio.to_thread
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from sitemirror.errors import OutputError, SitemirrorError, UsageError, describe_unexpected
from sitemirror.mcp.answers import MOST, one_line
from sitemirror.mcp.shelf import Shelf
from sitemirror.mcp.tools import TOOLS, read_page, tool_named
from sitemirror.version import __version__

_SCHEME: Final = "sitemirror://"
_INSTRUCTIONS: Final = (
    "Mirrors of websites on this machine, as Markdown. docs_list names them, docs_search finds sections, docs_read "
    "reads pages. Answers keep to a budget of tokens and say where they go on."
)
_LISTED: Final = 200
"""Resources in a list: the contents of so many mirrors."""
_ANNOTATIONS: Final = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def make_server(folders: Sequence[Path]) -> Server[Any]:
    """Make the server over the mirrors in or below the folders."""
    shelf = Shelf(folders)

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name, description=tool.description, input_schema=tool.schema(), annotations=_ANNOTATIONS
            )
            for tool in TOOLS
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        text, failed = await anyio.to_thread.run_sync(_call, shelf, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    async def list_resources(_: object, __: object) -> types.ListResourcesResult:
        catalogues = await anyio.to_thread.run_sync(_catalogues, shelf)
        found = [
            types.Resource(
                name=catalogue.name,
                uri=f"{_SCHEME}{quote(catalogue.name)}/",
                description=f"Folders and pages of {one_line(catalogue.header.source_url)}, copied {catalogue.date}",
                mime_type="text/markdown",
            )
            for catalogue in catalogues[:_LISTED]
        ]
        return types.ListResourcesResult(resources=found)

    async def list_templates(_: object, __: object) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="page",
            uri_template=f"{_SCHEME}{{mirror}}/{{+path}}",
            description="A page of a mirror; without a path, its folders.",
            mime_type="text/markdown",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(_: object, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await anyio.to_thread.run_sync(_resource, shelf, uri)
        except SitemirrorError as error:
            raise MCPError(types.INVALID_PARAMS, error.message, {"uri": uri}) from None
        content = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[content])

    return Server(
        "sitemirror",
        version=__version__,
        title="Mirrors of websites",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _call(shelf: Shelf, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """Answer a call; the failure of a call is an answer, too, which the model can act on."""
    try:
        return tool_named(name)(shelf, arguments), False
    except SitemirrorError as error:
        hint = f" {error.hint}." if error.hint else ""
        return f"{error.message}{hint}", True
    except Exception as error:
        print(describe_unexpected(error), file=sys.stderr)
        return f"{describe_unexpected(error)}. This is a bug in sitemirror.", True


def _catalogues(shelf: Shelf) -> list[Any]:
    try:
        return list(shelf.catalogues())
    except (UsageError, OutputError):  # Nothing is mirrored yet.
        return []


def _resource(shelf: Shelf, uri: str) -> str:
    name, _, path = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME) or not name:
        raise UsageError(f"there is no resource {one_line(json.dumps(uri))}")
    name, path = unquote(name), unquote(path)
    exact = [catalogue for catalogue in shelf.catalogues(name) if catalogue.name == name]
    if not exact:
        raise UsageError(f"there is no mirror called {one_line(name, 80)!r}")
    if not path:
        return tool_named("docs_outline")(shelf, {"in": name, "budget": MOST})
    if path not in exact[0].pages:
        raise UsageError(f"{one_line(name, 80)} has no page {one_line(path)!r}")
    return read_page(shelf, {"ref": f"{name}/{path}", "in": name, "budget": MOST})


# --- transports -------------------------------------------------------------------------------------------------------


def serve_stdio(folders: Sequence[Path]) -> None:
    """Serve on stdin and stdout until stdin ends."""
    server = make_server(folders)

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


def serve_http(folders: Sequence[Path], port: int) -> None:
    """Serve over HTTP on 127.0.0.1 until the process is asked to end; port 0 is any free one.

    Requests must name this very address and port in Host, and in Origin if they have one. So no page in a browser can
    reach the server: neither by a name of its own that leads here, nor from another program's port.
    """
    import uvicorn

    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise OutputError(f"port {port} cannot be used: {error.strerror}", hint="give another one, or 0") from None
    with listening:
        number = listening.getsockname()[1]
        names = [f"127.0.0.1:{number}", f"localhost:{number}"]
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=names,
            allowed_origins=[f"http://{name}" for name in names],
        )
        app = make_server(folders).streamable_http_app(transport_security=security)
        print(f"http://127.0.0.1:{number}/mcp", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listening])
