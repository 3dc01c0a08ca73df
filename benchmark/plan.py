"""The plan."""

from __future__ import annotations

from benchmark.contracts import ContractKind, Frozen


class Pair(Frozen):
    """One workload on one tool adapter, standing for a contract kind."""

    kind: ContractKind
    workload: str
    adapter: str


class Spine(Frozen):
    """The file's content."""

    pair: tuple[Pair, ...] = ()
