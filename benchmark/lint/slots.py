"""Slots of a workload with their place in its file, and when two of them exclude each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.intents import Intent, Slot, Workload, json_equal


def placed_slots(workload: Workload) -> list[tuple[tuple[str | int, ...], Intent, Slot]]:
    return [
        (("intents", first, "slots", second), intent, slot)
        for first, intent in enumerate(workload.intents)
        for second, slot in enumerate(intent.slots)
    ]


def disjoint(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """No effect can match both: they differ on a common field."""
    return any(name in right and not json_equal(value, right[name]) for name, value in left.items())
