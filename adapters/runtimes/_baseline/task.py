"""The task file (runtime contract, version 1) as frozen types; unknown fields are ignored, as the contract demands."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Key:
    """A token by which the tool recognises a repeat."""

    carrier: str
    name: str
    retention_s: float | None
    scope: str
    max_length: int
    on_repeat: str

    @property
    def protects(self) -> bool:
        """Whether a repeat with the same key makes no new effect."""
        return self.on_repeat != "new"


@dataclass(frozen=True)
class Lookup:
    """A tool that finds effects; ``settles_s``: seconds after which a negative answer is final, None: never."""

    tool: str
    by: tuple[str, ...]
    settles_s: float | None


@dataclass(frozen=True)
class Contract:
    """What the tool declares about identity and repetition."""

    key: Key | None
    natural_key: tuple[str, ...] | None
    on_repeat: str | None
    lookup: Lookup | None
    reference: str | None
    binding: tuple[str, ...]
    each: str | None
    """The list argument with one item per effect; None: the call has one effect."""
    atomic: bool
    answers: dict[str, tuple[str, Any]]
    """Name of a special answer → JSON pointer and the value found there."""
    raw: dict[str, Any]

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Contract:
        key, lookup, effects = raw.get("key"), raw.get("lookup"), raw.get("effects")
        natural = raw.get("natural_key")
        return cls(
            key=Key(
                carrier=key["carrier"],
                name=key["name"],
                retention_s=key.get("retention_s"),
                scope=key.get("scope", "account"),
                max_length=key.get("max_length", 255),
                on_repeat=key.get("on_repeat", "replay"),
            )
            if key
            else None,
            natural_key=tuple(natural) if natural else None,
            on_repeat=raw.get("on_repeat"),
            lookup=Lookup(lookup["tool"], tuple(lookup["by"]), lookup.get("settles_s")) if lookup else None,
            reference=raw.get("reference"),
            binding=tuple(raw.get("binding", ())),
            each=effects["each"] if effects else None,
            atomic=bool(effects and effects.get("atomic")),
            answers={name: (found[0], found[1]) for name, found in (raw.get("answers") or {}).items() if found},
            raw=raw,
        )

    @property
    def lookup_by_reference(self) -> bool:
        """Whether an effect can be found by the reference that its call carried."""
        return self.lookup is not None and self.reference is not None and self.reference in self.lookup.by


@dataclass(frozen=True)
class Request:
    """One ``tools/call`` to send: arguments, ``_meta`` and extra fields of ``params``."""

    tool: str
    arguments: dict[str, Any]
    meta: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)

    def with_argument(self, name: str, value: Any) -> Request:
        return Request(self.tool, {**self.arguments, name: value}, self.meta, self.params)

    def with_key(self, key: Key, value: str) -> Request:
        """The request with its key where the contract's carrier says; any other carrier: unchanged."""
        if key.carrier == "argument":
            return self.with_argument(key.name, value)
        if key.carrier == "meta":
            return Request(self.tool, self.arguments, {**self.meta, key.name: value}, self.params)
        if key.carrier == "param":
            return Request(self.tool, self.arguments, self.meta, {**self.params, key.name: value})
        return self


@dataclass(frozen=True)
class Call:
    """One declared call of an intent. ``contract`` None: the task declares none, so the tool is taken for a reader."""

    workflow: str
    intent: str
    index: int
    tool: str
    arguments: dict[str, Any]
    contract: Contract | None

    @property
    def effect_id(self) -> str:
        """64 hexadecimal digits, a hash of workflow, intent and call index: the same in every incarnation."""
        return hashlib.sha256(json.dumps([self.workflow, self.intent, self.index]).encode()).hexdigest()

    @property
    def key(self) -> str:
        """The effect id, cut so that key and ``/i`` fit the contract's length."""
        longest = self.contract.key.max_length if self.contract and self.contract.key else 255
        return self.effect_id[: max(1, longest - 4)]

    @property
    def request(self) -> Request:
        """The declared call, nothing added."""
        return Request(self.tool, self.arguments)

    @property
    def keyed(self) -> Request:
        """The declared call with its key, where the contract has one."""
        key = self.contract.key if self.contract else None
        return self.request.with_key(key, self.key) if key else self.request

    @property
    def referenced(self) -> Request:
        """The declared call with the effect id as its reference, where the contract has one."""
        name = self.contract.reference if self.contract else None
        return self.request.with_argument(name, self.effect_id) if name else self.request

    @property
    def effects(self) -> int:
        """How many effects the call makes."""
        each = self.contract.each if self.contract else None
        items = self.arguments.get(each) if each else None
        return len(items) if isinstance(items, list) else 1

    @property
    def references(self) -> tuple[str, ...]:
        """The reference of each effect: the effect id, or effect id/i where the contract declares several."""
        if self.contract is None or self.contract.each is None:
            return (self.effect_id,)
        return tuple(f"{self.effect_id}/{i}" for i in range(self.effects))


@dataclass(frozen=True)
class Intent:
    """One authorised intent with its calls, in order."""

    id: str
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Task:
    """The whole task. Times are seconds."""

    workflow: str
    incarnation: int
    replan: bool
    state_dir: Path
    outcome_path: Path
    intents: tuple[Intent, ...]
    server: dict[str, Any]
    tool_call_s: float
    run_s: float

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Task:
        """Raises ValueError for another version of the contract, KeyError for a missing field."""
        if raw["contract"] != 1:
            raise ValueError(f"task file of contract {raw['contract']!r}; this runtime speaks contract 1")
        contracts = {tool: Contract.parse(found) for tool, found in (raw.get("contracts") or {}).items()}
        intents = tuple(
            Intent(
                id=intent["id"],
                calls=tuple(
                    Call(
                        raw["workflow_id"], intent["id"], index, call["tool"], call["arguments"], contracts.get(call["tool"])
                    )
                    for index, call in enumerate(intent["calls"])
                ),
            )
            for intent in raw["intents"]
        )
        return cls(
            workflow=raw["workflow_id"],
            incarnation=raw.get("incarnation", 1),
            replan=raw.get("replan", False),
            state_dir=Path(raw["state_dir"]),
            outcome_path=Path(raw["outcome_path"]),
            intents=intents,
            server=raw["server"],
            tool_call_s=raw["timeouts"]["tool_call_s"],
            run_s=raw["timeouts"].get("run_s", 30.0),
        )

    @classmethod
    def load(cls) -> Task:
        """The task named by the environment variable ``BENCH_TASK``."""
        return cls.parse(json.loads(Path(os.environ["BENCH_TASK"]).read_text(encoding="utf-8")))
