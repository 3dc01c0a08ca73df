"""A cell is run again where our own slowness touched it, and nowhere else: the decision never looks at a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.disturbance import disturbance
from benchmark.history import Event, History, Kind
from tests.unit.histories import LOST, Story, success


def told(events: Sequence[tuple[float, Kind, Mapping[str, object]]], story: Story | None = None) -> History:
    """A history with these events at these seconds (tool_call_s is 1)."""
    base = (story or Story()).history()
    made = tuple(
        Event.model_validate({"n": n, "t": t, "kind": kind, **given}) for n, (t, kind, given) in enumerate(events, 1)
    )
    return base.model_copy(update={"events": made})


def call(number: int = 1, instance: str = "a") -> dict[str, object]:
    return {"call": number, "instance": instance, "tool": "charge"}


DELIVERED = {"call": 1, "result": success("r1"), "altered": False}


def test_a_call_answered_in_time_is_undisturbed() -> None:
    assert disturbance(told([(0.0, Kind.CALL, call()), (0.5, Kind.DELIVERED, DELIVERED)])) is None


@pytest.mark.parametrize("seconds", [0.85, 1.5])
def test_a_call_that_took_nearly_the_timeout_or_longer_without_a_fault_is_disturbed(seconds: float) -> None:
    found = disturbance(told([(0.0, Kind.CALL, call()), (seconds, Kind.DELIVERED, DELIVERED)]))
    assert found == f"call 1 took {seconds:.2f} s without a fault"


def test_a_call_that_was_cancelled_without_a_fault_is_disturbed() -> None:
    assert disturbance(told([(0.0, Kind.CALL, call()), (1.0, Kind.CANCEL, {"call": 1, "by": "notification"})])) is not None


def test_silence_means_the_struck_call_to_take_long() -> None:
    story = Story(boundary=Boundary.AFTER_COMMIT, manifestation=Manifestation.SILENCE)
    events: list[tuple[float, Kind, dict[str, object]]] = [
        (0.0, Kind.CALL, call()),
        (0.1, Kind.STRIKE, {"call": 1}),
        (1.0, Kind.CANCEL, {"call": 1, "by": "notification"}),
    ]
    assert disturbance(told(events, story)) is None


def test_a_struck_call_that_was_to_be_told_at_once_is_disturbed_where_the_runtime_gave_up_first() -> None:
    story = Story(boundary=Boundary.AFTER_COMMIT, manifestation=Manifestation.RESET)
    events: list[tuple[float, Kind, dict[str, object]]] = [
        (0.0, Kind.CALL, call()),
        (0.9, Kind.STRIKE, {"call": 1}),
        (0.95, Kind.DELIVERED, {"call": 1, "result": LOST, "altered": False}),
    ]
    assert disturbance(told(events, story)) is not None


def test_a_call_that_we_held_may_take_long() -> None:
    story = Story(boundary=Boundary.AFTER_TIMEOUT, variant=Variant.BEFORE_RETRY, manifestation=Manifestation.SILENCE)
    events: list[tuple[float, Kind, dict[str, object]]] = [
        (0.0, Kind.CALL, call(2)),
        (1.2, Kind.RELEASED, {"call": 2}),
        (1.3, Kind.DELIVERED, DELIVERED | {"call": 2}),
    ]
    assert disturbance(told(events, story)) is None


@pytest.mark.parametrize(("instance", "disturbed"), [("a", False), ("b", True)])
def test_a_call_that_was_under_way_when_its_own_server_was_killed_is_no_disturbance(instance: str, disturbed: bool) -> None:
    events: list[tuple[float, Kind, dict[str, object]]] = [
        (0.0, Kind.CALL, call(instance=instance)),
        (0.1, Kind.SERVER_KILLED, {"instance": "a", "pid": 1}),
        (0.9, Kind.CONNECTION_LOST, {"call": 1}),
    ]
    assert (disturbance(told(events)) is not None) == disturbed


HELD_IN_VAIN: list[tuple[float, Kind, dict[str, object]]] = [
    (0.0, Kind.CALL, call()),
    (0.0, Kind.CALL_FORWARDED, {"call": 1}),
    (0.1, Kind.STRIKE, {"call": 1}),
    (1.0, Kind.CALL, call(2)),
    (2.0, Kind.INAPPLICABLE, {"detail": "never cancelled"}),
    (2.0, Kind.CONNECTION_LOST, {"call": 2}),
]


def test_a_retry_that_waited_behind_a_call_held_in_vain_is_undisturbed() -> None:
    assert disturbance(told(HELD_IN_VAIN, Story(boundary=Boundary.DURING_CANCEL))) is None


@pytest.mark.parametrize("missing", [Kind.STRIKE, Kind.INAPPLICABLE])
def test_a_call_that_waited_for_anything_else_is_disturbed(missing: Kind) -> None:
    events = [event for event in HELD_IN_VAIN if event[1] is not missing]
    assert disturbance(told(events, Story(boundary=Boundary.DURING_CANCEL))) is not None


def test_a_call_that_was_forwarded_and_slow_is_disturbed_in_an_inapplicable_cell_too() -> None:
    forwarded: tuple[float, Kind, dict[str, object]] = (1.0, Kind.CALL_FORWARDED, {"call": 2})
    events = [*HELD_IN_VAIN[:4], forwarded, *HELD_IN_VAIN[4:]]
    assert disturbance(told(events, Story(boundary=Boundary.DURING_CANCEL))) == "call 2 took 1.00 s without a fault"
