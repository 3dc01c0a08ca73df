"""Progress of a sweep: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from benchmark.results import CellResult, Verdict

EVERY_S = 15.0
"""Seconds between two plain lines."""

Advance = Callable[[CellResult], None]


@contextmanager
def progress(total: int, console: Console, clock: Callable[[], float] = time.monotonic) -> Iterator[Advance]:
    """Shows how far ``total`` cells are; call what it yields with each result."""
    if console.is_terminal and not console.is_dumb_terminal:
        with _bar(total, console) as advance:
            yield advance
    else:
        yield _Lines(total, console, clock)


@contextmanager
def _bar(total: int, console: Console) -> Iterator[Advance]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[found]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    counts: Counter[Verdict] = Counter()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("cells", total=total, found="")

        def advance(result: CellResult) -> None:
            counts[result.verdict] += 1
            bar.update(task, advance=1, found=_found(counts))

        yield advance


class _Lines:
    """A line at the first cell, every quarter of a minute, and at the last one."""

    def __init__(self, total: int, console: Console, clock: Callable[[], float]) -> None:
        self._total, self._console, self._clock = total, console, clock
        self._began = self._told = clock()
        self._counts: Counter[Verdict] = Counter()

    def __call__(self, result: CellResult) -> None:
        self._counts[result.verdict] += 1
        done, now = sum(self._counts.values()), self._clock()
        if done not in (1, self._total) and now - self._told < EVERY_S:
            return
        self._told = now
        left = (now - self._began) / done * (self._total - done)
        found = _found(self._counts)
        parts = [
            f"{done} of {self._total} cells",
            *([found] if found else []),
            *([f"{_span(left)} left"] if 1 < done != self._total else []),
        ]
        self._console.print(Text(" · ".join(parts)), soft_wrap=True)


def _found(counts: Counter[Verdict]) -> str:
    """What went wrong so far; nothing while nothing did."""
    bad = (Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.UNRESOLVED, Verdict.UNTESTABLE, Verdict.HARNESS_ERROR)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in bad if counts[verdict])


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
