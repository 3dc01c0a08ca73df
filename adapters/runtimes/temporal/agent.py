"""Temporal: a workflow with an activity for each call; with the argument ``once``, an activity is tried one time."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from order import Order, call
from temporalio.client import Client
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.worker import Worker

import lazy
from task import Task

lazy.load("temporalio.worker.workflow_sandbox._in_sandbox")


async def work(task: Task, attempts: int) -> list[dict[str, Any]]:
    """Be the worker, and start the workflow or wait for the one that is known by this name."""
    queue = task.workflow_id  # nobody else's worker: the server is shared by all cells
    client = await Client.connect(f"127.0.0.1:{task.services['temporal']['ports']['main']}")
    async with Worker(client, task_queue=queue, workflows=[Order], activities=[call]):
        try:
            handle: Any = await client.start_workflow(
                Order.run,
                args=[task.server, task.timeouts["tool_call_s"], task.intents, attempts],
                id=task.workflow_id,
                task_queue=queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
        except WorkflowAlreadyStartedError:
            handle = client.get_workflow_handle(task.workflow_id)
        found: list[dict[str, Any]] = await handle.result()
        return found


def main() -> None:
    task = Task.load()
    task.finish(asyncio.run(work(task, 1 if "once" in sys.argv[1:] else 0)))


if __name__ == "__main__":
    main()
