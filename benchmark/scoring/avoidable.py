"""Whether an open question was avoidable: the contract still offered a means, or the answers had been delivered."""

from __future__ import annotations

from benchmark.contracts import Contract, Key
from benchmark.history import Kind
from benchmark.intents import Intent
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.effects import Partition
from benchmark.scoring.statements import Statements
from benchmark.scoring.twins import answered, twins_of


def is_avoidable(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> bool:
    """By the declared contract of the intent's first call that was not answered, at the end of the run."""
    for declared in about.declared_by(intent.id):
        if not answered(about, stated, declared):
            contract = about.contracts.get(about.declared_calls[declared][2].tool)
            return contract is not None and _offers(about, effects, intent, contract, declared)
    return True


def _offers(about: Attribution, effects: Partition, intent: Intent, contract: Contract, declared: int) -> bool:
    if contract.key is not None and _live(about, contract.key, declared):
        return True
    if contract.natural_key is not None:
        return True
    if contract.lookup is None:
        return False
    all_present = not any(place.intent == intent.id for place in effects.absent)
    return contract.lookup.settles_s is not None or all_present


def _live(about: Attribution, key: Key, declared: int) -> bool:
    """The key would still be recognised at the last event."""
    if key.on_repeat == "new":
        return False
    attempts = {event.call for event in about.attempts(twins_of(about, declared))}
    first = next((event for event in about.commits if about.call_of(event) in attempts), None)
    if first is None or key.retention_s is None:
        return True
    over = about.history.first(Kind.RETENTION_OVER, after=first.n) is not None
    return not over and about.history.events[-1].t - first.t < key.retention_s
