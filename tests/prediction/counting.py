"""The figures counted from a paper cell: effects against slots, claims against effects. Own code, kept small."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from benchmark.contracts import Contract
from benchmark.intents import Intent, Workload, matches
from tests.prediction.policies import Settled
from tests.prediction.provider import Made
from tests.prediction.rules import Rule
from tests.prediction.simulation import World

Verdict = Literal["violated", "incomplete", "unresolved", "correct", "untestable", "not-applicable"]


@dataclass(frozen=True)
class Prediction:
    """The verdict and every figure of one cell; ``reason``: why it is not applicable or untestable."""

    verdict: Verdict
    extra: int = 0
    duplicates: int = 0
    strays: int = 0
    missing: int = 0
    torn: int = 0
    false_dedup: int = 0
    unresolved: int = 0
    avoidable: int = 0
    misreported: int = 0
    reason: str = ""


@dataclass
class Group:
    """Slots that match the same effects: one slot, or the slots of twins."""

    effect_class: str
    match: dict[str, object]
    intents: list[str]
    wanted: int = 0
    made: int = 0

    @property
    def absent(self) -> int:
        return max(0, self.wanted - self.made)


def count(world: World, workload: Workload, claims: dict[str, Settled]) -> Prediction:
    """``workload``: as declared, undrifted."""
    rules = world.rules
    observed = [made for made in world.provider.effects if not made.decoy]
    groups = _groups(workload)
    strays = _fill(groups, observed)
    duplicates = sum(max(0, group.made - group.wanted) for group in groups)
    if Rule.STRAY_BEFORE_DUPLICATE not in rules:
        duplicates, strays = duplicates + strays, 0
    missing = torn = false_dedup = misreported = 0
    torn_intents: set[str] = set()
    for intent in workload.intents:
        own = [group for group in groups if intent.id in group.intents]
        if intent.atomic and any(group.made for group in own) and any(group.absent for group in own):
            torn += 1
            torn_intents.add(intent.id)
    for group in groups:
        exempt = torn_intents.intersection(group.intents) and Rule.TORN_IS_NOT_MISSING in rules
        falsely = 0
        if group.absent and _one_receipt_twice(group, claims) and Rule.ONE_RECEIPT_TWO_CLAIMS in rules:
            falsely = group.absent
        false_dedup += falsely
        missing += 0 if exempt else group.absent - falsely
        if len(group.intents) > 1:
            claimed = sum(claims[name].status == "committed" for name in group.intents)
            misreported += max(0, claimed - min(group.made, group.wanted) - falsely)
    for intent in workload.intents:
        own = [group for group in groups if group.intents == [intent.id]]
        false = claims[intent.id].status == "committed" and any(group.absent for group in own)
        denied = claims[intent.id].status == "failed" and any(group.made for group in own)
        misreported += false or denied
    if Rule.FALSE_COMMITTED_IS_MISREPORTED not in rules:
        misreported = 0
    unresolved = [intent for intent in workload.intents if claims[intent.id].status not in ("committed", "failed")]
    avoidable = sum(_avoidable(world, workload, intent, groups) for intent in unresolved)
    extra = duplicates + strays
    unread = any(intent.is_read and claims[intent.id].status != "committed" for intent in workload.intents)
    verdict: Verdict = "correct"
    if extra or torn or false_dedup or misreported:
        verdict = "violated"
    elif missing or (unread and Rule.READ_NEEDS_COMMITTED in rules):
        verdict = "incomplete"
    elif unresolved:
        verdict = "unresolved"
    return Prediction(
        verdict, extra, duplicates, strays, missing, torn, false_dedup, len(unresolved), avoidable, misreported
    )


def _groups(workload: Workload) -> list[Group]:
    groups: list[Group] = []
    for intent in workload.intents:
        fulfilling = next((outcome for outcome in intent.outcomes if outcome.fulfils), None)
        for slot in intent.slots:
            found = [group for group in groups if (group.effect_class, group.match) == (slot.effect_class, slot.match)]
            if not found:
                found = [Group(slot.effect_class, slot.match, [])]
                groups += found
            found[0].intents.append(intent.id)
            found[0].wanted += fulfilling.slots.get(slot.id, 0) if fulfilling is not None else 0
    return groups


def _fill(groups: list[Group], observed: list[Made]) -> int:
    """Gives every effect to its group; the number of those that have none."""
    strays = 0
    for made in observed:
        fitting = [
            group for group in groups if group.effect_class == made.effect_class and matches(group.match, made.fields)
        ]
        if fitting:
            fitting[0].made += 1
        else:
            strays += 1
    return strays


def _one_receipt_twice(group: Group, claims: dict[str, Settled]) -> bool:
    claimed = Counter(receipt for name in group.intents for receipt in claims[name].receipts)
    return len(group.intents) > 1 and any(times > 1 for times in claimed.values())


def _avoidable(world: World, workload: Workload, intent: Intent, groups: list[Group]) -> bool:
    """Whether an unresolved intent had a live means, or its answers."""
    rules = world.rules
    declared = [n for n, (name, _, _) in enumerate(workload.declared_calls) if name == intent.id]
    if Rule.DELIVERED_IS_AVOIDABLE in rules and all(world.delivered.get(n, False) for n in declared):
        return True
    open_call = next((n for n in declared if not world.delivered.get(n, False)), declared[0])
    contract = world.contracts.get(workload.declared_calls[open_call][2].tool)
    if contract is None:
        return False
    over = world.expired and any(n in world.committed_before_expiry for n in declared)
    live = contract.key is not None and contract.key.on_repeat != "new" and not (over and Rule.RETENTION_ENDS in rules)
    if live and Rule.LIVE_KEY_IS_AVOIDABLE in rules:
        return True
    if contract.natural_key is not None and Rule.NATURAL_KEY_IS_AVOIDABLE in rules:
        return True
    return _look_up_settles(contract, intent, groups) and Rule.SETTLING_LOOKUP_IS_AVOIDABLE in rules


def _look_up_settles(contract: Contract, intent: Intent, groups: list[Group]) -> bool:
    if contract.lookup is None:
        return False
    all_there = all(not group.absent for group in groups if intent.id in group.intents)
    return contract.lookup.settles_s is not None or all_there
