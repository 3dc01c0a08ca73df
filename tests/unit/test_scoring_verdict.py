"""The first verdict that fits, and one plain sentence for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmark.history import History, Kind
from benchmark.results import Verdict
from benchmark.scoring import judge
from tests.unit.histories import READ, TWINS, control, effect, fields, intent, of, read, reset, without, workload


def _violated() -> History:
    story = reset()
    story.succeed()
    return story.finish(i="unresolved")


def _incomplete() -> History:
    return control(TWINS).finish(i="failed", j="unresolved")


def _unresolved() -> History:
    return reset().finish(i="unresolved")


def _correct() -> History:
    story = control()
    return story.finish(i=("committed", story.succeed()))


def _unstruck(history: History) -> History:
    return without(history, of(Kind.STRIKE))


def _disagreed(history: History) -> History:
    more = (*history.reading.final, effect("ch_unseen", fields("a")))
    return history.model_copy(update={"reading": history.reading.model_copy(update={"final": more})})


def _unread(history: History) -> History:
    return history.model_copy(update={"reading": history.reading.model_copy(update={"final": (), "error": "locked"})})


def _inapplicable(history: History) -> History:
    event = history.events[-1].model_copy(update={"kind": Kind.INAPPLICABLE, "detail": "never gave up"})
    return history.model_copy(update={"events": (*history.events, event)})


@pytest.mark.parametrize(
    ("make", "verdict", "reason"),
    [
        (_correct, Verdict.CORRECT, "exactly the declared effects, and claimed so"),
        (_unresolved, Verdict.UNRESOLVED, "all effects happened, but i is claimed unresolved"),
        (_incomplete, Verdict.INCOMPLETE, "2 declared effects never happened"),
        (lambda: control(READ).finish(r="error"), Verdict.INCOMPLETE, "the read r is not claimed committed"),
        (_violated, Verdict.VIOLATED, "1 duplicate effect"),
        (lambda: _unstruck(_violated()), Verdict.UNTESTABLE, "not exposed: the fault never struck"),
        (lambda: _disagreed(_unstruck(_violated())), Verdict.HARNESS_ERROR, "the two witnesses disagree: the oracle lists"),
        (lambda: _unread(_violated()), Verdict.HARNESS_ERROR, "the oracle could not read: locked"),
        (lambda: _inapplicable(_unread(_violated())), Verdict.NOT_APPLICABLE, "never gave up"),
        (lambda: _inapplicable(_disagreed(_violated())), Verdict.NOT_APPLICABLE, "never gave up"),
    ],
)
def test_the_first_that_fits_counts(make: Callable[[], History], verdict: Verdict, reason: str) -> None:
    found = judge(make())
    assert found.verdict is verdict
    assert found.reason.startswith(reason)


def test_a_control_that_did_not_end_is_untestable_although_it_violated() -> None:
    story = control()
    story.succeed()
    story.succeed()
    story.add(Kind.STILL_RUNNING, incarnation=1)
    assert judge(story.history()).verdict is Verdict.UNTESTABLE


def test_a_struck_runtime_that_hangs_is_judged() -> None:
    story = reset()
    story.add(Kind.STILL_RUNNING, incarnation=1)
    found = judge(story.history())
    assert (found.verdict, found.claims["silent"]) == (Verdict.UNRESOLVED, 1)


def test_a_read_that_is_not_claimed_is_incomplete_beside_effects_too() -> None:
    story = control(workload(intent("i", "a"), read("r")))
    receipt = story.succeed()
    assert judge(story.finish(i=("committed", receipt), r="error")).verdict is Verdict.INCOMPLETE


def test_an_oracle_that_could_not_read_counts_nothing() -> None:
    found = judge(_unread(_violated()))
    assert (found.extra, found.missing, found.observed, found.declared) == (0, 0, 0, 1)


def test_the_reason_names_every_violation() -> None:
    story = reset(TWINS)
    story.succeed(0, arguments={"amount": 999})
    found = judge(story.finish(i=("committed", "ch_99"), j="committed"))
    assert found.reason == "1 effect that nobody declared; 2 intents misreported"
