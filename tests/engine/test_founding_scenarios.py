"""The reproductions that the project was founded on, with the real SDK over the real wire: one call intended, two effects.

Versions differ from the founding ones (TypeScript SDK 1.30.0 and Python SDK 1.29.1 there, Python SDK 2.3.0 here); where the
order of events differs, the test says so.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.history import History, Kind
from benchmark.results import CellResult, Verdict
from tests.engine.stage import name, swept

TIMEOUT_STDIO = name("after-commit", manifestation="silence")
KILLED_STDIO = name("after-commit", manifestation="crash")
TIMEOUT_HTTP = name("after-commit", manifestation="silence", mode="http.2025-11-25")
SCENARIOS = (TIMEOUT_STDIO, KILLED_STDIO, TIMEOUT_HTTP)

Swept = dict[str, tuple[CellResult, History | None]]


@pytest.fixture(scope="module")
def scenarios() -> Swept:
    return swept("mcp-python-retry", SCENARIOS)


@pytest.fixture(scope="module")
def without_retry() -> Swept:
    return swept("mcp-python", SCENARIOS)


def history_of(swept_cells: Swept, cell: str) -> History:
    history = swept_cells[cell][1]
    assert history is not None
    return history


@pytest.mark.parametrize("cell", SCENARIOS)
def test_one_retry_after_a_lost_answer_makes_two_effects_of_one_call(scenarios: Swept, cell: str) -> None:
    result, history = scenarios[cell]
    assert history is not None
    assert result.exposed
    assert (result.declared, result.observed, result.calls) == (1, 2, 2)
    assert (result.verdict, result.duplicates) == (Verdict.VIOLATED, 1)
    assert len(history.reading.final) == 2


@pytest.mark.parametrize("cell", SCENARIOS)
def test_without_the_retry_there_is_one_effect_and_nobody_knows(without_retry: Swept, cell: str) -> None:
    result, _ = without_retry[cell]
    assert (result.observed, result.calls, result.verdict) == (1, 1, Verdict.UNRESOLVED)


def test_request_ids_do_not_identify_an_effect_after_a_server_restart(scenarios: Swept) -> None:
    calls = list(history_of(scenarios, KILLED_STDIO).of(Kind.CALL))
    assert [call.instance for call in calls] == ["a", "b"]
    assert calls[0].rpc_id == calls[1].rpc_id


def test_the_killed_server_was_the_one_that_had_committed(scenarios: Swept) -> None:
    history = history_of(scenarios, KILLED_STDIO)
    started = history.first(Kind.SERVER_STARTED)
    killed = history.first(Kind.SERVER_KILLED)
    commit = history.first(Kind.COMMIT)
    assert started is not None
    assert killed is not None
    assert commit is not None
    assert killed.pid == started.pid
    assert commit.n < killed.n


@pytest.mark.parametrize("cell", [TIMEOUT_STDIO, TIMEOUT_HTTP])
def test_the_cancel_reaches_the_wire_before_the_retry(scenarios: Swept, cell: str) -> None:
    """Founding order: the failure first, the cancel after. SDK 2.3.0 sends the cancel before it raises to its caller."""
    history = history_of(scenarios, cell)
    cancel = history.first(Kind.CANCEL, call=1)
    retry = history.first(Kind.CALL, call=2)
    assert cancel is not None
    assert retry is not None
    assert cancel.by == "notification"
    assert cancel.n < retry.n


def test_the_handler_that_was_told_to_cancel_finished_all_the_same(scenarios: Swept) -> None:
    history = history_of(scenarios, TIMEOUT_STDIO)
    told = history.first(Kind.CANCEL_DELIVERED, call=1)
    assert told is not None
    assert history.first(Kind.DELIVERED, call=1) is None, "no response is sent for a cancelled request"


def outcome_detail(swept_cells: Swept, cell: str) -> str:
    last = list(history_of(swept_cells, cell).of(Kind.OUTCOME))[-1]
    assert last.result is not None
    intents: list[dict[str, Any]] = last.result["intents"]
    return str(intents[0]["detail"])


def test_the_error_codes_are_those_of_this_sdk(without_retry: Swept) -> None:
    """-32001 request timeout and -32000 connection closed, as in the founding reproductions."""
    assert "-32001" in outcome_detail(without_retry, TIMEOUT_STDIO)
    assert "-32000" in outcome_detail(without_retry, KILLED_STDIO)
