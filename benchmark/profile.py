"""The profile: what a runtime was seen to do at each boundary, in words, and never more than that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmark.boundaries import TABLE
from benchmark.results import CellResult, Figure

WORDS: dict[Figure, str] = {
    Figure.EXTRA: "duplicates",
    Figure.TORN: "tears",
    Figure.MISSING: "loses",
    Figure.FALSE_DEDUP: "dedups falsely",
    Figure.MISREPORTED: "misreports",
    Figure.UNRESOLVED: "stops",
}
"""The word for each figure, in the order in which they are listed."""


@dataclass(frozen=True)
class Tally:
    """Cells in which a figure was above zero, of the judged cells, and the distinct stimuli these saw."""

    cells: int
    judged: int
    stimuli: int

    def __str__(self) -> str:
        return f"{self.cells} of {self.judged} judged, {self.stimuli} stimul{'us' if self.stimuli == 1 else 'i'}"


Tallies = dict[str, dict[Figure, Tally]]
"""Boundary slug (in the table's order) → figure → tally."""


def tallies(results: Iterable[CellResult], *, truthful: bool = True) -> Tallies:
    """A tally per boundary and figure; of truthful adapters, or of the treacherous ones alone."""
    by_boundary: dict[str, list[CellResult]] = {}
    for result in results:
        if result.truthful is truthful:
            by_boundary.setdefault(result.boundary, []).append(result)
    order = [boundary.value for boundary in TABLE]
    found: Tallies = {}
    for slug in sorted(by_boundary, key=lambda name: order.index(name) if name in order else len(order)):
        judged = [result for result in by_boundary[slug] if result.verdict.judged]
        stimuli = len({result.stimulus for result in judged})
        found[slug] = {
            figure: Tally(sum(getattr(result, figure.value) > 0 for result in judged), len(judged), stimuli)
            for figure in WORDS
        }
    return found


def profile(results: Iterable[CellResult], *, truthful: bool = True) -> dict[str, list[str]]:
    """Boundary slug → words; ``no violation in k stimuli`` where there is none, ``not judged`` where no cell was."""
    every = tuple(results)
    mandated = Counter(
        result.boundary
        for result in every
        if result.truthful is truthful and result.verdict.judged and 0 < result.extra <= result.spec_mandated
    )
    return {slug: _words(row, mandated[slug]) for slug, row in tallies(every, truthful=truthful).items()}


def _words(row: dict[Figure, Tally], mandated: int) -> list[str]:
    tally = row[Figure.EXTRA]
    return words({figure: row[figure].cells for figure in WORDS}, tally.judged, tally.stimuli, mandated)


def words(shown: Mapping[Figure, int], judged: int, stimuli: int, mandated: int = 0) -> list[str]:
    """The words for cells by figure, of so many judged cells and distinct stimuli.

    ``mandated``: cells whose extra effects the specification demanded, all of them.
    """
    found = [word for figure, word in WORDS.items() if shown.get(figure)]
    if mandated and shown.get(Figure.EXTRA) == mandated:
        found[0] = "duplicates as specified"
    if found:
        return found
    if not judged:
        return ["not judged"]
    return [f"no violation in {stimuli} stimul{'us' if stimuli == 1 else 'i'}"]
