"""What we write is what the published schemas say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from benchmark.cli import run as bench
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.results import CellResult, RunHeader, Verdict
from benchmark.store import Store

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"


def check(schema: str, data: Any) -> None:
    described = json.loads((SCHEMAS / f"{schema}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(described)
    jsonschema.Draft202012Validator(described).validate(data)


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    header: RunHeader,
    result: Callable[..., CellResult],
    history: Callable[..., History],
) -> Path:
    monkeypatch.chdir(tmp_path)
    with Store.create(Path("results/run-1"), header) as store:
        wrong = result(STRUCK, verdict=Verdict.VIOLATED, extra=1, duplicates=1, reason="1 duplicate effect")
        store.append(wrong, history(STRUCK))
        store.append(result(CONTROL), history(CONTROL))
    return store.folder


def test_every_file_of_a_run_satisfies_its_schema(run: Path) -> None:
    check("run", json.loads((run / "run.json").read_text()))
    for line in (run / "cells.jsonl").read_text().splitlines():
        check("cell", json.loads(line))
    first, *events, last = (run / "history" / f"{STRUCK}.jsonl").read_text().splitlines()
    check("declaration", json.loads(first)["declaration"])
    check("reading", json.loads(last)["reading"])
    for line in events:
        check("event", json.loads(line))


def test_what_is_exported_compared_and_published_satisfies_its_schema(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["export", "run-1", "--format", "json", "--out", "run.json"]) == Exit.COMPLETED
    check("export", json.loads(Path("run.json").read_text()))
    assert bench(["compare", "run-1", "run-1", "--out", "compared"]) == Exit.COMPLETED
    check("comparison", json.loads(Path("compared/comparison.json").read_text()))
    assert bench(["publish", "run-1"]) == Exit.COMPLETED
    (published,) = Path("results/published/blind-retry").iterdir()
    check("published", json.loads(published.read_text()))
    assert bench(["site"]) == Exit.COMPLETED
    check("site", json.loads(Path("reports/site/site.json").read_text()))
