"""An effect as an oracle sees it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from benchmark.contracts import Frozen


class Effect(Frozen):
    """One change of external state, read by an oracle from the provider's own state.

    For a state-like class each change of the value is one effect (a write that leaves it unchanged is none); its receipt
    names the version.
    """

    effect_class: str = Field(alias="class")
    receipt: str
    fields: dict[str, Any]
    reference: str | None = None
    undone: bool = Field(default=False, description="Made and undone again: still seen, thanks to the provider's journal.")
