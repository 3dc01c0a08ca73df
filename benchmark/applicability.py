"""Which cells can be judged at all: pure rules over runtime.toml, contract and cell (shown by ``--dry-run``).

Two layers: a coordinate that is *meaningless* by the published tables never enters a plan; one that is merely
*inapplicable* for a contract or a runtime stays in it and is reported ``not-applicable`` with the reason given here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmark.boundaries import TABLE, Boundary, Manifestation, Point, Variant, strike_point
from benchmark.cells import Cell, Strike
from benchmark.contracts import Contract
from benchmark.entries import Capabilities, Provider, ToolAdapter
from benchmark.intents import Call, Workload

EVERYTHING = Capabilities(lease_s=1.0, input=True)
"""A runtime without a model that can do all there is to do."""

_AT_A_GATE = frozenset({Manifestation.NONE, Manifestation.SILENCE, Manifestation.ERROR, Manifestation.CRASH})
_EVERY = frozenset(
    {Boundary.BEFORE_DISPATCH, Boundary.BEFORE_COMMIT, Boundary.AFTER_COMMIT, Boundary.BEFORE_DELIVERY}
)  # the only boundaries at which a second attempt meets the same wire with the same fault


@dataclass(frozen=True)
class Struck:
    """The declared call that a cell strikes, and its tool's contract (None: a reader)."""

    call: Call
    contract: Contract | None

    @property
    def upstream_requests(self) -> int:
        """How many upstream requests the call makes: one per effect, unless all are made together."""
        several = self.contract.effects if self.contract else None
        return len(self.call.arguments.get(several.each, ())) if several and not several.together else 1


def struck(workload: Workload, adapter: ToolAdapter, cell: Cell) -> Struck:
    """What the cell strikes; the adapter has the workload's tools."""
    calls = workload.declared_calls
    call = calls[cell.strike.index(len(calls))][2]
    return Struck(call, adapter.tools[call.tool].contract)


def inapplicable(
    capabilities: Capabilities, workload: Workload, adapter: ToolAdapter, provider: Provider, cell: Cell
) -> str | None:
    """Why this cell cannot be judged with a runtime of these capabilities; None: it can."""
    return (
        meaningless(workload, adapter, provider, cell)
        or _unable(capabilities, cell)
        or _uncontracted(workload, adapter, provider, cell)
    )


def meaningless(workload: Workload, adapter: ToolAdapter, provider: Provider, cell: Cell) -> str | None:
    """Why the tables give this coordinate no meaning of its own; None: it has one."""
    row = TABLE[cell.boundary]
    if cell.variant not in row.variants:
        return f"{cell.boundary} has no variant {cell.variant}"
    if cell.manifestation not in row.manifestations:
        return f"{cell.boundary} has no manifestation {cell.manifestation}"
    if reason := _wire(adapter, provider, cell):
        return reason
    lacking = next(
        (call.tool for intent in workload.intents for call in intent.calls if call.tool not in adapter.tools), None
    )
    return f"the adapter has no tool {lacking}" if lacking else _strike(workload, adapter, cell)


def _wire(adapter: ToolAdapter, provider: Provider, cell: Cell) -> str | None:
    """The wire on which the fault would strike cannot show it so."""
    point = strike_point(cell.boundary, cell.variant)
    tool_wire = point in (Point.CALL, Point.RESULT) or cell.boundary is Boundary.LOOKUP_FAILURE
    if cell.manifestation is Manifestation.RESET and cell.transport == "stdio" and tool_wire:
        return "reset of a stdio tool wire is crash"
    if provider.kind == "files" and point in (Point.REQUEST, Point.REPLY) and cell.manifestation not in _AT_A_GATE:
        return f"a gate cannot show {cell.manifestation}"
    if cell.variant is Variant.RESUMABLE:
        if (cell.transport, cell.protocol) != ("http", "2025-11-25"):
            return f"no stream is resumed over {cell.transport} in {cell.protocol}"
        if cell.manifestation is not Manifestation.RESET:
            return "what is resumed is a stream that broke (reset)"
        if adapter.http_answers != "sse":
            return f"{adapter.name} answers without a stream"
    if cell.boundary is Boundary.INPUT_REQUIRED and cell.protocol != "2026-07-28":
        return f"in {cell.protocol} no result asks for input"
    if cell.boundary is Boundary.OTHER_INSTANCE:
        if cell.transport == "stdio":
            return "another instance over stdio is after-commit crash"
        sessions = cell.protocol == "2025-11-25"
        if sessions != (cell.variant is not Variant.NONE):
            return f"{cell.protocol} has {'sessions, name what becomes of it' if sessions else 'no sessions'}"
    return None


