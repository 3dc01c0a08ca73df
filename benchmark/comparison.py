"""What a comparison of runs holds: marks, cells side by side, pairs, and the league table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from benchmark.contracts import Frozen
from benchmark.results import SCHEMA_VERSION, Blame, CellResult, Figure, RunHeader, Verdict


class Mark(StrEnum):
    """What became of a cell, gravest first."""

    BROKE = "broke"
    WORSE = "worse"
    CHANGED = "changed"
    BETTER = "better"
    FIXED = "fixed"
    NOT_COMPARABLE = "not comparable"
    ONLY_HERE = "only here"
    SAME = "same"

    @property
    def moved(self) -> bool:
        """Whether the cell behaves otherwise than before."""
        return self in (Mark.BROKE, Mark.WORSE, Mark.CHANGED, Mark.BETTER, Mark.FIXED)

    @property
    def means(self) -> str:
        """What a person is told of the mark."""
        return _MEANING[self]


_MEANING: dict[Mark, str] = {
    Mark.BROKE: "was correct, is not any more",
    Mark.WORSE: "a graver verdict, or the same one with more wrong and nothing less",
    Mark.CHANGED: "wrong in another way: one figure traded for another, or somebody else to blame",
    Mark.BETTER: "less wrong, and nothing more wrong",
    Mark.FIXED: "was not correct, is now",
    Mark.NOT_COMPARABLE: "planned in both, but one side was not judged, or was judged by another suite",
    Mark.ONLY_HERE: "in one of the two plans only",
    Mark.SAME: "the same verdict and figures",
}

GRAVITY: dict[Verdict, int] = {
    Verdict.CORRECT: 0,
    Verdict.UNRESOLVED: 1,
    Verdict.INCOMPLETE: 2,
    Verdict.VIOLATED: 3,
}
"""Verdict of a judged cell → how grave it is."""

COUNTS = (*(figure.value for figure in Figure), "avoidable")
"""Counts that say better or worse."""

PARTS = ("duplicates", "strays", "compensated")
"""Counts that only say: otherwise."""


class Contestant(Frozen):
    """One of the compared runs."""

    label: str = Field(description="How the user called it; tells it apart from the others.")
    run: str
    runtime: str
    title: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, str] = Field(default_factory=dict)
    started: str
    bench: str
    model: bool
    suite_hash: str
    schema_version: int
    planned: int = Field(description="Planned cells, repeats counted apart.")


@dataclass(frozen=True)
class Entry:
    """A run as ``compare`` takes it: what the user called it, and what is known of it."""

    label: str
    header: RunHeader
    results: tuple[CellResult, ...]


class Side(Frozen):
    """One cell in one run, all its judged repeats together; the figures are those of its worst repeat, each for itself."""

    cell: str = Field(description="Name of the repeat that stands for all: the first with the gravest verdict.")
    verdict: Verdict
    reason: str
    repeats: int = Field(description="Judged repeats; 0: the cell was not judged.")
    verdicts: dict[Verdict, int] = Field(description="Verdict → judged repeats.")
    figures: dict[str, int] = Field(description="extra, missing … and avoidable, duplicates, strays, compensated.")
    blame: Blame | None = None
    flaky: bool = Field(default=False, description="Repeats disagree in verdict or figures.")


class Change(Frozen):
    """A cell of one plan or both, and what became of it."""

    cell: str = Field(description="The cell's name without its repeat.")
    boundary: str
    workload: str
    adapter: str
    truthful: bool
    mark: Mark
    why: str
    before: Side | None = None
    after: Side | None = None
    p: float | None = Field(default=None, description="Of the exact test, after Holm's correction; flaky cells only.")


class Pair(Frozen):
    """The first run against another one."""

    before: str = Field(description="Label of the first run.")
    after: str
    compared: int = Field(description="Cells judged in both.")
    marks: dict[Mark, int] = Field(description="Mark → cells, truthful adapters and treacherous ones together.")
    boundaries: dict[str, dict[Mark, int]] = Field(description="Boundary → mark → cells.")
    changes: tuple[Change, ...] = Field(
        description="Gravest first, then in the plan's order; cells that stayed the same left out."
    )
    caveats: tuple[str, ...] = ()


class Standing(Frozen):
    """One line of the league table: a figure at a boundary, for every run."""

    boundary: str = Field(description="A boundary's slug, or all.")
    figure: Figure
    truthful: bool
    judged: int = Field(description="Cells judged in every run that can be compared.")
    cells: tuple[int | None, ...] = Field(
        description="For each run: how many of these show the figure; null: not comparable."
    )


class Comparison(Frozen):
    """What ``bench compare`` found."""

    schema_version: int = SCHEMA_VERSION
    runs: tuple[Contestant, ...]
    across_suites: bool = False
    pairs: tuple[Pair, ...]
    league: tuple[Standing, ...]
