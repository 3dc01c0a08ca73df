"""One cell of two runs on the console: verdicts, claims and figures beside each other, then both histories."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmark.history import History
from benchmark.reporting.comparison_rows import Told, rows
from benchmark.reporting.console import say
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Figure

Half = tuple[str, CellResult | None, History | None]
"""One run's part: its label, the cell's result, the cell's history."""


def tell(out: Console, cell: str, left: Half, right: Half) -> None:
    """Print both halves of the cell."""
    say(out, plain(cell), "bold")
    out.print(_verdicts(left, right))
    one, other = left[2], right[2]
    if one is None or other is None:
        missing = " and ".join(label for label, _, history in (left, right) if history is None)
        say(out, f"no history of this cell was kept in {plain(missing)} (published results hold none)", "dim")
        return
    out.print(_stories(left[0], right[0], one, other))


def facts(result: CellResult | None) -> dict[str, str]:
    """What is said of a cell, by name; one entry alone where it has no result."""
    if result is None:
        return {"verdict": "no result"}
    figures = ", ".join(f"{figure} {count}" for figure in Figure if (count := getattr(result, figure.value)))
    return {
        "verdict": str(result.verdict),
        "why": result.reason,
        "figures": figures or "none above zero",
        "effects": f"{result.declared} declared, {result.observed} observed",
        "claims": ", ".join(f"{claim} {count}" for claim, count in result.claims.items() if count),
        "saw": result.seen_as,
        "reaction": result.reaction,
        "blame": str(result.blame or ""),
        "exposed": f"{'yes' if result.exposed else 'no'}{', ' + result.evidence if result.evidence else ''}",
    }


def _verdicts(left: Half, right: Half) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    one, other = facts(left[1]), facts(right[1])
    for label, _, _ in (left, right):
        table.add_column(plain(label, 40), ratio=1, overflow="fold")
    for name in {**one, **other}:
        before, after = plain(one.get(name, ""), 400), plain(other.get(name, ""), 400)
        style = "" if before == after else "bold"
        table.add_row(name, Text(before or "–"), Text(after or "–", style=style))
    return table


def _stories(before: str, after: str, left: History, right: History) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption="▸ only in this run", caption_justify="left")
    for label in (before, after):
        table.add_column("s", justify="right", no_wrap=True)
        table.add_column(plain(label, 40), ratio=1, overflow="fold")
    for row in rows(left, right):
        table.add_row(*_half(row.left, row.apart), *_half(row.right, row.apart))
    return table


def _half(told: Told | None, apart: bool) -> Iterator[Text]:
    if told is None:
        yield from (Text(""), Text(""))
        return
    yield Text(f"{told.t:.3f}", style="dim")
    yield Text(f"{'▸ ' if apart else '  '}{told.move.text}", style=told.move.style)
