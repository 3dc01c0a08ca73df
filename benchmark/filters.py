"""Filters for every coordinate of a cell: repeatable, with globs; a name that nothing has is the user's mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from benchmark.boundaries import TABLE, Boundary, Manifestation, Variant
from benchmark.cells import Cell
from benchmark.errors import UsageError, closest


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Patterns by coordinate: a cell is kept if each coordinate that has patterns matches one of them."""

    workload: tuple[str, ...] = ()
    adapter: tuple[str, ...] = ()
    boundary: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    manifestation: tuple[str, ...] = ()
    transport: tuple[str, ...] = ()
    protocol: tuple[str, ...] = ()
    strike: tuple[str, ...] = ()
    persona: tuple[str, ...] = ()
    repeat: tuple[str, ...] = ()
    cell: tuple[str, ...] = ()
    """Whole names. One without a glob is run even where the plan has no such cell, so that any result can be replayed."""

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """The coordinates that have patterns."""
        return {field.name: patterns for field in fields(self) if (patterns := getattr(self, field.name))}


CLOSED: Mapping[str, tuple[str, ...]] = {
    "boundary": tuple(map(str, Boundary)),
    "variant": tuple(map(str, Variant)),
    "manifestation": tuple(map(str, Manifestation)),
    "transport": ("stdio", "http"),
    "protocol": ("2025-11-25", "2026-07-28"),
    "persona": ("-", "once", "retry", "repair"),
}
"""Coordinates whose values are known without a plan."""


LISTS: Mapping[str, str] = {"workload": "workloads", "adapter": "adapters"}
"""Coordinates that ``bench list`` has a list of, besides those of the table of boundaries."""


def coordinates(cell: Cell) -> dict[str, str]:
    """Coordinate → value as the cell's name writes it (a strike with its slash)."""
    return {field.name: str(getattr(cell, field.name)) for field in fields(cell)} | {"cell": cell.name}


def select(cells: Iterable[Cell], filters: Filters, known: Mapping[str, Iterable[str]] | None = None) -> tuple[Cell, ...]:
    """The cells that pass, in order; raises UsageError for a pattern that no known value matches.

    ``known``: names that exist though no cell may have them (``workload`` and ``adapter`` of the catalogue).
    """
    pool = tuple(cells)
    wanted = {name: tuple(_plain(name, pattern) for pattern in patterns) for name, patterns in filters.given.items()}
    values = [coordinates(cell) for cell in pool]
    added = _named(wanted.get("cell", ()), pool, known or {})
    for name, patterns in wanted.items():
        existing = {each[name] for each in values} | set(CLOSED.get(name, ())) | set((known or {}).get(name, ()))
        existing |= {cell.name for cell in added} if name == "cell" else set()
        for pattern in patterns:
            _check(name, pattern, existing)
    found = [cell for cell, each in zip(pool, values, strict=True) if _passes(each, wanted)]
    return (*found, *(cell for cell in added if _passes(coordinates(cell), wanted)))


def _plain(name: str, pattern: str) -> str:
    """A boundary may be named by its number in the table, a strike as in a cell's name (``~`` for the slash)."""
    if name == "boundary" and re.fullmatch(r"[0-9]{1,3}", pattern):
        return next((str(row.boundary) for row in TABLE.values() if row.number == int(pattern)), pattern)
    return pattern.replace("~", "/") if name == "strike" else pattern


def _passes(values: Mapping[str, str], wanted: Mapping[str, Sequence[str]]) -> bool:
    return all(any(fnmatchcase(values[name], pattern) for pattern in patterns) for name, patterns in wanted.items())


def _check(name: str, pattern: str, existing: Iterable[str]) -> None:
    names = sorted(existing)
    if not any(fnmatchcase(each, pattern) for each in names):
        listing = "bench run --dry-run" if name in ("cell", "strike") else f"bench list {LISTS.get(name, 'boundaries')}"
        few = ", ".join(names) if len(names) <= 20 else f"{listing} shows all {len(names)}"
        raise UsageError(f"--{name} {pattern}: there is no such {name}{closest(pattern, names) or '; known: ' + few}")


def _named(patterns: Sequence[str], pool: Sequence[Cell], known: Mapping[str, Iterable[str]]) -> list[Cell]:
    """The cells named in full that the pool lacks, if their workload and adapter exist."""
    present = {cell.name for cell in pool}
    found = []
    for name in dict.fromkeys(patterns):
        if name in present or any(sign in name for sign in "*?["):
            continue
        try:
            cell = Cell.parse(name)
        except UsageError:
            continue  # answered with the closest name
        names = {"workload": cell.workload, "adapter": cell.adapter}
        if all(value in set(known.get(kind, ())) for kind, value in names.items()):
            found.append(cell)
    return found
