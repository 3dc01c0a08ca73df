from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from benchmark import published
from benchmark.cli import run as bench
from benchmark.cli import sources
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.published import Published, compact
from benchmark.results import CellResult, RunHeader, Verdict
from benchmark.store import Store
from tests.unit.runs_generated import TEXT, header, results

Make = Callable[..., CellResult]
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
TARGET = Path("results/published/blind-retry/2026-01-01-000000000000.json")


@given(results(TEXT))
def test_a_result_survives_being_published_but_for_its_evidence(some: tuple[CellResult, ...]) -> None:
    kept = Published(
        published="now", answer="", verdicts={}, header=header(()), cells=tuple(compact(result) for result in some)
    )
    if any("\ud800" in result.reason for result in some):  # half a surrogate pair is no JSON that anybody reads
        return
    assert Published.model_validate_json(kept.text()).results() == tuple(
        result.model_copy(update={"evidence": ""}) for result in some
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: RunHeader, result: Make) -> Path:
    """A finished run of two cells."""
    monkeypatch.chdir(tmp_path)
    with Store.create(Path("results/run-1"), header) as store:
        store.append(
            result(STRUCK, verdict=Verdict.VIOLATED, reason="1 duplicate effect", extra=1, duplicates=1, blame="runtime"),
            None,
        )
        store.append(result(CONTROL), None)
    return store.folder


def test_a_run_is_published_below_its_runtime_by_date_and_suite(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    assert capsys.readouterr().out == f"{TARGET}: 2 cells, 2 KiB\n"
    told = json.loads(TARGET.read_text())
    assert told["verdicts"] == {"violated": 1, "correct": 1}
    assert [line["cell"] for line in told["cells"]] == [CONTROL, STRUCK], "in the plan's order"
    assert "1 duplicate effect" in told["answer"]


def test_the_league_of_all_results_lies_beside_them(run: Path) -> None:
    head = json.loads((run / "run.json").read_text())
    promise = {"boundary": "after-commit", "says": "at-most-once", "source": "https://docs"}
    (run / "run.json").write_text(json.dumps({**head, "versions": {"a|b": "<b>1</b>"}, "promises": [promise]}))
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    league = Path("results/published/README.md").read_text()
    assert f"| [blind-retry]({TARGET.relative_to('results/published')}) | a\\|b \\<b\\>1\\</b\\> | 2026-01-01 |" in league
    extra = league.split("## extra: ")[1].split("## ")[0]
    assert "| runtime | none | 3 after-commit | all |" in extra
    assert "| blind-retry | 0/1 | **1**/1 | **1**/2 |" in extra
    assert f"bench run --runtime blind-retry --cell {STRUCK}" in league
    assert "| 3 after-commit | 1 of 1 | duplicates | runtime 1 | – |" in league
    assert "at-most-once (https://docs): after-commit **broken in 1 of 1 cells**<br>`bench run --runtime" in league


def test_what_is_published_is_not_written_over_unasked(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    assert bench(["publish", "run-1"]) == Exit.USAGE
    assert "is published already; --replace writes over it" in capsys.readouterr().err
    assert bench(["publish", "run-1", "--replace"]) == Exit.COMPLETED
    assert bench(["publish", "blind-retry"]) == Exit.USAGE


def test_half_a_run_or_a_damaged_one_is_not_published(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (run / "cells.jsonl").read_text().splitlines(keepends=True)
    (run / "cells.jsonl").write_text(lines[0])
    assert bench(["publish", "run-1"]) == Exit.USAGE
    assert "1 planned cells have no result yet; bench run --resume results/run-1 runs them" in capsys.readouterr().err
    (run / "cells.jsonl").write_text(lines[0] + "{}\n" + lines[1])
    assert bench(["publish", "run-1"]) == Exit.USAGE
    assert "a damaged run is not published" in capsys.readouterr().err
    assert not TARGET.exists()


def test_readers_are_told_what_to_hold_against_a_result(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**head, "git_commit": "abc+changes", "narrowed": True}))
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    err = capsys.readouterr().err
    assert "differed from its commit" in err
    assert "filters left out part of the plan" in err


@pytest.mark.parametrize("name", ["blind-retry", str(TARGET), "blind-retry/2026-01-01-000000000000"])
def test_a_published_result_is_found_by_its_runtime_or_its_file(run: Path, name: str) -> None:
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    found = sources.load(name)
    assert (found.label, len(found.results), found.history(STRUCK)) == ("blind-retry 2026-01-01", 2, None)


def test_runs_and_published_results_are_compared_and_exported_alike(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    capsys.readouterr()
    assert bench(["compare", "run-1", "blind-retry", "--json"]) == Exit.COMPLETED
    assert json.loads(capsys.readouterr().out)["pairs"][0]["marks"] == {"same": 2}
    assert bench(["export", "blind-retry", "--format", "json"]) == Exit.COMPLETED
    of_published = json.loads(capsys.readouterr().out)
    assert bench(["export", "run-1", "--format", "json"]) == Exit.COMPLETED
    of_run = json.loads(capsys.readouterr().out)
    assert of_published["summary"] == of_run["summary"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"schema_version": 1', '"schema_version": 2', "schema version 2; this version of bench reads 1"),
        ('"verdict":"violated"', '"verdict":"odd"', "cells[2]: verdict: Input should be"),
        (f'"{STRUCK}"', '"odd"', "cells[2]: 'odd' is not a cell's name"),
        ('"cells": [\n', '"cells": [}', "not a JSON object"),
        ('"cells": [\n', '"cells": ' + "[" * 100_000, "not a JSON object"),
        ('"cells": [\n', '"cells": [\n7, ', "cells.0: Input should be an object"),
        ('"cell":"', '"cell":null,"x":"', "cells[1]: "),
    ],
)
def test_a_damaged_published_result_names_its_file_and_place(run: Path, old: str, new: str, message: str) -> None:
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    text = TARGET.read_text()
    assert old in text
    TARGET.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as told:
        published.read(TARGET)
    assert str(told.value).startswith(str(TARGET))
    assert message in str(told.value)
    named = re.match(rf"{TARGET}:(\d+): ", str(told.value))
    assert named is not None
    if "cells" in message:
        assert "cell" in TARGET.read_text().splitlines()[int(named[1]) - 1]


def test_the_line_of_a_damaged_cell_is_its_own(run: Path) -> None:
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    text = TARGET.read_text()
    TARGET.write_text(text.replace(f'"{STRUCK}"', '"odd"'))
    line = next(number for number, line in enumerate(TARGET.read_text().splitlines(), 1) if '"odd"' in line)
    with pytest.raises(UsageError, match=rf"^{TARGET}:{line}: cells\[2\]: 'odd' is not a cell's name"):
        published.read(TARGET)


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden"])
def test_a_runtime_whose_name_is_no_folder_is_not_published(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be published"):
        published.place(header(()).model_copy(update={"runtime": name}))
