"""Makes the summary of a run in one pass over its results: linear, and it keeps none of them."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from statistics import median

from benchmark.answer import answer
from benchmark.boundaries import TABLE, Boundary
from benchmark.entries import Promise
from benchmark.profile import words
from benchmark.promises import breaks
from benchmark.results import Blame, CellResult, Figure, RunHeader, Verdict
from benchmark.summary import (
    FIELDS,
    KINDS,
    Cost,
    Counts,
    Example,
    Flaky,
    Pane,
    Row,
    Side,
    Summary,
    Unjudged,
    Word,
    base,
    replay,
    shows,
)

_ORDER = {boundary.value: index for index, boundary in enumerate(TABLE)}
_NUMBER = {boundary.value: row.number for boundary, row in TABLE.items()}
_VERDICTS = {verdict: index for index, verdict in enumerate(Verdict)}
_SEEN, _JUDGED, _FIRST_FIELD = 0, 1, 2
_FIRST_VERDICT = _FIRST_FIELD + len(FIELDS)
_TAKEN = frozenset({Boundary.BEFORE_DISPATCH, Boundary.BEFORE_COMMIT})
_MISSING = 1 << (_FIRST_FIELD + FIELDS.index("missing"))
_EXTRA = 1 << (_FIRST_FIELD + FIELDS.index("extra"))
_JUDGED_VERDICTS = frozenset(index for verdict, index in _VERDICTS.items() if verdict.judged)
_values = attrgetter(*FIELDS)
ELSEWHERE = 24
"""Workloads for which an example names a cell."""

Clearness = tuple[bool, int, int, int, str]
"""How well a result stands for its kind, best first: on a truthful adapter, little else wrong, few calls."""


def summarise(header: RunHeader, results: Iterable[CellResult], notes: Iterable[str] = ()) -> Summary:
    """The summary of these results; each cell's last line only, as ``Store.results`` and ``reading`` give them."""
    counting = Counting(header)
    for result in results:
        counting.add(result)
    return counting.finish(notes)


class Counting:
    """The running counts; ``add`` every result once, then ``finish``."""

    def __init__(self, header: RunHeader) -> None:
        self._header = header
        self._sides = {True: _Side(), False: _Side()}
        self._masks: dict[str, int] = {}  # cell without repeat → bits: seen, judged, fields shown, verdicts
        self._repeats: dict[str, Counter[Verdict]] = {}
        self._reasons: Counter[tuple[Verdict, str]] = Counter()
        self._reruns: Counter[str] = Counter()
        self._best: dict[str, tuple[Clearness, CellResult]] = {}
        self._best_in: dict[str, dict[str, Clearness]] = {}  # kind → workload → its clearest cell
        self._shown: dict[str, set[str]] = {}
        # each with the cells that break it: without their repeat → with it
        self._promises = [
            (promise, boundary, dict[str, str]()) for promise in header.promises for boundary in promise.boundaries
        ]
        self._planned_seen = 0
        self._planned = frozenset(header.cells)

    def add(self, result: CellResult) -> None:
        """Count one result."""
        seen = _Seen(result)
        name = base(result)
        old = self._masks.get(name, 0)
        self._masks[name] = old | seen.mask
        new = seen.mask & ~old
        side = self._sides[result.truthful]
        for counts in side.of(result):
            counts.add(seen, new)
        if result.cell in self._planned:
            self._planned_seen += 1
        if result.reruns:
            self._reruns.update(result.rerun_reasons or ("not recorded",) * result.reruns)
        if not seen.judged:
            self._reasons[result.verdict, result.reason] += 1
            return
        side.pay(result)
        if old:
            self._repeat(name, old, result)
        if seen.hits:
            side.blame(result, new)
            self._exemplify(name, result)
            self._promised(name, result)

    def finish(self, notes: Iterable[str] = ()) -> Summary:
        """The summary of everything added so far."""
        truthful, treacherous = (self._sides[kept].finish(kept) for kept in (True, False))
        verdicts: Counter[Verdict] = Counter()
        for side in (truthful, treacherous):
            verdicts.update(side.whole.verdicts if side else {})
        return Summary(
            header=self._header.model_copy(update={"cells": ()}),
            planned=len(self._header.cells),
            left=len(self._planned) - self._planned_seen,
            answer=answer(truthful),
            truthful=truthful,
            treacherous=treacherous,
            verdicts=_ordered(verdicts),
            unjudged=self._unjudged(),
            examples=self._examples(),
            flaky=tuple(
                Flaky(cell=cell, verdicts=_ordered(found))
                for cell, found in self._repeats.items()
                if sum(1 for verdict in found if verdict.judged) > 1
            ),
            reruns=dict(self._reruns.most_common()),
            words=tuple(self._word(*promised, truthful) for promised in self._promises),
            notes=tuple(notes),
        )

    def _repeat(self, name: str, old: int, result: CellResult) -> None:
        """Count the verdicts of cells that have repeats; the first repeat's stands in its mask until then."""
        if name not in self._repeats:
            first = [
                verdict for verdict, index in _VERDICTS.items() if verdict.judged and old >> (_FIRST_VERDICT + index) & 1
            ]
            self._repeats[name] = Counter(first)
        self._repeats[name][result.verdict] += 1

    def _exemplify(self, name: str, result: CellResult) -> None:
        kinds = [kind for kind in KINDS if shows(result, kind)]
        clear = (not result.truthful, len(kinds), result.calls, result.upstream_requests, result.cell)
        for kind in kinds:
            self._shown.setdefault(kind, set()).add(name)
            best = self._best.get(kind)
            if best is None or clear < best[0]:
                self._best[kind] = clear, result
            there = self._best_in.setdefault(kind, {})
            if result.workload not in there or clear < there[result.workload]:
                there[result.workload] = clear

    def _examples(self) -> tuple[Example, ...]:
        return tuple(
            Example(
                field=name,
                kind=kind,
                cells=len(self._shown[name]),
                result=self._best[name][1],
                replay=replay(self._header, self._best[name][1].cell),
                elsewhere={workload: clear[-1] for workload, clear in sorted(self._best_in[name].items())[:ELSEWHERE]},
            )
            for name, kind in KINDS.items()
            if name in self._best
        )

    def _promised(self, name: str, result: CellResult) -> None:
        if not result.truthful:
            return
        for promise, boundary, broken in self._promises:
            if boundary == result.boundary and breaks(promise.says, result):
                broken.setdefault(name, result.cell)

    def _word(self, promise: Promise, boundary: str, broken: dict[str, str], side: Side | None) -> Word:
        row = side.row(boundary) if side else None
        return Word(
            boundary=boundary,
            says=promise.says,
            source=promise.source,
            broken=len(broken),
            judged=row.counts.judged if row else 0,
            replay=replay(self._header, broken[min(broken)]) if broken else "",
        )

    def _unjudged(self) -> tuple[Unjudged, ...]:
        ordered = sorted(self._reasons.items(), key=lambda item: (_VERDICTS[item[0][0]], -item[1], item[0][1]))
        return tuple(Unjudged(verdict=verdict, reason=reason, runs=runs) for (verdict, reason), runs in ordered)


