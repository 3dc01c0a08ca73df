"""JUnit XML: a suite for each boundary (treacherous adapters apart), a test case for each cell.

A judged cell that is not ``correct`` fails, and its text ends with the command that replays it; a harness error is an error;
what was not judged is skipped. With an expectations file, known violations are skipped too, so that only what is new is red,
and stale expectations fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TypeVar

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from benchmark import expectations
from benchmark.expectations import Expectation
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Figure, Verdict
from benchmark.summary import Row, Side, Summary

Failed = TypeVar("Failed", Failure, Error)

LONGEST = 2000
"""Characters of any one text."""


def xml(run: Summary, results: Sequence[CellResult], expected: Sequence[Expectation] | None = None) -> bytes:
    """The document; characters that XML cannot hold are spelt out (``\\x1b``)."""
    known = _Known(run, results, expected or ())
    apart: dict[tuple[bool, str], list[CellResult]] = {}
    for result in results:
        apart.setdefault((result.truthful, result.boundary), []).append(result)
    document = JUnitXml(_told(f"bench {run.header.runtime}"))
    for side in run.sides:
        for row in side.boundaries:
            document.add_testsuite(_suite(run, side, row, apart[side.truthful, row.boundary], known))
    if expected is not None:
        document.add_testsuite(_stale(known))
    document.update_statistics()  # type: ignore[no-untyped-call]
    made = BytesIO()
    document.write(made)
    return made.getvalue()


class _Known:
    """What was to be expected: failing cells that surprise nobody, and lines that no longer come true."""

    def __init__(self, run: Summary, results: Sequence[CellResult], expected: Sequence[Expectation]) -> None:
        found = expectations.compare(expected, results, narrowed=run.header.narrowed or run.left > 0)
        new = {surprise.result.cell for surprise in found.new}
        self._expected = expected
        self._new = new
        self.stale = found.stale

    def why(self, result: CellResult) -> str | None:
        """Where a failing cell is expected; None: nowhere."""
        if result.cell in self._new:
            return None
        covering = [one.place for one in self._expected if one.covers(result.cell) and expectations.shows(result, one.shows)]
        return covering[0] if covering else None


def _suite(run: Summary, side: Side, row: Row, results: Sequence[CellResult], known: _Known) -> TestSuite:
    suite = TestSuite(_told(row.boundary) + ("" if side.truthful else " (treacherous adapters)"))
    suite.timestamp = run.header.started
    for name, value in _of_row(run, row):
        suite.add_property(name, _told(value))
    suite.add_testcases([_case(run, result, known) for result in results])
    return suite


def _of_row(run: Summary, row: Row) -> Iterable[tuple[str, object]]:
    """The run, and this boundary's line of the closing table."""
    header, counts = run.header, row.counts
    yield from (("runtime", header.runtime), ("run", header.run), ("suite_hash", header.suite_hash), ("seed", header.seed))
    yield from ((f"version.{name}", version) for name, version in header.versions.items())
    yield from (("cells", counts.cells), ("judged", counts.judged), ("stimuli", counts.stimuli))
    yield from ((figure.value, counts.figure(figure)) for figure in Figure)
    yield "profile", ", ".join(row.words)


def _case(run: Summary, result: CellResult, known: _Known) -> TestCase:
    case = TestCase(_told(result.cell), _told(f"{result.runtime}.{result.workload}.{result.adapter}"), result.wall_s)
    properties = Properties()  # type: ignore[no-untyped-call]
    for name, value in _of_cell(result):
        properties.append(Property(name, _told(value)))  # type: ignore[no-untyped-call]
    case.append(properties)  # type: ignore[no-untyped-call]
    outcome = _outcome(run, result, known)
    if outcome is not None:
        case.append(outcome)  # type: ignore[no-untyped-call]
    return case


def _of_cell(result: CellResult) -> Iterable[tuple[str, object]]:
    yield "verdict", result.verdict
    yield from ((figure.value, getattr(result, figure.value)) for figure in Figure)
    yield from (("declared", result.declared), ("observed", result.observed), ("avoidable", result.avoidable))
    told = {"blame": result.blame, "reaction": result.reaction, "seen_as": result.seen_as, "stimulus": result.stimulus}
    yield from ((name, value) for name, value in told.items() if value)


def _outcome(run: Summary, result: CellResult, known: _Known) -> Failure | Error | Skipped | None:
    reason = _told(result.reason or result.verdict)
    match result.verdict:
        case Verdict.CORRECT:
            return None
        case Verdict.VIOLATED | Verdict.INCOMPLETE | Verdict.UNRESOLVED:
            expected = known.why(result)
            if expected is not None:
                return Skipped(_told(f"known violation ({expected}): {reason}"), "expected")
            return _failed(Failure(reason, result.verdict.value), run, result)
        case Verdict.HARNESS_ERROR:
            return _failed(Error(reason, result.verdict.value), run, result)
        case Verdict.NOT_RUN | Verdict.NOT_APPLICABLE | Verdict.UNTESTABLE:
            return Skipped(_told(f"{result.verdict}: {reason}"), result.verdict.value)


def _failed(outcome: Failed, run: Summary, result: CellResult) -> Failed:
    """The outcome with its text: why, the proof, and the command that shows it again."""
    evidence = _told(result.evidence or "none recorded")
    outcome.text = "\n".join((_told(result.reason), f"evidence: {evidence}", f"replay: {_told(run.replay(result.cell))}"))
    return outcome


def _stale(known: _Known) -> TestSuite:
    suite = TestSuite("expectations")
    cases = []
    for one in known.stale:
        case = TestCase(_told(f"{one.pattern} {one.shows}"), "expectations", 0.0)
        case.append(Failure(_told(f"{one.place}: stale, no cell shows it any more"), "stale"))  # type: ignore[no-untyped-call]
        cases.append(case)
    suite.add_testcases(cases)
    return suite


def _told(value: object) -> str:
    return plain(value, LONGEST)
