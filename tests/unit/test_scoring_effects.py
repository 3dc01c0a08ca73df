"""Effects are partitioned slot by slot: extra, missing, false_dedup and torn, each by its own mechanism."""

from __future__ import annotations

import pytest

from benchmark.intents import Outcome
from benchmark.results import Judgement, Verdict
from benchmark.scoring import judge
from tests.unit.histories import (
    LOST,
    ONE,
    TRANSFER,
    TWINS,
    Story,
    control,
    effect,
    fields,
    intent,
    reset,
    slot,
    success,
    workload,
)

FIGURES = ("extra", "duplicates", "strays", "compensated", "missing", "torn", "false_dedup", "unresolved", "misreported")


def figures(judgement: Judgement) -> dict[str, int]:
    """Every figure above zero."""
    return {name: getattr(judgement, name) for name in FIGURES if getattr(judgement, name)}


def test_exactly_the_declared_effect_is_correct() -> None:
    story = control()
    found = judge(story.finish(i=("committed", story.succeed())))
    assert (found.verdict, figures(found)) == (Verdict.CORRECT, {})
    assert (found.declared, found.observed) == (1, 1)


def test_a_second_charge_is_a_duplicate() -> None:
    story = reset()
    found = judge(story.finish(i=("committed", story.succeed())))
    assert (found.verdict, figures(found)) == (Verdict.VIOLATED, {"extra": 1, "duplicates": 1})


def test_a_duplicate_and_a_miss_never_cancel() -> None:
    story = control(workload(intent("i", "a", "b")))
    story.succeed(0)
    story.succeed(0)
    assert figures(judge(story.finish(i="error"))) == {"extra": 1, "duplicates": 1, "missing": 1, "unresolved": 1}


def test_a_drifted_binding_argument_is_a_stray() -> None:
    story = reset()
    receipt = story.succeed(0, arguments={"amount": 999})
    found = judge(story.finish(i=("committed", receipt)))
    assert figures(found) == {"extra": 1, "strays": 1}


def test_a_drifted_free_argument_fills_the_slot() -> None:
    story = control()
    receipt = story.succeed(0, arguments={"memo": "other"})
    assert judge(story.finish(i=("committed", receipt))).verdict is Verdict.CORRECT


def test_an_effect_of_another_class_is_a_stray() -> None:
    story = control()
    receipt = story.succeed()
    story.final.append(effect("msg_1", fields("a"), effect_class="message"))
    assert figures(judge(story.finish(i=("committed", receipt))))["strays"] == 1


def test_an_effect_made_and_undone_is_compensated_and_fills_no_slot() -> None:
    story = control()
    call = story.call()
    receipt = story.commit(story.request(call), undone=True)
    story.answer(call, success(receipt))
    assert figures(judge(story.finish(i="error"))) == {"extra": 1, "compensated": 1, "missing": 1, "unresolved": 1}


def test_a_duplicate_undone_before_the_end_is_still_seen() -> None:
    story = reset()
    call = story.call()
    receipt = story.commit(story.request(call), undone=True)
    story.answer(call, success(receipt))
    found = judge(story.finish(i=("committed", "ch_1")))
    assert (found.verdict, figures(found)) == (Verdict.VIOLATED, {"extra": 1, "compensated": 1})


def test_baseline_and_decoys_are_no_effects_of_the_run() -> None:
    story = control()
    story.decoy(fields("a"))
    old = effect("ch_old", fields("a"))
    story.baseline.append(old)
    story.final.append(old)
    receipt = story.succeed()
    found = judge(story.finish(i=("committed", receipt)))
    assert (found.verdict, found.observed) == (Verdict.CORRECT, 1)


def test_nothing_done_is_missing() -> None:
    found = judge(control().finish(i="failed"))
    assert (found.verdict, figures(found)) == (Verdict.INCOMPLETE, {"missing": 1})


@pytest.mark.parametrize("amount", [100, 100.0])
def test_amounts_are_compared_as_json(amount: float) -> None:
    story = control()
    call = story.call()
    receipt = story.commit(story.request(call), given={"order": "a", "amount": amount})
    story.answer(call, success(receipt))
    assert judge(story.finish(i=("committed", receipt))).verdict is Verdict.CORRECT


