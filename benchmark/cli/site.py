"""``bench site``: a static site of all published results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark import published, trophies
from benchmark.cli import sources
from benchmark.counting import summarise
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.reporting.site import Release, write
from benchmark.reporting.untrusted import plain


def site(
    folder: Annotated[Path, typer.Option("--from", metavar="DIR", help="Where published results lie.")] = sources.PUBLISHED,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the site goes.")] = Path("reports/site"),
) -> None:
    """Build a static site of all published results: league, a page for each runtime, method, trophies."""
    found, notes = releases(folder)
    if not found and not notes:
        raise UsageError(f"{folder}: holds no published results; bench publish RUN makes one")
    print(write(found, trophies.read(folder), notes, out))
    for note in notes:
        typer.echo(f"bench: {plain(note, 400)}", err=True)
    raise typer.Exit(Exit.USAGE if notes else Exit.COMPLETED)


def releases(folder: Path) -> tuple[dict[str, list[Release]], list[str]]:
    """Runtime → its published results, oldest first; and what could not be read."""
    found: dict[str, list[Release]] = {}
    notes: list[str] = []
    for path in (path for paths in sources.published_files(folder).values() for path in paths):
        try:
            release = _release(path)
        except UsageError as error:
            notes.append(str(error))
        else:
            found.setdefault(release.header.runtime, []).append(release)
    for each in found.values():
        each.sort(key=lambda release: release.header.started)
    return found, notes


def _release(path: Path) -> Release:
    kept = published.read(path)
    header, results = kept.run_header(), kept.results()
    if published.place(header) != f"{path.parent.name}/{path.name}":
        raise UsageError(f"{path}: holds a result that belongs at {published.place(header)}")
    return Release(path, kept, header, results, summarise(header, results))
