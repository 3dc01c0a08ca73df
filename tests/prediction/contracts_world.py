"""What the pages say about tools and providers: which adapter has which tool under which contract, and what it really does.

``world()`` is the published table of adapters as the paper model reads it; ``TRAITS`` is the real behaviour, the treachery
included. Comparing the table with the catalogue's ``tool.toml`` files is the business of a test, not of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from benchmark.contracts import Contract

BINDING: dict[str, tuple[str, ...]] = {
    "charge": ("order", "amount", "currency"),
    "send": ("recipients", "subject"),
    "create": ("name", "size"),
    "append": ("path", "line"),
    "put": ("path", "content"),
    "transfer": ("accounts", "amount"),
    "refund": ("order", "amount", "currency"),
    "delete": ("name",),
    "start": ("job", "input"),
    "book": ("slot", "attendee"),
}
FREE: dict[str, str] = {
    "charge": "memo",
    "send": "body",
    "create": "note",
    "append": "note",
    "put": "note",
    "transfer": "memo",
    "refund": "memo",
    "delete": "note",
    "start": "note",
    "book": "note",
}
CLASSES: dict[str, str] = {
    "charge": "charge",
    "create": "resource",
    "append": "line",
    "put": "object",
    "refund": "refund",
    "delete": "deletion",
    "start": "job",
    "book": "booking",
}
"""The effect class of a tool that makes one effect a call."""
HANDLES: dict[str, str] = {"job": "job", "booking": "slot"}
"""Effect class → the field of which there is one effect per value, where the tool says so."""
STOCK = frozenset({"archive-9101", "archive-9102"})
"""Resources that are there before anybody does anything."""
FINDERS: dict[str, tuple[str, str, str]] = {
    # mutating tool → look-up tool, natural field to search by, effect class
    "charge": ("find_charges", "order", "charge"),
    "send": ("find_messages", "subject", "message"),
    "create": ("find_resources", "name", "resource"),
    "transfer": ("find_legs", "account", "leg"),
    "refund": ("find_refunds", "order", "refund"),
    "delete": ("find_deletions", "name", "deletion"),
    "start": ("find_jobs", "job", "job"),
}
EFFECTS: dict[str, dict[str, Any]] = {
    "send": {"each": "recipients", "atomic": False},
    "transfer": {"each": "accounts", "atomic": True},
}


@dataclass(frozen=True)
class Traits:
    """What a tool server and its provider really do with a call, a key and a repeat."""

    streams: bool = True
    """Over HTTP it answers on an event stream, not with JSON."""
    files: bool = False
    """The provider is the file system behind the gate: no reset, no refusal there."""
    key: Literal["none", "provider", "unique", "instance", "content", "dropped"] = "none"
    """Where a key takes effect: the provider's key store, its unique constraint, one process's memory, nowhere."""
    create_only: bool = False
    in_progress: bool = False
    repeats: bool = False
    assay: bool = False
    """Attempts are recorded for all instances; charges, which are paid, are unique beyond the record."""
    taken: Literal["refuse", "return"] | None = None
    """What a call with a handle in use gets (a job's name, a slot); None: one more effect."""


TRAITS: dict[str, Traits] = {
    "append-line": Traits(files=True),
    "send-message": Traits(),
    "create-resource": Traits(),
    "find-only": Traits(),
    "find-unsettled": Traits(),
    "client-token": Traits(key="provider", streams=False),
    "idempotency-key": Traits(key="provider"),
    "meta-key": Traits(assay=True),
    "unique-key": Traits(key="unique"),
    "staged-rename": Traits(files=True),
    "conditional-put": Traits(create_only=True, streams=False),
    "instance-memory": Traits(key="instance"),
    "argument-hash": Traits(key="content"),
    "key-dropper": Traits(key="dropped"),
    "retrying-server": Traits(repeats=True),
    "append-once": Traits(files=True, key="provider"),
    "plain-put": Traits(),
    "calendar": Traits(taken="refuse"),
    "calendar-anew": Traits(),
    "delete-by-name": Traits(),
    "job-by-handle": Traits(taken="refuse"),
    "hint-honest": Traits(taken="return"),
    "hint-liar": Traits(),
    "param-key": Traits(key="provider", in_progress=True),
    "plain-or-abort": Traits(),
    "token-or-abort": Traits(key="provider"),
    "one-transaction": Traits(key="provider"),
}

TREACHEROUS = frozenset({"instance-memory", "argument-hash", "key-dropper", "retrying-server", "hint-liar"})


@dataclass(frozen=True)
class Declared:
    """An adapter's row of the published table."""

    tools: tuple[str, ...]
    finds: bool = False
    settles_s: float | None = None
    key: dict[str, Any] | None = None
    reference: bool = False
    natural: Literal["overwrite", "refuse"] | None = None
    by: str = "path"
    """The argument that is the natural key."""
    taken_says: str = "exists"
    conflicts: bool = True
    """With a natural key: other arguments are told apart from a repeat."""
    polls: bool = False
    """Has a look-up that no contract names."""
    together: bool = False
    """Several effects of a call are one upstream request."""
    hint: bool = False
    binds_all: bool = False
    not_executed: bool = False
    in_progress: bool = False
    assay: bool = False


ASSAY = {
    "mismatch": "IDEMPOTENCY_KEY_REUSED",
    "in_progress": "IDEMPOTENCY_IN_PROGRESS",
    "unavailable": "IDEMPOTENCY_RESULT_UNAVAILABLE",
    "stalled": "IDEMPOTENCY_ATTEMPT_STALLED",
}


def _key(
    carrier: str, name: str, retention_s: float | None, on_repeat: str = "replay", scope: str = "endpoint"
) -> dict[str, Any]:
    return {"carrier": carrier, "name": name, "retention_s": retention_s, "on_repeat": on_repeat, "scope": scope}


TABLE: dict[str, Declared] = {
    "append-line": Declared(("append",)),
    "send-message": Declared(("send",), not_executed=True),
    "create-resource": Declared(("create", "delete")),
    "find-only": Declared(
        ("charge", "send", "create", "transfer", "refund", "delete", "start"), True, 1.5, reference=True, not_executed=True
    ),
    "find-unsettled": Declared(("charge", "create"), True, None, reference=True),
    "client-token": Declared(
        ("create", "charge", "transfer", "refund", "delete"),
        key=_key("argument", "client_token", 86400.0),
        not_executed=True,
    ),
    "idempotency-key": Declared(
        ("charge", "send", "transfer"),
        True,
        1.5,
        _key("argument", "idempotency_key", 86400.0),
        reference=True,
        not_executed=True,
    ),
    "meta-key": Declared(
        ("charge", "send"), key=_key("meta", "assay/idempotency-key", 900.0, scope="account"), assay=True, binds_all=True
    ),
    "unique-key": Declared(("charge", "create"), key=_key("argument", "reference", None, "refuse"), reference=True),
    "staged-rename": Declared(("put",), natural="overwrite"),
    "conditional-put": Declared(("put",), natural="refuse", not_executed=True),
    "instance-memory": Declared(("charge",), key=_key("argument", "idempotency_key", 86400.0)),
    "argument-hash": Declared(("charge",), key=_key("argument", "idempotency_key", 86400.0)),
    "key-dropper": Declared(("charge", "create"), key=_key("argument", "idempotency_key", 86400.0)),
    "retrying-server": Declared(("charge",)),
    "append-once": Declared(("append",), key=_key("argument", "line_id", None)),
    "plain-put": Declared(("put",)),
    "calendar": Declared(("book",), natural="refuse", by="slot", hint=True),
    "calendar-anew": Declared(("book",)),
    "delete-by-name": Declared(("delete",), natural="refuse", by="name", taken_says="not_found", conflicts=False),
    "job-by-handle": Declared(("start",), natural="refuse", by="job", polls=True),
    "hint-honest": Declared(("start",), polls=True, hint=True),
    "hint-liar": Declared(("charge", "start"), polls=True, hint=True),
    "param-key": Declared(
        ("charge", "send", "delete"), key=_key("param", "idempotencyKey", 86400.0), in_progress=True, binds_all=True
    ),
    "plain-or-abort": Declared(("charge", "create"), not_executed=True),
    "one-transaction": Declared(
        ("transfer",), key=_key("argument", "idempotency_key", 86400.0), not_executed=True, together=True
    ),
    "token-or-abort": Declared(("charge", "create"), key=_key("argument", "client_token", 86400.0), not_executed=True),
}


def contract(adapter: str, tool: str) -> Contract:
    """The declared contract of a mutating tool, as the table has it."""
    row = TABLE[adapter]
    answers: dict[str, Any] = {}
    if row.key is not None or (row.natural == "refuse" and row.conflicts):
        answers["mismatch"] = ("/structuredContent/code", "mismatch")
    if row.natural == "refuse" or (row.key is not None and row.key["on_repeat"] == "refuse"):
        answers["repeat_refused"] = ("/structuredContent/code", row.taken_says)
    if row.not_executed:
        answers["not_executed"] = ("/structuredContent/code", "not_executed")
    if row.in_progress:
        answers["in_progress"] = ("/structuredContent/code", "in_progress")
    if row.assay:
        answers = {name: ("/_meta/assay~1error/code", code) for name, code in ASSAY.items()}
    lookup = None
    if row.finds:
        finder, field, _ = FINDERS[tool]
        lookup = {"tool": finder, "by": (field, "reference"), "settles_s": row.settles_s}
    return Contract.model_validate(
        {
            "key": row.key,
            "natural_key": (row.by,) if row.natural else None,
            "on_repeat": row.natural,
            "lookup": lookup,
            "reference": "reference" if row.reference else None,
            "binding": (*BINDING[tool], FREE[tool]) if row.binds_all else BINDING[tool],
            "effects": {**EFFECTS[tool], "together": row.together} if tool in EFFECTS else None,
            "answers": answers,
            "idempotent_hint": row.hint,
        }
    )


def readers(adapter: str) -> tuple[str, ...]:
    """The look-up tools that an adapter has."""
    row = TABLE[adapter]
    return tuple(FINDERS[tool][0] for tool in row.tools if row.finds or (row.polls and tool == "start"))


def supports(adapter: str, tools: tuple[str, ...]) -> bool:
    """Whether an adapter has all of these tools."""
    return set(tools) <= {*TABLE[adapter].tools, *readers(adapter)}


def world(adapter: str, tools: tuple[str, ...]) -> dict[str, Contract]:
    """The contracts of the mutating ones among these tools."""
    return {tool: contract(adapter, tool) for tool in tools if tool in TABLE[adapter].tools}
