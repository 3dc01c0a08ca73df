"""The expected-violations file: what a runtime is known to get wrong, so that only what is new fails a build.

One expectation a line: a glob over cell names, then a figure or a verdict; ``#`` begins a comment. ::

    charge-card.send-message.after-commit.*   extra      # no key, and the framework retries
    *.find-unsettled.*                        unresolved

A line that no longer comes true is stale, and that is reported too: an improvement must not go unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from benchmark import plainfile
from benchmark.errors import UsageError, closest
from benchmark.results import CellResult, Figure, Verdict

FIGURES = (
    "extra",
    "duplicates",
    "strays",
    "compensated",
    "missing",
    "torn",
    "false_dedup",
    "unresolved",
    "avoidable",
    "misreported",
)
"""Fields of a result that count something bad; the six published figures and their parts."""

SHOWN = (*FIGURES, *(verdict.value for verdict in Verdict if verdict.value not in FIGURES))
"""Everything that an expectation or ``--fail-on`` may name."""


@dataclass(frozen=True)
class Expectation:
    """One line of the file."""

    pattern: str
    shows: str
    place: str
    """FILE:LINE."""

    def covers(self, cell: str) -> bool:
        return fnmatchcase(cell, self.pattern)


@dataclass(frozen=True)
class Surprise:
    """A cell that shows what no line expects."""

    result: CellResult
    shows: Figure

    @property
    def line(self) -> str:
        """The line that would expect it."""
        return f"{self.result.cell}  {self.shows}"


@dataclass(frozen=True)
class Comparison:
    """A run against the file."""

    new: tuple[Surprise, ...]
    stale: tuple[Expectation, ...]

    @property
    def agrees(self) -> bool:
        return not self.new and not self.stale


def read(path: Path) -> tuple[Expectation, ...]:
    """Every line of the file; raises UsageError naming file and line."""
    text = plainfile.text(path)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        place = f"{path}:{number}"
        if len(words) != 2:
            raise UsageError(
                f"{place}: a line holds a glob over cell names, then a figure or verdict; found {len(words)} words"
            )
        found.append(Expectation(words[0], named(words[1], place), place))
    return tuple(found)


def named(name: str, place: str) -> str:
    """The name of a figure or verdict, checked; raises UsageError with the closest one."""
    folded = name.replace("-", "_") if name.replace("-", "_") in FIGURES else name
    if folded not in SHOWN:
        remedy = closest(name, SHOWN) or f"; known: {', '.join(SHOWN)}"
        raise UsageError(f"{place}: {name!r} is neither a figure nor a verdict{remedy}")
    return folded


def shows(result: CellResult, name: str) -> bool:
    """Whether a result shows a figure (above zero, in a judged cell) or has a verdict."""
    if result.verdict == name:
        return True
    return name in FIGURES and result.verdict.judged and getattr(result, name) > 0


def compare(expected: Sequence[Expectation], results: Iterable[CellResult], *, narrowed: bool) -> Comparison:
    """What is new and what is stale; in a ``narrowed`` (filtered) run a line that covers none of its cells is not stale."""
    judged = [result for result in results if result.verdict.judged]
    new = []
    met: set[Expectation] = set()
    tried: set[Expectation] = set()
    index = _Index(expected)
    for result in judged:
        covering = index.covering(result.cell)
        tried.update(covering)
        true = [one for one in covering if shows(result, one.shows)]
        met.update(true)
        if any(one.shows == result.verdict and one.shows not in FIGURES for one in true):
            continue
        new += [Surprise(result, figure) for figure in Figure if shows(result, figure) and not _expects(true, figure)]
    stale = tuple(one for one in expected if one not in met and (one in tried or not narrowed))
    return Comparison(tuple(new), stale)


class _Index:
    """Expectations by what they cover: most name a cell, or a cell with all its repeats."""

    def __init__(self, expected: Sequence[Expectation]) -> None:
        self._named: dict[str, list[Expectation]] = {}
        self._globs: list[Expectation] = []
        for one in expected:
            literal = one.pattern.removesuffix("@*")
            if any(sign in literal for sign in "*?["):
                self._globs.append(one)
            else:
                self._named.setdefault(literal, []).append(one)

    def covering(self, cell: str) -> list[Expectation]:
        named = self._named.get(cell, []) + self._named.get(cell.rpartition("@")[0], [])
        return [one for one in (*named, *self._globs) if one.covers(cell)]


def updated(text: str, difference: Comparison, results: Iterable[CellResult], *, narrowed: bool) -> str:
    """The file's text with stale lines taken out and new ones put at its end; everything else stays as it is.

    A ``narrowed`` run says nothing about cells that it left out, so that only a whole one is told in globs.
    """
    stale = {int(one.place.rpartition(":")[2]) for one in difference.stale}
    kept = [line for number, line in enumerate(text.split("\n"), 1) if number not in stale]
    new = dict.fromkeys(_lines(difference.new, [one for one in results if one.verdict.judged], narrowed))
    head = "\n".join(kept).rstrip("\n")
    return "\n".join((*([head] if head else []), *new)) + "\n" if head or new else ""


def _lines(new: Sequence[Surprise], judged: Sequence[CellResult], narrowed: bool) -> Iterable[str]:
    """A line for each surprise: of a cell and its repeats, or of a workload, adapter and boundary if all of it shows it."""
    groups: dict[str, list[CellResult]] = {}
    for result in judged:
        groups.setdefault(_group(result), []).append(result)
    for surprise in new:
        group = groups[_group(surprise.result)]
        whole = len(group) > 1 and all(shows(result, surprise.shows) for result in group)
        pattern = (
            f"{_group(surprise.result)}.*" if whole and not narrowed else f"{surprise.result.cell.rpartition('@')[0]}@*"
        )
        yield f"{pattern}  {surprise.shows}"


def _group(result: CellResult) -> str:
    return f"{result.workload}.{result.adapter}.{result.boundary}"


_PART_OF = {"duplicates": "extra", "strays": "extra", "compensated": "extra", "avoidable": "unresolved"}


def _expects(true: Iterable[Expectation], figure: Figure) -> bool:
    return any(figure in (one.shows, _PART_OF.get(one.shows)) for one in true)
