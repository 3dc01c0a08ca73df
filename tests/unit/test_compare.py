from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import summary
from benchmark.compare import compare
from benchmark.comparison import Change, Comparison, Entry, Mark, Pair
from benchmark.counting import summarise
from benchmark.results import Blame, CellResult, Figure, RunHeader, Verdict
from tests.unit.runs_generated import results

Make = Callable[..., CellResult]
CELL = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
OTHER = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
LIED = "charge-card.key-dropper.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"

V = Verdict


def entry(label: str, results: Sequence[CellResult], planned: Sequence[str] | None = None, **header: Any) -> Entry:
    """A run of these results; planned: their cells, unless told otherwise."""
    given: dict[str, Any] = {
        "run": label,
        "started": "2026-01-01T00:00:00Z",
        "bench": "0.1.0",
        "argv": (),
        "runtime": label,
        "seed": 0,
        "jobs": 1,
        "preload": True,
        "plan_hash": "p",
        "suite_hash": "s" * 64,
        "cells": tuple(planned if planned is not None else dict.fromkeys(result.cell for result in results)),
        **header,
    }
    return Entry(label, RunHeader(**given), tuple(results))


def pair(left: Entry, right: Entry, **how: Any) -> Pair:
    return compare([left, right], **how).pairs[0]


def only(found: Pair) -> Change:
    (change,) = found.changes
    return change


def repeats(make: Make, verdicts: Sequence[Verdict], **fields: Any) -> list[CellResult]:
    """One result a verdict, as repeats of one cell."""
    base = CELL.rpartition("@")[0]
    figures = {V.VIOLATED: {"extra": 1, "duplicates": 1}, V.INCOMPLETE: {"missing": 1}, V.UNRESOLVED: {"unresolved": 1}}
    return [
        make(f"{base}@{number}", verdict=verdict, **{**figures.get(verdict, {}), **fields})
        for number, verdict in enumerate(verdicts, 1)
    ]


EXTRA = {"verdict": V.VIOLATED, "extra": 1, "duplicates": 1}
TWICE = {"verdict": V.VIOLATED, "extra": 2, "duplicates": 2}
MISSING = {"verdict": V.INCOMPLETE, "missing": 1}
BOTH = {"verdict": V.VIOLATED, "extra": 1, "duplicates": 1, "unresolved": 1}
STOPS = {"verdict": V.UNRESOLVED, "unresolved": 1}


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        ({}, EXTRA, Mark.BROKE),
        ({}, STOPS, Mark.BROKE),
        (EXTRA, {}, Mark.FIXED),
        (EXTRA, TWICE, Mark.WORSE),
        (TWICE, EXTRA, Mark.BETTER),
        (MISSING, EXTRA, Mark.WORSE),
        (STOPS, MISSING, Mark.WORSE),
        (EXTRA, MISSING, Mark.CHANGED),
        (EXTRA, STOPS, Mark.CHANGED),
        (BOTH, STOPS, Mark.BETTER),
        (BOTH, TWICE, Mark.CHANGED),
        (STOPS, {**STOPS, "avoidable": 1}, Mark.WORSE),
        (EXTRA, {**EXTRA, "duplicates": 0, "strays": 1}, Mark.CHANGED),
        ({**EXTRA, "blame": Blame.MODEL}, {**EXTRA, "blame": Blame.RUNTIME}, Mark.CHANGED),
    ],
)
def test_every_transition_has_its_mark(result: Make, before: dict[str, Any], after: dict[str, Any], mark: Mark) -> None:
    found = pair(entry("a", [result(CELL, **before)]), entry("b", [result(CELL, **after)]))
    assert only(found).mark is mark
    assert found.marks == {mark: 1}
    assert found.compared == 1


def test_a_change_tells_all_that_moved(result: Make) -> None:
    found = pair(entry("a", [result(CELL)]), entry("b", [result(CELL, **EXTRA, blame=Blame.RUNTIME)]))
    assert only(found).why == "correct → violated; extra 0 → 1, blame – → runtime"


def test_cells_that_stay_the_same_are_counted_but_not_listed(result: Make) -> None:
    found = pair(entry("a", [result(CELL, **EXTRA)]), entry("b", [result(CELL, **EXTRA, calls=7, reaction="retried")]))
    assert found.marks == {Mark.SAME: 1}
    assert found.changes == ()


def test_a_cell_that_was_not_judged_is_not_comparable_and_says_why(result: Make) -> None:
    unproven = result(CELL, verdict=V.UNTESTABLE, reason="no exposure")
    found = pair(entry("a", [result(CELL)]), entry("b", [unproven]))
    assert only(found).mark is Mark.NOT_COMPARABLE
    assert only(found).why == "b: untestable, no exposure"
    assert found.compared == 0


def test_a_failure_of_ours_is_never_a_change_of_a_runtime(result: Make) -> None:
    failed = result(CELL, verdict=V.HARNESS_ERROR, reason="witnesses differ")
    assert only(pair(entry("a", [failed]), entry("b", [result(CELL, **EXTRA)]))).mark is Mark.NOT_COMPARABLE


