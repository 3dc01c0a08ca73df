"""Answers shared among twins: which declared calls had been answered, where attempts at twins cannot be told apart."""

from __future__ import annotations

from benchmark.history import Event, Kind
from benchmark.intents import json_equal
from benchmark.results import Claim
from benchmark.scoring import answers
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.statements import Statements, claim_of, receipts_of


def twins_of(about: Attribution, declared: int) -> tuple[int, ...]:
    """Declared calls that fill the same groups (of readers: that ask the same), this one included."""
    groups = about.groups_of_declared(declared)
    call = about.declared_calls[declared][2]

    def same(other: int) -> bool:
        if groups:
            return about.groups_of_declared(other) == groups
        asked = about.declared_calls[other][2]
        return asked.tool == call.tool and json_equal(asked.arguments, call.arguments)

    return tuple(n for n in range(len(about.declared_calls)) if same(n))


def answered(about: Attribution, stated: Statements, declared: int) -> bool:
    """A successful answer for this declared call had been delivered, unaltered."""
    return _share(about, stated, declared, [e for e in _delivered(about, declared) if answers.succeeded(e)])


def receipt_delivered(about: Attribution, stated: Statements, declared: int) -> bool:
    """A receipt for this declared call had been delivered: by a successful answer, or by the refusal of a repeat."""
    telling = [e for e in _delivered(about, declared) if answers.succeeded(e) or _refused(about, e)]
    return _share(about, stated, declared, [event for event in telling if answers.receipts(event)])


def _delivered(about: Attribution, declared: int) -> list[Event]:
    """Answers that count as such: one that crosses the runtime's cancel is to be ignored by it (MCP, cancellation)."""
    cancelled = {event.call: event.n for event in about.history.of(Kind.CANCEL)}
    return [
        event for event in about.delivered(twins_of(about, declared)) if event.n < cancelled.get(event.call, event.n + 1)
    ]


def _refused(about: Attribution, event: Event) -> bool:
    contract = about.contract_of(event.call)
    return contract is not None and answers.says(event, contract.answers.repeat_refused)


def _share(about: Attribution, stated: Statements, declared: int, events: list[Event]) -> bool:
    """Whether an answer falls to this call: ``committed`` claims take first, those with a receipt before others."""

    def rank(twin: int) -> tuple[int, int]:
        intent = about.declared_calls[twin][0]
        if claim_of(stated, intent) is not Claim.COMMITTED:
            return 2, twin
        return (0 if receipts_of(stated, intent) else 1), twin

    order = sorted(twins_of(about, declared), key=rank)
    return order.index(declared) < len({event.call for event in events})
