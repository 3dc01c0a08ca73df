from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.boundaries import Boundary
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
    """A run of two planned cells below ``results/``: one with a history, one not yet run."""
    monkeypatch.chdir(tmp_path)
    with Store.create(tmp_path / "results" / "run-1", header) as store:
        told = result(STRUCK, verdict=Verdict.VIOLATED, reason="1 duplicate effect", extra=1, duplicates=1)
        store.append(told, history(STRUCK))
    return store.folder


@pytest.mark.parametrize("name", ["run-1", "results/run-1"])
def test_a_run_is_found_by_name_or_by_path(run: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert bench(["show", name]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "Verdicts: 1 violated" in out
    assert "1 planned cells have no result yet" in out


def test_an_unknown_run_or_cell_is_answered_with_the_closest(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["show", "run-2"]) == Exit.USAGE
    assert "did you mean 'run-1'?" in capsys.readouterr().err
    assert bench(["show", "run-1", STRUCK.replace("reset", "rest")]) == Exit.USAGE
    assert f"did you mean '{STRUCK}'?" in capsys.readouterr().err


def test_a_cell_is_shown_as_a_timeline(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["show", "run-1", STRUCK]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "THE FAULT STRIKES request 1: reset" in out
    assert "violated: 1 duplicate effect" in out


def test_a_cell_without_a_history_says_so(run: Path, result: Make, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.resume(run) as store:
        store.append(result(CONTROL, verdict=Verdict.NOT_APPLICABLE, reason="append has no key"), None)
    assert bench(["show", "run-1", CONTROL]) == Exit.COMPLETED
    assert "not-applicable: append has no key (it has no history)" in capsys.readouterr().out
    assert bench(["show", "run-1", CONTROL, "--json"]) == Exit.COMPLETED
    assert json.loads(capsys.readouterr().out)["history"] is None


def test_json_holds_the_whole_run_and_the_whole_cell(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(["show", "run-1", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["header"]["runtime"] == "blind-retry"
    assert [one["cell"] for one in told["cells"]] == [STRUCK]
    bench(["show", "run-1", STRUCK, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["result"]["verdict"] == "violated"
    assert History.model_validate(told["history"]) == Store.open(run).history(STRUCK)


def test_a_torn_line_is_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (run / "cells.jsonl").open("a") as file:
        file.write('{"cell": "half')
    bench(["show", "run-1"])
    assert "cells.jsonl:2: dropped a line that was torn off" in capsys.readouterr().out


def test_rescore_computes_the_verdict_from_the_history_alone(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["rescore", "run-1", "--check"]) == Exit.REFUSED
    assert Store.open(run).results()[0].reason == "1 duplicate effect", "a check writes nothing"
    assert bench(["rescore", "run-1", "--json"]) == Exit.COMPLETED
    told = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert [one["cell"] for one in told["changed"]] == [STRUCK]
    again = Store.open(run).results()[0]
    assert (again.verdict, again.extra, again.observed, again.calls) == (Verdict.VIOLATED, 1, 2, 2)
    assert bench(["rescore", "run-1", "--check"]) == Exit.COMPLETED


def test_rescore_takes_the_promises_as_they_are_now(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(["rescore", "run-1"])
    head = json.loads((run / "run.json").read_text())
    promise = {"boundary": "after-commit", "says": "at-most-once", "source": "https://docs.invalid"}
    (run / "run.json").write_text(json.dumps({**head, "promises": [promise]}))
    bench(["show", "run-1"])
    shown = capsys.readouterr().out
    assert (
        "  at-most-once     https://docs.invalid\n    after-commit     broken in 1 of 1 cells\n      bench run --runtime"
        in shown
    )
    assert bench(["rescore", "run-1", "--check"]) == Exit.REFUSED
    assert "what the runtime promises changed (nothing written)" in capsys.readouterr().out
    assert bench(["rescore", "run-1"]) == Exit.COMPLETED
    assert Store.open(run).header.promises == (), "blind-retry promises nothing"
    assert json.loads((run / "run.json").read_text()) == {**head, "promises": []}


@pytest.mark.parametrize("kind", ["workloads", "adapters", "runtimes", "boundaries", "providers"])
def test_every_list_has_a_table_and_json(run: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    assert bench(["list", kind, "--json"]) == Exit.COMPLETED
    told = json.loads(capsys.readouterr().out)
    assert bench(["list", kind]) == Exit.COMPLETED
    table = capsys.readouterr().out
    names = [one.get("name") or one["boundary"] for one in told]
    assert names
    assert all(f" {name} " in table for name in names)


def test_the_list_of_boundaries_is_the_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(["list", "boundaries", "--json"])
    assert [one["boundary"] for one in json.loads(capsys.readouterr().out)] == list(Boundary)


def test_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench([]) == Exit.COMPLETED
    text = " ".join(capsys.readouterr().out.split())
    assert all(f"{code.value} {code.meaning.split(':')[0].split('(')[0].strip()}" in text for code in Exit)
