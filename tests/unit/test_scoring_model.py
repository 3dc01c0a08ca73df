"""With a model: what its framework tells it is the claim, and who asked or sent again is told apart."""

from __future__ import annotations

import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.history import Event, History, Kind
from benchmark.intents import Workload
from benchmark.results import Blame, Judgement
from benchmark.scoring import judge
from benchmark.scoring.statements import statements
from tests.unit.histories import KEYED, LOST, ONE, PLAIN, TRANSFER, TWINS, Story, intent, read, workload

PAIR = workload(intent("i", "a", "b"))


def started(told: Workload = ONE, boundary: Boundary = Boundary.NONE, variant: Variant = Variant.NONE) -> Story:
    return Story(told, PLAIN, boundary, variant, Manifestation.NONE, model=True).start()


def ended(story: Story, **framework: str) -> History:
    """The run ends; what the framework itself states, if it does."""
    entries = [{"id": name, "status": status} for name, status in framework.items()]
    said = {"contract": 1, "status_from": "framework" if framework else "driver", "intents": entries}
    story.add(Kind.OUTCOME, incarnation=story.incarnation, result=said)
    story.exit()
    return story.history()


def claimed(history: History) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {name: (status.status, status.all_receipts) for name, status in statements(history).items()}


def parts(found: Judgement) -> dict[str, int]:
    return {part: count for part, count in found.claims.items() if count}


# --- claims ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "claim"),
    [("success", {"i": ("committed", ("ch_1",))}), ("error", {"i": ("error", ())}), ("unclear", {"i": ("error", ())})],
)
def test_what_the_model_is_told_is_the_claim(word: str, claim: dict[str, tuple[str, tuple[str, ...]]]) -> None:
    story = started()
    story.asks(0)
    story.succeed()
    story.tells((0, 1, word, "ch_1"))
    assert claimed(ended(story)) == claim


def test_a_call_of_which_nothing_was_told_is_silent() -> None:
    story = started()
    story.asks(0)
    story.succeed()
    assert claimed(ended(story)) == {}
    story.tells((0, 1, None))
    assert claimed(story.history()) == {}


def test_the_last_attempts_word_counts() -> None:
    story = started()
    story.tells((0, 1, "error"))
    story.tells((0, 1, "error"), (0, 2, "success", "ch_2"))
    assert claimed(ended(story)) == {"i": ("committed", ("ch_2",))}


def test_all_calls_of_an_intent_must_be_told_committed() -> None:
    told: list[tuple[tuple[int, int, str, str], ...]] = [
        ((0, 1, "success", "ch_1"), (1, 1, "success", "ch_2")),
        ((0, 1, "success", "ch_1"), (1, 1, "error", "")),
        ((0, 1, "success", "ch_1"),),
    ]
    found = []
    for each in told:
        story = started(PAIR)
        story.tells(*each)
        found.append(claimed(ended(story)).get("i"))
    assert found == [("committed", ("ch_1", "ch_2")), ("error", ("ch_1",)), None]


def test_a_later_incarnation_unsays_what_an_earlier_one_was_told() -> None:
    story = started(TWINS, Boundary.AGENT_RESTART, Variant.DELIVERED)
    story.tells((0, 1, "success", "ch_1"), (1, 1, "success", "ch_2"))
    story.start(2)
    story.asks(0)
    assert claimed(ended(story)) == {"j": ("committed", ("ch_2",))}
    story.tells((0, 1, "error"))
    assert claimed(ended(story)) == {"i": ("error", ()), "j": ("committed", ("ch_2",))}


def test_the_frameworks_own_statement_counts_where_it_says_more() -> None:
    story = started(TWINS)
    story.tells((0, 1, "error"))
    assert claimed(ended(story, i="committed", j="error")) == {"i": ("committed", ()), "j": ("error", ())}
    story = started(TWINS)
    story.tells((0, 1, "success", "ch_1"))
    assert claimed(ended(story, i="error", j="error")) == {"i": ("committed", ("ch_1",)), "j": ("error", ())}


def test_a_run_that_ends_badly_has_said_nothing() -> None:
    story = started()
    story.tells((0, 1, "success", "ch_1"))
    story.outcome(i="committed")
    story.exit(status=1)
    assert claimed(story.history()) == {}


def test_success_without_the_receipt_leaves_the_user_without_it() -> None:
    story = started()
    story.asks(0)
    story.succeed()
    story.tells((0, 1, "success"))
    assert parts(judge(ended(story))) == {"committed-without-receipt": 1}


