"""``bench explain``: what a word means, what a cell's name says, or why a cell of a run got its verdict."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from benchmark import explain as reasons
from benchmark import glossary
from benchmark.cells import Cell
from benchmark.cli import complete, runs
from benchmark.errors import UsageError, closest
from benchmark.explain import Explanation
from benchmark.glossary import Entry, Kind
from benchmark.reporting.console import console, pairs, paragraph, say
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult
from benchmark.store import Store

LONGEST = 2000
"""Characters of one sentence; what a runtime wrote may be longer."""


def explain(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WORD|RUN|CELL",
            help="A boundary, manifestation, verdict, metric or other word of the results; a cell's name; or a run.",
            autocompletion=complete.explained,
        ),
    ] = None,
    cell: Annotated[
        str | None,
        typer.Argument(
            metavar="CELL", help="With a run: the cell whose verdict is explained.", autocompletion=complete.cells
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help="With a cell's name: the run.", autocompletion=complete.runs)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Explain a word of the results, or why a cell got its verdict, step by step with the evidence."""
    if what is None:
        _words(as_json)
    elif cell is not None or run is not None:
        if cell is not None and run is not None:
            raise UsageError(f"--run {run} and RUN {what!r} are both given; give one of them")
        _verdict(run or what, cell or what, as_json)
    elif what.count(".") >= 7:
        _name(Cell.parse(what), as_json)
    else:
        _entries(what, as_json)


def _words(as_json: bool) -> None:
    """Every word that can be explained."""
    known = {kind: glossary.words(kind) for kind in Kind}
    if as_json:
        typer.echo(json.dumps({str(kind): list(words) for kind, words in known.items()}, indent=2))
        return
    out = console()
    pairs(out, [(str(kind), ", ".join(words)) for kind, words in known.items()])
    say(out, "bench explain WORD, or bench explain RUN CELL", "dim")


def _entries(word: str, as_json: bool) -> None:
    if _is_run(word):
        raise UsageError(
            f"{word}: is a run; which of its cells? bench explain {word} CELL (bench show {word} --json lists them)"
        )
    found = glossary.lookup(word)
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in found], indent=2, ensure_ascii=False))
        return
    out = console()
    for index, entry in enumerate(found):
        if index:
            out.print()
        _entry(out, entry)


def _entry(out: Console, entry: Entry) -> None:
    say(out, f"{entry.word}  ({entry.kind})", "bold")
    rows = [("what it is", entry.what), *entry.facts, ("proven by", entry.proof), ("does not mean", entry.not_meant)]
    pairs(out, [(label, text) for label, text in rows if text])
    if entry.kind in (Kind.BOUNDARY, Kind.VARIANT, Kind.MANIFESTATION):
        say(out, f"try: bench run --runtime NAME --{entry.kind} {entry.word}", "dim")


def _is_run(name: str) -> bool:
    try:
        runs.find(name)
    except UsageError:
        return False
    return True


def _name(cell: Cell, as_json: bool) -> None:
    """What each part of a cell's name says."""
    parts = reasons.coordinates(cell)
    if as_json:
        typer.echo(json.dumps([{"part": part, "says": says} for part, says in parts], indent=2, ensure_ascii=False))
        return
    out = console()
    pairs(out, parts)
    say(out, f"why it got its verdict: bench explain RUN {cell.name}", "dim")


def _verdict(run: str, cell: str, as_json: bool) -> None:
    store = Store.open(runs.find(run))
    result = _result(store, run, cell)
    if not store.has_history(result.cell):
        _without_history(result, as_json)
        return
    told = reasons.explain(store.history(result.cell))
    if as_json:
        typer.echo(json.dumps(asdict(told), indent=2, ensure_ascii=False))
        return
    out = console()
    _explanation(out, told)
    if result.verdict is not told.verdict:
        say(
            out,
            f"note: cells.jsonl says {result.verdict}, scored by another version; bench rescore {run} renews it",
            "yellow",
        )
    say(out, f"the whole history: bench show {run} {result.cell}", "dim")


def _result(store: Store, run: str, cell: str) -> CellResult:
    results = {result.cell: result for result in store.results()}
    if cell not in results:
        remedy = closest(cell, results) or f"; bench show {run} --json lists them"
        raise UsageError(f"{run}: has no cell {cell!r}{remedy}")
    return results[cell]


def _without_history(result: CellResult, as_json: bool) -> None:
    """A cell that never ran: what is known is why."""
    reason = result.reason or "no reason recorded"
    if as_json:
        told = {"cell": result.cell, "runtime": result.runtime, "verdict": result.verdict, "reason": reason, "steps": []}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    out = console()
    say(out, plain(result.cell, 400), "bold")
    pairs(out, [(str(result.verdict), plain(reason, 400)), ("history", "none: the cell never ran")])
    pairs(out, [(entry.word, entry.what) for entry in glossary.lookup(result.verdict) if entry.kind is Kind.VERDICT])


def _explanation(out: Console, told: Explanation) -> None:
    say(out, plain(told.cell, 400), "bold")
    paragraph(out, "", f"{plain(told.runtime)}: {told.verdict}, {plain(told.reason, 400)}", "bold")
    for number, step in enumerate(told.steps, 1):
        out.print()
        title = step.title if step.title.endswith("?") else f"{step.title}:"
        paragraph(out, f"{number} ", f"{title} {plain(step.finding, LONGEST)}", "bold")
        for line in step.lines:
            shown = plain(line.text, LONGEST)
            numbers = ", ".join(f"#{n}" for n in line.events if f"#{n}" not in shown)
            mark = "  " * (line.level + 1) + "· "
            paragraph(out, mark, shown + (f" ({numbers})" if numbers else ""), "")
    out.print()
