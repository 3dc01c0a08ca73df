"""The shipped workloads keep every rule, mean what they say, and each rule catches a planted error."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from benchmark import lint
from benchmark.catalog import Catalogue, load
from benchmark.intents import Call, ClassKind, Intent, Workload, matches
from benchmark.plan import stages

NAMES = (
    "append-line",
    "append-same-line-twice",
    "book-slot",
    "broadcast",
    "cancel-order",
    "charge-card",
    "charge-then-notify",
    "charge-twice",
    "create-with-decoy",
    "delete-resource",
    "five-recipients",
    "long-job",
    "put-object",
    "read-only",
    "three-resources",
    "transfer",
)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def effects(call: Call) -> list[tuple[str, dict[str, Any]]]:
    """(class, fields) of each effect that an honest server makes of a call, by the published table of tools."""
    given = call.arguments
    match call.tool:
        case "send":
            return [("message", {**given, "to": each}) for each in given["recipients"]]
        case "transfer":
            source, target = given["accounts"]
            legs = [(source, -given["amount"]), (target, given["amount"])]
            return [("leg", {**given, "account": account, "amount": amount}) for account, amount in legs]
        case _:
            name = {
                "append": "line",
                "book": "booking",
                "charge": "charge",
                "create": "resource",
                "delete": "deletion",
                "put": "object",
                "refund": "refund",
                "start": "job",
            }.get(call.tool)
            return [(name, dict(given))] if name else []


def filled(workload: Workload, calls: list[Call]) -> list[int]:
    """For each effect of the calls, how many slots of the workload it matches."""
    slots = [slot for intent in workload.intents for slot in intent.slots]
    return [
        sum(slot.effect_class == name and matches(slot.match, fields) for slot in slots)
        for call in calls
        for name, fields in effects(call)
    ]


def test_the_shipped_catalogue_draws_no_word_from_the_lint(catalogue: Catalogue) -> None:
    assert [(str(placed.file), problem) for placed, problem in catalogue.problems()] == []


def test_the_sixteen_workloads_are_there(catalogue: Catalogue) -> None:
    assert tuple(catalogue.workloads) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_effect_of_a_declared_call_fills_a_slot_of_that_call(catalogue: Catalogue, name: str) -> None:
    for intent in catalogue.workloads[name].intents:
        for index, call in enumerate(intent.calls):
            slots = [slot for slot in intent.slots if slot.call == index]
            made = effects(call)
            assert len(made) == len(slots)
            for slot in slots:
                assert sum(slot.effect_class == each and matches(slot.match, fields) for each, fields in made) == 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "read-only"])
def test_a_drifted_free_argument_fills_the_slot_and_a_binding_one_none(catalogue: Catalogue, name: str) -> None:
    workload = catalogue.workloads[name]
    assert workload.drift is not None
    first = workload.declared_calls[0][2]
    for change, fills in ((workload.drift.free, True), (workload.drift.binding, False)):
        drifted = workload.drifted(change).declared_calls[0][2]
        assert drifted != first
        assert all(bool(count) == fills for count in filled(workload, [drifted]))


@pytest.mark.parametrize("name", ["charge-twice", "append-same-line-twice"])
def test_twins_are_two_intents_with_identical_arguments(catalogue: Catalogue, name: str) -> None:
    first, second = catalogue.workloads[name].intents
    assert first.calls == second.calls
    assert first.slots[0].match == second.slots[0].match
    assert first.say != second.say


def test_a_transfer_is_both_legs_or_none_and_none_does_not_fulfil(catalogue: Catalogue) -> None:
    (intent,) = catalogue.workloads["transfer"].intents
    assert intent.atomic
    assert [(outcome.fulfils, outcome.slots) for outcome in intent.outcomes] == [
        (True, {"debit": 1, "credit": 1}),
        (False, {}),
    ]
    assert sum(slot.match["amount"] for slot in intent.slots) == 0


def test_a_cancelled_order_is_a_charge_and_a_refund_or_neither(catalogue: Catalogue) -> None:
    (intent,) = catalogue.workloads["cancel-order"].intents
    assert [slot.effect_class for slot in intent.slots] == ["charge", "refund"]
    assert intent.slots[0].match == intent.slots[1].match
    assert [outcome.fulfils for outcome in intent.outcomes] == [True, False]


def test_every_mutating_tool_has_a_weak_and_a_strong_adapter(catalogue: Catalogue) -> None:
    strong: dict[str, set[bool]] = {}
    for adapter in catalogue.adapters.values():
        for name, tool in adapter.tools.items():
            if tool.contract is not None and name != "undo":  # a planted runtime's, no workload's
                protects = tool.contract.key is not None or tool.contract.natural_key is not None
                strong.setdefault(name, set()).add(protects)
    assert {name for name, kinds in strong.items() if kinds != {True, False}} == set()


@pytest.mark.parametrize(
    ("name", "calls", "slots"), [("five-recipients", 5, 5), ("broadcast", 1, 5), ("three-resources", 3, 3)]
)
def test_several_effects_come_of_one_intent(catalogue: Catalogue, name: str, calls: int, slots: int) -> None:
    (intent,) = catalogue.workloads[name].intents
    assert (len(intent.calls), len(intent.slots)) == (calls, slots)


def test_a_decoy_stands_before_the_run_and_another_appears_during_it(catalogue: Catalogue) -> None:
    workload = catalogue.workloads["create-with-decoy"]
    assert [decoy.when for decoy in workload.decoys] == ["before", "during"]
    assert all(matches(workload.intents[0].slots[0].match, decoy.fields) for decoy in workload.decoys)


def test_only_objects_are_state_like(catalogue: Catalogue) -> None:
    kinds = {name: kind for workload in catalogue.workloads.values() for name, kind in workload.classes.items()}
    assert {name for name, kind in kinds.items() if kind is ClassKind.STATE} == {"object"}
    assert {name for provider in catalogue.providers.values() for name in provider.state_like} == {"object"}


def test_a_read_declares_no_effect(catalogue: Catalogue) -> None:
    workload = catalogue.workloads["read-only"]
    assert all(intent.is_read for intent in workload.intents)
    assert workload.drift is None


def test_workloads_run_on_the_adapters_that_have_their_tools(catalogue: Catalogue) -> None:
    found: dict[str, int] = {}
    for here in stages(catalogue):
        found[here.workload.name] = found.get(here.workload.name, 0) + 1
    with_tools = {
        name: sum(set(workload.tools) <= adapter.tools.keys() for adapter in catalogue.adapters.values())
        for name, workload in catalogue.workloads.items()
    }
    assert found == with_tools


Raw = dict[str, Any]

PAIR: Raw = {
    "name": "w",
    "title": "Title",
    "summary": "Summary.",
    "classes": {"charge": "event-like", "leg": "event-like"},
    "intents": [
        {
            "id": "one",
            "say": "Do it.",
            "calls": [{"tool": "charge", "arguments": {"order": "1", "amount": 100, "memo": "m"}}],
            "slots": [{"id": "a", "class": "charge", "call": 0, "match": {"order": "1", "amount": 100}}],
            "outcomes": [{"fulfils": True, "slots": {"a": 1}}],
        },
        {
            "id": "two",
            "say": "Do it.",
            "calls": [{"tool": "move", "arguments": {"accounts": ["x", "y"], "amount": 7}}],
            "slots": [
                {"id": "out", "class": "leg", "call": 0, "match": {"account": "x", "amount": -7}},
                {"id": "in", "class": "leg", "call": 0, "match": {"account": "y", "amount": 7}},
            ],
            "outcomes": [{"fulfils": True, "slots": {"out": 1, "in": 1}}, {"fulfils": False, "slots": {}}],
            "atomic": True,
        },
    ],
    "drift": {
        "free": {"intent": "one", "argument": "memo", "value": "n"},
        "binding": {"intent": "one", "argument": "amount", "value": 300},
    },
    "decoys": [{"class": "charge", "when": "before", "fields": {"order": "1", "amount": 100}}],
}


def planted(path: str, value: Any, start: Raw = PAIR) -> Workload:
    """The right declaration with one value at a dotted path replaced (``...``: removed)."""
    raw = copy.deepcopy(start)
    *way, last = path.split(".")
    place: Any = raw
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value is ...:
        del place[last]
    elif isinstance(place, list):
        place[int(last) :] = [*place[int(last) + 1 :], value] if int(last) < len(place) else [value]
    else:
        place[last] = value
    return Workload.model_validate(raw)


def said(workload: Workload) -> list[str]:
    return [f"{'.'.join(map(str, problem.keys))}: {problem.message}" for problem in lint.of_workload(workload)]


def test_the_right_declaration_draws_no_word() -> None:
    assert said(Workload.model_validate(PAIR)) == []


SLOT = {"id": "late", "class": "charge", "call": 0, "match": {"order": "1"}}


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("name", "My.Workload", "name: 'My.Workload' is no slug"),
        ("intents", [], "intents: is empty"),
        ("intents.1.id", "one", "intents.1.id: 'one' is used twice"),
        ("intents.0.calls", [], "intents.0.calls: is empty"),
        ("intents.1.slots.0.id", "in", "intents.1.slots.1.id: 'in' is used twice"),
        ("intents.0.slots.0.class", "chrage", "intents.0.slots.0.class: 'chrage' is not declared in classes; did"),
        ("intents.0.slots.0.call", 1, "intents.0.slots.0.call: is 1, but the intent has the calls 0 to 0"),
        ("intents.0.slots.0.call", -1, "intents.0.slots.0.call: is -1, but the intent has the calls 0 to 0"),
        ("intents.0.slots.0.match", {}, "intents.0.slots.0.match: is empty, so that it matches every effect"),
        ("intents.0.slots.0.match.amount", 101, "intents.0.slots.0.match.amount: is 101, but its call gives 100"),
        ("intents.0.outcomes.0.slots", {"b": 1}, "intents.0.outcomes.0.slots.b: there is no slot 'b'"),
        ("intents.0.outcomes.0.slots", {"a": 0}, "intents.0.outcomes.0.slots.a: is 0; a multiplicity is at least 1"),
        ("intents.0.outcomes.0.slots", {}, "intents.0.outcomes.0.slots: is empty in an outcome that fulfils"),
        ("intents.0.outcomes.0.fulfils", False, "intents.0.outcomes: none fulfils the intent"),
        ("intents.0.outcomes", [], "intents.0.outcomes: none fulfils the intent"),
        ("intents.1.outcomes.1.slots", {"in": 1, "out": 1}, "intents.1.outcomes.1: allows the same as an earlier outcome"),
        ("intents.1.outcomes.0.slots", {"in": 1}, "intents.1.slots.0.id: no outcome names the slot 'out'"),
        ("intents.0.atomic", True, "intents.0.atomic: is true for fewer than two slots"),
        ("intents.0.slots", [], "intents.0.outcomes: is given for an intent without slots"),
        ("classes.message", "event-like", "classes.message: no slot is of this class"),
        ("intents.0.slots.1", SLOT, "intents.0.slots.1.match: an effect could match both this slot and 'a'"),
        ("drift", ..., "drift: is missing, so that the boundary repair-drift is not applicable"),
        ("drift.free.intent", "on", "drift.free.intent: there is no intent 'on'; did you mean 'one'?"),
        ("drift.free.intent", "two", "drift.free.intent: a drift changes the first declared call, which is call 0 of 'one'"),
        ("drift.free.call", 1, "drift.free.intent: a drift changes the first declared call"),
        ("drift.free.argument", "meno", "drift.free.argument: the call has no argument 'meno'; did you mean 'memo'?"),
        ("drift.free.argument", "order", "drift.free.argument: 'order' must match in a slot, so it is not free"),
        ("drift.free.value", "m", "drift.free.value: is the value that the call has already"),
        ("drift.free.value", 3, "drift.free.value: is 3, of another type than the call's 'm'"),
        ("drift.binding.value", 100, "drift.binding.value: is the value that the call has already"),
        ("drift.binding.value", True, "drift.binding.value: is True, of another type than the call's 100"),
        ("drift.binding", {"intent": "one", "argument": "memo", "value": "n"}, "drift.binding.argument: 'memo' is"),
        ("decoys.0.fields.amount", 99, "decoys.0.fields: looks like no slot"),
        ("decoys.0.class", "leg", "decoys.0.fields: looks like no slot"),
    ],
)  # fmt: skip
def test_each_rule_catches_a_planted_error(path: str, value: Any, complaint: str) -> None:
    assert any(each.startswith(complaint) for each in said(planted(path, value))), said(planted(path, value))


def test_a_drift_without_any_effect_is_refused() -> None:
    workload = planted("intents", [{"id": "one", "say": "Do it.", "calls": PAIR["intents"][0]["calls"]}])
    assert "drift: is given, but the workload has no effect that could drift; leave it out" in said(workload)


def test_a_drift_of_a_call_that_only_reads_is_refused() -> None:
    intent = copy.deepcopy(PAIR["intents"][0])
    intent["calls"] = [{"tool": "find", "arguments": {"memo": "m", "amount": 100}}, *intent["calls"]]
    intent["slots"][0]["call"] = 1
    complaints = said(planted("intents", [intent, PAIR["intents"][1]]))
    assert complaints[0] == "drift.free.intent: the first declared call only reads; put a call with an effect first"


def test_a_drift_onto_a_twin_in_another_intent_is_refused() -> None:
    other = copy.deepcopy(PAIR["intents"][0])
    other |= {"id": "three"}
    other["calls"][0]["arguments"]["amount"] = other["slots"][0]["match"]["amount"] = 300
    workload = planted("intents", [*PAIR["intents"], other])
    assert said(workload) == ["drift.binding.value: 300 matches the slot 'a' of 'three'; choose a value that no slot has"]


def test_a_drift_to_a_value_of_a_slot_that_differs_elsewhere_is_allowed() -> None:
    other = copy.deepcopy(PAIR["intents"][0])
    other |= {"id": "three"}
    other["calls"][0]["arguments"] |= {"amount": 300, "order": "3"}
    other["slots"][0]["match"] = {"amount": 300, "order": "3"}
    assert said(planted("intents", [*PAIR["intents"], other])) == []


def moved(edit: Callable[[Raw], None]) -> Workload:
    """A workload of the two legs alone, whose drift may touch either sign or the list of accounts."""
    raw = copy.deepcopy(PAIR)
    raw["classes"] = {"leg": "event-like"}
    raw["decoys"] = []
    raw["intents"] = raw["intents"][1:]
    raw["intents"][0]["calls"][0]["arguments"]["memo"] = "m"
    raw["drift"]["free"] = {"intent": "two", "argument": "memo", "value": "n"}
    raw["drift"]["binding"] = {"intent": "two", "argument": "amount", "value": 8}
    edit(raw)
    return Workload.model_validate(raw)


def test_a_drift_to_the_same_amount_with_another_sign_is_refused() -> None:
    assert said(moved(lambda raw: None)) == []
    complaints = said(moved(lambda raw: raw["drift"]["binding"].update(value=-7)))
    assert complaints[0] == "drift.binding.value: -7 matches the slot 'out' of 'two'; choose a value that no slot has"


def test_a_drift_of_a_list_may_bring_only_items_that_no_slot_has() -> None:
    def listed(*accounts: str) -> list[str]:
        change = {"intent": "two", "argument": "accounts", "value": list(accounts)}
        return said(moved(lambda raw: raw["drift"].update(binding=change)))

    assert listed("z", "v") == []
    assert listed("y", "x")[0].startswith("drift.binding.value: ['y', 'x'] ")
    assert listed("x", "z")[0].startswith("drift.binding.value: ['x', 'z'] matches the slot 'out' of 'two'")


def test_values_fit_their_declared_types() -> None:
    right = {"string": "a", "integer": 3, "number": 1.5, "boolean": True, "string[]": ["a"]}
    for kind in right:
        for other, value in right.items():
            fit = kind == other or (kind == "number" and other == "integer")
            assert lint.fits(kind, value) == lint.fits(f"{kind}?", value) == fit
    assert not lint.fits("string[]", ["a", 1])
    assert not lint.fits("text", "a")


def test_an_intent_of_reads_only_needs_no_outcome() -> None:
    intent = Intent.model_validate({"id": "r", "say": "Do it.", "calls": [{"tool": "find", "arguments": {}}]})
    workload = Workload(name="w", title="Title", summary="Summary.", intents=(intent,))
    assert said(workload) == []
