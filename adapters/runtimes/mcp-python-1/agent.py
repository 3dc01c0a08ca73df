"""The stock client of the MCP Python SDK 1.x; with the argument ``retry``, what is usually put around it."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED

from task import Task
from walk import Answer, walk


@asynccontextmanager
async def connected(server: dict[str, Any]) -> AsyncIterator[ClientSession]:
    """One connection, as the SDK's documents show it."""
    async with AsyncExitStack() as stack:
        if server["transport"] == "stdio":
            parameters = StdioServerParameters(command=server["command"], args=server["args"])
            read, write = await stack.enter_async_context(stdio_client(parameters))
        else:
            read, write, _ = await stack.enter_async_context(streamable_http_client(server["url"]))
        session = await stack.enter_async_context(ClientSession(read, write))
        await session.initialize()
        await session.list_tools()
        yield session


class Client:
    """Calls tools over one connection at a time; a dead one is replaced before the next call."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._stack = AsyncExitStack()
        self._session: ClientSession | None = None

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """One call; raises what the SDK raises."""
        if self._session is None:
            self._session = await self._stack.enter_async_context(connected(self._task.server))
        timeout = timedelta(seconds=self._task.timeouts["tool_call_s"])
        try:
            result = await self._session.call_tool(tool, arguments, read_timeout_seconds=timeout)
        except McpError as error:
            if error.error.code == CONNECTION_CLOSED or "terminated" in error.error.message:
                await self.close()
            raise
        text = " ".join(block.text for block in result.content if block.type == "text")
        return Answer(result.isError, result.structuredContent, text)

    async def close(self) -> None:
        """Close the connection, however it is."""
        self._session = None
        try:
            await self._stack.aclose()
        except Exception as error:  # noqa: BLE001 - a connection that broke says so once more when it is closed
            logging.getLogger(__name__).info("closing: %s", error)


async def work(task: Task, attempts: int) -> list[dict[str, Any]]:
    client = Client(task)
    outcomes = await walk(task, client.call, attempts)
    await client.close()
    return outcomes


def main() -> None:
    task = Task.load()
    task.finish(asyncio.run(work(task, 2 if "retry" in sys.argv[1:] else 1)))


if __name__ == "__main__":
    main()
