"""``bench doctor``: what is here, what is lacking, what would be ``not-run``, and the command that mends it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmark import catalog
from benchmark.cli import complete, runs
from benchmark.cli.order import JOBS
from benchmark.exits import Exit
from benchmark.machine import Finding, State, machine
from benchmark.reporting.console import console, paragraph, say
from benchmark.reporting.untrusted import plain

_MARKS: dict[State, tuple[str, str]] = {
    State.OK: ("ok", ""),
    State.ADVICE: ("!", "yellow"),
    State.LACKING: ("–", "yellow"),
    State.BROKEN: ("✕", "bold red"),
}


def doctor(
    runtime: Annotated[
        str | None,
        typer.Option(metavar="NAME|PATH", help="Look at this runtime alone.", autocompletion=complete.runtimes),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Cells at the same time, for the limits.")] = JOBS,
    catalogs: Annotated[
        list[Path] | None,
        typer.Option("--catalog", metavar="DIR", help="A catalogue of your own, besides the built-in one."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The findings as JSON.")] = False,
) -> None:
    """Say what is installed and allowed here, what would be not-run, and the command that mends it.

    Exit code 3 where something keeps every cell from running, 5 where the runtime named with --runtime would be not-run.
    """
    from benchmark import doctor as surgery

    found = catalog.load(catalogs or ())
    if runtime is None:
        findings = surgery.examine(found, jobs=jobs, results=runs.RESULTS)
    else:
        alone = surgery.alone(found, runtime)
        findings = (*machine(jobs=jobs, results=runs.RESULTS), alone)
    code = _code(findings, named=runtime is not None)
    if as_json:
        told = {"exit": int(code), "findings": [asdict(finding) for finding in findings]}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        _tell(console(), findings)
    raise typer.Exit(code)


def _code(findings: Sequence[Finding], *, named: bool) -> Exit:
    states = {finding.state for finding in findings}
    if State.BROKEN in states:
        return Exit.HARNESS
    return Exit.NOTHING_RAN if named and State.LACKING in states else Exit.COMPLETED


def _tell(out: Console, findings: Sequence[Finding]) -> None:
    width = min(max(len(finding.name) for finding in findings) + 2, 24)
    for group, some in groupby(findings, key=lambda finding: finding.group):
        say(out, group, "bold")
        for finding in some:
            mark, style = _MARKS[finding.state]
            paragraph(out, f"  {mark:<3}{plain(finding.name):<{width}}", plain(finding.found, 400), style)
            if finding.costs:
                would = "not-run: " if finding.state is State.LACKING else ""
                paragraph(out, "     ", f"{would}{plain(finding.costs, 400)}", style)
            if finding.remedy:
                say(out, f"     → {plain(finding.remedy, 1000)}", style)
    _sum_up(out, findings)


def _sum_up(out: Console, findings: Sequence[Finding]) -> None:
    count = {state: sum(finding.state is state for finding in findings) for state in State}
    out.print()
    if count[State.BROKEN]:
        say(out, f"{count[State.BROKEN]} things keep every sweep from working", "bold red")
    elif count[State.LACKING]:
        say(out, f"sweeps work; {count[State.LACKING]} entries would be not-run", "bold yellow")
    else:
        told = f", {count[State.ADVICE]} with advice" if count[State.ADVICE] else ""
        say(out, f"all is well{told}", "bold")
