"""Sends again what failed where the tool says ``idempotentHint: true``, and only there."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio
from mcp import Client, StdioServerParameters

from _planted.play import Call, Server, Settled, Task, once, play, write


async def hinted(task: Task) -> set[str]:
    """The tools that claim to be idempotent."""
    server = task.server
    stdio = server["transport"] == "stdio"
    async with Client(
        StdioServerParameters(command=server["command"], args=server["args"]) if stdio else server["url"]
    ) as client:
        listed = await client.list_tools()
        return {tool.name for tool in listed.tools if tool.annotations and tool.annotations.idempotent_hint}


def main() -> None:
    task = Task.load()
    believed = anyio.run(hinted, task)

    async def settle(server: Server, call: Call) -> Settled:
        settled = await once(server, call)
        if settled.status == "error" and call.tool in believed:
            settled = await once(server, call)
        return settled

    write(task.outcome_path, play(task, settle))


if __name__ == "__main__":
    main()
