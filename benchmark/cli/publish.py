"""``bench publish``: a run as one dated, compact file that is committed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from benchmark import published
from benchmark.cli import sources
from benchmark.cli.site import releases
from benchmark.cli.sources import Source
from benchmark.errors import UsageError
from benchmark.published import Published
from benchmark.reporting import league, site
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Verdict


def publish(
    run: Annotated[str, typer.Argument(help="A run: its folder, or its name below results/.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="Where published results lie.")] = sources.PUBLISHED,
    replace: Annotated[bool, typer.Option("--replace", help="Write over a result of the same day and suite.")] = False,
) -> None:
    """Write a finished run as DIR/RUNTIME/DATE-SUITE.json, and the league of all that lie there as DIR/README.md.

    It holds every cell's result, without histories and evidence.
    """
    source = sources.load(run)
    _refuse(source)
    target = into / published.place(source.header)
    if target.exists() and not replace:
        raise UsageError(f"{target}: is published already; --replace writes over it")
    text = made(source, datetime.now(UTC)).text()
    _write(target, text)
    found, notes = releases(into)
    _write(into / league.FILE, league.text(site.league(found)))
    typer.echo(f"{target}: {len(source.results)} cells, {len(text) // 1024 + 1} KiB")
    for warning in (*_warnings(source), *notes):
        typer.echo(f"note: {plain(warning, 400)}", err=True)


def _write(target: Path, text: str) -> None:
    """Whole, or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None


def made(source: Source, now: datetime) -> Published:
    """The published form of a run."""
    told = source.summary()
    place = {cell: index for index, cell in enumerate(source.header.cells)}

    def planned(result: CellResult) -> int:
        return place.get(result.cell, len(place))

    return Published(
        published=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        answer=told.answer,
        verdicts=told.verdicts,
        header=told.header,
        cells=tuple(published.compact(result) for result in sorted(source.results, key=planned)),
    )


def _refuse(source: Source) -> None:
    """Nobody should publish what is not whole."""
    if source.store is None:
        raise UsageError(f"{source.place}: is published already")
    if source.notes:
        raise UsageError(f"{source.notes[0]}; a damaged run is not published")
    left = len(set(source.header.cells) - {result.cell for result in source.results})
    if left:
        raise UsageError(
            f"{source.place}: {left} planned cells have no result yet; bench run --resume {source.place} runs them"
        )
    if not any(result.verdict.judged for result in source.results):
        raise UsageError(f"{source.place}: nothing in it was judged")


def _warnings(source: Source) -> list[str]:
    """What readers of the published result will hold against it."""
    header, found = source.header, []
    failed = sum(result.verdict is Verdict.HARNESS_ERROR for result in source.results)
    if failed:
        found.append(f"{failed} cells are harness errors")
    if header.git_commit and header.git_commit.endswith("+changes"):
        found.append("the checkout differed from its commit: run.json names a suite that nobody else has")
    if header.narrowed and not header.quick:
        found.append("filters left out part of the plan")
    if header.path is not None:
        found.append(f"the runtime was given by path: {header.path}")
    return found
