"""The stock client of FastMCP."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from fastmcp.client.transports import StdioTransport

import lazy
from fastmcp import Client
from task import Task
from walk import Answer, walk

lazy.load("fastmcp.server.server", "fastmcp.utilities.tasks")


def client(task: Task) -> Client[Any]:
    """A client over the transport that the task names."""
    if task.server["transport"] == "stdio":
        return Client(StdioTransport(task.server["command"], task.server["args"]))
    return Client(task.server["url"])


async def work(task: Task) -> list[dict[str, Any]]:
    """Each call inside an ``async with`` of its own: what died is not used again."""

    async def call(tool: str, arguments: dict[str, Any]) -> Answer:
        async with client(task) as connected:
            timeout = task.timeouts["tool_call_s"]
            result = await connected.call_tool(tool, arguments, timeout=timeout, raise_on_error=False)
        text = " ".join(getattr(block, "text", "") for block in result.content)
        return Answer(result.is_error, result.structured_content, text)

    return await walk(task, call, attempts=1)


def main() -> None:
    task = Task.load()
    task.finish(asyncio.run(work(task)))


if __name__ == "__main__":
    main()
