"""Writes a report: one pass over the results, a page a cell as it goes by, the index at the end."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from benchmark.counting import Counting
from benchmark.errors import HarnessError, UsageError, closest
from benchmark.history import History
from benchmark.reporting.html import cellpage, index
from benchmark.reporting.html.celldata import CellData
from benchmark.reporting.html.environment import environment
from benchmark.reporting.html.pages import MOST, Pages, file_name
from benchmark.results import CellResult
from benchmark.salvage import Salvage
from benchmark.summary import Summary

MARK = "cells.js"
"""The file by which a folder is known to be a report."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    index: Path
    summary: Summary
    pages: int
    damaged: bool
    """Something of the run could not be read (half a line of a killed run is no damage)."""


def write(run: Salvage, out: Path, pages: Pages = Pages.AUTO) -> Written:
    """The report of one run in ``out``; raises UsageError where that folder holds something else."""
    try:
        return _Report(run, out, pages).write()
    except OSError as error:
        raise HarnessError(f"{error.filename or out}: cannot write the report: {error.strerror}") from error


def write_several(runs: Sequence[Salvage], out: Path, pages: Pages = Pages.AUTO) -> list[Written]:
    """A report of each run below ``out``, and an index of them."""
    _prepare(out)
    found = []
    for name, run in zip(_names(runs), runs, strict=True):
        found.append(write(run, out / name, pages))
    told = [(one.index.parent.name, one.summary) for one in found]
    (out / "index.html").write_text(environment().get_template("runs.html.j2").render(runs=told, root="."), encoding="utf-8")
    (out / MARK).write_text("")
    return found


def write_cells(run: Salvage, out: Path, cells: Iterable[str]) -> list[Path]:
    """The pages of these cells only, into a report that may exist already; raises UsageError for one that has none."""
    wanted = list(dict.fromkeys(cells))
    known = {result.cell: result for result in run if result.cell in set(wanted)}
    _prepare(out)
    written = []
    for name in wanted:
        if name not in known:
            near = closest(name, (result.cell for result in run))
            raise UsageError(f"{run.folder}: has no cell {name!r}{near}")
        history = run.store.history(name)
        place = out / "cells" / file_name(name)
        place.write_text(cellpage.render(run.header, known[name], history), encoding="utf-8", errors="replace")
        written.append(place)
    return written


def _names(runs: Sequence[Salvage]) -> list[str]:
    """A folder's name for each run; equal ones are numbered."""
    found: list[str] = []
    for run in runs:
        name = re.sub(r"[^A-Za-z0-9._-]", "-", run.folder.resolve().name).lstrip(".-") or "run"
        number, unique = 1, name
        while unique in found or unique in ("assets", "cells"):
            number += 1
            unique = f"{name}-{number}"
        found.append(unique)
    return found


def _prepare(out: Path) -> None:
    """The folder with its assets; what an earlier report left in it stays."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is no folder; choose another --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists() and not (out / "assets" / "report.css").exists():
        raise UsageError(f"{out}: holds something that is no report; choose another --out, or empty it")
    (out / "cells").mkdir(parents=True, exist_ok=True)
    (out / "assets").mkdir(exist_ok=True)
    for asset in resources.files("benchmark.reporting.html").joinpath("assets").iterdir():
        (out / "assets" / asset.name).write_bytes(asset.read_bytes())


class _Report:
    def __init__(self, run: Salvage, out: Path, pages: Pages) -> None:
        self._run, self._out, self._pages = run, out, pages
        self._small = run.lines <= MOST
        self._written: set[str] = set()
        self._notes: list[str] = []

    def write(self) -> Written:
        _prepare(self._out)
        shutil.rmtree(self._out / "cells", ignore_errors=True)
        (self._out / "cells").mkdir()
        counting, data = Counting(self._run.header), CellData()
        for result in self._run:
            counting.add(result)
            wanted = self._pages.wants(result, small=self._small, written=len(self._written))
            data.add(result, page=wanted and self._page(result))
        run = counting.finish()
        if self._pages is not Pages.NONE:
            late = [one.result for one in run.examples if one.result.cell not in self._written and self._page(one.result)]
            data.late.extend(result.cell for result in late)
        run = run.model_copy(update={"notes": (*self._run.notes, *self._notes)})
        with (self._out / MARK).open("w", encoding="utf-8") as file:
            file.writelines(data.script())
        page = index.render(run, data, frozenset(self._written), self._run.folder)
        (self._out / "index.html").write_text(page, encoding="utf-8", errors="replace")
        return Written(self._out / "index.html", run, len(self._written), self._run.damaged or bool(self._notes))

    def _page(self, result: CellResult) -> bool:
        """Write the cell's page; False where it has no history, or one that cannot be read."""
        history = self._history(result)
        if history is None:
            return False
        place = self._out / "cells" / file_name(result.cell)
        text = cellpage.render(self._run.header, result, history)
        place.write_text(text, encoding="utf-8", errors="replace")
        self._written.add(result.cell)
        return True

    def _history(self, result: CellResult) -> History | None:
        if not self._run.store.has_history(result.cell):
            return None
        try:
            return self._run.store.history(result.cell)
        except UsageError as error:
            if len(self._notes) < MOST:
                self._notes.append(f"{error}; the cell is listed, but has no page")
            return None
