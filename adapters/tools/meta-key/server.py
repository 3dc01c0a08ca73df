"""Assay's idempotency: a record of every attempt, and for paid calls a uniqueness that outlives it.

What a repeat is told, in ``result._meta["assay/error"]``:

- ``IDEMPOTENCY_IN_PROGRESS``, with ``retryAfter``: the attempt runs, or its lease is not over;
- ``IDEMPOTENCY_KEY_REUSED``: the key stands for another tool or other arguments;
- ``IDEMPOTENCY_RESULT_UNAVAILABLE``: it is done, and its result was too large or is no longer kept;
- ``IDEMPOTENCY_ATTEMPT_STALLED``: the attempt stopped, and nobody knows how far it came.

A saved result is given again, marked ``_meta["assay/replayed"]``. What was refused for good leaves no record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark.toolserver import Assignment, Guard, Reply, Result, Send, Step, serve
from benchmark.toolserver.attempts import Record, Records

WINDOW_S = 900.0
LARGEST = 262_144
"""Bytes of a result that is kept."""
LEASE_S = 120.0
RETRY_AFTER_S = 1
OWNER = ("bench", "agent")
"""Organisation and agent; a server that authenticates would take them from the caller's credentials."""

MESSAGES = {
    "IDEMPOTENCY_IN_PROGRESS": "The first attempt with this key still runs.",
    "IDEMPOTENCY_KEY_REUSED": "The key stands for another call.",
    "IDEMPOTENCY_RESULT_UNAVAILABLE": "The call is done; its result cannot be given again.",
    "IDEMPOTENCY_ATTEMPT_STALLED": "An earlier attempt stopped, and nobody knows how far it came.",
}


def uniquely(step: Step, send: Send) -> Reply:
    """Paid requests carry the key as their unique reference."""
    if step.path != "/charges" or step.key is None:
        return send(replace(step, binding=()))
    return send(replace(step, body={**step.body, "reference": step.key}))


def guard(assignment: Assignment) -> Guard:
    """Makes the guard over the records that all instances share."""
    assert assignment.store is not None
    window_s = WINDOW_S if assignment.retention_s is None else assignment.retention_s
    records = Records(Path(assignment.store) / "attempts.sqlite", window_s, LEASE_S)

    def around(tool: str, arguments: dict[str, Any], key: str, make: Callable[[], Result]) -> Result:
        earlier = records.begin(OWNER, key, tool, arguments)
        if earlier is not None:
            return repeated(earlier)
        return ended(records, key, make())

    return around


def repeated(earlier: Record) -> Result:
    """What a repeat is told."""
    if earlier.state == "done" and earlier.output is not None:
        return Result(earlier.output, meta={"assay/replayed": True})
    codes = {
        "running": "IDEMPOTENCY_IN_PROGRESS",
        "reused": "IDEMPOTENCY_KEY_REUSED",
        "done": "IDEMPOTENCY_RESULT_UNAVAILABLE",
        "stalled": "IDEMPOTENCY_ATTEMPT_STALLED",
    }
    return refusal(codes[earlier.state])


def refusal(code: str) -> Result:
    wait = {"retryAfter": RETRY_AFTER_S} if code == "IDEMPOTENCY_IN_PROGRESS" else {}
    content = {"code": code, "message": MESSAGES[code]}
    return Result(content, is_error=True, meta={"assay/error": {**content, **wait}})


def ended(records: Records, key: str, result: Result) -> Result:
    """Keeps what the attempt came to, and answers it."""
    match result.code:
        case None:
            records.done(OWNER, key, result.content, LARGEST)
        case "exists" | "mismatch":  # the durable uniqueness: done long ago, and the record is no longer there
            records.done(OWNER, key, None, LARGEST)
            return refusal("IDEMPOTENCY_RESULT_UNAVAILABLE" if result.code == "exists" else "IDEMPOTENCY_KEY_REUSED")
        case "upstream_unknown" | "partial":
            records.stopped(OWNER, key)
        case _:
            records.released(OWNER, key)
    return result


if __name__ == "__main__":
    serve(__file__, around=uniquely, guard=guard)
