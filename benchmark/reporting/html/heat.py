"""Heat maps: for each figure a small panel, with rows of workloads (adapters, contracts) and columns of boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.reporting.html.words import FIGURES, number_of
from benchmark.results import Figure
from benchmark.summary import Counts, Pane, Side

MOST = 24
"""Rows of a panel; those with the most violations come into it, the others are counted below it."""


@dataclass(frozen=True)
class Square:
    """One square: cells that show the figure, of the judged ones."""

    shown: int
    judged: int

    @property
    def percent(self) -> int:
        """0 only where no cell shows it, 100 only where all do."""
        if not self.shown or not self.judged:
            return 0
        return 100 if self.shown == self.judged else min(99, max(1, round(100 * self.shown / self.judged)))


@dataclass(frozen=True)
class Line:
    """One row of a panel."""

    value: str
    squares: tuple[Square | None, ...]
    """None: no such cells."""


@dataclass(frozen=True)
class Panel:
    """One figure."""

    figure: Figure
    sign: str
    meaning: str
    shown: int
    judged: int
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Heat:
    """The panels of one side by one coordinate."""

    by: str
    truthful: bool
    boundaries: tuple[tuple[str, str], ...]
    """(number, slug) of each column."""
    panels: tuple[Panel, ...]
    more: int
    """Values without a row."""


def heats(side: Side) -> tuple[Heat, ...]:
    """By workload, by adapter and by contract."""
    return tuple(
        _heat(side, by, panes)
        for by, panes in (("workload", side.workloads), ("adapter", side.adapters), ("contract", side.contracts))
    )


def _heat(side: Side, by: str, panes: Sequence[Pane]) -> Heat:
    boundaries = [row.boundary for row in side.boundaries]
    counts = {(pane.boundary, pane.value): pane.counts for pane in panes}
    values = sorted({pane.value for pane in panes})
    kept = sorted(sorted(values, key=lambda value: -_wrong(panes, value))[:MOST])
    return Heat(
        by=by,
        truthful=side.truthful,
        boundaries=tuple((number_of(boundary), boundary) for boundary in boundaries),
        panels=tuple(
            Panel(
                figure=figure,
                sign=sign.sign,
                meaning=sign.meaning,
                shown=side.whole.figure(figure),
                judged=side.whole.judged,
                lines=tuple(
                    Line(value, tuple(_square(counts.get((boundary, value)), figure) for boundary in boundaries))
                    for value in kept
                ),
            )
            for figure, sign in FIGURES.items()
            if figure is not Figure.TORN or side.whole.figure(figure)
        ),
        more=len(values) - len(kept),
    )


def _wrong(panes: Sequence[Pane], value: str) -> int:
    return sum(pane.counts.figure(figure) for pane in panes if pane.value == value for figure in Figure)


def _square(counts: Counts | None, figure: Figure) -> Square | None:
    return None if counts is None else Square(counts.figure(figure), counts.judged)
