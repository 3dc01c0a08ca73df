"""The policies that read nothing: blind-retry, no-retry, mcp-python, mcp-python-retry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mcp  # noqa: F401 - warm before the programs are forked
import pytest

from tests.unit.runtimes_stage import CHARGE, Stage, claim, intent, program

Make = Callable[..., Stage]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda name, **settings: Stage(tmp_path, stack, program(name), **settings)


LOST: list[dict[str, Any]] = [
    {"then": "silence"},
    {"then": "crash"},
    {"then": "rpc-error"},
    {"then": "bad-result"},
]


@pytest.mark.parametrize("step", [*LOST, {"then": "is-error", "content": {"code": "upstream_unknown"}}], ids=str)
def test_blind_retry_makes_a_duplicate_of_every_lost_answer(stage: Make, step: dict[str, Any]) -> None:
    on = stage("blind-retry").script(charge=[step])
    assert on.claim() == ("committed", ["r_2"])
    assert on.effects == ["r_1", "r_2"]
    assert [entry["arguments"] for entry in on.charges] == [CHARGE, CHARGE]


def test_a_dead_connection_is_opened_anew_and_a_live_one_is_kept(stage: Make) -> None:
    on = stage("blind-retry").script(charge=[{"then": "silence"}, {"then": "crash"}])
    assert claim(on.play([intent("one"), intent("two")]), 1) == ("committed", ["r_3"])
    first, second, third = on.charges
    assert first["pid"] == second["pid"] != third["pid"]


def test_blind_retry_gives_up_after_the_second_attempt_and_goes_on_with_the_next_intent(stage: Make) -> None:
    on = stage("blind-retry").script(charge=[{"commit": False, "then": "rpc-error"}] * 2)
    outcome = on.play([intent("one", CHARGE, CHARGE), intent("two")])
    assert claim(outcome, 0) == ("error", [])
    assert claim(outcome, 1) == ("committed", ["r_3"])
    assert len(on.charges) == 3


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("ending", ["reset", "silence", "bad-gateway", "gone"])
def test_over_http_every_loss_is_an_attempt_and_never_a_hang(stage: Make, revision: str, ending: str) -> None:
    on = stage("blind-retry", transport="http", revision=revision, sse=True).script(charge=[{"then": ending}])
    assert on.claim() == ("committed", ["r_2"])


def test_a_server_that_cannot_be_reached_is_an_error_and_not_a_crash(stage: Make) -> None:
    on = stage("blind-retry", transport="http")
    on.url = "http://127.0.0.1:9/mcp"
    assert on.claim() == ("error", [])


@pytest.mark.parametrize("step", LOST, ids=str)
@pytest.mark.parametrize("name", ["no-retry", "mcp-python"])
def test_without_a_retry_one_attempt_is_an_error(stage: Make, name: str, step: dict[str, Any]) -> None:
    on = stage(name).script(charge=[step])
    assert on.claim() == ("error", [])
    assert on.effects == ["r_1"]


def test_mcp_python_retry_retries_an_exception_and_never_is_error(stage: Make) -> None:
    on = stage("mcp-python-retry").script(charge=[{"then": "is-error"}, {"then": "silence"}])
    outcome = on.play([intent("one"), intent("two")])
    assert claim(outcome, 0) == ("error", [])
    assert claim(outcome, 1) == ("committed", ["r_3"])


def test_every_incarnation_of_a_policy_without_memory_starts_over(stage: Make) -> None:
    on = stage("blind-retry").script(charge=[{"then": "silence"}])
    on.play(kill_when_called=1)
    assert on.claim() == ("committed", ["r_2"])
