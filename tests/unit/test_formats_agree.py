"""Every reporter tells the same figures as the summary, on generated runs and on a real one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from junitparser import JUnitXml

from benchmark.counting import summarise
from benchmark.published import Published, compact
from benchmark.reporting import exported, junit, markdown, tables
from benchmark.reporting.console import conclude, console
from benchmark.results import CellResult, Figure, RunHeader, Verdict
from benchmark.summary import Counts, Summary
from tests.unit.runs_generated import header, results

ALL = "all"
Line = tuple[int, int, int, tuple[int, ...]]
"""Judged cells, cells, stimuli, and cells by figure; a figure of an unjudged boundary is 0."""

Told = dict[tuple[bool, str], Line]
"""Truthful adapters or not, boundary (or all) → the line."""


def _line(counts: Counts) -> Line:
    return counts.judged, counts.cells, counts.stimuli, tuple(counts.figure(figure) for figure in Figure)


def summed(run: Summary) -> Told:
    found = {(side.truthful, row.boundary): _line(row.counts) for side in run.sides for row in side.boundaries}
    return found | {(side.truthful, ALL): _line(side.whole) for side in run.sides}


def _numbers(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(0 if word == "n/a" else int(word.strip("*")) for word in words)


def from_console(run: Summary, some: Sequence[CellResult]) -> Told:
    stream = io.StringIO()
    conclude(console(stream), run)
    found: Told = {}
    truthful = True
    for line in stream.getvalue().split("\n"):
        if " · " in line:
            truthful = "treacherous" not in line
        row = re.fullmatch(r"\s*(?:\d+|–)?\s+([a-z-]+)\s+(\d+) of (\d+)\s+(\d+)((?:\s+(?:\d+|n/a)){6})\s*", line)
        if row:
            order = [Figure.EXTRA, Figure.MISSING, Figure.FALSE_DEDUP, Figure.UNRESOLVED, Figure.TORN, Figure.MISREPORTED]
            shown = dict(zip(order, _numbers(row[5].split()), strict=True))
            counts = int(row[2]), int(row[3]), int(row[4]), tuple(shown[figure] for figure in Figure)
            found[truthful, row[1]] = counts
    return found


def from_markdown(run: Summary, some: Sequence[CellResult]) -> Told:
    found: Told = {}
    truthful = True
    for line in markdown.run(run).split("\n"):
        truthful = truthful and "<summary>Treacherous" not in line
        parts = [part.strip() for part in line.strip("|").split(" | ")]
        if len(parts) == 10 and " of " in parts[1]:
            slug = ALL if parts[0] == "**all**" else parts[0].split()[-1]
            judged, cells = (int(number) for number in parts[1].split(" of "))
            found[truthful, slug] = judged, cells, int(parts[2]), _numbers(parts[3:9])
    return found


def from_junit(run: Summary, some: Sequence[CellResult]) -> Told:
    found: Told = {}
    for suite in JUnitXml.fromstring(junit.xml(run, some)):
        told = {one.name: one.value for one in suite.properties()}  # type: ignore[no-untyped-call]
        slug, _, lied = suite.name.partition(" ")
        counts = int(told["judged"]), int(told["cells"]), int(told["stimuli"])
        found[not lied, slug] = (*counts, _numbers([told[figure] for figure in Figure]))
    return found


def from_frame(frame: pd.DataFrame) -> Told:
    """Counted again from the rows, which hold no counts."""
    frame = frame.assign(base=frame["cell"].map(lambda name: name.rpartition("@")[0]))
    good = {verdict.value for verdict in Verdict if verdict.judged}
    found: Told = {}
    for truthful, side in frame.groupby("truthful"):
        for slug, part in [*side.groupby("boundary"), (ALL, side)]:
            judged = part[part["verdict"].isin(good)]
            shown = tuple(int(judged[judged[figure] > 0]["base"].nunique()) for figure in Figure)
            stimuli = int(judged[judged["stimulus"].fillna("") != ""]["stimulus"].nunique())
            found[bool(truthful), str(slug)] = int(judged["base"].nunique()), int(part["base"].nunique()), stimuli, shown
    return found


def from_csv(run: Summary, some: Sequence[CellResult]) -> Told:
    return from_frame(pd.read_csv(io.BytesIO(tables.csv(run, some))))


def from_parquet(run: Summary, some: Sequence[CellResult]) -> Told:
    return from_frame(pyarrow.parquet.read_table(io.BytesIO(tables.parquet(run, some))).to_pandas())


def from_json(run: Summary, some: Sequence[CellResult]) -> Told:
    return summed(exported.Exported.model_validate(json.loads(exported.text(run, some))).summary)


def from_published(run: Summary, some: Sequence[CellResult]) -> Told:
    """Written, read, and summed up again."""
    cells = tuple(compact(result) for result in some)
    made = Published(published="now", answer=run.answer, verdicts=run.verdicts, header=run.header, cells=cells)
    back = Published.model_validate_json(made.text())
    again = summarise(back.run_header(), back.results())
    assert (again.answer, again.verdicts) == (back.answer, back.verdicts)
    return summed(again)


REPORTERS: dict[str, Callable[[Summary, Sequence[CellResult]], Told]] = {
    "console": from_console,
    "markdown": from_markdown,
    "junit": from_junit,
    "csv": from_csv,
    "parquet": from_parquet,
    "json": from_json,
    "published": from_published,
}
WITHOUT_ALL = ("junit",)
"""A document of suites has no place for a line over all of them."""


def agree(name: str, head: RunHeader, some: Sequence[CellResult]) -> None:
    run = summarise(head, some)
    expected = {key: line for key, line in summed(run).items() if key[1] != ALL or name not in WITHOUT_ALL}
    assert REPORTERS[name](run, some) == expected


@pytest.mark.parametrize("name", REPORTERS)
@settings(max_examples=30)
@given(some=results())
def test_every_reporter_tells_the_figures_of_the_summary(name: str, some: tuple[CellResult, ...]) -> None:
    agree(name, header(some), some)


@given(some=results())
def test_junit_counts_every_result_once_and_fails_what_is_not_correct(some: tuple[CellResult, ...]) -> None:
    run = summarise(header(some), some)
    document = JUnitXml.fromstring(junit.xml(run, some))
    bad = sum(run.verdicts.get(one, 0) for one in (Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.UNRESOLVED))
    skipped = sum(run.verdicts.get(one, 0) for one in (Verdict.NOT_RUN, Verdict.NOT_APPLICABLE, Verdict.UNTESTABLE))
    counts = document.tests, document.failures, document.errors, document.skipped
    assert counts == (len(some), bad, run.verdicts.get(Verdict.HARNESS_ERROR, 0), skipped)


@given(some=results())
def test_a_row_of_csv_holds_the_figures_of_its_cell(some: tuple[CellResult, ...]) -> None:
    frame = pd.read_csv(io.BytesIO(tables.csv(summarise(header(some), some), some)))
    told = {row["cell"]: tuple(row[figure] for figure in Figure) for _, row in frame.iterrows()}
    assert told == {one.cell: tuple(getattr(one, figure) for figure in Figure) for one in some}


REAL = Path(__file__).parent / "published-example.json"


def _real() -> Iterator[tuple[RunHeader, tuple[CellResult, ...]]]:
    kept = Published.model_validate_json(REAL.read_text())
    yield kept.run_header(), kept.results()


@pytest.mark.parametrize("name", REPORTERS)
def test_every_reporter_tells_the_figures_of_a_real_run(name: str) -> None:
    """A quarter of a sweep of a baseline, as it was published."""
    for head, some in _real():
        agree(name, head, some)
