"""The predicted matrix: (policy, workload, contracts, adapter, cell) → verdict and every figure. Pure.

Nothing of scoring or of the conductor is imported: agreement with a sweep is agreement of two derivations.
"""

from __future__ import annotations

from benchmark.boundaries import TABLE, Boundary, Manifestation, Point, Variant, strike_point
from benchmark.cells import Cell
from benchmark.contracts import Contract
from benchmark.intents import Workload
from tests.prediction.contracts_world import TRAITS, TREACHEROUS, Traits
from tests.prediction.counting import Prediction, count
from tests.prediction.policies import POLICIES, Memory, Session, Settled, run
from tests.prediction.rules import ALL, Rule, Rules
from tests.prediction.simulation import Inapplicable, Killed, World

__all__ = ["POLICIES", "Prediction", "predict"]

MOST_INCARNATIONS = 3


def predict(
    policy: str,
    workload: Workload,
    contracts: dict[str, Contract],
    truthful: bool,
    adapter: str,
    cell: Cell,
    rules: Rules = ALL,
) -> Prediction:
    """``contracts``: of the workload's mutating tools as the task file has them, this cell's retention included."""
    if truthful == (adapter in TREACHEROUS):
        raise ValueError(f"{adapter} is {'treacherous' if truthful else 'truthful'} in the model")
    reason = static_reason(workload, contracts, adapter, cell)
    if reason is not None:
        return Prediction("not-applicable", reason=reason)
    world = World(workload, contracts, adapter, cell, rules)
    try:
        claims = _live(policy, world, workload, cell)
        world.end()
    except Inapplicable as found:
        return Prediction("not-applicable", reason=str(found))
    prediction = count(world, workload, claims)
    if cell.boundary is not Boundary.NONE and not world.struck:
        return Prediction("not-applicable", reason="nothing was committed")
    if cell.boundary is Boundary.LOOKUP_FAILURE and not world.look_failed:
        return Prediction("not-applicable", reason="never looked up")
    return prediction


def _live(policy: str, world: World, workload: Workload, cell: Cell) -> dict[str, Settled]:
    """One incarnation after the other until one ends by itself."""
    memory, task = Memory(), workload
    if cell.boundary is Boundary.DOUBLE_RESUME:
        return _live_twice(policy, world, workload)
    for incarnation in range(1, MOST_INCARNATIONS):
        try:
            return run(policy, Session(world, memory, incarnation), task)
        except Killed:
            world.restart()
            if cell.boundary is Boundary.REPAIR_DRIFT and workload.drift is not None:
                drift = workload.drift.binding if cell.variant is Variant.BINDING else workload.drift.free
                task = workload.drifted(drift)
    raise AssertionError("killed twice")


def _live_twice(policy: str, world: World, workload: Workload) -> dict[str, Settled]:
    """Two lives with one memory, the second inside the first."""
    memory = Memory()
    second: dict[str, Settled] = {}
    world.second_life = lambda: second.update(run(policy, Session(world, memory, 2), workload))
    first = run(policy, Session(world, memory, 1), workload)
    return first if Rule.FIRST_HAS_THE_LAST_WORD in world.rules or not second else second


def static_reason(workload: Workload, contracts: dict[str, Contract], adapter: str, cell: Cell) -> str | None:
    """Why a cell cannot be judged, as far as the published tables say so before anything runs."""
    row, point = TABLE[cell.boundary], strike_point(cell.boundary, cell.variant)
    call = workload.declared_calls[cell.strike.index(len(workload.declared_calls))][2]
    contract = contracts.get(call.tool)
    if cell.variant not in row.variants or cell.manifestation not in row.manifestations:
        return "not in the tables"
    reason = _not_on_this_wire(cell, point, TRAITS[adapter])
    if reason is not None:
        return reason
    if cell.boundary is Boundary.LEASE_EXPIRED:
        return "no baseline has a lease"
    if contract is None and (row.commits or cell.manifestation is Manifestation.REFUSED):
        return "a read"
    return None if contract is None else _not_in_this_contract(workload, contract, cell)


def _not_on_this_wire(cell: Cell, point: Point, traits: Traits) -> str | None:
    tool_wire = point in (Point.CALL, Point.RESULT) or cell.boundary is Boundary.LOOKUP_FAILURE
    if cell.manifestation is Manifestation.RESET and cell.transport == "stdio" and tool_wire:
        return "reset of a stdio tool wire is crash"
    if (
        traits.files
        and point in (Point.REQUEST, Point.REPLY)
        and cell.manifestation in (Manifestation.RESET, Manifestation.REFUSED)
    ):
        return "not at a gate"
    if cell.boundary is Boundary.OTHER_INSTANCE:
        sessions = cell.protocol == "2025-11-25"
        if cell.transport == "stdio" or sessions != (cell.variant is not Variant.NONE):
            return "no other instance there"
    resumed = (cell.transport, cell.protocol, cell.manifestation) == ("http", "2025-11-25", Manifestation.RESET)
    if cell.variant is Variant.RESUMABLE and not (resumed and traits.streams):
        return "no stream to resume there"
    if cell.boundary is Boundary.INPUT_REQUIRED and cell.protocol == "2025-11-25":
        return "no result asks for input there"
    return None


def _not_in_this_contract(workload: Workload, contract: Contract, cell: Cell) -> str | None:
    if cell.manifestation is Manifestation.REFUSED and contract.answers.not_executed is None:
        return "not_executed is not declared"
    if cell.boundary is Boundary.TOKEN_EXPIRED and (contract.key is None or contract.key.retention_s is None):
        return "no key that expires"
    if cell.boundary is Boundary.LOOKUP_FAILURE and contract.lookup is None:
        return "no look-up"
    if cell.boundary is Boundary.REPAIR_DRIFT and workload.drift is not None:
        change = workload.drift.binding if cell.variant is Variant.BINDING else workload.drift.free
        if (change.argument in contract.binding) != (cell.variant is Variant.BINDING):
            return "no such drift"
    return None