def test_a_hidden_error_is_a_misreport() -> None:
    story = started()
    story.asks(0)
    story.answer(story.call(), LOST)
    story.tells((0, 1, "success"))
    found = judge(ended(story))
    assert (parts(found), found.misreported) == ({"committed-false": 1}, 1)


def test_a_read_is_claimed_by_being_told() -> None:
    story = started(workload(read("r")))
    story.asks(0)
    call = story.call(None)
    story.events[-2] = story.events[-2].model_copy(update={"declared": 0})
    story.answer(call, {"result": {"content": [], "structuredContent": {"found": []}, "isError": False}})
    story.tells((0, 1, "success"))
    assert parts(judge(ended(story))) == {"committed": 1}


# --- blame -------------------------------------------------------------------------------------------------------------


def test_a_model_that_asks_again_in_one_conversation_is_to_blame() -> None:
    story = started()
    story.asks(0)
    story.lose()
    story.tells((0, 1, "error"))
    story.asks(0, 2)
    story.succeed()
    assert judge(ended(story)).blame is Blame.MODEL


def test_a_framework_that_sends_again_what_was_asked_once_is_to_blame() -> None:
    story = started()
    story.asks(0)
    story.lose()
    story.succeed()
    story.tells((0, 1, "success", "ch_2"))
    assert judge(ended(story)).blame is Blame.RUNTIME


@pytest.mark.parametrize("asks", [True, False])
def test_a_framework_that_forgot_the_asking_is_to_blame(asks: bool) -> None:
    """Started again, it has the model ask anew, or sends what it had been asked for before."""
    story = started(boundary=Boundary.AGENT_RESTART, variant=Variant.IN_FLIGHT)
    story.asks(0)
    story.lose()
    story.start(2)
    if asks:
        story.asks(0)
    story.succeed()
    assert judge(ended(story)).blame is Blame.RUNTIME


def test_a_second_asking_that_came_to_nothing_multiplies_nothing() -> None:
    """The first asking was sent twice by the framework; what the model asked for again was never let through."""
    story = started()
    story.asks(0)
    story.lose()
    story.lose()
    story.tells((0, 1, "error"))
    story.asks(0, 2)
    story.request(story.call(), through=False)
    assert judge(ended(story)).blame is Blame.RUNTIME


def test_twins_that_are_each_asked_for_once_are_no_repetition() -> None:
    story = started(TWINS)
    story.asks(0)
    story.lose()
    story.succeed()
    story.asks(1)
    story.succeed(1)
    assert judge(ended(story)).blame is Blame.RUNTIME
    story = started(TWINS)
    story.asks(0)
    story.lose()
    story.asks(0, 2)
    story.succeed()
    story.asks(1)
    story.succeed(1)
    assert judge(ended(story)).blame is Blame.MODEL


def test_a_framework_that_changes_the_arguments_does_not_lose_the_asking() -> None:
    story = started()
    story.asks(0)
    story.lose()
    story.asks(0, 2)
    story.succeed(arguments={"amount": 100.0, "memo": "added"})
    assert judge(ended(story)).blame is Blame.MODEL


def test_a_stray_that_the_model_asked_for_is_the_models() -> None:
    for changed, who in (({"amount": 999}, Blame.MODEL), ({}, Blame.RUNTIME)):
        story = started()
        story.asks(0)
        story.succeed()
        story.asks(0, 2, **changed)
        story.succeed(arguments={"amount": 999})
        assert judge(ended(story)).blame is who


def test_a_live_key_moves_the_blame_on_whoever_asked_again() -> None:
    story = Story(ONE, KEYED, model=True).start()
    story.asks(0)
    story.succeed(key="k")
    story.asks(0, 2)
    story.succeed(key="k")
    assert judge(ended(story)).blame is Blame.TOOL_SERVER


def test_requests_to_the_model_are_counted() -> None:
    story = started(TRANSFER)
    for _ in range(3):
        story.tells()
    found = judge(ended(story))
    assert found.model_requests == found.funnel["model_requests"] == 3


def test_what_the_model_answers_is_part_of_the_stimulus() -> None:
    def stimulus(*askings: tuple[int, int]) -> str:
        story = started()
        for asking in askings:
            story.asks(*asking)
        return judge(ended(story)).stimulus

    assert stimulus((0, 1)) == stimulus((0, 1)) != stimulus((0, 1), (0, 2))


def test_an_old_history_without_a_model_reads_as_before() -> None:
    event = Event.model_validate({"n": 1, "t": 0.0, "kind": "call"})
    assert event.model_dump(exclude_none=True) == {"n": 1, "t": 0.0, "kind": "call"}
