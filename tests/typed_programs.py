"""Type-checks the programs whose names are not unique, each by itself: no two of them may be in one run of mypy."""

from __future__ import annotations

import sys
from pathlib import Path

from mypy import api

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("adapters/tools/*/server.py", "tests/third_party/*/*.py")


def main() -> int:
    """The number of programs with errors."""
    failed = 0
    for program in sorted(path for pattern in PROGRAMS for path in ROOT.glob(pattern)):
        out, err, status = api.run([str(program)])
        if status:
            failed += 1
            print(out + err, end="")
    return failed


if __name__ == "__main__":
    sys.exit(main())
