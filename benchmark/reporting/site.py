"""The static site of all published results: a league, a page for each runtime with its history, the method, the trophies."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, RootModel

from benchmark import glossary
from benchmark.boundaries import TABLE
from benchmark.compare import compare
from benchmark.comparison import Entry, Standing
from benchmark.contracts import Frozen
from benchmark.published import Published
from benchmark.reporting.comparison_pages import sentence
from benchmark.reporting.html.environment import environment
from benchmark.reporting.html.words import FIGURES, VERDICTS, does, number_of, story
from benchmark.reporting.site_folder import prepare, save
from benchmark.results import CellResult, Figure, RunHeader
from benchmark.summary import Counts, Side, Summary
from benchmark.trophies import Trophy

FILE = "site.json"
"""What the site holds, for programs; by it a folder is known to be one of ours."""


class Listed(Frozen):
    """A published result, as programs find it."""

    file: str = Field(description="Its place on the site.")
    started: str = Field(description="UTC, ISO 8601.")
    suite_hash: str
    answer: str = Field(description="What was found, in one plain sentence (truthful adapters).")


class Listing(RootModel[dict[str, tuple[Listed, ...]]]):
    """``site.json``: runtime → its published results, oldest first."""


@dataclass(frozen=True)
class Release:
    """One published result of a runtime."""

    path: Path
    kept: Published
    header: RunHeader
    results: tuple[CellResult, ...]
    summary: Summary

    @property
    def file(self) -> str:
        """Its place on the site."""
        return f"data/{self.header.runtime}-{self.path.name}"


@dataclass(frozen=True)
class Step:
    """A release in a runtime's history, and what had become of its cells since the one before."""

    release: Release
    since: str


@dataclass(frozen=True)
class Place:
    """A runtime in the league: its latest result."""

    name: str
    release: Release
    current: bool
    """Judged by the suite of the newest result of all."""
    common: dict[tuple[bool, str, Figure], Standing]
    index: int

    def counts(self, truthful: bool, boundary: str) -> Counts | None:
        """The runtime's own census at a boundary (or ``all``)."""
        side = self.side(truthful)
        if side is None:
            return None
        row = side.row(boundary)
        return side.whole if boundary == "all" else row.counts if row else None

    def side(self, truthful: bool) -> Side | None:
        return self.release.summary.truthful if truthful else self.release.summary.treacherous

    def shared(self, truthful: bool, boundary: str, figure: Figure) -> tuple[int, int] | None:
        """(cells that show it, cells) of those that every runtime of the league judged."""
        line = self.common.get((truthful, boundary, figure))
        cells = line.cells[self.index] if line else None
        return None if line is None or cells is None else (cells, line.judged)


def write(runtimes: Mapping[str, Sequence[Release]], trophies: Sequence[Trophy], notes: Sequence[str], out: Path) -> Path:
    """Write the site of these releases (oldest first); the index's path. Raises UsageError where the folder is not ours.

    ``notes``: what could not be read.
    """
    prepare(out, FILE, "runtimes", "data")
    places = league(runtimes)
    save(
        out / "index.html",
        _page("site_index", places=places, slugs=boundaries_of(places), trophies=trophies, notes=notes, root="."),
    )
    save(out / "method.html", _page("site_method", kinds=_words(), rows=list(TABLE.values()), root="."))
    save(out / "trophies.html", _page("site_trophies", trophies=trophies, known=set(runtimes), root="."))
    for name, releases in runtimes.items():
        place = next(place for place in places if place.name == name)
        mine = [trophy for trophy in trophies if trophy.runtime == name]
        steps = history(releases)
        text = _page("site_runtime", place=place, run=place.release.summary, steps=steps, trophies=mine, root="..")
        save(out / "runtimes" / f"{name}.html", text)
        for release in releases:
            shutil.copyfile(release.path, out / release.file)
    save(out / FILE, _listing(runtimes).model_dump_json(indent=1) + "\n")
    return out / "index.html"


def league(runtimes: Mapping[str, Sequence[Release]]) -> list[Place]:
    """The latest result of each runtime, by name; those of the newest suite can be compared."""
    latest = {name: releases[-1] for name, releases in sorted(runtimes.items())}
    if not latest:
        return []
    newest = max(latest.values(), key=lambda release: release.header.started).header.suite_hash
    current = [name for name, release in latest.items() if release.header.suite_hash == newest]
    common: dict[tuple[bool, str, Figure], Standing] = {}
    if len(current) > 1:
        entries = [Entry(name, latest[name].header, latest[name].results) for name in current]
        common = {(line.truthful, line.boundary, line.figure): line for line in compare(entries).league}
    places = []
    for name, release in latest.items():
        fits = name in current
        places.append(Place(name, release, fits, common if fits else {}, current.index(name) if fits else 0))
    return places


def history(releases: Sequence[Release]) -> list[Step]:
    """Newest first, each compared with the one before."""
    steps = []
    for index, release in enumerate(releases):
        since = ""
        if index:
            entries = [Entry(one.path.stem, one.header, one.results) for one in (releases[index - 1], release)]
            since = sentence(compare(entries).pairs[0])
            if releases[index - 1].header.suite_hash != release.header.suite_hash:
                since = "Another suite than before: not comparable."
        steps.append(Step(release, since))
    return steps[::-1]


def boundaries_of(places: Sequence[Place]) -> dict[bool, list[str]]:
    """Boundaries that any runtime has results at, for truthful and treacherous adapters."""
    found = {}
    for truthful in (True, False):
        sides = [side for place in places if (side := place.side(truthful))]
        here = {row.boundary for side in sides for row in side.boundaries}
        if here:
            found[truthful] = [*(slug for slug in TABLE if slug in here), "all"]
    return found


def _words() -> list[tuple[str, list[glossary.Entry]]]:
    kinds = (glossary.Kind.VERDICT, glossary.Kind.METRIC, glossary.Kind.CLAIM, glossary.Kind.BLAME)
    return [
        (kind.value, [entry for word in glossary.words(kind) for entry in glossary.lookup(word) if entry.kind is kind])
        for kind in kinds
    ]


def _listing(runtimes: Mapping[str, Sequence[Release]]) -> Listing:
    return Listing(
        {
            name: tuple(
                Listed(
                    file=release.file,
                    started=release.header.started,
                    suite_hash=release.header.suite_hash,
                    answer=release.summary.answer,
                )
                for release in releases
            )
            for name, releases in runtimes.items()
        }
    )


def _page(template: str, **values: object) -> str:
    shared = {"figures": FIGURES, "verdicts": VERDICTS, "number_of": number_of, "does": does, "story": story}
    return environment().get_template(f"{template}.html.j2").render(**shared, **values)
