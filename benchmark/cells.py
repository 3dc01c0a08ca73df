"""A cell: one coordinate of the plan, and its name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.errors import UsageError

Which = Literal["first", "middle", "last"]


@dataclass(frozen=True, order=True)
class Strike:
    """Which declared call is hit (and which of its upstream requests), once or at every attempt.

    Written ``first-once``, ``last-every``, ``first/3-once``.
    """

    which: Which = "first"
    upstream: int = 1
    every: bool = False

    def __str__(self) -> str:
        nth = f"/{self.upstream}" if self.upstream != 1 else ""
        return f"{self.which}{nth}-{'every' if self.every else 'once'}"

    @classmethod
    def parse(cls, text: str) -> Strike:
        found = re.fullmatch(r"(first|middle|last)(?:[/~](\d+))?-(once|every)", text)
        if found is None:
            raise UsageError(f"strike {text!r} is not of the form first|middle|last[/K]-once|every")
        return cls(found[1], int(found[2] or 1), found[3] == "every")  # type: ignore[arg-type]

    def index(self, calls: int) -> int:
        """The index of the struck call among ``calls`` declared ones."""
        return {"first": 0, "middle": calls // 2, "last": calls - 1}[self.which]


@dataclass(frozen=True, order=True)
class Cell:
    """One coordinate of the plan (without the runtime, which the plan does not depend on)."""

    workload: str
    adapter: str
    boundary: Boundary
    variant: Variant = Variant.NONE
    manifestation: Manifestation = Manifestation.NONE
    transport: Literal["stdio", "http"] = "stdio"
    protocol: Literal["2025-11-25", "2026-07-28"] = "2025-11-25"
    strike: Strike = Strike()
    persona: str = "-"
    repeat: int = 1

    @property
    def name(self) -> str:
        """The coordinates joined with dots; safe as a file name (``/`` of a strike becomes ``~``)."""
        parts = (
            self.workload,
            self.adapter,
            self.boundary,
            self.variant,
            self.manifestation,
            self.transport,
            self.protocol,
            str(self.strike).replace("/", "~"),
            f"{self.persona}@{self.repeat}",
        )
        return ".".join(parts)

    @classmethod
    def parse(cls, name: str) -> Cell:
        """The cell of a name; raises UsageError."""
        parts = name.split(".")
        tail = re.fullmatch(r"([a-z-]+)@([1-9]\d*)", parts[-1])
        if len(parts) != 9 or tail is None:
            raise UsageError(f"{name!r} is not a cell's name: nine parts joined with dots, the last one PERSONA@REPEAT")
        try:
            return cls(
                workload=parts[0],
                adapter=parts[1],
                boundary=Boundary(parts[2]),
                variant=Variant(parts[3]),
                manifestation=Manifestation(parts[4]),
                transport=parts[5],  # type: ignore[arg-type]
                protocol=parts[6],  # type: ignore[arg-type]
                strike=Strike.parse(parts[7]),
                persona=tail[1],
                repeat=int(tail[2]),
            )
        except ValueError as error:
            raise UsageError(f"{name!r} is not a cell's name: {error}") from None

    def repeated(self, repeat: int) -> Cell:
        return replace(self, repeat=repeat)
