"""Properties that hold for every workload, reading and claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmark.effects import Effect
from benchmark.history import History
from benchmark.intents import Intent, Outcome, Workload, json_equal
from benchmark.results import Judgement, Verdict
from benchmark.scoring import judge
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.effects import Partition, partition
from benchmark.scoring.groups import groups_of
from benchmark.scoring.statements import statements
from tests.unit.histories import Story, effect, fields, intent, success, workload

ORDERS = ("a", "b", "c")
STRAY = "elsewhere"
few = settings(max_examples=100)
STATUSES = ("committed", "failed", "unresolved", "error", None)


@st.composite
def workloads(draw: st.DrawFn, *, alternatives: bool = True, atomic: bool = True) -> Workload:
    """One to three intents of one to three slots each; equal orders make twins."""
    intents = []
    for name in ("i", "j", "k")[: draw(st.integers(1, 3))]:
        orders = draw(st.lists(st.sampled_from(ORDERS), min_size=1, max_size=3))
        made = intent(name, *orders, atomic=atomic and draw(st.booleans()), together=draw(st.booleans()))
        if alternatives and draw(st.booleans()):
            counts = st.fixed_dictionaries({slot.id: st.integers(0, 2) for slot in made.slots})
            listed = draw(st.lists(counts, min_size=1, max_size=3))
            outcomes = tuple(Outcome(fulfils=True, slots=slots) for slots in listed if any(slots.values()))
            made = made.model_copy(update={"outcomes": outcomes or made.outcomes})
        intents.append(made)
    return workload(*intents)


@st.composite
def histories(draw: st.DrawFn, told: st.SearchStrategy[Workload] | None = None) -> History:
    """Calls, answers, effects and claims at random: not what a real runtime does, but whatever one may do."""
    story = Story(draw(told if told is not None else workloads())).start()
    orders = draw(st.lists(st.sampled_from((*ORDERS, STRAY)), max_size=5))
    for n, order in enumerate(orders):
        story.final.append(effect(f"ch_{n}", fields(order), undone=draw(st.integers(0, 5)) == 0))
    decoy = story.decoy(fields("a"))
    receipts = st.sampled_from([*(f"ch_{n}" for n in range(len(orders))), decoy, "ch_nowhere"])
    for declared in draw(st.lists(st.integers(0, len(story.workload.declared_calls) - 1), max_size=4)):
        call = story.call(declared)
        if draw(st.booleans()):
            story.answer(call, success(*draw(st.lists(receipts, min_size=1, max_size=2, unique=True))))
    claims: dict[str, Any] = {}
    for each in story.workload.intents:
        status = draw(st.sampled_from(STATUSES))
        if status is not None:
            claims[each.id] = (status, *draw(st.lists(receipts, max_size=2, unique=True)))
    return story.finish(**claims)


def with_final(history: History, final: Sequence[Effect]) -> History:
    return history.model_copy(update={"reading": history.reading.model_copy(update={"final": tuple(final)})})


def parts_of(history: History) -> Partition:
    return partition(history, Attribution(history), statements(history))


def filled_up(history: History) -> History:
    """The same history with every absent effect added."""
    lacking = [place.slot.match for place in parts_of(history).absent]
    made = [effect(f"ch_late_{n}", match) for n, match in enumerate(lacking)]
    return with_final(history, [*history.reading.final, *made])


def figures(judgement: Judgement) -> dict[str, Any]:
    return judgement.model_dump(exclude={"reason", "evidence"})


@few
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_effects_is_irrelevant(history: History, random: Any) -> None:
    shuffled = list(history.reading.final)
    random.shuffle(shuffled)
    assert figures(judge(with_final(history, shuffled))) == figures(judge(history))


@few
@given(histories())
def test_a_stray_or_an_undone_effect_more_is_one_extra_more(history: History) -> None:
    before = judge(history)
    for more in (effect("ch_more", fields(STRAY)), effect("ch_more", fields("a"), undone=True)):
        after = judge(with_final(history, [*history.reading.final, more]))
        assert after.extra == before.extra + 1
        assert after.observed == before.observed + 1
        assert (after.torn, after.missing + after.false_dedup) == (before.torn, before.missing + before.false_dedup)


@few
@given(histories(workloads(alternatives=False)), st.data())
def test_an_effect_beyond_the_declared_ones_is_one_duplicate_more(history: History, data: st.DataObject) -> None:
    history = filled_up(history)
    groups = groups_of(history.declaration.workload)
    order = data.draw(st.sampled_from([group.match["order"] for group in groups]))
    before = judge(history)
    after = judge(with_final(history, [*history.reading.final, effect("ch_more", fields(order))]))
    assert (after.extra, after.duplicates) == (before.extra + 1, before.duplicates + 1)
    assert (after.missing, after.false_dedup, after.torn) == (before.missing, before.false_dedup, before.torn)


@few
@given(histories(workloads(alternatives=False, atomic=False)), st.data())
def test_one_wanted_effect_fewer_is_one_missing_or_false_dedup_more(history: History, data: st.DataObject) -> None:
    history = filled_up(history)
    parts = parts_of(history)
    groups = groups_of(history.declaration.workload)
    scarce = [group for group in groups if parts.present[group.number] <= parts.wanted[group.number]]
    wanted = [e for e in parts.observed if not e.undone and any(group.takes(e) for group in scarce)]
    assume(wanted)
    gone = data.draw(st.sampled_from(wanted))
    before = judge(history)
    after = judge(with_final(history, [e for e in history.reading.final if e is not gone]))
    assert after.missing + after.false_dedup == before.missing + before.false_dedup + 1
    assert after.extra == before.extra


@few
@given(st.integers(2, 3), st.data())
def test_one_effect_fewer_of_an_atomic_intent_tears_it_until_none_is_left(size: int, data: st.DataObject) -> None:
    orders = ORDERS[:size]
    story = Story(workload(intent("i", *orders, atomic=True, together=True))).start()
    story.final = [effect(f"ch_{order}", fields(order)) for order in orders]
    history = story.finish(i="error")
    left = list(data.draw(st.permutations(story.final)))
    while left:
        left.pop()
        found = judge(with_final(history, left))
        assert found.extra == found.false_dedup == 0
        assert (found.torn, found.missing) == ((1, 0) if left else (0, size))


def _combinations(intents: Sequence[Intent]) -> Iterator[dict[str, Counter[str]]]:
    """Every choice of one fulfilling outcome per intent, as order → multiplicity."""
    if not intents:
        yield {}
        return
    first, rest = intents[0], intents[1:]
    for outcome in first.outcomes:
        if outcome.fulfils:
            wanted: Counter[str] = Counter()
            for slot in first.slots:
                wanted[slot.match["order"]] += outcome.slots.get(slot.id, 0)
            for others in _combinations(rest):
                yield {first.id: wanted, **others}


@few
@given(histories())
def test_the_nearest_fulfilling_outcome_is_really_nearest(history: History) -> None:
    live = [e for e in history.reading.final if not e.undone and e.receipt not in history.decoys]
    there = Counter(e.fields["order"] for e in live)
    declared = {slot.match["order"] for each in history.declaration.workload.intents for slot in each.slots}
    best = []
    for combination in _combinations(history.declaration.workload.intents):
        wanted: Counter[str] = sum(combination.values(), Counter())
        absent = (wanted - there).total()
        surplus = sum(count for order, count in (there - wanted).items() if order in declared)
        best.append((surplus + absent, absent))
    found = parts_of(history)
    assert (found.duplicates + len(found.absent), len(found.absent)) == min(best)


@few
@given(histories())
def test_every_effect_and_every_wanted_effect_falls_into_exactly_one_part(history: History) -> None:
    found = parts_of(history)
    assert len(found.observed) == len(found.filled) + found.duplicates + len(found.strays) + len(found.compensated)
    assert found.declared == len(found.filled) + len(found.missing) + len(found.false_dedup) + len(found.torn)
    assert {place.intent for place in found.torn} == set(found.torn_intents)
    assert not {place.intent for place in found.missing + found.false_dedup} & set(found.torn_intents)


@few
@given(histories())
def test_every_claim_falls_into_exactly_one_part(history: History) -> None:
    found = judge(history)
    intents = len(history.declaration.workload.intents)
    assert sum(found.claims.values()) == intents
    open_parts = ("unresolved", "error", "silent", "committed-without-receipt")
    assert found.unresolved == sum(found.claims[part] for part in open_parts)
    assert found.avoidable <= found.unresolved
    assert found.misreported + found.unresolved <= intents


@few
@given(histories())
def test_blame_is_given_for_extra_only(history: History) -> None:
    found = judge(history)
    assert found.blame is None or found.extra > 0
    assert found.extra == found.duplicates + found.strays + found.compensated


@few
@given(workloads(), st.lists(st.sampled_from(STATUSES), min_size=3, max_size=3))
def test_a_runtime_that_does_nothing_is_never_correct(told: Workload, statuses: list[str | None]) -> None:
    claims = {i.id: status for i, status in zip(told.intents, statuses, strict=False) if status is not None}
    assert judge(Story(told).start().finish(**claims)).verdict in (Verdict.INCOMPLETE, Verdict.VIOLATED)


@few
@given(histories(), st.floats(0.5, 100))
def test_numbers_are_compared_as_json(history: History, amount: float) -> None:
    floats = [e.model_copy(update={"fields": e.fields | {"amount": 100.0}}) for e in history.reading.final]
    assert figures(judge(with_final(history, floats))) == figures(judge(history))
    assert json_equal(100, 100.0)
    assert json_equal({"x": [amount]}, {"x": (amount,)})
    assert not json_equal(1, True)


@few
@given(histories())
def test_a_history_survives_its_file_with_the_same_judgement(history: History) -> None:
    again = History.model_validate_json(history.model_dump_json(by_alias=True))
    assert judge(again) == judge(history)
