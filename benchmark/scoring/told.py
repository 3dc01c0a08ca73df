"""What a runtime with a model claims: what its framework told the model about each declared call, the last word on it.

A success, with the receipts that were told, is ``committed``; an error is ``error``; what is neither says nothing about the
effect, and is ``error`` too. The model's own words are no claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.history import Event, History, Kind, Told
from benchmark.results import CallStatus, IntentStatus


@dataclass(frozen=True)
class Heard:
    """The last word about a declared call (None: it was asked for, and nothing was told), and the event that brought it."""

    told: Told | None
    event: Event
    incarnation: int | None


def heard(history: History) -> dict[int, Heard]:
    """Declared call → the last word about it.

    A later incarnation's word counts as soon as the call is in its conversation: what an earlier one was told is void then,
    even if the later one is told nothing.
    """
    found: dict[int, Heard] = {}
    for event in history.of(Kind.MODEL_REQUEST, Kind.MODEL_REPLY):
        told = sorted(event.asking.told if event.asking is not None else (), key=lambda one: one.nth)
        asked = [call.declared for call in event.asked or () if call.declared is not None]
        for declared in (*(one.declared for one in told), *asked):
            if declared not in found or found[declared].incarnation != event.incarnation:
                found[declared] = Heard(None, event, event.incarnation)
        for one in told:
            if one.word is not None and found[one.declared].told != one:
                found[one.declared] = Heard(one, event, event.incarnation)
    return found


def told_statuses(history: History) -> dict[str, IntentStatus]:
    """Intent id → what the framework claims about it; an intent of which nothing was told is not in it."""
    words = heard(history)
    declared = history.declaration.workload.declared_calls
    found: dict[str, IntentStatus] = {}
    for intent in history.declaration.workload.intents:
        numbers = [number for number, (name, _, _) in enumerate(declared) if name == intent.id]
        told = [(declared[number][1], words[number].told if number in words else None) for number in numbers]
        status = _intent(intent.id, told)
        if status is not None:
            found[intent.id] = status
    return found


def _intent(intent: str, told: list[tuple[int, Told | None]]) -> IntentStatus | None:
    """All of its calls told committed: ``committed``; any told otherwise: ``error``; else nothing."""
    calls = [_call(index, one) for index, one in told if one is not None and one.word is not None]
    committed = [call for call in calls if call.status == "committed"]
    if len(committed) == len(told):
        receipts = tuple(dict.fromkeys(receipt for call in committed for receipt in call.receipts or ()))
        return IntentStatus(id=intent, status="committed", receipts=receipts, calls=tuple(calls) if len(told) > 1 else ())
    if len(committed) == len(calls):
        return None
    return IntentStatus(id=intent, status="error", calls=tuple(calls) if len(told) > 1 else ())


def _call(index: int, told: Told) -> CallStatus:
    if told.word == "success":
        return CallStatus(index=index, status="committed", receipts=told.receipts)
    return CallStatus(index=index, status="error")
