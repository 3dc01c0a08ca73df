"""The outcome file (runtime contract, version 1)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Status = Literal["committed", "failed", "unresolved", "error"]


@dataclass(frozen=True)
class Settled:
    """What is claimed about one call: a status, the receipts of its effects, a sentence."""

    status: Status
    receipts: tuple[str, ...] = ()
    detail: str = ""


@dataclass
class IntentOutcome:
    """The calls of one intent that were settled, in order; calls behind the first one not committed were not sent."""

    id: str
    planned: int
    calls: list[Settled] = field(default_factory=list)

    @property
    def status(self) -> Status:
        """``committed`` if every call is, else the last call's status; ``failed`` only where nothing of it happened."""
        last = self.calls[-1].status if self.calls else "committed"
        if last == "failed" and any(call.receipts or call.status != "failed" for call in self.calls):
            return "error"
        return last

    def as_json(self) -> dict[str, Any]:
        receipts = list(dict.fromkeys(receipt for call in self.calls for receipt in call.receipts))
        found: dict[str, Any] = {"id": self.id, "status": self.status, **_receipts(receipts)}
        found["detail"] = "; ".join(call.detail for call in self.calls if call.detail)
        if self.planned > 1:
            found["calls"] = [
                {"index": index, "status": call.status, **_receipts(list(call.receipts))}
                for index, call in enumerate(self.calls)
            ]
        return found


def _receipts(receipts: list[str]) -> dict[str, Any]:
    if len(receipts) > 1:
        return {"receipt": None, "receipts": receipts}
    return {"receipt": receipts[0] if receipts else None}


def write(path: Path, intents: list[IntentOutcome]) -> None:
    """Writes the file whole: under another name, then renamed."""
    body = {"contract": 1, "status_from": "driver", "intents": [intent.as_json() for intent in intents]}
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(json.dumps(body), encoding="utf-8")
    unfinished.replace(path)
