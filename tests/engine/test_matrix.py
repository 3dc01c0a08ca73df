"""The baselines against the predicted matrix, cell by cell, on the subset of the plan that CI runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.catalog import Catalogue, load
from benchmark.plan import ci_subset, plan
from benchmark.results import CellResult, Verdict
from tests.engine.agreement import disagreements
from tests.engine.stage import swept
from tests.prediction.predict import POLICIES

THIRD_PARTY = Path(__file__).resolve().parents[1] / "third_party"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def results_of(runtime: str | Path, catalogue: Catalogue) -> list[CellResult]:
    names = [cell.name for cell in ci_subset(catalogue, plan(catalogue))]
    return [result for result, _ in swept(runtime, names, catalogue=catalogue, jobs=6).values()]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_baseline_does_what_was_predicted_in_every_cell(policy: str, catalogue: Catalogue) -> None:
    results = results_of(policy, catalogue)
    assert [str(each) for each in disagreements(results, catalogue)] == []
    assert [result.reason for result in results if result.verdict is Verdict.HARNESS_ERROR] == []
    assert sum(result.verdict.judged for result in results) > len(results) // 2


@pytest.mark.parametrize(
    ("program", "policy"), [("node-blind-retry", "blind-retry"), ("python-keyed-blind-retry", "keyed-blind-retry")]
)
def test_programs_written_from_the_contract_alone_agree_in_extra_and_missing(
    program: str, policy: str, catalogue: Catalogue
) -> None:
    """But for what a client's manners decide: when it cancels (5), whether it validates, whether it resumes a stream."""
    results = [
        result
        for result in results_of(THIRD_PARTY / program, catalogue)
        if result.boundary != "during-cancel"
        and result.manifestation != "bad-result"
        and result.variant != "resumable"
        and result.verdict.judged
    ]
    assert results
    found = disagreements(results, catalogue, policy)
    assert [str(each) for each in found if {"extra", "missing"} & each.differs.keys()] == []
