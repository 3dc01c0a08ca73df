"""Two runs or more, cell by cell: what broke, what got worse, what changed, what got better, and what cannot be compared.

Pure. The unit is the cell without its repeat; a cell is as bad as its worst repeat. Only cells that both plans hold are
compared. A graver verdict is worse. A milder one is better only if no figure rose: who loses an effect instead of doubling
it has *changed*. Where repeats of a cell agree, a difference is a fact; where they do not, only an exact test makes it one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter

from benchmark import significance
from benchmark.boundaries import TABLE
from benchmark.comparison import COUNTS, GRAVITY, PARTS, Change, Comparison, Contestant, Entry, Mark, Pair, Side, Standing
from benchmark.results import CellResult, Figure, Verdict


def compare(entries: Sequence[Entry], *, across_suites: bool = False) -> Comparison:
    """The first run against each of the others, and all of them in one table; needs two entries at least.

    ``across_suites``: compare cells of the same name although the catalogues differ.
    """
    if len(entries) < 2:
        raise ValueError("a comparison needs two runs")
    runs = tuple(_contestant(entry) for entry in entries)
    mixed = len({run.model for run in runs}) > 1
    sides = [_sides(entry, mixed) for entry in entries]
    foreign = [_foreign(runs[0], run, across_suites) for run in runs]
    return Comparison(
        runs=runs,
        across_suites=across_suites,
        pairs=tuple(
            _pair((entries[0], sides[0]), (entry, found), why, mixed)
            for entry, found, why in zip(entries[1:], sides[1:], foreign[1:], strict=True)
        ),
        league=tuple(_league(entries, sides, foreign)),
    )


def _contestant(entry: Entry) -> Contestant:
    known = entry.header.model_dump(include=set(Contestant.model_fields))
    return Contestant(label=entry.label, planned=len(entry.header.cells), **known)


_NAMES = (*COUNTS, *PARTS)
_counts = attrgetter(*_NAMES)


@dataclass(frozen=True)
class _Group:
    """All that is known of one cell in one run; no side: planned, but without a result."""

    side: Side | None
    first: CellResult | None


_Groups = Mapping[str, _Group]


def _key(cell: str, mixed: bool) -> str:
    """What makes two cells the same one: the name without its repeat.

    Between a runtime with a model and one without, the model that never calls again (``once``) stands for no model at all.
    """
    base = cell.rpartition("@")[0]
    return base.removesuffix(".once") + ".-" if mixed and base.endswith(".once") else base


def _sides(entry: Entry, mixed: bool) -> dict[str, _Group]:
    """Key → the cell in this run, in the plan's order."""
    repeats: dict[str, list[CellResult]] = {_key(cell, mixed): [] for cell in entry.header.cells}
    for result in entry.results:
        repeats.setdefault(_key(result.cell, mixed), []).append(result)
    for some in repeats.values():
        some.sort(key=lambda result: result.repeat)
    return {key: _Group(_side(some) if some else None, some[0] if some else None) for key, some in repeats.items()}


def _side(results: Sequence[CellResult]) -> Side:
    judged = [result for result in results if result.verdict.judged]
    worst = max(judged or results, key=lambda result: GRAVITY.get(result.verdict, 0))  # max keeps the first of equals
    counts = [_counts(result) for result in judged]
    verdicts = Counter(result.verdict for result in judged)
    return Side(
        cell=worst.cell,
        verdict=worst.verdict,
        reason=worst.reason,
        repeats=len(judged),
        verdicts=dict(verdicts) if len(verdicts) < 2 else {one: verdicts[one] for one in Verdict if one in verdicts},
        figures=dict(zip(_NAMES, map(max, zip(*counts, strict=True)) if counts else repeat(0), strict=False)),
        blame=worst.blame,
        flaky=len(verdicts) > 1 or len(set(counts)) > 1,
    )


def _foreign(first: Contestant, other: Contestant, across_suites: bool) -> str | None:
    """Why no cell of two runs can be compared; None: they can."""
    if first.schema_version != other.schema_version:
        return f"other schema: {first.schema_version} against {other.schema_version}"
    if first.suite_hash != other.suite_hash and not across_suites:
        return f"other suite: {first.suite_hash[:12]} against {other.suite_hash[:12]}"
    return None


