"""The conductor's one notebook: numbers and times every event of a cell, and lets others wait for one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from benchmark.history import Event, Kind

Predicate = Callable[[Event], bool]


class Recorder:
    """Appends events in the order in which the conductor's loop saw them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._began = time.monotonic()
        self._waiting: list[tuple[Predicate, asyncio.Future[Event]]] = []

    def record(self, kind: Kind, **fields: Any) -> Event:
        """Append one event and wake whoever waits for it."""
        event = Event(n=len(self.events) + 1, t=round(time.monotonic() - self._began, 6), kind=kind, **fields)
        self.events.append(event)
        for predicate, future in self._waiting:
            if not future.done() and predicate(event):
                future.set_result(event)
        return event

    def find(self, predicate: Predicate) -> Event | None:
        """The first recorded event that satisfies the predicate."""
        return next((event for event in self.events if predicate(event)), None)

    async def until(self, predicate: Predicate, within_s: float) -> Event | None:
        """The first event, past or future, that satisfies the predicate; None after ``within_s`` seconds."""
        found = self.find(predicate)
        if found is not None:
            return found
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        entry = (predicate, future)
        self._waiting.append(entry)
        try:
            return await asyncio.wait_for(future, within_s)
        except TimeoutError:
            return None
        finally:
            self._waiting.remove(entry)
