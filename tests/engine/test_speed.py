"""What ``bench speed`` measures is what cells do: it fails where they do not do their work."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark import speed
from benchmark.errors import HarnessError, UsageError

PLANTED = Path(__file__).resolve().parents[1] / "planted"

pytestmark = pytest.mark.cells


def test_each_runtime_is_billed_for_what_it_pays_once_and_for_each_cell() -> None:
    figures = speed.measure_runtimes(["no-retry"], cells=4, jobs=2)
    assert figures["no-retry: cells"] == 4
    for cost in ("first cell, seconds", "first cell, CPU seconds", "cells per second", "CPU seconds per cell"):
        assert figures[f"no-retry: {cost}"] > 0


def test_a_runtime_whose_cells_prove_nothing_has_no_speed() -> None:
    with pytest.raises(HarnessError, match="does-nothing"):
        speed.measure_runtimes([str(PLANTED / "does-nothing")], cells=2, jobs=2)


def test_what_is_not_installed_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BENCH_ENVIRONMENTS", str(tmp_path))
    with pytest.raises(UsageError, match="bench install langgraph"):
        speed.measure_runtimes(["langgraph"], cells=2, jobs=2)
