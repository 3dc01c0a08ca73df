"""Reads what can be read of a run's folder, one result at a time; what cannot is told once, with file and line.

``Store`` stops at the first fault, as whoever goes on with a run must; a report still tells the rest. Two passes over
``cells.jsonl`` and a set of names: a million lines need no million results in memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from benchmark import plainfile
from benchmark.cells import Cell
from benchmark.errors import UsageError
from benchmark.results import SCHEMA_VERSION, CellResult, RunHeader
from benchmark.store import Store, named_version, other_schema

MOST = 20
"""Faults that are told one by one; more are counted."""

_NAME = re.compile(rb'"cell":\s*"((?:[^"\\]|\\.)*)"')


class Salvage:
    """A run as far as it can be read. Iterating gives each cell's last result; ``notes`` grows on the first time through.

    ``lines``: of ``cells.jsonl``. ``damaged``: something could not be read, but for the half line that a killed run leaves.
    """

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where the folder holds neither ``run.json`` nor ``cells.jsonl``."""
        self.folder = folder
        self._cells = folder / "cells.jsonl"
        self._faults: list[str] = []
        self._counted = 0
        self.lines = 0
        self.damaged = False
        self._told = self._telling = False
        self.header = self._header()
        self.store = Store(folder, self.header)
        self._superseded = self._find_superseded()

    @property
    def notes(self) -> tuple[str, ...]:
        """FILE:LINE: why, for everything that was left out so far."""
        more = self._counted - len(self._faults)
        return (*self._faults, *([f"{self._cells}: {more} more lines like these"] if more > 0 else []))

    def __iter__(self) -> Iterator[CellResult]:
        self._telling = not self._told
        for number, line, whole in self._lines():
            if number in self._superseded or not line.strip():
                continue
            result = self._parse(line, number) if whole else None
            if result is not None:
                yield result
            elif not whole and line:
                self._note(number, "half a line: its run was killed while it wrote; the cell is left out", damage=False)
        self._told = True

    def _note(self, number: int, why: str, *, damage: bool = True) -> None:
        if not self._telling:
            return
        self.damaged |= damage
        self._counted += 1
        if len(self._faults) < MOST:
            self._faults.append(f"{self._cells}:{number}: {why}")

    def _parse(self, line: bytes, number: int) -> CellResult | None:
        try:
            result = CellResult.model_validate_json(line)
        except (ValidationError, ValueError) as error:
            self._note(number, _why(line, error))
            return None
        if result.schema_version != SCHEMA_VERSION:
            self._note(number, other_schema(result.schema_version))
            return None
        try:
            Cell.parse(result.cell)
        except UsageError as error:
            self._note(number, f"cell: {error}")
            return None
        return result

    def _lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """(number, line, whether it ends with a newline)."""
        if not os.path.lexists(self._cells):
            return
        with plainfile.opened(self._cells, None) as file:
            try:
                for number, line in enumerate(file, 1):
                    yield number, line, line.endswith(b"\n")
            except OSError as error:
                raise UsageError(f"{self._cells}:1: cannot be read: {error.strerror}") from None

    def _find_superseded(self) -> frozenset[int]:
        """Numbers of lines whose cell has a later line: a resumed or rescored run."""
        last: dict[bytes, int] = {}
        found = []
        for number, line, whole in self._lines():
            self.lines = number
            name = _NAME.search(line) if whole else None
            if name is None:
                continue
            if name[1] in last:
                found.append(last[name[1]])
            last[name[1]] = number
        return frozenset(found)

    def _header(self) -> RunHeader:
        try:
            return Store.open(self.folder).header
        except UsageError as error:
            if not self._cells.is_file():
                raise
            self._faults.append(f"{error}; what was run is not known, its cells are reported all the same")
            self._counted += 1
            self.damaged = True
            return self._stand_in()

    def _stand_in(self) -> RunHeader:
        """What the cells themselves tell of a run whose ``run.json`` cannot be read."""
        runtime = "unknown runtime"
        for _, line, _ in self._lines():
            try:
                runtime = CellResult.model_validate_json(line).runtime
                break
            except (ValidationError, ValueError):
                continue
        return RunHeader(
            run=self.folder.resolve().name,
            started="unknown",
            bench="unknown",
            argv=(),
            runtime=runtime,
            seed=0,
            jobs=0,
            preload=False,
            plan_hash="unknown",
            suite_hash="unknown",
            cells=(),
        )


def _why(line: bytes, error: Exception) -> str:
    """The first fault of a line, in a few words; a newer schema before anything that it may have changed."""
    version = named_version(line)
    if version not in (None, SCHEMA_VERSION):
        return other_schema(version)
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in fault["loc"])
        return f"{place}: {fault['msg']}" if place else str(fault["msg"])
    return str(error)
