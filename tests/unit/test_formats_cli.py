from __future__ import annotations

import builtins
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from junitparser import JUnitXml

from benchmark import sweep
from benchmark.cells import Cell
from benchmark.cli import run as bench
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.results import CellResult, RunHeader, Verdict
from benchmark.store import Store
from benchmark.sweep import OnResult, SweepSettings, SweepSummary

Make = Callable[..., CellResult]
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
SWEEP = ("run", "--runtime", "blind-retry", "--cell", CONTROL, "--cell", STRUCK, "--out", "mine", "--no-report")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: RunHeader, result: Make) -> Path:
    monkeypatch.chdir(tmp_path)
    with Store.create(Path("results/run-1"), header) as store:
        wrong = {"verdict": Verdict.VIOLATED, "extra": 1, "duplicates": 1, "reason": "1 duplicate effect"}
        store.append(result(STRUCK, **wrong), None)
        store.append(result(CONTROL), None)
    return store.folder


READERS: dict[str, Callable[[bytes], Any]] = {
    "junit": lambda made: JUnitXml.fromstring(made).tests,
    "github": lambda made: made.decode().count("::error"),
    "markdown": lambda made: made.decode().count("### "),
    "csv": lambda made: len(pd.read_csv(io.BytesIO(made))),
    "parquet": lambda made: pyarrow.parquet.read_table(io.BytesIO(made)).num_rows,
    "json": lambda made: len(json.loads(made)["cells"]),
}
FOUND = {"junit": 2, "github": 1, "markdown": 1, "csv": 2, "parquet": 2, "json": 2}


@pytest.mark.parametrize("name", READERS)
def test_every_format_goes_to_a_file_or_to_standard_output(
    run: Path, capsysbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    assert bench(["export", "run-1", "--format", name, "--out", "made/it"]) == Exit.COMPLETED
    assert capsysbinary.readouterr().out == b""
    assert bench(["export", "run-1", "--format", name]) == Exit.COMPLETED
    made = capsysbinary.readouterr().out
    assert READERS[name](made) == FOUND[name]
    if name != "parquet":
        assert Path("made/it").read_bytes() == made


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_line_is_named_and_the_rest_is_exported(run: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    lines = (run / "cells.jsonl").read_text()
    (run / "cells.jsonl").write_text(lines + '{"schema_version": 9}\n' + '{"half": ')
    assert bench(["export", "run-1", "--format", name, "--out", "it"]) == Exit.USAGE
    err = capsys.readouterr().err
    assert "bench: results/run-1/cells.jsonl:3: schema version 9; this version of bench reads 1\n" in err
    assert "bench: results/run-1/cells.jsonl:4: half a line" in err
    assert READERS[name](Path("it").read_bytes()) == FOUND[name]


def test_half_a_line_of_a_killed_run_is_no_damage(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (run / "cells.jsonl").open("a") as file:
        file.write('{"half": ')
    assert bench(["export", "run-1", "--format", "markdown", "--out", "it"]) == Exit.COMPLETED
    assert "half a line" in capsys.readouterr().err
    assert bench(["compare", "run-1", "run-1", "--json"]) == Exit.COMPLETED


def test_parquet_without_its_package_says_how_to_get_it(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pyarrow":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert bench(["export", "run-1", "--format", "parquet"]) == Exit.USAGE
    assert capsys.readouterr().err == "bench: Parquet needs pyarrow: pip install 'declared-effect-bench[parquet]'\n"


def test_known_violations_are_told_apart_only_where_a_format_can(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.txt").write_text("*.after-commit.*  extra\n")
    assert bench(["export", "run-1", "--format", "junit", "--expect", "known.txt"]) == Exit.COMPLETED
    assert JUnitXml.fromstring(capsys.readouterr().out.encode()).failures == 0
    assert bench(["export", "run-1", "--format", "csv", "--expect", "known.txt"]) == Exit.USAGE
    assert "csv tells every cell; only junit and github" in capsys.readouterr().err


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: Make, history: Callable[..., History]) -> None:
    """A sweep that finds a duplicate in the struck cell at once."""

    def run_sweep(settings: SweepSettings, on_result: OnResult) -> SweepSummary:
        for cell in settings.cells:
            on_result(result(cell.name, **_found(cell)), history(cell.name))
        return SweepSummary()

    monkeypatch.setattr(sweep, "run_sweep", run_sweep)
    monkeypatch.chdir(tmp_path)


def _found(cell: Cell) -> dict[str, Any]:
    if cell.boundary == "none":
        return {"wall_s": 0.1}
    return {"wall_s": 0.1, "verdict": Verdict.VIOLATED, "extra": 1, "duplicates": 1, "reason": "1 duplicate effect"}


@pytest.mark.usefixtures("swept")
def test_a_sweep_writes_its_job_summary_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert bench(list(SWEEP)) == Exit.COMPLETED
    assert "### Declared-Effect Bench: `blind-retry`" in Path("summary.md").read_text()


@pytest.mark.usefixtures("swept")
def test_a_job_summary_that_cannot_be_written_costs_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder")
    assert bench(list(SWEEP)) == Exit.COMPLETED


@pytest.mark.usefixtures("swept")
def test_expectations_are_made_to_agree_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.txt").write_text("# ours\n*.none.*  missing\n")
    assert bench([*SWEEP, "--expect", "known.txt"]) == Exit.REFUSED
    err = capsys.readouterr().err
    assert f"not expected: {STRUCK}  extra" in err
    assert "known.txt:2: stale" in err
    again = ["run", "--resume", "mine", "--no-report", "--expect", "known.txt"]
    assert bench([*again, "--update-expect"]) == Exit.COMPLETED
    assert "known.txt: 1 new, 1 stale; it agrees with this run now" in capsys.readouterr().err
    assert Path("known.txt").read_text() == f"# ours\n{STRUCK.rpartition('@')[0]}@*  extra\n"
    assert bench(again) == Exit.COMPLETED


@pytest.mark.usefixtures("swept")
def test_a_first_expectations_file_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench([*SWEEP, "--expect", "new.txt", "--update-expect"]) == Exit.COMPLETED
    assert Path("new.txt").read_text().endswith("  extra\n")
    assert bench([*SWEEP[:-3], "--update-expect"]) == Exit.USAGE
    assert "--update-expect: which file? give it with --expect FILE" in capsys.readouterr().err
