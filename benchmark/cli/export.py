"""``bench export``: a run for other programs: CI systems, spreadsheets, notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from benchmark import expectations
from benchmark.cli import sources
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.expectations import Expectation
from benchmark.reporting import exported, github, markdown
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult
from benchmark.summary import Summary


class Format(StrEnum):
    """What a run can be exported to."""

    JUNIT = "junit"
    GITHUB = "github"
    MARKDOWN = "markdown"
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


Expected = Sequence[Expectation] | None


def export(
    run: Annotated[str, typer.Argument(help="A run, or a published result.")],
    into: Annotated[
        Format,
        typer.Option("--format", help="github: annotations on standard output, and the job summary."),
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: standard output.")] = None,
    expect: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Expected violations: junit and github complain only of what is new or stale."),
    ] = None,
) -> None:
    """Write a run in another format: JUnit XML, GitHub annotations, Markdown, CSV, Parquet or JSON."""
    expected = expectations.read(expect) if expect is not None else None
    if expected is not None and into not in (Format.JUNIT, Format.GITHUB):
        raise UsageError(f"--expect: {into} tells every cell; only junit and github tell known violations apart")
    source = sources.load(run)
    made = _MAKERS[into](source.summary(), source.results, expected)
    _write(made, out)
    for note in source.notes:
        typer.echo(f"bench: {plain(note, 400)}", err=True)
    raise typer.Exit(Exit.USAGE if source.damaged else Exit.COMPLETED)


def _write(made: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(made)
        sys.stdout.flush()
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(made)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}") from None


def _junit(run: Summary, results: Sequence[CellResult], expected: Expected) -> bytes:
    from benchmark.reporting import junit

    return junit.xml(run, results, expected)


def _github(run: Summary, results: Sequence[CellResult], expected: Expected) -> bytes:
    github.summarise(lambda: markdown.run(run))
    return github.commands(run, results, expected).encode()


def _markdown(run: Summary, results: Sequence[CellResult], expected: Expected) -> bytes:
    return markdown.run(run).encode()


def _csv(run: Summary, results: Sequence[CellResult], expected: Expected) -> bytes:
    from benchmark.reporting import tables

    return tables.csv(run, results)


def _parquet(run: Summary, results: Sequence[CellResult], expected: Expected) -> bytes:
    from benchmark.reporting import tables

    return tables.parquet(run, results)


def _json(run: Summary, results: Sequence[CellResult], expected: Expected) -> bytes:
    return exported.text(run, results)


_MAKERS: dict[Format, Callable[[Summary, Sequence[CellResult], Expected], bytes]] = {
    Format.JUNIT: _junit,
    Format.GITHUB: _github,
    Format.MARKDOWN: _markdown,
    Format.CSV: _csv,
    Format.PARQUET: _parquet,
    Format.JSON: _json,
}
