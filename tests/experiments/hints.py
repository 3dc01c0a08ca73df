"""Does a runtime behave otherwise when a tool says ``idempotentHint: true``? ``python -m tests.experiments.hints RUNTIME…``.

Each runtime meets the same cells twice: on ``hint-liar``, and on a copy of it in which nothing but the hint is false.
What is compared is what it did: calls, requests upstream and to the model, effects, its reaction and its claims. Prints
a line for each runtime and three for each cell that differs; exit status 1 where a sweep failed or the hint was not flipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from benchmark.catalog import load
from benchmark.results import CellResult
from benchmark.store import Store

ROOT = Path(__file__).resolve().parents[2]
TRUE, FALSE = "hint-liar", "hint-false"
FAULTS = (
    *(("none", "-", "-"), ("agent-restart", "in-flight", "-"), ("before-dispatch", "-", "reset")),
    *(("before-delivery", "-", how) for how in ("error", "is-error", "reset", "silence", "crash")),
)


def catalogue(folder: Path) -> Path:
    """A catalogue of one adapter: the liar, its hint flipped."""
    entry = folder / "adapters" / "tools" / FALSE
    shutil.copytree(ROOT / "adapters" / "tools" / TRUE, entry, ignore=shutil.ignore_patterns("__pycache__"))
    told = (entry / "tool.toml").read_text()
    flipped = told.replace(f'name = "{TRUE}"', f'name = "{FALSE}"').replace(
        "idempotent_hint = true", "idempotent_hint = false"
    )
    if flipped.count("idempotent_hint = false") != told.count("idempotent_hint = true") or TRUE in flipped.split("\n", 1)[0]:
        raise SystemExit(f"{TRUE}/tool.toml no longer declares its hint in the way that is flipped here")
    (entry / "tool.toml").write_text(flipped)
    return folder


def cells(adapter: str, personas: tuple[str, ...]) -> Iterator[str]:
    """Every cell of the experiment on one adapter."""
    for (boundary, variant, how), transport, protocol, persona in product(
        FAULTS, ("stdio", "http"), ("2025-11-25", "2026-07-28"), personas
    ):
        yield f"charge-card.{adapter}.{boundary}.{variant}.{how}.{transport}.{protocol}.first-once.{persona}@1"


def did(result: CellResult) -> str:
    """What the runtime did in a cell."""
    keys = {"verdict", "reaction", "calls", "upstream_requests", "model_requests", "observed", "claims"}
    return json.dumps(result.model_dump(mode="json", include=keys), sort_keys=True)


def hints(store: Store, cell: str) -> set[bool]:
    """What the tool of a cell declared, by its history."""
    return {contract.idempotent_hint for contract in store.history(cell).declaration.contracts.values()}


def measure(runtime: str, extra: Path, folder: Path) -> bool:
    """Run, compare, print; False: the experiment says nothing."""
    personas = ("once", "retry") if load().runtime(runtime).value.capabilities.model else ("-",)
    out = folder / Path(runtime).name
    chosen = [argument for adapter in (TRUE, FALSE) for name in cells(adapter, personas) for argument in ("--cell", name)]
    command = [sys.executable, "-m", "benchmark", "run", "--runtime", runtime, "--catalog", str(extra), "--out", str(out)]
    ended = subprocess.run([*command, "--no-report", *chosen], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        print(f"{runtime}: exit status {ended.returncode}: {ended.stderr.strip()[-300:]}")
        return False
    store = Store.open(out)
    found = {result.cell: result for result in store.results() if result.verdict.judged}
    both = [
        (name, name.replace(TRUE, FALSE)) for name in found if f".{TRUE}." in name and name.replace(TRUE, FALSE) in found
    ]
    seen = {side: set.union(set(), *(hints(store, pair[side]) for pair in both)) for side in (0, 1)}
    differing = [pair for pair in both if did(found[pair[0]]) != did(found[pair[1]])]
    print(f"{runtime}: {len(both)} cells twice, {len(differing)} differ; the hint was {seen[0]} and {seen[1]}", flush=True)
    for one, other in differing:
        print(f"  {one}\n    true:  {did(found[one])}\n    false: {did(found[other])}")
    return bool(both) and seen == {0: {True}, 1: {False}}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="hints-") as name:
        folder = Path(name)
        extra = catalogue(folder / "catalogue")
        told = [measure(runtime, extra, folder) for runtime in sys.argv[1:]]
    return int(not all(told))


if __name__ == "__main__":
    sys.exit(main())
