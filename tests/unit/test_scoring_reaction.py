"""What the runtime saw and then did, and the signature of all that it could observe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.history import History, Kind
from benchmark.scoring import judge
from tests.unit.histories import KEYED, LOST, TWINS, Story, control, intent, of, reset, success, without, workload


def test_nothing_is_a_reaction_in_a_control() -> None:
    found = judge(control().finish(i="error"))
    assert (found.reaction, found.seen_as, found.answer_s) == ("nothing", "", None)


def _retried(story: Story) -> None:
    story.succeed()


def _looked(story: Story) -> None:
    story.answer(story.call(None), {"result": {"structuredContent": {"found": []}}})


def _cancelled(story: Story) -> None:
    story.add(Kind.CANCEL, call=1, incarnation=1, by="notification")


@pytest.mark.parametrize(
    ("acts", "reaction"),
    [
        ([], "gave-up"),
        ([_retried], "retried"),
        ([_looked], "looked-up+gave-up"),
        ([_looked, _retried], "retried+looked-up"),
        ([_cancelled], "cancelled+gave-up"),
        ([_cancelled, _retried], "retried+cancelled"),
    ],
)
def test_reactions_are_joined(acts: list[Callable[[Story], None]], reaction: str) -> None:
    story = reset()
    for act in acts:
        act(story)
    assert judge(story.finish(i="error")).reaction == reaction


def test_who_resumes_a_broken_stream_has_not_given_up() -> None:
    story = Story(boundary=Boundary.BEFORE_DELIVERY, variant=Variant.RESUMABLE, manifestation=Manifestation.RESET).start()
    call = story.call()
    receipt = story.commit(story.request(call))
    story.result(call, success(receipt))
    story.strike(call)
    story.add(Kind.CONNECTION_LOST, incarnation=1, call=call)
    story.add(Kind.RESUMED, incarnation=1, call=call)
    story.deliver(call, success(receipt))
    found = judge(story.finish(i=("committed", receipt)))
    assert (found.reaction, found.seen_as, found.extra) == ("resumed", "connection lost", 0)


def test_a_runtime_that_hangs_does_nothing() -> None:
    story = Story(boundary=Boundary.BEFORE_DISPATCH, manifestation=Manifestation.SILENCE).start()
    story.strike(story.call(forward=False))
    story.add(Kind.STILL_RUNNING, incarnation=1)
    story.add(Kind.RUNTIME_KILLED, incarnation=1, pid=2)
    found = judge(story.history())
    assert (found.reaction, found.seen_as, found.claims["silent"]) == ("nothing", "nothing", 1)


def test_the_second_twin_is_no_retry_of_the_first() -> None:
    story = reset(TWINS)
    receipt = story.succeed(0)
    assert judge(story.finish(i="error", j=("committed", receipt))).reaction == "gave-up"


def test_a_third_attempt_at_two_twins_is_a_retry() -> None:
    story = reset(TWINS)
    story.succeed(0)
    story.succeed(1)
    assert judge(story.finish(i="error", j="error")).reaction == "retried"


def _ended(payload: dict[str, Any] | None, kind: Kind = Kind.DELIVERED, **given: Any) -> History:
    story = Story(boundary=Boundary.BEFORE_DISPATCH).start()
    call = story.call(forward=False)
    story.strike(call)
    story.add(kind, call=call, result=payload, **given)
    return story.finish(i="error")


@pytest.mark.parametrize(
    ("history", "seen"),
    [
        (_ended(LOST), "is-error:upstream_unknown"),
        (
            _ended({"result": {"isError": True, "content": [{"type": "text", "text": "upstream failed"}]}}),
            "is-error:upstream failed",
        ),
        (_ended({"error": {"code": -32603, "message": "internal"}}), "json-rpc error -32603"),
        (_ended({"error": {"code": 502, "message": "HTTP 502"}}), "http 502"),
        (_ended(None, status=502), "http 502"),
        (_ended(success("ch_1")), "result"),
        (_ended({"result": {"structuredContent": 7}}, altered=True), "bad result"),
        (_ended(None, Kind.CONNECTION_LOST), "connection lost"),
        (_ended(None, Kind.CONNECTION_LOST, by="runtime"), "disconnected by the runtime"),
        (_ended(None, Kind.CANCEL, by="notification"), "cancelled by the runtime"),
        (_ended(None, Kind.RUNTIME_KILLED, incarnation=1), "killed"),
        (_ended(None, Kind.NOTE), "nothing"),
    ],
)
def test_the_struck_call_is_seen_as_what_reached_the_runtime(history: History, seen: str) -> None:
    assert judge(history).seen_as == seen


def test_the_answer_took_from_the_strike_to_the_outcome() -> None:
    history = reset().finish(i="error")
    strike = next(event for event in history.events if event.kind is Kind.STRIKE)
    outcome = next(event for event in history.events if event.kind is Kind.OUTCOME)
    assert judge(history).answer_s == pytest.approx(outcome.t - strike.t)


# --- stimulus ----------------------------------------------------------------------------------------------------------


def _stimulus(history: History) -> str:
    return judge(history).stimulus


def _told(payload: dict[str, Any], **given: Any) -> str:
    story = control(**given)
    story.answer(story.call(key="k-1"), payload)
    return _stimulus(story.finish(i="error"))


def test_the_same_story_is_the_same_stimulus() -> None:
    assert _stimulus(reset().finish(i="error")) == _stimulus(reset().finish(i="error"))


def test_what_the_runtime_claims_is_no_stimulus() -> None:
    assert _stimulus(reset().finish(i="error")) == _stimulus(reset().finish(i=("committed", "ch_1")))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (success("ch_1"), success("ch_77")),
        (
            {
                "result": {
                    "content": [{"type": "text", "text": '{"receipt": "ch_1"}'}],
                    "structuredContent": {"receipt": "ch_1"},
                }
            },
            {
                "result": {
                    "content": [{"type": "text", "text": '{"receipt": "ch_9"}'}],
                    "structuredContent": {"receipt": "ch_9"},
                }
            },
        ),
        (
            {"error": {"code": 1, "message": "http://127.0.0.1:4711/x"}},
            {"error": {"code": 1, "message": "http://127.0.0.1:9/x"}},
        ),
        ({"error": {"code": 1, "message": "pid 12 died"}}, {"error": {"code": 1, "message": "pid 4567 died"}}),
        ({"error": {"code": 1, "message": "no 3f0e9a1b2c3d4e5f"}}, {"error": {"code": 1, "message": "no 0123456789abcdef"}}),
    ],
)
def test_volatile_values_are_no_stimulus(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert _told(left) == _told(right)


def test_an_answer_of_another_kind_is_another_stimulus() -> None:
    answers = [LOST, success("ch_1"), success("ch_1", replayed=True), {"error": {"code": -32603}}, {"error": {"code": 502}}]
    assert len({_told(answer) for answer in answers}) == len(answers)


def test_two_receipts_are_not_one_receipt_twice() -> None:
    def told(*receipts: str) -> str:
        story = control(TWINS)
        for declared, receipt in enumerate(receipts):
            story.answer(story.call(declared), success(receipt))
        return _stimulus(story.finish(i="error"))

    assert told("ch_1", "ch_2") == told("ch_5", "ch_6") != told("ch_1", "ch_1")


def test_workload_contract_transport_and_protocol_are_part_of_the_stimulus() -> None:
    plain = control().finish(i="error")
    changed = [
        control(workload(intent("i", "b"))).finish(i="error"),
        control(contract=KEYED).finish(i="error"),
        control(contract=KEYED.with_retention(2.0)).finish(i="error"),
    ]
    for field, value in (("transport", "http"), ("protocol", "2026-07-28")):
        story = control()
        object.__setattr__(story.cell, field, value)
        changed.append(story.finish(i="error"))
    signatures = {_stimulus(history) for history in (plain, *changed)}
    assert len(signatures) == len(changed) + 1


def test_silence_is_a_stimulus_and_differs_from_an_answer_or_a_loss() -> None:
    silent = control()
    silent.call()
    lost = control()
    lost.add(Kind.CONNECTION_LOST, incarnation=1, call=lost.call())
    seen = {_stimulus(story.finish(i="error")) for story in (control(), silent, lost)}
    assert len(seen) == 3


def test_a_restart_and_what_was_planned_then_are_stimuli() -> None:
    def killed(variant: Variant) -> str:
        story = Story(boundary=Boundary.REPAIR_DRIFT, variant=variant).start()
        story.call()
        story.add(Kind.RUNTIME_KILLED, incarnation=1)
        story.start(2)
        return _stimulus(story.finish(i="error"))

    calm = control()
    calm.call()
    assert len({killed(Variant.FREE), killed(Variant.BINDING), _stimulus(calm.finish(i="error"))}) == 3


def test_what_the_runtime_cannot_see_is_no_stimulus() -> None:
    history = reset().finish(i="error")
    for kind in (Kind.PROBE, Kind.COMMIT, Kind.REQUEST, Kind.REPLY, Kind.STRIKE, Kind.RESULT):
        assert _stimulus(without(history, of(kind))) == _stimulus(history)
