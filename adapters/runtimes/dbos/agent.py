"""DBOS: a workflow with a step for each call, in SQLite; with the argument ``retry``, each step is tried three times."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import lazy
from dbos import DBOS, SetWorkflowID
from step import call_tool, in_order
from task import Task

lazy.load("dbos._sys_db_sqlite", "sqlalchemy.dialects.sqlite")

RETRIES = {"retries_allowed": True, "max_attempts": 3, "interval_seconds": 0.1} if "retry" in sys.argv[1:] else {}


@DBOS.step(**RETRIES)
async def call(server: dict[str, Any], timeout_s: float, tool: str, arguments: dict[str, Any]) -> list[str]:
    """One call over a connection of its own; the receipts."""
    return await call_tool(server, timeout_s, tool, arguments)


@DBOS.workflow()
async def order(server: dict[str, Any], timeout_s: float, intents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A step for each call, one after the other; a step that fails ends its intent."""
    return await in_order(intents, partial(call, server, timeout_s))


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
