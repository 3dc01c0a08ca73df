"""The fault boundaries and their manifestations: the one table that everything else reads.

A row says where the fault strikes, how it may show, and which order of events proves that it struck.
Nothing outside this module enumerates boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Boundary(StrEnum):
    """Where the fault strikes; the slug is the public name."""

    NONE = "none"
    BEFORE_DISPATCH = "before-dispatch"
    BEFORE_COMMIT = "before-commit"
    AFTER_COMMIT = "after-commit"
    BEFORE_DELIVERY = "before-delivery"
    DURING_CANCEL = "during-cancel"
    AFTER_TIMEOUT = "after-timeout"
    AGENT_RESTART = "agent-restart"
    OTHER_INSTANCE = "other-instance"
    TOKEN_EXPIRED = "token-expired"
    REPAIR_DRIFT = "repair-drift"


class Variant(StrEnum):
    """A sub-case of a boundary; ``-`` where a boundary has none."""

    NONE = "-"
    BEFORE_RETRY = "before-retry"
    AFTER_RETRY = "after-retry"
    AFTER_EXIT = "after-exit"
    IN_FLIGHT = "in-flight"
    DELIVERED = "delivered"
    SESSION_LOST = "session-lost"
    SESSION_KEPT = "session-kept"
    FREE = "free"
    BINDING = "binding"


class Manifestation(StrEnum):
    """How the fault shows at the wire where it strikes; ``-`` where the fault is a kill or a control."""

    NONE = "-"
    RESET = "reset"
    SILENCE = "silence"
    ERROR = "error"
    IS_ERROR = "is-error"
    BAD_RESULT = "bad-result"
    REFUSED = "refused"
    CRASH = "crash"


class Point(StrEnum):
    """The moment on a wire at which the conductor steps in."""

    NOWHERE = "nowhere"
    CALL = "call"  # tool wire: the runtime's tools/call, before it is forwarded
    REQUEST = "request"  # provider wire or gate: the tool server's upstream request, before it is let through
    REPLY = "reply"  # provider wire or gate: the provider's answer, before the tool server gets it
    RESULT = "result"  # tool wire: the tool server's result, before the runtime gets it


@dataclass(frozen=True)
class Row:
    """One boundary: its place in the published table, where it strikes, its variants and manifestations."""

    boundary: Boundary
    number: int
    point: Point
    variants: tuple[Variant, ...]
    manifestations: tuple[Manifestation, ...]
    does: str
    order: str
    commits: bool
    """The exposure needs a commit (so that it cannot strike a read)."""


_N = (Variant.NONE,)
_M = Manifestation

TABLE: dict[Boundary, Row] = {
    row.boundary: row
    for row in (
        Row(Boundary.NONE, 0, Point.NOWHERE, _N, (_M.NONE,), "nothing: the control", "the run ended", False),
        Row(
            Boundary.BEFORE_DISPATCH,
            1,
            Point.CALL,
            _N,
            (_M.RESET, _M.SILENCE, _M.ERROR, _M.REFUSED, _M.CRASH),
            "takes the call at the tool wire, never forwards it",
            "call, no forward",
            False,
        ),
        Row(
            Boundary.BEFORE_COMMIT,
            2,
            Point.REQUEST,
            _N,
            (_M.RESET, _M.SILENCE, _M.ERROR, _M.REFUSED, _M.CRASH),
            "takes the upstream request at the provider's front door, never lets it through",
            "call, upstream request, no commit",
            True,
        ),
        Row(
            Boundary.AFTER_COMMIT,
            3,
            Point.REPLY,
            _N,
            (_M.RESET, _M.SILENCE, _M.ERROR, _M.CRASH),
            "lets the upstream request through; the answer never reaches the tool server",
            "commit < runtime gave up (or was told)",
            True,
        ),
        Row(
            Boundary.BEFORE_DELIVERY,
            4,
            Point.RESULT,
            _N,
            (_M.RESET, _M.SILENCE, _M.ERROR, _M.IS_ERROR, _M.BAD_RESULT, _M.CRASH),
            "the tool server has answered; the answer never reaches the runtime",
            "commit < tool server's result, not delivered on any stream",
            False,
        ),
        Row(
            Boundary.DURING_CANCEL,
            5,
            Point.REQUEST,
            _N,
            (_M.SILENCE,),
            "holds the upstream request until the runtime's cancel has reached the tool server, then lets it through",
            "cancel delivered < commit < next mutating call forwarded",
            True,
        ),
        Row(
            Boundary.AFTER_TIMEOUT,
            6,
            Point.REQUEST,
            (Variant.BEFORE_RETRY, Variant.AFTER_RETRY, Variant.AFTER_EXIT),
            (_M.SILENCE,),
            "holds the upstream request, withholds the cancel, lets the request through late",
            "gave up < commit, in the variant's order",
            True,
        ),
        Row(
            Boundary.AGENT_RESTART,
            7,
            Point.REPLY,  # variant `delivered`: Point.RESULT, see strike_point()
            (Variant.IN_FLIGHT, Variant.DELIVERED),
            (_M.NONE,),
            "kills the runtime's process tree and starts it again",
            "commit < kill < next incarnation",
            True,
        ),
        Row(
            Boundary.OTHER_INSTANCE,
            8,
            Point.REPLY,
            (Variant.NONE, Variant.SESSION_LOST, Variant.SESSION_KEPT),
            (_M.RESET, _M.ERROR),
            "as after-commit, and all later traffic goes to another instance that shares no memory with the first",
            "commit on A < loss; B up",
            True,
        ),
        Row(
            Boundary.TOKEN_EXPIRED,
            9,
            Point.REPLY,
            _N,
            (_M.NONE,),
            "as agent-restart in-flight; the runtime stays down until the provider's retention is over",
            "commit < kill < retention over < next incarnation",
            True,
        ),
        Row(
            Boundary.REPAIR_DRIFT,
            10,
            Point.REPLY,
            (Variant.FREE, Variant.BINDING),
            (_M.RESET, _M.ERROR),
            "as agent-restart in-flight, and the second task says `replan` with a changed argument",
            "commit < the second incarnation's first message or exit",
            True,
        ),
    )
}


def strike_point(boundary: Boundary, variant: Variant) -> Point:
    """Where a cell's fault strikes: the row's point, but for the one variant that strikes later."""
    return Point.RESULT if variant is Variant.DELIVERED else TABLE[boundary].point


RESTARTS = frozenset({Boundary.AGENT_RESTART, Boundary.TOKEN_EXPIRED, Boundary.REPAIR_DRIFT})
"""Boundaries that kill the runtime and start it again (repair-drift: without a model)."""
