"""``bench update``: pin a runtime's environment anew, to the newest of what it asks for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from benchmark import catalog, environments, pins
from benchmark.builds import BuildError
from benchmark.catalog import Catalogue
from benchmark.cli import complete
from benchmark.cli.install import Catalogs
from benchmark.environments import Environment
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.pins import Packages
from benchmark.reporting.console import console, say
from benchmark.reporting.untrusted import plain


def update(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A runtime, by name or path.", autocompletion=complete.installable)
    ],
    catalogs: Catalogs = None,
) -> None:
    """Pin the newest of what a runtime asks for, and show what changed. Where that fails, no file is touched."""
    catalogue = catalog.load(catalogs or ())
    runtime = catalogue.runtime(name)
    environment = environments.of(runtime)
    if environment is None:
        raise UsageError(f"{runtime.value.name} runs in the benchmark's own environment; it pins nothing")
    try:
        before, after = pins.renew(environment)
    except BuildError as error:
        say(console(sys.stderr), f"bench: {runtime.value.name} was not updated: {plain(str(error), 1000)}", "red")
        raise typer.Exit(Exit.HARNESS) from None
    out = console()
    rows = list(changes(before, after))
    if not rows:
        say(out, f"{runtime.value.name}: nothing newer than what is pinned")
        return
    table = Table("package", "old", "new", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(plain(cell, 200)) for cell in row))
    out.print(table)
    together = _sharing(catalogue, environment) or [runtime.value.name]
    if len(together) > 1:
        say(out, f"These pins are shared by {', '.join(together)}.")
    say(out, f"Written: {', '.join(plain(str(file), 400) for file in environment.pins)}. Then: bench install {name}")


def changes(before: Packages, after: Packages) -> Iterator[tuple[str, str, str]]:
    """Package, old and new version of all that differs; – where there is none."""
    for package in sorted(before | after):
        old, new = before.get(package, "–"), after.get(package, "–")
        if old != new:
            yield package, old, new


def _sharing(catalogue: Catalogue, environment: Environment) -> list[str]:
    """The catalogue's runtimes that have the same pins."""
    found = []
    for name in catalogue.runtime_files:
        try:
            other = environments.of(catalogue.runtime(name))
        except UsageError:
            continue
        if other is not None and set(other.pins) & set(environment.pins):
            found.append(name)
    return found
