"""A plain agent with a model: what the personas do at the boundaries, whom to blame, and what counts as its claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.history import History, Kind
from benchmark.results import CellResult
from tests.engine.stage import name, swept

TESTS = Path(__file__).resolve().parents[1]
STDIO, HTTP, MODERN = "stdio.2025-11-25", "http.2025-11-25", "http.2026-07-28"

Row = tuple[str, str, str, str, str, str, int, str | None]
ROWS: list[Row] = [
    # boundary, variant, manifestation, mode, persona, verdict, extra, blame
    ("none", "-", "-", STDIO, "once", "correct", 0, None),
    ("none", "-", "-", MODERN, "retry", "correct", 0, None),
    ("before-dispatch", "-", "error", STDIO, "once", "incomplete", 0, None),
    ("before-dispatch", "-", "error", HTTP, "retry", "correct", 0, None),
    ("before-commit", "-", "reset", STDIO, "retry", "correct", 0, None),
    ("after-commit", "-", "reset", STDIO, "once", "unresolved", 0, None),
    ("after-commit", "-", "reset", HTTP, "once", "unresolved", 0, None),
    ("after-commit", "-", "reset", STDIO, "retry", "violated", 1, "model"),
    ("after-commit", "-", "silence", MODERN, "retry", "violated", 1, "model"),
    ("before-delivery", "-", "is-error", STDIO, "once", "unresolved", 0, None),
    ("before-delivery", "-", "reset", HTTP, "retry", "violated", 1, "model"),
    ("before-delivery", "-", "bad-result", STDIO, "retry", "violated", 1, "model"),
    ("during-cancel", "-", "silence", STDIO, "retry", "violated", 1, "model"),
    ("after-timeout", "before-retry", "silence", STDIO, "retry", "violated", 1, "model"),
    ("after-timeout", "after-exit", "silence", HTTP, "once", "unresolved", 0, None),
    ("agent-restart", "in-flight", "-", STDIO, "once", "unresolved", 0, None),
    ("agent-restart", "in-flight", "-", HTTP, "retry", "violated", 1, "model"),
    ("agent-restart", "delivered", "-", STDIO, "retry", "correct", 0, None),
    ("agent-restart", "delivered", "-", MODERN, "once", "correct", 0, None),
    ("repair-drift", "free", "reset", STDIO, "repair", "violated", 1, "model"),
    ("repair-drift", "binding", "error", HTTP, "repair", "violated", 1, "model"),
]


def cell(row: Row, pair: str = "charge-card.find-only") -> str:
    boundary, variant, manifestation, mode, persona, *_ = row
    return name(boundary, variant=variant, manifestation=manifestation, mode=mode, pair=pair).replace(".-@", f".{persona}@")


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[CellResult, History | None]]:
    return swept(TESTS / "agents" / "plain-agent", [cell(row) for row in ROWS])


@pytest.mark.parametrize("row", ROWS, ids=cell)
def test_a_plain_agent_multiplies_only_by_its_model(row: Row, results: dict[str, tuple[CellResult, History | None]]) -> None:
    result, history = results[cell(row)]
    blame = str(result.blame) if result.blame is not None else None
    assert (str(result.verdict), result.extra, blame) == row[5:], result.reason
    assert history is not None
    assert result.model_requests == sum(1 for _ in history.of(Kind.MODEL_REQUEST)) >= 2


def test_a_killed_agent_never_gets_the_answer_to_the_message_that_killed_it(
    results: dict[str, tuple[CellResult, History | None]],
) -> None:
    """At `delivered` the next message is the one that tells the model of the call: it is not answered."""
    _, history = results[cell(ROWS[17])]
    assert history is not None
    killed = history.first(Kind.RUNTIME_KILLED)
    strike = history.first(Kind.STRIKE)
    assert killed is not None
    assert strike is not None
    assert "model request" in (strike.detail or "")
    first_life = [event for event in history.of(Kind.MODEL_REQUEST, Kind.MODEL_REPLY) if event.incarnation == 1]
    assert all(event.n < killed.n and not (event.asking and event.asking.told) for event in first_life)


def test_a_model_that_is_told_of_no_error_is_not_asked_again() -> None:
    row = ("repair-drift", "free", "reset", STDIO, "repair", "not-applicable", 0, None)
    ((result, _),) = swept(TESTS / "planted" / "agent-hides-errors", [cell(row)]).values()
    assert (str(result.verdict), result.reason) == ("not-applicable", "model not asked")


def test_twins_are_each_asked_for_once_and_claimed_once() -> None:
    row = ("after-commit", "-", "reset", STDIO, "once", "", 0, None)
    control = ("none", "-", "-", HTTP, "retry", "", 0, None)
    pair = "charge-twice.find-only"
    found = swept(TESTS / "agents" / "plain-agent", [cell(row, pair), cell(control, pair)])
    struck, history = found[cell(row, pair)]
    assert (struck.extra, struck.missing, struck.false_dedup, struck.unresolved, struck.misreported) == (0, 0, 0, 1, 0)
    assert history is not None
    asked = [(call.declared, call.nth) for event in history.of(Kind.MODEL_REPLY) for call in event.asked or ()]
    assert asked == [(0, 1), (1, 1)]
    assert found[cell(control, pair)][0].verdict == "correct"
