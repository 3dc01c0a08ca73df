"""GitHub: annotations as workflow commands, and the job summary.

Syntax and limits: "Workflow commands for GitHub Actions", docs.github.com (ten annotations of a kind, 1 MiB of summary).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmark import expectations
from benchmark.expectations import Expectation
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Verdict
from benchmark.summary import Summary

MOST = 10
"""Annotations of one kind that GitHub shows."""


def commands(run: Summary, results: Sequence[CellResult], expected: Sequence[Expectation] | None = None) -> str:
    """The lines to print. With expectations, errors are what is new and what is stale, otherwise a cell for each kind."""
    lines = [_line("notice", f"bench: {run.header.runtime}", run.answer)]
    lines += _kinds(run) if expected is None else _differences(run, results, expected)
    failed = [one for one in results if one.verdict is Verdict.HARNESS_ERROR]
    if failed:
        lines.append(_line("warning", "harness error", f"{len(failed)} cells, such as {failed[0].cell}: {failed[0].reason}"))
    lines += [_line("warning", "damaged file", note) for note in run.notes[:MOST]]
    return "".join(f"{line}\n" for line in lines)


def summarise(make: Callable[[], str]) -> None:
    """Add what is made (Markdown) to the job summary, if there is one; one that cannot be written costs no run."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{make()}\n")
    except OSError:
        return


def _kinds(run: Summary) -> Iterator[str]:
    for one in run.examples[:MOST]:
        level = "error" if one.result.truthful else "warning"
        yield _line(
            level, f"{one.kind} in {one.cells} cells", f"{one.result.cell}: {one.result.reason}\nreplay: {one.replay}"
        )


def _differences(run: Summary, results: Sequence[CellResult], expected: Sequence[Expectation]) -> Iterator[str]:
    found = expectations.compare(expected, results, narrowed=run.header.narrowed or run.left > 0)
    for new in found.new[:MOST]:
        cell = new.result.cell
        yield _line("error", f"not expected: {new.shows}", f"{cell}: {new.result.reason}\nreplay: {run.replay(cell)}")
    for stale in found.stale[:MOST]:
        yield _line(
            "error", "stale expectation", f"{stale.place}: no cell shows it any more: {stale.pattern}  {stale.shows}"
        )


def _line(level: str, title: str, message: str) -> str:
    told = "%0A".join(_escaped(plain(line, 600)) for line in message.split("\n"))
    return f"::{level} title={_escaped(plain(title)).replace(':', '%3A').replace(',', '%2C')}::{told}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