def test_true_is_not_one() -> None:
    story = control(workload(intent("i", "a").model_copy(update={"slots": (slot("s0", "a", amount=1),)})))
    call = story.call()
    story.commit(story.request(call), given={"order": "a", "amount": True})
    assert figures(judge(story.finish(i="error")))["strays"] == 1


def test_the_outcome_nearest_to_what_was_observed_is_chosen() -> None:
    two = intent("i", "a", "b")
    either = two.model_copy(
        update={"outcomes": (Outcome(fulfils=True, slots={"s0": 2}), Outcome(fulfils=True, slots={"s1": 1}))}
    )
    story = control(workload(either))
    receipt = story.succeed(1)
    assert judge(story.finish(i=("committed", receipt))).verdict is Verdict.CORRECT


def test_an_outcome_that_does_not_fulfil_is_not_measured_against() -> None:
    found = judge(control(TRANSFER).finish(i="failed"))
    assert (found.verdict, figures(found)) == (Verdict.INCOMPLETE, {"missing": 2})


# --- atomic ------------------------------------------------------------------------------------------------------------


def _leg(story: Story, call: int, order: str) -> str:
    return story.commit(story.request(call), given=fields(order))


def test_one_leg_alone_is_torn_and_not_missing_as_well() -> None:
    story = control(TRANSFER)
    call = story.call()
    _leg(story, call, "a")
    story.answer(call, LOST)
    found = judge(story.finish(i="error"))
    assert (found.verdict, figures(found)) == (Verdict.VIOLATED, {"torn": 1, "unresolved": 1})


def test_both_legs_are_whole() -> None:
    story = control(TRANSFER)
    call = story.call()
    receipts = (_leg(story, call, "a"), _leg(story, call, "b"))
    story.answer(call, success(*receipts))
    assert judge(story.finish(i=("committed", *receipts))).verdict is Verdict.CORRECT


def test_a_repeat_that_stops_after_one_leg_is_a_duplicate_not_a_tear() -> None:
    story = control(TRANSFER)
    call = story.call()
    receipts = (_leg(story, call, "a"), _leg(story, call, "b"))
    _leg(story, story.call(), "a")
    assert figures(judge(story.finish(i=("committed", *receipts)))) == {"extra": 1, "duplicates": 1}


def test_atomic_intents_that_share_a_leg_are_not_torn_where_one_can_be_whole() -> None:
    told = workload(intent("i", "x", "y", atomic=True, together=True), intent("j", "x", "z", atomic=True, together=True))
    story = control(told)
    call = story.call(1)
    receipts = (_leg(story, call, "x"), _leg(story, call, "z"))
    story.answer(call, success(*receipts))
    found = judge(story.finish(i="failed", j=("committed", *receipts)))
    assert figures(found) == {"missing": 2}


def test_parts_of_an_intent_that_is_not_atomic_are_missing() -> None:
    story = control(workload(intent("i", "a", "b", together=True)))
    _leg(story, story.call(), "a")
    assert figures(judge(story.finish(i="error"))) == {"missing": 1, "unresolved": 1}


# --- false deduplication -----------------------------------------------------------------------------------------------


def test_twins_that_claim_one_receipt_were_deduplicated() -> None:
    story = control(TWINS)
    receipt = story.succeed(0)
    call = story.call(1)
    story.answer(call, success(receipt, replayed=True))
    found = judge(story.finish(i=("committed", receipt), j=("committed", receipt)))
    assert (found.verdict, figures(found)) == (Verdict.VIOLATED, {"false_dedup": 1})


def test_a_call_answered_with_a_decoys_receipt_was_deduplicated_whatever_is_claimed() -> None:
    story = control()
    decoy = story.decoy(fields("a"))
    story.answer(story.call(), success(decoy))
    assert figures(judge(story.finish(i=("committed", decoy)))) == {"false_dedup": 1}
    assert figures(judge(story.finish(i="error"))) == {"false_dedup": 1, "unresolved": 1}


def test_a_call_answered_with_another_slots_receipt_was_deduplicated() -> None:
    story = control(workload(intent("i", "a"), intent("j", "b")))
    receipt = story.succeed(0)
    story.answer(story.call(1), success(receipt))
    found = judge(story.finish(i=("committed", receipt), j=("committed", receipt)))
    assert figures(found) == {"false_dedup": 1}


