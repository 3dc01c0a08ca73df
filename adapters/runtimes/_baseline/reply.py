"""What came of one attempt, as its caller saw it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from _baseline.outcome import Settled
from _baseline.task import Contract


class Came(StrEnum):
    """How an attempt ended."""

    RESULT = "result"
    IS_ERROR = "is-error"
    EXCEPTION = "exception"
    """The client raised: a timeout, a JSON-RPC error, a broken connection, a result that violates the tool's schema."""
    UNCONNECTED = "unconnected"
    """No connection could be opened; the call was never sent. An exception too, for a policy that does not care."""


@dataclass(frozen=True)
class Reply:
    """The end of one attempt. ``document``: the result or the JSON-RPC error as parsed JSON; empty where there was none."""

    came: Came
    document: dict[str, Any]
    detail: str

    @property
    def ok(self) -> bool:
        return self.came is Came.RESULT

    @property
    def raised(self) -> bool:
        return self.came in (Came.EXCEPTION, Came.UNCONNECTED)

    @property
    def content(self) -> dict[str, Any]:
        """The structured content, or the JSON text that stands for it; empty where there is neither."""
        found = self.document.get("structuredContent")
        if isinstance(found, dict):
            return found
        for block in self.document.get("content") or ():
            try:
                parsed = json.loads(block["text"])
            except (KeyError, TypeError, ValueError):
                continue
            if isinstance(parsed, dict):
                return parsed
        return {}

    @property
    def receipts(self) -> tuple[str, ...]:
        """``receipt`` and ``receipts`` of the answer, in order, without repeats."""
        found = [self.content.get("receipt"), *(self.content.get("receipts") or ())]
        return tuple(dict.fromkeys(receipt for receipt in found if isinstance(receipt, str)))

    def tells(self, contract: Contract, answer: str) -> bool:
        """Whether this is the special answer that the contract declares under this name (undeclared: never)."""
        if answer not in contract.answers:
            return False
        pointer, expected = contract.answers[answer]
        found = resolve(self.document, pointer)
        return bool(found == expected) and isinstance(found, bool) == isinstance(expected, bool)

    def settled(self) -> Settled:
        """The plain reading of a last attempt: a result is ``committed``, everything else ``error``."""
        if self.ok:
            return Settled("committed", self.receipts)
        return Settled("error", (), self.detail)


def resolve(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901), or None where there is none."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document
