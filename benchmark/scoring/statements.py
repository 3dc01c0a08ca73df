"""What the runtime said: the statements of its last outcome file, or, with a model, what its framework told the model."""

from __future__ import annotations

from pydantic import ValidationError

from benchmark.history import Event, History, Kind
from benchmark.results import Claim, IntentStatus, OutcomeFile
from benchmark.scoring.told import told_statuses

Statements = dict[str, IntentStatus]
"""Intent id → its entry in the outcome file; an intent that is not here is silent."""


def statements(history: History) -> Statements:
    """Statements that count: of the last outcome, unless the runtime exited with a status other than 0.

    With a model the claim is what the framework told the model; the outcome file adds to that only where the framework
    itself states the outcome, and where it says more than that the run ended in an error.
    """
    outcomes = list(history.of(Kind.OUTCOME))
    last = outcomes[-1] if outcomes else None
    if last is None or last.result is None or _failed(history, last):
        return {}
    try:
        outcome = OutcomeFile.model_validate(last.result)
    except ValidationError:
        return {}
    written: Statements = {}
    known = {intent.id for intent in history.declaration.workload.intents}
    for status in outcome.intents:
        if status.id in known:
            written.setdefault(status.id, status)
    if not history.declaration.model:
        return written
    return _with_model(told_statuses(history), written if outcome.status_from == "framework" else {})


def _with_model(told: Statements, written: Statements) -> Statements:
    """The framework's statement after the run, unless it is a mere ``error`` and the model had been told something."""
    weighty = {intent: status for intent, status in written.items() if status.status != "error" or intent not in told}
    return told | weighty


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
