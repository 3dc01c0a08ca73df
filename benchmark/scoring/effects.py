"""The partition of effects: present, duplicate, stray, compensated; and of absences: missing, falsely deduplicated, torn.

Every observed effect falls into exactly one of the first four parts, every wanted effect into exactly one of present and
the last three, so that a duplicate and a miss never cancel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmark.effects import Effect
from benchmark.history import History
from benchmark.intents import Workload
from benchmark.results import Claim
from benchmark.scoring import dedup
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.groups import Place, group_of
from benchmark.scoring.nearest import Chosen, demand, nearest
from benchmark.scoring.statements import Statements, claim_of, receipts_of


def observed(history: History) -> tuple[Effect, ...]:
    """What the oracle lists at the end, without the baseline and the decoys; undone effects included."""
    before = {(effect.effect_class, effect.receipt) for effect in history.reading.baseline}
    return tuple(
        effect
        for effect in history.reading.final
        if (effect.effect_class, effect.receipt) not in before and effect.receipt not in history.decoys
    )


@dataclass(frozen=True)
class Partition:
    """Where every observed and every wanted effect belongs."""

    observed: tuple[Effect, ...]
    chosen: Chosen
    wanted: Counter[int]
    """Group number → effects that the chosen outcome wants."""
    present: Counter[int]
    """Group number → live effects that match, duplicates included."""
    strays: tuple[Effect, ...]
    compensated: tuple[Effect, ...]
    filled: tuple[Place, ...]
    missing: tuple[Place, ...]
    false_dedup: tuple[Place, ...]
    torn: tuple[Place, ...]
    """Absences of torn intents; ``torn_intents`` are what is counted."""
    torn_intents: tuple[str, ...] = field(default=())

    @property
    def declared(self) -> int:
        return self.wanted.total()

    @property
    def duplicates(self) -> int:
        return sum(max(0, count - self.wanted[number]) for number, count in self.present.items())

    @property
    def extra(self) -> int:
        return self.duplicates + len(self.strays) + len(self.compensated)

    @property
    def absent(self) -> tuple[Place, ...]:
        return self.missing + self.false_dedup + self.torn


def partition(history: History, about: Attribution, stated: Statements) -> Partition:
    """The partition against the nearest fulfilling outcome."""
    seen = observed(history)
    live = [effect for effect in seen if not effect.undone]
    owners = [(effect, group_of(about.groups, effect)) for effect in live]
    present = Counter(group.number for _, group in owners if group is not None)
    chosen = nearest(about.workload, about.groups, present)
    wanted = demand(about.groups, chosen)
    order = _order(about, stated, {effect.receipt: group.number for effect, group in owners if group is not None})
    filled, absent = _fill(about, chosen, present, order)
    torn_intents = _torn(about.workload, filled, absent)
    torn = tuple(place for place in absent if place.intent in torn_intents)
    whole = [place for place in absent if place.intent not in torn_intents]
    false_dedup, missing = _split(about, stated, whole, seen)
    return Partition(
        observed=seen,
        chosen=chosen,
        wanted=wanted,
        present=present,
        strays=tuple(effect for effect, group in owners if group is None),
        compensated=tuple(effect for effect in seen if effect.undone),
        filled=tuple(filled),
        missing=tuple(missing),
        false_dedup=tuple(false_dedup),
        torn=torn,
        torn_intents=torn_intents,
    )


def _order(about: Attribution, stated: Statements, owner: Mapping[str, int]) -> list[str]:
    """Intents in the order in which they take effects of their group.

    Committed claims take first (those with a right receipt before others), then failed ones, then the rest.
    """

    def rank(intent: str) -> int:
        claim = claim_of(stated, intent)
        if claim is Claim.COMMITTED:
            own = {group.number for group in about.groups if any(place.intent == intent for place in group.places)}
            return 0 if any(owner.get(receipt) in own for receipt in receipts_of(stated, intent)) else 1
        return 2 if claim is Claim.FAILED else 3

    return sorted((intent.id for intent in about.workload.intents), key=rank)


def _fill(
    about: Attribution, chosen: Chosen, present: Mapping[int, int], order: list[str]
) -> tuple[list[Place], list[Place]]:
    """(filled, absent) places, one per wanted effect: first the intents that can be filled whole, then the rest."""
    left = dict(present)
    wants: dict[str, list[tuple[int, Place]]] = {intent: [] for intent in order}
    for group in about.groups:
        for place in group.places:
            wants[place.intent] += [(group.number, place)] * chosen[place.intent].slots.get(place.slot.id, 0)
    filled: list[Place] = []
    absent: list[Place] = []
    rest: list[str] = []
    for intent in order:
        need = Counter(number for number, _ in wants[intent])
        if any(count > left.get(number, 0) for number, count in need.items()):
            rest.append(intent)
            continue
        for number, place in wants[intent]:
            left[number] -= 1
            filled.append(place)
    for intent in rest:
        for number, place in wants[intent]:
            if left.get(number, 0) > 0:
                left[number] -= 1
                filled.append(place)
            else:
                absent.append(place)
    return filled, absent


def _torn(workload: Workload, filled: list[Place], absent: list[Place]) -> tuple[str, ...]:
    """Atomic intents of which a part stands alone."""
    some = {place.intent for place in filled}
    lacking = {place.intent for place in absent}
    return tuple(i.id for i in workload.intents if i.atomic and i.id in some and i.id in lacking)


def _split(
    about: Attribution, stated: Statements, absent: list[Place], seen: tuple[Effect, ...]
) -> tuple[list[Place], list[Place]]:
    """(false_dedup, missing): as many absences of a group as its mechanism explains, committed claims first."""
    false_dedup: list[Place] = []
    missing: list[Place] = []
    for group in about.groups:
        lacking = [place for place in absent if place in group.places]
        if not lacking:
            continue
        lacking.sort(key=lambda place: claim_of(stated, place.intent) is not Claim.COMMITTED)
        explained = min(len(lacking), dedup.explained(about, stated, group, seen))
        false_dedup += lacking[:explained]
        missing += lacking[explained:]
    return false_dedup, missing
