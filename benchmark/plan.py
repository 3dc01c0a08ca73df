"""The plan: which cells a sweep runs. It depends on the catalogue and the seed, never on the runtime.

*Breadth* has one cell for every workload × adapter × boundary, the other coordinates rotated so that all possible pairs of
(boundary and variant, manifestation, transport, protocol, strike, contract kind) occur. *Spine* has, for a few workload and
adapter pairs that stand for the contract kinds, every variant, manifestation, transport and protocol of every boundary (of
those beyond the ten only for the pairs that say so). What is beyond the ten never changes which other cells there are.
"""

from __future__ import annotations

import hashlib
import random
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product
from typing import Literal, Protocol

from benchmark.applicability import EVERYTHING, inapplicable, meaningless, struck
from benchmark.boundaries import TABLE, Row, Variant
from benchmark.cells import Cell, Strike, Which
from benchmark.contracts import ContractKind, Frozen
from benchmark.entries import Capabilities, Provider, ToolAdapter
from benchmark.intents import Workload
from benchmark.lint import runs

TRANSPORTS: tuple[Literal["stdio", "http"], ...] = ("stdio", "http")
PROTOCOLS: tuple[Literal["2025-11-25", "2026-07-28"], ...] = ("2025-11-25", "2026-07-28")
CI_SIZE = 64

Goal = tuple[Hashable, ...]
"""Something a selection must contain at least once: a pair of coordinates, or a single one."""


class Pair(Frozen):
    """One workload on one tool adapter, standing for a contract kind in the spine."""

    kind: ContractKind
    workload: str
    adapter: str
    beyond: bool = False
    """Also stands for the boundaries beyond the ten."""


class Spine(Frozen):
    """The content of ``workloads/_spine.toml``."""

    pair: tuple[Pair, ...]


class Suite(Protocol):
    """What the plan reads of a catalogue."""

    @property
    def workloads(self) -> Mapping[str, Workload]: ...
    @property
    def adapters(self) -> Mapping[str, ToolAdapter]: ...
    @property
    def providers(self) -> Mapping[str, Provider]: ...
    @property
    def spine(self) -> Sequence[Pair]: ...


