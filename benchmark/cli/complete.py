"""What the shell offers after Tab. Quick and silent: names are read off folders, and what cannot be read is not offered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.catalog import folders
from benchmark.cli.runs import RESULTS
from benchmark.errors import UsageError

Completer = Callable[[typer.Context, str], list[str]]


def _from(found: Callable[[typer.Context], Iterable[str]]) -> Completer:
    """A completer of the names that begin with what was typed."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return sorted({name for name in found(ctx) if name.startswith(incomplete)})
        except (OSError, UsageError):
            return []

    return complete


def _roots(ctx: typer.Context) -> tuple[Path, ...]:
    given: dict[str, Any] = ctx.params
    return folders.roots(given.get("catalogs") or given.get("catalog_folders") or ())


def _below(ctx: typer.Context, place: str, declaration: str) -> Iterable[str]:
    for root in _roots(ctx):
        yield from (file.parent.name for file in (root / place).glob(f"[!_.]*/{declaration}"))


def _installable(ctx: typer.Context) -> Iterable[str]:
    """Runtimes with an environment of their own that were not named yet."""
    given: dict[str, Any] = ctx.params
    for root in _roots(ctx):
        for file in (root / "adapters/runtimes").glob("[!_.]*/runtime.toml"):
            if "[environment]" in file.read_text(errors="replace") and file.parent.name not in (given.get("names") or ()):
                yield file.parent.name


def _workloads(ctx: typer.Context) -> Iterable[str]:
    for root in _roots(ctx):
        yield from (file.stem for file in (root / "workloads").glob("[!_.]*.toml"))


def _runs(_: typer.Context) -> Iterable[str]:
    yield from (file.parent.name for file in RESULTS.glob("*/run.json"))


def _cells(ctx: typer.Context) -> Iterable[str]:
    """The cells of the run that was named before."""
    named = ctx.params.get("run") or ctx.params.get("what")
    for folder in (Path(str(named)), RESULTS / str(named)) if named else ():
        file = folder / "run.json"
        if file.is_file():
            try:
                yield from (name for name in json.loads(file.read_bytes())["cells"] if isinstance(name, str))
            except (ValueError, KeyError, TypeError):
                return


def _shown(_: typer.Context) -> Iterable[str]:
    from benchmark.expectations import SHOWN

    return SHOWN


def _explained(ctx: typer.Context) -> Iterable[str]:
    from benchmark import glossary

    for kind in glossary.Kind:
        yield from glossary.words(kind)
    yield from _runs(ctx)


installable = _from(_installable)
runtimes = _from(lambda ctx: _below(ctx, "adapters/runtimes", "runtime.toml"))
workloads = _from(_workloads)
adapters = _from(lambda ctx: _below(ctx, "adapters/tools", "tool.toml"))
boundaries = _from(lambda _: Boundary)
variants = _from(lambda _: Variant)
manifestations = _from(lambda _: Manifestation)
transports = _from(lambda _: ("stdio", "http"))
protocols = _from(lambda _: ("2025-11-25", "2026-07-28"))
strikes = _from(lambda _: (f"{which}-{often}" for which in ("first", "middle", "last") for often in ("once", "every")))
personas = _from(lambda _: ("-", "once", "retry", "repair"))
nothing = _from(lambda _: ())
runs = _from(_runs)
cells = _from(_cells)
shown = _from(_shown)
explained = _from(_explained)