def _pair(before: tuple[Entry, _Groups], after: tuple[Entry, _Groups], foreign: str | None, mixed: bool) -> Pair:
    (one, left), (two, right) = before, after
    found = [_change(key, left.get(key), right.get(key), one.label, two.label, foreign) for key in {**left, **right}]
    changes = _tested([change for change in found if change is not None])
    told = sorted((change for change in changes if change.mark is not Mark.SAME), key=_gravest)
    slugs = [*(boundary.value for boundary in TABLE), *sorted({change.boundary for change in changes} - set(TABLE))]
    by_boundary = {slug: _marks(change for change in changes if change.boundary == slug) for slug in slugs}
    return Pair(
        before=one.label,
        after=two.label,
        compared=sum(change.mark.moved or change.mark is Mark.SAME for change in changes),
        marks=_marks(changes),
        boundaries={slug: marks for slug, marks in by_boundary.items() if marks},
        changes=tuple(told),
        caveats=tuple(_caveats(one, two, mixed)),
    )


_GRAVEST = {mark: index for index, mark in enumerate(Mark)}
_PLACE = {boundary.value: index for index, boundary in enumerate(TABLE)}


def _gravest(change: Change) -> tuple[int, bool, int]:
    return _GRAVEST[change.mark], not change.truthful, _PLACE.get(change.boundary, len(_PLACE))


def _marks(changes: Iterable[Change]) -> dict[Mark, int]:
    counts = Counter(change.mark for change in changes)
    return {mark: counts[mark] for mark in Mark if counts[mark]}


def _caveats(one: Entry, two: Entry, mixed: bool) -> Iterable[str]:
    """What a reader must know before believing the comparison."""
    if one.header.suite_hash != two.header.suite_hash:
        yield f"the suites differ: {one.header.suite_hash[:12]} against {two.header.suite_hash[:12]}"
    if one.header.bench != two.header.bench:
        yield f"scored by different versions of bench: {one.header.bench} against {two.header.bench} (see bench rescore)"
    if mixed and one.header.model != two.header.model:
        yield "only one of the two runtimes asks a model: the persona once is compared with no model"
    for entry in (one, two):
        left = len(set(entry.header.cells) - {result.cell for result in entry.results})
        if left:
            yield f"{entry.label}: {left} planned cells have no result"


def _change(key: str, left: _Group | None, right: _Group | None, one: str, two: str, foreign: str | None) -> Change | None:
    """What became of the cell of this key; None: neither run judged it, for the same reason."""
    before, after = left.side if left else None, right.side if right else None
    if left is None or right is None:
        mark, why = Mark.ONLY_HERE, f"only in the plan of {one if right is None else two}"
    elif foreign is not None:
        mark, why = Mark.NOT_COMPARABLE, foreign
    elif before is None or after is None or not before.repeats or not after.repeats:
        if before and after and not before.repeats and not after.repeats and before.verdict is after.verdict:
            return None
        mark, why = Mark.NOT_COMPARABLE, "; ".join(_unjudged(before, one) + _unjudged(after, two))
    else:
        mark, why = _mark(before, after), _moved(before, after)
    parts = key.split(".")
    known = (left.first if left else None) or (right.first if right else None)
    return Change(
        cell=key,
        boundary=parts[2] if len(parts) > 2 else "",
        workload=parts[0],
        adapter=parts[1] if len(parts) > 1 else "",
        truthful=known.truthful if known else True,
        mark=mark,
        why=why,
        before=before,
        after=after,
    )


def _unjudged(side: Side | None, who: str) -> list[str]:
    if side is None:
        return [f"{who}: no result"]
    if side.repeats:
        return []
    return [f"{who}: {side.verdict}" + (f", {side.reason}" if side.reason else "")]


def _mark(before: Side, after: Side) -> Mark:
    """The mark of two judged sides, taken at their word (see ``_tested`` for flaky ones)."""
    graver = GRAVITY[after.verdict] - GRAVITY[before.verdict]
    rose = any(after.figures[name] > before.figures[name] for name in COUNTS)
    fell = any(after.figures[name] < before.figures[name] for name in COUNTS)
    otherwise = after.blame != before.blame or any(after.figures[name] != before.figures[name] for name in PARTS)
    if graver > 0:
        return Mark.BROKE if before.verdict is Verdict.CORRECT else Mark.WORSE
    if graver < 0 and not rose:
        return Mark.FIXED if after.verdict is Verdict.CORRECT else Mark.BETTER
    if graver < 0 or (rose and fell):
        return Mark.CHANGED
    if rose or fell:
        return Mark.WORSE if rose else Mark.BETTER
    return Mark.CHANGED if otherwise else Mark.SAME


