"""What an agent's driver writes down: whether its framework ended a turn with an exception. Standard library only."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from task import Task


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
            self._raised.append(_innermost(error))

    def finish(self, task: Task) -> None:
        """Write the outcome; nothing is claimed of any intent."""
        detail = "; ".join(self._raised)[:300]
        outcomes = [{"id": intent["id"], "status": "error", "receipt": None, "detail": detail} for intent in task.intents]
        task.finish(outcomes, "framework" if self._raised else "driver")


def leave() -> None:
    """End the process with status 0 although the framework has left threads running."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _innermost(error: BaseException) -> str:
    """The error itself, out of the groups that task groups put around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
