"""``bench rescore``: every verdict computed again from the histories alone, and held against what is promised now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from benchmark import catalog
from benchmark.cli import complete, runs
from benchmark.entries import Promise
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.reporting.console import console, say
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Judgement, RunHeader
from benchmark.store import Store


def rescore(
    run: Annotated[str, typer.Argument(help="A run: its folder, or its name below results/.", autocompletion=complete.runs)],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where a figure, verdict or promise would change.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The changes as JSON.")] = False,
) -> None:
    """Compute every verdict again from the histories, and keep what changed (a cell's last line counts).

    What the runtime's documents promise is no measurement: it is read anew from its runtime.toml, where that is found.
    """
    folder = runs.find(run)
    with Store.open(folder) if check else Store.resume(folder) as store:
        results = store.results()
        changes = [(old, new) for old, new in _again(store, results) if old != new]
        promises = _promises(store.header)
        promised = promises != store.header.promises
        if not check:
            for _, new in changes:
                store.append(new, None)
            if promised:
                store.renew(store.header.model_copy(update={"promises": promises}))
    if as_json:
        told = [{"cell": old.cell, "changes": _changed(old, new)} for old, new in changes]
        typer.echo(json.dumps({"cells": len(results), "changed": told, "promises_changed": promised}, indent=2))
    else:
        _tell(results, changes, check, promised)
    raise typer.Exit(Exit.REFUSED if check and (changes or promised) else Exit.COMPLETED)


def _promises(header: RunHeader) -> tuple[Promise, ...]:
    """What the runtime promises by the catalogue as it is now; as it was in the run where the runtime is not found."""
    try:
        catalogue = catalog.load([Path(folder) for folder in header.catalogs])
        return catalogue.runtime(header.path or header.runtime).value.promise
    except UsageError:
        return header.promises


def rejudged(old: CellResult, judgement: Judgement) -> CellResult:
    """The result with everything that scoring decides taken from the judgement."""
    decided = set(Judgement.model_fields) & set(CellResult.model_fields)
    return old.model_copy(update={name: getattr(judgement, name) for name in decided})


def _again(store: Store, results: tuple[CellResult, ...]) -> Iterator[tuple[CellResult, CellResult]]:
    from benchmark.scoring import judge

    for old in results:
        if store.has_history(old.cell):
            yield old, rejudged(old, judge(store.history(old.cell)))


def _changed(old: CellResult, new: CellResult) -> dict[str, list[object]]:
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    return {name: [before[name], after[name]] for name in before if before[name] != after[name]}


def _tell(
    results: tuple[CellResult, ...], changes: list[tuple[CellResult, CellResult]], check: bool, promised: bool
) -> None:
    out = console()
    for old, new in changes:
        told = "; ".join(f"{name}: {plain(was)} → {plain(now)}" for name, (was, now) in _changed(old, new).items())
        say(out, f"{plain(old.cell)}  {told}")
    kept = " (nothing written)" if check else ""
    say(out, f"{len(changes)} of {len(results)} cells changed{kept}")
    if promised:
        say(out, f"what the runtime promises changed{kept}")