def _moved(before: Side, after: Side) -> str:
    """``correct → violated; extra 0 → 1, blame – → runtime``: all that differs, or an empty string."""
    names = [*COUNTS, *(PARTS if before.figures[Figure.EXTRA] == after.figures[Figure.EXTRA] else ())]
    told = [
        f"{name} {before.figures[name]} → {after.figures[name]}"
        for name in names
        if before.figures[name] != after.figures[name]
    ]
    if before.blame != after.blame:
        told.append(f"blame {before.blame or '–'} → {after.blame or '–'}")
    verdicts = f"{_verdict(before)} → {_verdict(after)}" if _verdict(before) != _verdict(after) else ""
    return "; ".join(part for part in (verdicts, ", ".join(told)) if part)


def _verdict(side: Side) -> str:
    """``violated``, or ``violated 2 of 5`` where repeats disagree."""
    if len(side.verdicts) < 2:
        return str(side.verdict)
    return f"{side.verdict} {side.verdicts[side.verdict]} of {side.repeats}"


def _tested(changes: Sequence[Change]) -> list[Change]:
    """The changes; a flaky cell has changed only if an exact test says so, Holm's correction over all of them."""
    flaky = [change for change in changes if _is_flaky(change)]
    adjusted = significance.holm([significance.exact(*_ranks(change)) for change in flaky])
    settled = {change.cell: _settled(change, p) for change, p in zip(flaky, adjusted, strict=True)}
    return [settled.get(change.cell, change) for change in changes]


def _is_flaky(change: Change) -> bool:
    if change.before is None or change.after is None or change.mark in (Mark.NOT_COMPARABLE, Mark.ONLY_HERE):
        return False
    return change.before.flaky or change.after.flaky


def _ranks(change: Change) -> tuple[dict[int, int], dict[int, int]]:
    """How often each gravity came up, before and after."""
    sides = [side for side in (change.before, change.after) if side is not None]
    found = [{GRAVITY[verdict]: count for verdict, count in side.verdicts.items()} for side in sides]
    return found[0], found[1]


def _settled(change: Change, p: float) -> Change:
    before, after = _ranks(change)
    sizes = sum(before.values()), sum(after.values())
    told = f"flaky; {change.why}" if change.why else "flaky"
    if significance.least(*sizes) >= significance.ALPHA:
        why = f"{told}; too few repeats to tell: {sizes[0]} against {sizes[1]}"
        return change.model_copy(update={"mark": Mark.NOT_COMPARABLE, "why": why, "p": p})
    if p >= significance.ALPHA:
        return change.model_copy(update={"mark": Mark.SAME, "why": f"{told}; no more than chance, p = {p:.3g}", "p": p})
    if significance.shift(before, after) > 0:
        mark = Mark.BROKE if not any(before) else Mark.WORSE
    else:
        mark = Mark.FIXED if not any(after) else Mark.BETTER
    return change.model_copy(update={"mark": mark, "why": f"{told}; p = {p:.3g}", "p": p})


def _league(entries: Sequence[Entry], sides: Sequence[_Groups], foreign: Sequence[str | None]) -> Iterable[Standing]:
    """Boundary × figure × run, over the cells that every comparable run judged; truthful adapters first."""
    fit = [found for found, why in zip(sides, foreign, strict=True) if why is None]
    common = [key for key in sides[0] if all(_judged(found.get(key)) for found in fit)]
    for truthful in (True, False):
        some = [key for key in common if (first := sides[0][key].first) and first.truthful is truthful]
        here = {key: key.split(".")[2] for key in some}
        slugs = [slug for slug in TABLE if slug in here.values()]
        for boundary in [*slugs, *(["all"] if slugs else [])]:
            keys = [key for key in some if boundary in ("all", here[key])]
            for figure in Figure:
                cells = tuple(
                    None if why else sum(_shows(found[key], figure) for key in keys)
                    for found, why in zip(sides, foreign, strict=True)
                )
                yield Standing(boundary=boundary, figure=figure, truthful=truthful, judged=len(keys), cells=cells)


def _judged(group: _Group | None) -> bool:
    return group is not None and group.side is not None and group.side.repeats > 0


def _shows(group: _Group, figure: Figure) -> bool:
    return group.side is not None and group.side.figures[figure] > 0
