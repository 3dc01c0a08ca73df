"""``bench show``: a run's closing table, or one cell's timeline."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from benchmark.cli import complete, runs
from benchmark.errors import UsageError, closest
from benchmark.reporting import timeline
from benchmark.reporting.console import closing, console, summary
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult
from benchmark.store import Store


def show(
    run: Annotated[str, typer.Argument(help="A run: its folder, or its name below results/.", autocompletion=complete.runs)],
    cell: Annotated[
        str | None,
        typer.Argument(help="A cell's name: shows its history as a timeline.", autocompletion=complete.cells),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Show what a run found, or everything that happened in one of its cells."""
    store = Store.open(runs.find(run))
    results = store.results()
    if cell is not None:
        _cell(store, _named(results, cell, run), as_json)
    elif as_json:
        whole = {"header": store.header.model_dump(mode="json"), "summary": summary(store.header, results)}
        cells = [result.model_dump(mode="json") for result in results]
        typer.echo(json.dumps({**whole, "cells": cells, "notes": store.notes}, indent=2))
    else:
        out = console()
        closing(out, store.header, results, store.folder)
        left = len(store.header.cells) - len({result.cell for result in results} & set(store.header.cells))
        if left:
            typer.echo(f"{left} planned cells have no result yet; bench run --resume {store.folder} runs them")
        for note in store.notes:
            typer.echo(f"note: {plain(note, 400)}")


def _named(results: tuple[CellResult, ...], cell: str, run: str) -> CellResult:
    for result in results:
        if result.cell == cell:
            return result
    known = [result.cell for result in results]
    raise UsageError(f"{run}: has no cell {cell!r}{closest(cell, known) or f'; bench show {run} --json lists them'}")


def _cell(store: Store, result: CellResult, as_json: bool) -> None:
    if not store.has_history(result.cell):
        if as_json:
            typer.echo(json.dumps({"result": result.model_dump(mode="json"), "history": None}, indent=2))
        else:
            typer.echo(f"{plain(result.cell)}\n{result.verdict}: {plain(result.reason, 400)} (it has no history)")
        return
    history = store.history(result.cell)
    if as_json:
        told = history.model_dump(mode="json", by_alias=True, exclude_none=True)
        typer.echo(json.dumps({"result": result.model_dump(mode="json"), "history": told}, indent=2))
    else:
        timeline.show(console(), history, result, store.notes)
