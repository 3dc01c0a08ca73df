"""Groups of slots: twins, that is slots of the same class with equal matches, are one group and judged together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.effects import Effect
from benchmark.intents import Intent, Outcome, Slot, Workload, json_equal, matches


@dataclass(frozen=True)
class Place:
    """One slot of one intent; its outcome says how often it is to be filled."""

    intent: str
    slot: Slot


@dataclass(frozen=True)
class Group:
    """Slots that the same effects can fill."""

    number: int
    effect_class: str
    match: dict[str, Any]
    places: tuple[Place, ...]

    def takes(self, effect: Effect) -> bool:
        return effect.effect_class == self.effect_class and matches(self.match, effect.fields)


def groups_of(workload: Workload) -> tuple[Group, ...]:
    """The workload's groups, in order of their first slot."""
    found: list[tuple[str, dict[str, Any], list[Place]]] = []
    for intent in workload.intents:
        for slot in intent.slots:
            place = Place(intent.id, slot)
            for effect_class, match, places in found:
                if effect_class == slot.effect_class and json_equal(match, slot.match):
                    places.append(place)
                    break
            else:
                found.append((slot.effect_class, slot.match, [place]))
    return tuple(Group(n, effect_class, match, tuple(places)) for n, (effect_class, match, places) in enumerate(found))


def group_of(groups: Sequence[Group], effect: Effect) -> Group | None:
    """The group that takes the effect (the workload lint sees to it that there is at most one); None: a stray."""
    return next((group for group in groups if group.takes(effect)), None)


def fulfilling(intent: Intent) -> tuple[Outcome, ...]:
    """The intent's fulfilling outcomes; where none is listed, every slot once."""
    listed = tuple(outcome for outcome in intent.outcomes if outcome.fulfils)
    return listed or (Outcome(fulfils=True, slots={slot.id: 1 for slot in intent.slots}),)
