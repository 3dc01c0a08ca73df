"""What all tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from benchmark.cells import Cell
from benchmark.contracts import Contract
from benchmark.effects import Effect
from benchmark.history import Declaration, Event, History, Kind, Reading
from benchmark.intents import Call, ClassKind, Intent, Outcome, Slot, Workload
from benchmark.results import CellResult, Verdict
from benchmark.store import RunHeader

CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"

settings.register_profile("bench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bench")


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output does not depend on who runs the tests: no colour, 100 columns."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def header() -> RunHeader:
    """A run of two cells."""
    return RunHeader(
        run="run-1",
        started="2026-01-01T00:00:00Z",
        bench="0.1.0",
        argv=("run", "--runtime", "blind-retry"),
        runtime="blind-retry",
        seed=0,
        jobs=1,
        preload=True,
        plan_hash="0" * 64,
        suite_hash="0" * 64,
        cells=(CONTROL, STRUCK),
    )


@pytest.fixture
def result() -> Callable[..., CellResult]:
    """Makes a result: ``result(cell_name, verdict=…, extra=…)``."""

    def make(cell: str = STRUCK, verdict: Verdict = Verdict.CORRECT, **fields: Any) -> CellResult:
        parsed = Cell.parse(cell)
        given = {
            "runtime": "blind-retry",
            "truthful": True,
            "contract": "key",
            "exposed": verdict.judged,
            "stimulus": "s1",
            **fields,
        }
        return CellResult(
            cell=cell,
            workload=parsed.workload,
            adapter=parsed.adapter,
            boundary=parsed.boundary,
            variant=parsed.variant,
            manifestation=parsed.manifestation,
            transport=parsed.transport,
            protocol=parsed.protocol,
            strike=str(parsed.strike),
            persona=parsed.persona,
            repeat=parsed.repeat,
            verdict=verdict,
            **given,
        )

    return make


@pytest.fixture
def history() -> Callable[..., History]:
    """Makes the history of one charge that was struck after its commit and charged again."""

    def make(cell: str = STRUCK, events: tuple[Event, ...] | None = None) -> History:
        arguments = {"order": "1001", "amount": 10000, "currency": "usd"}
        workload = Workload(
            name="charge-card",
            title="Charge a card",
            summary="One charge.",
            classes={"charge": ClassKind.EVENT},
            intents=(
                Intent(
                    id="charge-1001",
                    say="Charge card_1 100.00 USD for order 1001.",
                    calls=(Call(tool="charge", arguments=arguments),),
                    slots=(Slot.model_validate({"id": "charge", "class": "charge", "call": 0, "match": arguments}),),
                    outcomes=(Outcome(fulfils=True, slots={"charge": 1}),),
                ),
            ),
        )
        effects = tuple(
            Effect.model_validate({"class": "charge", "receipt": receipt, "fields": arguments})
            for receipt in ("ch_1", "ch_2")
        )
        return History(
            declaration=Declaration(
                runtime="blind-retry",
                model=False,
                cell=Cell.parse(cell),
                workload=workload,
                contracts={"charge": Contract(binding=("order", "amount", "currency"))},
                truthful=True,
                tool_call_s=1.0,
                run_s=30.0,
            ),
            events=_charged_twice(arguments) if events is None else events,
            reading=Reading(baseline=(), final=effects),
        )

    return make


def _charged_twice(arguments: dict[str, Any]) -> tuple[Event, ...]:
    answer = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"receipt": "ch_2"}}
    upstream = {"method": "POST", "path": "/charges", "body": arguments}
    steps: list[dict[str, Any]] = [
        {"kind": Kind.SERVER_STARTED, "instance": "a", "pid": 11},
        {"kind": Kind.RUNTIME_STARTED, "incarnation": 1, "pid": 10},
        {"kind": Kind.MESSAGE, "incarnation": 1, "method": "initialize", "by": "runtime"},
        {
            "kind": Kind.CALL,
            "call": 1,
            "incarnation": 1,
            "instance": "a",
            "tool": "charge",
            "arguments": arguments,
            "declared": 0,
        },
        {"kind": Kind.CALL_FORWARDED, "call": 1, "instance": "a"},
        {"kind": Kind.REQUEST, "request": 1, "call": 1, "instance": "a", "upstream": upstream},
        {"kind": Kind.REQUEST_FORWARDED, "request": 1},
        {"kind": Kind.COMMIT, "request": 1, "receipts": ("ch_1",), "effect_class": "charge"},
        {"kind": Kind.REPLY, "request": 1, "status": 201, "receipts": ("ch_1",), "committed": True},
        {"kind": Kind.PROBE, "receipts": ("ch_1",)},
        {"kind": Kind.STRIKE, "call": 1, "request": 1, "detail": "reset"},
        {"kind": Kind.REPLY_DELIVERED, "request": 1, "altered": True},
        {"kind": Kind.RESULT, "call": 1, "result": {"isError": True, "content": []}},
        {"kind": Kind.DELIVERED, "call": 1, "result": {"isError": True, "content": []}, "altered": False},
        {
            "kind": Kind.CALL,
            "call": 2,
            "incarnation": 1,
            "instance": "a",
            "tool": "charge",
            "arguments": arguments,
            "declared": 0,
        },
        {"kind": Kind.CALL_FORWARDED, "call": 2, "instance": "a"},
        {"kind": Kind.REQUEST, "request": 2, "call": 2, "instance": "a", "upstream": upstream},
        {"kind": Kind.REQUEST_FORWARDED, "request": 2},
        {"kind": Kind.COMMIT, "request": 2, "receipts": ("ch_2",), "effect_class": "charge"},
        {"kind": Kind.REPLY, "request": 2, "status": 201, "receipts": ("ch_2",), "committed": True},
        {"kind": Kind.REPLY_DELIVERED, "request": 2, "status": 201, "altered": False},
        {"kind": Kind.RESULT, "call": 2, "result": answer},
        {"kind": Kind.DELIVERED, "call": 2, "result": answer, "altered": False},
        {
            "kind": Kind.OUTCOME,
            "incarnation": 1,
            "result": {"contract": 1, "intents": [{"id": "charge-1001", "status": "committed", "receipt": "ch_2"}]},
        },
        {"kind": Kind.RUNTIME_EXITED, "incarnation": 1, "status": 0},
        {"kind": Kind.QUIESCENT},
    ]
    return tuple(Event(n=number, t=number / 100, **step) for number, step in enumerate(steps, 1))
