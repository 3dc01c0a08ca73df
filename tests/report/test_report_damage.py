"""A damaged run is reported as far as it goes; each fault is told once with file and line, and the exit code says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.cli import run as bench
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.results import CellResult, RunHeader
from benchmark.store import Store
from tests.report.pages_read import cells, read

Make = Callable[..., CellResult]
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"


@pytest.fixture
def run(
    tmp_path: Path, header: RunHeader, result: Make, history: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.chdir(tmp_path)
    with Store.create(Path("results/run-1"), header) as store:
        store.append(result(STRUCK), history(STRUCK))
        store.append(result(CONTROL), history(CONTROL))
    return Path("results/run-1")


def test_a_run_below_results_is_reported_below_reports(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["report", "run-1"]) == Exit.COMPLETED
    assert capsys.readouterr().out == "reports/run-1/index.html\n"
    assert cells(Path("reports/run-1"))["n"] == 2


def test_a_run_elsewhere_is_reported_inside_it(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.rename(tmp_path / "mine")
    assert bench(["report", "mine"]) == Exit.COMPLETED
    assert capsys.readouterr().out == "mine/report/index.html\n"


def test_a_bad_line_is_named_and_the_rest_is_reported(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (run / "cells.jsonl").open("a") as file:
        file.write('{"schema_version": 2, "cell": "x"}\n')
    assert bench(["report", str(run)]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert err == "bench: results/run-1/cells.jsonl:3: schema version 2; this version of bench reads 1\n"
    assert cells(Path(out.strip()).parent)["n"] == 2
    assert "cells.jsonl:3: schema version 2" in read(Path(out.strip())).text


def test_a_line_that_a_kill_cut_off_is_told_but_is_no_mistake(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (run / "cells.jsonl").open("a") as file:
        file.write('{"schema_version": 1, "ce')
    assert bench(["report", str(run)]) == Exit.COMPLETED
    assert "cells.jsonl:3: half a line" in capsys.readouterr().err


def test_a_history_that_cannot_be_read_costs_only_its_page(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "history" / f"{STRUCK}.jsonl").write_text('{"declaration": 1}\n{}\n')
    assert bench(["report", str(run)]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert f"history/{STRUCK}.jsonl:1: " in err
    report = Path(out.strip()).parent
    assert cells(report)["n"] == 2
    assert [path.stem for path in (report / "cells").iterdir()] == [CONTROL]


@pytest.mark.parametrize("text", [None, "{half", '{"schema_version": 9}', "\xff"])
def test_cells_are_reported_though_the_header_is_lost(
    run: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "run.json").unlink()
    if text is not None:
        (run / "run.json").write_bytes(text.encode("latin-1"))
    assert bench(["report", str(run)]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert str(run) in err
    assert cells(Path(out.strip()).parent)["n"] == 2


def test_of_several_runs_those_that_can_be_read_are_reported(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["report", "run-1", "run-2"]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert "there is no run 'run-2'" in err
    assert out.splitlines() == ["reports/run-1/index.html", "reports/run-1/run-1/index.html"]


def test_one_cells_page_is_written_on_demand(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["report", "run-1", "--cells", "none"]) == Exit.COMPLETED
    assert bench(["report", "run-1", "--cell", STRUCK]) == Exit.COMPLETED
    assert capsys.readouterr().out.splitlines()[-1] == f"reports/run-1/cells/{STRUCK}.html"
    assert bench(["report", "run-1", "--cell", STRUCK.replace("reset", "resett")]) == Exit.USAGE
