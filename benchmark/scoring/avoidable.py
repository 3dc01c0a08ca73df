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
    return means(about, stated, effects, intent)[0]


def means(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> tuple[bool, str]:
    """(whether it was avoidable, the means that there was, or why there was none)."""
    for declared in about.declared_by(intent.id):
        if not answered(about, stated, declared):
            tool = about.declared_calls[declared][2].tool
            contract = about.contracts.get(tool)
            if contract is None:
                return False, f"{tool} only reads, and was not answered"
            return _offered(about, effects, intent, tool, contract, declared)
    return True, "all its calls had been answered"


def _offered(
    about: Attribution, effects: Partition, intent: Intent, tool: str, contract: Contract, declared: int
) -> tuple[bool, str]:
    if contract.key is not None and _live(about, contract.key, declared):
        return True, f"the key {contract.key.name} of {tool} was still live: the call could have been sent again with it"
    if contract.natural_key is not None:
        return True, f"{tool} has the natural key {', '.join(contract.natural_key)}: a repeat meets the same object"
    if contract.lookup is None:
        if contract.key is None:
            return False, f"{tool} declares no key, no look-up and no natural key"
        return False, f"the key {contract.key.name} of {tool} is not recognised any more, and it declares no look-up"
    if contract.lookup.settles_s is not None:
        return True, f"the look-up {contract.lookup.tool} is final {contract.lookup.settles_s:g} s after the call ended"
    if not any(place.intent == intent.id for place in effects.absent):
        return True, f"the look-up {contract.lookup.tool} would have found the effects"
    return False, f"the look-up {contract.lookup.tool} finds nothing, and its negative is never final"


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
