"""No exposure, no pass: a fault that is made not to strike gives `untestable`, whatever the runtime did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import benchmark.conductor
from benchmark.boundaries import Manifestation
from benchmark.fault import Fault
from benchmark.history import Kind
from benchmark.results import Verdict
from tests.engine.stage import name, swept

EVERY_BOUNDARY = (
    name("before-dispatch", manifestation="error"),
    name("before-commit", manifestation="error"),
    name("after-commit", manifestation="reset"),
    name("before-delivery", manifestation="error"),
    name("during-cancel", manifestation="silence"),
    name("after-timeout", variant="before-retry", manifestation="silence"),
    name("agent-restart", variant="in-flight"),
    name("agent-restart", variant="delivered"),
    name("other-instance", manifestation="reset", mode="http.2026-07-28"),
    name("token-expired", pair="charge-card.client-token"),
    name("repair-drift", variant="free", manifestation="reset"),
    name("provider-crash", manifestation="reset"),
    name("double-resume"),
)


PLANTED = Path(__file__).resolve().parents[1] / "planted"
OF_SOME_RUNTIMES = {
    name("lookup-failure", manifestation="error"): "lookup-or-stop",
    name("lease-expired", variant="after-lease"): str(PLANTED / "trusts-its-lease"),
    name("lease-expired", variant="at-once"): str(PLANTED / "trusts-its-lease"),
    name("input-required", variant="with-state", manifestation="asked", mode="stdio.2026-07-28"): "no-retry",
    name("before-delivery", variant="resumable", manifestation="reset", mode="http.2025-11-25"): "no-retry",
}
"""Cells that strike only who looks up, holds a lease, can be asked, or resumes a stream → such a runtime."""


class Toothless(Fault):
    """Never strikes."""

    def _hits(self, call: Any) -> bool:
        return False


class Leaking(Fault):
    """Says that it struck, and lets everything through all the same."""

    async def on_call(self, call: Any) -> Manifestation | None:
        await super().on_call(call)
        return None

    async def on_request(self, live: Any) -> Manifestation | None:
        await super().on_request(live)
        return None

    async def on_reply(self, live: Any, *, committed: bool) -> Manifestation | None:
        await super().on_reply(live, committed=committed)
        return None

    async def on_result(self, call: Any) -> Manifestation | None:
        await super().on_result(call)
        return None


class Forgetful(Fault):
    """Loses the answer, and forgets that the look-up was to fail too."""

    def _lose_before_look_up(self, call: Any, live: Any) -> Manifestation:
        lost = super()._lose_before_look_up(call, live)
        self._look_up_due = None
        return lost


class Impatient(Fault):
    """Starts the runtime again before its lease is over."""

    async def _until_lease_over(self) -> None:
        return


class Hasty(Fault):
    """Lets a held request through at once."""

    async def _until_cancelled(self, call: Any) -> None:
        return

    async def _until_late(self, call: Any) -> None:
        return


def verdicts(
    monkeypatch: pytest.MonkeyPatch, sabotage: type[Fault], cells: tuple[str, ...], runtime: str = "no-retry"
) -> dict[str, Verdict]:
    monkeypatch.setattr(benchmark.conductor, "Fault", sabotage)
    return {cell: result.verdict for cell, (result, _) in swept(runtime, cells).items()}


def test_a_fault_that_never_strikes_judges_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts(monkeypatch, Toothless, EVERY_BOUNDARY) == dict.fromkeys(EVERY_BOUNDARY, Verdict.UNTESTABLE)


def test_a_fault_that_lets_the_answer_through_judges_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tuple(
        cell for cell in EVERY_BOUNDARY if cell.split(".")[2] in {"before-dispatch", "before-commit", "after-commit"}
    )
    taken += (
        name("before-delivery", manifestation="error"),
        name("other-instance", manifestation="reset", mode="http.2026-07-28"),
        name("provider-crash", manifestation="reset"),
    )
    assert verdicts(monkeypatch, Leaking, taken) == dict.fromkeys(taken, Verdict.UNTESTABLE)


def test_a_request_let_through_too_early_judges_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    held = tuple(cell for cell in EVERY_BOUNDARY if cell.split(".")[2] in {"during-cancel", "after-timeout"})
    assert verdicts(monkeypatch, Hasty, held) == dict.fromkeys(held, Verdict.UNTESTABLE)


@pytest.mark.parametrize("cell", OF_SOME_RUNTIMES)
def test_what_strikes_only_some_runtimes_judges_nobody_unless_it_struck(monkeypatch: pytest.MonkeyPatch, cell: str) -> None:
    (struck, _), *_ = swept(OF_SOME_RUNTIMES[cell], [cell]).values()
    assert (struck.verdict.judged, struck.exposed) == (True, True), struck.reason
    assert verdicts(monkeypatch, Toothless, (cell,), OF_SOME_RUNTIMES[cell]) == {cell: Verdict.UNTESTABLE}


@pytest.mark.parametrize(("sabotage", "boundary"), [(Forgetful, "lookup-failure"), (Impatient, "lease-expired.after-lease")])
def test_half_a_strike_judges_nobody(monkeypatch: pytest.MonkeyPatch, sabotage: type[Fault], boundary: str) -> None:
    cell = next(cell for cell in OF_SOME_RUNTIMES if f".{boundary}." in cell)
    assert verdicts(monkeypatch, sabotage, (cell,), OF_SOME_RUNTIMES[cell]) == {cell: Verdict.UNTESTABLE}


def test_the_same_cells_are_judged_when_the_fault_strikes() -> None:
    results = swept("no-retry", EVERY_BOUNDARY)
    assert {cell: result.verdict for cell, (result, _) in results.items() if not result.verdict.judged} == {}
    assert all(result.exposed for result, _ in results.values())


def test_the_strike_stands_in_the_history_of_every_judged_cell() -> None:
    cell = name("after-commit", manifestation="reset", repeat=2)
    _, history = swept("no-retry", [cell])[cell]
    assert history is not None
    strike = history.first(Kind.STRIKE)
    assert strike is not None
    assert strike.detail == "reset"
