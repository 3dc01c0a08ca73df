"""The command as a user runs it: a process of its own, real cells, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmark.exits import Exit
from benchmark.store import Store

pytestmark = pytest.mark.cells

ROOT = Path(__file__).resolve().parents[2]
SELECTED = (
    "run",
    "--runtime",
    "blind-retry",
    "--workload",
    "charge-card",
    "--adapter",
    "find-only",
    "--quick",
    "--jobs",
    "2",
)
PATIENCE_S = 120.0


class Bench:
    """Runs ``bench`` in a folder of its own, with a folder for temporary files of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scratch = folder / "tmp"
        self.scratch.mkdir()
        self._environment = {**os.environ, "TMPDIR": str(self.scratch), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "benchmark", *arguments],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def verdicts(self, run: str) -> dict[str, tuple[str, int, int]]:
        return {one.cell: (one.verdict, one.extra, one.missing) for one in Store.open(self.folder / run).results()}

    def broken_off(self, run: str, number: signal.Signals) -> tuple[int, str]:
        """Start the selected sweep and signal it once a few cells have ended; Ctrl-C reaches its children too."""
        process = self.start(*SELECTED, "--out", run)
        deadline = time.monotonic() + PATIENCE_S
        lines = self.folder / run / "cells.jsonl"
        while not lines.exists() or lines.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < deadline, "no cell ended in time"
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, err

    def left_over(self) -> list[str]:
        """Processes and scratch folders of ours that are still there after a moment."""
        deadline = time.monotonic() + 10.0
        while (
            left := self._processes() + sorted(path.name for path in self.scratch.iterdir())
        ) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left

    def _processes(self) -> list[str]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("TMPDIR") == str(self.scratch):
                    found.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_sweep_is_shown_and_rescored_to_the_same_verdicts(bench: Bench) -> None:
    code, out, err = bench(*SELECTED, "--boundary", "none", "--boundary", "*-commit", "--out", "run")
    assert code == Exit.COMPLETED, err
    assert "after-commit     duplicates" in out
    assert "Traceback" not in err
    found = bench.verdicts("run")
    assert {verdict for verdict, _, _ in found.values()} == {"correct", "incomplete", "violated"}
    struck = next(cell for cell in found if ".after-commit." in cell)
    assert "THE FAULT STRIKES" in bench("show", "run", struck)[1]
    assert bench("rescore", "run", "--check")[0] == Exit.COMPLETED
    assert bench.left_over() == []


def test_a_killed_sweep_goes_on_to_the_same_verdicts_and_leaves_nothing_behind(bench: Bench) -> None:
    assert bench(*SELECTED, "--out", "whole")[0] == Exit.COMPLETED
    code, _ = bench.broken_off("broken", signal.SIGKILL)
    assert code == -signal.SIGKILL
    kept = bench.verdicts("broken")
    assert 4 <= len(kept) < len(bench.verdicts("whole"))
    code, _, err = bench("run", "--resume", "broken")
    assert code == Exit.COMPLETED, err
    assert bench.verdicts("broken") == bench.verdicts("whole")
    assert bench.left_over() == []


def test_an_interrupted_sweep_keeps_its_results_says_how_to_go_on_and_leaves_nothing_behind(bench: Bench) -> None:
    code, err = bench.broken_off("broken", signal.SIGINT)
    assert code == Exit.INTERRUPTED
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "interrupted; go on with: bench run --resume broken"
    assert len(bench.verdicts("broken")) >= 4
    assert bench.left_over() == []