@dataclass(frozen=True)
class Stage:
    """A workload on an adapter that it fits, with the provider behind."""

    workload: Workload
    adapter: ToolAdapter
    provider: Provider

    def reason(self, cell: Cell, capabilities: Capabilities = EVERYTHING) -> str | None:
        """Why the cell is not applicable; None: it is."""
        return inapplicable(capabilities, self.workload, self.adapter, self.provider, cell)

    def coordinates(self, row: Row, strikes: Iterable[Strike]) -> Iterator[Cell]:
        """Every cell of one boundary that the tables give a meaning."""
        for variant, manifestation, transport, protocol, strike in product(
            row.variants, row.manifestations, TRANSPORTS, PROTOCOLS, strikes
        ):
            cell = Cell(
                self.workload.name, self.adapter.name, row.boundary, variant, manifestation, transport, protocol, strike
            )
            if meaningless(self.workload, self.adapter, self.provider, cell) is None:
                yield cell

    @property
    def strikes(self) -> tuple[Strike, ...]:
        """Each call that can be named; its first, a middle and its last upstream request; once and at every attempt."""
        names: tuple[Which, ...] = ("first", "middle", "last")
        found = []
        for which in names[: 1 if len(self.workload.declared_calls) == 1 else 3]:
            base = Cell(self.workload.name, self.adapter.name, next(iter(TABLE)), strike=Strike(which))
            requests = struck(self.workload, self.adapter, base).upstream_requests
            found += [
                Strike(which, upstream, every)
                for upstream in sorted({1, requests // 2 + 1, max(requests, 1)})
                for every in (False, True)
            ]
        return tuple(found)


def stages(suite: Suite) -> Iterator[Stage]:
    """Every workload × adapter that it fits, by name."""
    for workload, adapter in product(sorted(suite.workloads), sorted(suite.adapters)):
        if runs(suite.workloads[workload], suite.adapters[adapter]):
            yield stage(suite, workload, adapter)


def stage(suite: Suite, workload: str, adapter: str) -> Stage:
    """The stage of these names, which the suite has."""
    entry = suite.adapters[adapter]
    return Stage(suite.workloads[workload], entry, suite.providers[entry.provider])


def plan(suite: Suite, seed: int = 0, *, quick: bool = False, repeat: int = 1) -> tuple[Cell, ...]:
    """The cells in the order of the plan, persona ``-``; ``quick``: the breadth alone; ``repeat``: so many of each."""
    cells = dict.fromkeys(breadth(suite, seed))
    if not quick:
        cells |= dict.fromkeys(spine(suite))
    return tuple(cell.repeated(number) for number in range(1, repeat + 1) for cell in cells)


def _having(row: Row, variants: Iterable[Variant]) -> Row:
    return replace(row, variants=tuple(variants))


_SHARES: tuple[tuple[Row, ...], ...] = (
    tuple(_having(row, (v for v in row.variants if not row.beyond(v))) for row in TABLE.values() if row.number <= 10),
    tuple(row for row in TABLE.values() if row.number > 10),
    tuple(_having(row, row.later) for row in TABLE.values() if row.later),
)
"""The table as it is planned, each share for itself: the ten, the boundaries beyond them, the variants that came later."""


def spine(suite: Suite) -> Iterator[Cell]:
    """Every variant, manifestation, transport and protocol of every boundary, for the suite's pairs; strike first-once."""
    for pair in suite.spine:
        here = stage(suite, pair.workload, pair.adapter)
        for rows in _SHARES if pair.beyond else _SHARES[:1]:
            for row in rows:
                yield from here.coordinates(row, (Strike(),))


def features(here: Stage, cell: Cell) -> tuple[Hashable, ...]:
    """The coordinates whose pairs the breadth must contain."""
    kind = here.adapter.kind(here.workload.tools)
    place = (cell.boundary, cell.variant)
    return (place, cell.manifestation, cell.transport, cell.protocol, cell.strike, kind)


@lru_cache(maxsize=8192)
def pairs(values: tuple[Hashable, ...]) -> tuple[Goal, ...]:
    """All pairs of values, each with the places it stands at."""
    return tuple((left, right, values[left], values[right]) for left, right in combinations(range(len(values)), 2))


def breadth(suite: Suite, seed: int = 0) -> tuple[Cell, ...]:
    """One cell for every stage and boundary, chosen for the pairs that are still rare; then the few that complete them."""
    seen: Counter[Goal] = Counter()
    return tuple(cell for rows in _SHARES for cell in _breadth(suite, seed, rows, seen))


def _breadth(suite: Suite, seed: int, rows: Sequence[Row], seen: Counter[Goal]) -> tuple[Cell, ...]:
    """The breadth of these rows; ``seen`` holds how often each goal was met, and is brought up to date."""
    chosen: list[Cell] = []
    sources: dict[tuple[Goal, ...], Cell] = {}
    order = _order(seed)
    for here in stages(suite):
        strikes = here.strikes
        for row in rows:
            known = list(here.coordinates(row, strikes))
            usable = {cell: pairs(features(here, cell)) for cell in known if here.reason(cell) is None}
            for cell, goals in usable.items():
                sources.setdefault(goals, cell)
            if usable:
                cell = _rarest(usable, seen, order)
                seen.update(usable[cell])
                chosen.append(cell)
            elif known:  # not applicable whatever the coordinates: one cell says why
                chosen.append(min(known, key=lambda cell: (cell.strike != Strike(), order(cell))))
    goals_of = {cell: goals for goals, cell in sources.items()}
    completing = _completing(goals_of, set(seen), order)
    for cell in completing:
        seen.update(goals_of[cell])
    return (*chosen, *completing)


def _order(seed: int) -> Callable[[Cell], int]:
    """A seeded order of cells that another cell more or less does not disturb."""
    return lambda cell: zlib.crc32(f"{seed} {cell.name}".encode())


def _rarest(goals: Mapping[Cell, Sequence[Goal]], seen: Counter[Goal], order: Callable[[Cell], int]) -> Cell:
    """The cell with the most unseen goals, then with the least often seen ones."""

    def rank(cell: Cell) -> tuple[int, int]:
        counts = [seen[goal] for goal in goals[cell]]
        return -counts.count(0), sum(counts)

    ranks = {cell: rank(cell) for cell in goals}
    best = min(ranks.values())
    return min((cell for cell in goals if ranks[cell] == best), key=order)


def _completing(
    goals: Mapping[Cell, Sequence[Goal]], seen: set[Goal], order: Callable[[Cell], int], most: int | None = None
) -> list[Cell]:
    """Greedily, the cells that meet every goal not yet seen; at most so many."""
    left = {cell: wanted for cell, each in goals.items() if (wanted := set(each) - seen)}
    added: list[Cell] = []
    while left and (most is None or len(added) < most):
        best = min(left, key=lambda cell: (-len(left[cell]), order(cell)))
        met = left[best]
        added.append(best)
        left = {cell: rest for cell, wanted in left.items() if (rest := wanted - met)}
    return added


def judgeable(suite: Suite, cells: Iterable[Cell], capabilities: Capabilities = EVERYTHING) -> tuple[Cell, ...]:
    """The cells that are applicable for a runtime of these capabilities."""
    return tuple(cell for cell in cells if stage(suite, cell.workload, cell.adapter).reason(cell, capabilities) is None)


def ci_subset(suite: Suite, cells: Iterable[Cell], size: int = CI_SIZE) -> tuple[Cell, ...]:
    """About ``size`` of the applicable cells, in plan order.

    Together they hold all pairs of (boundary and variant, manifestation, transport, protocol) that these cells hold, and
    every strike, contract kind, workload and adapter.
    """
    usable = judgeable(suite, cells)
    goals: dict[Cell, tuple[Goal, ...]] = {}
    for cell in usable:
        *paired, strike, kind = features(stage(suite, cell.workload, cell.adapter), cell)
        singles = (("strike", strike), ("kind", kind), ("workload", cell.workload), ("adapter", cell.adapter))
        goals[cell] = (*pairs(tuple(paired)), *singles)
    chosen = set(_completing(goals, set(), _order(0), size))
    return tuple(cell for cell in usable if cell in chosen)


def shuffled(cells: Iterable[Cell], seed: int) -> tuple[Cell, ...]:
    """The same cells in another order."""
    mixed = list(cells)
    random.Random(seed).shuffle(mixed)
    return tuple(mixed)


def plan_hash(cells: Iterable[Cell]) -> str:
    """Sixteen hex digits that tell plans apart; the order of the cells does not matter."""
    return hashlib.sha256("\n".join(sorted(cell.name for cell in cells)).encode()).hexdigest()[:16]
