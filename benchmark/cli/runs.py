"""Finding a run by what the user calls it."""

from __future__ import annotations

from pathlib import Path

from benchmark import plainfile
from benchmark.errors import UsageError, closest

RESULTS = Path("results")
"""Where runs are made and looked for, below the working directory."""


def find(name: str) -> Path:
    """The folder of a run: a path, or a name below ``results/`` or ``results/published/``; raises UsageError."""
    if not name.strip() or "\0" in name:
        raise UsageError(f"{name!r} is no run's name; give a folder, or its name below {RESULTS}/")
    for folder in (Path(name), RESULTS / name, RESULTS / "published" / name):
        if plainfile.exists(folder / "run.json"):
            return folder
    if Path(name).is_dir():
        raise UsageError(f"{name}: holds no run (no run.json); `bench run` makes one")
    known = [file.parent.name for file in sorted(RESULTS.glob("*/run.json")) + sorted(RESULTS.glob("published/*/run.json"))]
    told = closest(name, known) or (
        f"; known: {', '.join(known[:20])}" if known else "; `bench run --runtime NAME` makes one"
    )
    raise UsageError(f"there is no run {name!r}, neither as a folder nor below {RESULTS}/{told}")


def fresh(runtime: str, stamp: str) -> Path:
    """A folder that does not exist yet: ``results/<runtime>-<stamp>``, with a number where that is taken."""
    folder = RESULTS / f"{runtime}-{stamp}"
    number = 1
    while folder.exists():
        number += 1
        folder = RESULTS / f"{runtime}-{stamp}-{number}"
    return folder
