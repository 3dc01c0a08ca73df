"""The HTML report shows the summary's figures and no others, on generated runs."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import Phase, given, settings

from benchmark.counting import summarise
from benchmark.reporting.html.report import write
from benchmark.reporting.html.words import FIGURES, VERDICTS
from benchmark.results import CellResult, Figure, Verdict
from benchmark.salvage import Salvage
from benchmark.store import Store
from benchmark.summary import Side, Summary
from tests.report.pages_read import Page, Table, cells, read
from tests.unit.runs_generated import header, results

JUDGED = [verdict for verdict in Verdict if verdict.judged]


@settings(
    max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)  # each writes a report: shrinking takes minutes
@given(results())
def test_every_figure_of_the_page_is_the_summarys(found: Sequence[CellResult]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        with Store.create(folder, header(found)) as store:
            for result in found:
                store.append(result, None)
            kept = store.results()
        run = summarise(store.header, kept)
        written = write(Salvage(folder), Path(scratch) / "report")
        page = read(written.index)
        assert written.summary.model_dump(exclude={"notes"}) == run.model_dump(exclude={"notes"})
        assert run.answer in " ".join(page.text.split())
        assert _profiles(page) == [_lines(side) for side in run.sides]
        assert _heats(page) == {key: count for side in run.sides for key, count in _squares(side).items()}
        _check_cells(Path(scratch) / "report", run, kept)


def _profiles(page: Page) -> list[list[list[str]]]:
    """judged, cells, stimuli and figures of each row, for each side."""
    tables = [table for table in page.tables if table.rows[0][:2] == ["boundary", "seen"]]
    return [[_counted(row) for row in table.rows[1:]] for table in tables]


def _counted(row: list[str]) -> list[str]:
    return [*row[2].split(" of "), row[3], *("0" if told == "n/a" else told for told in (cell.strip() for cell in row[4:]))]


def _lines(side: Side) -> list[list[str]]:
    rows = [row.counts for row in side.boundaries] + [side.whole]
    return [[str(one) for one in (row.judged, row.cells, row.stimuli, *map(row.figure, FIGURES))] for row in rows]


def _heats(page: Page) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for table in (table for table in page.tables if "panel" in table.attributes.get("class", "")):
        by = ("workload", "adapter", "contract").index(table.rows[0][0])
        for row in table.rows[1:]:
            for boundary, told in zip(_boundaries(table), row[1:], strict=True):
                key = (table.attributes["data-adapters"], str(by), table.attributes["data-figure"], boundary, row[0])
                if told:
                    found[key] = re.sub(r"\s", "", told).replace("·0", "0")
    return found


def _boundaries(table: Table) -> list[str]:
    return [head.split()[-1] for head in table.rows[0][1:]]


def _squares(side: Side) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    which = "truthful" if side.truthful else "treacherous"
    for by, panes in enumerate((side.workloads, side.adapters, side.contracts)):
        for pane in panes:
            for figure in Figure:
                if figure is Figure.TORN and not side.whole.figure(figure):
                    continue
                counts = pane.counts
                told = f"{counts.figure(figure)}/{counts.judged}" if counts.judged else "–"
                found[which, str(by), figure.value, pane.boundary, pane.value] = told
    return found


def _check_cells(report: Path, run: Summary, kept: Sequence[CellResult]) -> None:
    """The list's data hold every cell with its verdict and figures."""
    data = cells(report)
    assert data["n"] == data["all"] == len(kept) == run.results
    verdicts = [data["texts"]["verdict"][index] for index in data["columns"]["verdict"]]
    assert {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts} == {
        verdict.value: count for verdict, count in run.verdicts.items()
    }
    for figure in Figure:
        column = data["columns"][figure.value]
        shown = sum(value for value, verdict in zip(column, verdicts, strict=True) if verdict in JUDGED)
        assert shown == sum(side.whole.totals[figure.value] for side in run.sides)
