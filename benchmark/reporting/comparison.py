"""A comparison on the console: marks by boundary, every cell that moved, what could not be compared, the league table."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmark.boundaries import TABLE, Boundary
from benchmark.comparison import Change, Comparison, Contestant, Mark, Pair, Standing
from benchmark.reporting.console import say
from benchmark.reporting.untrusted import plain
from benchmark.results import Figure

MOST = 60
"""Cells listed for one pair, unless all are asked for."""

SIGNS: dict[Mark, str] = {
    Mark.BROKE: "✖",
    Mark.WORSE: "▲",
    Mark.CHANGED: "~",
    Mark.BETTER: "▼",
    Mark.FIXED: "✔",
    Mark.NOT_COMPARABLE: "?",
    Mark.ONLY_HERE: "·",
    Mark.SAME: "=",
}
"""A sign for each mark, so that colour never stands alone."""

_STYLES: dict[Mark, str] = {
    Mark.BROKE: "bold red",
    Mark.WORSE: "red",
    Mark.CHANGED: "yellow",
    Mark.BETTER: "green",
    Mark.FIXED: "bold green",
}


def tell(out: Console, found: Comparison, names: Sequence[str], *, every: bool = False) -> None:
    """Print it all; ``names``: what the user called the runs, for the commands to copy."""
    for run in found.runs:
        say(out, f"{plain(run.label)}: {described(run)}")
    for pair, name in zip(found.pairs, names[1:], strict=True):
        out.print()
        _pair(out, pair, (names[0], name), every)
    if found.league:
        out.print()
        _league(out, found)


def described(run: Contestant) -> str:
    """The runtime with its versions and settings, and when it ran, in one line."""
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    settings = ", ".join(f"{name}={value}" for name, value in run.settings.items())
    parts = [run.title or run.runtime, versions, settings, f"{run.planned} cells planned", run.started]
    return plain(" · ".join(part for part in parts if part), 400)


def _pair(out: Console, pair: Pair, names: tuple[str, str], every: bool) -> None:
    say(out, f"{plain(pair.before)} → {plain(pair.after)}: {pair.compared} cells judged in both", "bold")
    for caveat in pair.caveats:
        say(out, f"  note: {plain(caveat, 300)}", "yellow")
    if pair.marks:
        out.print(_marks(pair))
    moved = [change for change in pair.changes if change.mark.moved]
    _moved(out, moved if every else moved[:MOST])
    if len(moved) > MOST and not every:
        say(out, f"  … {len(moved) - MOST} more; --all lists them, --html DIR makes pages of them", "dim")
    _uncompared(out, pair.changes)
    if moved:
        words = ["bench", "compare", *names, "--cell", moved[0].after.cell if moved[0].after else moved[0].cell]
        say(out, f"both histories of a cell, side by side:  {shlex.join(words)}", "dim")


def _marks(pair: Pair) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")
    table.add_column("boundary", no_wrap=True)
    for mark in pair.marks:
        table.add_column(f"{SIGNS[mark]} {mark}".replace("not comparable", "not com-\nparable"), justify="right")
    for slug, marks in pair.boundaries.items():
        table.add_row(_boundary(slug), *(_count(marks.get(mark, 0), mark) for mark in pair.marks))
    table.add_section()
    table.add_row("   all", *(_count(count, mark) for mark, count in pair.marks.items()))
    return table


def _boundary(slug: str) -> str:
    number = TABLE[Boundary(slug)].number if slug in set(Boundary) else None
    return f"{number or '–':>2} {plain(slug)}"


def _count(cells: int, mark: Mark) -> Text:
    return Text(str(cells) if cells else "–", style=_STYLES.get(mark, "") if cells else "dim")


def _moved(out: Console, changes: Sequence[Change]) -> None:
    for slug in dict.fromkeys(change.boundary for change in changes):
        say(out, f"{_boundary(slug).strip()}", "bold")
        for change in (one for one in changes if one.boundary == slug):
            lies = "" if change.truthful else " (treacherous adapter)"
            say(out, f"  {SIGNS[change.mark]} {change.mark:<8} {plain(change.cell)}{lies}", _STYLES.get(change.mark, ""))
            say(out, f"      {plain(change.why, 300)}")
            if change.after is not None and change.after.reason:
                say(out, f"      {plain(change.after.reason, 300)}", "dim")


def _uncompared(out: Console, changes: Iterable[Change]) -> None:
    reasons = Counter((one.mark, one.why) for one in changes if one.mark in (Mark.NOT_COMPARABLE, Mark.ONLY_HERE))
    for (mark, why), cells in sorted(reasons.items(), key=lambda item: (-item[1], item[0][1])):
        say(out, f"  {SIGNS[mark]} {cells:>5} {mark}: {plain(why, 200)}", "dim")


def _league(out: Console, found: Comparison) -> None:
    for truthful in (True, False):
        lines = [line for line in found.league if line.truthful is truthful]
        if not lines:
            continue
        which = "tool adapters that keep their contract" if truthful else "treacherous tool adapters"
        say(out, f"League · {which} · cells judged in every run", "bold")
        shown = [figure for figure in Figure if any(_above(line) for line in lines if line.figure is figure)]
        for figure in shown:
            out.print(_standings(figure, [line for line in lines if line.figure is figure], found.runs))
        clean = [figure.value for figure in Figure if figure not in shown]
        if clean:
            say(out, f"  nobody shows: {', '.join(clean)}", "dim")


def _above(line: Standing) -> bool:
    return any(line.cells)


def _standings(figure: Figure, lines: Sequence[Standing], runs: Sequence[Contestant]) -> Table:
    table = Table(title=Text(figure.value, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("boundary", no_wrap=True)
    table.add_column("judged", justify="right")
    for run in runs:
        table.add_column(plain(run.label, 24), justify="right")
    for line in lines:
        if line.boundary == "all":
            table.add_section()
        cells = ("n/c" if count is None else str(count) for count in line.cells)
        table.add_row("   all" if line.boundary == "all" else _boundary(line.boundary), str(line.judged), *cells)
    return table
