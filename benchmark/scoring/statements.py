"""What the runtime said: the statements of its last outcome file."""

from __future__ import annotations

from pydantic import ValidationError

from benchmark.history import Event, History, Kind
from benchmark.results import Claim, IntentStatus, OutcomeFile

Statements = dict[str, IntentStatus]
"""Intent id → its entry in the outcome file; an intent that is not here is silent."""


def statements(history: History) -> Statements:
    """Statements that count: of the last outcome, unless the runtime exited with a status other than 0.

    A runtime with a model is heard only where its framework itself states the outcome; what the framework told the model
    will be read from the model wire's events here.
    """
    outcomes = list(history.of(Kind.OUTCOME))
    last = outcomes[-1] if outcomes else None
    if last is None or last.result is None or _failed(history, last):
        return {}
    try:
        outcome = OutcomeFile.model_validate(last.result)
    except ValidationError:
        return {}
    if history.declaration.model and outcome.status_from != "framework":
        return {}
    known = {intent.id for intent in history.declaration.workload.intents}
    found: Statements = {}
    for status in outcome.intents:
        if status.id in known:
            found.setdefault(status.id, status)
    return found


def _failed(history: History, outcome: Event) -> bool:
    """The outcome's incarnation ended by itself with a status other than 0."""
    same = [e for e in history.events if outcome.incarnation is None or e.incarnation == outcome.incarnation]
    if any(event.kind is Kind.STILL_RUNNING for event in same):
        return False
    exits = [event for event in same if event.kind is Kind.RUNTIME_EXITED]
    return bool(exits) and exits[-1].status not in (None, 0)


def claim_of(stated: Statements, intent: str) -> Claim:
    return Claim(stated[intent].status) if intent in stated else Claim.SILENT


def receipts_of(stated: Statements, intent: str) -> tuple[str, ...]:
    """Receipts that a ``committed`` statement names; other statements assert none."""
    return stated[intent].all_receipts if claim_of(stated, intent) is Claim.COMMITTED else ()
