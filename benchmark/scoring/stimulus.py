"""The stimulus: a signature of all that the runtime could observe, volatile values (receipts, keys, ports, ids) left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from benchmark.boundaries import Boundary, Variant
from benchmark.history import Event, History, Kind

_VOLATILE = (
    (re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "ID"),
    (re.compile(r"\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{12,}\b"), "ID"),
    (re.compile(r"\bpid[ =:]*\d+", re.IGNORECASE), "pid N"),
)


def stimulus(history: History) -> str:
    """Twelve hexadecimal digits; equal where nothing that the runtime could observe differs."""
    declaration = history.declaration
    seen = {
        "workload": declaration.workload.model_dump(mode="json", by_alias=True, include={"intents"}),
        "contracts": {name: contract.model_dump(mode="json") for name, contract in declaration.contracts.items()},
        "transport": declaration.cell.transport,
        "protocol": declaration.cell.protocol,
        "replan": _replan(history),
        "events": _Normal(history).normal(list(_observable(history))),
    }
    text = json.dumps(seen, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _replan(history: History) -> Any:
    """The changed argument, where the runtime was started again with it."""
    cell, drift = history.declaration.cell, history.declaration.workload.drift
    if cell.boundary is not Boundary.REPAIR_DRIFT or drift is None:
        return None
    return (drift.free if cell.variant is Variant.FREE else drift.binding).model_dump(mode="json")


def _observable(history: History) -> Iterator[list[Any]]:
    """What happened to the runtime, in order; calls that were never answered come last."""
    order = {event.call: n for n, event in enumerate(history.of(Kind.CALL))}
    declared = {event.call: event.declared for event in history.of(Kind.CALL)}
    answered: set[int | None] = set()
    for event in history.events:
        if event.kind is Kind.STILL_RUNNING:
            break
        match event.kind:
            case Kind.DELIVERED:
                answered.add(event.call)
                yield [event.kind, order.get(event.call), declared.get(event.call), event.status, event.result]
            case Kind.CONNECTION_LOST if event.by != "runtime":
                answered.add(event.call)
                yield [event.kind, order.get(event.call)]
            case Kind.RUNTIME_KILLED | Kind.RUNTIME_STARTED | Kind.RUNTIME_STOPPED | Kind.RUNTIME_CONTINUED:
                yield [event.kind, event.incarnation]
            case Kind.MODEL_REPLY:
                asked = [[call.declared, call.nth, call.arguments] for call in event.asked or ()]
                yield [event.kind, asked, event.detail]
            case Kind.RETENTION_OVER | Kind.LEASE_OVER:
                yield [event.kind]
            case _:
                pass
    for call, n in order.items():
        if call not in answered:
            yield ["silence", n, declared[call]]


class _Normal:
    """Replaces receipts and keys by their order of appearance, and patterns of ports and ids by a word."""

    def __init__(self, history: History) -> None:
        self._names: dict[str, str] = {}
        self._known = {effect.receipt for effect in history.reading.final + history.reading.baseline}
        for event in history.events:
            self._known.update(event.receipts or ())
            self._known.update(_named_receipts(event.result))
            if event.kind is Kind.CALL:
                self._known.update(_values(event))
        self._known.discard("")
        longest_first = sorted(self._known, key=lambda text: (-len(text), text))
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(t)}(?!\w)" for t in longest_first)) if self._known else None

    def normal(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {name: self.normal(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.normal(item) for item in value]
        return value

    def _text(self, text: str) -> str:
        if self._pattern is not None:
            text = self._pattern.sub(lambda found: self._name(found[0]), text)
        for pattern, word in _VOLATILE:
            text = pattern.sub(word, text)
        return text

    def _name(self, text: str) -> str:
        return self._names.setdefault(text, f"<{len(self._names) + 1}>")


def _values(call: Event) -> Iterator[str]:
    """The key a call carried."""
    if call.key:
        yield call.key


def _named_receipts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name in ("receipt", "reference") and isinstance(item, str):
                yield item
            elif name == "receipts" and isinstance(item, list):
                yield from (entry for entry in item if isinstance(entry, str))
            else:
                yield from _named_receipts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named_receipts(item)
