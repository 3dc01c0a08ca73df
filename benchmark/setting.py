"""A cell with everything the catalogue says about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from benchmark.boundaries import Boundary, Variant
from benchmark.catalog import Catalogue, Oracle, Placed
from benchmark.cells import Cell
from benchmark.contracts import Contract
from benchmark.entries import Provider, Runtime, ToolAdapter
from benchmark.intents import Change, Workload

SHORT_RETENTION_S = 2.0


@dataclass(frozen=True)
class Setting:
    """A cell with everything the catalogue says about it."""

    cell: Cell
    runtime: Placed[Runtime]
    workload: Workload
    adapter: Placed[ToolAdapter]
    provider: Placed[Provider]
    oracle: Oracle
    preload: bool = True

    @classmethod
    def of(cls, catalogue: Catalogue, runtime: Placed[Runtime], cell: Cell, *, preload: bool = True) -> Setting:
        """A cell of this runtime; raises UsageError for a name that the catalogue lacks."""
        provider = catalogue.provider_of(cell.adapter)
        return cls(
            cell=cell,
            runtime=runtime,
            workload=catalogue.workload(cell.workload).value,
            adapter=catalogue.adapter(cell.adapter),
            provider=provider,
            oracle=catalogue.oracle(provider.value.oracle),
            preload=preload,
        )

    @property
    def contracts(self) -> dict[str, Contract]:
        """The contracts of the workload's tools, with this cell's retention."""
        contracts = self.adapter.value.contracts(self.workload.tools)
        if not self._short_retention:
            return contracts
        return {tool: contract.with_retention(SHORT_RETENTION_S) for tool, contract in contracts.items()}

    @property
    def change(self) -> Change | None:
        """What the second plan changes, where there is one (repair-drift)."""
        drift = self.workload.drift
        if self.cell.boundary is not Boundary.REPAIR_DRIFT or drift is None:
            return None
        return drift.free if self.cell.variant is Variant.FREE else drift.binding

    @property
    def _short_retention(self) -> bool:
        """In token-expired, and in half of the controls, so that the contract alone gives nothing away."""
        if self.cell.boundary is Boundary.NONE:
            return hashlib.sha256(self.cell.name.encode()).digest()[0] % 2 == 0
        return self.cell.boundary is Boundary.TOKEN_EXPIRED

    @property
    def retention_s(self) -> float | None:
        """The provider's retention; None: for ever."""
        keys = [contract.key for contract in self.contracts.values() if contract.key is not None]
        return next((key.retention_s for key in keys if key.retention_s is not None), None)
