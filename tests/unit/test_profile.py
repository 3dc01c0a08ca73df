"""The profile says per boundary what was seen, and never more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmark.profile import Tally, profile, tallies
from benchmark.results import CellResult, Figure, Verdict

Make = Callable[..., CellResult]


def _cell(boundary: str) -> str:
    manifestation = "-" if boundary in ("none", "token-expired") else "reset"
    return f"charge-card.client-token.{boundary}.-.{manifestation}.stdio.2025-11-25.first-once.-@1"


@pytest.mark.parametrize(
    ("figure", "word"),
    [
        ("extra", "duplicates"),
        ("torn", "tears"),
        ("missing", "loses"),
        ("false_dedup", "dedups falsely"),
        ("misreported", "misreports"),
        ("unresolved", "stops"),
    ],
)
def test_every_figure_has_its_word(result: Make, figure: str, word: str) -> None:
    cell = result(_cell("after-commit"), Verdict.VIOLATED, **{figure: 2})
    assert profile([cell]) == {"after-commit": [word]}


def test_words_of_several_cells_are_gathered_without_repeats(result: Make) -> None:
    cells = [
        result(verdict=Verdict.UNRESOLVED, unresolved=1),
        result(verdict=Verdict.VIOLATED, extra=1, unresolved=1),
        result(verdict=Verdict.CORRECT),
    ]
    assert profile(cells) == {"after-commit": ["duplicates", "stops"]}


def test_what_the_specification_demands_is_told_so_as_long_as_nothing_else_is_there(result: Make) -> None:
    demanded = result(verdict=Verdict.VIOLATED, extra=1, spec_mandated=1, unresolved=1)
    assert profile([demanded]) == {"after-commit": ["duplicates as specified", "stops"]}
    assert profile([demanded, result(verdict=Verdict.VIOLATED, extra=2, spec_mandated=1)])["after-commit"][0] == "duplicates"


def test_without_a_violation_only_the_stimuli_are_counted(result: Make) -> None:
    cells = [result(stimulus=stimulus) for stimulus in ("s1", "s1", "s2")]
    assert profile(cells) == {"after-commit": ["no violation in 2 stimuli"]}
    assert profile(cells[:1]) == {"after-commit": ["no violation in 1 stimulus"]}


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if not verdict.judged])
def test_cells_that_were_not_judged_say_nothing(result: Make, verdict: Verdict) -> None:
    cell = result(verdict=verdict, extra=3)
    assert profile([cell]) == {"after-commit": ["not judged"]}
    assert tallies([cell])["after-commit"][Figure.EXTRA] == Tally(0, 0, 0)


def test_treacherous_adapters_stand_apart(result: Make) -> None:
    cells = [result(), result(verdict=Verdict.VIOLATED, truthful=False, extra=1)]
    assert profile(cells) == {"after-commit": ["no violation in 1 stimulus"]}
    assert profile(cells, truthful=False) == {"after-commit": ["duplicates"]}


def test_boundaries_come_in_the_tables_order(result: Make) -> None:
    cells = [result(_cell(boundary)) for boundary in ("token-expired", "before-commit", "none")]
    assert list(profile(cells)) == ["none", "before-commit", "token-expired"]


def test_a_tally_reads_as_n_of_m_judged_and_k_stimuli(result: Make) -> None:
    cells = [
        result(verdict=Verdict.VIOLATED, extra=2, stimulus="s1"),
        result(stimulus="s2"),
        result(stimulus="s2"),
        result(verdict=Verdict.UNTESTABLE, stimulus="s3"),
    ]
    row = tallies(cells)["after-commit"]
    assert str(row[Figure.EXTRA]) == "1 of 3 judged, 2 stimuli"
    assert str(row[Figure.MISSING]) == "0 of 3 judged, 2 stimuli"