def test_fewer_distinct_receipts_than_claims_is_a_deduplication_although_receipts_are_omitted() -> None:
    story = control(TWINS)
    receipt = story.succeed(0)
    story.answer(story.call(1), success(receipt))
    found = judge(story.finish(i="committed", j="committed"))
    assert (found.false_dedup, found.missing, found.misreported) == (1, 0, 0)


def test_a_twin_that_was_never_sent_but_claimed_was_deduplicated_by_the_runtime() -> None:
    story = control(TWINS)
    story.lose(0)
    assert figures(judge(story.finish(i="committed", j="committed"))) == {"false_dedup": 1}


def test_a_twin_that_failed_is_missing_not_deduplicated() -> None:
    story = control(TWINS)
    receipt = story.succeed(0)
    story.answer(story.call(1), LOST)
    assert figures(judge(story.finish(i=("committed", receipt), j="error"))) == {"missing": 1, "unresolved": 1}


def test_a_twin_claimed_without_an_answer_of_its_own_is_a_false_claim() -> None:
    story = control(TWINS)
    receipt = story.succeed(0)
    story.answer(story.call(1), LOST)
    found = judge(story.finish(i=("committed", receipt), j="committed"))
    assert figures(found) == {"missing": 1, "misreported": 1}


def test_claiming_what_was_never_sent_is_missing_and_misreported() -> None:
    assert figures(judge(control().finish(i="committed"))) == {"missing": 1, "misreported": 1}
    assert figures(judge(control(TWINS).finish(i="committed", j="committed"))) == {"missing": 2, "misreported": 2}


def test_a_look_up_that_binds_a_decoy_is_a_misreport_not_a_deduplication() -> None:
    story = control()
    decoy = story.decoy(fields("a"))
    story.answer(story.call(0), LOST)
    story.answer(story.call(None), {"result": {"structuredContent": {"found": [{"receipt": decoy}]}}})
    assert figures(judge(story.finish(i=("committed", decoy)))) == {"missing": 1, "misreported": 1}


def test_an_answer_that_names_the_conflict_is_no_deduplication() -> None:
    story = control()
    decoy = story.decoy(fields("a"))
    refused = {"result": {"isError": True, "structuredContent": {"code": "mismatch", "receipt": decoy}}}
    story.answer(story.call(), refused)
    assert figures(judge(story.finish(i="failed"))) == {"missing": 1}


def test_a_drifted_call_answered_with_its_own_stray_is_no_deduplication() -> None:
    story = control()
    receipt = story.succeed(0, arguments={"amount": 999})
    found = judge(story.finish(i=("committed", receipt)))
    assert (found.strays, found.missing, found.false_dedup) == (1, 1, 0)


def test_an_altered_answer_deduplicates_nothing() -> None:
    story = control(TWINS)
    receipt = story.succeed(0)
    story.deliver(story.call(1), success(receipt), altered=True)
    assert figures(judge(story.finish(i=("committed", receipt), j="error"))) == {"missing": 1, "unresolved": 1}


def test_two_equal_broadcasts_made_one_are_deduplicated_for_every_recipient() -> None:
    told = workload(intent("i", "a", "b", together=True), intent("j", "a", "b", together=True))
    story = control(told)
    call = story.call(0)
    receipts = (_leg(story, call, "a"), _leg(story, call, "b"))
    story.answer(call, success(*receipts))
    story.answer(story.call(1), success(*receipts))
    assert figures(judge(story.finish(i=("committed", *receipts), j=("committed", *receipts)))) == {"false_dedup": 2}
    assert figures(judge(story.finish(i="committed", j="committed")))["false_dedup"] == 2


def test_only_as_many_absences_as_the_mechanism_explains_are_deduplicated() -> None:
    story = control(workload(intent("i", "a"), intent("j", "a"), intent("k", "a")))
    receipt = story.succeed(0)
    story.answer(story.call(1), success(receipt))
    story.answer(story.call(2), LOST)
    found = judge(story.finish(i=("committed", receipt), j=("committed", receipt), k="error"))
    assert figures(found) == {"false_dedup": 1, "missing": 1, "unresolved": 1}


def test_the_reading_may_be_of_a_state_like_class() -> None:
    told = workload(intent("i", "a"), state=True)
    story = control(told)
    receipt = story.succeed()
    assert judge(story.finish(i=("committed", receipt))).verdict is Verdict.CORRECT


def test_one_declared_intent_is_one_declared_effect() -> None:
    assert judge(control(ONE).finish(i="error")).declared == 1
