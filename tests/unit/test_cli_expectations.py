from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.errors import UsageError
from benchmark.expectations import compare, named, read
from benchmark.results import CellResult, Figure, Verdict

Make = Callable[..., CellResult]
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "expected.txt"
    path.write_text(text)
    return path


def violated(result: Make) -> CellResult:
    return result(STRUCK, verdict=Verdict.VIOLATED, extra=1, duplicates=1)


@pytest.mark.parametrize("line", [f"{STRUCK} extra", "charge-card.*  duplicates  # retries", "*.after-commit.* violated"])
def test_what_was_expected_is_not_new(tmp_path: Path, result: Make, line: str) -> None:
    found = compare(read(written(tmp_path, f"# known\n\n{line}\n")), [violated(result)], narrowed=False)
    assert found.agrees


def test_a_violation_that_no_line_expects_is_new_and_tells_the_line_to_add(tmp_path: Path, result: Make) -> None:
    found = compare(read(written(tmp_path, "put-*  extra\n")), [violated(result)], narrowed=True)
    assert [surprise.line for surprise in found.new] == [f"{STRUCK}  extra"]
    assert not found.agrees


def test_another_figure_of_an_expected_cell_is_still_new(tmp_path: Path, result: Make) -> None:
    both = result(STRUCK, verdict=Verdict.VIOLATED, extra=1, misreported=1)
    found = compare(read(written(tmp_path, f"{STRUCK} extra\n")), [both], narrowed=False)
    assert [surprise.shows for surprise in found.new] == [Figure.MISREPORTED]


def test_a_line_that_no_longer_comes_true_is_stale(tmp_path: Path, result: Make) -> None:
    found = compare(read(written(tmp_path, f"\n{STRUCK} extra\n")), [result(STRUCK)], narrowed=True)
    assert [(one.place, one.pattern) for one in found.stale] == [(f"{tmp_path}/expected.txt:2", STRUCK)]


@pytest.mark.parametrize(("narrowed", "stale"), [(True, 0), (False, 1)])
def test_a_line_about_cells_that_did_not_run_is_stale_only_in_a_whole_run(
    tmp_path: Path, result: Make, narrowed: bool, stale: int
) -> None:
    found = compare(read(written(tmp_path, "put-*  extra\n")), [result(STRUCK)], narrowed=narrowed)
    assert len(found.stale) == stale


def test_a_cell_that_could_not_be_judged_neither_confirms_nor_refutes(tmp_path: Path, result: Make) -> None:
    unjudged = result(STRUCK, verdict=Verdict.UNTESTABLE, extra=1)
    found = compare(read(written(tmp_path, f"{STRUCK} extra\n")), [unjudged], narrowed=True)
    assert found.agrees


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ok.* extra\none\n", r"expected\.txt:2: a line holds a glob"),
        ("a.* extr\n", r"expected\.txt:1: 'extr' is neither .*did you mean 'extra'"),
    ],
)
def test_a_broken_line_is_named_by_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read(written(tmp_path, text))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere: cannot be read: No such file"):
        read(tmp_path / "nowhere")


def test_figures_may_be_written_with_a_hyphen() -> None:
    assert named("false-dedup", "x") == "false_dedup"
    assert named("not-applicable", "x") == "not-applicable"
