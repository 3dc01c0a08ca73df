"""The summary of one run: the one typed object that every reporter reads, and the only place where figures are counted.

``benchmark.counting`` makes it in one pass over the results; console, HTML, JUnit, Markdown, CSV and comparison show it.
It is JSON both ways (``model_dump_json``, ``model_validate_json``), so that it can be published and read again.

How things are counted, everywhere:

- The unit is the **cell without its repeat**; a cell shows a figure if one of its judged repeats does (``shown``).
  ``totals`` add up what the judged repeats hold: effects for effect figures, intents for claim figures.
- Figures are never added up across kinds. Truthful and treacherous adapters stand apart (``Side``).
- A count is a census of a named plan ("3 of 96 judged, 31 stimuli"), not a sample.
"""

from __future__ import annotations

import shlex
from itertools import groupby

from pydantic import Field

from benchmark.contracts import Frozen
from benchmark.entries import Says
from benchmark.promises import BREACHES
from benchmark.results import Blame, CellResult, Figure, RunHeader, Verdict

SCHEMA_VERSION = 1

FIELDS = (
    "extra",
    "duplicates",
    "strays",
    "compensated",
    "missing",
    "torn",
    "false_dedup",
    "unresolved",
    "avoidable",
    "misreported",
)
"""Fields of a result that count something bad: the six published figures and their parts (``expectations.FIGURES``)."""

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


class Counts(Frozen):
    """The counts of some results."""

    cells: int = Field(default=0, description="Distinct cells, repeats not counted.")
    judged: int = Field(default=0, description="Cells of which a repeat was judged: the eligible ones.")
    runs: int = Field(default=0, description="Results, repeats counted.")
    judged_runs: int = Field(default=0, description="Judged results, repeats counted.")
    stimuli: int = Field(default=0, description="Distinct stimuli that judged cells saw.")
    shown: dict[str, int] = Field(
        default_factory=dict, description="Field (FIELDS) → cells in which it is above zero; all listed."
    )
    totals: dict[str, int] = Field(default_factory=dict, description="Field (FIELDS) → sum over judged results; all listed.")
    verdicts: dict[Verdict, int] = Field(default_factory=dict, description="Verdict → results; only those that occur.")

    def figure(self, figure: Figure) -> int:
        """Cells that show a published figure."""
        return self.shown.get(figure.value, 0)


class Cost(Frozen):
    """Secondary figures over judged results; seconds and bytes. None: nothing to measure."""

    answers: int = Field(default=0, description="Results with an answer after the fault.")
    unanswered: int = Field(default=0, description="Results that were struck and never answered.")
    answer_s_median: float | None = Field(
        default=None, description="From the strike to the runtime's outcome: the time unknown."
    )
    answer_s_max: float | None = None
    wall_s_median: float | None = Field(default=None, description="One cell, processes and quiescence included.")
    added_s: float | None = Field(default=None, description="wall_s_median above that of the controls of the same side.")
    calls: int = Field(default=0, description="tools/call, all together.")
    upstream_requests: int = 0
    model_requests: int = 0
    state_bytes_median: float | None = Field(default=None, description="Bytes in state_dir at the end.")
    state_bytes_max: int = 0


class Row(Frozen):
    """One boundary of one side: a line of the closing table."""

    boundary: str = Field(description="Slug; in the published table's order.")
    number: int | None = Field(description="In the published table; 0: the control, None: not in it.")
    words: tuple[str, ...] = Field(description="The profile: what was seen, or that nothing was, in how many stimuli.")
    counts: Counts
    cost: Cost


class Pane(Frozen):
    """One square of a heat map: a boundary and a value of another coordinate."""

    boundary: str
    value: str
    counts: Counts


class Side(Frozen):
    """The results of truthful adapters, or those of treacherous ones."""

    truthful: bool
    whole: Counts
    cost: Cost
    boundaries: tuple[Row, ...] = Field(description="Only those with results.")
    workloads: tuple[Pane, ...] = Field(description="boundary × workload, only pairs with results, sorted.")
    adapters: tuple[Pane, ...] = Field(description="boundary × adapter.")
    contracts: tuple[Pane, ...] = Field(description="boundary × contract kind.")
    blame: dict[Blame, int] = Field(description="Who multiplied first → cells with extra effects.")
    barred: int = Field(
        default=0,
        description="Cells with missing effects in which the fault took every attempt: no runtime could have made them.",
    )
    invited: int = Field(
        description="Cells with extra effects whose re-issue was asked for by an answer or the specification."
    )
    spec_mandated: int = Field(
        default=0, description="Cells whose extra effects were all made by calls that the specification demanded."
    )

    def row(self, boundary: str) -> Row | None:
        """The row of a boundary, if it has results."""
        return next((row for row in self.boundaries if row.boundary == boundary), None)