class _Seen:
    """What one result says about its cell: its verdict, the fields above zero, and both as bits."""

    __slots__ = ("hits", "judged", "mask", "stimulus", "verdict")

    def __init__(self, result: CellResult) -> None:
        self.verdict = _VERDICTS[result.verdict]
        self.judged = self.verdict in _JUDGED_VERDICTS
        self.stimulus = result.stimulus
        self.mask = 1 << _SEEN | 1 << (_FIRST_VERDICT + self.verdict)
        self.hits: list[tuple[int, int]] = []
        if self.judged:
            self.mask |= 1 << _JUDGED
            values = _values(result)
            if any(values):
                self.hits = [(index, value) for index, value in enumerate(values) if value > 0]
                for index, _ in self.hits:
                    self.mask |= 1 << (_FIRST_FIELD + index)


def _ordered(verdicts: Counter[Verdict]) -> dict[Verdict, int]:
    return {verdict: verdicts[verdict] for verdict in Verdict if verdicts[verdict]}


class _Counts:
    """Counts of some results, while they are added."""

    __slots__ = ("cells", "judged", "judged_runs", "runs", "shown", "stimuli", "totals", "verdicts")

    def __init__(self) -> None:
        self.cells = self.judged = self.runs = self.judged_runs = 0
        self.stimuli: set[str] = set()
        self.shown = [0] * len(FIELDS)
        self.totals = [0] * len(FIELDS)
        self.verdicts = [0] * len(Verdict)

    def add(self, seen: _Seen, new: int) -> None:
        """``new``: bits that no earlier repeat of the cell had."""
        self.runs += 1
        self.cells += new >> _SEEN & 1
        self.judged += new >> _JUDGED & 1
        self.verdicts[seen.verdict] += 1
        if not seen.judged:
            return
        self.judged_runs += 1
        if seen.stimulus:
            self.stimuli.add(seen.stimulus)
        for index, value in seen.hits:
            self.totals[index] += value
            self.shown[index] += new >> (_FIRST_FIELD + index) & 1

    def finish(self) -> Counts:
        return Counts(
            cells=self.cells,
            judged=self.judged,
            runs=self.runs,
            judged_runs=self.judged_runs,
            stimuli=len(self.stimuli),
            shown=dict(zip(FIELDS, self.shown, strict=True)),
            totals=dict(zip(FIELDS, self.totals, strict=True)),
            verdicts={verdict: count for verdict, count in zip(Verdict, self.verdicts, strict=True) if count},
        )


