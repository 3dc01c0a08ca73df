"""Is an effect ledger needed? The simple policies against it, by contract kind and restart, figure by figure.

The rule was written down before the first contest was run: **a ledger is unnecessary where a simple policy is no worse on
every figure.** Compared are the cells that every contestant was judged in, truthful adapters only. Pure; ``python -m
benchmark.contest LEDGER-RUN RUN…`` prints the page.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.boundaries import SECOND_LIVES, Boundary
from benchmark.contracts import ContractKind
from benchmark.results import CellResult, Figure
from benchmark.store import Store

Group = tuple[str, bool]
"""Contract kind, and whether the runtime is restarted."""


@dataclass(frozen=True)
class Score:
    """One contestant in one group: cells judged, and for each figure the cells that show it."""

    cells: int
    figures: dict[Figure, int]
    wall_s: float
    """Mean seconds a cell."""
    state_bytes: float
    """Mean bytes left in state_dir."""

    def no_worse_than(self, other: Score) -> bool:
        """On every figure."""
        return all(self.figures[figure] <= other.figures[figure] for figure in Figure)


def scores(runs: Mapping[str, Sequence[CellResult]]) -> dict[Group, dict[str, Score]]:
    """Runtime → results, as group → runtime → score, over the cells that all were judged in."""
    judged = {
        runtime: {result.cell: result for result in results if result.verdict.judged and result.truthful}
        for runtime, results in runs.items()
    }
    common = set.intersection(*(set(cells) for cells in judged.values()))
    grouped: dict[Group, list[str]] = defaultdict(list)
    sample = next(iter(judged.values()))
    for cell in sorted(common):
        grouped[sample[cell].contract, Boundary(sample[cell].boundary) in SECOND_LIVES].append(cell)
    return {
        group: {runtime: _score([cells[name] for name in names]) for runtime, cells in judged.items()}
        for group, names in grouped.items()
    }


def _score(results: Sequence[CellResult]) -> Score:
    return Score(
        cells=len(results),
        figures={figure: sum(getattr(result, figure) > 0 for result in results) for figure in Figure},
        wall_s=sum(result.wall_s for result in results) / len(results),
        state_bytes=sum(result.state_bytes for result in results) / len(results),
    )


def page(ledger: str, table: dict[Group, dict[str, Score]]) -> str:
    """Markdown: one table a group, and what the rule says of each simple policy."""
    lines = []
    for kind in ContractKind:
        for restart in (False, True):
            group = table.get((str(kind), restart))
            if group is None:
                continue
            cells = next(iter(group.values())).cells
            lines += [f"### Contract: {kind}, {'with' if restart else 'without'} a restart ({cells} cells)", ""]
            lines += _table(ledger, group)
    return "\n".join(lines)


def _table(ledger: str, group: dict[str, Score]) -> list[str]:
    names = [str(figure).replace("_", " ") for figure in Figure]
    lines = [
        f"| runtime | {' | '.join(names)} | s a cell | state, bytes | no worse than the ledger |",
        f"|---|{'---:|' * (len(names) + 2)}---|",
    ]
    for runtime, score in group.items():
        counts = " | ".join(str(score.figures[figure]) for figure in Figure)
        says = "–" if runtime == ledger else ("**yes**" if score.no_worse_than(group[ledger]) else "no")
        lines.append(f"| {runtime} | {counts} | {score.wall_s:.2f} | {score.state_bytes:.0f} | {says} |")
    return [*lines, ""]


def main(folders: Sequence[str]) -> None:
    """Print the page for these runs; the first one is the ledger's."""
    runs = {}
    for folder in folders:
        store = Store.open(Path(folder))
        runs[store.header.runtime] = store.results()
    print(page(next(iter(runs)), scores(runs)))


if __name__ == "__main__":
    main(sys.argv[1:])
