"""Installs a runtime and sweeps a few of its cells: ``smoke.py runtime-NAME [options of bench run]`` (tox -e runtime-NAME).

The exit code is that of ``bench run``: 0 whatever was found, 3 where the benchmark failed, 4 where nothing was judged.
"""

from __future__ import annotations

import sys

from benchmark.cli import run as bench
from benchmark.exits import Exit

FEW = ("--workload", "charge-card", "--adapter", "find-only", "--quick", "--no-report")


def main(name: str, *more: str) -> int:
    """The exit code of the first command that did not complete."""
    runtime = name.removeprefix("runtime-")
    installed = bench(["install", runtime])
    return installed if installed != Exit.COMPLETED else bench(["run", "--runtime", runtime, *FEW, *more])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
