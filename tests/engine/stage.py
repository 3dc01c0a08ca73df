"""Runs cells for real, in one warm laboratory, and gives back result and history by the cell's name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmark.catalog import Catalogue, load
from benchmark.catalog.folders import own
from benchmark.cells import Cell
from benchmark.history import History
from benchmark.results import CellResult
from benchmark.sweep import SweepSettings, run_sweep

CONTROL = "charge-card.find-only.none.-.-.stdio.2025-11-25.first-once.-@1"


def swept(
    runtime: str | Path, names: Iterable[str], *, catalogue: Catalogue | None = None, jobs: int = 4, preload: bool = True
) -> dict[str, tuple[CellResult, History | None]]:
    """Sweep these cells with a runtime (name or path); everything by the cell's name."""
    known = catalogue if catalogue is not None else load()
    found: dict[str, tuple[CellResult, History | None]] = {}

    def take(result: CellResult, history: History | None) -> None:
        found[result.cell] = (result, history)

    cells = tuple(Cell.parse(name) for name in names)
    run_sweep(SweepSettings(known.runtime(runtime), cells, known, jobs=jobs, preload=preload), take)
    return found


def preceded(folder: Path, runtime: str, prologue: str) -> Path:
    """A runtime of this name, made in ``folder``: a Python program that does something first, and then becomes no-retry."""
    source = own() / "adapters" / "runtimes" / "no-retry"
    program = source / "no_retry.py"
    declared = (source / "runtime.toml").read_text()
    for old, new in (
        ('name = "no-retry"', f'name = "{runtime}"'),
        (f'"{program.name}"', '"first.py"'),
        ("preload = true", "preload = false"),
    ):
        assert old in declared
        declared = declared.replace(old, new)
    place = folder / runtime
    place.mkdir()
    (place / "runtime.toml").write_text(declared)
    then = f"import os, sys\nos.execv(sys.executable, [sys.executable, {str(program)!r}])\n"
    (place / "first.py").write_text(prologue + then)
    return place


def name(
    boundary: str,
    *,
    variant: str = "-",
    manifestation: str = "-",
    mode: str = "stdio.2025-11-25",
    pair: str = "charge-card.find-only",
    strike: str = "first-once",
    repeat: int = 1,
) -> str:
    """A cell's name from the parts that a test cares about."""
    return f"{pair}.{boundary}.{variant}.{manifestation}.{mode}.{strike}.-@{repeat}"
