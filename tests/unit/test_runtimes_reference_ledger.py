"""reference-ledger: write-ahead, reconciliation with three answers, retention, drift."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import mcp  # noqa: F401 - warm before the programs are forked
import pytest

from tests.unit.runtimes_stage import CHARGE, FINDABLE, KEYED, PLAIN, Stage, claim, intent, program

Make = Callable[..., Stage]
LOST = {"then": "is-error", "content": {"code": "upstream_unknown"}}
REFUSED = {"commit": False, "then": "is-error", "content": {"code": "not_executed"}}


@pytest.fixture
def on(tmp_path: Path) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(tmp_path, stack, program("reference-ledger"))


def rows(on: Stage, query: str) -> list[Any]:
    with closing(sqlite3.connect(on.place / "state" / "effects.sqlite3")) as db:
        return db.execute(query).fetchall()


def test_the_record_is_in_progress_on_disk_while_the_call_is_on_its_way(on: Stage) -> None:
    on.script(charge=[{"then": "silence"}])
    on.play(kill_when_called=1)
    assert rows(on, "SELECT state FROM effects") == [("in_progress",)]
    assert rows(on, "SELECT n, incarnation, ended_at FROM attempts") == [(1, 1, None)]


def test_effect_id_is_carried_as_reference_and_as_key(on: Stage) -> None:
    assert on.claim(contract=KEYED | FINDABLE) == ("committed", ["r_1"])
    sent = on.charges[0]["arguments"]
    assert sent["reference"] == sent["idempotency_key"]
    assert rows(on, "SELECT effect_id, state, receipts FROM effects") == [(sent["reference"], "committed", '["r_1"]')]


def test_a_live_key_is_proof_enough_to_repeat(on: Stage) -> None:
    on.script(charge=[LOST, {"commit": False, "content": {"receipt": "r_1", "replayed": True}}])
    assert on.claim(contract=KEYED) == ("committed", ["r_1"])
    assert on.charges[0]["arguments"] == on.charges[1]["arguments"]


def test_found_by_its_reference_is_committed_and_nothing_is_repeated(on: Stage) -> None:
    on.script(charge=[{"then": "silence"}])
    assert on.claim(contract=FINDABLE) == ("committed", ["r_1"])
    assert len(on.charges) == 1


def test_not_found_is_proof_only_after_it_has_settled(on: Stage) -> None:
    on.script(charge=[LOST | {"commit": False}])
    assert on.claim(contract=FINDABLE) == ("committed", ["r_4"])
    first, _, second_look, repeat = on.log
    assert second_look["t"] - first["t"] >= FINDABLE["lookup"]["settles_s"]
    assert repeat["tool"] == "charge"


def test_not_found_is_never_proof_where_it_never_settles(on: Stage) -> None:
    on.script(charge=[LOST | {"commit": False}])
    unsettled = FINDABLE | {"lookup": FINDABLE["lookup"] | {"settles_s": None}}
    outcome = on.play(contract=unsettled)
    assert claim(outcome) == ("unresolved", [])
    assert 'did this happen: charge {"amount":100,"currency":"usd","order":"1001"}?' in outcome["intents"][0]["detail"]
    assert len(on.charges) == 1


def test_nothing_to_prove_it_with_is_unresolved_with_a_question(on: Stage) -> None:
    on.script(charge=[{"then": "crash"}])
    outcome = on.play([intent("one"), intent("two")], PLAIN)
    assert claim(outcome, 0) == ("unresolved", [])
    assert "did this happen" in outcome["intents"][0]["detail"]
    assert claim(outcome, 1) == ("committed", ["r_2"])


def test_a_look_alike_is_not_bound(on: Stage) -> None:
    theirs = {"content": {"found": [{"receipt": "r_9", "reference": None, "arguments": CHARGE}]}}
    on.script(charge=[LOST | {"commit": False}], find_charges=[theirs, theirs])
    assert on.claim(contract=FINDABLE) == ("committed", ["r_4"])


def test_proven_not_executed_is_repeated_and_in_the_end_failed(on: Stage) -> None:
    on.script(charge=[REFUSED] * 3)
    assert on.claim(contract=PLAIN) == ("failed", [])
    assert len(on.charges) == 3
    assert rows(on, "SELECT state FROM effects") == [("failed_before_effect",)]


def test_failed_is_not_said_of_an_intent_that_happened_in_part(on: Stage) -> None:
    on.script(charge=[{}, REFUSED, REFUSED, REFUSED])
    assert on.claim([intent("one", CHARGE, CHARGE)], PLAIN) == ("error", ["r_1"])


def test_a_refusal_of_the_repeat_does_not_settle_the_first_attempt(on: Stage) -> None:
    on.script(charge=[LOST, REFUSED, REFUSED])
    assert on.claim(contract=KEYED) == ("unresolved", [])


def test_a_server_that_cannot_be_reached_is_proof_that_nothing_was_sent(on: Stage) -> None:
    on.transport, on.url = "http", "http://127.0.0.1:9/mcp"
    assert on.claim(contract=PLAIN) == ("failed", [])


def test_after_a_restart_committed_calls_are_not_sent_and_unknown_ones_are_reconciled(on: Stage) -> None:
    on.script(charge=[{}, {"then": "silence"}])
    intents = [intent("one"), intent("two"), intent("three")]
    on.play(intents, FINDABLE, kill_when_called=2)
    outcome = on.play(intents, FINDABLE)
    assert [claim(outcome, index) for index in range(3)] == [
        ("committed", ["r_1"]),
        ("committed", ["r_2"]),
        ("committed", ["r_4"]),
    ]
    assert len(on.charges) == 3


def test_after_the_retention_deadline_the_key_no_longer_protects(on: Stage) -> None:
    on.script(charge=[LOST])
    short = KEYED | {"key": KEYED["key"] | {"retention_s": 0.2}}
    assert on.claim(contract=short) == ("unresolved", [])
    assert len(on.charges) == 1


def test_after_the_retention_deadline_a_look_up_still_tells(on: Stage) -> None:
    on.script(charge=[LOST])
    short = KEYED | FINDABLE | {"key": KEYED["key"] | {"retention_s": 0.2}}
    assert on.claim(contract=short) == ("committed", ["r_1"])
    assert len(on.charges) == 1


def test_a_changed_binding_argument_is_a_conflict_and_is_never_sent(on: Stage) -> None:
    on.script(charge=[{"then": "silence"}, {"commit": False, "content": {"receipt": "r_1", "replayed": True}}])
    on.play(contract=KEYED, kill_when_called=1)
    outcome = on.play([intent("charge-1001", CHARGE | {"amount": 200})], KEYED, replan=True)
    assert claim(outcome) == ("committed", ["r_1"])
    assert [entry["arguments"]["amount"] for entry in on.charges] == [100, 100]
    assert "conflict" in outcome["intents"][0]["detail"]


def test_a_changed_binding_argument_without_proof_is_a_question(on: Stage) -> None:
    on.script(charge=[{"then": "silence"}])
    on.play(contract=PLAIN, kill_when_called=1)
    assert on.claim([intent("charge-1001", CHARGE | {"amount": 200})], PLAIN, replan=True) == ("unresolved", [])
    assert len(on.charges) == 1


def test_a_changed_free_argument_is_the_same_effect(on: Stage) -> None:
    on.script(charge=[{"then": "silence"}])
    on.play(contract=FINDABLE, kill_when_called=1)
    assert on.claim([intent("charge-1001", CHARGE | {"memo": "new"})], FINDABLE, replan=True) == ("committed", ["r_1"])
    assert len(on.charges) == 1


NATURAL = PLAIN | {"natural_key": ["order"]}


def test_a_natural_key_that_overwrites_is_simply_written_again(on: Stage) -> None:
    on.script(charge=[LOST, {"content": {"receipt": "r_1"}}])
    assert on.claim(contract=NATURAL | {"on_repeat": "overwrite"}) == ("committed", ["r_1"])


EXISTS = {"commit": False, "then": "is-error", "content": {"code": "exists", "receipt": "r_1"}}


def test_a_refused_repeat_of_a_natural_key_is_ours_only_after_an_ambiguous_attempt(on: Stage) -> None:
    on.script(charge=[LOST, EXISTS, EXISTS])
    contract = NATURAL | {"on_repeat": "refuse"}
    outcome = on.play([intent("one"), intent("two")], contract)
    assert claim(outcome, 0) == ("committed", ["r_1"])
    assert claim(outcome, 1) == ("unresolved", [])


def test_another_effects_receipt_is_not_taken(on: Stage) -> None:
    on.script(charge=[{}, {"commit": False, "content": {"receipt": "r_1", "replayed": True}}])
    outcome = on.play([intent("one"), intent("two")], KEYED)
    assert claim(outcome, 0) == ("committed", ["r_1"])
    assert claim(outcome, 1) == ("unresolved", [])


def test_several_effects_need_all_their_receipts(on: Stage) -> None:
    contract = FINDABLE | {"effects": {"each": "recipients", "atomic": False}}
    found: list[dict[str, Any]] = [{"content": {"found": []}}] * 3
    on.script(charge=[{"content": {"receipts": ["a"]}}, {"content": {"receipts": ["a", "b"]}}], find_charges=found)
    assert on.claim([intent("one", {"recipients": ["x", "y"]})], contract) == ("committed", ["a", "b"])
    assert [entry["tool"] for entry in on.log] == ["charge", *["find_charges"] * 4, "charge"]
