"""What a hostile runtime costs: its own cell, one clear line at most; no other cell, no memory, and nothing stays behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from benchmark import output
from benchmark.catalog import load
from benchmark.cells import Cell
from benchmark.history import History, Kind
from benchmark.results import CellResult, Verdict
from benchmark.sweep import SweepSettings, run_sweep
from tests.engine.stage import name

HOSTILE = Path(__file__).resolve().parents[1] / "hostile"
STDIO = name("none")
HTTP = name("none", mode="http.2026-07-28")
SESSION = name("none", mode="http.2025-11-25")
RESTART = name("agent-restart", variant="in-flight")
NEIGHBOUR = name("none", pair="append-line.append-line")
"""A cell in which the runtimes whose fault lies in a tool that it does not have are honest."""
FLAT = 48 << 20
"""Bytes that the conductor may grow by: less than half of what is thrown at it."""


class Ward:
    """Sweeps in a scratch root of its own, in which nothing may be left, and keeps what the conductor grew by."""

    def __init__(self, scratch: Path, logs: Path) -> None:
        self._scratch = scratch
        self._logs = logs
        self.grown = 0

    def __call__(self, runtime: str, *cells: str) -> dict[str, tuple[CellResult, History | None]]:
        found: dict[str, tuple[CellResult, History | None]] = {}
        catalogue = load()
        settings = SweepSettings(
            catalogue.runtime(HOSTILE / runtime), tuple(map(Cell.parse, cells)), catalogue, jobs=3, logs=self._logs
        )
        Path("/proc/self/clear_refs").write_text("5")  # begins a new peak
        before = _peak()
        run_sweep(settings, lambda result, history: found.update({result.cell: (result, history)}))
        self.grown = _peak() - before
        assert set(found) == set(cells)
        assert all("\n" not in result.reason and len(result.reason) < 200 for result, _ in found.values())
        assert self.left_over() == []
        return found

    def left_over(self) -> list[str]:
        """Processes (by the environment that they were started with, or by their arguments) and files."""
        mark = str(self._scratch)
        found = [path.name for path in self._scratch.iterdir()]
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("TMPDIR") == mark or any(mark in part for part in process.cmdline())
                if ours and process.pid != os.getpid():
                    found.append(f"{process.pid} {process.cmdline()}")
            except psutil.Error:
                continue
        return found


def _peak() -> int:
    """The largest resident set of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Ward]:
    """Whatever a library of ours wanted to tell a person counts as more than one line."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    yield Ward(scratch, tmp_path / "logs")
    assert [record.getMessage() for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}] == []


def said(history: History | None, kind: Kind) -> list[str]:
    assert history is not None
    return [event.detail for event in history.of(kind) if event.detail is not None]


def test_of_100_mb_printed_64_kb_are_kept_and_the_cell_is_judged(ward: Ward, tmp_path: Path) -> None:
    (result, _), *_ = ward("prints-100-mb", STDIO).values()
    assert result.verdict is Verdict.CORRECT
    (log,) = (tmp_path / "logs").iterdir()
    assert output.KEPT < log.stat().st_size < 2 * output.KEPT
    assert b"more bytes" in log.read_bytes()
    assert ward.grown < FLAT


@pytest.mark.parametrize("runtime", ["forks", "daemonises"])
def test_what_a_runtime_leaves_running_is_ended_with_it_and_does_nothing_more(ward: Ward, runtime: str) -> None:
    for result, _ in ward(runtime, STDIO, HTTP).values():
        assert (result.verdict, result.observed) == (Verdict.CORRECT, 1)


def test_a_restart_kills_daemons_too(ward: Ward) -> None:
    """The second incarnation does the work again; a daemon of the first would have done it a third time."""
    result, _ = ward("daemonises", RESTART)[RESTART]
    assert (result.exposed, result.observed, result.duplicates) == (True, 2, 1)


def test_a_runtime_that_is_deaf_to_every_signal_is_ended(ward: Ward) -> None:
    result, _ = ward("deaf", STDIO)[STDIO]
    assert (result.verdict, "still running" in result.reason) == (Verdict.UNTESTABLE, True)


def test_killing_its_parents_process_group_a_runtime_hits_its_own_cell_only(ward: Ward) -> None:
    found = ward("kills-its-parents-group", STDIO, NEIGHBOUR)
    assert found[NEIGHBOUR][0].verdict is Verdict.CORRECT
    assert said(found[STDIO][1], Kind.OUTCOME) == ["exit status -9"]


def test_traps_in_the_scratch_folder_catch_nobody(ward: Ward) -> None:
    found = ward("lays-traps", STDIO, RESTART)
    assert (found[STDIO][0].verdict, found[STDIO][0].state_bytes) == (Verdict.CORRECT, 0)
    assert found[RESTART][0].verdict is Verdict.HARNESS_ERROR
    assert found[RESTART][0].reason == "the runtime put something in our place: task-2.json"


@pytest.mark.parametrize(
    ("runtime", "why"),
    [
        ("outcome-huge", "is larger than 1048576 bytes"),
        ("outcome-fifo", "is no regular file"),
        ("outcome-folder", "cannot be read: Is a directory"),
        ("outcome-link", "cannot be read: it is a symbolic link"),
        ("outcome-linked", "cannot be read: it is a symbolic link"),
        ("outcome-deep", "broken outcome file"),
    ],
)
def test_what_is_no_outcome_file_is_silence_and_one_line(ward: Ward, runtime: str, why: str) -> None:
    result, history = ward(runtime, STDIO)[STDIO]
    assert (result.verdict, result.claims["silent"]) == (Verdict.UNRESOLVED, 1)
    assert [why in line for line in said(history, Kind.OUTCOME)] == [True]
    assert ward.grown < FLAT


def test_what_stands_for_the_outcome_of_a_killed_incarnation_is_removed(ward: Ward) -> None:
    """The first incarnation's folder is gone: else the second one could not make its own."""
    result, history = ward("outcome-folder", RESTART)[RESTART]
    assert (result.verdict, result.exposed) == (Verdict.VIOLATED, True)
    assert said(history, Kind.OUTCOME) == ["the outcome file cannot be read: Is a directory"]


