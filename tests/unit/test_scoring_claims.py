"""Claims are partitioned: every intent falls into exactly one part, and false ones are counted once."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.contracts import Contract, Key
from benchmark.history import History, Kind
from benchmark.results import Judgement, Verdict
from benchmark.scoring import judge
from tests.unit.histories import (
    BINDING,
    KEYED,
    LOST,
    NATURAL,
    PLAIN,
    READ,
    SETTLING,
    TRANSFER,
    TWINS,
    UNSETTLED,
    control,
    fields,
    intent,
    numbered,
    read,
    reset,
    success,
    workload,
)


def parts(judgement: Judgement) -> dict[str, int]:
    """The parts that hold an intent."""
    return {name: count for name, count in judgement.claims.items() if count}


def test_every_part_is_listed_even_where_empty() -> None:
    found = judge(control().finish(i="failed")).claims
    assert list(found) == [
        "committed",
        "committed-false",
        "committed-without-receipt",
        "failed",
        "failed-false",
        "unresolved",
        "error",
        "silent",
    ]


@pytest.mark.parametrize(
    ("status", "done", "part", "misreported"),
    [
        ("committed", True, "committed", 0),
        ("committed", False, "committed-false", 1),
        ("failed", True, "failed-false", 1),
        ("failed", False, "failed", 0),
        ("unresolved", True, "unresolved", 0),
        ("unresolved", False, "unresolved", 0),
        ("error", True, "error", 0),
        ("error", False, "error", 0),
    ],
)
def test_a_claim_is_judged_by_external_state(status: str, done: bool, part: str, misreported: int) -> None:
    story = control()
    if done:
        story.lose()
    found = judge(story.finish(i=status))
    assert parts(found) == {part: 1}
    assert found.misreported == misreported


def _broken(result: Any) -> History:
    story = control()
    story.lose()
    story.add(Kind.OUTCOME, incarnation=1, result=result, detail="as it is")
    story.exit()
    return story.history()


@pytest.mark.parametrize("result", [None, {}, {"contract": 2, "intents": []}, {"contract": 1, "intents": [{"id": "i"}]}])
def test_no_readable_outcome_is_silence(result: Any) -> None:
    assert parts(judge(_broken(result))) == {"silent": 1}


def test_an_intent_left_out_is_silent_and_an_unknown_one_is_ignored() -> None:
    assert parts(judge(control(TWINS).finish(i="failed", stranger="committed"))) == {"failed": 1, "silent": 1}


def test_an_outcome_with_a_status_other_than_0_is_silence() -> None:
    story = control()
    story.outcome(i="failed")
    story.exit(status=1)
    assert parts(judge(story.history())) == {"silent": 1}


def test_the_last_outcome_counts() -> None:
    story = control()
    story.outcome(i="committed")
    assert parts(judge(story.finish(i="failed"))) == {"failed": 1}


def test_a_runtime_with_a_model_is_heard_only_through_its_framework() -> None:
    story = control()
    story.model = True
    assert parts(judge(story.finish(i="failed"))) == {"silent": 1}
    entry = {"contract": 1, "status_from": "framework", "intents": [{"id": "i", "status": "failed"}]}
    story.add(Kind.OUTCOME, incarnation=1, result=entry)
    assert parts(judge(story.history())) == {"failed": 1}


# --- receipts ----------------------------------------------------------------------------------------------------------


def test_a_duplicates_receipt_is_right() -> None:
    story = reset()
    receipt = story.succeed()
    assert judge(story.finish(i=("committed", receipt))).misreported == 0
    assert judge(story.finish(i=("committed", "ch_1"))).misreported == 0


def test_a_receipt_of_no_effect_is_a_misreport() -> None:
    story = control()
    story.succeed()
    found = judge(story.finish(i=("committed", "ch_99")))
    assert (found.verdict, found.misreported, parts(found)) == (Verdict.VIOLATED, 1, {"committed": 1})


def test_a_decoys_receipt_is_a_misreport_although_the_effect_happened() -> None:
    story = control()
    decoy = story.decoy(fields("a"))
    story.lose()
    assert judge(story.finish(i=("committed", decoy))).misreported == 1


def test_another_slots_receipt_is_a_misreport() -> None:
    story = control(workload(intent("i", "a"), intent("j", "b")))
    first, second = story.succeed(0), story.succeed(1)
    assert judge(story.finish(i=("committed", first), j=("committed", second))).misreported == 0
    assert judge(story.finish(i=("committed", second), j=("committed", first))).misreported == 2


def test_a_twins_receipt_is_right() -> None:
    story = control(TWINS)
    first, second = story.succeed(0), story.succeed(1)
    assert judge(story.finish(i=("committed", second), j=("committed", first))).verdict is Verdict.CORRECT


def test_a_receipt_named_for_one_call_must_fit_that_calls_slots() -> None:
    story = control(workload(intent("i", "a", "b")))
    first, second = story.succeed(0), story.succeed(1)

    def entry(*receipts: str) -> dict[str, Any]:
        calls = [{"index": n, "status": "committed", "receipt": receipt} for n, receipt in enumerate(receipts)]
        return {"status": "committed", "receipts": [first, second], "calls": calls}

    assert judge(story.finish(i=entry(first, second))).misreported == 0
    assert judge(story.finish(i=entry(second, first))).misreported == 1


def test_an_intent_is_misreported_at_most_once() -> None:
    assert judge(control().finish(i=("committed", "ch_98", "ch_99"))).misreported == 1


def test_a_version_that_was_overwritten_is_a_receipt_that_existed() -> None:
    story = control(workload(intent("i", "a"), state=True))
    story.succeed(0, arguments={"amount": 999})
    gone = story.final.pop().receipt
    story.succeed()
    assert judge(story.finish(i=("committed", gone))).misreported == 0


def test_receipts_of_claims_that_assert_nothing_are_not_judged() -> None:
    assert judge(control().finish(i=("unresolved", "ch_99"))).misreported == 0


# --- twins -------------------------------------------------------------------------------------------------------------


def test_committed_claims_of_twins_take_effects_first() -> None:
    story = control(TWINS)
    story.lose(0)
    found = judge(story.finish(i="failed", j=("committed", "ch_1")))
    assert parts(found) == {"failed": 1, "committed": 1}
    assert found.misreported == 0


def test_failed_is_false_while_an_effect_of_the_twins_remains_unclaimed() -> None:
    story = control(TWINS)
    story.lose(0)
    story.lose(1)
    assert parts(judge(story.finish(i="failed", j=("committed", "ch_1")))) == {"failed-false": 1, "committed": 1}
    assert parts(judge(story.finish(i="failed", j="unresolved"))) == {"failed-false": 1, "unresolved": 1}


def test_a_twin_with_the_right_receipt_is_believed_before_one_without() -> None:
    story = control(TWINS)
    story.lose(0)
    story.answer(story.call(1), LOST)
    found = judge(story.finish(i="committed", j=("committed", "ch_1")))
    assert parts(found) == {"committed": 1, "committed-false": 1}
    assert found.misreported == 1


# --- committed without the receipt ----------------------------------------------------------------------------------


def test_a_committed_claim_without_the_delivered_receipt_is_an_open_question_that_was_avoidable() -> None:
    story = control()
    story.succeed()
    found = judge(story.finish(i="committed"))
    assert parts(found) == {"committed-without-receipt": 1}
    assert (found.verdict, found.unresolved, found.avoidable, found.misreported) == (Verdict.UNRESOLVED, 1, 1, 0)


def test_a_committed_claim_whose_receipt_was_never_delivered_needs_none() -> None:
    assert parts(judge(reset().finish(i="committed"))) == {"committed": 1}


def test_a_receipt_found_by_look_up_does_as_well_as_the_delivered_one() -> None:
    story = reset()
    story.succeed()
    assert parts(judge(story.finish(i=("committed", "ch_1")))) == {"committed": 1}


def test_one_receipt_of_several_is_enough() -> None:
    story = control(workload(intent("i", "a", "b")))
    first, _ = story.succeed(0), story.succeed(1)
    assert parts(judge(story.finish(i=("committed", first)))) == {"committed": 1}


# --- torn and reads -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "part"), [("committed", "committed-false"), ("failed", "failed-false")])
def test_any_claim_of_fact_about_a_torn_intent_is_false(status: str, part: str) -> None:
    story = control(TRANSFER)
    story.commit(story.request(story.call()), given=fields("a"))
    found = judge(story.finish(i=status))
    assert (parts(found), found.torn, found.misreported) == ({part: 1}, 1, 1)


@pytest.mark.parametrize(
    ("status", "answered", "part", "verdict"),
    [
        ("committed", True, "committed", Verdict.CORRECT),
        ("committed", False, "committed-false", Verdict.VIOLATED),
        ("failed", True, "failed-false", Verdict.VIOLATED),
        ("failed", False, "failed", Verdict.INCOMPLETE),
        ("unresolved", True, "unresolved", Verdict.INCOMPLETE),
        ("error", False, "error", Verdict.INCOMPLETE),
    ],
)
def test_a_read_is_judged_by_whether_its_answer_was_delivered(
    status: str, answered: bool, part: str, verdict: Verdict
) -> None:
    story = control(READ)
    call = story.call()
    story.answer(call, {"result": {"structuredContent": {"found": []}}} if answered else LOST)
    found = judge(story.finish(r=status))
    assert (parts(found), found.verdict) == ({part: 1}, verdict)


def test_a_read_needs_no_receipt() -> None:
    story = control(workload(read("r")))
    story.answer(story.call(), success("ch_5"))
    assert judge(story.finish(r="committed")).verdict is Verdict.CORRECT


# --- avoidable ---------------------------------------------------------------------------------------------------------

EXPIRING = KEYED.with_retention(0.05)
FOR_EVER = Contract(binding=BINDING, key=Key(carrier="argument", name="token", retention_s=None))
FORGETFUL = Contract(binding=BINDING, key=Key(carrier="argument", name="token", retention_s=600, on_repeat="new"))


@pytest.mark.parametrize(
    ("contract", "happened", "avoidable"),
    [
        (PLAIN, True, 0),
        (PLAIN, False, 0),
        (KEYED, True, 1),
        (KEYED, False, 1),
        (FOR_EVER, True, 1),
        (FORGETFUL, True, 0),
        (EXPIRING, True, 0),
        (EXPIRING, False, 1),
        (NATURAL, True, 1),
        (SETTLING, True, 1),
        (SETTLING, False, 1),
        (UNSETTLED, True, 1),
        (UNSETTLED, False, 0),
    ],
)
def test_an_open_question_is_avoidable_where_the_contract_offers_a_live_means(
    contract: Contract, happened: bool, avoidable: int
) -> None:
    story = control(contract=contract)
    if happened:
        story.lose()
    else:
        story.answer(story.call(), LOST)
    for _ in range(10):
        story.add(Kind.NOTE, detail="time goes by")
    assert judge(story.finish(i="unresolved")).avoidable == avoidable


def test_a_key_is_dead_once_the_retention_is_over() -> None:
    story = control(contract=KEYED)
    story.lose()
    story.add(Kind.RETENTION_OVER)
    assert judge(story.finish(i="unresolved")).avoidable == 0


def test_an_open_question_is_avoidable_where_all_answers_had_been_delivered() -> None:
    story = control()
    story.succeed()
    assert judge(story.finish(i="unresolved")).avoidable == 1


def test_an_answer_that_crosses_the_cancel_is_none() -> None:
    story = control()
    call = story.call()
    receipt = story.commit(story.request(call))
    story.add(Kind.CANCEL, call=call, by="notification")
    story.answer(call, success(receipt))
    assert judge(story.finish(i="error")).avoidable == 0


def test_an_answer_for_one_of_two_calls_settles_nothing() -> None:
    story = control(workload(intent("i", "a", "b")))
    story.succeed(0)
    story.lose(1)
    assert judge(story.finish(i="unresolved")).avoidable == 0


def test_a_twins_answer_is_not_taken_for_ones_own() -> None:
    story = control(TWINS)
    story.lose(0)
    receipt = story.succeed(0)
    found = judge(story.finish(i="error", j=("committed", receipt)))
    assert (found.unresolved, found.avoidable) == (1, 0)


def test_silence_is_avoidable_by_the_same_rule() -> None:
    story = control(contract=KEYED)
    story.lose()
    story.exit(status=1)
    found = judge(story.history())
    assert (found.unresolved, found.avoidable, found.verdict) == (1, 1, Verdict.UNRESOLVED)


def test_figures_do_not_depend_on_how_events_are_numbered() -> None:
    history = reset().finish(i="unresolved")
    assert judge(numbered(history, history.events)).claims == judge(history).claims
