"""A published result: one dated, compact JSON file that holds a whole run but for its histories and evidence.

Each cell is one line of the file, and only what its name, the header and the defaults do not tell already. Such a file is
compared, exported and summed up like a run's folder.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from benchmark import plainfile
from benchmark.cells import Cell
from benchmark.contracts import Frozen
from benchmark.errors import UsageError
from benchmark.results import CellResult, RunHeader, Verdict

SCHEMA_VERSION = 1
LEFT_OUT = ("schema_version", "evidence")
"""Fields of a result that are not published: they belong to the histories, which stay with the run."""

Line = dict[str, Any]
"""One cell: its name, and each field of its result that is not what ``_known`` says."""


class Published(Frozen):
    """The file ``results/published/<runtime>/<date>-<suite>.json``."""

    schema_version: int = SCHEMA_VERSION
    published: str = Field(description="UTC, ISO 8601.")
    answer: str = Field(description="What was found, in one plain sentence (truthful adapters).")
    verdicts: dict[Verdict, int] = Field(description="Verdict → results.")
    header: RunHeader = Field(description="run.json; its `cells` are empty: each line of `cells` was planned.")
    cells: tuple[Line, ...] = Field(
        description="A cell's result each: what differs from its name, the header and the schema's defaults."
    )

    @model_validator(mode="after")
    def _every_line_is_a_result(self) -> Self:
        self.results()
        return self

    def results(self) -> tuple[CellResult, ...]:
        """Every cell's result, in the plan's order; raises ValueError naming the line's number."""
        return tuple(self._result(number, line) for number, line in enumerate(self.cells, 1))

    def run_header(self) -> RunHeader:
        """``run.json`` with its cells."""
        return self.header.model_copy(update={"cells": tuple(str(line.get("cell")) for line in self.cells)})

    def text(self) -> str:
        """The file's content: the head indented, each cell one line."""
        head = self.model_dump(mode="json", exclude={"cells"})
        lines = [json.dumps(line, ensure_ascii=True, separators=(",", ":")) for line in self.cells]
        return json.dumps(head, indent=1)[:-2] + ',\n "cells": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"

    def _result(self, number: int, line: Line) -> CellResult:
        try:
            return CellResult.model_validate({**_known(str(line.get("cell")), self.header.runtime), **line})
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in fault["loc"])
            raise ValueError(f"cells[{number}]: {place}: {fault['msg']}") from None
        except UsageError as error:
            raise ValueError(f"cells[{number}]: {error}") from None


def compact(result: CellResult) -> Line:
    """A result without what its cell's name, the runtime and the defaults tell; counts of nothing are left out."""
    known = _known(result.cell, result.runtime)
    told = result.model_dump(mode="json", exclude=set(LEFT_OUT))
    for name in ("claims", "funnel"):
        told[name] = {key: count for key, count in told[name].items() if count}
    kept = {name: value for name, value in told.items() if name not in known or known[name] != value}
    return {"cell": result.cell, **{name: value for name, value in kept.items() if name != "cell"}}


def place(header: RunHeader) -> str:
    """The file's place below the folder of published results: ``<runtime>/<date>-<suite>.json``; raises UsageError."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", header.runtime):
        raise UsageError(f"a runtime called {header.runtime!r} cannot be published: its name becomes a folder's")
    return f"{header.runtime}/{header.started[:10]}-{header.suite_hash[:12]}.json"


def read(path: Path) -> Published:
    """The published result in a file; raises UsageError naming file and line."""
    text = plainfile.text(path, most=None)
    try:
        data = json.loads(text)
        version = data.get("schema_version")
    except (ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}:{getattr(error, 'lineno', 1)}: not a JSON object: {error}") from None
    if version != SCHEMA_VERSION:
        raise UsageError(f"{path}:1: schema version {version!r}; this version of bench reads {SCHEMA_VERSION}")
    try:
        return Published.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place, told = ".".join(str(part) for part in fault["loc"]), str(fault["msg"]).removeprefix("Value error, ")
        where = f"{place}: {told}" if place else told
        raise UsageError(f"{path}:{_line(text, where)}: {where}") from None


def _line(text: str, where: str) -> int:
    """The line of a fault: of its cell, as ``Published.text`` writes them, else the first."""
    head, begun, _ = text.partition('\n "cells": [\n')
    named = re.match(r"cells(?:\[(\d+)\]|\.(\d+))", where)
    if not begun or named is None:
        return 1
    number = int(named[1]) if named[1] else int(named[2]) + 1
    return head.count("\n") + 2 + number


def _known(cell: str, runtime: str) -> dict[str, Any]:
    """What a cell's name, the header and the defaults say of its result."""
    parsed = Cell.parse(cell)
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in CellResult.model_fields.items()
        if not field.is_required()
    }
    return {
        **defaults,
        "rerun_reasons": [],
        "cell": cell,
        "runtime": runtime,
        "truthful": True,
        "workload": parsed.workload,
        "adapter": parsed.adapter,
        "boundary": parsed.boundary.value,
        "variant": parsed.variant.value,
        "manifestation": parsed.manifestation.value,
        "transport": parsed.transport,
        "protocol": parsed.protocol,
        "strike": str(parsed.strike),
        "persona": parsed.persona,
        "repeat": parsed.repeat,
        "injected": parsed.manifestation.value,
    }
