"""Programs written from the runtime contract alone do as the baselines of the same policy do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runtimes_stage import CHARGE, KEYED, Stage, claim, intent, program

Make = Callable[..., Stage]

node = pytest.param("node-blind-retry", marks=pytest.mark.skipif(shutil.which("node") is None, reason="needs Node"))
both = pytest.mark.parametrize("name", [node, "python-keyed-blind-retry"])


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda name, **settings: Stage(tmp_path, stack, program(name), forked=False, **settings)


@both
@pytest.mark.parametrize(
    ("revision", "ending"),
    [
        ("2025-11-25", "silence"),
        ("2026-07-28", "silence"),
        ("2025-11-25", "crash"),
        ("2026-07-28", "rpc-error"),
        ("2025-11-25", "is-error"),
    ],
)
def test_over_stdio_every_lost_answer_makes_a_duplicate(stage: Make, name: str, revision: str, ending: str) -> None:
    on = stage(name, revision=revision).script(charge=[{"then": ending}])
    assert on.claim() == ("committed", ["r_2"])
    assert [entry["arguments"] for entry in on.charges] == [CHARGE, CHARGE]
    assert (on.charges[0]["pid"] != on.charges[1]["pid"]) is (ending == "crash")


@both
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("answers", "ending"),
    [("json", "answer"), ("sse", "answer"), ("sse", "silence"), ("sse", "reset"), ("json", "bad-gateway"), ("json", "gone")],
)
def test_over_http_every_lost_answer_makes_a_duplicate(
    stage: Make, name: str, revision: str, answers: str, ending: str
) -> None:
    on = stage(name, revision=revision, transport="http", sse=answers == "sse").script(charge=[{"then": ending}])
    assert on.claim() == ("committed", ["r_1" if ending == "answer" else "r_2"])


@both
def test_two_attempts_a_call_and_the_rest_of_the_intent_is_not_sent(stage: Make, name: str) -> None:
    on = stage(name).script(charge=[{}, *[{"commit": False, "then": "rpc-error"}] * 2])
    outcome = on.play([intent("one", CHARGE, CHARGE, CHARGE), intent("two")])
    assert claim(outcome, 0) == ("error", ["r_1"])
    assert [call["status"] for call in outcome["intents"][0]["calls"]] == ["committed", "error"]
    assert claim(outcome, 1) == ("committed", ["r_4"])


@both
def test_a_server_that_cannot_be_reached_is_an_error(stage: Make, name: str) -> None:
    on = stage(name, transport="http")
    on.url = "http://127.0.0.1:9/mcp"
    assert on.claim() == ("error", [])


@pytest.mark.parametrize("carrier", ["argument", "meta", "param"])
def test_the_key_is_the_same_in_both_attempts_and_another_for_a_twin(stage: Make, carrier: str) -> None:
    contract = KEYED | {"key": KEYED["key"] | {"carrier": carrier}}
    on = stage("python-keyed-blind-retry").script(charge=[{"then": "is-error"}])
    on.play([intent("one"), intent("two")], contract)
    place: dict[str, Any] = {"argument": "arguments", "meta": "meta", "param": "params"}
    first, repeat, twin = (entry[place[carrier]]["idempotency_key"] for entry in on.charges)
    assert first == repeat != twin
