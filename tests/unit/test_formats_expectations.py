from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.expectations import Comparison, compare, read, updated
from benchmark.results import CellResult
from tests.unit.runs_generated import NAMES, one_of, results

EXTRA, NOTHING = (1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)
LINES = st.lists(
    st.sampled_from(
        [
            "# a comment",
            "",
            "*.after-commit.*  extra",
            "charge-card.*  violated  # known",
            f"{NAMES[3]} missing",
            "*@1 unresolved",
        ]
    ),
    max_size=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("expectations")


def against(folder: Path, text: str, some: Sequence[CellResult], *, narrowed: bool = False) -> Comparison:
    file = folder / "known.txt"
    file.write_text(text)
    return compare(read(file), some, narrowed=narrowed)


@given(LINES, results(), st.booleans())
def test_an_updated_file_agrees_with_the_run_it_was_updated_from(
    folder: Path, lines: list[str], some: tuple[CellResult, ...], narrowed: bool
) -> None:
    text = "\n".join(lines) + "\n"
    after = updated(text, against(folder, text, some, narrowed=narrowed), some, narrowed=narrowed)
    assert against(folder, after, some, narrowed=narrowed).agrees
    again = updated(after, against(folder, after, some, narrowed=narrowed), some, narrowed=narrowed)
    assert again == after


def test_an_update_keeps_comments_and_takes_out_what_is_stale(folder: Path) -> None:
    some = [one_of(NAMES[2], EXTRA, None), one_of(NAMES[0], NOTHING, None)]
    text = "# ours\n*.none.*  missing  # fixed meanwhile\n\n# theirs\n"
    after = updated(text, against(folder, text, some), some, narrowed=False)
    assert after == f"# ours\n\n# theirs\n{NAMES[2].rpartition('@')[0]}@*  extra\n"


def test_only_a_whole_run_is_told_in_globs(folder: Path) -> None:
    some = [one_of(name, EXTRA, None) for name in (NAMES[2], NAMES[2].replace("reset", "error"))]
    whole = updated("", against(folder, "", some), some, narrowed=False)
    assert whole == "charge-card.client-token.after-commit.*  extra\n"
    assert updated("", against(folder, "", some), some, narrowed=True).count("\n") == 2
