"""An honest run, with a place for one planted fault: in how a call is settled, or in what is told about it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "adapters" / "runtimes"))

import anyio
from mcp.client.session import ElicitationFnT

from _baseline.lookup import find
from _baseline.outcome import IntentOutcome, Settled, write
from _baseline.reply import Reply
from _baseline.server import Server, accept
from _baseline.task import Call, Intent, Request, Task

__all__ = [
    "Call",
    "Intent",
    "IntentOutcome",
    "Reply",
    "Request",
    "Server",
    "Settled",
    "Task",
    "find",
    "once",
    "play",
    "run",
    "write",
]

Settle = Callable[[Server, Call], Awaitable[Settled]]
Tell = Callable[[list[IntentOutcome]], list[IntentOutcome]]


async def once(server: Server, call: Call) -> Settled:
    """The honest default: one attempt, ``committed`` or ``error``."""
    return (await server.call(call.request)).settled()


def run(settle: Settle = once, *, tell: Tell = list, answer: ElicitationFnT = accept) -> None:
    """Plays the task and writes what ``tell`` makes of the outcomes; ``answer``: to a server that asks for input."""
    task = Task.load()
    write(task.outcome_path, tell(play(task, settle, answer)))


def play(task: Task, settle: Settle = once, answer: ElicitationFnT = accept) -> list[IntentOutcome]:
    """Every call in order; behind one that is not committed the rest of its intent is not sent."""
    logging.disable(logging.CRITICAL)

    async def walk() -> list[IntentOutcome]:
        outcomes = []
        async with anyio.create_task_group() as tasks:
            server = Server(task, tasks, answer)
            for intent in task.intents:
                outcome = IntentOutcome(intent.id, len(intent.calls))
                for call in intent.calls:
                    outcome.calls.append(await settle(server, call))
                    if outcome.calls[-1].status != "committed":
                        break
                outcomes.append(outcome)
            await server.close()
            tasks.cancel_scope.cancel()
        return outcomes

    return anyio.run(walk)
