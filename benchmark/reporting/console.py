"""The end of a sweep on the console: boundary × figure, profile, a cell for each kind of violation, what was not judged."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmark.boundaries import TABLE, Boundary
from benchmark.profile import profile
from benchmark.reporting import tally
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Figure, Verdict
from benchmark.store import RunHeader

WIDTH = 100
"""Columns where the output is no terminal."""

HEADINGS: dict[Figure, str] = {
    Figure.EXTRA: "extra",
    Figure.MISSING: "missing",
    Figure.FALSE_DEDUP: "false\ndedup",
    Figure.UNRESOLVED: "unre-\nsolved",
    Figure.TORN: "torn",
    Figure.MISREPORTED: "misre-\nported",
}


def console(stream: TextIO | None = None) -> Console:
    """A console that obeys NO_COLOR and does not fold lines where nobody looks."""
    stream = sys.stdout if stream is None else stream
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def replay(header: RunHeader, cell: str) -> str:
    """The command that runs one cell again."""
    words = ["bench", "run", "--runtime", header.path or header.runtime, "--cell", cell]
    words += ["--seed", str(header.seed)] if header.seed else []
    for folder in header.catalogs:
        words += ["--catalog", folder]
    return shlex.join(words)


def closing(out: Console, header: RunHeader, results: Sequence[CellResult], folder: Path | None = None) -> None:
    """Print everything that a finished sweep has to say."""
    truthful = [result for result in results if result.truthful]
    treacherous = [result for result in results if not result.truthful]
    if truthful:
        out.print(_table(f"{plain(header.runtime)} · tool adapters that keep their contract", truthful))
        _profile(out, "Profile", profile(results))
    if treacherous:
        out.print(_table(f"{plain(header.runtime)} · treacherous tool adapters (what they declare is untrue)", treacherous))
        _profile(out, "Profile with treacherous adapters", profile(results, truthful=False))
    _violations(out, header, results)
    _flaky(out, results)
    _unjudged(out, results)
    _reruns(out, results)
    if folder is not None:
        say(out, f"Results: {folder}", "")
        say(out, f"  look at a cell:  bench show {shlex.quote(str(folder))} CELL", "dim")


def _table(title: str, results: Sequence[CellResult]) -> Table:
    table = Table(
        title=Text(title, style="bold"),
        caption=Text("each figure: how many of the judged cells show it", style="dim"),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("boundary", no_wrap=True)
    table.add_column("judged", justify="right", no_wrap=True)
    table.add_column("stimuli", justify="right", no_wrap=True)
    for heading in HEADINGS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for line in tally.lines(results):
        if line.boundary is None:
            table.add_section()
        table.add_row(
            _boundary(line.boundary),
            f"{line.judged} of {line.cells}",
            str(line.stimuli),
            *(_count(line.figures[figure], line.judged) for figure in HEADINGS),
        )
    return table


def _boundary(boundary: Boundary | None) -> str:
    if boundary is None:
        return "   all"
    number = TABLE[boundary].number
    return f"{number or '–':>2} {boundary}"


def _count(cells: int, judged: int) -> Text:
    if not judged:
        return Text("n/a", style="dim")
    return Text(str(cells), style="bold red" if cells else "dim")


def _profile(out: Console, title: str, found: Mapping[str, Sequence[str]]) -> None:
    out.print()
    say(out, title, "bold")
    for boundary, words in found.items():
        say(out, f"  {boundary:<16} {', '.join(words)}", "")
    out.print()


def _violations(out: Console, header: RunHeader, results: Sequence[CellResult]) -> None:
    found = tally.examples(results)
    if not found:
        return
    say(out, "One cell for each kind", "bold")
    for example in found:
        one = example.result
        blame = f", blame: {one.blame}" if one.blame and one.extra else ""
        lied = "" if one.truthful else ", treacherous adapter"
        say(out, f"  {example.kind} ({example.cells} {_cells(example.cells)}{blame}{lied}): {plain(one.reason)}", "red")
        say(out, f"    {replay(header, one.cell)}", "")
    out.print()


def _flaky(out: Console, results: Sequence[CellResult]) -> None:
    found = tally.flaky(results)
    if not found:
        return
    say(out, "Flaky: repeats of one cell disagree", "bold")
    for one in found:
        total = sum(one.verdicts.values())
        told = ", ".join(f"{verdict} {count} of {total}" for verdict, count in one.verdicts.items())
        say(out, f"  {plain(one.cell)}: {told}", "yellow")
    out.print()


def _unjudged(out: Console, results: Sequence[CellResult]) -> None:
    counts = tally.verdicts(results)
    say(out, "Verdicts: " + (", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "none"), "bold")
    for verdict, reason, count in tally.reasons(results):
        style = "red" if verdict is Verdict.HARNESS_ERROR else "dim"
        say(out, f"  {count:>5} {verdict}: {plain(reason, 300) or 'no reason recorded'}", style)
    out.print()


def _reruns(out: Console, results: Sequence[CellResult]) -> None:
    found = tally.reruns(results)
    if not found:
        return
    total = sum(found.values())
    say(out, f"Run again before a fault struck, because we were disturbed: {total} of {len(results)} cells", "bold")
    for reason, count in found.items():
        say(out, f"  {count:>5} {plain(reason, 300)}", "dim")
    out.print()


def summary(header: RunHeader, results: Sequence[CellResult]) -> dict[str, object]:
    """What ``closing`` prints, as JSON."""

    def side(truthful: bool) -> dict[str, object]:
        some = [result for result in results if result.truthful is truthful]
        return {
            "boundaries": [
                {
                    "boundary": line.boundary or "all",
                    "cells": line.cells,
                    "judged": line.judged,
                    "stimuli": line.stimuli,
                    "figures": {str(figure): count for figure, count in line.figures.items()},
                }
                for line in tally.lines(some)
            ],
            "profile": profile(results, truthful=truthful),
        }

    return {
        "run": header.run,
        "runtime": header.runtime,
        "truthful": side(True),
        "treacherous": side(False),
        "verdicts": {str(verdict): count for verdict, count in tally.verdicts(results).items()},
        "unjudged": [
            {"verdict": verdict, "reason": reason, "cells": count} for verdict, reason, count in tally.reasons(results)
        ],
        "examples": [
            {"kind": one.kind, "cells": one.cells, "cell": one.result.cell, "replay": replay(header, one.result.cell)}
            for one in tally.examples(results)
        ],
        "flaky": [{"cell": one.cell, "verdicts": one.verdicts} for one in tally.flaky(results)],
        "reruns": tally.reruns(results),
    }


def _cells(count: int) -> str:
    return "cell" if count == 1 else "cells"


def say(out: Console, text: str, style: str = "") -> None:
    """One line, never folded: commands and names are copied from it."""
    out.print(Text(text, style=style), soft_wrap=True)
