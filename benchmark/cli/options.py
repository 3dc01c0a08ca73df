"""The options of ``bench run``: one type each, so that the command itself reads as what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from benchmark.cli import complete
from benchmark.cli.complete import Completer

CELLS = "Which cells (globs; every option may be repeated)"
RESULT = "What becomes of the result"


def _one_of(what: str, offers: Completer, metavar: str = "GLOB") -> Any:
    return typer.Option(metavar=metavar, help=what, rich_help_panel=CELLS, autocompletion=offers)


def _result(what: str, metavar: str | None = None, offers: Completer | None = None) -> Any:
    return typer.Option(metavar=metavar, help=what, rich_help_panel=RESULT, autocompletion=offers)


def _how(*names: str, what: str, **more: Any) -> Any:
    return typer.Option(*names, help=what, **more)


Patterns = list[str] | None

RuntimeName = Annotated[
    str | None,
    _how(
        what="Runtime under test: a name, or a folder with a runtime.toml.",
        metavar="NAME|PATH",
        autocompletion=complete.runtimes,
    ),
]
Workloads = Annotated[Patterns, _one_of("Workloads.", complete.workloads)]
Adapters = Annotated[Patterns, _one_of("Tool adapters.", complete.adapters)]
Boundaries = Annotated[Patterns, _one_of("Fault boundaries.", complete.boundaries)]
Variants = Annotated[Patterns, _one_of("Variants of boundaries.", complete.variants)]
Manifestations = Annotated[Patterns, _one_of("How faults show.", complete.manifestations)]
Transports = Annotated[Patterns, _one_of("stdio, http.", complete.transports)]
Protocols = Annotated[Patterns, _one_of("MCP revisions.", complete.protocols)]
Strikes = Annotated[Patterns, _one_of("Which call is hit, once or at every attempt.", complete.strikes)]
Personas = Annotated[Patterns, _one_of("How the scripted model behaves.", complete.personas)]
Cells = Annotated[
    Patterns, _one_of("Whole cells, as results name them; also cells that the plan lacks.", complete.nothing, "NAME")
]

Quick = Annotated[bool, _how("--quick", what="The breadth of the plan alone.")]
Repeat = Annotated[int, _how(what="Runs of each cell.", min=1, max=1000, metavar="N")]
Seed = Annotated[int, _how(what="Seed of the plan's rotation, and of --shuffle.", metavar="N")]
Jobs = Annotated[int, _how(what="Cells at the same time.", min=1, max=256, metavar="N")]
Shuffle = Annotated[bool, _how("--shuffle", what="Run the cells in another order.")]
Preload = Annotated[bool, _how("--preload/--no-preload", what="Fork runtimes from a warm interpreter, where they allow it.")]
Catalogs = Annotated[
    list[Path] | None,
    _how("--catalog", what="A catalogue of your own, besides the built-in one (may be repeated).", metavar="DIR"),
]
DryRun = Annotated[bool, _how("--dry-run", what="Only print the plan, and what is not applicable and why.")]

Out = Annotated[Path | None, _result("The run's folder; default: results/RUNTIME-TIME.", "DIR")]
Resume = Annotated[str | None, _result("Go on with a run: cells that have no result yet are run.", "RUN", complete.runs)]
FailFast = Annotated[
    bool, typer.Option("--fail-fast", help="Stop at the first violation or harness error.", rich_help_panel=RESULT)
]
FailOn = Annotated[
    Patterns,
    _result("Exit 1 if a cell on a truthful adapter shows it (may be repeated).", "METRIC|VERDICT", complete.shown),
]
Expect = Annotated[Path | None, _result("Exit 1 where the run differs from this expected-violations file.", "FILE")]
UpdateExpect = Annotated[
    bool,
    typer.Option("--update-expect", help="Make that file agree: stale lines out, new ones in.", rich_help_panel=RESULT),
]
Report = Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.", rich_help_panel=RESULT)]
AsJson = Annotated[bool, typer.Option("--json", help="The plan, or the closing table, as JSON on standard output.")]
