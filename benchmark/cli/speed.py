"""``bench speed``: how fast cells run, against the floor and against a cell written by hand."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Annotated, Any, cast

import typer

from benchmark.errors import HarnessError


def speed(
    cells: Annotated[int, typer.Option(min=1, help="Cells of the measured sweep.")] = 60,
    jobs: Annotated[int | None, typer.Option(min=1, help="Cells at the same time.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON.")] = False,
) -> None:
    """Measure cells per second and CPU seconds per cell, interleaved with the floor and a cold cell."""
    try:
        measure = cast(Callable[..., dict[str, Any]], importlib.import_module("benchmark.speed").measure)
    except ModuleNotFoundError:
        raise HarnessError("this version has no measurement of speed") from None
    figures = measure(cells=cells, jobs=jobs)
    if as_json:
        typer.echo(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            typer.echo(f"{name:<36} {value}")
