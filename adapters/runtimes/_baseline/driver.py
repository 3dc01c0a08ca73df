"""The walk over the intents that every baseline shares.

Intents in order, the calls of an intent in order; after a call that is not known to be committed the rest of its intent is
not sent, later intents are. Connections are closed before the outcome file is written.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from _baseline.outcome import IntentOutcome, Settled, write
from _baseline.server import Server
from _baseline.task import Call, Task

Policy = Callable[[Server, Call], Awaitable[Settled]]
"""What a baseline decides: how one call is brought to an end, and what is claimed about it."""


def run(make: Callable[[Task], Policy]) -> None:
    """Runs the task of ``BENCH_TASK`` with the policy that ``make`` returns for it."""
    # A broken connection is part of the work here; the SDK would print a traceback for it.
    logging.disable(logging.CRITICAL)
    task = Task.load()
    write(task.outcome_path, anyio.run(_walk, task, make(task)))


async def _walk(task: Task, policy: Policy) -> list[IntentOutcome]:
    outcomes = []
    async with anyio.create_task_group() as tasks:
        server = Server(task, tasks)
        for intent in task.intents:
            outcome = IntentOutcome(intent.id, len(intent.calls))
            for call in intent.calls:
                settled = await policy(server, call)
                outcome.calls.append(settled)
                if settled.status != "committed":
                    break
            outcomes.append(outcome)
        await server.close()
        tasks.cancel_scope.cancel()
    return outcomes
