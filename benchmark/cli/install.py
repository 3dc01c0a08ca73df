"""``bench install``: build the environments that runtimes run in, from their pins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmark import builds, catalog, environments
from benchmark.catalog import Placed
from benchmark.cli import complete
from benchmark.entries import Runtime
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.reporting.console import console, say
from benchmark.reporting.untrusted import plain

Catalogs = Annotated[
    list[Path] | None,
    typer.Option("--catalog", metavar="DIR", help="A catalogue of your own, besides the built-in one."),
]


def install(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME…", help="Runtimes, by name or path.", autocompletion=complete.installable),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every runtime of the catalogue.")] = False,
    catalogs: Catalogs = None,
) -> None:
    """Build the environments that these runtimes run in, from their pinned and hashed requirements.

    They are kept below ~/.cache/declared-effect-bench/environments, or where BENCH_ENVIRONMENTS says.
    """
    if bool(names) == everything:
        raise UsageError("name the runtimes to install, or say --all")
    catalogue = catalog.load(catalogs or ())
    wanted = [catalogue.runtime(name) for name in (catalogue.runtime_files if everything else names or ())]
    failed = [runtime for runtime in wanted if not _installed(console(), runtime)]
    if failed:
        raise typer.Exit(Exit.HARNESS)


def _installed(out: Console, runtime: Placed[Runtime]) -> bool:
    """Build one environment and say so; False if that failed."""
    name = runtime.value.name
    environment = environments.of(runtime)
    if environment is None:
        say(out, f"{name}: runs in the benchmark's own environment, nothing to install", "dim")
        return True
    before = environment.facts
    if before is None:
        say(out, f"{name}: installing …", "dim")
    try:
        facts = builds.install(environment, lambda: say(out, f"{name}: waiting for another install of it …", "dim"))
    except builds.BuildError as error:
        say(console(sys.stderr), f"bench: {name} could not be installed: {plain(str(error), 1000)}", "red")
        return False
    took = "was there already" if before is not None else f"installed in {facts.seconds:g} s"
    say(out, f"{name}: {took}, {size(facts.size)}, {told_versions(runtime) or 'nothing tracked'}")
    return True


def size(count: int) -> str:
    """Bytes for a person."""
    return f"{count / 1_000_000:.0f} MB"


def told_versions(runtime: Placed[Runtime]) -> str:
    """What it tracks, with versions, in one line."""
    return ", ".join(f"{name} {version}" for name, version in environments.versions(runtime).items())
