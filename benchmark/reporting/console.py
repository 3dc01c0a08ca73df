"""The end of a sweep on the console: boundary × figure, profile, a cell for each kind of violation, what was not judged."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmark.counting import summarise
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Figure, RunHeader, Verdict
from benchmark.summary import Counts, Side, Summary

WIDTH = 100
"""Columns where the output is no terminal."""

NARROW = 76
"""Below so many columns nothing stands side by side: no column would be readable."""

HEADINGS: dict[Figure, str] = {
    Figure.EXTRA: "extra",
    Figure.MISSING: "missing",
    Figure.FALSE_DEDUP: "false\ndedup",
    Figure.UNRESOLVED: "unre-\nsolved",
    Figure.TORN: "torn",
    Figure.MISREPORTED: "misre-\nported",
}

TREACHEROUS = "treacherous tool adapters (what they declare is untrue)"


def console(stream: TextIO | None = None) -> Console:
    """A console that obeys NO_COLOR and does not fold lines where nobody looks."""
    stream = sys.stdout if stream is None else stream
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def closing(out: Console, header: RunHeader, results: Sequence[CellResult], folder: Path | None = None) -> None:
    """Print everything that a finished sweep has to say."""
    conclude(out, summarise(header, results), folder)


def conclude(out: Console, run: Summary, folder: Path | None = None) -> None:
    """The same from its summary."""
    for side in run.sides:
        _figures(out, run.header.runtime, side)
        _profile(out, side)
    _violations(out, run)
    _promises(out, run)
    _settings(out, run)
    _flaky(out, run)
    _unjudged(out, run)
    _reruns(out, run)
    if folder is not None:
        say(out, f"Results: {folder}", "")
        say(out, f"  look at a cell:  bench show {shlex.quote(str(folder))} CELL", "dim")


def _figures(out: Console, runtime: str, side: Side) -> None:
    """Boundary × figure: a table, or a paragraph for each boundary where there is no room for one."""
    for roomy in (True, False):
        table = _table(runtime, side, roomy=roomy)
        if out.measure(table, options=out.options.update(max_width=1000)).maximum <= out.width:
            out.print(table)
            return
    paragraph(out, "", _title(runtime, side), "bold")
    rows = [(f"{row.number or '–':>2} {plain(row.boundary)}", row.counts) for row in side.boundaries]
    for name, counts in [*rows, ("   all", side.whole)]:
        paragraph(out, f"{name}: ", f"{counts.judged} of {counts.cells} judged, {counts.stimuli} stimuli")
        shown = [f"{figure} {counts.figure(figure)}" for figure in HEADINGS if counts.figure(figure)]
        if counts.judged:
            paragraph(out, "     ", ", ".join(shown) or "none shows a figure", "bold red" if shown else "dim")
    paragraph(out, "", "each figure: how many of the judged cells show it", "dim")


def _title(runtime: str, side: Side) -> str:
    return f"{plain(runtime)} · {'tool adapters that keep their contract' if side.truthful else TREACHEROUS}"


def _table(runtime: str, side: Side, *, roomy: bool) -> Table:
    table = Table(
        title=Text(_title(runtime, side), style="bold"),
        caption=Text("each figure: how many of the judged cells show it", style="dim"),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1) if roomy else 0,
        pad_edge=False,
    )
    table.add_column("boundary", no_wrap=True)
    table.add_column("judged", justify="right", no_wrap=True)
    table.add_column("stimuli", justify="right", no_wrap=True)
    for heading in HEADINGS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for row in side.boundaries:
        table.add_row(f"{row.number or '–':>2} {plain(row.boundary)}", *_cells_of(row.counts))
    table.add_section()
    table.add_row("   all", *_cells_of(side.whole))
    return table


def _cells_of(counts: Counts) -> tuple[str | Text, ...]:
    figures = (_count(counts.figure(figure), counts.judged) for figure in HEADINGS)
    return (f"{counts.judged} of {counts.cells}", str(counts.stimuli), *figures)


def _count(cells: int, judged: int) -> Text:
    if not judged:
        return Text("n/a", style="dim")
    return Text(str(cells), style="bold red" if cells else "dim")


def _profile(out: Console, side: Side) -> None:
    out.print()
    say(out, "Profile" if side.truthful else "Profile with treacherous adapters", "bold")
    for row in side.boundaries:
        paragraph(out, f"  {plain(row.boundary):<16} ", ", ".join(row.words))
    out.print()


def _violations(out: Console, run: Summary) -> None:
    if not run.examples:
        return
    say(out, "One cell for each kind", "bold")
    for example in run.examples:
        one = example.result
        blame = f", blame: {one.blame}" if one.blame and one.extra else ""
        lied = "" if one.truthful else ", treacherous adapter"
        say(out, f"  {example.kind} ({example.cells} {_cells(example.cells)}{blame}{lied}): {plain(one.reason)}", "red")
        say(out, f"    {plain(example.replay, 2000)}", "")
    out.print()


def _promises(out: Console, run: Summary) -> None:
    if not run.words:
        return
    say(out, "What its documents promise (truthful adapters)", "bold")
    for same in run.promises:
        paragraph(out, f"  {same[0].says:<16} ", plain(same[0].source, 400))
        for word in same:
            say(out, f"    {plain(word.boundary):<16} {word.held}", "red" if word.broken else "dim")
            if word.broken:
                say(out, f"      {plain(word.replay, 2000)}", "")
    out.print()


def _settings(out: Console, run: Summary) -> None:
    if not run.header.settings:
        return
    say(out, "Settings that are not its defaults", "bold")
    for name, told in run.header.settings.items():
        paragraph(out, f"  {plain(name, 80)} = ", plain(told, 400))
    out.print()


def _flaky(out: Console, run: Summary) -> None:
    if not run.flaky:
        return
    say(out, "Flaky: repeats of one cell disagree", "bold")
    for one in run.flaky:
        total = sum(one.verdicts.values())
        told = ", ".join(f"{verdict} {count} of {total}" for verdict, count in one.verdicts.items())
        say(out, f"  {plain(one.cell)}: {told}", "yellow")
    out.print()


def _unjudged(out: Console, run: Summary) -> None:
    say(out, "Verdicts: " + (", ".join(f"{count} {verdict}" for verdict, count in run.verdicts.items()) or "none"), "bold")
    for one in run.unjudged:
        style = "red" if one.verdict is Verdict.HARNESS_ERROR else "dim"
        say(out, f"  {one.runs:>5} {one.verdict}: {plain(one.reason, 300) or 'no reason recorded'}", style)
    out.print()


def _reruns(out: Console, run: Summary) -> None:
    if not run.reruns:
        return
    total = sum(run.reruns.values())
    say(out, f"Run again before a fault struck, because we were disturbed: {total} of {run.results} cells", "bold")
    for reason, count in run.reruns.items():
        say(out, f"  {count:>5} {plain(reason, 300)}", "dim")
    out.print()


def summary(header: RunHeader, results: Sequence[CellResult]) -> dict[str, object]:
    """What ``closing`` prints, as JSON."""
    run = summarise(header, results)

    def side(found: Side | None) -> dict[str, object]:
        lines = [(row.boundary, row.counts) for row in found.boundaries] + [("all", found.whole)] if found else []
        return {
            "boundaries": [
                {
                    "boundary": boundary,
                    "cells": counts.cells,
                    "judged": counts.judged,
                    "stimuli": counts.stimuli,
                    "figures": {str(figure): counts.figure(figure) for figure in Figure},
                }
                for boundary, counts in lines
            ],
            "profile": {row.boundary: list(row.words) for row in found.boundaries} if found else {},
        }

    return {
        "run": header.run,
        "runtime": header.runtime,
        "answer": run.answer,
        "truthful": side(run.truthful),
        "treacherous": side(run.treacherous),
        "verdicts": {str(verdict): count for verdict, count in run.verdicts.items()},
        "unjudged": [{"verdict": one.verdict, "reason": one.reason, "cells": one.runs} for one in run.unjudged],
        "examples": [
            {"kind": one.kind, "cells": one.cells, "cell": one.result.cell, "replay": one.replay} for one in run.examples
        ],
        "promises": [{**word.model_dump(mode="json"), "held": word.held} for word in run.words],
        "settings": header.settings,
        "flaky": [{"cell": one.cell, "verdicts": one.verdicts} for one in run.flaky],
        "reruns": run.reruns,
    }


def _cells(count: int) -> str:
    return "cell" if count == 1 else "cells"


def say(out: Console, text: str, style: str = "") -> None:
    """One line, never folded: commands and names are copied from it."""
    out.print(Text(text, style=style), soft_wrap=True)


def paragraph(out: Console, mark: str, text: str, style: str = "") -> None:
    """Prose behind ``mark``, folded at the console's width with a hanging indent (a shallow one behind a long mark)."""
    deep = len(mark) if len(mark) <= out.width // 3 else len(mark) - len(mark.lstrip()) + 4
    folded = textwrap.wrap(
        text,
        max(out.width, len(mark) + 8),
        initial_indent=mark,
        subsequent_indent=" " * deep,
        break_on_hyphens=False,
    )
    for line in folded or [mark.rstrip()]:
        say(out, line, style)


def pairs(out: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Labels and texts side by side; one below the other where there is no room."""
    told = list(rows)
    width = max((len(label) for label, _ in told), default=0) + 4
    for label, text in told:
        if out.width < NARROW or width > out.width // 2:
            say(out, label, "bold")
            paragraph(out, "  ", text)
        else:
            paragraph(out, f"  {label}".ljust(width), text)
