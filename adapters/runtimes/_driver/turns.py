"""How an agent is driven: its turns, and what is written down where its framework raised. Standard library only."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from raised import innermost, told
from task import Task

Claims = list[dict[str, Any]]
"""What the framework itself says of each intent, as in the outcome file."""


class Said:
    """What the framework said by raising; what it told the model about its calls is read elsewhere."""

    def __init__(self) -> None:
        self._raised: list[str] = []

    @contextmanager
    def turn(self) -> Iterator[None]:
        """An exception ends the turn, not the conversation: the next turn is said in the same one."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it was, the framework ended the turn with it
            traceback.print_exc()
            self._raised.append(told(innermost(error)))

    def finish(self, task: Task) -> None:
        """Write the outcome; nothing is claimed of any intent."""
        detail = "; ".join(self._raised)[:300]
        outcomes = [{"id": intent["id"], "status": "error", "receipt": None, "detail": detail} for intent in task.intents]
        task.finish(outcomes, "framework" if self._raised else "driver")


def run(work: Callable[[Task, Said], Coroutine[Any, Any, Claims | None] | Claims | None]) -> None:
    """Do the task and write the outcome: what ``work`` claims; None: no more than what the framework said by raising."""
    task = Task.load()
    said = Said()
    claims = None
    with said.turn():
        begun = work(task, said)
        claims = asyncio.run(begun) if isinstance(begun, Coroutine) else begun
    if claims is None:
        said.finish(task)
    else:
        task.finish(claims, "framework")
