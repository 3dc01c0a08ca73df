"""The index page of a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from benchmark.promises import BREACHES
from benchmark.reporting.html import chart
from benchmark.reporting.html.celldata import CellData
from benchmark.reporting.html.environment import environment
from benchmark.reporting.html.heat import heats
from benchmark.reporting.html.pages import file_name
from benchmark.reporting.html.words import FIGURES, VERDICTS, does, number_of, story
from benchmark.results import Verdict
from benchmark.summary import Example, Row, Summary

REASONS = 40
"""Lines of each list of reasons; what is rarer is counted."""


def render(run: Summary, data: CellData, pages: frozenset[str], folder: Path) -> str:
    """The page; below a megabyte whatever the size of the run."""
    return (
        environment()
        .get_template("index.html.j2")
        .render(
            run=run,
            header=run.header,
            data=data,
            root=".",
            folder=shlex.quote(str(folder)),
            figures=FIGURES,
            verdicts=VERDICTS,
            bar=_bar(run),
            judged_all=any(side.whole.judged for side in run.sides),
            heats=[heats(side) for side in run.sides],
            charts=[chart.extra_against_unresolved(side) if _struck(side.boundaries) else None for side in run.sides],
            pages={cell: file_name(cell) for one in run.examples for cell in _cells_of(one) if cell in pages},
            has_pages=bool(pages),
            story=story,
            does=does,
            number_of=number_of,
            promised=run.promises,
            breaches=BREACHES,
            unjudged=run.unjudged[:REASONS],
            unjudged_more=sum(one.runs for one in run.unjudged[REASONS:]),
            flaky=run.flaky[:REASONS],
            flaky_more=len(run.flaky[REASONS:]),
            reruns=list(run.reruns.items())[:REASONS],
        )
    )


def _cells_of(example: Example) -> list[str]:
    return [example.result.cell, *example.elsewhere.values()]


def _struck(rows: Sequence[Row]) -> bool:
    return any(row.number != 0 and row.counts.judged for row in rows)


def _bar(run: Summary) -> list[tuple[Verdict, int, float]]:
    """(verdict, results, percent) of the bar below the answer, gravest first."""
    total = run.results or 1
    return [
        (verdict, run.verdicts[verdict], 100 * run.verdicts[verdict] / total)
        for verdict in VERDICTS
        if verdict in run.verdicts
    ]
