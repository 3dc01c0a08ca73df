"""``bench speed``: how fast cells run, against the floor and against a cell written by hand."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from benchmark.cli import complete


def speed(
    cells: Annotated[int, typer.Option(min=1, metavar="N", help="Cells of the measured sweep.")] = 60,
    jobs: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="Cells at the same time.")] = 8,
    runtime: Annotated[
        list[str] | None,
        typer.Option(
            "--runtime",
            metavar="NAME|PATH",
            help="Measure cells of this runtime instead (may be repeated): what is paid once, and for each cell.",
            autocompletion=complete.runtimes,
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Measure reports instead, of runs of a thousand cells to a million.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON.")] = False,
) -> None:
    """Measure cells per second and CPU seconds per cell, interleaved with the floor and a cold cell."""
    from benchmark import report_speed
    from benchmark.errors import UsageError
    from benchmark.speed import measure, measure_runtimes

    if report and runtime:
        raise UsageError("--report measures reports, --runtime runtimes: give one of the two")
    if report:
        figures = report_speed.measure()
    else:
        figures = measure_runtimes(runtime, cells, jobs) if runtime else measure(cells, jobs)
    if as_json:
        typer.echo(json.dumps(figures, indent=2))
    else:
        width = max(44, *map(len, figures))
        for name, value in figures.items():
            typer.echo(f"{name:<{width}} {value}")
