"""What a report costs: seconds and memory for synthetic runs of a thousand cells to a million, each in a process of its own.

python -m benchmark.report_speed 1000 20000 1000000
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmark import synthetic
from benchmark.errors import HarnessError

SIZES = (1_000, 20_000, 1_000_000)
"""Cells of the runs that are measured."""


def measure(sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Figure → value; the runs are made first, which is not measured."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="bench-report-") as scratch:
        for cells in sizes:
            folder = synthetic.write(Path(scratch) / f"run-{cells}", cells)
            for name, value in _measured(folder, Path(scratch) / f"report-{cells}").items():
                found[f"{cells:,} cells: {name}"] = value
    return found


def _measured(folder: Path, out: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmark.report_speed", "--one", str(folder), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HarnessError(f"the report of {folder.name} failed: {done.stderr.strip()[-400:]}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _one(folder: Path, out: Path) -> dict[str, Any]:
    """Write one report, here."""
    from benchmark.reporting.html.report import write
    from benchmark.salvage import Salvage

    wall, cpu = time.monotonic(), time.process_time()
    written = write(Salvage(folder), out)
    return {
        "wall, s": round(time.monotonic() - wall, 2),
        "CPU, s": round(time.process_time() - cpu, 2),
        "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "index.html, kB": written.index.stat().st_size // 1000,
        "cells.js, kB": (out / "cells.js").stat().st_size // 1000,
        "pages": written.pages,
    }


def main(arguments: list[str]) -> None:
    """Measure the sizes given (default: a thousand, twenty thousand, a million)."""
    if arguments[:1] == ["--one"]:
        print(json.dumps(_one(Path(arguments[1]), Path(arguments[2]))))
        return
    for name, value in measure(tuple(map(int, arguments)) or SIZES).items():
        print(f"{name:<36} {value}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
