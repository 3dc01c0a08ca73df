"""A verdict is explained from the very parts that made it, with the numbers of the events that show it."""

from __future__ import annotations

from hypothesis import given, settings

from benchmark.boundaries import TABLE, Boundary, Manifestation, Variant
from benchmark.cells import Cell, Strike
from benchmark.explain import MOST, Explanation, Step, coordinates, explain
from benchmark.history import History, Kind
from benchmark.results import Verdict
from benchmark.scoring import judge
from tests.unit.histories import (
    KEYED,
    PLAIN,
    READ,
    SETTLING,
    TRANSFER,
    TWINS,
    UNSETTLED,
    Story,
    control,
    effect,
    fields,
    of,
    reset,
    success,
    without,
)
from tests.unit.test_scoring_properties import histories


def step(told: Explanation, title: str) -> Step:
    return next(one for one in told.steps if one.title.startswith(title))


def text(told: Explanation, title: str) -> str:
    one = step(told, title)
    return "\n".join([one.finding, *(line.text for line in one.lines)])


def twice(history_of: Story) -> History:
    """The call again, as if nothing had happened, and claimed committed."""
    again = history_of.succeed()
    return history_of.finish(i=("committed", again))


@settings(max_examples=60)
@given(histories())
def test_whatever_happened_the_explanation_ends_at_the_verdict_of_the_judge(history: History) -> None:
    judged, told = judge(history), explain(history)
    assert (told.verdict, told.reason) == (judged.verdict, judged.reason)
    assert told.steps[-1].finding == judged.verdict
    numbers = {event.n for event in history.events}
    assert all(set(line.events) <= numbers for one in told.steps for line in one.lines)


def test_a_duplicate_is_traced_to_its_commit_its_call_and_who_multiplied() -> None:
    history = twice(reset())
    told = explain(history)
    commits = [event.n for event in history.of(Kind.COMMIT)]
    calls = [event.n for event in history.of(Kind.CALL)]
    surplus = next(line for line in step(told, "What happened").lines if "one too many" in line.text)
    assert surplus.text == "one too many: ch_2, by call 2"
    assert surplus.events == (calls[1], commits[1])
    assert step(told, "Who multiplied").finding == "runtime"
    assert "1 surplus, without a live key that promises a replay" in text(told, "Who multiplied")
    assert "violated: is an effect too many" in text(told, "The verdict")
    assert "YES: 1 duplicate effect" in text(told, "The verdict")


def test_exposure_is_told_with_its_order_and_its_events() -> None:
    history = twice(reset())
    struck = step(explain(history), "Did the fault strike?")
    assert struck.finding == "yes"
    assert TABLE[Boundary.AFTER_COMMIT].order in struck.lines[0].text
    strike = history.first(Kind.STRIKE)
    assert strike is not None
    assert strike.n in struck.lines[1].events


def test_without_the_proof_the_reason_is_what_lacks() -> None:
    told = explain(without(twice(reset()), of(Kind.PROBE)))
    assert told.verdict is Verdict.UNTESTABLE
    assert step(told, "Did the fault strike?").finding.startswith("no")
    assert "the oracle did not show ch_1" in text(told, "Did the fault strike?")


def test_rules_after_the_first_that_fits_are_not_told() -> None:
    lines = step(explain(twice(reset())), "The verdict").lines
    assert [line.text.partition(":")[0] for line in lines] == ["not-applicable", "harness-error", "untestable", "violated"]


def test_a_correct_cell_passes_every_rule() -> None:
    story = control()
    told = explain(story.finish(i=("committed", story.succeed())))
    assert told.verdict is Verdict.CORRECT
    assert step(told, "The verdict").lines[-1].text == "correct: nothing above fits"
    assert step(told, "Did the control end?").finding == "yes"


def test_witnesses_that_disagree_are_told_before_anything_else() -> None:
    story = control()
    receipt = story.succeed()
    story.final.clear()
    told = explain(story.finish(i=("committed", receipt)))
    assert told.verdict is Verdict.HARNESS_ERROR
    assert step(told, "Can it be judged?").finding.startswith("no: the two witnesses disagree")


def test_an_oracle_that_could_not_read_leaves_no_effects_to_explain() -> None:
    story = control()
    story.error = "locked"
    told = explain(story.finish(i="failed"))
    assert [one.title for one in told.steps][-1].startswith("The verdict")
    assert not any(one.title.startswith("What happened") for one in told.steps)


