"""What a workload must keep on its own: slots that cannot be confused, outcomes that can be reached."""

from __future__ import annotations

from itertools import combinations

from benchmark.errors import closest
from benchmark.intents import Call, Intent, Slot, Workload, json_equal, matches
from benchmark.lint.drift import of_drift
from benchmark.lint.problems import Problem, Problems, blank, repeated, slug
from benchmark.lint.slots import disjoint, placed_slots


def of_workload(workload: Workload) -> Problems:
    """Everything a workload can get wrong on its own."""
    yield from slug(workload.name)
    yield from blank({("title",): workload.title, ("summary",): workload.summary})
    if not workload.intents:
        yield Problem(("intents",), "is empty; declare at least one intent")
    yield from repeated("intents", [intent.id for intent in workload.intents])
    for index, intent in enumerate(workload.intents):
        for problem in _of_intent(workload, intent):
            yield Problem(("intents", index, *problem.keys), problem.message, problem.fatal)
    used = {slot.effect_class for intent in workload.intents for slot in intent.slots}
    for name in workload.classes:
        if name not in used:
            yield Problem(("classes", name), f"no slot is of this class{closest(name, used)}")
    yield from _groups(workload)
    yield from of_drift(workload)
    yield from _of_decoys(workload)


def _of_intent(workload: Workload, intent: Intent) -> Problems:
    yield from blank({("id",): intent.id, ("say",): intent.say})
    yield from blank({("slots", index, "id"): slot.id for index, slot in enumerate(intent.slots)})
    if not intent.calls:
        yield Problem(("calls",), "is empty; an intent authorises at least one call")
    yield from repeated("slots", [slot.id for slot in intent.slots])
    for index, slot in enumerate(intent.slots):
        if slot.effect_class not in workload.classes:
            remedy = closest(slot.effect_class, workload.classes) or "; add it to classes"
            yield Problem(("slots", index, "class"), f"{slot.effect_class!r} is not declared in classes{remedy}")
        if not slot.match:
            yield Problem(
                ("slots", index, "match"), "is empty, so that it matches every effect; name the fields that must match"
            )
        if not 0 <= slot.call < len(intent.calls):
            yield Problem(
                ("slots", index, "call"), f"is {slot.call}, but the intent has the calls 0 to {len(intent.calls) - 1}"
            )
        else:
            yield from _follows(index, slot, intent.calls[slot.call])
    yield from _of_outcomes(intent)


def _follows(index: int, slot: Slot, call: Call) -> Problems:
    """A slot's field named like an argument has its value (an amount may change its sign, a list gives one of its items)."""
    for name, value in slot.match.items():
        given = call.arguments.get(name, value)
        signed = isinstance(value, int | float) and isinstance(given, int | float) and abs(value) == abs(given)
        if not (json_equal(value, given) or signed or (isinstance(given, list) and value in given)):
            yield Problem(("slots", index, "match", name), f"is {value!r}, but its call gives {given!r}; make them agree")


def _of_outcomes(intent: Intent) -> Problems:
    known = [slot.id for slot in intent.slots]
    if intent.is_read:
        if intent.outcomes or intent.atomic:
            yield Problem(("outcomes",), "is given for an intent without slots; declare slots, or leave it out")
        return
    if not any(outcome.fulfils for outcome in intent.outcomes):
        yield Problem(("outcomes",), "none fulfils the intent; mark at least one outcome with fulfils = true")
    for index, outcome in enumerate(intent.outcomes):
        for name, count in outcome.slots.items():
            keys = ("outcomes", index, "slots", name)
            if name not in known:
                yield Problem(keys, f"there is no slot {name!r}{closest(name, known) or '; known: ' + ', '.join(known)}")
            elif count < 1:
                yield Problem(keys, f"is {count}; a multiplicity is at least 1 (leave the slot out for none)")
        if outcome.fulfils and not outcome.slots:
            yield Problem(
                ("outcomes", index, "slots"), "is empty in an outcome that fulfils; doing nothing fulfils no intent"
            )
        if any(outcome.slots == other.slots for other in intent.outcomes[:index]):
            yield Problem(("outcomes", index), "allows the same as an earlier outcome; remove one of them")
    for index, name in enumerate(known):
        if not any(name in outcome.slots for outcome in intent.outcomes):
            yield Problem(("slots", index, "id"), f"no outcome names the slot {name!r}; add it to one, or remove it")
    if intent.atomic and len(known) < 2:
        yield Problem(("atomic",), "is true for fewer than two slots; one effect cannot be torn")


def _groups(workload: Workload) -> Problems:
    """Slots of one class match the very same effects (a group of twins), or no common one."""
    for (_, _, left), (keys, _, right) in combinations(placed_slots(workload), 2):
        if left.effect_class != right.effect_class or json_equal(left.match, right.match):
            continue
        if not disjoint(left.match, right.match):
            yield Problem(
                (*keys, "match"),
                f"an effect could match both this slot and {left.id!r}; make a common field differ, or all agree",
            )


def _of_decoys(workload: Workload) -> Problems:
    for index, decoy in enumerate(workload.decoys):
        same = [slot for _, _, slot in placed_slots(workload) if slot.effect_class == decoy.effect_class]
        if not any(matches(slot.match, decoy.fields) for slot in same):
            yield Problem(
                ("decoys", index, "fields"), "looks like no slot, so that it deceives nobody; copy the fields of a slot"
            )
