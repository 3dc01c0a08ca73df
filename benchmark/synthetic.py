"""Runs of any size that nobody ran: for measuring and testing reports, never to be published.

Deterministic: the same size and seed give the same bytes. Verdicts and figures look like those of a runtime that repeats
what it does not know; the first bad cells have a history, so that they have pages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice, product
from pathlib import Path
from typing import Any

from benchmark.boundaries import TABLE, Boundary, Manifestation
from benchmark.cells import Cell, Strike
from benchmark.contracts import Contract
from benchmark.effects import Effect
from benchmark.history import Declaration, Event, History, Kind, Reading
from benchmark.intents import Call, ClassKind, Intent, Outcome, Slot, Workload
from benchmark.results import Blame, CellResult, RunHeader, Verdict
from benchmark.store import Store

WORKLOADS = tuple(
    f"workload-{name}" for name in ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koi", "lynx")
)
ADAPTERS = {
    "plain": ("none", True),
    "finder": ("look-up", True),
    "late-finder": ("look-up", True),
    "keyed": ("key", True),
    "token": ("key", True),
    "path": ("natural-key", True),
    "liar": ("key", False),
    "forgetter": ("key", False),
}
"""Adapter → contract kind, and whether it keeps it."""

HISTORIES = 40
"""Bad cells that have a history."""


def write(folder: Path, cells: int, seed: int = 0) -> Path:
    """Write a run of so many cells; the folder must not hold one yet."""
    planned = tuple(islice(_cells(), cells))
    chance = random.Random(seed)
    left = HISTORIES
    with Store.create(folder, _header(folder.name, planned, seed)) as store:
        results = (_result(cell, chance) for cell in planned)
        with (folder / "cells.jsonl").open("w", encoding="utf-8") as file:
            for cell, result in zip(planned, results, strict=True):
                if left and result.verdict is Verdict.VIOLATED and not result.strays:
                    left -= 1
                    store.append(result, _history(cell))
                    file.seek(0, 2)
                else:
                    file.write(result.model_dump_json() + "\n")
                    if left:
                        file.flush()
    return folder


def _header(name: str, planned: tuple[Cell, ...], seed: int) -> RunHeader:
    return RunHeader(
        run=name,
        started="2026-01-01T00:00:00Z",
        bench="synthetic",
        argv=("run", "--runtime", "synthetic"),
        runtime="synthetic",
        title="A run that nobody ran",
        kind="baseline",
        seed=seed,
        jobs=1,
        preload=True,
        plan_hash="0" * 16,
        suite_hash="0" * 64,
        cells=tuple(cell.name for cell in planned),
    )


def _cells() -> Iterator[Cell]:
    """Every coordinate there is, then all of them again as repeats."""
    for repeat in count(1):
        for row in TABLE.values():
            shapes = product(
                WORKLOADS, ADAPTERS, row.variants, row.manifestations, ("stdio", "http"), ("2025-11-25", "2026-07-28")
            )
            for workload, adapter, variant, manifestation, transport, protocol in shapes:
                yield Cell(
                    workload=workload,
                    adapter=adapter,
                    boundary=row.boundary,
                    variant=variant,
                    manifestation=manifestation,
                    transport=transport,  # type: ignore[arg-type]
                    protocol=protocol,  # type: ignore[arg-type]
                    strike=Strike("first"),
                    repeat=repeat,
                )


def _result(cell: Cell, chance: random.Random) -> CellResult:
    contract, truthful = ADAPTERS[cell.adapter]
    drawn = chance.random()
    found: dict[str, Any] = {"verdict": Verdict.CORRECT, "reason": "exactly the declared effects, and claimed so"}
    if cell.boundary is Boundary.TOKEN_EXPIRED and contract != "key":
        found = {"verdict": Verdict.NOT_APPLICABLE, "reason": f"{cell.adapter} has no key"}
    elif cell.boundary is not Boundary.NONE:
        found = _found(cell, contract, truthful, drawn)
    judged = found["verdict"].judged
    return CellResult(
        cell=cell.name,
        runtime="synthetic",
        workload=cell.workload,
        adapter=cell.adapter,
        truthful=truthful,
        contract=contract,
        boundary=cell.boundary,
        variant=cell.variant,
        manifestation=cell.manifestation,
        transport=cell.transport,
        protocol=cell.protocol,
        strike=str(cell.strike),
        persona=cell.persona,
        repeat=cell.repeat,
        exposed=judged,
        injected=cell.manifestation,
        seen_as="connection lost" if judged and cell.boundary is not Boundary.NONE else "",
        stimulus=f"{cell.boundary}/{cell.manifestation}/{cell.transport}/{cell.protocol}" if judged else "",
        reaction="retried" if judged else "",
        declared=int(judged),
        observed=int(judged) + found.get("extra", 0) - found.get("missing", 0),
        calls=2 if judged else 0,
        upstream_requests=2 if judged else 0,
        funnel={"intents": 1, "model_requests": 0, "calls": 2, "upstream_requests": 2, "effects": 1 + found.get("extra", 0)},
        wall_s=round(0.8 + drawn, 3) if judged else 0.0,
        answer_s=round(drawn, 6) if judged and cell.boundary is not Boundary.NONE else None,
        **found,
    )


def _found(cell: Cell, contract: str, truthful: bool, drawn: float) -> dict[str, Any]:
    """A verdict and its figures; worse without a key, and on adapters that lie."""
    bad = {"none": 0.7, "look-up": 0.4, "natural-key": 0.1}.get(contract, 0.15) if truthful else 0.6
    if drawn > 0.99:
        return {"verdict": Verdict.UNTESTABLE, "reason": "not exposed: the fault never struck"}
    if drawn > bad:
        return {"verdict": Verdict.CORRECT, "reason": "exactly the declared effects, and claimed so"}
    if TABLE[cell.boundary].number <= 2:
        return {"verdict": Verdict.INCOMPLETE, "reason": "1 declared effect never happened", "missing": 1, "unresolved": 1}
    if cell.boundary is Boundary.REPAIR_DRIFT:
        reason = {"verdict": Verdict.VIOLATED, "reason": "1 effect that nobody declared"}
        return {**reason, "extra": 1, "strays": 1, "blame": Blame.RUNTIME}
    if drawn < bad / 5:
        reason = {"verdict": Verdict.UNRESOLVED, "reason": "all effects happened, but pay is claimed error"}
        return {**reason, "unresolved": 1, "avoidable": int(contract == "key")}
    who = Blame.RUNTIME if truthful else Blame.TOOL_SERVER
    return {"verdict": Verdict.VIOLATED, "reason": "1 duplicate effect", "extra": 1, "duplicates": 1, "blame": who}


def _history(cell: Cell) -> History:
    """One charge, lost after its commit, and charged again."""
    arguments = {"order": "1001", "amount": 10000, "currency": "usd"}
    slot = Slot.model_validate({"id": "charge", "class": "charge", "call": 0, "match": arguments})
    return History(
        declaration=Declaration(
            runtime="synthetic",
            model=False,
            cell=cell,
            workload=Workload(
                name=cell.workload,
                title="Charge a card",
                summary="One charge.",
                classes={"charge": ClassKind.EVENT},
                intents=(
                    Intent(
                        id="pay",
                        say="Charge 100.00 USD for order 1001.",
                        calls=(Call(tool="charge", arguments=arguments),),
                        slots=(slot,),
                        outcomes=(Outcome(fulfils=True, slots={"charge": 1}),),
                    ),
                ),
            ),
            contracts={"charge": Contract(binding=("order", "amount", "currency"))},
            truthful=True,
            tool_call_s=1.0,
            run_s=30.0,
        ),
        events=tuple(Event(n=n, t=n / 100, **step) for n, step in enumerate(_steps(arguments, cell.manifestation), 1)),
        reading=Reading(
            baseline=(),
            final=tuple(
                Effect.model_validate({"class": "charge", "receipt": receipt, "fields": arguments})
                for receipt in ("ch_1", "ch_2")
            ),
        ),
    )


def _steps(arguments: dict[str, Any], shown: Manifestation) -> Iterator[dict[str, Any]]:
    yield {"kind": Kind.SERVER_STARTED, "instance": "a", "pid": 11}
    yield {"kind": Kind.RUNTIME_STARTED, "incarnation": 1, "pid": 10}
    for number, receipt in ((1, "ch_1"), (2, "ch_2")):
        request = {"request": number, "call": number}
        call = {"call": number, "incarnation": 1, "instance": "a", "tool": "charge", "arguments": arguments, "declared": 0}
        answer = {"result": {"isError": False, "content": [], "structuredContent": {"receipt": receipt}}}
        yield {"kind": Kind.CALL, **call}
        yield {"kind": Kind.CALL_FORWARDED, "call": number, "instance": "a"}
        yield {"kind": Kind.REQUEST, **request, "instance": "a", "upstream": {"method": "POST", "path": "/charges"}}
        yield {"kind": Kind.REQUEST_FORWARDED, "request": number}
        yield {"kind": Kind.COMMIT, "request": number, "receipts": (receipt,), "effect_class": "charge"}
        yield {"kind": Kind.REPLY, "request": number, "status": 201, "receipts": (receipt,), "committed": True}
        if number == 1:
            yield {"kind": Kind.PROBE, "receipts": (receipt,)}
            yield {"kind": Kind.STRIKE, **request, "detail": shown}
            yield {"kind": Kind.CONNECTION_LOST, "incarnation": 1, "call": 1}
        else:
            yield {"kind": Kind.REPLY_DELIVERED, "request": number, "status": 201, "altered": False}
            yield {"kind": Kind.RESULT, "call": number, "result": answer}
            yield {"kind": Kind.DELIVERED, "call": number, "result": answer, "altered": False}
    said = {"contract": 1, "intents": [{"id": "pay", "status": "committed", "receipt": "ch_2"}]}
    yield {"kind": Kind.OUTCOME, "incarnation": 1, "result": said}
    yield {"kind": Kind.RUNTIME_EXITED, "incarnation": 1, "status": 0}
    yield {"kind": Kind.QUIESCENT}
