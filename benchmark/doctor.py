"""What would be ``not-run`` here and why: the machine (``benchmark.machine``), and what the catalogue's programs need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmark import environments
from benchmark.catalog import Catalogue, Placed
from benchmark.entries import Runtime
from benchmark.errors import UsageError
from benchmark.installed import Lack, lacking
from benchmark.machine import Finding, State, Told, machine, pip, tried, unmet


def examine(catalogue: Catalogue, *, jobs: int, results: Path) -> tuple[Finding, ...]:
    """The machine first, then the catalogue's entries."""
    return (*machine(jobs=jobs, results=results), *entries(catalogue))


def alone(catalogue: Catalogue, name_or_path: str) -> Finding:
    """One runtime, by name or path; raises UsageError where there is none, CatalogueError where it is wrong."""
    placed = catalogue.runtime(name_or_path)
    return tried("runtimes", placed.value.name, partial(runtime, catalogue, placed))


def entries(catalogue: Catalogue) -> tuple[Finding, ...]:
    """What the catalogue's programs need: providers with their oracles, tool adapters, runtimes."""
    return tuple(_entries(catalogue))


def _entries(catalogue: Catalogue) -> Iterator[Finding]:
    counts = f"{len(catalogue.workloads)} workloads, {len(catalogue.adapters)} tool adapters"
    where = ", ".join(str(root) for root in catalogue.roots)
    yield Finding("catalogue", "entries", State.OK, f"{counts} in {where}")
    for name in catalogue.providers:
        yield tried("catalogue", f"provider {name}", partial(_provider, catalogue, name))
    for name, adapter in catalogue.placed_adapters.items():
        gap = _gap(adapter.value.command, adapter.folder)
        if gap is not None:
            yield Finding("catalogue", f"tool adapter {name}", State.LACKING, gap.what, f"cells on {name}", gap.remedy)
    for name in catalogue.runtime_files:
        yield tried("runtimes", name, partial(_runtime, catalogue, name))


def _runtime(catalogue: Catalogue, name: str) -> Told:
    try:
        return runtime(catalogue, catalogue.runtime(name))
    except UsageError as error:
        return Told(State.LACKING, str(error), f"every cell of {name}", "mend that file")


def _provider(catalogue: Catalogue, name: str) -> Told:
    """Its program, and an oracle that can be loaded."""
    placed = catalogue.provider(name)
    needs = placed.value.needs
    gap = _gap(placed.value.command or (), placed.folder)
    if needs is not None and lacking(placed.value) is not None:
        gap = Lack(f"{needs.module} is not installed", needs.install)
    try:
        catalogue.oracle(placed.value.oracle)
    except UsageError as error:
        gap = Lack(str(error), "mend that file")
    if gap is not None:
        behind = [adapter.name for adapter in catalogue.adapters.values() if adapter.provider == name]
        return Told(State.LACKING, gap.what, f"cells on {', '.join(behind) or 'none'}", gap.remedy)
    return Told(State.OK, f"{placed.value.kind}, read by the oracle {placed.value.oracle}")


def runtime(catalogue: Catalogue, placed: Placed[Runtime]) -> Told:
    """Whether a runtime could be started: its environment, its program, what it tracks, its services."""
    declared = placed.value
    costs = f"every cell of {declared.name}"
    gaps = [_gap(declared.command, placed.folder), *(_gap(service.command, placed.folder) for service in declared.service)]
    if declared.environment is None:
        missing = [name for name in declared.versions.track if unmet(name)]
        gaps += [Lack(f"{', '.join(missing)} not installed", pip(missing))] if missing else []
    gaps.append(environments.lacking(catalogue, placed))
    there = [gap for gap in gaps if gap is not None]
    if there:
        return Told(State.LACKING, "; ".join(gap.what for gap in there), costs, there[0].remedy)
    if declared.environment is None:
        return Told(State.OK, f"{declared.kind}, this interpreter")
    held = ", ".join(f"{name} {version}" for name, version in environments.versions(placed).items())
    return Told(State.OK, f"{declared.kind}, own environment{': ' + held if held else ''}")


def _gap(command: Sequence[str], folder: Path) -> Lack | None:
    """What a command lacks: its interpreter, or the program file in its folder."""
    if not command:
        return None
    first, *rest = command
    if not first.startswith("{") and shutil.which(first) is None and not os.access(folder / first, os.X_OK):
        return Lack(f"there is no program {first!r}", f"install {first}, or mend `command`")
    program = rest[0] if first in ("{python}", "{node}") and rest else ""
    if program.endswith((".py", ".js", ".mjs")) and not (folder / program).is_file():
        return Lack(f"there is no file {folder / program}", "restore it, or mend `command`")
    return None
