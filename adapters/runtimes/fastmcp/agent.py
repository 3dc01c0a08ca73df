"""The FastMCP client, one connection for the whole run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from fastmcp.client.transports import StdioTransport

from ending import finish
from fastmcp import Client
from task import Task
from walk import Answer, walk


async def work(task: Task) -> list[dict[str, Any]]:
    """Intents in order, the calls of an intent in order."""
    server = task.server
    http = server["transport"] == "http"
    target: Any = server["url"] if http else StdioTransport(command=server["command"], args=server["args"])
    async with Client(target) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await client.call_tool(tool, arguments, timeout=task.timeouts["tool_call_s"], raise_on_error=False)
            text = "".join(block.text for block in result.content if block.type == "text")
            return Answer(result.is_error, result.structured_content, text)

        return await walk(task, call, 1)


def main() -> None:
    task = Task.load()
    finish(task, work(task))


if __name__ == "__main__":
    main()
