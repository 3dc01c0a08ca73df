"""Every figure of a run is counted once, in one place, and nothing cancels or is added up twice."""

from __future__ import annotations

from collections.abc import Callable

from benchmark.answer import answer
from benchmark.counting import summarise
from benchmark.entries import Promise
from benchmark.expectations import FIGURES
from benchmark.promises import BREACHES
from benchmark.results import Blame, CellResult, Figure, RunHeader, Verdict
from benchmark.summary import FIELDS, KINDS, Counts, Flaky, Summary

Make = Callable[..., CellResult]
NAME = "charge-card.client-token.{}.-.{}.stdio.2025-11-25.first-once.-@{}"


def named(boundary: str = "after-commit", manifestation: str = "reset", repeat: int = 1) -> str:
    return NAME.format(boundary, manifestation, repeat)


def counts(header: RunHeader, *results: CellResult) -> Counts:
    side = summarise(header, results).truthful
    assert side is not None
    return side.whole


def test_a_cell_counts_once_however_many_extras_it_has_and_these_are_totalled(header: RunHeader, result: Make) -> None:
    found = counts(header, result(verdict=Verdict.VIOLATED, extra=4, duplicates=3, strays=1))
    assert found.figure(Figure.EXTRA) == 1
    assert (found.totals["extra"], found.totals["duplicates"], found.totals["strays"]) == (4, 3, 1)


def test_a_cell_counts_once_however_often_it_was_repeated_and_stays_convicted(header: RunHeader, result: Make) -> None:
    repeats = [result(named(repeat=1), verdict=Verdict.VIOLATED, extra=1), result(named(repeat=2))]
    for order in (repeats, repeats[::-1]):
        found = counts(header, *order)
        assert (found.cells, found.judged, found.runs, found.figure(Figure.EXTRA)) == (1, 1, 2, 1)
        told = summarise(header, order).flaky
        assert told == (Flaky(cell=repeats[0].cell.rpartition("@")[0], verdicts={Verdict.VIOLATED: 1, Verdict.CORRECT: 1}),)


def test_repeats_that_agree_are_not_flaky(header: RunHeader, result: Make) -> None:
    assert summarise(header, [result(named(repeat=1)), result(named(repeat=2))]).flaky == ()


def test_what_was_not_judged_shows_no_figure(header: RunHeader, result: Make) -> None:
    found = counts(header, result(verdict=Verdict.UNTESTABLE, extra=1))
    assert (found.cells, found.judged, found.stimuli, found.figure(Figure.EXTRA)) == (1, 0, 0, 0)


def test_equal_stimuli_are_counted_once(header: RunHeader, result: Make) -> None:
    shapes = (("reset", "a"), ("error", "a"), ("silence", "b"))
    assert counts(header, *(result(named(manifestation=each), stimulus=told) for each, told in shapes)).stimuli == 2


def test_boundaries_come_in_the_order_of_the_table(header: RunHeader, result: Make) -> None:
    run = summarise(header, [result(named("after-commit")), result(named("none", "-"))])
    assert run.truthful is not None
    assert [(row.number, row.boundary) for row in run.truthful.boundaries] == [(0, "none"), (3, "after-commit")]
    assert summarise(header, []).sides == ()


def test_an_example_is_of_a_truthful_adapter_if_there_is_one(header: RunHeader, result: Make) -> None:
    lying = result(named(manifestation="error"), verdict=Verdict.VIOLATED, extra=1, duplicates=1, truthful=False)
    honest = result(verdict=Verdict.VIOLATED, extra=1, duplicates=1, calls=9)
    found = summarise(header, [lying, honest]).examples
    assert [(one.kind, one.cells, one.result) for one in found] == [("extra: a duplicate", 2, honest)]


def test_every_figure_has_a_kind_so_that_no_violation_goes_without_an_example() -> None:
    told = " ".join(KINDS.values())
    assert all(figure in told for figure in Figure)
    assert FIELDS == FIGURES


def test_reasons_are_counted_and_reruns_are_told(header: RunHeader, result: Make) -> None:
    found = summarise(
        header,
        [
            result(verdict=Verdict.NOT_APPLICABLE, reason="send has no key"),
            result(named(manifestation="error"), verdict=Verdict.NOT_APPLICABLE, reason="send has no key"),
            result(
                named("none", "-"),
                verdict=Verdict.HARNESS_ERROR,
                reason="no space",
                reruns=2,
                rerun_reasons=("slow", "slow"),
            ),
        ],
    )
    assert [(one.verdict, one.reason, one.runs) for one in found.unjudged] == [
        (Verdict.NOT_APPLICABLE, "send has no key", 2),
        (Verdict.HARNESS_ERROR, "no space", 1),
    ]
    assert found.verdicts == {Verdict.NOT_APPLICABLE: 2, Verdict.HARNESS_ERROR: 1}
    assert found.reruns == {"slow": 2}


def test_truthful_and_treacherous_adapters_are_never_counted_together(header: RunHeader, result: Make) -> None:
    run = summarise(
        header, [result(), result(named(manifestation="error"), verdict=Verdict.VIOLATED, extra=1, truthful=False)]
    )
    assert run.truthful is not None
    assert run.treacherous is not None
    assert (run.truthful.whole.figure(Figure.EXTRA), run.treacherous.whole.figure(Figure.EXTRA)) == (0, 1)


def test_blame_is_counted_in_cells_with_extra_effects(header: RunHeader, result: Make) -> None:
    guilty = [
        result(named(repeat=repeat), verdict=Verdict.VIOLATED, extra=1, blame=Blame.RUNTIME, invited=True)
        for repeat in (1, 2)
    ]
    side = summarise(header, guilty).truthful
    assert side is not None
    assert (side.blame, side.invited) == ({Blame.RUNTIME: 1}, 1)


