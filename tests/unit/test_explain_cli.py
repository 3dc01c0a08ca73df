"""``bench explain``: words, names of cells, and the verdicts of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.cli import run as bench
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.results import CellResult, Verdict
from benchmark.store import RunHeader, Store

Make = Callable[..., CellResult]
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: RunHeader, result: Make, history: Callable[..., History]
) -> Path:
    """A run of one violated cell with its history, and one that was not applicable."""
    monkeypatch.chdir(tmp_path)
    with Store.create(tmp_path / "results" / "run-1", header) as store:
        told = result(STRUCK, verdict=Verdict.VIOLATED, reason="1 duplicate effect", extra=1, duplicates=1)
        store.append(told, history(STRUCK))
        store.append(result(CONTROL, verdict=Verdict.NOT_APPLICABLE, reason="charge has no key"), None)
    return store.folder


@pytest.mark.parametrize("words", [["run-1", STRUCK], [STRUCK, "--run", "run-1"]])
def test_a_verdict_is_explained_either_way_round(run: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert bench(["explain", *words]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "blind-retry: violated, 1 duplicate effect" in out
    assert "one too many: ch_2, by call 2 (#15, #19)" in out
    assert f"bench show run-1 {STRUCK}" in out


def test_the_explanation_is_json_too(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", "run-1", STRUCK, "--json"]) == Exit.COMPLETED
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "violated"
    assert [step["title"] for step in told["steps"]][-1].startswith("The verdict")
    assert any(line["events"] for step in told["steps"] for line in step["lines"])


def test_a_stale_verdict_is_noticed(run: Path, result: Make, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.resume(run) as store:
        store.append(result(STRUCK, verdict=Verdict.CORRECT), None)
    assert bench(["explain", "run-1", STRUCK]) == Exit.COMPLETED
    assert "cells.jsonl says correct, scored by another version; bench rescore run-1 renews it" in capsys.readouterr().out


def test_a_cell_that_never_ran_is_explained_by_its_reason(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", "run-1", CONTROL]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "charge has no key" in out
    assert "none: the cell never ran" in out


def test_an_unknown_cell_is_answered_with_the_closest(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", "run-1", STRUCK.replace("reset", "rest")]) == Exit.USAGE
    assert f"did you mean '{STRUCK}'?" in capsys.readouterr().err


def test_a_run_alone_asks_for_a_cell(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", "run-1"]) == Exit.USAGE
    assert "is a run; which of its cells? bench explain run-1 CELL" in capsys.readouterr().err


def test_two_runs_are_one_too_many(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", "run-1", STRUCK, "--run", "run-1"]) == Exit.USAGE
    assert "are both given" in capsys.readouterr().err


def test_a_cells_name_alone_is_read_part_by_part(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", STRUCK]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "the boundary: lets the upstream request through" in out
    assert f"bench explain RUN {STRUCK}" in out


@pytest.mark.parametrize("word", ["after-commit", "3", "reset", "violated", "false_dedup", "stimulus"])
def test_a_word_is_explained_and_what_it_does_not_mean(run: Path, capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert bench(["explain", word]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "what it is" in out
    assert "proven by" in out
    assert "does not mean" in out
    assert bench(["explain", word, "--json"]) == Exit.COMPLETED
    assert json.loads(capsys.readouterr().out)[0]["what"]


def test_without_a_word_all_words_are_listed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain"]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "after-commit" in out
    assert "false_dedup" in out


def test_an_unknown_word_is_answered_with_the_closest(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["explain", "violatd"]) == Exit.USAGE
    assert capsys.readouterr().err == "bench: there is no word 'violatd'; did you mean 'violated'?\n"


def test_what_a_runtime_wrote_cannot_colour_the_terminal(
    run: Path, history: Callable[..., History], result: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    told = history(STRUCK)
    evil = told.reading.final[1].model_copy(update={"receipt": "ch_2\x1b[31m\u202e"})
    reading = told.reading.model_copy(update={"final": (told.reading.final[0], evil)})
    with Store.resume(run) as store:
        store.append(result(STRUCK, verdict=Verdict.HARNESS_ERROR), told.model_copy(update={"reading": reading}))
    assert bench(["explain", "run-1", STRUCK]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_it_stays_readable_on_a_narrow_terminal(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    bench(["explain", "torn"])
    assert capsys.readouterr().out == (
        "torn  (metric)\n"
        "what it is\n"
        "  atomic intents of which a part stands\n"
        "  alone\n"
        "proven by\n"
        "  O(I) is atomic; some of its slots are\n"
        "  filled and others are not\n"
        "does not mean\n"
        "  missing as well: the absent parts of a\n"
        "  torn intent are counted here only\n"
    )
    bench(["explain", "run-1", STRUCK])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 40 for line in lines if STRUCK not in line)
