"""Celery: a task for each call, with a worker of its own on Redis."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from task import Task

WAIT_S = 20


async def work(task: Task) -> list[dict[str, Any]]:
    """Send the calls one after the other; what was sent before a restart is waited for, not sent again."""
    from jobs import call

    from step import in_order

    places = iter(range(1_000_000))

    async def step(tool: str, arguments: dict[str, Any]) -> list[str]:
        name = f"{task.workflow_id}-{next(places)}"
        sent = task.state_dir / name
        if sent.exists():
            job = call.AsyncResult(name)
        else:
            sent.touch()
            job = call.apply_async([task.server, task.timeouts["tool_call_s"], tool, arguments], task_id=name)
        found: list[str] = job.get(timeout=WAIT_S)
        return found

    return await in_order(task.intents, step)


def main() -> None:
    task = Task.load()
    os.environ["BENCH_REDIS_PORT"] = str(task.services["redis"]["ports"]["main"])
    command = [sys.executable, "-m", "celery", "-A", "jobs", "worker", "--concurrency", "1", "--loglevel", "WARNING"]
    worker = subprocess.Popen([*command, "--without-gossip", "--without-mingle"], cwd=Path(__file__).parent)
    try:
        task.finish(asyncio.run(work(task)))
    finally:
        worker.terminate()
        worker.wait(10)


if __name__ == "__main__":
    main()
