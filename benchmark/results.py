"""What a run is and what its cells came to: the outcome file as read, a line in ``cells.jsonl``, and ``run.json``."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchmark.contracts import Frozen
from benchmark.entries import Promise

SCHEMA_VERSION = 1


class Claim(StrEnum):
    """What the runtime says about an intent; ``silent`` where it says nothing."""

    COMMITTED = "committed"
    FAILED = "failed"
    UNRESOLVED = "unresolved"
    ERROR = "error"
    SILENT = "silent"


class Verdict(StrEnum):
    """The first that fits, in this order."""

    NOT_RUN = "not-run"
    NOT_APPLICABLE = "not-applicable"
    HARNESS_ERROR = "harness-error"
    UNTESTABLE = "untestable"
    VIOLATED = "violated"
    INCOMPLETE = "incomplete"
    UNRESOLVED = "unresolved"
    CORRECT = "correct"

    @property
    def judged(self) -> bool:
        return self in (Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.UNRESOLVED, Verdict.CORRECT)


class Figure(StrEnum):
    """The figures, always apart, never added up."""

    EXTRA = "extra"
    MISSING = "missing"
    FALSE_DEDUP = "false_dedup"
    UNRESOLVED = "unresolved"
    TORN = "torn"
    MISREPORTED = "misreported"


class Blame(StrEnum):
    """Who multiplied first; for extra effects only."""

    MODEL = "model"
    RUNTIME = "runtime"
    TOOL_SERVER = "tool-server"
    PROVIDER = "provider"


class CallStatus(BaseModel):
    """An intent's optional per-call status in the outcome file."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    index: int
    status: Literal["committed", "failed", "unresolved", "error"]
    receipt: str | None = None
    receipts: tuple[str, ...] | None = None


class IntentStatus(BaseModel):
    """One intent in the outcome file."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str
    status: Literal["committed", "failed", "unresolved", "error"]
    receipt: str | None = None
    receipts: tuple[str, ...] | None = None
    detail: str = ""
    calls: tuple[CallStatus, ...] = ()

    @property
    def all_receipts(self) -> tuple[str, ...]:
        """Every receipt claimed for the intent, without repeats."""
        found = [self.receipt, *(self.receipts or ())]
        for call in self.calls:
            found += [call.receipt, *(call.receipts or ())]
        return tuple(dict.fromkeys(receipt for receipt in found if receipt is not None))


class OutcomeFile(BaseModel):
    """The outcome file of the runtime contract, version 1."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    contract: Literal[1]
    status_from: Literal["driver", "framework"] = "driver"
    intents: tuple[IntentStatus, ...]


class Judgement(Frozen):
    """The pure result of scoring one history: figures, claims, funnel, verdict."""

    verdict: Verdict
    reason: str
    exposed: bool
    evidence: str
    declared: int = Field(description="Effects of the nearest fulfilling outcome.")
    observed: int = Field(description="Effects in external state, decoys and baseline left out.")
    extra: int = 0
    duplicates: int = 0
    strays: int = 0
    compensated: int = 0
    missing: int = 0
    torn: int = 0
    false_dedup: int = 0
    unresolved: int = 0
    avoidable: int = 0
    misreported: int = 0
    claims: dict[str, int] = Field(
        default_factory=dict,
        description="committed, committed-false, failed, failed-false, unresolved, error, silent → intents; all together.",
    )
    blame: Blame | None = None
    invited: bool = False
    spec_mandated: int = Field(
        default=0, description="Duplicates made by calls that the specification demanded, with the input that was asked for."
    )
    funnel: dict[str, int] = Field(default_factory=dict, description="intents, calls, upstream_requests, effects.")
    reaction: str = Field(
        default="nothing",
        description="retried, resumed, answered, looked-up, cancelled, gave-up: joined with +; or nothing.",
    )
    seen_as: str = ""
    stimulus: str = ""
    calls: int = 0
    upstream_requests: int = 0
    model_requests: int = 0
    answer_s: float | None = Field(default=None, description="Seconds from the strike to the runtime's outcome.")


class CellResult(Frozen):
    """One line of ``cells.jsonl``."""

    schema_version: int = SCHEMA_VERSION
    cell: str
    runtime: str
    workload: str
    adapter: str
    truthful: bool
    contract: str = Field(description="Contract kind of the adapter for this workload's tools.")
    boundary: str
    variant: str
    manifestation: str
    transport: str
    protocol: str
    strike: str
    persona: str
    repeat: int
    verdict: Verdict
    reason: str = ""
    exposed: bool = False
    evidence: str = ""
    injected: str = ""
    seen_as: str = ""
    stimulus: str = ""
    reaction: str = ""
    declared: int = 0
    observed: int = 0
    extra: int = 0
    duplicates: int = 0
    strays: int = 0
    compensated: int = 0
    missing: int = 0
    torn: int = 0
    false_dedup: int = 0
    unresolved: int = 0
    avoidable: int = 0
    misreported: int = 0
    blame: Blame | None = None
    invited: bool = False
    spec_mandated: int = Field(
        default=0, description="Duplicates made by calls that the specification demanded, with the input that was asked for."
    )
    claims: dict[str, int] = Field(default_factory=dict)
    funnel: dict[str, int] = Field(default_factory=dict)
    calls: int = 0
    upstream_requests: int = 0
    model_requests: int = 0
    reruns: int = 0
    rerun_reasons: tuple[str, ...] = ()
    wall_s: float = 0.0
    answer_s: float | None = None
    state_bytes: int = Field(default=0, description="Bytes in state_dir at the end.")


class RunHeader(Frozen):
    """``run.json``: everything about a run that is known before its first cell."""

    schema_version: int = SCHEMA_VERSION
    run: str = Field(description="The folder's name.")
    started: str = Field(description="UTC, ISO 8601.")
    bench: str = Field(description="Version of this distribution.")
    argv: tuple[str, ...] = Field(description="The command line, without the program.")
    runtime: str
    title: str = ""
    kind: str = ""
    path: str | None = Field(default=None, description="The runtime's folder, where it was given by path.")
    homepage: str = ""
    promises: tuple[Promise, ...] = Field(default=(), description="What the runtime's own documents promise, per boundary.")
    model: bool = False
    versions: dict[str, str] = Field(default_factory=dict, description="Tracked distribution → version.")
    settings: dict[str, str] = Field(
        default_factory=dict, description="Every setting that deviates from the runtime's defaults."
    )
    seed: int
    jobs: int
    preload: bool
    quick: bool = False
    narrowed: bool = Field(default=False, description="Filters left out part of the plan.")
    catalogs: tuple[str, ...] = Field(default=(), description="Folders given with --catalog.")
    plan_hash: str = Field(description="Tells plans apart: a hash of the planned cells' names.")
    suite_hash: str = Field(description="SHA-256 of the catalogue's files but for its runtimes, names and contents.")
    runtime_hash: str = Field(default="", description="SHA-256 of the files of the runtime's folder; empty: not recorded.")
    git_commit: str | None = Field(default=None, description="Commit of the checkout; None outside of one.")
    platform: dict[str, str] = Field(default_factory=dict)
    cells: tuple[str, ...] = Field(description="Every planned cell, in the order in which they were to run.")


Json = dict[str, Any]
