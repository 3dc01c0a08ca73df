"""A run held against the predicted matrix, cell by cell: ``python -m tests.engine.agreement RUN…``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmark.catalog import Catalogue, load
from benchmark.cells import Cell
from benchmark.results import CellResult, Verdict
from benchmark.setting import Setting
from benchmark.store import Store
from tests.prediction.predict import predict

FIGURES = ("extra", "duplicates", "strays", "missing", "torn", "false_dedup", "unresolved", "avoidable", "misreported")


@dataclass(frozen=True)
class Disagreement:
    """One cell in which the sweep and the paper differ: what differs, measured value, predicted value."""

    runtime: str
    cell: str
    differs: dict[str, tuple[object, object]]

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {measured} (predicted {expected})" for name, (measured, expected) in self.differs.items())
        return f"{self.runtime}  {self.cell}: {parts}"


def disagreements(results: Iterable[CellResult], catalogue: Catalogue, policy: str | None = None) -> Iterator[Disagreement]:
    """Every cell whose verdict or any figure is not as predicted (``policy``: the baseline a runtime imitates)."""
    for result in results:
        if result.verdict is Verdict.NOT_RUN:
            continue
        cell = Cell.parse(result.cell)
        setting = Setting.of(catalogue, catalogue.runtime(policy or result.runtime), cell)
        expected = predict(
            policy or result.runtime, setting.workload, setting.contracts, result.truthful, cell.adapter, cell
        )
        measured: dict[str, object] = {"verdict": str(result.verdict)}
        foreseen: dict[str, object] = {"verdict": expected.verdict}
        if result.verdict.judged:
            measured |= {name: getattr(result, name) for name in FIGURES}
            foreseen |= {name: getattr(expected, name) for name in FIGURES}
        differs = {name: (value, foreseen[name]) for name, value in measured.items() if value != foreseen[name]}
        if differs and expected.verdict == "not-applicable":
            differs["reason"] = (result.reason, expected.reason)
        if differs:
            yield Disagreement(result.runtime, result.cell, differs)


def main(folders: list[str]) -> int:
    """Print every disagreement and a count; 1 if there is any."""
    catalogue = load()
    found: list[Disagreement] = []
    judged = 0
    for folder in folders:
        results = list(Store.open(Path(folder)).results())
        judged += sum(result.verdict.judged for result in results)
        found += disagreements(results, catalogue)
    for disagreement in found:
        print(disagreement)
    kinds = Counter((each.runtime, each.cell.split(".")[2]) for each in found)
    for (runtime, boundary), count in sorted(kinds.items()):
        print(f"{count:4}  {runtime}  {boundary}")
    print(f"{len(found)} disagreements in {judged} judged cells")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
