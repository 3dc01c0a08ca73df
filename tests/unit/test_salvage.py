"""What can be read of a damaged run is read; what cannot is told once, with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.errors import UsageError
from benchmark.results import CellResult, RunHeader
from benchmark.salvage import Salvage
from benchmark.store import Store

Make = Callable[..., CellResult]
OTHER = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"


@pytest.fixture
def folder(tmp_path: Path, header: RunHeader, result: Make) -> Path:
    place = tmp_path / "run-1"
    with Store.create(place, header) as store:
        store.append(result(), None)
        store.append(result(OTHER), None)
    return place


def test_a_whole_run_is_read_as_the_store_reads_it_and_may_be_read_twice(folder: Path) -> None:
    run = Salvage(folder)
    assert tuple(run) == tuple(run) == Store.open(folder).results()
    assert run.notes == ()


def test_the_last_line_of_a_cell_counts(folder: Path, result: Make) -> None:
    with Store.resume(folder) as store:
        store.append(result(extra=3), None)
    assert sorted(one.extra for one in Salvage(folder)) == [0, 3]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{not json}\n", "Invalid JSON"),
        (b'{"schema_version": 2, "cell": "x", "new": 1}\n', "schema version 2; this version of bench reads 1"),
        (b'{"schema_version": 1, "cell": "x"}\n', "runtime: Field required"),
        (b"\xff\xfe\x00\n", "Invalid JSON"),
        (b'{"schema_version": 1, "cel', "half a line"),
    ],
)
def test_one_bad_line_costs_no_other_and_is_named(folder: Path, line: bytes, why: str) -> None:
    with (folder / "cells.jsonl").open("ab") as file:
        file.write(line)
    run = Salvage(folder)
    assert len(tuple(run)) == len(tuple(run)) == 2
    (note,) = run.notes
    assert f"{folder}/cells.jsonl:3: " in note
    assert why in note


def test_many_bad_lines_are_counted_not_listed(folder: Path) -> None:
    with (folder / "cells.jsonl").open("ab") as file:
        file.write(b"{}\n" * 1000)
    run = Salvage(folder)
    assert len(tuple(run)) == 2
    assert len(run.notes) == 21
    assert "980 more" in run.notes[-1]


def test_a_run_without_its_header_is_still_told(folder: Path) -> None:
    (folder / "run.json").write_text('{"schema_version": 7}')
    run = Salvage(folder)
    assert len(tuple(run)) == 2
    assert run.header.runtime == "blind-retry"
    assert "schema version 7" in run.notes[0]


def test_a_folder_without_a_run_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no run \(no run\.json\)"):
        Salvage(tmp_path)
