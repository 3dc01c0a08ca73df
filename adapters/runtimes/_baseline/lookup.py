"""Looking for the effects of a call by the reference that it carried."""

from __future__ import annotations

from dataclasses import dataclass

from _baseline.server import Server
from _baseline.task import Call, Request


@dataclass(frozen=True)
class Found:
    """One look-up for each effect of the call: its receipt, or None where the answer listed none.

    ``detail`` is not empty where a look-up was not answered; then ``receipts`` says nothing about what is missing.
    """

    receipts: tuple[str | None, ...]
    detail: str = ""

    @property
    def every(self) -> bool:
        return bool(self.receipts) and None not in self.receipts

    @property
    def none(self) -> bool:
        return not self.detail and not any(self.receipts)

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(receipt for receipt in self.receipts if receipt is not None)


async def find(server: Server, call: Call) -> Found:
    """One look-up per effect, in order; stops at the first that is not answered. Needs ``lookup_by_reference``."""
    contract = call.contract
    assert contract is not None
    assert contract.lookup is not None
    assert contract.reference is not None
    receipts: list[str | None] = []
    for reference in call.references:
        reply = await server.call(Request(contract.lookup.tool, {contract.reference: reference}))
        listed = reply.content.get("found")
        if not reply.ok or not isinstance(listed, list):
            return Found(tuple(receipts), reply.detail or "a look-up without a list")
        # A look-alike without our reference is somebody else's, whatever else agrees.
        ours = (item for item in listed if isinstance(item, dict) and item.get("reference") == reference)
        receipts.append(next((item["receipt"] for item in ours if isinstance(item.get("receipt"), str)), None))
    return Found(tuple(receipts))
