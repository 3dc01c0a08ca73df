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
    PROVIDER_CRASH = "provider-crash"
    LOOKUP_FAILURE = "lookup-failure"
    DOUBLE_RESUME = "double-resume"
    LEASE_EXPIRED = "lease-expired"
    INPUT_REQUIRED = "input-required"


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
    AT_ONCE = "at-once"
    AFTER_LEASE = "after-lease"
    RESUMABLE = "resumable"
    WITH_STATE = "with-state"
    WITHOUT_STATE = "without-state"


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
    ASKED = "asked"


class Point(StrEnum):
    """The moment on a wire at which the conductor steps in; ``where`` says it in words."""

    NOWHERE = "nowhere"
    CALL = "call"
    REQUEST = "request"
    REPLY = "reply"
    RESULT = "result"

    @property
    def where(self) -> str:
        return _WHERE[self]


_WHERE: dict[Point, str] = {
    Point.NOWHERE: "nowhere",
    Point.CALL: "tool wire: the runtime's tools/call, before it is forwarded",
    Point.REQUEST: "provider wire or gate: the tool server's upstream request, before it is let through",
    Point.REPLY: "provider wire or gate: the provider's answer, before the tool server gets it",
    Point.RESULT: "tool wire: the tool server's result, before the runtime gets it",
}


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
    not_meant: str = ""
    """What a result at this boundary is easily taken for, and does not say."""

    later: tuple[Variant, ...] = ()
    """Those of the variants that are beyond the ten although their row is not."""

    def beyond(self, variant: Variant) -> bool:
        """Beyond the ten: its spine is kept short."""
        return self.number > 10 or variant in self.later


_N = (Variant.NONE,)
_M = Manifestation

TABLE: dict[Boundary, Row] = {
    row.boundary: row
    for row in (
        Row(
            Boundary.NONE,
            0,
            Point.NOWHERE,
            _N,
            (_M.NONE,),
            "nothing: the control",
            "the run ended",
            False,
            "that the runtime is safe: it only shows that it can do the work when nothing goes wrong",
        ),
        Row(
            Boundary.BEFORE_DISPATCH,
            1,
            Point.CALL,
            _N,
            (_M.RESET, _M.SILENCE, _M.ERROR, _M.REFUSED, _M.CRASH),
            "takes the call at the tool wire, never forwards it",
            "call, no forward",
            False,
            "that a retry is always right: the runtime cannot see that nothing happened, unless it is told so with proof",
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
            "that a commit is needed for a verdict: what must be shown is that none came of the struck request",
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
            "that the runtime retried: who does nothing was exposed all the same, and is judged",
        ),
        Row(
            Boundary.BEFORE_DELIVERY,
            4,
            Point.RESULT,
            (Variant.NONE, Variant.RESUMABLE),
            (_M.RESET, _M.SILENCE, _M.ERROR, _M.IS_ERROR, _M.BAD_RESULT, _M.CRASH),
            "the tool server has answered; the answer never reaches the runtime (`resumable`: unless it resumes the stream)",
            "commit < tool server's result, not delivered on any stream (`resumable`: on none that it did not resume)",
            False,
            "that the tool server does not know: it knows and has answered; only the runtime was not told",
            (Variant.RESUMABLE,),
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
            "that the cancel undoes anything: it is a request, and the handler finishes all the same",
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
            "that the request was lost: it was late; a look-up before it came is right to find nothing, and proves nothing",
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
            "that the runtime resumes: it is started again whether it can or not, and what it then does is the result",
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
            "that the first instance died: it lives on, and is given no more traffic",
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
            "that keys are useless: this key was once good, and the contract said for how long",
        ),
        Row(
            Boundary.REPAIR_DRIFT,
            10,
            Point.REPLY,
            (Variant.FREE, Variant.BINDING),
            (_M.RESET, _M.ERROR),
            "with a model: as after-commit, and the model asks again with a changed argument; without: as agent-restart "
            "in-flight, and the second task says `replan` with it",
            "commit < the model's changed reply, or the second incarnation's first message or exit",
            True,
            "that a new plan is a new authorisation: a changed binding argument is an effect that nobody authorised",
        ),
        Row(
            Boundary.PROVIDER_CRASH,
            11,
            Point.REPLY,
            _N,
            (_M.RESET,),
            "kills the provider while its answer is held, and starts it again on the same port and state before it is asked "
            "anything more",
            "commit < provider killed < provider started < next upstream request",
            True,
            "that the provider lost the effect: it committed before it was killed, and comes back with its state",
        ),
        Row(
            Boundary.LOOKUP_FAILURE,
            12,
            Point.REPLY,  # the manifestation is that of the look-up, at the tool wire
            _N,
            (_M.RESET, _M.SILENCE, _M.ERROR),
            "as after-commit (reset), and the runtime's next look-up is taken at the tool wire, once",
            "commit < loss < look-up called, not forwarded",
            True,
            "that a look-up is of no use: this one was lost, and may be made again",
        ),
        Row(
            Boundary.DOUBLE_RESUME,
            13,
            Point.REPLY,
            _N,
            (_M.NONE,),
            "stops the runtime (SIGSTOP) and starts a second one; when that has ended the first goes on, its call timed out",
            "commit < first stopped < second started < second ended < first continued",
            True,
            "that two lives are the runtime's fault: whether they do the effect twice is",
        ),
        Row(
            Boundary.LEASE_EXPIRED,
            14,
            Point.REPLY,
            (Variant.AT_ONCE, Variant.AFTER_LEASE),
            (_M.NONE,),
            "as agent-restart in-flight; the runtime is started again while its own lease lives, or once it is over",
            "commit < kill < next incarnation < lease over, or commit < kill < lease over < next incarnation",
            True,
            "that a lease protects the effect: it protects the work, and says nothing about what was sent under it",
        ),
        Row(
            Boundary.INPUT_REQUIRED,
            15,
            Point.RESULT,
            (Variant.WITH_STATE, Variant.WITHOUT_STATE),
            (_M.ASKED,),
            "the tool server has made the effect and asks for input all the same (revision 2026-07-28): by specification "
            "the call is sent again, with the input",
            "commit < tool server's result < request for input delivered, before the call is sent again",
            True,
            "that who sends the call again is wrong: the specification says so; what counts is whether it is known again",
        ),
    )
}


