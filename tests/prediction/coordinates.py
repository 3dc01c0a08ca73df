"""Every coordinate of the published tables, for every workload and adapter that fit: the world the rules are tried on."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from benchmark.boundaries import TABLE, Boundary, Point, Row, strike_point
from benchmark.cells import Cell, Strike
from benchmark.contracts import Contract
from benchmark.intents import Workload
from tests.prediction.contracts_world import TABLE as ADAPTERS
from tests.prediction.contracts_world import TREACHEROUS, supports, world
from tests.prediction.counting import Prediction
from tests.prediction.predict import predict, static_reason
from tests.prediction.rules import ALL, Rules

WORKLOADS = Path(__file__).resolve().parents[2] / "workloads"
STRIKE_AT_EVERY = (Boundary.BEFORE_DISPATCH, Boundary.BEFORE_COMMIT, Boundary.AFTER_COMMIT, Boundary.BEFORE_DELIVERY)
SHORT_RETENTION_S = 2.0


@dataclass(frozen=True)
class Case:
    """One cell with what a prediction needs besides."""

    workload: Workload
    contracts: dict[str, Contract]
    cell: Cell

    def predicted(self, policy: str, rules: Rules = ALL) -> Prediction:
        truthful = self.cell.adapter not in TREACHEROUS
        return predict(policy, self.workload, self.contracts, truthful, self.cell.adapter, self.cell, rules)


@cache
def workloads() -> dict[str, Workload]:
    """The catalogue's workloads by name."""
    files = (path for path in sorted(WORKLOADS.glob("*.toml")) if not path.name.startswith("_"))
    return {path.stem: Workload.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in files}


def case(name: str) -> Case:
    """The case of a cell's name."""
    return _case(workloads()[Cell.parse(name).workload], Cell.parse(name))


def _case(workload: Workload, cell: Cell) -> Case:
    contracts = world(cell.adapter, workload.tools)
    if cell.boundary is Boundary.TOKEN_EXPIRED:
        contracts = {tool: contract.with_retention(SHORT_RETENTION_S) for tool, contract in contracts.items()}
    return Case(workload, contracts, cell)


@cache
def cases() -> tuple[Case, ...]:
    """All cells that the tables give a meaning, applicable ones only."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for workload, adapter in product(workloads().values(), ADAPTERS):
        if not supports(adapter, workload.tools):
            continue
        for row in TABLE.values():
            for cell in _cells(workload, adapter, row):
                found = _case(workload, cell)
                if static_reason(workload, found.contracts, adapter, cell) is None:
                    yield found


def _cells(workload: Workload, adapter: str, row: Row) -> Iterator[Cell]:
    for variant, manifestation, strike in product(row.variants, row.manifestations, _strikes(workload, adapter, row)):
        if strike.upstream > 1 and strike_point(row.boundary, variant) not in (Point.REQUEST, Point.REPLY):
            continue
        for transport, protocol in (
            ("stdio", "2025-11-25"),
            ("http", "2025-11-25"),
            ("http", "2026-07-28"),
        ):  # over stdio both revisions behave alike here
            yield Cell(workload.name, adapter, row.boundary, variant, manifestation, transport, protocol, strike)  # type: ignore[arg-type]


def _strikes(workload: Workload, adapter: str, row: Row) -> Iterator[Strike]:
    yield Strike()
    if row.boundary in (Boundary.NONE, Boundary.REPAIR_DRIFT):
        return
    calls = workload.declared_calls
    effects = world(adapter, workload.tools).get(calls[0][2].tool)
    several = effects.effects if effects is not None else None
    if several is not None and not several.together and len(calls) == 1:
        yield Strike(upstream=len(calls[0][2].arguments[several.each]))
    if len(calls) > 2:
        yield Strike("middle")
    if len(calls) > 1:
        yield Strike("last")
    if row.boundary in STRIKE_AT_EVERY:
        yield Strike(every=True)