@dataclass
class _Bill:
    """What judged results cost, while they are added."""

    answers: array[float] = field(default_factory=lambda: array("d"))
    walls: array[float] = field(default_factory=lambda: array("d"))
    states: array[float] = field(default_factory=lambda: array("d"))
    unanswered: int = 0
    calls: int = 0
    upstream_requests: int = 0
    model_requests: int = 0

    def add(self, result: CellResult) -> None:
        self.walls.append(result.wall_s)
        self.states.append(result.state_bytes)
        if result.answer_s is not None:
            self.answers.append(result.answer_s)
        elif result.boundary != Boundary.NONE:
            self.unanswered += 1
        self.calls += result.calls
        self.upstream_requests += result.upstream_requests
        self.model_requests += result.model_requests

    def finish(self, control_s: float | None) -> Cost:
        wall_s = median(self.walls) if self.walls else None
        return Cost(
            answers=len(self.answers),
            unanswered=self.unanswered,
            answer_s_median=median(self.answers) if self.answers else None,
            answer_s_max=max(self.answers, default=None),
            wall_s_median=wall_s,
            added_s=None if wall_s is None or control_s is None else round(wall_s - control_s, 6),
            calls=self.calls,
            upstream_requests=self.upstream_requests,
            model_requests=self.model_requests,
            state_bytes_median=median(self.states) if self.states else None,
            state_bytes_max=int(max(self.states, default=0)),
        )


class _Side:
    """The counts of one side."""

    def __init__(self) -> None:
        self._whole, self._bill = _Counts(), _Bill()
        self._rows: defaultdict[str, _Counts] = defaultdict(_Counts)
        self._bills: defaultdict[str, _Bill] = defaultdict(_Bill)
        self._grids: tuple[defaultdict[tuple[str, str], _Counts], ...] = tuple(defaultdict(_Counts) for _ in range(3))
        self._blame: Counter[Blame] = Counter()
        self._invited = 0
        self._mandated: Counter[str] = Counter()
        self._barred = 0

    def of(self, result: CellResult) -> tuple[_Counts, ...]:
        """Every count that the result belongs to."""
        boundary = result.boundary
        workloads, adapters, contracts = self._grids
        return (
            self._whole,
            self._rows[boundary],
            workloads[boundary, result.workload],
            adapters[boundary, result.adapter],
            contracts[boundary, result.contract],
        )

    def pay(self, result: CellResult) -> None:
        self._bill.add(result)
        self._bills[result.boundary].add(result)

    def blame(self, result: CellResult, new: int) -> None:
        """Only the first repeat that shows extra effects is asked, so that these counts are of cells."""
        if new & _MISSING and result.boundary in _TAKEN and result.strike.endswith("-every"):
            self._barred += 1
        if new & _EXTRA:
            self._invited += result.invited
            self._mandated[result.boundary] += result.spec_mandated >= result.extra
            if result.blame is not None:
                self._blame[result.blame] += 1

    def finish(self, truthful: bool) -> Side | None:
        if not self._whole.runs:
            return None
        controls = self._bills[Boundary.NONE.value].walls
        control_s = median(controls) if controls else None
        workloads, adapters, contracts = (_panes(grid) for grid in self._grids)
        return Side(
            truthful=truthful,
            whole=self._whole.finish(),
            cost=self._bill.finish(control_s),
            boundaries=tuple(self._row(slug, control_s) for slug in sorted(self._rows, key=_place)),
            workloads=workloads,
            adapters=adapters,
            contracts=contracts,
            blame={who: self._blame[who] for who in Blame if self._blame[who]},
            barred=self._barred,
            invited=self._invited,
            spec_mandated=self._mandated.total(),
        )

    def _row(self, boundary: str, control_s: float | None) -> Row:
        counts = self._rows[boundary].finish()
        shown = {figure: counts.figure(figure) for figure in Figure}
        return Row(
            boundary=boundary,
            number=_NUMBER.get(boundary),
            words=tuple(words(shown, counts.judged, counts.stimuli, self._mandated[boundary])),
            counts=counts,
            cost=self._bills[boundary].finish(None if boundary == Boundary.NONE else control_s),
        )


def _place(slug: str) -> tuple[int, str]:
    return _ORDER.get(slug, len(_ORDER)), slug


def _panes(grid: dict[tuple[str, str], _Counts]) -> tuple[Pane, ...]:
    ordered = sorted(grid.items(), key=lambda item: (_place(item[0][0]), item[0][1]))
    return tuple(Pane(boundary=boundary, value=value, counts=counts.finish()) for (boundary, value), counts in ordered)