def test_what_neither_run_could_judge_is_left_out(result: Make) -> None:
    idle = result(CELL, verdict=V.NOT_APPLICABLE, reason="charge has no key")
    assert pair(entry("a", [idle]), entry("b", [idle])).marks == {}


def test_a_planned_cell_without_a_result_is_not_comparable(result: Make) -> None:
    found = pair(entry("a", [result(CELL)]), entry("b", [], planned=[CELL]))
    assert only(found).why == "b: no result"
    assert found.caveats == ("b: 1 planned cells have no result",)


def test_only_the_intersection_of_the_plans_is_compared(result: Make) -> None:
    found = pair(entry("a", [result(CELL, **EXTRA)]), entry("b", [result(OTHER)]))
    assert found.marks == {Mark.ONLY_HERE: 2}
    assert [change.why for change in found.changes] == [
        "only in the plan of b",
        "only in the plan of a",
    ]  # the control first


def test_nothing_is_compared_across_suites_unless_the_user_insists(result: Make) -> None:
    one, two = entry("a", [result(CELL)]), entry("b", [result(CELL, **EXTRA)], suite_hash="t" * 64)
    assert only(pair(one, two)).why == "other suite: ssssssssssss against tttttttttttt"
    assert next(line.cells for line in compare([one, two]).league) == (0, None)
    insisted = pair(one, two, across_suites=True)
    assert only(insisted).mark is Mark.BROKE
    assert insisted.caveats == ("the suites differ: ssssssssssss against tttttttttttt",)


def test_another_schema_is_not_compared_even_if_the_user_insists(result: Make) -> None:
    found = pair(entry("a", [result(CELL)]), entry("b", [result(CELL)], schema_version=2), across_suites=True)
    assert only(found).why == "other schema: 1 against 2"


def test_another_version_of_the_scorer_is_told(result: Make) -> None:
    found = pair(entry("a", [result(CELL)]), entry("b", [result(CELL)], bench="0.2.0"))
    assert "scored by different versions of bench: 0.1.0 against 0.2.0" in found.caveats[0]


def test_a_runtime_without_a_model_meets_the_model_that_never_calls_again(result: Make) -> None:
    asked = [result(CELL.replace(".-@1", f".{persona}@1"), **EXTRA) for persona in ("once", "retry")]
    found = pair(entry("a", [result(CELL)]), entry("b", asked, model=True))
    assert found.marks == {Mark.BROKE: 1, Mark.ONLY_HERE: 1}
    assert found.changes[0].cell == CELL.rpartition("@")[0]
    between_models = pair(entry("a", asked, model=True), entry("b", asked, model=True))
    assert between_models.marks == {Mark.SAME: 2}


def test_a_cell_is_as_bad_as_its_worst_repeat(result: Make) -> None:
    found = pair(entry("a", repeats(result, [V.CORRECT])), entry("b", repeats(result, [V.VIOLATED] * 3)))
    assert only(found).mark is Mark.BROKE
    side = only(found).after
    assert side is not None
    assert (side.repeats, side.verdicts, side.flaky) == (3, {V.VIOLATED: 3}, False)


def test_flaky_cells_with_too_few_repeats_are_not_called_changed(result: Make) -> None:
    found = pair(entry("a", repeats(result, [V.CORRECT])), entry("b", repeats(result, [V.VIOLATED, V.CORRECT, V.CORRECT])))
    assert only(found).mark is Mark.NOT_COMPARABLE
    assert only(found).why.startswith("flaky; correct → violated 1 of 3")
    assert only(found).why.endswith("too few repeats to tell: 1 against 3")


def test_a_difference_of_flaky_cells_that_chance_explains_is_none(result: Make) -> None:
    some, more = [V.VIOLATED] * 4 + [V.CORRECT] * 4, [V.VIOLATED] * 6 + [V.CORRECT] * 2
    assert pair(entry("a", repeats(result, some)), entry("b", repeats(result, more))).marks == {Mark.SAME: 1}


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        ([V.CORRECT] * 8, [V.VIOLATED] * 7 + [V.CORRECT], Mark.BROKE),
        ([V.VIOLATED] * 7 + [V.CORRECT], [V.CORRECT] * 8, Mark.FIXED),
        ([V.VIOLATED] + [V.CORRECT] * 9, [V.VIOLATED] * 9 + [V.CORRECT], Mark.WORSE),
        ([V.VIOLATED] * 9 + [V.CORRECT], [V.VIOLATED] + [V.CORRECT] * 9, Mark.BETTER),
    ],
)
def test_a_difference_of_flaky_cells_beyond_chance_is_a_change(
    result: Make, before: list[Verdict], after: list[Verdict], mark: Mark
) -> None:
    change = only(pair(entry("a", repeats(result, before)), entry("b", repeats(result, after))))
    assert change.mark is mark
    assert change.p is not None
    assert change.p < 0.05


