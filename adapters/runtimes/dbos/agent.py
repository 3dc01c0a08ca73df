"""DBOS: a workflow with a step for each call, in SQLite; with the argument ``retry``, each step is tried three times."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import mcp.client.stdio
import mcp.client.streamable_http
from mcp import Client, StdioServerParameters

from dbos import DBOS, SetWorkflowID
from task import Task

RETRIES = {"retries_allowed": True, "max_attempts": 3, "interval_seconds": 0.1} if "retry" in sys.argv[1:] else {}


class ToolError(Exception):
    """The tool answered that it failed."""


@DBOS.step(**RETRIES)
async def call(server: dict[str, Any], timeout_s: float, tool: str, arguments: dict[str, Any]) -> list[str]:
    """One call over a connection of its own; the receipts."""
    if server["transport"] == "http":
        target: Any = server["url"]
    else:
        target = mcp.client.stdio.stdio_client(StdioServerParameters(command=server["command"], args=server["args"]))
    try:
        async with Client(target) as client:
            result = await client.call_tool(tool, arguments, read_timeout_seconds=timeout_s)
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    text = "".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise ToolError(text)
    body = json.loads(text)
    return [receipt for receipt in (body.get("receipts") or [body.get("receipt")]) if receipt]


@DBOS.workflow()
async def order(server: dict[str, Any], timeout_s: float, intents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All intents, one step after the other; a step that fails ends its intent."""
    found = []
    for intent in intents:
        receipts: list[str] = []
        status, detail = "committed", ""
        for planned in intent["calls"]:
            try:
                receipts += await call(server, timeout_s, planned["tool"], planned["arguments"])
            except Exception as error:  # noqa: BLE001 - whatever it was, the step failed
                status, detail = "error", f"{type(error).__name__}: {error}"[:300]
                break
        found.append({"id": intent["id"], "status": status, "receipts": receipts, "detail": detail})
    return found


async def work(task: Task) -> list[dict[str, Any]]:
    """Start the workflow, or take up what DBOS recovers by itself."""
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{task.state_dir / 'dbos.sqlite'}",
            "application_version": "1",
            "run_admin_server": False,
            "log_level": "WARNING",
        }
    )
    DBOS.launch()
    known = await DBOS.get_workflow_status_async(task.workflow_id)
    if known is None:
        with SetWorkflowID(task.workflow_id):
            handle = await DBOS.start_workflow_async(order, task.server, task.timeouts["tool_call_s"], task.intents)
    else:
        handle = await DBOS.retrieve_workflow_async(task.workflow_id)
    found = await handle.get_result()
    DBOS.destroy()
    return found


def main() -> None:
    task = Task.load()
    task.finish(asyncio.run(work(task)))


if __name__ == "__main__":
    main()
