from __future__ import annotations

from collections.abc import Callable

from benchmark.boundaries import Boundary
from benchmark.reporting import tally
from benchmark.results import CellResult, Figure, Verdict

Make = Callable[..., CellResult]
NAME = "charge-card.client-token.{}.-.{}.stdio.2025-11-25.first-once.-@{}"


def named(boundary: str = "after-commit", manifestation: str = "reset", repeat: int = 1) -> str:
    return NAME.format(boundary, manifestation, repeat)


def test_a_cell_counts_once_however_many_extras_it_has(result: Make) -> None:
    line = tally.line([result(verdict=Verdict.VIOLATED, extra=4)], Boundary.AFTER_COMMIT)
    assert line.figures[Figure.EXTRA] == 1


def test_a_cell_counts_once_however_often_it_was_repeated_and_stays_convicted(result: Make) -> None:
    one = result(named(repeat=1), verdict=Verdict.VIOLATED, extra=1)
    two = result(named(repeat=2))
    line = tally.line([one, two], Boundary.AFTER_COMMIT)
    assert (line.cells, line.judged, line.figures[Figure.EXTRA]) == (1, 1, 1)
    assert tally.flaky([one, two]) == (tally.Flaky(one.cell.rpartition("@")[0], {Verdict.VIOLATED: 1, Verdict.CORRECT: 1}),)


def test_repeats_that_agree_are_not_flaky(result: Make) -> None:
    assert tally.flaky([result(named(repeat=1)), result(named(repeat=2))]) == ()


def test_what_was_not_judged_shows_no_figure(result: Make) -> None:
    line = tally.line([result(verdict=Verdict.UNTESTABLE, extra=1)], Boundary.AFTER_COMMIT)
    assert (line.cells, line.judged, line.stimuli, line.figures[Figure.EXTRA]) == (1, 0, 0, 0)


def test_equal_stimuli_are_counted_once(result: Make) -> None:
    found = [
        result(named(manifestation=each), stimulus=told) for each, told in (("reset", "a"), ("error", "a"), ("silence", "b"))
    ]
    assert tally.line(found, None).stimuli == 2


def test_boundaries_come_in_the_order_of_the_table_and_all_of_them_last(result: Make) -> None:
    found = [result(named("after-commit")), result(named("none", "-"))]
    assert [line.boundary for line in tally.lines(found)] == [Boundary.NONE, Boundary.AFTER_COMMIT, None]
    assert tally.lines([]) == ()


def test_an_example_is_of_a_truthful_adapter_if_there_is_one(result: Make) -> None:
    lying = result(named(manifestation="error"), verdict=Verdict.VIOLATED, extra=1, duplicates=1, truthful=False)
    honest = result(verdict=Verdict.VIOLATED, extra=1, duplicates=1, calls=9)
    found = tally.examples([lying, honest])
    assert [(one.kind, one.cells, one.result) for one in found] == [("extra: a duplicate", 2, honest)]


def test_every_figure_has_a_kind_so_that_no_violation_goes_without_an_example() -> None:
    told = " ".join(tally.KINDS.values())
    assert all(figure in told for figure in Figure)


def test_reasons_are_counted_and_reruns_are_told(result: Make) -> None:
    found = [
        result(verdict=Verdict.NOT_APPLICABLE, reason="send has no key"),
        result(named(manifestation="error"), verdict=Verdict.NOT_APPLICABLE, reason="send has no key"),
        result(
            named("none", "-"), verdict=Verdict.HARNESS_ERROR, reason="no space", reruns=2, rerun_reasons=("slow", "slow")
        ),
    ]
    assert tally.reasons(found) == ((Verdict.NOT_APPLICABLE, "send has no key", 2), (Verdict.HARNESS_ERROR, "no space", 1))
    assert tally.verdicts(found) == {Verdict.NOT_APPLICABLE: 2, Verdict.HARNESS_ERROR: 1}
    assert tally.reruns(found) == {"slow": 2}
