"""Where the catalogue lies: the checkout's folders, the copy shipped in the wheel, and a company's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import benchmark
from benchmark.errors import UsageError

KINDS = ("workloads", "adapters", "oracles")
"""The folders that make a catalogue; any of them may be absent in a company's own."""


def own() -> Path:
    """The benchmark's own catalogue: the checkout that holds the package, else the copy inside the installed package."""
    package = Path(benchmark.__file__).resolve().parent
    for root in (package.parent, package / "_catalogue"):
        if (root / "workloads").is_dir() and (root / "adapters").is_dir():
            return root
    raise UsageError(
        f"no catalogue found: neither {package.parent} nor {package / '_catalogue'} holds workloads/ and adapters/; "
        "reinstall declared-effect-bench or run from a checkout"
    )


def roots(extra: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The own catalogue first, then the given folders, each once; raises UsageError for one that is no catalogue."""
    found = [own()]
    for folder in extra:
        root = Path(folder).expanduser().resolve()
        if not any((root / kind).is_dir() for kind in KINDS):
            raise UsageError(f"--catalog {folder}: no catalogue; it needs at least one of the folders {', '.join(KINDS)}")
        if root not in found:
            found.append(root)
    return tuple(found)
