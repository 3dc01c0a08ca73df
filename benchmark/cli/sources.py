"""What the user calls a run: a folder below ``results/``, or a published result; read as far as it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark import published
from benchmark.cli.runs import RESULTS, find
from benchmark.comparison import Entry
from benchmark.counting import summarise
from benchmark.errors import UsageError, closest
from benchmark.history import History
from benchmark.results import CellResult, RunHeader
from benchmark.salvage import Salvage
from benchmark.store import Store
from benchmark.summary import Summary

PUBLISHED = RESULTS / "published"
"""Where published results lie: a folder for each runtime."""


@dataclass(frozen=True)
class Source:
    """A run, wherever it was found; ``notes``: FILE:LINE of everything that could not be read."""

    label: str
    place: Path
    header: RunHeader
    results: tuple[CellResult, ...]
    notes: tuple[str, ...]
    damaged: bool = False
    """Something could not be read that a killed run does not explain."""
    store: Store | None = None
    """Where the histories are; None: a published result has none."""

    def summary(self) -> Summary:
        """What every reporter tells of it."""
        return summarise(self.header, self.results, self.notes)

    def entry(self) -> Entry:
        """How ``compare`` takes it."""
        return Entry(self.label, self.header, self.results)

    def history(self, cell: str) -> History | None:
        """The history of a cell; None where none was kept. Raises UsageError naming file and line."""
        if self.store is None or not self.store.has_history(cell):
            return None
        return self.store.history(cell)


def load(name: str) -> Source:
    """The run or published result of a name; raises UsageError with the closest one where there is none."""
    file = _published(name)
    if file is not None:
        return of_file(file)
    try:
        folder = find(name)
    except UsageError as error:
        raise UsageError(f"{error}{_hint(name)}") from None
    return _of_folder(folder)


def load_all(names: Sequence[str]) -> tuple[Source, ...]:
    """Several, with labels that tell them apart."""
    found = [load(name) for name in names]
    labels = [source.label for source in found]
    return tuple(
        source if labels.count(source.label) == 1 else replace(source, label=f"{source.label} #{number}")
        for number, source in enumerate(found, 1)
    )


def of_file(path: Path) -> Source:
    """The published result in a file."""
    kept = published.read(path)
    header = kept.run_header()
    return Source(f"{header.runtime} {header.started[:10]}", path, header, kept.results(), ())


def published_files(folder: Path) -> dict[str, list[Path]]:
    """Runtime → its published results, oldest first."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*/*.json"), key=lambda path: (path.parent.name, path.name)):
        found.setdefault(path.parent.name, []).append(path)
    return found


def _of_folder(folder: Path) -> Source:
    salvage = Salvage(folder)
    results = tuple(salvage)
    return Source(salvage.header.run, folder, salvage.header, results, salvage.notes, salvage.damaged, salvage.store)


def _published(name: str) -> Path | None:
    """The file that a name means, if it means one: a path, ``<runtime>/<file>``, or a runtime (its latest)."""
    if Path(name).is_dir() or (RESULTS / name / "run.json").is_file():
        return None
    for path in (Path(name), PUBLISHED / name, PUBLISHED / f"{name}.json"):
        if path.suffix == ".json" and path.is_file():
            return path
    known = published_files(PUBLISHED)
    return known[name][-1] if name in known else None


def _hint(name: str) -> str:
    known = published_files(PUBLISHED)
    return f"; published results: {', '.join(known)}{closest(name, known)}" if known else ""
