"""The commands of ``bench``, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmark.cli import (
    compare,
    doctor,
    entries,
    explain,
    export,
    install,
    publish,
    report,
    rescore,
    show,
    site,
    speed,
    sweep,
    update,
)
from benchmark.exits import Exit
from benchmark.provenance import bench_version

app = typer.Typer(
    name="bench",
    help="Does an agent runtime make exactly the effects its user authorised, when the world fails at the worst moment?",
    epilog=f"Exit codes: {'; '.join(f'{code.value} {code.meaning}' for code in Exit)}.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"bench {bench_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    del version


app.command("run")(sweep.run)
app.command("install")(install.install)
app.command("update")(update.update)
app.command("list")(entries.list_entries)
app.command("show")(show.show)
app.command("explain")(explain.explain)
app.command("compare")(compare.compare)
app.command("export")(export.export)
app.command("publish")(publish.publish)
app.command("site")(site.site)
app.command("report")(report.report)
app.command("rescore")(rescore.rescore)
app.command("doctor")(doctor.doctor)
app.command("speed")(speed.speed)
