"""The one exception tree.

BenchError
├── UsageError        the user's mistake: arguments, files, names; says where and what to do (exit code 2)
│   └── CatalogueError    a workload, tool.toml, provider.toml or runtime.toml is wrong (file, line, key)
├── HarnessError      the benchmark itself failed; a cell's verdict is ``harness-error`` (exit code 3)
│   └── OracleError       an oracle could not read the provider's state ("unknown", never "no effects")
└── Disturbed         a cell was disturbed before its verdict could count; it is run again
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class BenchError(Exception):
    """Base of every error this project raises on purpose."""


class UsageError(BenchError):
    """Something the user gave is wrong; the message names the place and the remedy."""


class CatalogueError(UsageError):
    """A catalogue file is wrong; the message starts with ``FILE:LINE: key``."""


class HarnessError(BenchError):
    """The benchmark failed at its own work; never counted for or against a runtime."""


class OracleError(HarnessError):
    """An oracle could not read the external state."""


class Disturbed(BenchError):
    """A disturbance of ours (a busy machine) struck before the fault did; the cell runs again."""


def closest(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the closest known name, or an empty string."""
    match = get_close_matches(name[:200], list(known), n=1, cutoff=0.5)
    return f"; did you mean {match[0]!r}?" if match else ""
