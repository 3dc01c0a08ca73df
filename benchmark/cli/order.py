"""What is to be swept: a runtime, cells and a catalogue, from the command line or from a run that was broken off."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmark import applicability, catalog, environments, plan, provenance
from benchmark.catalog import Catalogue, Placed
from benchmark.cells import Cell
from benchmark.cli import runs
from benchmark.entries import Runtime
from benchmark.errors import UsageError
from benchmark.filters import Filters, select
from benchmark.store import RunHeader, Store

JOBS = max(2, min(8, 4 * (os.cpu_count() or 1)))
"""Cells at the same time, if the user does not say: for most of its life a cell waits."""


@dataclass
class Order:
    """What is to be swept."""

    catalogue: Catalogue
    runtime: Placed[Runtime]
    by_path: bool
    cells: tuple[Cell, ...]
    seed: int
    quick: bool = False
    narrowed: bool = False
    catalogs: tuple[str, ...] = ()
    store: Store | None = None
    jobs: int = JOBS
    preload: bool = True
    fail_fast: bool = False

    def reason(self, cell: Cell) -> str | None:
        """Why a cell is not applicable; None: it is."""
        stage = plan.stage(self.catalogue, cell.workload, cell.adapter)
        return stage.reason(cell, self.runtime.value.capabilities)


def new(
    runtime: str | None, folders: Sequence[Path], filters: Filters, *, quick: bool, repeat: int, seed: int, shuffle: bool
) -> Order:
    catalogue = catalog.load(folders)
    if runtime is None:
        raise UsageError(
            f"which runtime? give --runtime NAME or --runtime PATH; known: {', '.join(catalogue.runtime_files)}"
        )
    placed = catalogue.runtime(runtime)
    cells = _named(catalogue, filters, repeat) or _planned(
        catalogue, placed.value, filters, quick=quick, repeat=repeat, seed=seed
    )
    return Order(
        catalogue=catalogue,
        runtime=placed,
        by_path=runtime not in catalogue.runtime_files,
        cells=plan.shuffled(cells, seed) if shuffle else cells,
        seed=seed,
        quick=quick,
        narrowed=quick or bool(filters.given),
        catalogs=tuple(str(folder.resolve()) for folder in folders),
    )


def _named(catalogue: Catalogue, filters: Filters, repeat: int) -> tuple[Cell, ...]:
    """The cells of a command line that names nothing but whole cells, which needs no plan; empty if it is another one."""
    if set(filters.given) != {"cell"} or any(sign in name for name in filters.cell for sign in "*?["):
        return ()
    try:
        cells = select((), filters, {"workload": catalogue.workloads, "adapter": catalogue.adapters})
    except UsageError:
        return ()  # told again with the closest name of the plan
    return tuple(cell.repeated(cell.repeat + more) for more in range(repeat) for cell in cells)


def _planned(
    catalogue: Catalogue, runtime: Runtime, filters: Filters, *, quick: bool, repeat: int, seed: int
) -> tuple[Cell, ...]:
    """The cells of the plan that pass the filters; raises UsageError for a pattern that nothing matches."""
    cells = applicability.cast(runtime.capabilities, plan.plan(catalogue, seed, quick=quick, repeat=repeat))
    return select(cells, filters, {"workload": catalogue.workloads, "adapter": catalogue.adapters})


def resumed(run: str, runtime: str | None, folders: Sequence[Path] | None) -> Order:
    store = Store.resume(runs.find(run))
    header = store.header
    try:
        if runtime is not None and runtime not in (header.runtime, header.path):
            raise UsageError(f"{store.folder}: is a run of {header.runtime!r}, not of {runtime!r}")
        catalogue = catalog.load([Path(folder) for folder in header.catalogs] if folders is None else folders)
        if provenance.suite_hash(catalogue.roots) != header.suite_hash:
            raise UsageError(f"{store.folder}: the catalogue has changed since this run began; begin a new one")
        placed = catalogue.runtime(header.path or header.runtime)
        if header.runtime_hash and provenance.runtime_hash(environments.folders(placed)) != header.runtime_hash:
            raise UsageError(f"{store.folder}: the runtime's files have changed since this run began; begin a new one")
        done = store.done()
        cells = tuple(Cell.parse(name) for name in header.cells if name not in done)
        _ready(catalogue, cells)
        return Order(
            catalogue=catalogue,
            runtime=placed,
            by_path=header.path is not None,
            cells=cells,
            seed=header.seed,
            quick=header.quick,
            narrowed=header.narrowed,
            catalogs=header.catalogs,
            store=store,
        )
    except BaseException:
        store.close()
        raise


def _ready(catalogue: Catalogue, cells: Sequence[Cell]) -> None:
    """Loads every oracle that the cells need: what is wrong with one is told before a run's folder is made."""
    for adapter in dict.fromkeys(cell.adapter for cell in cells):
        catalogue.oracle(catalogue.provider_of(adapter).value.oracle)


def store_for(order: Order, out: Path | None) -> Store:
    _ready(order.catalogue, order.cells)
    now = datetime.now(UTC)
    runtime = order.runtime.value
    folder = out if out is not None else runs.fresh(runtime.name, now.strftime("%Y%m%d-%H%M%S"))
    header = RunHeader(
        run=folder.resolve().name,
        started=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        bench=provenance.bench_version(),
        argv=tuple(sys.argv[1:]),
        runtime=runtime.name,
        title=runtime.title,
        kind=runtime.kind,
        homepage=runtime.homepage,
        promises=runtime.promise,
        path=str(order.runtime.folder) if order.by_path else None,
        model=runtime.capabilities.model,
        versions=environments.versions(order.runtime),
        settings={one.name: f"{one.value} (default: {one.default}); {one.why}" for one in runtime.setting},
        seed=order.seed,
        jobs=order.jobs,
        preload=order.preload,
        quick=order.quick,
        narrowed=order.narrowed,
        catalogs=order.catalogs,
        plan_hash=plan.plan_hash(order.cells),
        suite_hash=provenance.suite_hash(order.catalogue.roots),
        runtime_hash=provenance.runtime_hash(environments.folders(order.runtime)),
        git_commit=provenance.git_commit(order.catalogue.roots[0]),
        platform=provenance.describe_platform(),
        cells=tuple(cell.name for cell in order.cells),
    )
    return Store.create(folder, header)