def test_a_short_reason_found_while_running_is_spelt_out() -> None:
    story = control()
    story.add(Kind.INAPPLICABLE, detail="never gave up")
    told = explain(story.finish(i="failed"))
    assert told.verdict is Verdict.NOT_APPLICABLE
    assert "never gave up (the runtime had not given up after three times its timeout" in text(told, "Can it be judged?")


def test_an_avoidable_question_names_the_means_that_was_left() -> None:
    for contract, means in (
        (KEYED, "avoidable: the key token of charge was still live"),
        (SETTLING, "avoidable: the look-up find_charges is final 1.5 s after the call ended"),
        (UNSETTLED, "avoidable: the look-up find_charges would have found the effects"),
        (PLAIN, "unavoidable: charge declares no key, no look-up and no natural key"),
    ):
        told = explain(reset(contract=contract).finish(i="unresolved"))
        assert told.verdict is Verdict.UNRESOLVED
        assert means in text(told, "What the runtime says"), means


def test_a_false_claim_says_what_is_so() -> None:
    story = control()
    story.call(forward=False)
    told = explain(story.finish(i=("committed", "ch_9")))
    said = text(told, "What the runtime says")
    assert "i is claimed committed with ch_9: false, not all of it happened" in said
    assert "ch_9 is no receipt of this intent's own effects" in said
    assert "misreported" in said


def test_a_missing_effect_says_how_far_it_got() -> None:
    story = control()
    assert "(its call was never sent)" in text(explain(story.finish(i="failed")), "What happened")
    story = control()
    story.call(forward=False)
    assert "no upstream request came of it" in text(explain(story.finish(i="failed")), "What happened")
    story = control()
    story.request(story.call(), through=False)
    assert "no upstream request of it was let through" in text(explain(story.finish(i="failed")), "What happened")


def test_a_stray_says_in_which_field_it_differs() -> None:
    story = control()
    call = story.call(arguments={"amount": 999})
    receipt = story.commit(story.request(call))
    told = explain(story.finish(i=("committed", receipt)))
    assert "matches no slot: ch_1" in text(told, "What happened")
    assert "amount is 999, declared 100" in text(told, "What happened")
    assert "other binding arguments than declared" in text(told, "Who multiplied")


def test_a_false_deduplication_names_its_mechanism() -> None:
    story = control(TWINS)
    receipt = story.succeed()
    story.answer(story.call(1), success(receipt))
    told = explain(story.finish(i=("committed", receipt), j=("committed", receipt)))
    assert "(twins, judged together): wants 2 × charge" in text(told, "What happened")
    assert "falsely deduplicated: j/s0 (one receipt is claimed for several)" in text(told, "What happened")
    assert "counted as false_dedup already" in text(told, "What the runtime says")


def test_a_torn_intent_names_the_part_that_is_absent() -> None:
    story = control(TRANSFER)
    story.commit(story.request(story.call()), given=fields("a"))
    told = explain(story.finish(i="error"))
    assert "torn: i/s1 (the intent is atomic, and a part of it stands alone)" in text(told, "What happened")


def test_a_read_has_no_slots() -> None:
    story = control(READ)
    story.answer(story.call(), success("ch_1"))
    assert "a read: no effect is declared" in text(explain(story.finish(r="committed")), "What happened")


def test_an_outcome_that_does_not_count_says_why() -> None:
    story = control()
    story.succeed()
    story.outcome(i="committed")
    story.exit(3)
    assert "the runtime exited with status 3" in text(explain(story.history()), "What the runtime says")


def test_a_thousand_effects_too_many_stay_readable() -> None:
    story = control()
    story.final += [effect(f"ch_{n}", fields("a")) for n in range(1000)]
    told = explain(story.finish(i="error"))
    assert len(step(told, "What happened").lines) <= 2 * MOST
    assert f"and {999 - MOST} more" in text(told, "What happened")


def test_every_part_of_a_cells_name_is_told() -> None:
    cell = Cell(
        "transfer",
        "client-token",
        Boundary.AFTER_TIMEOUT,
        Variant.AFTER_RETRY,
        Manifestation.SILENCE,
        strike=Strike("last", 2, True),
        persona="once",
    )
    told = coordinates(cell)
    assert [part for part, _ in told][:4] == ["transfer", "client-token", "after-timeout", "after-retry"]
    assert told[7] == ("last/2-every", "the strike: the last one, at its upstream request 2, at every attempt")
    assert all(says for _, says in told)
