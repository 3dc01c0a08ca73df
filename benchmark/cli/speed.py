"""``bench speed``: how fast cells run, against the floor and against a cell written by hand."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def speed(
    cells: Annotated[int, typer.Option(min=1, metavar="N", help="Cells of the measured sweep.")] = 60,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Cells at the same time.")] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Measure reports instead, of runs of a thousand cells to a million.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON.")] = False,
) -> None:
    """Measure cells per second and CPU seconds per cell, interleaved with the floor and a cold cell."""
    from benchmark import report_speed
    from benchmark.speed import measure

    figures = report_speed.measure() if report else measure(cells=cells, jobs=jobs)
    if as_json:
        typer.echo(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            typer.echo(f"{name:<44} {value}")
