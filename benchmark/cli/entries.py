"""``bench list``: what the catalogue holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmark import catalog, environments
from benchmark.boundaries import TABLE
from benchmark.catalog import Catalogue, Placed
from benchmark.cli.install import size, told_versions
from benchmark.contracts import Contract
from benchmark.entries import Runtime
from benchmark.reporting.console import NARROW, console, paragraph, say
from benchmark.reporting.untrusted import plain


class Kind(StrEnum):
    """What can be listed."""

    WORKLOADS = "workloads"
    ADAPTERS = "adapters"
    RUNTIMES = "runtimes"
    BOUNDARIES = "boundaries"
    PROVIDERS = "providers"


@dataclass(frozen=True)
class Listing:
    """A table: titles, and a row for each entry."""

    titles: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def list_entries(
    kind: Annotated[Kind, typer.Argument(help="What to list.", metavar="|".join(Kind))],
    catalog_folders: Annotated[
        list[Path] | None,
        typer.Option("--catalog", metavar="DIR", help="A catalogue of your own, besides the built-in one."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything about each entry, as JSON.")] = False,
) -> None:
    """List workloads, tool adapters, runtimes, boundaries or providers."""
    found = catalog.load(catalog_folders or ())
    if as_json:
        typer.echo(json.dumps(_DATA[kind](found), indent=2, ensure_ascii=False))
        return
    listing = _ROWS[kind](found)
    _print(console(), listing)


def _print(out: Console, listing: Listing) -> None:
    """A table, or where there is no room for one, a paragraph for each entry."""
    if out.width < NARROW:
        for row in listing.rows:
            say(out, plain(row[0], 400), "bold")
            for title, text in zip(listing.titles[1:], row[1:], strict=True):
                paragraph(out, f"  {title}: ", plain(text, 400))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, title in enumerate(listing.titles):
        table.add_column(title, no_wrap=index == 0, overflow="fold")
    for row in listing.rows:
        table.add_row(*(Text(plain(cell, 400)) for cell in row))
    out.print(table)


def _workloads(found: Catalogue) -> Listing:
    rows = [
        (one.name, ", ".join(one.tools), ", ".join(one.classes) or "–", str(len(one.intents)), one.summary)
        for one in found.workloads.values()
    ]
    return Listing(("workload", "tools", "effects", "intents", "what is authorised"), rows)


def _adapters(found: Catalogue) -> Listing:
    rows = []
    for one in found.adapters.values():
        contracts = one.contracts(tuple(one.tools))
        offers = dict.fromkeys(_offer(contract) for contract in contracts.values())
        rows.append(
            (one.name, ", ".join(contracts), "; ".join(offers), "yes" if one.truthful else "NO", one.provider, one.title)
        )
    return Listing(("adapter", "tools", "declares", "truthful", "provider", "title"), rows)


def _offer(contract: Contract) -> str:
    """A contract in a few words."""
    words = []
    if contract.key is not None:
        kept = "for ever" if contract.key.retention_s is None else f"{contract.key.retention_s:g} s"
        words.append(f"key ({contract.key.carrier}, {kept})")
    if contract.natural_key is not None:
        words.append(f"natural key ({contract.on_repeat or 'overwrite'})")
    if contract.lookup is not None:
        settles = "never settles" if contract.lookup.settles_s is None else f"settles in {contract.lookup.settles_s:g} s"
        words.append(f"look-up ({settles})")
    return ", ".join(words) or "nothing"


def _runtimes(found: Catalogue) -> Listing:
    rows = []
    for name in found.runtime_files:
        placed = found.runtime(name)
        one = placed.value
        able = one.capabilities
        traits = {"model": able.model, "resumes": able.resumes, "reads contracts": able.contracts, "preloads": able.preload}
        can = ", ".join(name for name, has in traits.items() if has) or "–"
        rows.append((one.name, one.kind, ", ".join(able.protocols), can, _installed(placed), one.title))
    return Listing(("runtime", "kind", "protocols", "can", "installed", "title"), rows)


def _installed(placed: Placed[Runtime]) -> str:
    """Whether a runtime's environment is built, with the versions of what it tracks, or of what is pinned for it."""
    environment = environments.of(placed)
    held = told_versions(placed)
    if environment is None:
        return held or "nothing to install"
    if environment.facts is None:
        return "no"
    return f"{size(environment.facts.size)}: {held or 'nothing tracked'}"


def _runtime_data(found: Catalogue) -> list[dict[str, Any]]:
    data = []
    for name in found.runtime_files:
        placed = found.runtime(name)
        environment = environments.of(placed)
        facts = environment.facts if environment is not None else None
        told = {
            "installed": environment is None or facts is not None,
            "folder": str(environment.folder) if environment is not None and facts is not None else None,
            "bytes": facts.size if facts is not None else None,
            "versions": environments.versions(placed),
        }
        data.append({**_dumped([placed.value])[0], "here": told})
    return data


def _boundaries(found: Catalogue) -> Listing:
    del found
    rows = [
        (row.boundary.value, str(row.number), ", ".join(row.variants), ", ".join(row.manifestations), row.does)
        for row in TABLE.values()
    ]
    return Listing(("boundary", "no.", "variants", "manifestations", "what the conductor does"), rows)


def _providers(found: Catalogue) -> Listing:
    rows = [(one.name, one.kind, one.oracle, one.summary) for one in found.providers.values()]
    return Listing(("provider", "kind", "oracle", "summary"), rows)


def _dumped(models: Iterable[Any]) -> list[dict[str, Any]]:
    return [model.model_dump(mode="json", by_alias=True) for model in models]


def _boundary_data(found: Catalogue) -> list[dict[str, Any]]:
    del found
    return [
        {
            "boundary": row.boundary,
            "number": row.number,
            "point": row.point,
            "variants": row.variants,
            "manifestations": row.manifestations,
            "does": row.does,
            "order": row.order,
            "commits": row.commits,
        }
        for row in TABLE.values()
    ]


_ROWS: dict[Kind, Callable[[Catalogue], Listing]] = {
    Kind.WORKLOADS: _workloads,
    Kind.ADAPTERS: _adapters,
    Kind.RUNTIMES: _runtimes,
    Kind.BOUNDARIES: _boundaries,
    Kind.PROVIDERS: _providers,
}

_DATA: dict[Kind, Callable[[Catalogue], list[dict[str, Any]]]] = {
    Kind.WORKLOADS: lambda found: _dumped(found.workloads.values()),
    Kind.ADAPTERS: lambda found: _dumped(found.adapters.values()),
    Kind.RUNTIMES: _runtime_data,
    Kind.BOUNDARIES: _boundary_data,
    Kind.PROVIDERS: lambda found: _dumped(found.providers.values()),
}
