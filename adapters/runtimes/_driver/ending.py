"""How the agents' drivers end: with what the work returned, or with what the framework raised."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from task import Task


def finish(task: Task, work: Coroutine[Any, Any, list[dict[str, Any]]]) -> None:
    """Run it and write the outcome. What the framework raises ends the run, and is its own word on every intent."""
    try:
        intents = asyncio.run(work)
    except BaseException as raised:  # noqa: BLE001 - frameworks raise groups and cancellations too
        error = raised
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        detail = f"{type(error).__name__}: {error}"[:300]
        intents = [{"id": each["id"], "status": "error", "detail": detail} for each in task.intents]
    task.finish(intents, "framework")
