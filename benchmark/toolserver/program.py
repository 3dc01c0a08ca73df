"""The program: an MCP server over stdio or Streamable HTTP, both revisions, made from the adapter's ``tool.toml``."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from benchmark.entries import Tool, ToolAdapter
from benchmark.errors import UsageError
from benchmark.toolserver.answers import output_schema
from benchmark.toolserver.arguments import schema
from benchmark.toolserver.assignment import Assignment, read_assignment
from benchmark.toolserver.calls import Calls, Guard, Transport, directly
from benchmark.toolserver.gate import Gate
from benchmark.toolserver.kept import Kept
from benchmark.toolserver.steps import Around, Prepare
from benchmark.toolserver.upstream import Attempt, Upstream

RETRY_MS = 100
"""What a client is told to wait before it resumes a stream; by itself it might wait longer than its call may last."""
MOST_CALLS = 1000
"""Calls that may be under way at once; held ones occupy a thread each."""


def serve(
    program: str,
    *,
    around: Around = directly,
    prepare: Prepare | None = None,
    guard: Callable[[Assignment], Guard] | None = None,
) -> None:
    """Serves the ``tool.toml`` beside ``program`` (an adapter's ``__file__``) until the other side ends it."""
    adapter = ToolAdapter.model_validate(tomllib.loads((Path(program).parent / "tool.toml").read_text(encoding="utf-8")))
    assignment = read_assignment()
    guarding = guard(assignment) if guard is not None else None
    server = build(adapter, Calls(adapter.tools, _transport(assignment, prepare), around, guarding))
    asyncio.run(_stdio(server) if assignment.transport == "stdio" else _http(server, adapter, assignment))


def build(adapter: ToolAdapter, calls: Calls) -> Server[Any]:
    """The MCP server; ``calls`` does the work."""
    listing = types.ListToolsResult(tools=[describe(name, tool) for name, tool in adapter.tools.items()])
    threads: list[anyio.CapacityLimiter] = []  # made inside the event loop

    async def list_tools(_context: ServerRequestContext[Any], _params: object) -> types.ListToolsResult:
        return listing

    async def call_tool(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in adapter.tools:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        if not threads:
            threads.append(anyio.CapacityLimiter(MOST_CALLS))
        attempt, abort = Attempt(), adapter.on_cancel == "abort"
        try:
            result = await anyio.to_thread.run_sync(
                calls.call,
                params.name,
                params.arguments or {},
                context.params or {},
                attempt,
                abandon_on_cancel=abort,
                limiter=threads[0],
            )
        except anyio.get_cancelled_exc_class():
            if abort:
                attempt.abort()
            raise
        text = types.TextContent(type="text", text=json.dumps(result.content, ensure_ascii=False))
        return types.CallToolResult(
            content=[text], structured_content=result.content, is_error=result.is_error, _meta=result.meta
        )

    return Server(adapter.name, title=adapter.title, on_list_tools=list_tools, on_call_tool=call_tool)


def describe(name: str, tool: Tool) -> types.Tool:
    """A tool as ``tools/list`` shows it."""
    contract = tool.contract
    return types.Tool(
        name=name,
        description=tool.description,
        input_schema=schema(tool.arguments),
        output_schema=output_schema(contract),
        annotations=types.ToolAnnotations(
            read_only_hint=contract is None, idempotent_hint=contract is None or contract.idempotent_hint
        ),
    )


def _transport(assignment: Assignment, prepare: Prepare | None) -> Transport:
    if prepare is None:
        if assignment.upstream is None:
            raise UsageError("the assignment names no upstream")
        return Upstream(assignment.upstream).send
    if assignment.root is None:
        raise UsageError("the assignment names no root")
    return Gate(assignment.gate, Path(assignment.root), assignment.instance, prepare).send


async def _stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _http(server: Server[Any], adapter: ToolAdapter, assignment: Assignment) -> Coroutine[Any, Any, None]:
    import socket

    import uvicorn

    if assignment.listen_fd is None:
        raise UsageError("the assignment names no listen_fd")
    listening = socket.socket(fileno=assignment.listen_fd)
    config = uvicorn.Config(
        server.streamable_http_app(
            json_response=adapter.http_answers == "json",
            event_store=Kept() if assignment.resumable else None,
            retry_interval=RETRY_MS,
        ),
        log_level="critical",
        access_log=False,
        ws="none",
        timeout_keep_alive=3600,  # an idle connection that closes by itself would be a fault that nobody injected
    )
    return uvicorn.Server(config).serve(sockets=[listening])
