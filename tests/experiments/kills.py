"""SIGKILL, SIGINT and SIGTERM of ``bench run`` at random moments: ``python -m tests.experiments.kills [N]``.

Each of N rounds signals a small sweep at a moment drawn uniformly from the length of an undisturbed one (a sweep that ends
before its signal is begun anew), now and then the resumed run as well; then resumes it to its end. After each signal: no
process, scratch folder or listening socket may stay, no line that was on disk may be lost, no history may be half written.
In the end the verdicts must be those of the undisturbed run. Prints a table; exit status 1 if anything was not so.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmark.errors import BenchError
from benchmark.exits import Exit
from benchmark.store import Store

ROOT = Path(__file__).resolve().parents[2]
SWEEP = (
    "run",
    *("--runtime", "blind-retry", "--workload", "charge-card", "--workload", "append-line", "--quick", "--repeat", "2"),
    *("--adapter", "find-only", "--adapter", "append-line"),
    *("--boundary", "none", "--boundary", "*-commit", "--boundary", "before-delivery", "--boundary", "agent-restart"),
)
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
ONCE_MORE = 0.3
"""How likely the resumed run is signalled too."""
PATIENCE_S = 300.0
GONE_S = 20.0
"""How long what a killed run had started may take to be gone: a warm interpreter finishes its own start first."""

Verdicts = dict[str, tuple[str, int, int, int]]


@dataclass
class Tally:
    """What was seen after the signals of one kind."""

    signals: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


class Bench:
    """``bench`` in a folder of its own; all that it starts is known by its folder for temporary files."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._folder = folder
        self._jobs = str(jobs)
        self._scratch = folder / "tmp"
        self._scratch.mkdir(parents=True)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "benchmark", *arguments, "--jobs", self._jobs],
            cwd=self._folder,
            env={**os.environ, "TMPDIR": str(self._scratch), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        process = self.start(*arguments)
        _, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, err

    def verdicts(self) -> Verdicts:
        store = Store.open(self._folder / "run")
        return {one.cell: (one.verdict, one.extra, one.missing, one.unresolved) for one in store.results()}

    def forget(self) -> None:
        """As if there had been no run."""
        shutil.rmtree(self._folder / "run", ignore_errors=True)

    def begun(self) -> bool:
        return (self._folder / "run" / "run.json").exists()

    def lines(self) -> list[bytes]:
        """The whole lines that are on disk."""
        file = self._folder / "run" / "cells.jsonl"
        return file.read_bytes().split(b"\n")[:-1] if file.exists() else []

    def faults_of_folder(self, before: list[bytes]) -> Iterator[str]:
        """What is lost or half written in the run's folder."""
        if self.lines()[: len(before)] != before:
            yield "a line that was on disk is gone"
        if not self.begun():
            return
        try:
            store = Store.open(self._folder / "run")
            for result in store.results():
                if store.has_history(result.cell):
                    store.history(result.cell)
        except BenchError as error:
            yield f"the run cannot be read: {error}"

    def left_over(self) -> list[str]:
        """Processes with their listening sockets, and files, that are ours and still there."""
        found = [f"folder {path.name}" for path in self._scratch.iterdir()]
        mark = str(self._scratch)
        for process in psutil.process_iter():
            try:
                if process.environ().get("TMPDIR") == mark or any(mark in part for part in process.cmdline()):
                    ports = [
                        each.laddr.port for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN
                    ]
                    found.append(f"process {process.pid} {' '.join(process.cmdline())} listening on {ports}")
            except psutil.Error:
                continue
        return found

    def gone(self) -> tuple[float, list[str]]:
        """Seconds until nothing was left, and what was left all the same."""
        began = time.monotonic()
        while (left := self.left_over()) and time.monotonic() - began < GONE_S:
            time.sleep(0.05)
        return time.monotonic() - began, left


class Experiment:
    """Rounds of one seed, each in a folder of its own."""

    def __init__(self, folder: Path, seed: int, jobs: int) -> None:
        self._folder = folder
        self._jobs = jobs
        self._random = random.Random(seed)
        self.tallies = {number: Tally() for number in SIGNALS}
        self.same = self.different = 0
        began = time.monotonic()
        undisturbed = Bench(folder / "undisturbed", jobs)
        code, err = undisturbed.run(*SWEEP, "--out", "run")
        if code != Exit.COMPLETED:
            raise SystemExit(f"the undisturbed run ended with {code}: {err}")
        self.length_s = time.monotonic() - began
        self.verdicts = undisturbed.verdicts()

    def round(self, number: int) -> None:
        """Signal a sweep, perhaps again, and take it to its end."""
        which = SIGNALS[number % len(SIGNALS)]
        bench = Bench(self._folder / f"round-{number}", self._jobs)
        while not self._signalled(bench, which):
            bench.forget()
        while self._random.random() < ONCE_MORE:
            self._signalled(bench, self._random.choice(SIGNALS))
        code, err = bench.run(*self._arguments(bench))
        faults = self.tallies[which].faults
        if code != Exit.COMPLETED:
            faults.append(f"round {number}: the run could not be completed: {code} {err.strip()[-300:]}")
            self.different += 1
        elif bench.verdicts() == self.verdicts:
            self.same += 1
        else:
            odd = {cell: (found, self.verdicts.get(cell)) for cell, found in bench.verdicts().items()}
            faults.append(f"round {number}: other verdicts: {[item for item in odd.items() if item[1][0] != item[1][1]]}")
            self.different += 1
        shutil.rmtree(self._folder / f"round-{number}")

    def _arguments(self, bench: Bench) -> tuple[str, ...]:
        return ("run", "--resume", "run") if bench.begun() else (*SWEEP, "--out", "run")

    def _signalled(self, bench: Bench, which: signal.Signals) -> bool:
        """Start a run and signal it; False if it had ended before."""
        tally = self.tallies[which]
        began, resumed = time.monotonic(), bench.begun()
        process = bench.start(*self._arguments(bench))
        try:
            process.wait(self._random.uniform(0, self.length_s))
        except subprocess.TimeoutExpired:
            before = bench.lines()
            tally.moments[_moment(bench.begun(), bool(before))] += 1
            if which is signal.SIGINT and self._random.random() < 0.5:
                os.killpg(process.pid, which)  # as a terminal does
            else:
                process.send_signal(which)
        else:
            process.communicate()
            if not resumed:
                self.length_s = min(self.length_s, time.monotonic() - began)  # the machine was busier before
            return False
        tally.signals += 1
        _, err = process.communicate(timeout=PATIENCE_S)
        tally.exits[process.returncode] += 1
        seconds, left = bench.gone()
        tally.slowest_s = max(tally.slowest_s, seconds)
        tally.faults += left
        tally.faults += bench.faults_of_folder(before)
        if "Traceback" in err or "Exception" in err:
            tally.faults.append(f"a traceback: {err.strip()[-300:]}")
        return True


MOMENTS = ("before the run", "before the first line", "after it")


def _moment(begun: bool, lines: bool) -> str:
    return MOMENTS[2] if lines else MOMENTS[1] if begun else MOMENTS[0]


def table(experiment: Experiment, rounds: int) -> str:
    """What was seen, as Markdown."""
    lines = [
        f"{rounds} rounds of {len(experiment.verdicts)} cells, {experiment.length_s:.0f} s undisturbed;",
        f"resumed to the same verdicts: {experiment.same}, to others or none: {experiment.different}",
        "",
        f"| signal | sent | {' | '.join(MOMENTS)} | exit status: times | left or lost | slowest to be gone |",
        "|---|" + "---:|" * 4 + "---|---:|---:|",
    ]
    for number, tally in experiment.tallies.items():
        counts = " | ".join(str(tally.moments[moment]) for moment in MOMENTS)
        exits = ", ".join(f"{code}: {count}" for code, count in sorted(tally.exits.items()))
        lines.append(
            f"| {number.name} | {tally.signals} | {counts} | {exits} | {len(tally.faults)} | {tally.slowest_s:.1f} s |"
        )
    return "\n".join([*lines, *(fault for tally in experiment.tallies.values() for fault in tally.faults)])


def main() -> int:
    parser = argparse.ArgumentParser(description="Signals to bench run at random moments.")
    parser.add_argument("rounds", nargs="?", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        experiment = Experiment(Path(folder), given.seed, given.jobs)
        for number in range(given.rounds):
            experiment.round(number)
            print(f"\r{number + 1}/{given.rounds}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        print(table(experiment, given.rounds))
    return int(bool(experiment.different or any(tally.faults for tally in experiment.tallies.values())))


if __name__ == "__main__":
    sys.exit(main())
