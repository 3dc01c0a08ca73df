"""The client that ``bench speed`` compares with: one handshake, the tools, two calls; no wire, no fault, no verdict.

``{"command": [...]}`` in the environment's SPEED_CLIENT: launches its server, as a test written by hand would.
``{"fds": [in, out]}``: speaks to a server that was forked already (the floor).
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.message import SessionMessage

ARGUMENTS = {"order": "1", "amount": 100, "currency": "usd"}


@asynccontextmanager
async def descriptors(readable: int, writable: int) -> AsyncIterator[tuple[Any, Any]]:
    """An MCP transport over two inherited descriptors."""
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    source = anyio.wrap_file(os.fdopen(readable, encoding="utf-8"))
    sink = os.fdopen(writable, "w", encoding="utf-8")

    async def read() -> None:
        async with to_session:
            async for line in source:
                await to_session.send(SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False)))

    async def write() -> None:
        async with from_session:
            async for message in from_session:
                sink.write(message.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n")
                sink.flush()
        sink.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield incoming, outgoing


async def main(told: dict[str, Any]) -> None:
    """Connect and make two calls."""
    server: Any
    if "fds" in told:
        server = descriptors(*told["fds"])
    else:
        command, *args = told["command"]
        server = StdioServerParameters(command=command, args=args, env={"BENCH_TOOL": told["config"]}, cwd=told["cwd"])
    async with Client(server) as client:
        await client.list_tools()
        for _ in range(2):
            result = await client.call_tool("charge", ARGUMENTS, read_timeout_seconds=20)
            assert not result.is_error, result


if __name__ == "__main__":
    anyio.run(main, json.loads(os.environ["SPEED_CLIENT"]))
