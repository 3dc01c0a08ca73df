"""Two witnesses: the wire and the oracle must list the same effects."""

from __future__ import annotations

import pytest

from benchmark.history import History, Kind
from benchmark.witnesses import disagreement
from tests.unit.histories import control, effect, fields, intent, of, reset, without, workload


def _two_charges() -> History:
    story = reset()
    story.decoy(fields("a"))
    old = effect("ch_old", fields("a"))
    story.baseline.append(old)
    story.final.append(old)
    story.commit(story.request(story.call()), undone=True)
    return story.finish(i="error")


def _final(history: History, *receipts: str) -> History:
    final = tuple(effect(receipt, fields("a")) for receipt in receipts)
    return history.model_copy(update={"reading": history.reading.model_copy(update={"final": final})})


def test_witnesses_agree_on_undone_effects_and_leave_baseline_and_decoys_out() -> None:
    assert disagreement(_two_charges()) is None


def test_an_effect_that_the_oracle_does_not_list_is_a_disagreement() -> None:
    assert disagreement(_final(_two_charges(), "ch_1")) == "the wire saw ch_3 committed, the oracle does not list it"


def test_an_effect_that_the_wire_did_not_see_is_a_disagreement() -> None:
    found = disagreement(without(_two_charges(), of(Kind.COMMIT, request=2)))
    assert found == "the oracle lists ch_3, the wire saw no commit of it"


def test_a_request_never_heard_of_again_leaves_the_oracle_alone_to_count() -> None:
    story = control()
    story.request(story.call())
    story.final.append(effect("ch_1", fields("a")))
    history = story.finish(i="error")
    assert disagreement(history) is None
    two = history.reading.model_copy(update={"final": (*history.reading.final, effect("ch_2", fields("a")))})
    assert disagreement(history.model_copy(update={"reading": two})) is not None


def test_an_oracle_that_could_not_read_agrees_with_nobody_and_disagrees_with_nobody() -> None:
    story = reset()
    story.error = "locked"
    story.final.clear()
    assert disagreement(story.finish(i="error")) is None


def _versions(*committed: str) -> History:
    story = control(workload(intent("i", "a"), state=True))
    for receipt in committed:
        request = story.request(story.call())
        story.add(Kind.COMMIT, request=request, receipts=(receipt,), effect_class="charge")
        story.add(Kind.REPLY, request=request, receipts=(receipt,), committed=True)
    return story.finish(i="error")


@pytest.mark.parametrize(
    ("committed", "final", "agree"),
    [
        (("x@1", "x@2"), ("x@2",), True),
        (("x@1", "x@2"), ("x@1", "x@2"), True),
        (("x@1", "x@2", "y@1"), ("x@2", "y@1"), True),
        (("x@1", "x@2", "x@1"), ("x@1",), True),
        (("x@1", "x@2"), ("x@1",), False),
        (("x@1", "y@1"), ("x@1",), False),
        (("x@1",), ("x@1", "x@2"), False),
        ((), ("x@1",), False),
    ],
)
def test_of_a_state_the_last_version_counts(committed: tuple[str, ...], final: tuple[str, ...], agree: bool) -> None:
    assert (disagreement(_final(_versions(*committed), *final)) is None) is agree
