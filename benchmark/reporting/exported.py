"""The whole of a run as one JSON document: its summary, and every cell's result."""

from __future__ import annotations

import json
from collections.abc import Iterable

from benchmark.contracts import Frozen
from benchmark.results import CellResult
from benchmark.summary import Summary


class Exported(Frozen):
    """What ``bench export --format json`` writes."""

    summary: Summary
    cells: tuple[CellResult, ...]


def text(run: Summary, results: Iterable[CellResult]) -> bytes:
    """The document, in ASCII: whatever a runtime wrote is escaped."""
    whole = Exported(summary=run, cells=tuple(results))
    return (json.dumps(whole.model_dump(), indent=1) + "\n").encode("ascii")