def test_what_is_no_mcp_is_nobodys_effect_and_the_rest_is_judged(ward: Ward) -> None:
    for result, _ in ward("says-odd-things", STDIO, HTTP, SESSION, NEIGHBOUR).values():
        assert (result.verdict, result.observed) == (Verdict.CORRECT, 1), result.cell


def test_a_message_of_100_mb_is_refused_and_the_rest_is_judged(ward: Ward) -> None:
    found = ward("says-100-mb", STDIO, HTTP, NEIGHBOUR)
    assert {result.verdict for result, _ in found.values()} == {Verdict.CORRECT}
    for cell in (STDIO, HTTP):
        assert ["too large" in line for line in said(found[cell][1], Kind.NOTE)] == [True]
    assert ward.grown < FLAT


def test_a_flood_of_messages_or_connections_is_cut_off_and_keeps_nobody_else_waiting(ward: Ward) -> None:
    found = ward("floods", STDIO, HTTP, NEIGHBOUR)
    assert found[NEIGHBOUR][0].verdict is Verdict.CORRECT
    assert said(found[STDIO][1], Kind.NOTE) == ["the runtime said too much and is cut off"]
    assert ["at once" in line for line in said(found[HTTP][1], Kind.NOTE)] == [True]
    assert ward.grown < FLAT


def test_a_runtime_that_does_not_read_its_answers_blocks_nobody(ward: Ward) -> None:
    assert {result.verdict for result, _ in ward("never-reads", STDIO, HTTP, NEIGHBOUR).values()} == {Verdict.CORRECT}
    assert ward.grown < FLAT


@pytest.mark.parametrize("runtime", ["closes-at-once", "launches-oddly"])
def test_odd_openings_and_endings_are_survived(ward: Ward, runtime: str) -> None:
    assert {result.verdict for result, _ in ward(runtime, STDIO, HTTP).values()} == {Verdict.CORRECT}