def test_what_the_specification_demanded_is_counted_apart_and_told_so(header: RunHeader, result: Make) -> None:
    demanded = result(verdict=Verdict.VIOLATED, extra=1, duplicates=1, spec_mandated=1, blame=Blame.TOOL_SERVER)
    own = result(named(manifestation="error"), verdict=Verdict.VIOLATED, extra=2, duplicates=2, spec_mandated=1)
    alone, both = summarise(header, [demanded]), summarise(header, [demanded, own])
    assert alone.truthful is not None
    assert both.truthful is not None
    assert (alone.truthful.spec_mandated, both.truthful.spec_mandated) == (1, 1)
    assert [side.boundaries[0].words[0] for side in (alone.truthful, both.truthful)] == [
        "duplicates as specified",
        "duplicates",
    ]
    assert answer(alone.truthful).startswith(
        "Makes effects twice only where the specification has the call sent again: 1 duplicate effect in 1 of 1"
    )
    assert "3 duplicate effects in 2 of 2 eligible cells (in 1 of these the specification demanded it)" in answer(
        both.truthful
    )


def test_a_promise_is_broken_by_what_it_excludes_and_by_nothing_else(header: RunHeader, result: Make) -> None:
    promises = tuple(Promise(boundary=("after-commit",), says=each, source="https://docs") for each in BREACHES)
    promising = header.model_copy(update={"promises": promises})
    lost = result(verdict=Verdict.INCOMPLETE, missing=1)
    asked = result(named(manifestation="error"), verdict=Verdict.VIOLATED, extra=1, blame=Blame.MODEL)
    sent = result(named(manifestation="silence"), verdict=Verdict.VIOLATED, extra=1, blame=Blame.RUNTIME)
    elsewhere = result(named("before-commit", "error"), verdict=Verdict.VIOLATED, extra=1, missing=1, blame=Blame.RUNTIME)
    words = {word.says: word for word in summarise(promising, [lost, asked, sent, elsewhere]).words}
    assert {says: word.broken for says, word in words.items()} == {
        "exactly-once": 3,
        "at-most-once": 2,
        "at-least-once": 1,
        "sent-once": 1,
        "may-repeat": 0,
        "nothing": 0,
    }
    assert words["sent-once"].held == "broken in 1 of 3 cells"
    assert words["sent-once"].replay == f"bench run --runtime {header.runtime} --cell {sent.cell}"
    assert (words["may-repeat"].held, words["may-repeat"].replay) == ("nothing to break", "")
    kept, silent = summarise(promising, [result(named())]).words[0], summarise(promising, []).words[0]
    assert (kept.held, silent.held) == ("held in 1 of 1 cells", "not judged")


def test_a_promise_is_judged_at_each_of_its_boundaries_and_told_once(header: RunHeader, result: Make) -> None:
    lost = Promise(boundary=("after-commit", "before-commit"), says="at-most-once", source="https://docs/calls")
    killed = Promise(boundary="agent-restart", says="at-least-once", source="https://docs/restarts")
    twice = result(named("before-commit", "error"), verdict=Verdict.VIOLATED, extra=1)
    run = summarise(header.model_copy(update={"promises": (lost, killed)}), [result(named()), twice])
    assert [[(word.boundary, word.held) for word in same] for same in run.promises] == [
        [("after-commit", "held in 1 of 1 cells"), ("before-commit", "broken in 1 of 1 cells")],
        [("agent-restart", "not judged")],
    ]


def test_what_a_fault_took_at_every_attempt_is_told_apart_from_what_was_left_out(header: RunHeader, result: Make) -> None:
    every = named("before-dispatch", "error").replace("first-once", "first-every")
    lost = [
        result(name, Verdict.INCOMPLETE, missing=1) for name in (every, every.replace("@1", "@2"), named("before-dispatch"))
    ]
    run = summarise(header, lost)
    assert run.truthful is not None
    assert (run.truthful.whole.figure(Figure.MISSING), run.truthful.barred) == (2, 1)
    assert "left 3 effects out in 2 (in 1 of these the fault took every attempt)" in run.answer


def test_a_summary_is_json_both_ways(header: RunHeader, result: Make) -> None:
    run = summarise(
        header, [result(), result(named("none", "-"), verdict=Verdict.VIOLATED, extra=1, duplicates=1)], ["note"]
    )
    assert Summary.model_validate_json(run.model_dump_json()) == run


def test_the_answer_is_one_plain_sentence_of_the_counts(header: RunHeader, result: Make) -> None:
    wrong = result(verdict=Verdict.VIOLATED, extra=2, duplicates=2)
    assert summarise(header, [wrong, result(named("none", "-"))]).answer == (
        "Re-sends a call whose answer was lost: 2 duplicate effects in 1 of 2 eligible cells; never lost one; "
        "never said it was unsure; 1 distinct stimulus tried."
    )
    assert summarise(header, [result()]).answer == (
        "Never made an effect that was not authorised in 1 eligible cell; never lost one; never said it was unsure; "
        "1 distinct stimulus tried."
    )
    model = wrong.model_copy(update={"blame": Blame.MODEL})
    told = summarise(header, [model]).answer
    assert told.startswith("Its model re-sends a call whose answer was lost: 2 duplicate effects in 1 of 1 eligible cell; ")
    runtime = model.model_copy(update={"cell": named("before-delivery", "reset"), "blame": Blame.RUNTIME})
    told = summarise(header, [model, runtime]).answer
    assert told.startswith(
        "Re-sends a call whose answer was lost: 4 duplicate effects in 2 of 2 eligible cells (first repeated"
    )
    assert "(first repeated by the model in 1); " in told
    assert "Nothing could be judged" in summarise(header, [result(verdict=Verdict.UNTESTABLE)]).answer