def test_many_flaky_cells_are_tested_together(result: Make) -> None:
    """One cell of p = 0.029 is a change by itself, and none among ten of its kind."""
    verdicts = ([V.CORRECT] * 4, [V.VIOLATED] * 4)

    def many(count: int, which: int) -> list[CellResult]:
        found = []
        for number in range(count):
            one = repeats(result, verdicts[which])
            name = f"w{number}.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-"
            # a figure that varies makes the cell flaky, though its verdict is one
            found += [
                each.model_copy(
                    update={"cell": f"{name}@{each.repeat}", "extra": which * each.repeat, "workload": f"w{number}"}
                )
                for each in one
            ]
        return found

    assert pair(entry("a", many(1, 0)), entry("b", many(1, 1))).marks == {Mark.BROKE: 1}
    assert pair(entry("a", many(10, 0)), entry("b", many(10, 1))).marks == {Mark.SAME: 10}


def test_changes_stand_gravest_first_and_truthful_adapters_before_others(result: Make) -> None:
    before = [result(CELL, **EXTRA), result(OTHER), result(LIED, truthful=False)]
    after = [result(CELL), result(OTHER, **STOPS), result(LIED, **EXTRA, truthful=False)]
    found = pair(entry("a", before), entry("b", after))
    assert [(change.mark, change.truthful) for change in found.changes] == [
        (Mark.BROKE, True),
        (Mark.BROKE, False),
        (Mark.FIXED, True),
    ]
    assert found.boundaries == {"none": {Mark.BROKE: 1}, "after-commit": {Mark.BROKE: 1, Mark.FIXED: 1}}


def test_the_league_counts_cells_that_every_run_judged(result: Make) -> None:
    runs = [
        entry("a", [result(CELL, **EXTRA), result(OTHER, **EXTRA)]),
        entry("b", [result(CELL, **MISSING), result(OTHER)]),
        entry("c", [result(CELL), result(OTHER, verdict=V.UNTESTABLE)]),
    ]
    league = {(line.boundary, line.figure): line for line in compare(runs).league}
    assert league["after-commit", Figure.EXTRA].cells == (1, 0, 0)
    assert league["all", Figure.MISSING].cells == (0, 1, 0)
    assert league["all", Figure.EXTRA].judged == 1
    assert ("none", Figure.EXTRA) not in league


def test_one_run_alone_is_no_comparison(result: Make) -> None:
    with pytest.raises(ValueError, match="two runs"):
        compare([entry("a", [result(CELL)])])


@given(results())
def test_a_run_compared_with_itself_has_not_moved(some: tuple[CellResult, ...]) -> None:
    found = pair(entry("a", some), entry("a", some))
    assert not any(change.mark.moved for change in found.changes)


@given(results(), results())
def test_the_other_way_round_every_mark_is_its_opposite(
    some: tuple[CellResult, ...], others: tuple[CellResult, ...]
) -> None:
    there = {change.cell: change.mark for change in pair(entry("a", some), entry("b", others)).changes}
    back = {change.cell: change.mark for change in pair(entry("b", others), entry("a", some)).changes}
    assert there.keys() == back.keys()
    opposite = {Mark.BROKE: Mark.FIXED, Mark.FIXED: Mark.BROKE, Mark.BETTER: Mark.WORSE}
    for cell, mark in there.items():
        if mark in (Mark.WORSE, Mark.CHANGED):  # a milder verdict for a figure that rose is a change; the way back is worse
            assert {mark, back[cell]} in ({Mark.WORSE, Mark.BETTER}, {Mark.CHANGED}, {Mark.WORSE, Mark.CHANGED})
        else:
            assert back[cell] is opposite.get(mark, mark)


@given(results(), results(), st.randoms())
def test_the_order_of_results_changes_nothing_but_the_order(
    some: tuple[CellResult, ...], others: tuple[CellResult, ...], random: Any
) -> None:
    def told(found: Comparison) -> object:
        return found.pairs[0].marks, found.pairs[0].boundaries, found.league

    shuffled = list(others)
    random.shuffle(shuffled)
    assert told(compare([entry("a", some), entry("b", others)])) == told(compare([entry("a", some), entry("b", shuffled)]))


@given(results(), results())
def test_the_league_agrees_with_the_closing_table_of_each_run(
    some: tuple[CellResult, ...], others: tuple[CellResult, ...]
) -> None:
    runs = (some, others)
    common = set.intersection(*({summary.base(one) for one in run if one.verdict.judged} for run in runs))
    league = compare([entry("a", some), entry("b", others)]).league
    for index, run in enumerate(runs):
        kept = [one for one in run if summary.base(one) in common]
        closing = {side.truthful: side for side in summarise(entry("a", kept).header, kept).sides}
        for line in league:
            side = closing[line.truthful]
            row = side.row(line.boundary)
            counted = side.whole if row is None else row.counts
            assert (line.cells[index], line.judged) == (counted.figure(line.figure), counted.judged)
