from __future__ import annotations

from pathlib import Path
from typing import Any

from junitparser import JUnitXml

from benchmark import expectations
from benchmark.counting import summarise
from benchmark.reporting import github, junit
from benchmark.results import Verdict
from tests.unit.runs_generated import NAMES, header, one_of

EXTRA, NOTHING = (1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)
SOME = (
    one_of(NAMES[0], NOTHING, None, "exactly what was declared"),
    one_of(NAMES[2], EXTRA, None, "1 duplicate effect"),
    one_of(NAMES[4], NOTHING, Verdict.HARNESS_ERROR, "witnesses differ"),
    one_of(NAMES[5], NOTHING, Verdict.NOT_APPLICABLE, "never gave up"),
)
RUN = summarise(header(SOME), SOME)


def cases(made: bytes) -> dict[str, Any]:
    return {case.name: case for suite in JUnitXml.fromstring(made) for case in suite}


def test_a_violation_fails_with_its_reason_and_ends_with_the_command_that_replays_it() -> None:
    (failure,) = cases(junit.xml(RUN, SOME))[NAMES[2]].result
    assert (failure.type, failure.message) == ("violated", "1 duplicate effect")
    assert failure.text.endswith(f"replay: bench run --runtime r --cell {NAMES[2]}")


def test_our_own_failure_is_an_error_and_what_was_not_judged_is_skipped() -> None:
    found = cases(junit.xml(RUN, SOME))
    assert found[NAMES[0]].is_passed
    assert found[NAMES[4]].is_error
    assert found[NAMES[5]].is_skipped


def test_a_known_violation_is_no_failure_and_a_stale_expectation_is_one(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("charge-card.client-token.after-commit.* extra\ncharge-card.client-token.none.* missing\n")
    found = cases(junit.xml(RUN, SOME, expectations.read(file)))
    (skipped,) = found[NAMES[2]].result
    assert skipped.message == f"known violation ({file}:1): 1 duplicate effect"
    (stale,) = found["charge-card.client-token.none.* missing"].result
    assert stale.message == f"{file}:2: stale, no cell shows it any more"


def test_annotations_name_a_cell_for_each_kind_or_only_what_is_new_and_stale(tmp_path: Path) -> None:
    told = github.commands(RUN, SOME)
    assert "::error title=extra%3A a duplicate in 1 cells::" in told
    assert f"%0Areplay: bench run --runtime r --cell {NAMES[2]}" in told
    file = tmp_path / "known.txt"
    file.write_text("*.after-commit.* extra\n*.none.* missing\n")
    told = github.commands(RUN, SOME, expectations.read(file))
    assert "a duplicate" not in told
    assert f"::error title=stale expectation::{file}:2" in told
