"""``bench run``: sweep a runtime over the plan and say what was found."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import typer

from benchmark.cli import dry_run as plan_shown
from benchmark.cli import options as opt
from benchmark.cli import order as orders
from benchmark.cli.gates import Gates, verdict
from benchmark.cli.order import JOBS, Order
from benchmark.cli.report import after_run
from benchmark.counting import summarise
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.filters import Filters
from benchmark.history import History
from benchmark.reporting import github, markdown
from benchmark.reporting.console import closing, console, say, summary
from benchmark.reporting.progress import progress
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult
from benchmark.store import Store


def run(
    runtime: opt.RuntimeName = None,
    workload: opt.Workloads = None,
    adapter: opt.Adapters = None,
    boundary: opt.Boundaries = None,
    variant: opt.Variants = None,
    manifestation: opt.Manifestations = None,
    transport: opt.Transports = None,
    protocol: opt.Protocols = None,
    strike: opt.Strikes = None,
    persona: opt.Personas = None,
    cell: opt.Cells = None,
    quick: opt.Quick = False,
    repeat: opt.Repeat = 1,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = JOBS,
    shuffle: opt.Shuffle = False,
    preload: opt.Preload = True,
    catalogs: opt.Catalogs = None,
    dry_run: opt.DryRun = False,
    out: opt.Out = None,
    resume: opt.Resume = None,
    fail_fast: opt.FailFast = False,
    fail_on: opt.FailOn = None,
    expect: opt.Expect = None,
    update_expect: opt.UpdateExpect = False,
    report: opt.Report = True,
    as_json: opt.AsJson = False,
) -> None:
    """Sweep a runtime over fault boundaries, workloads and tool adapters, and judge it by external state."""
    gates = Gates.of(fail_on or (), expect, update=update_expect)
    filters = Filters(
        workload=tuple(workload or ()),
        adapter=tuple(adapter or ()),
        boundary=tuple(boundary or ()),
        variant=tuple(variant or ()),
        manifestation=tuple(manifestation or ()),
        transport=tuple(transport or ()),
        protocol=tuple(protocol or ()),
        strike=tuple(strike or ()),
        persona=tuple(persona or ()),
        cell=tuple(cell or ()),
    )
    if resume is None:
        order = orders.new(runtime, catalogs or (), filters, quick=quick, repeat=repeat, seed=seed, shuffle=shuffle)
    else:
        given = {"out": out, "quick": quick, "repeat": repeat > 1, "seed": seed != 0, "shuffle": shuffle, "dry-run": dry_run}
        _refuse([*filters.given, *(name for name, value in given.items() if value)])
        order = orders.resumed(resume, runtime, catalogs)
    order.jobs, order.preload, order.fail_fast = jobs, preload, fail_fast
    if dry_run:
        plan_shown.tell(order, as_json)
    if not order.cells and order.store is None:
        print("bench: nothing ran: no cell of the plan passes these filters", file=sys.stderr)
        raise typer.Exit(Exit.NOTHING_RAN)
    if not dry_run:
        with order.store or orders.store_for(order, out) as store:
            code = _sweep(order, store, gates, as_json)
        if report and code is not Exit.INTERRUPTED:
            after_run(store.folder)
        raise typer.Exit(code)


def _refuse(names: list[str]) -> None:
    if names:
        raise UsageError(f"--{names[0]} cannot be given with --resume: a resumed run has its cells already")


def _sweep(order: Order, store: Store, gates: Gates, as_json: bool) -> Exit:
    """Run what is left of the order, then tell everything."""
    interrupted = _run_cells(order, store)
    results = store.results()
    whole = len(results) == len(store.header.cells) and not interrupted
    asked = gates if whole else replace(gates, update=None)  # half a run does not say what is stale
    complaints = asked.complaints(results, narrowed=order.narrowed or not whole)
    if as_json:
        told = {**summary(store.header, results), "folder": str(store.folder), "refused": complaints}
        typer.echo(json.dumps(told, indent=2))
    else:
        closing(console(), store.header, results, store.folder)
    github.summarise(lambda: markdown.run(summarise(store.header, results)))
    errors = console(sys.stderr)
    for complaint in complaints:
        say(errors, plain(complaint, 400), "red")
    if interrupted:
        say(errors, f"interrupted; go on with: bench run --resume {store.folder}", "yellow")
    return verdict(results, interrupted=interrupted, refused=bool(complaints))


def _run_cells(order: Order, store: Store) -> bool:
    """Run the cells, keeping each as it ends; whether they were interrupted."""
    if not order.cells:
        return False
    from benchmark.sweep import SweepSettings, run_sweep

    errors = console(sys.stderr)
    settings = SweepSettings(
        runtime=order.runtime,
        cells=order.cells,
        catalogue=order.catalogue,
        jobs=order.jobs,
        preload=order.preload,
        fail_fast=order.fail_fast,
        logs=store.logs,
        on_note=lambda told: say(errors, plain(told, 400), "yellow"),
    )
    say(errors, f"{plain(order.runtime.value.title)}: {len(order.cells)} cells, results in {store.folder}")
    with progress(len(order.cells), errors) as advance:

        def keep(result: CellResult, history: History | None) -> None:
            store.append(result, history)
            advance(result)

        try:
            return run_sweep(settings, keep).interrupted
        except KeyboardInterrupt:
            return True
