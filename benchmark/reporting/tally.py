"""Counts over the results of one run: pure, and the same for the console and every report.

The unit is the cell without its repeat: a cell is convicted if one of its repeats is. Figures are never added up across
kinds; a count is a census of a named plan ("3 of 96 judged, 31 distinct stimuli"), not a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmark.boundaries import TABLE, Boundary
from benchmark.results import CellResult, Figure, Verdict

UNJUDGED = (Verdict.NOT_RUN, Verdict.NOT_APPLICABLE, Verdict.HARNESS_ERROR, Verdict.UNTESTABLE)


@dataclass(frozen=True)
class Line:
    """One line of the closing table: cells, how many of them were judged, distinct stimuli, and cells by figure."""

    boundary: Boundary | None
    cells: int
    judged: int
    stimuli: int
    figures: dict[Figure, int]
    """Figure → cells in which it is above zero."""


@dataclass(frozen=True)
class Example:
    """A kind of violation, how many cells show it, and the one that stands for them."""

    kind: str
    cells: int
    result: CellResult


@dataclass(frozen=True)
class Flaky:
    """A cell whose repeats disagree: ``violated k of n`` and its like."""

    cell: str
    verdicts: dict[Verdict, int]


def base(result: CellResult) -> str:
    """The cell's name without its repeat."""
    return result.cell.rpartition("@")[0]


def line(results: Sequence[CellResult], boundary: Boundary | None) -> Line:
    """The counts of these results."""
    judged = [result for result in results if result.verdict.judged]
    figures = {figure: len({base(one) for one in judged if getattr(one, figure) > 0}) for figure in Figure}
    return Line(
        boundary=boundary,
        cells=len({base(result) for result in results}),
        judged=len({base(result) for result in judged}),
        stimuli=len({result.stimulus for result in judged if result.stimulus}),
        figures=figures,
    )


def lines(results: Iterable[CellResult]) -> tuple[Line, ...]:
    """One line per boundary of the published table that has cells, and one for all of them (boundary None)."""
    every = tuple(results)
    if not every:
        return ()
    found = [[one for one in every if one.boundary == boundary] for boundary in TABLE]
    apart = [line(some, boundary) for boundary, some in zip(TABLE, found, strict=True) if some]
    return (*apart, line(every, None))


KINDS: dict[str, str] = {
    "duplicates": "extra: a duplicate",
    "strays": "extra: a stray",
    "compensated": "extra: made and undone again",
    "torn": "torn",
    "false_dedup": "false_dedup",
    "misreported": "misreported",
    "missing": "missing",
    "avoidable": "unresolved, though it was avoidable",
    "unresolved": "unresolved, and nothing could have settled it",
}
"""Field of a result → the kind of violation it shows, gravest first."""


def shows(result: CellResult, field: str) -> bool:
    """Whether a judged result shows the kind of this field."""
    if field == "unresolved":
        return result.unresolved > result.avoidable
    return bool(getattr(result, field) > 0)


def examples(results: Iterable[CellResult]) -> tuple[Example, ...]:
    """For each kind that occurs the cell that shows it best: on a truthful adapter, little else wrong, few calls."""
    judged = [result for result in results if result.verdict.judged]
    found = []
    for field, kind in KINDS.items():
        shown = [result for result in judged if shows(result, field)]
        if shown:
            first = min(shown, key=_clearest)
            found.append(Example(kind, len({base(one) for one in shown}), first))
    return tuple(found)


def _clearest(result: CellResult) -> tuple[object, ...]:
    wrong = sum(shows(result, field) for field in KINDS)
    return (not result.truthful, wrong, result.calls, result.upstream_requests, result.cell)


def verdicts(results: Iterable[CellResult]) -> dict[Verdict, int]:
    """Verdict → cells (repeats counted), in the order of the verdicts."""
    counts = Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in Verdict if counts[verdict]}


def reasons(results: Iterable[CellResult]) -> tuple[tuple[Verdict, str, int], ...]:
    """(verdict, reason, cells) of everything that was not judged, most frequent first within a verdict."""
    counts = Counter((result.verdict, result.reason) for result in results if not result.verdict.judged)
    ordered = sorted(counts.items(), key=lambda item: (UNJUDGED.index(item[0][0]), -item[1], item[0][1]))
    return tuple((verdict, reason, count) for (verdict, reason), count in ordered)


def reruns(results: Iterable[CellResult]) -> dict[str, int]:
    """Reason → how often a cell was run again for it."""
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.rerun_reasons or ("not recorded",) * result.reruns)
    return dict(counts.most_common())


def flaky(results: Iterable[CellResult]) -> tuple[Flaky, ...]:
    """Cells whose judged repeats do not agree."""
    repeats: dict[str, list[CellResult]] = {}
    for result in results:
        if result.verdict.judged:
            repeats.setdefault(base(result), []).append(result)
    return tuple(Flaky(cell, verdicts(some)) for cell, some in repeats.items() if len({one.verdict for one in some}) > 1)