def _strike(workload: Workload, adapter: ToolAdapter, cell: Cell) -> str | None:
    """The strike names nothing, or what a shorter name names already."""
    strike = cell.strike
    if strike == Strike():
        return None
    calls = sum(len(intent.calls) for intent in workload.intents)
    if cell.boundary in (Boundary.NONE, Boundary.REPAIR_DRIFT):
        return f"{cell.boundary} has the strike {Strike()} only"
    if calls < {"first": 1, "last": 2, "middle": 3}[strike.which]:
        return f"of {calls} declared {'call' if calls == 1 else 'calls'}, {strike.which} is none of its own"
    if strike.every and cell.boundary not in _EVERY:
        return f"{cell.boundary} strikes once only"
    if strike.upstream != 1:
        if strike_point(cell.boundary, cell.variant) not in (Point.REQUEST, Point.REPLY):
            return f"{cell.boundary} strikes the call, not one of its upstream requests"
        requests = struck(workload, adapter, cell).upstream_requests
        if not 1 <= strike.upstream <= requests:
            return f"the struck call makes {requests} upstream {'request' if requests == 1 else 'requests'}"
    return None


def _unable(capabilities: Capabilities, cell: Cell) -> str | None:
    """The runtime cannot do what the cell asks of it."""
    if cell.transport not in capabilities.transports:
        return f"the runtime has no {cell.transport} transport"
    if cell.protocol not in capabilities.protocols:
        return f"the runtime does not reach protocol {cell.protocol}"
    if cell.boundary is Boundary.LEASE_EXPIRED and capabilities.lease_s is None:
        return "the runtime declares no lease"
    if cell.boundary is Boundary.INPUT_REQUIRED and not capabilities.input:
        return "the runtime cannot be asked for input"
    if cell.persona not in (known := personas(capabilities, cell)):
        return f"persona {cell.persona} is not one of {', '.join(known)} here"
    return None


def personas(capabilities: Capabilities, cell: Cell) -> tuple[str, ...]:
    """The personas with which a runtime of these capabilities is swept at this cell."""
    if not capabilities.model:
        return ("-",)
    return ("repair",) if cell.boundary is Boundary.REPAIR_DRIFT else ("once", "retry")


def cast(capabilities: Capabilities, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The plan's cells (persona ``-``) with each persona that this runtime is swept with; other cells as they are."""
    return tuple(_cast(capabilities, cells))


def _cast(capabilities: Capabilities, cells: tuple[Cell, ...]) -> Iterator[Cell]:
    for cell in cells:
        if cell.persona != "-":
            yield cell
        else:
            yield from (replace(cell, persona=persona) for persona in personas(capabilities, cell))


def _uncontracted(workload: Workload, adapter: ToolAdapter, provider: Provider, cell: Cell) -> str | None:
    """The struck tool's contract, or the workload, gives the cell nothing to strike."""
    hit = struck(workload, adapter, cell)
    contract = hit.contract
    if contract is None:
        return _read(cell, hit.call.tool)
    if cell.manifestation is Manifestation.REFUSED:
        if contract.answers.not_executed is None:
            return f"{hit.call.tool} declares no not_executed"
        if strike_point(cell.boundary, cell.variant) is Point.REQUEST and provider.not_executed is None:
            return f"provider {provider.name} has no proof of not_executed"
    if cell.boundary is Boundary.TOKEN_EXPIRED and (contract.key is None or contract.key.retention_s is None):
        return f"{hit.call.tool} has no key" if contract.key is None else f"the key of {hit.call.tool} never expires"
    if cell.boundary is Boundary.LOOKUP_FAILURE and contract.lookup is None:
        return f"{hit.call.tool} has no look-up"
    if cell.boundary is Boundary.REPAIR_DRIFT:
        return _undrifted(workload, contract, cell)
    return None


def _read(cell: Cell, tool: str) -> str | None:
    if TABLE[cell.boundary].commits:
        return f"{tool} only reads, nothing is committed"
    if cell.manifestation is Manifestation.REFUSED:
        return f"{tool} only reads, it declares no not_executed"
    return None


def _undrifted(workload: Workload, contract: Contract, cell: Cell) -> str | None:
    if workload.drift is None:
        return "the workload has no drift"
    change = workload.drift.binding if cell.variant is Variant.BINDING else workload.drift.free
    binds = change.argument in contract.binding
    if binds != (cell.variant is Variant.BINDING):
        return f"{change.argument} {'binds' if binds else 'does not bind'} in this contract"
    return None
