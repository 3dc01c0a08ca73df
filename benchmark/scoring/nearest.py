"""The fulfilling outcome nearest to what was observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

from benchmark.intents import Outcome, Workload
from benchmark.scoring.groups import Group, fulfilling

Chosen = dict[str, Outcome]
"""Intent id → the outcome it is measured against."""


def demand(groups: Sequence[Group], chosen: Mapping[str, Outcome]) -> Counter[int]:
    """Group number → how many effects the chosen outcomes want of it."""
    wanted: Counter[int] = Counter()
    for group in groups:
        for place in group.places:
            wanted[group.number] += chosen[place.intent].slots.get(place.slot.id, 0)
    return wanted


def distance(wanted: Mapping[int, int], present: Mapping[int, int]) -> tuple[int, int]:
    """(surplus + absent, absent): fewest first, ties to the fewest absent."""
    numbers = set(wanted) | set(present)
    absent = sum(max(0, wanted.get(n, 0) - present.get(n, 0)) for n in numbers)
    surplus = sum(max(0, present.get(n, 0) - wanted.get(n, 0)) for n in numbers)
    return surplus + absent, absent


def nearest(workload: Workload, groups: Sequence[Group], present: Mapping[int, int]) -> Chosen:
    """Over the product of the intents' fulfilling outcomes; the first listed wins what is still tied."""
    names = [intent.id for intent in workload.intents]
    combinations = (
        dict(zip(names, outcomes, strict=True)) for outcomes in product(*(fulfilling(intent) for intent in workload.intents))
    )
    return min(combinations, key=lambda chosen: distance(demand(groups, chosen), present))
