"""``bench report``: the HTML report of one run or several, offline and complete."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.cli import runs
from benchmark.errors import BenchError, UsageError
from benchmark.exits import Exit
from benchmark.reporting.console import console, say
from benchmark.reporting.html.pages import Pages
from benchmark.reporting.untrusted import plain
from benchmark.salvage import Salvage

if TYPE_CHECKING:
    from benchmark.reporting.html.report import Written

REPORTS = Path("reports")
"""Where the reports of runs below ``results/`` are put, below the working directory."""


def report(
    run: Annotated[list[str], typer.Argument(help="Runs: their folders, or their names below results/.", metavar="RUN...")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The report's folder; default: reports/RUN, or RUN/report for a run that is elsewhere.", metavar="DIR"
        ),
    ] = None,
    cells: Annotated[
        Pages, typer.Option(help="Which cells get a page of their own; auto: all, or of a large run those that are bad.")
    ] = Pages.AUTO,
    cell: Annotated[
        list[str] | None,
        typer.Option(help="Write only this cell's page, into the report (may be repeated).", metavar="NAME"),
    ] = None,
) -> None:
    """Write the HTML report: an index page, and a page for each cell. It opens from a file and fetches nothing."""
    from benchmark.reporting.html.report import write, write_cells, write_several

    found, refused = _open(run)
    written: list[Written] = []
    if cell:
        if len(run) != 1:
            raise UsageError("--cell goes with one run")
        for one in found:
            for place in write_cells(one, out or folder_for(one.folder), cell):
                print(place)
    elif len(run) == 1:
        written = [write(one, out or folder_for(one.folder), cells) for one in found]
    elif found:
        place = out or REPORTS / "+".join(one.folder.resolve().name for one in found)[:120]
        written = write_several(found, place, cells)
        print(place / "index.html")
    for each in written:
        tell(each)
    if refused or any(each.damaged for each in written):
        raise typer.Exit(Exit.USAGE)


def after_run(folder: Path) -> None:
    """Write the report of a run that has just ended; that it cannot be written is told, and changes no exit code."""
    from benchmark.reporting.html.report import write

    errors = console(sys.stderr)
    try:
        written = write(Salvage(folder), folder_for(folder))
    except BenchError as error:
        say(errors, f"no report: {plain(error, 400)}", "yellow")
    else:
        say(errors, f"Report: {written.index}")


def folder_for(folder: Path) -> Path:
    """Where a run's report goes unless told otherwise."""
    inside = folder.resolve().is_relative_to(runs.RESULTS.resolve())
    return REPORTS / folder.resolve().name if inside else folder / "report"


def tell(written: Written) -> None:
    """Where it is on standard output, and what could not be read on standard error."""
    print(written.index)
    for note in written.summary.notes:
        print(f"bench: {plain(note, 600)}", file=sys.stderr)


def _open(names: list[str]) -> tuple[list[Salvage], bool]:
    """The runs that can be opened; the others are told at once, unless there is but one."""
    found, refused = [], False
    for name in names:
        try:
            found.append(Salvage(_find(name)))
        except UsageError as error:
            if len(names) == 1:
                raise
            refused = True
            print(f"bench: {plain(error, 600)}", file=sys.stderr)
    if not found:
        raise UsageError("none of these runs can be read")
    return found, refused


def _find(name: str) -> Path:
    """As every command finds a run, and a folder with results whose ``run.json`` is lost."""
    return Path(name) if (Path(name) / "cells.jsonl").is_file() else runs.find(name)
