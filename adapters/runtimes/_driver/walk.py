"""How the MCP clients walk over the intents, and what is usually put around a client: try, except, once more."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from raised import told
from task import Task


@dataclass(frozen=True)
class Answer:
    """A tool's answer: whether it is an error, its structured content if it has any, its text."""

    is_error: bool
    content: dict[str, Any] | None
    text: str

    @property
    def receipts(self) -> list[str]:
        """The receipts of an answer that is no error, each once; raises ValueError where it is no JSON object."""
        content = self.content if self.content is not None else json.loads(self.text)
        found = [content.get("receipt"), *(content.get("receipts") or ())]
        return list(dict.fromkeys(each for each in found if isinstance(each, str)))

    def settled(self) -> dict[str, Any]:
        """The status of a call that was answered so."""
        if self.is_error:
            return {"status": "error", "receipts": [], "detail": f"isError: {self.text}"[:300]}
        return {"status": "committed", "receipts": self.receipts, "detail": ""}


Call = Callable[[str, dict[str, Any]], Awaitable[Answer]]
"""Calls a tool with arguments; raises what the client raises."""


async def walk(task: Task, call: Call, attempts: int) -> list[dict[str, Any]]:
    """Intents in order, the calls of an intent in order; after a call that is not committed the rest of it is not sent."""
    outcomes = []
    for intent in task.intents:
        calls: list[dict[str, Any]] = []
        for index, planned in enumerate(intent["calls"]):
            calls.append({"index": index, **await _settle(call, planned, attempts)})
            if calls[-1]["status"] != "committed":
                break
        receipts = list(dict.fromkeys(receipt for each in calls for receipt in each["receipts"]))
        outcomes.append({"id": intent["id"], "status": calls[-1]["status"], "receipts": receipts, "calls": calls})
    return outcomes


async def _settle(call: Call, planned: dict[str, Any], attempts: int) -> dict[str, Any]:
    """The status of one call; an exception is answered with another attempt while there is one, an answer never."""
    try:
        return (await call(planned["tool"], planned["arguments"])).settled()
    except Exception as error:  # noqa: BLE001 - whatever it was, the call ended badly
        if attempts > 1:
            return await _settle(call, planned, attempts - 1)
        return {"status": "error", "receipts": [], "detail": told(error)}
