"""``bench run --dry-run``: the plan, and what is not applicable and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

import typer
from rich.console import Console

from benchmark import plan
from benchmark.cells import Cell
from benchmark.cli.order import Order
from benchmark.reporting.console import console, say


def tell(order: Order, as_json: bool) -> None:
    """Print every cell of the plan, then the counts."""
    told = [(cell, order.reason(cell)) for cell in order.cells]
    if not as_json:
        _print_plan(console(), order, told)
        return
    whole = {
        "runtime": order.runtime.value.name,
        "seed": order.seed,
        "plan_hash": plan.plan_hash(order.cells),
        "cells": [{"cell": cell.name, "applicable": reason is None, "reason": reason} for cell, reason in told],
    }
    typer.echo(json.dumps(whole, indent=2))


def _print_plan(out: Console, order: Order, told: Sequence[tuple[Cell, str | None]]) -> None:
    for cell, reason in told:
        say(out, cell.name + (f"  not applicable: {reason}" if reason else ""), "dim" if reason else "")
    reasons = Counter(reason for _, reason in told if reason is not None)
    left = sum(reasons.values())
    out.print()
    say(out, f"{len(told)} cells for {order.runtime.value.name}: {len(told) - left} to run, {left} not applicable", "bold")
    for boundary, planned, usable in _by_boundary(told):
        say(out, f"  {boundary:<16} {usable:>5} of {planned}")
    if reasons:
        say(out, "Not applicable", "bold")
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        say(out, f"  {count:>5} {reason}", "dim")


def _by_boundary(told: Sequence[tuple[Cell, str | None]]) -> Iterator[tuple[str, int, int]]:
    for boundary in dict.fromkeys(cell.boundary for cell, _ in told):
        here = [reason for cell, reason in told if cell.boundary is boundary]
        yield boundary, len(here), here.count(None)
