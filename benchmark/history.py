"""The one, totally ordered list of events of a cell, and the questions asked of it.

Every event is numbered and timed by the conductor, in one process. ``rescore`` reads nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from benchmark.cells import Cell
from benchmark.contracts import Contract, Frozen
from benchmark.effects import Effect
from benchmark.intents import Workload


class Kind(StrEnum):
    """What happened. The fields that an event of each kind carries stand behind it (see ``Event``)."""

    # processes
    RUNTIME_STARTED = "runtime-started"  # incarnation, pid
    RUNTIME_KILLED = "runtime-killed"  # incarnation, pid: SIGKILL sent to the verified process tree
    RUNTIME_STOPPED = "runtime-stopped"  # incarnation, pid: SIGSTOP, verified
    RUNTIME_CONTINUED = "runtime-continued"  # incarnation, pid: SIGCONT
    RUNTIME_EXITED = "runtime-exited"  # incarnation, status
    SERVER_STARTED = "server-started"  # instance, pid
    SERVER_KILLED = "server-killed"  # instance, pid
    SERVER_EXITED = "server-exited"  # instance, status
    PROVIDER_KILLED = "provider-killed"  # pid: SIGKILL sent to the cell's own provider
    PROVIDER_STARTED = "provider-started"  # pid: it is up, on the same port and state
    # tool wire
    MESSAGE = "message"  # incarnation, method, by ("runtime"|"server"): anything but a call, its answer or its cancel
    CALL = "call"  # call, incarnation, instance, tool, arguments, meta, rpc_id, declared, key, inputs, state
    CALL_FORWARDED = "call-forwarded"  # call, instance: the tool server gets it
    RESULT = "result"  # call, result (tool server's JSON-RPC result or error)
    DELIVERED = "delivered"  # call, result (what the runtime was given), altered (by the fault)
    PRIMED = "primed"  # call: the runtime has an event id of the call's stream, from which it can resume it
    RESUMED = "resumed"  # call, incarnation: the runtime asks for the rest of the call's stream (Last-Event-ID)
    CONNECTION_LOST = "connection-lost"  # incarnation, call?: the runtime saw its connection or HTTP exchange break
    CANCEL = "cancel"  # call, incarnation, by ("notification"|"disconnect"): the runtime cancelled
    CANCEL_DELIVERED = "cancel-delivered"  # call
    CLOSED = "closed"  # incarnation, instance?: end of file (stdio: of this instance) or session end, by the runtime
    # model wire
    MODEL_REQUEST = "model-request"  # exchange, incarnation, asking (what the conversation held), detail (dialect)
    MODEL_REPLY = "model-reply"  # exchange, incarnation, asked (the calls that the model asks for), detail (its text)
    # provider wire and gate
    REQUEST = "request"  # request, call, instance, upstream (method, path, body, headers kept)
    REQUEST_FORWARDED = "request-forwarded"  # request
    COMMIT = "commit"  # request, receipts, effect_class
    REPLY = "reply"  # request, status, receipts, committed (false: replay, refusal, read)
    REPLY_DELIVERED = "reply-delivered"  # request, status, altered
    # conductor
    DECOY = "decoy"  # receipts
    STRIKE = "strike"  # call, request?, detail (manifestation): the fault was applied here
    PROBE = "probe"  # receipts: what the oracle listed while the answer was held (decoys left out)
    GAVE_UP = "gave-up"  # by ("cancel"|"disconnect"|"next-message"|"outcome"|"exit"), call
    RELEASED = "released"  # request or call: a hold ended
    RETENTION_OVER = "retention-over"
    LEASE_OVER = "lease-over"  # the killed runtime's own lease
    OUTCOME = "outcome"  # incarnation, result (the outcome file's content, or None with detail)
    STILL_RUNNING = "still-running"  # incarnation: run_s was over
    QUIESCENT = "quiescent"
    INAPPLICABLE = "inapplicable"  # detail: the cell cannot be judged for a reason found while it ran ("never gave up", …)
    NOTE = "note"  # detail


class Told(Frozen):
    """One asking for a declared call that a conversation with the model holds, and what was told about it."""

    declared: int = Field(description="Index into Workload.declared_calls.")
    nth: int = Field(description="Which asking for this declared call within the conversation, from 1.")
    word: Literal["success", "error", "unclear"] | None = Field(default=None, description="None: nothing was told yet.")
    receipts: tuple[str, ...] = Field(default=(), description="Receipts that the model was told.")
    text: str = Field(default="", description="What the model was told, cut off.")


class Conversation(Frozen):
    """What a request to the model held, as the model reads it."""

    identity: str = Field(description="Equal where everything said so far is equal.")
    turn: int | None = Field(
        default=None, description="The user's turn that it is at, from 0; None: it is about none of them."
    )
    told: tuple[Told, ...] = Field(default=(), description="The model's earlier askings, in order.")
    tools: tuple[str, ...] = Field(default=(), description="Names of the tools on offer.")


class Asked(Frozen):
    """A call that the model asks for; ``declared`` None: none of the workload's (a framework's tool for the last word)."""

    id: str
    name: str = Field(description="The tool's name as the runtime offers it.")
    tool: str | None = Field(default=None, description="The tool's name as the workload has it.")
    arguments: dict[str, Any]
    declared: int | None = None
    nth: int = 0
    changed: bool = Field(default=False, description="With arguments other than those declared (persona repair).")


class Event(Frozen):
    """One event; fields that do not apply are absent. ``t``: seconds since the cell began."""

    n: int
    t: float
    kind: Kind
    incarnation: int | None = None
    instance: str | None = Field(default=None, description="Tool-server instance: a, b, c … in order of start.")
    pid: int | None = None
    status: int | None = Field(default=None, description="Exit status (negative: signal) or HTTP status.")
    call: int | None = Field(default=None, description="Number of the tools/call on the wire, from 1.")
    declared: int | None = Field(
        default=None, description="Index into Workload.declared_calls that the call is an attempt at; None: an added call."
    )
    request: int | None = Field(default=None, description="Number of the upstream request, from 1.")
    exchange: int | None = Field(default=None, description="Number of the request to the model, from 1.")
    asking: Conversation | None = Field(default=None, description="What a request to the model held.")
    asked: tuple[Asked, ...] | None = Field(default=None, description="The calls that the model asks for.")
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    key: str | None = Field(default=None, description="The key the call carried, as the contract's carrier says.")
    inputs: dict[str, Any] | None = Field(default=None, description="A call's inputResponses: it is sent again with input.")
    state: str | None = Field(default=None, description="A call's requestState.")
    rpc_id: int | str | None = None
    method: str | None = None
    by: str | None = None
    upstream: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    receipts: tuple[str, ...] | None = None
    effect_class: str | None = None
    committed: bool | None = None
    altered: bool | None = None
    detail: str | None = None


class Declaration(Frozen):
    """What was declared before the cell began: everything that scoring may know besides the events."""

    schema_version: int = 1
    runtime: str
    model: bool
    resumes: bool = True
    cell: Cell
    workload: Workload
    contracts: dict[str, Contract] = Field(description="As in the task file, retention of this cell included.")
    truthful: bool
    tool_call_s: float
    run_s: float
    lease_s: float | None = None


class Reading(Frozen):
    """What the oracle read at the end (``error``: it could not), with the baseline before the runtime started."""

    baseline: tuple[Effect, ...]
    final: tuple[Effect, ...]
    error: str | None = None


class History(Frozen):
    """Declaration, events in order, and the oracle's reading."""

    declaration: Declaration
    events: tuple[Event, ...]
    reading: Reading

    def of(self, *kinds: Kind) -> Iterator[Event]:
        """The events of these kinds, in order."""
        return (event for event in self.events if event.kind in kinds)

    def first(self, *kinds: Kind, after: int = 0, **fields: Any) -> Event | None:
        """The first event of these kinds numbered above ``after`` whose fields have these values."""
        for event in self.of(*kinds):
            if event.n > after and all(getattr(event, name) == value for name, value in fields.items()):
                return event
        return None

    @property
    def decoys(self) -> frozenset[str]:
        """Receipts of the look-alikes that the conductor made."""
        return frozenset(receipt for event in self.of(Kind.DECOY) for receipt in event.receipts or ())


def asks_for_input(payload: dict[str, Any] | None) -> bool:
    """Whether a JSON-RPC payload is no end of its call but a request for input (revision 2026-07-28)."""
    result = (payload or {}).get("result")
    return isinstance(result, dict) and result.get("resultType") == "input_required"


Speaker = Literal["runtime", "server"]
