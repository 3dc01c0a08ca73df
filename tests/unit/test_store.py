from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.errors import HarnessError, UsageError
from benchmark.history import Event, History, Kind
from benchmark.results import CellResult, Verdict
from benchmark.store import RunHeader, Store

STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"

Make = Callable[..., CellResult]
MakeHistory = Callable[..., History]


def test_what_was_written_is_read_again(tmp_path: Path, header: RunHeader, result: Make, history: MakeHistory) -> None:
    told = result(extra=1, verdict=Verdict.VIOLATED, claims={"committed": 1})
    with Store.create(tmp_path / "run", header) as store:
        store.append(told, history())
    again = Store.open(tmp_path / "run")
    assert again.header == header
    assert again.results() == (told,)
    assert again.history(STRUCK) == history()
    assert again.notes == []


def test_the_last_line_of_a_cell_wins_and_order_is_that_of_the_first(
    tmp_path: Path, header: RunHeader, result: Make
) -> None:
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(CONTROL), None)
        store.append(result(STRUCK), None)
        store.append(result(CONTROL, verdict=Verdict.INCOMPLETE), None)
        assert [(one.cell, one.verdict) for one in store.results()] == [(CONTROL, "incomplete"), (STRUCK, "correct")]


def test_a_harness_error_is_not_done(tmp_path: Path, header: RunHeader, result: Make) -> None:
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(CONTROL, verdict=Verdict.HARNESS_ERROR), None)
        store.append(result(STRUCK, verdict=Verdict.UNTESTABLE), None)
        assert store.done() == {STRUCK}


@pytest.mark.parametrize("keep", [0, 1, 40, -1])
def test_a_torn_last_line_is_dropped_with_a_note_and_cut_off_on_resume(
    tmp_path: Path, header: RunHeader, result: Make, keep: int
) -> None:
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(CONTROL), None)
        whole = (tmp_path / "run/cells.jsonl").read_bytes()
        store.append(result(STRUCK), None)
    second = (tmp_path / "run/cells.jsonl").read_bytes()[len(whole) :]
    (tmp_path / "run/cells.jsonl").write_bytes(whole + second[:keep])

    reader = Store.open(tmp_path / "run")
    assert [one.cell for one in reader.results()] == [CONTROL]
    assert len(reader.notes) == (keep != 0)
    with Store.resume(tmp_path / "run") as resumed:
        assert resumed.done() == {CONTROL}
        resumed.append(result(STRUCK), None)
    assert Store.open(tmp_path / "run").done() == {CONTROL, STRUCK}


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path, header: RunHeader, result: Make) -> None:
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(CONTROL), None)
    with (tmp_path / "run/cells.jsonl").open("a") as file:
        file.write('{"cell": 1}\n')
    with pytest.raises(UsageError, match=r"cells\.jsonl:2: "):
        Store.open(tmp_path / "run").results()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", r"run\.json:1: not a JSON object"),
        ("[]", r"run\.json:1: not a JSON object"),
        ('{"schema_version": 99}', "schema version 99; this version of bench reads 1"),
        ('{"schema_version": 1}', r"run\.json:1: run: Field required"),
    ],
)
def test_a_broken_header_is_one_clear_usage_error(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=says):
        Store.open(tmp_path)


def test_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        Store.open(tmp_path / "nowhere")


def test_a_second_run_cannot_be_made_in_one_folder(tmp_path: Path, header: RunHeader) -> None:
    Store.create(tmp_path / "run", header).close()
    with pytest.raises(UsageError, match="--resume"):
        Store.create(tmp_path / "run", header)


def test_two_runs_cannot_write_one_folder_even_in_one_process(tmp_path: Path, header: RunHeader) -> None:
    with Store.create(tmp_path / "run", header), pytest.raises(UsageError, match="another run writes this folder"):
        Store.resume(tmp_path / "run")
    Store.resume(tmp_path / "run").close()


def test_two_processes_cannot_write_one_folder_and_a_killed_one_gives_it_free(tmp_path: Path, header: RunHeader) -> None:
    Store.create(tmp_path / "run", header).close()
    program = (
        "import sys, pathlib; from benchmark.store import Store;"
        "store = Store.resume(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "run")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match="another run writes this folder"):
            Store.resume(tmp_path / "run")
    finally:
        holder.kill()
        holder.communicate()
    Store.resume(tmp_path / "run").close()
    assert not (tmp_path / "run/.lock").exists()


def test_a_store_opened_for_reading_does_not_write(tmp_path: Path, header: RunHeader, result: Make) -> None:
    Store.create(tmp_path / "run", header).close()
    with pytest.raises(HarnessError, match="reading only"):
        Store.open(tmp_path / "run").append(result(), None)


def test_a_missing_history_names_the_closest_cell(
    tmp_path: Path, header: RunHeader, result: Make, history: MakeHistory
) -> None:
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(), history())
        with pytest.raises(UsageError, match=f"did you mean '{STRUCK}'"):
            store.history(STRUCK.replace("reset", "reste"))
        with pytest.raises(UsageError, match="no history"):
            store.history("../run")


def test_a_history_cut_short_is_named_by_file_and_line(
    tmp_path: Path, header: RunHeader, result: Make, history: MakeHistory
) -> None:
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(), history())
        path = tmp_path / "run/history" / f"{STRUCK}.jsonl"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:-1]))
        with pytest.raises(UsageError, match=rf"jsonl:{len(lines) - 1}: reading"):
            store.history(STRUCK)


def test_half_a_surrogate_pair_from_a_runtime_does_not_cost_the_cell(
    tmp_path: Path, header: RunHeader, result: Make, history: MakeHistory
) -> None:
    event = Event(n=1, t=0.0, kind=Kind.CALL, tool="charge", arguments={"order": "\ud800"})
    with Store.create(tmp_path / "run", header) as store:
        store.append(result(reason="\ud800"), history(events=(event,)))
        assert store.results()[0].reason == "?"
        assert store.history(STRUCK).events[0].arguments == {"order": "?"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(arguments=st.dictionaries(st.text(), JSON, max_size=3), detail=st.text())
def test_any_text_survives_line_ends_included(
    tmp_path_factory: pytest.TempPathFactory,
    header: RunHeader,
    result: Make,
    history: MakeHistory,
    arguments: dict[str, Any],
    detail: str,
) -> None:
    event = Event(n=1, t=0.0, kind=Kind.CALL, arguments=arguments, detail=detail)
    told, kept = result(reason=detail), history(events=(event,))
    folder = tmp_path_factory.mktemp("store") / "run"
    with Store.create(folder, header) as store:
        store.append(told, kept)
        assert store.results() == (told,)
        assert store.history(STRUCK) == kept