VARIANTS: dict[Variant, str] = {
    Variant.BEFORE_RETRY: "let through before the next mutating call is forwarded",
    Variant.AFTER_RETRY: "let through after the retry's own commit: out of order",
    Variant.AFTER_EXIT: "let through after the runtime has ended",
    Variant.IN_FLIGHT: "killed while the answer is held",
    Variant.DELIVERED: "killed after the answer was delivered, at the runtime's next message, before it wrote an outcome",
    Variant.SESSION_LOST: "the other instance does not know the session and answers 404",
    Variant.SESSION_KEPT: "the other instance is given the session's handshake",
    Variant.FREE: "a free argument is changed: it is still the same effect",
    Variant.BINDING: "a binding argument is changed: it is another effect, and not authorised",
    Variant.AT_ONCE: "started again while the runtime's own lease of the work still lives",
    Variant.AFTER_LEASE: "started again once the runtime's own lease of the work is over",
    Variant.RESUMABLE: "the stream has event ids, and breaks when its answer is stored: who resumes it is given the answer",
    Variant.WITH_STATE: "the request carries a requestState: the call that brings it back is answered, and not made again",
    Variant.WITHOUT_STATE: "it carries none: the tool server takes the call that brings the input for a new one",
}
"""What each variant is (``-`` is none)."""


@dataclass(frozen=True)
class Shape:
    """How a fault shows at the tool wire and at the provider wire (empty: not there), and what it is easily taken for."""

    tool_wire: str
    provider_wire: str
    not_meant: str


SHAPES: dict[Manifestation, Shape] = {
    Manifestation.RESET: Shape(
        "the connection is dropped (over HTTP; on stdio that is crash)",
        "the connection is dropped",
        "that the runtime saw a reset: one behind the tool server reaches it as an isError result",
    ),
    Manifestation.SILENCE: Shape(
        "nothing comes, the connection stays open",
        "nothing comes, the connection stays open; at a gate: the bracket is not answered",
        "that the runtime must hang: when to give up is its own decision, and a hang is judged",
    ),
    Manifestation.ERROR: Shape(
        "HTTP 502; on stdio JSON-RPC −32603",
        "HTTP 502; at a gate: EIO",
        "that nothing happened: an error says nothing about the effect",
    ),
    Manifestation.IS_ERROR: Shape(
        "a result with isError and the text “upstream failed”",
        "",
        "that the tool failed: at this boundary the effect is there",
    ),
    Manifestation.BAD_RESULT: Shape(
        "a result that violates the tool's schema",
        "",
        "that the effect is wrong: only what is told about it is",
    ),
    Manifestation.REFUSED: Shape(
        "an isError result that proves that nothing was executed, as the contract's answers.not_executed says",
        "503 with the same proof",
        "a mere error: it is the only fault that makes a blind retry right",
    ),
    Manifestation.CRASH: Shape(
        "SIGKILL of the tool server; over HTTP a fresh one is up before the next connection is accepted",
        "SIGKILL of the tool server; at a gate: between the two brackets",
        "that the runtime was killed (agent-restart does that)",
    ),
    Manifestation.ASKED: Shape(
        "a result of type input_required that asks the user to confirm",
        "",
        "that nothing happened yet: the effect is there",
    ),
}
"""How each manifestation shows (``-``: the fault is a kill or a control)."""


def strike_point(boundary: Boundary, variant: Variant) -> Point:
    """Where a cell's fault strikes: the row's point, but for the one variant that strikes later."""
    return Point.RESULT if variant is Variant.DELIVERED else TABLE[boundary].point


RESTARTS = frozenset({Boundary.AGENT_RESTART, Boundary.TOKEN_EXPIRED, Boundary.REPAIR_DRIFT, Boundary.LEASE_EXPIRED})
"""Boundaries that kill the runtime and start it again (repair-drift: without a model)."""


def restarts(boundary: Boundary, *, model: bool) -> bool:
    """Whether the runtime is killed and started again; one with a model is not, where the model brings the new plan."""
    return boundary in RESTARTS and not (model and boundary is Boundary.REPAIR_DRIFT)


SECOND_LIVES = RESTARTS | {Boundary.DOUBLE_RESUME}
"""Boundaries at which there is a second incarnation."""
