"""``bench compare``: two runs or more, cell by cell, with the evidence side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmark import compare as comparing
from benchmark.cli import sources
from benchmark.cli.sources import Source
from benchmark.comparison import Change, Comparison, Mark
from benchmark.errors import UsageError, closest
from benchmark.exits import Exit
from benchmark.reporting import comparison as told
from benchmark.reporting import comparison_cell, github, markdown
from benchmark.reporting.comparison_cell import Half
from benchmark.reporting.console import console, say
from benchmark.reporting.untrusted import plain

REPORTS = Path("reports")
"""Where pages are made, below the working directory."""

GATES: dict[str, tuple[Mark, ...]] = {
    "worse": (Mark.BROKE, Mark.WORSE),
    "broke": (Mark.BROKE,),
    "changed": (Mark.BROKE, Mark.WORSE, Mark.CHANGED),
}
"""What ``--fail-on`` may name → the marks that it refuses."""


def compare(
    runs: Annotated[list[str], typer.Argument(help="Two runs or more: folders, names below results/, or published ones.")],
    cell: Annotated[str | None, typer.Option(metavar="NAME", help="Only this cell: both histories, side by side.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List every cell that moved.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where the pages go; default: reports/compare-…")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The comparison as JSON on standard output; no pages.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown for a pull-request comment on standard output; no pages.")
    ] = False,
    across_suites: Annotated[
        bool, typer.Option("--across-suites", help="Compare cells of one name although the catalogues differ.")
    ] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="|".join(GATES), help="Exit 1 if a cell on a truthful adapter got worse (may be repeated)."),
    ] = None,
) -> None:
    """Say what got better and what got worse from the first run to each of the others, cell by cell."""
    gates = {name: _gate(name) for name in fail_on or ()}
    if len(runs) < 2:
        raise UsageError("a comparison needs two runs: bench compare A B")
    found = sources.load_all(runs)
    result = comparing.compare([source.entry() for source in found], across_suites=across_suites)
    if cell is not None:
        _one(found, result, cell)
    elif as_json:
        typer.echo(result.model_dump_json(indent=2))
    elif as_markdown:
        typer.echo(markdown.comparison(result), nl=False)
    else:
        told.tell(console(), result, runs, every=every)
        _pages(found, result, out, runs)
    if cell is None:
        github.summarise(lambda: markdown.comparison(result))
    raise typer.Exit(_exit(found, result, gates))


def _gate(name: str) -> tuple[Mark, ...]:
    if name not in GATES:
        raise UsageError(f"--fail-on: {name!r} is unknown{closest(name, GATES)}; known: {', '.join(GATES)}")
    return GATES[name]


def _exit(found: Sequence[Source], result: Comparison, gates: dict[str, tuple[Mark, ...]]) -> Exit:
    """Damage first, then an empty comparison, which no gate may pass, then the gates."""
    notes = [note for source in found for note in source.notes]
    for note in notes:
        typer.echo(f"bench: {plain(note, 400)}", err=True)
    complaints = [line for pair in result.pairs for line in _complaints(pair.after, pair.changes, gates)]
    for line in complaints:
        typer.echo(f"bench: {plain(line, 400)}", err=True)
    if any(source.damaged for source in found):
        return Exit.USAGE
    if gates and not all(pair.compared for pair in result.pairs):
        typer.echo("bench: no cell was judged in both runs: nothing was compared", err=True)
        return Exit.UNJUDGED
    return Exit.REFUSED if complaints else Exit.COMPLETED


def _complaints(label: str, changes: Sequence[Change], gates: dict[str, tuple[Mark, ...]]) -> list[str]:
    lines = []
    for name, marks in gates.items():
        refused = [change for change in changes if change.truthful and change.mark in marks]
        if refused:
            cells = "cell" if len(refused) == 1 else "cells"
            lines.append(f"--fail-on {name}: {len(refused)} {cells} in {label}, such as {refused[0].cell}: {refused[0].why}")
    return lines


def _one(found: Sequence[Source], result: Comparison, cell: str) -> None:
    """Print a cell of the first run beside the same cell of each other."""
    out = console()
    for pair, other in zip(result.pairs, found[1:], strict=True):
        names = _names(cell, pair.changes)
        comparison_cell.tell(out, cell, half(found[0], names[0]), half(other, names[1]))


def _names(cell: str, changes: Sequence[Change]) -> tuple[str, str]:
    """What the cell is called in either run: another persona, or another repeat, may stand for it."""
    for change in changes:
        sides = [side.cell for side in (change.before, change.after) if side is not None]
        if cell == change.cell or cell in sides:
            return (change.before or change.after or change).cell, (change.after or change.before or change).cell
    return cell, cell


def half(source: Source, cell: str) -> Half:
    """What one run has of a cell, by its name with or without a repeat."""
    for result in source.results:
        if cell in (result.cell, result.cell.rpartition("@")[0]):
            return source.label, result, source.history(result.cell)
    known = [result.cell for result in source.results]
    raise UsageError(f"{source.place}: has no cell {cell!r}{closest(cell, known)}")


def _pages(found: Sequence[Source], result: Comparison, out: Path | None, names: Sequence[str]) -> None:
    """Write the pages and say where they are."""
    from benchmark.reporting import comparison_pages

    index = comparison_pages.write(result, found, out or REPORTS / _folder(found), names)
    say(console(), f"Pages: {index}")


def _folder(found: Sequence[Source]) -> str:
    joined = "-".join(re.sub(r"[^A-Za-z0-9._]+", "-", source.label) for source in found)
    return f"compare-{joined}"[:120]
