"""False deduplication: an absence counts as one only where its mechanism is in the history."""

from __future__ import annotations

from collections import Counter

from benchmark.effects import Effect
from benchmark.results import Claim
from benchmark.scoring import answers
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.groups import Group, group_of
from benchmark.scoring.statements import Statements, claim_of


def explained(about: Attribution, stated: Statements, group: Group, seen: tuple[Effect, ...]) -> int:
    """How many absences of the group a mechanism explains; the mechanisms are views of one thing, so the largest counts."""
    return max(mechanisms(about, stated, group, seen).values())


def mechanisms(about: Attribution, stated: Statements, group: Group, seen: tuple[Effect, ...]) -> dict[str, int]:
    """Mechanism → how many absences it explains."""
    own = {effect.receipt for effect in seen if not effect.undone and group.takes(effect)}
    return {
        "one receipt is claimed for several": _shared_receipts(about, stated, group, seen, own),
        "a call was answered with the receipt of another effect": _foreign_answers(about, group, seen),
        "successful answers carried fewer receipts than are claimed": _too_few_receipts(about, stated, group, seen),
        "fewer calls were sent than are claimed committed": _too_few_calls(about, stated, group),
    }


def _shared_receipts(about: Attribution, stated: Statements, group: Group, seen: tuple[Effect, ...], own: set[str]) -> int:
    """Two of the group's intents claim one receipt (or two calls of one intent do).

    Receipts that fill another group of the same intents are that group's business.
    """
    named: Counter[str] = Counter()
    intents = dict.fromkeys(place.intent for place in group.places)
    others = [g for g in about.groups if g is not group and any(place.intent in intents for place in g.places)]
    elsewhere = {effect.receipt for effect in seen if group_of(others, effect) is not None}
    for intent in intents:
        if claim_of(stated, intent) is not Claim.COMMITTED:
            continue
        indices = {place.slot.call for place in group.places if place.intent == intent}
        by_call = Counter(
            receipt
            for call in stated[intent].calls
            if call.index in indices
            for receipt in dict.fromkeys([call.receipt, *(call.receipts or ())])
            if receipt is not None
        )
        for receipt in stated[intent].all_receipts:
            named[receipt] += max(1, by_call[receipt])
    return sum(n - (receipt in own) for receipt, n in named.items() if n > 1 and receipt not in elsewhere)


def _foreign_answers(about: Attribution, group: Group, seen: tuple[Effect, ...]) -> int:
    """Calls answered with the receipt of an effect outside their groups, or of a decoy.

    A receipt that the call itself committed is its own doing (a drifted call), and an answer that says ``mismatch``
    pretends nothing: neither is a deduplication.
    """
    foreign: set[int] = set()
    effects = {effect.receipt: effect for effect in seen}
    others = about.history.decoys | {effect.receipt for effect in about.history.reading.baseline}
    for event in about.delivered(about.declared_in(group)):
        contract = about.contract_of(event.call)
        if event.call is None or (contract is not None and answers.says(event, contract.answers.mismatch)):
            continue
        reach = about.groups_of_declared(about.declared_of(event.call))
        for receipt in answers.receipts(event):
            effect = effects.get(receipt)
            outside = receipt in others or (effect is not None and group_of(reach, effect) is None)
            if outside and about.committed_by.get(receipt) != event.call:
                foreign.add(event.call)
    return len(foreign)


def _too_few_receipts(about: Attribution, stated: Statements, group: Group, seen: tuple[Effect, ...]) -> int:
    """Successful answers carried fewer distinct receipts than places of the group are claimed committed.

    Where no two answers share a receipt, what was claimed beyond them is a false claim, and no deduplication.
    """
    others = about.history.decoys | {effect.receipt for effect in about.history.reading.baseline}
    elsewhere = others | {e.receipt for e in seen if not group.takes(e) and group_of(about.groups, e) is not None}
    strays = {effect.receipt for effect in seen if group_of(about.groups, effect) is None}
    named: set[str] = set()
    answered: set[int | None] = set()
    for event in about.delivered(about.declared_in(group)):
        if not answers.succeeded(event):
            continue
        for receipt in answers.receipts(event):
            answered.add(event.call)
            stray = receipt in strays and about.committed_by.get(receipt) != event.call
            if receipt not in elsewhere and not stray:
                named.add(receipt)
    claimed = sum(claim_of(stated, place.intent) is Claim.COMMITTED for place in group.places)
    return max(0, min(claimed, len(answered)) - len(named))


def _too_few_calls(about: Attribution, stated: Statements, group: Group) -> int:
    """Fewer calls than were declared were sent, at least one, and all intents of the group are claimed committed."""
    if not all(claim_of(stated, place.intent) is Claim.COMMITTED for place in group.places):
        return 0
    declared = about.declared_in(group)
    sent = len(about.attempts(declared))
    return max(0, len(declared) - sent) if sent else 0
