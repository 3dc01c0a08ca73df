"""What a tool declares about identity, repetition and look-up: the ``contracts`` of the task file.

Shapes and words are those of the runtime contract (docs/reference/runtime-contract.md), version 1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Immutable, no unknown fields: a misspelt key is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Text = Annotated[str, Field(pattern=r"\S")]
"""Never blank."""


class Key(Frozen):
    """A token by which the tool recognises a repeat."""

    carrier: Literal["argument", "meta", "param"]
    name: Text
    retention_s: float | None = Field(
        default=None, gt=0, description="Seconds from the provider's first receipt; null: for ever."
    )
    scope: Literal["account", "endpoint", "instance", "connection"] = "account"
    max_length: int = Field(default=255, gt=0)
    on_repeat: Literal["replay", "refuse", "new"] = "replay"
    on_mismatch: Literal["conflict", "replay", "new"] = "conflict"


class Lookup(Frozen):
    """A tool that finds effects; a negative answer is final ``settles_s`` after the call ended (null: never)."""

    tool: str
    by: tuple[str, ...] = Field(min_length=1)
    settles_s: float | None = Field(default=None, ge=0)


class Several(Frozen):
    """One call, several effects, one upstream request each (key KEY/i), or all in one (key KEY)."""

    each: str = Field(description="The list argument with one item per effect.")
    atomic: bool = False
    together: bool = Field(default=False, description="All of them in one upstream request and one transaction.")


Answer = tuple[str, Any]
"""A JSON pointer into the result (or the JSON-RPC error) and the value found there."""


class Answers(Frozen):
    """How a caller recognises the special answers of a tool."""

    replayed: Answer | None = None
    repeat_refused: Answer | None = None
    mismatch: Answer | None = None
    not_executed: Answer | None = None
    in_progress: Answer | None = None
    unavailable: Answer | None = None
    stalled: Answer | None = None


class ContractKind(StrEnum):
    """The strongest thing a contract offers; the rows of every comparison by contract."""

    NONE = "none"
    LOOKUP = "look-up"
    KEY = "key"
    NATURAL_KEY = "natural-key"


class Contract(Frozen):
    """The declared contract of one mutating tool."""

    key: Key | None = None
    natural_key: tuple[str, ...] | None = None
    on_repeat: Literal["overwrite", "refuse"] | None = Field(
        default=None, description="With a natural key: what a second call for the same object does."
    )
    lookup: Lookup | None = None
    reference: Text | None = Field(default=None, description="Free argument, stored and returned by look-ups.")
    binding: tuple[str, ...] = Field(min_length=1)
    effects: Several | None = None
    answers: Answers = Answers()
    idempotent_hint: bool = False

    @property
    def kind(self) -> ContractKind:
        """key before natural key before look-up before none."""
        if self.key is not None:
            return ContractKind.KEY
        if self.natural_key is not None:
            return ContractKind.NATURAL_KEY
        return ContractKind.LOOKUP if self.lookup is not None else ContractKind.NONE

    def with_retention(self, seconds: float) -> Contract:
        """The same contract with another finite key retention; unchanged where there is no finite one."""
        if self.key is None or self.key.retention_s is None:
            return self
        return self.model_copy(update={"key": self.key.model_copy(update={"retention_s": seconds})})
