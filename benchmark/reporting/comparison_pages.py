"""A comparison as pages: an index, and for each cell that moved a page with both stories side by side."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmark.boundaries import TABLE
from benchmark.comparison import Change, Comparison, Mark, Pair, Standing
from benchmark.errors import UsageError
from benchmark.history import History
from benchmark.reporting.comparison import SIGNS
from benchmark.reporting.comparison_cell import facts
from benchmark.reporting.comparison_rows import Row, rows
from benchmark.reporting.html import diagram, slots, steps
from benchmark.reporting.html.diagram import Diagram
from benchmark.reporting.html.environment import environment
from benchmark.reporting.html.pages import file_name
from benchmark.reporting.html.words import FIGURES, VERDICTS, number_of, story
from benchmark.reporting.site_folder import prepare, save
from benchmark.results import CellResult, Figure, RunHeader
from benchmark.summary import replay

MOST = 1500
"""Cells listed, and given a page, for one pair: the index stays below a megabyte."""

FILE = "comparison.json"
"""The comparison itself, beside the pages; by it a folder is known to be one of ours."""


_Results = dict[str, CellResult]


class Kept(Protocol):
    """What is kept of a run."""

    @property
    def label(self) -> str: ...
    @property
    def header(self) -> RunHeader: ...
    @property
    def results(self) -> Sequence[CellResult]: ...
    def history(self, cell: str) -> History | None:
        """None: none was kept. Raises UsageError where it cannot be read."""
        ...


@dataclass(frozen=True)
class Half:
    """One run's part of a cell's page."""

    label: str
    result: CellResult | None
    history: History | None
    trouble: str
    picture: Diagram | None
    replay: str

    @property
    def told(self) -> list[str]:
        """The cell in plain sentences."""
        return story(self.result) if self.result is not None else ["It has no result."]


def write(found: Comparison, runs: Sequence[Kept], out: Path, names: Sequence[str]) -> Path:
    """Write all pages; the index's path. Raises UsageError where the folder holds something else.

    ``names``: what the user called the runs, for commands to copy.
    """
    prepare(out, FILE, "cells")
    results = [{result.cell: result for result in run.results} for run in runs]
    pages: dict[tuple[int, str], str] = {}
    first: dict[int, tuple[Change, list[Half]]] = {}
    for index, pair in enumerate(found.pairs, 1):
        shown = [change for change in pair.changes if change.mark.moved][:MOST]
        begin = min(shown, key=lambda change: _clearest(change, results[0], results[index]), default=None)
        for change in shown:
            name = f"{index}-{file_name(change.cell)}"
            halves = [
                _half(run, kept, side.cell if side else change.cell)
                for run, kept, side in ((runs[0], results[0], change.before), (runs[index], results[index], change.after))
            ]
            save(out / "cells" / name, _cell(change, halves))
            pages[index, change.cell] = name
            if change is begin:
                first[index] = change, halves
    save(out / FILE, found.model_dump_json(indent=1) + "\n")
    save(out / "index.html", _index(found, pages, first, names))
    return out / "index.html"


def _clearest(change: Change, before: _Results, after: _Results) -> tuple[object, ...]:
    """How well a change shows what moved, best first: on a truthful adapter, a duplicate, one side right, where the contract
    offered a means, little else wrong, few calls."""
    sides = [side for side in (change.before, change.after) if side is not None]
    results = [kept[side.cell] for side, kept in zip(sides, (before, after), strict=True) if side.cell in kept]
    duplicates = any(side.figures["duplicates"] for side in sides)
    wrong = sum(side.figures[figure] for side in sides for figure in Figure)
    calls = sum(result.calls for result in results)
    helpless = all(result.contract == "none" for result in results)
    half_right = change.mark in (Mark.BROKE, Mark.FIXED)
    return not change.truthful, not duplicates, not half_right, helpless, wrong, calls, change.cell


def _index(
    found: Comparison,
    pages: dict[tuple[int, str], str],
    first: dict[int, tuple[Change, list[Half]]],
    names: Sequence[str],
) -> str:
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            found=found,
            pairs=[(index, pair, *_listed(pair), reasons(pair)) for index, pair in enumerate(found.pairs, 1)],
            pages=pages,
            first=first,
            marks=list(Mark),
            signs=SIGNS,
            sentence=sentence,
            verdicts=VERDICTS,
            figures=FIGURES,
            league=league(found.league),
            number_of=number_of,
            command=shlex.join(["bench", "compare", *names]),
            root=".",
        )
    )


def _listed(pair: Pair) -> tuple[list[Change], int]:
    """The cells that moved, as many as are listed, and how many more there are."""
    moved = [change for change in pair.changes if change.mark.moved]
    return moved[:MOST], max(0, len(moved) - MOST)


def reasons(pair: Pair) -> list[tuple[Mark, str, int]]:
    """Why cells were not compared, most frequent first."""
    counts = Counter((one.mark, one.why) for one in pair.changes if not one.mark.moved)
    return [(mark, why, cells) for (mark, why), cells in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def sentence(pair: Pair) -> str:
    """What became of the cells, in one plain sentence."""
    words = {
        Mark.BROKE: "broke",
        Mark.WORSE: "got worse",
        Mark.CHANGED: "{be} wrong in another way",
        Mark.BETTER: "got better",
        Mark.FIXED: "{be} fixed",
        Mark.SAME: "stayed the same",
    }
    counts = [(pair.marks.get(mark, 0), word) for mark, word in words.items()]
    told = [f"{cells:,} {word.format(be='is' if cells == 1 else 'are')}" for cells, word in counts if cells]
    if not told:
        return "No cell was judged in both runs: nothing can be compared."
    return f"Of {pair.compared:,} cell{'' if pair.compared == 1 else 's'} judged in both, " + ", ".join(told) + "."


def league(standings: Sequence[Standing]) -> Iterator[tuple[bool, list[tuple[Figure, list[Standing]]], list[str]]]:
    """(truthful adapters, a table for each figure that anybody shows, the figures that nobody does)."""
    for truthful in (True, False):
        lines = [line for line in standings if line.truthful is truthful]
        if not lines:
            continue
        tables = [(figure, [line for line in lines if line.figure is figure]) for figure in FIGURES]
        shown = [(figure, some) for figure, some in tables if any(any(line.cells) for line in some)]
        known = {figure for figure, _ in shown}
        yield truthful, [(figure, _ordered(some)) for figure, some in shown], [one for one in FIGURES if one not in known]


def _ordered(lines: Sequence[Standing]) -> list[Standing]:
    order = [*(boundary.value for boundary in TABLE), "all"]
    return sorted(lines, key=lambda line: order.index(line.boundary) if line.boundary in order else -1)


def _half(run: Kept, results: _Results, cell: str) -> Half:
    result = results.get(cell)
    history, trouble = None, ""
    try:
        history = run.history(cell)
    except UsageError as error:
        trouble = str(error)
    picture = None
    if history is not None:
        picture = diagram.draw(history, steps.tell(history, slots.truth(history).surplus))
    return Half(run.label, result, history, trouble, picture, replay(run.header, cell))


def _cell(change: Change, halves: Sequence[Half]) -> str:
    left, right = (facts(half.result) for half in halves)
    table = [(name, left.get(name, ""), right.get(name, "")) for name in {**left, **right}]
    return (
        environment()
        .get_template("compare_cell.html.j2")
        .render(
            change=change,
            sign=SIGNS[change.mark],
            halves=halves,
            verdicts=VERDICTS,
            facts=[row for row in table if row[0] != "verdict" and (row[1] or row[2])],
            rows=_rows(halves),
            number=number_of(change.boundary),
            root="..",
        )
    )


def _rows(halves: Sequence[Half]) -> tuple[Row, ...] | None:
    one, other = (half.history for half in halves)
    return None if one is None or other is None else rows(one, other)
