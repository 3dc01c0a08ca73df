"""What a drift must keep: it changes the first declared call, and what comes of it can match no other slot."""

from __future__ import annotations

from typing import Any

from benchmark.errors import closest
from benchmark.intents import Change, Slot, Workload, json_equal
from benchmark.lint.problems import Problem, Problems
from benchmark.lint.slots import disjoint, placed_slots


def of_drift(workload: Workload) -> Problems:
    mutates = any(intent.slots for intent in workload.intents)
    if workload.drift is None:
        if mutates:
            yield Problem(("drift",), "is missing, so that the boundary repair-drift is not applicable", fatal=False)
        return
    if not mutates:
        yield Problem(("drift",), "is given, but the workload has no effect that could drift; leave it out")
        return
    for name, change in (("free", workload.drift.free), ("binding", workload.drift.binding)):
        problems = list(_of_change(workload, change))
        if not problems:
            problems = list((_free if name == "free" else _binding)(workload, change))
        for problem in problems:
            yield Problem(("drift", name, *problem.keys), problem.message, problem.fatal)


def _of_change(workload: Workload, change: Change) -> Problems:
    intents = {intent.id: intent for intent in workload.intents}
    if change.intent not in intents:
        yield Problem(("intent",), f"there is no intent {change.intent!r}{closest(change.intent, intents)}")
        return
    if (change.intent, change.call) != workload.declared_calls[0][:2]:
        first, index, _ = workload.declared_calls[0]
        yield Problem(("intent",), f"a drift changes the first declared call, which is call {index} of {first!r}")
        return
    if not _own_slots(workload):
        yield Problem(("intent",), "the first declared call only reads; put a call with an effect first")
        return
    arguments = workload.declared_calls[0][2].arguments
    if change.argument not in arguments:
        yield Problem(("argument",), f"the call has no argument {change.argument!r}{closest(change.argument, arguments)}")
    elif json_equal(arguments[change.argument], change.value):
        yield Problem(("value",), "is the value that the call has already; a drift changes it")
    elif type(arguments[change.argument]) is not type(change.value):
        yield Problem(("value",), f"is {change.value!r}, of another type than the call's {arguments[change.argument]!r}")


def _own_slots(workload: Workload) -> list[Slot]:
    """The slots of the first declared call."""
    return [slot for slot in workload.intents[0].slots if slot.call == 0]


def _free(workload: Workload, change: Change) -> Problems:
    if any(change.argument in slot.match for slot in _own_slots(workload)):
        yield Problem(("argument",), f"{change.argument!r} must match in a slot, so it is not free; change another argument")


def _binding(workload: Workload, change: Change) -> Problems:
    """The drifted effect is a stray by its value alone.

    No slot of its class has that value there (in either sign); of a list with one item per effect, no slot has any item.
    """
    own = _own_slots(workload)
    if isinstance(change.value, list) and not any(change.argument in slot.match for slot in own):
        values, fields = change.value, None
    elif all(change.argument in slot.match for slot in own):
        values, fields = _signs(change.value), change.argument
    else:
        yield Problem(
            ("argument",), f"{change.argument!r} is not a field of every slot of its call; the drift would fill a slot"
        )
        return
    classes = {slot.effect_class for slot in own}
    for _, intent, slot in placed_slots(workload):
        held = slot.match.values() if fields is None else [slot.match[fields]] if fields in slot.match else values
        equal = any(json_equal(value, each) for value in values for each in held)
        if slot.effect_class in classes and equal and _elsewhere_equal(own, slot, fields):
            message = f"{change.value!r} matches the slot {slot.id!r} of {intent.id!r}; choose a value that no slot has"
            yield Problem(("value",), message)


def _signs(value: Any) -> list[Any]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return [value, -value] if number else [value]


def _elsewhere_equal(own: list[Slot], slot: Slot, field: str | None) -> bool:
    """One of the drifted effects agrees with the slot in all the other fields."""
    rest = {name: value for name, value in slot.match.items() if name != field}
    return field is None or any(not disjoint(rest, each.match) for each in own)
