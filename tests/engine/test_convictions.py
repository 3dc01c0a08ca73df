"""Every planted runtime is convicted of exactly what it was planted for, by a real sweep of its cell."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchmark.promises import BREACHES, breaks
from benchmark.results import CellResult, Figure
from tests.engine.stage import swept

PLANTED = Path(__file__).resolve().parents[1] / "planted"
CONVICTIONS: list[dict[str, Any]] = tomllib.loads((PLANTED / "convictions.toml").read_text())["conviction"]


@pytest.fixture(scope="module")
def results() -> dict[tuple[str, str], CellResult]:
    """Every conviction's cell, one sweep for each planted runtime."""
    cells: dict[str, list[str]] = defaultdict(list)
    for conviction in CONVICTIONS:
        cells[conviction["runtime"]].append(conviction["cell"])
    return {
        (runtime, cell): result
        for runtime, names in cells.items()
        for cell, (result, _) in swept(PLANTED / runtime, names).items()
    }


@pytest.mark.parametrize("conviction", CONVICTIONS, ids=lambda conviction: f"{conviction['runtime']}-{conviction['cell']}")
def test_a_planted_runtime_is_convicted_of_exactly_its_fault(
    conviction: dict[str, Any], results: dict[tuple[str, str], CellResult]
) -> None:
    result = results[conviction["runtime"], conviction["cell"]]
    figures = {str(figure): getattr(result, figure) for figure in Figure if getattr(result, figure)}
    assert (str(result.verdict), figures) == (conviction["verdict"], conviction["figures"]), result.reason
    if "kind" in conviction:
        assert getattr(result, conviction["kind"]) == result.extra
    if "blame" in conviction:
        assert result.blame == conviction["blame"]
    if "breaks" in conviction:
        assert {says for says in BREACHES if breaks(says, result)} == set(conviction["breaks"])
    if "claims" in conviction:
        assert result.claims[conviction["claims"]] == sum(result.claims.values())