class Example(Frozen):
    """A kind of violation, how many cells show it, and the one that stands for them."""

    field: str = Field(description="A key of KINDS.")
    kind: str
    cells: int
    result: CellResult
    replay: str = Field(description="The command that runs the cell again.")
    elsewhere: dict[str, str] = Field(
        default_factory=dict, description="Workload → the cell that shows the kind best in it; at most 24, by name."
    )


class Flaky(Frozen):
    """A cell whose judged repeats disagree; it stays convicted."""

    cell: str = Field(description="Without the repeat.")
    verdicts: dict[Verdict, int]


class Unjudged(Frozen):
    """Why results were not judged."""

    verdict: Verdict
    reason: str
    runs: int


class Word(Frozen):
    """What the runtime's own documents promise at a boundary, and in how many cells it did not hold."""

    boundary: str
    says: Says
    source: str
    broken: int
    judged: int
    replay: str = Field(default="", description="The command that runs one of the cells again in which it did not hold.")

    @property
    def held(self) -> str:
        """Whether it held, in words."""
        if not self.judged:
            return "not judged"
        if self.broken:
            return f"broken in {self.broken:,} of {self.judged:,} cells"
        if not BREACHES[self.says].figures:
            return "nothing to break"
        return f"held in {self.judged:,} of {self.judged:,} cells"


class Summary(Frozen):
    """Everything that reporters say about one run, but for the cells themselves."""

    schema_version: int = SCHEMA_VERSION
    header: RunHeader = Field(description="run.json without its `cells`.")
    planned: int = Field(description="Cells of the plan, repeats counted.")
    left: int = Field(description="Planned cells without a result.")
    answer: str = Field(description="What was found, in one plain sentence (truthful adapters).")
    truthful: Side | None = Field(description="None: no results on truthful adapters.")
    treacherous: Side | None
    verdicts: dict[Verdict, int] = Field(
        description="Verdict → results, in the order of the verdicts; only those that occur."
    )
    unjudged: tuple[Unjudged, ...] = Field(description="Most frequent first within a verdict.")
    examples: tuple[Example, ...] = Field(description="One for each kind that occurs, gravest first.")
    flaky: tuple[Flaky, ...]
    reruns: dict[str, int] = Field(description="Reason → how often a cell was run again for it, before any fault struck.")
    words: tuple[Word, ...] = Field(description="The runtime's own promises.")
    notes: tuple[str, ...] = Field(default=(), description="What could not be read: FILE:LINE: why.")

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that have results, truthful first."""
        return tuple(side for side in (self.truthful, self.treacherous) if side is not None)

    @property
    def promises(self) -> tuple[tuple[Word, ...], ...]:
        """The words in the order of the entry; those that one sentence of the documents gives stand together."""
        return tuple(tuple(same) for _, same in groupby(self.words, key=lambda word: (word.says, word.source)))

    @property
    def results(self) -> int:
        """Results, repeats counted."""
        return sum(self.verdicts.values())

    def replay(self, cell: str) -> str:
        """The command that runs one cell of this run again."""
        return replay(self.header, cell)


def replay(header: RunHeader, cell: str) -> str:
    """The command that runs one cell again, quoted for the shell."""
    words = ["bench", "run", "--runtime", header.path or header.runtime, "--cell", cell]
    words += ["--seed", str(header.seed)] if header.seed else []
    for folder in header.catalogs:
        words += ["--catalog", folder]
    return shlex.join(words)


def base(result: CellResult) -> str:
    """The cell's name without its repeat."""
    return result.cell.rpartition("@")[0]


def shows(result: CellResult, field: str) -> bool:
    """Whether a result, which must be judged, shows the kind of this field (a key of KINDS)."""
    if field == "unresolved":
        return result.unresolved > result.avoidable
    return bool(getattr(result, field) > 0)
