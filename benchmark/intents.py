"""Workloads: what the user authorised (intents), and which external outcomes that allows (O(I)).

A workload is data only (``workloads/*.toml``). Slots name the declared effects; an outcome is a multiset over slots, marked
``fulfils`` or not. Twins are separately authorised intents whose slots match the same effects.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from benchmark.contracts import Frozen


class ClassKind(StrEnum):
    """event-like: each write counts. state-like: the final value and the number of versions count."""

    EVENT = "event-like"
    STATE = "state-like"


class Slot(Frozen):
    """One declared effect of an intent: its class and the fields that must match (compared as JSON)."""

    id: str
    effect_class: str = Field(alias="class")
    call: int = Field(description="Index of the intent's call that makes it.")
    match: dict[str, Any]


class Outcome(Frozen):
    """One allowed outcome of an intent: slot id → multiplicity (absent: 0)."""

    fulfils: bool
    slots: dict[str, int]


class Call(Frozen):
    """One tool call that the intent authorises."""

    tool: str
    arguments: dict[str, Any]


class Intent(Frozen):
    """One thing the user authorised; no slots: a read."""

    id: str
    say: str
    calls: tuple[Call, ...]
    slots: tuple[Slot, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    atomic: bool = False

    @property
    def is_read(self) -> bool:
        return not self.slots


class Change(Frozen):
    """A changed argument of one declared call, used by repair-drift."""

    intent: str
    call: int = 0
    argument: str
    value: Any


class Drift(Frozen):
    """What a second plan changes: a free argument (still the same effect), or a binding one (another effect)."""

    free: Change
    binding: Change


class Decoy(Frozen):
    """A look-alike effect of somebody else: made before the run, or right after the struck commit (``during``)."""

    effect_class: str = Field(alias="class")
    when: Literal["before", "during"]
    fields: dict[str, Any]


class Workload(Frozen):
    """One declaration: intents with their O(I), effect classes, drift and decoys."""

    name: str
    title: str
    summary: str
    classes: dict[str, ClassKind] = Field(default_factory=dict, description="Every effect class the slots name.")
    intents: tuple[Intent, ...]
    drift: Drift | None = None
    decoys: tuple[Decoy, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools it needs, in order of first use."""
        return tuple(dict.fromkeys(call.tool for intent in self.intents for call in intent.calls))

    @property
    def declared_calls(self) -> tuple[tuple[str, int, Call], ...]:
        """Every declared call in order: (intent id, index within the intent, call)."""
        return tuple((intent.id, index, call) for intent in self.intents for index, call in enumerate(intent.calls))

    def drifted(self, change: Change) -> Workload:
        """The same workload as the second plan has it: one argument of one call changed; O(I) stays."""
        intents = []
        for intent in self.intents:
            calls = list(intent.calls)
            if intent.id == change.intent:
                call = calls[change.call]
                arguments = {**call.arguments, change.argument: change.value}
                calls[change.call] = call.model_copy(update={"arguments": arguments})
            intents.append(intent.model_copy(update={"calls": tuple(calls)}))
        return self.model_copy(update={"intents": tuple(intents)})


def json_equal(left: Any, right: Any) -> bool:
    """Equality of parsed JSON: 100 equals 100.0, but true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return bool(left == right)


def matches(slot_match: dict[str, Any], fields: dict[str, Any]) -> bool:
    """Whether an effect's fields satisfy a slot (every declared field equal as JSON; others free)."""
    return all(name in fields and json_equal(value, fields[name]) for name, value in slot_match.items())
