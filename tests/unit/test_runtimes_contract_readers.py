"""The simple policies that read contracts: keyed-blind-retry, token-or-stop, lookup-or-stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mcp  # noqa: F401 - warm before the programs are forked
import pytest

from tests.unit.runtimes_stage import CHARGE, FINDABLE, KEYED, PLAIN, Stage, claim, intent, program

Make = Callable[..., Stage]
LOST = {"then": "is-error", "content": {"code": "upstream_unknown"}}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda name, **settings: Stage(tmp_path, stack, program(name), **settings)


def keys(on: Stage) -> list[Any]:
    return [entry["arguments"].get("idempotency_key") for entry in on.charges]


@pytest.mark.parametrize("name", ["keyed-blind-retry", "token-or-stop"])
def test_both_attempts_and_every_incarnation_carry_one_key_and_twins_carry_two(stage: Make, name: str) -> None:
    on = stage(name).script(charge=[LOST])
    on.play([intent("one"), intent("two")], KEYED)
    on.play([intent("one"), intent("two")], KEYED)
    first, repeat, twin, again, twin_again = keys(on)
    assert first == repeat == again != twin == twin_again
    assert len(first) == 64


@pytest.mark.parametrize("carrier", ["meta", "param"])
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_key_travels_in_the_carrier_of_the_contract(stage: Make, carrier: str, revision: str) -> None:
    contract = KEYED | {"key": KEYED["key"] | {"carrier": carrier, "name": "bench/key", "max_length": 40}}
    on = stage("keyed-blind-retry", revision=revision).script(charge=[LOST])
    assert on.claim(contract=contract) == ("committed", ["r_2"])
    found = [(entry["meta"] if carrier == "meta" else entry["params"])["bench/key"] for entry in on.charges]
    assert found[0] == found[1]
    assert len(found[0]) == 36
    assert on.charges[0]["arguments"] == CHARGE


def test_keyed_blind_retry_is_blind_without_a_key(stage: Make) -> None:
    on = stage("keyed-blind-retry").script(charge=[LOST])
    assert on.claim(contract=PLAIN) == ("committed", ["r_2"])
    assert len(on.effects) == 2


def test_token_or_stop_never_repeats_a_call_without_a_key(stage: Make) -> None:
    on = stage("token-or-stop").script(charge=[{"then": "silence"}])
    outcome = on.play([intent("one"), intent("two")])
    assert claim(outcome, 0) == ("unresolved", [])
    assert claim(outcome, 1) == ("committed", ["r_2"])
    assert len(on.charges) == 2


def test_token_or_stop_does_not_send_a_marked_call_after_a_restart(stage: Make) -> None:
    on = stage("token-or-stop").script(charge=[{"then": "silence"}])
    on.play([intent("one"), intent("two")], kill_when_called=1)
    outcome = on.play([intent("one"), intent("two")])
    assert claim(outcome, 0) == ("unresolved", [])
    assert claim(outcome, 1) == ("committed", ["r_2"])
    assert len(on.charges) == 2


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"code": "exists", "receipt": "r_9"}, ("committed", ["r_9"])),
        ({"code": "exists"}, ("unresolved", [])),
        ({"code": "mismatch", "receipt": "r_9"}, ("unresolved", [])),
        ({"code": "unavailable"}, ("unresolved", [])),
    ],
    ids=str,
)
def test_token_or_stop_believes_the_declared_answers(stage: Make, content: Any, expected: Any) -> None:
    on = stage("token-or-stop").script(charge=[{"commit": False, "then": "is-error", "content": content}])
    assert on.claim(contract=KEYED) == expected
    assert len(on.charges) == 1


REFUSED = {"commit": False, "then": "is-error", "content": {"code": "not_executed"}}


@pytest.mark.parametrize(
    ("steps", "expected", "sent"),
    [
        ([REFUSED], ("committed", ["r_2"]), 2),
        ([REFUSED, REFUSED], ("error", []), 2),
        ([REFUSED, LOST], ("unresolved", []), 2),
    ],
    ids=str,
)
def test_token_or_stop_repeats_what_was_proven_not_executed_even_without_a_key(
    stage: Make, steps: Any, expected: Any, sent: int
) -> None:
    on = stage("token-or-stop").script(charge=steps)
    assert on.claim(contract=PLAIN) == expected
    assert len(on.charges) == sent


def test_token_or_stop_waits_before_it_repeats_a_call_in_progress(stage: Make) -> None:
    running = {"commit": False, "then": "is-error", "content": {"code": "in_progress", "retry_after_s": 0.3}}
    on = stage("token-or-stop").script(charge=[running])
    assert on.claim(contract=KEYED) == ("committed", ["r_2"])
    assert on.charges[1]["t"] - on.charges[0]["t"] >= 0.3


def test_token_or_stop_ends_in_an_error_after_two_ambiguous_attempts(stage: Make) -> None:
    on = stage("token-or-stop").script(charge=[LOST, LOST])
    assert on.claim(contract=KEYED) == ("error", [])


@pytest.mark.parametrize("step", [LOST, {"then": "crash"}, {"then": "silence"}], ids=str)
def test_lookup_or_stop_finds_what_was_committed(stage: Make, step: dict[str, Any]) -> None:
    on = stage("lookup-or-stop").script(charge=[step])
    assert on.claim(contract=FINDABLE) == ("committed", ["r_1"])
    assert len(on.charges) == 1


def test_lookup_or_stop_does_not_take_a_look_alike_for_its_own(stage: Make) -> None:
    theirs = {"receipt": "r_9", "reference": "theirs", "arguments": CHARGE}
    on = stage("lookup-or-stop").script(charge=[LOST | {"commit": False}], find_charges=[{"content": {"found": [theirs]}}])
    assert on.claim(contract=FINDABLE) == ("unresolved", [])


def test_lookup_or_stop_stops_without_a_look_up(stage: Make) -> None:
    on = stage("lookup-or-stop").script(charge=[LOST])
    assert on.claim(contract=PLAIN) == ("unresolved", [])
    assert len(on.log) == 1


def test_lookup_or_stop_sends_nothing_after_a_restart(stage: Make) -> None:
    on = stage("lookup-or-stop").script(charge=[{"then": "silence"}])
    on.play([intent("one"), intent("two")], FINDABLE, kill_when_called=1)
    outcome = on.play([intent("one"), intent("two")], FINDABLE)
    assert claim(outcome, 0) == ("committed", ["r_1"])
    assert claim(outcome, 1) == ("unresolved", [])
    assert len(on.charges) == 1


def test_several_effects_are_looked_up_one_by_one(stage: Make) -> None:
    contract = FINDABLE | {"effects": {"each": "recipients", "atomic": False}}
    on = stage("lookup-or-stop").script(charge=[LOST])
    on.play([intent("one", {"recipients": ["a", "b"]})], contract)
    references = [entry["arguments"]["reference"] for entry in on.log]
    assert references[1:] == [f"{references[0]}/0", f"{references[0]}/1"]


@pytest.mark.parametrize("name", ["token-or-stop", "lookup-or-stop", "reference-ledger"])
def test_a_reader_is_simply_read_again(stage: Make, name: str) -> None:
    on = stage(name).script(find_charges=[{"then": "silence"}])
    outcome = on.play([intent("read", {"order": "1001"}, tool="find_charges")], None)
    assert claim(outcome) == ("committed", [])
    assert len(on.log) == 2
