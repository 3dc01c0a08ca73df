"""The stock client of the MCP Python SDK 1.x; with the argument ``retry``, what is usually put around it."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import jsonschema  # noqa: F401 - the SDK imports it inside its first call
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, CallToolResult
from task import Task


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

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """One call; raises what the SDK raises."""
        if self._session is None:
            self._session = await self._stack.enter_async_context(connected(self._task.server))
        timeout = timedelta(seconds=self._task.timeouts["tool_call_s"])
        try:
            return await self._session.call_tool(tool, arguments, read_timeout_seconds=timeout)
        except McpError as error:
            if error.error.code == CONNECTION_CLOSED or "terminated" in error.error.message:
                await self.close()
            raise

    async def close(self) -> None:
        """Close the connection, however it is."""
        self._session = None
        try:
            await self._stack.aclose()
        except Exception as error:  # noqa: BLE001 - a connection that broke says so once more when it is closed
            logging.getLogger(__name__).info("closing: %s", error)


async def attempt(client: Client, call: dict[str, Any], attempts: int) -> dict[str, Any]:
    """The status of one call; an exception is answered with another attempt while there is one, an answer never."""
    try:
        result = await client.call(call["tool"], call["arguments"])
    except Exception as error:  # noqa: BLE001 - whatever it was, the call ended badly
        if attempts > 1:
            return await attempt(client, call, attempts - 1)
        return {"status": "error", "receipts": [], "detail": f"{type(error).__name__}: {error}"[:300]}
    if result.isError:
        return {"status": "error", "receipts": [], "detail": f"isError: {text(result)}"[:300]}
    content = result.structuredContent or json.loads(text(result))
    found = [content.get("receipt"), *content.get("receipts", ())]
    return {"status": "committed", "receipts": [receipt for receipt in found if receipt], "detail": ""}


def text(result: CallToolResult) -> str:
    """Its text blocks."""
    return " ".join(block.text for block in result.content if block.type == "text")


async def work(task: Task, attempts: int) -> list[dict[str, Any]]:
    """Intents in order, the calls of an intent in order; after a call that is not committed the rest of it is not sent."""
    client = Client(task)
    outcomes = []
    for intent in task.intents:
        calls = []
        for index, call in enumerate(intent["calls"]):
            calls.append({"index": index, **await attempt(client, call, attempts)})
            if calls[-1]["status"] != "committed":
                break
        receipts = list(dict.fromkeys(receipt for call in calls for receipt in call["receipts"]))
        outcomes.append({"id": intent["id"], "status": calls[-1]["status"], "receipts": receipts, "calls": calls})
    await client.close()
    return outcomes


def main() -> None:
    task = Task.load()
    task.finish(asyncio.run(work(task, 2 if "retry" in sys.argv[1:] else 1)))


if __name__ == "__main__":
    main()
