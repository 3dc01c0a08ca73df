"""One cell on paper: what the fault does, what the caller gets, which effects come of it and when.

A policy (``policies.py``) calls ``World.call`` and ``World.find``; it sees a ``Seen`` and nothing else. Time is in seconds
and advances only by time-outs, waits, restarts and slow closes; everything else takes none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

from benchmark.boundaries import RESTARTS, Boundary, Manifestation, Point, Variant, strike_point
from benchmark.cells import Cell
from benchmark.contracts import Contract
from benchmark.intents import Workload
from tests.prediction.contracts_world import BINDING, CLASSES, FINDERS, FREE, TABLE, TRAITS
from tests.prediction.provider import Answer, Made, Provider, Request
from tests.prediction.rules import Rule, Rules

TOOL_CALL_S = 1.0
STDIO_CLOSE_S = 2.0
"""How long the SDK waits for a server to end before it terminates it."""


class How(Enum):
    """How an attempt ended for its caller."""

    OK = "a result"
    IS_ERROR = "isError"
    TIMEOUT = "time-out exception"
    CLOSED = "connection closed exception"
    RAISED = "JSON-RPC error, HTTP 502 or invalid result: an exception, the connection stays"
    GONE = "HTTP 404: the session is unknown"


@dataclass(frozen=True)
class Seen:
    """What a caller sees of one attempt."""

    how: How
    receipts: tuple[str, ...] = ()
    code: str | None = None

    @property
    def ok(self) -> bool:
        return self.how is How.OK

    @property
    def raised(self) -> bool:
        return self.how not in (How.OK, How.IS_ERROR)


@dataclass(frozen=True)
class Disturbed:
    """What the fault behind the tool server made the caller see, in place of the server's own result."""

    seen: Seen


class Killed(Exception):
    """The runtime was killed here."""


class Inapplicable(Exception):
    """The cell cannot be judged, for a reason that shows only while it runs."""


@dataclass
class Running:
    """One call inside a tool server: its upstream requests and how far it has come."""

    tool: str
    requests: list[Request]
    instance: int
    key: str | None
    position: int = 0
    receipts: list[str] = field(default_factory=list)
    committed: bool = False


@dataclass
class Recorded:
    """What a server that records attempts knows of one."""

    state: Literal["running", "done", "stalled"]
    began: float
    bound: Any
    receipts: tuple[str, ...] | None = None


@dataclass
class World:
    """Provider, tool servers, wires and the fault of one cell."""

    workload: Workload
    contracts: dict[str, Contract]
    adapter: str
    cell: Cell
    rules: Rules
    now: float = 0.0
    struck: bool = False
    look_failed: bool = False
    second_life: Callable[[], None] | None = None
    """Double-resume: lives from start to end where the first life is stopped."""
    inapplicable: str | None = None
    delivered: dict[int, bool] = field(default_factory=dict)
    """Declared call → a good answer reached the runtime unaltered."""
    sent: set[int] = field(default_factory=set)
    expired: bool = False
    committed_before_expiry: set[int] = field(default_factory=set)
    _instance: int = 0
    _stale: bool = False
    _kill_next: bool = False
    _held: tuple[Running, float | None] | None = None
    _late: list[Running] = field(default_factory=list)
    _dropped: list[Running] = field(default_factory=list)
    _busy: set[tuple[int, str | None]] = field(default_factory=set)
    _memory: dict[tuple[int, str], tuple[Any, tuple[str, ...]]] = field(default_factory=dict)
    _attempts: dict[str, Recorded] = field(default_factory=dict)
    _exited: bool = False
    _succeeded: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.traits = TRAITS[self.adapter]
        retentions = [
            c.key.retention_s for c in self.contracts.values() if c.key is not None and c.key.retention_s is not None
        ]
        self.retention_s = min(retentions, default=None)
        self.provider = Provider(self.traits, self.rules, self.retention_s)
        self.point = strike_point(self.cell.boundary, self.cell.variant)
        self.target = self.cell.strike.index(len(self.workload.declared_calls))
        for decoy in self.workload.decoys:
            if decoy.when == "before":
                self.provider.add_decoy(decoy.effect_class, decoy.fields)
        self._decoys_to_come = [decoy for decoy in self.workload.decoys if decoy.when == "during"]

    # what a policy may do

    def call(
        self, declared: int, tool: str, arguments: dict[str, Any], key: str | None = None, reference: str | None = None
    ) -> Seen:
        """One ``tools/call`` for the declared call with this index."""
        seen = self._message()
        if seen is not None:
            return seen
        mutating = tool in self.contracts
        self.sent.add(declared)
        if mutating and self._held is not None and self._released_by_next_call():
            self._let_held_go()
        strikes = self._strikes(declared)
        if strikes and self.point is Point.CALL:
            return self._strike_call()
        running = Running(tool, self._requests(tool, arguments, key, reference), self._instance, key)
        attempted = self._attempted(declared)
        seen = self._serve(running, strikes, declared)
        if seen.ok:
            self.delivered[declared] = True
            self._succeeded.add(attempted)
        return seen

    def find(self, tool: str, field_name: str, value: Any) -> list[Made] | None:
        """A look-up for effects of ``tool``; None: it failed."""
        if self._message() is not None:
            return None
        if self.cell.boundary is Boundary.LOOKUP_FAILURE and self.struck and not self.look_failed:
            self.look_failed = Rule.LOOKUP_FAILS_ONCE in self.rules
            if self.cell.manifestation is Manifestation.SILENCE:
                self._time_out()
            return None
        return self.provider.find(FINDERS[tool][2], field_name, value)

    def wait(self, seconds: float) -> None:
        """The policy lets time pass."""
        self.now += seconds
        self._check_deadline()

    # the life of the runtime

    def close(self) -> None:
        """The runtime closes its connection; its outcome file comes afterwards."""
        if self._kill_next:
            silent = self.cell.transport == "http" and self.cell.protocol == "2026-07-28"
            if silent and Rule.SILENT_CLOSE_2026_HTTP in self.rules:
                raise Inapplicable("finished first")
            raise Killed
        blocked = self._held is not None or any(late.instance == self._instance for late in (*self._late, *self._dropped))
        if self.cell.transport == "stdio" and blocked and Rule.STDIO_CLOSE_WAITS in self.rules:
            self.wait(STDIO_CLOSE_S)

    def restart(self) -> None:
        """The runtime was killed; its next incarnation starts."""
        self._kill_next = False
        self._stale = False
        if self.cell.transport == "stdio" and Rule.KILL_TAKES_STDIO_SERVER in self.rules:
            self._late = [late for late in self._late if late.instance != self._instance]
            self._instance += 1
        elif self.cell.boundary is Boundary.REPAIR_DRIFT and Rule.DRIFT_LOSES_REPLY in self.rules:
            self._lose_late()
        elif Rule.KILL_RELEASES_REPLY in self.rules:
            self._release_late()
        if self.cell.boundary is Boundary.TOKEN_EXPIRED:
            self.now += self.retention_s or 0.0
            self.expired = True

    def end(self) -> None:
        """The runtime has ended: every hold but those of boundaries 1 and 2 is let through."""
        alive = self.cell.transport == "http" or Rule.STDIO_SERVER_ENDS_WITH_RUNTIME not in self.rules
        if self._held is not None:
            if self.traits.files and not alive and Rule.GATE_DIES_WITH_SERVER in self.rules:
                raise Inapplicable("tool server ended first")
            held, self._held = self._held[0], None
            if Rule.HELD_REQUEST_COMMITS in self.rules:
                self._upstream(held)
            if alive and Rule.HELD_REQUEST_CONTINUES_OVER_HTTP in self.rules:
                self._go_on(held)
        if not alive:
            return
        if Rule.LOST_REPLY_STAYS_LOST not in self.rules:
            self._release_late()
        elif Rule.DROPPED_HOLD_IS_REPEATED in self.rules:
            self._lose_late()
        for dropped in self._dropped:
            if self.traits.repeats and Rule.DROPPED_HOLD_IS_REPEATED in self.rules:
                self._go_on(dropped)

    # wires

    def _message(self) -> Seen | None:
        """Any message of the runtime: the moment of the kill in `delivered`, or a session that nobody knows."""
        if self._kill_next:
            raise Killed
        if self._stale:
            self._stale = False  # every baseline opens a new connection after a 404
            if Rule.LOST_SESSION_FAILS_NEXT in self.rules:
                return Seen(How.GONE)
        return None

    def _attempted(self, declared: int) -> int:
        """The declared call that the wire takes this one for: of twins the first that has not succeeded yet."""
        if Rule.TWINS_ARE_STRUCK_ALIKE not in self.rules:
            return declared
        calls = [call for _, _, call in self.workload.declared_calls]
        twins = [index for index, call in enumerate(calls) if call == calls[declared]]
        return next((index for index in twins if index not in self._succeeded), twins[-1])

    def _strikes(self, declared: int) -> bool:
        if self.cell.boundary is Boundary.NONE or self._attempted(declared) != self.target:
            return False
        return not self.struck or (self.cell.strike.every and Rule.EVERY_STRIKES_REPEATS in self.rules)

    def _time_out(self) -> Seen:
        self.now += TOOL_CALL_S
        return Seen(How.TIMEOUT)

    def _crash(self) -> Seen:
        """The tool server is killed; over HTTP a fresh one is up before the next connection."""
        self._instance += 1
        return Seen(How.CLOSED)  # every baseline opens a new connection then, so that no dead session is used again

    def _strike_call(self) -> Seen:
        self.struck = True
        if Rule.DISPATCH_FAULT_STOPS_THE_CALL not in self.rules:
            declared = self.workload.declared_calls[self.target][2]
            self._go_on(
                Running(declared.tool, self._requests(declared.tool, declared.arguments, None, None), self._instance, None)
            )
        return self._tool_wire()

    def _tool_wire(self) -> Seen:
        """How a fault at the tool wire shows to the caller."""
        match self.cell.manifestation:
            case Manifestation.RESET:
                return Seen(How.CLOSED)
            case Manifestation.SILENCE:
                return self._time_out()
            case Manifestation.ERROR | Manifestation.BAD_RESULT:
                return Seen(How.RAISED)
            case Manifestation.IS_ERROR:
                return Seen(How.IS_ERROR, code="text")
            case Manifestation.REFUSED:
                return self._refused()
            case _:
                return self._crash()

    def _refused(self) -> Seen:
        return Seen(How.IS_ERROR, code="not_executed" if Rule.REFUSAL_IS_PROOF in self.rules else "upstream_unknown")

    # tool server

    def _requests(self, tool: str, arguments: dict[str, Any], key: str | None, reference: str | None) -> list[Request]:
        if tool not in BINDING:
            return []
        free = arguments.get(FREE[tool])
        if tool == "send":
            rows = [("message", {"to": to, "subject": arguments["subject"]}) for to in arguments["recipients"]]
        elif tool == "transfer":
            signs = zip(arguments["accounts"], (-1, 1), strict=True)
            rows = [("leg", {"account": account, "amount": sign * arguments["amount"]}) for account, sign in signs]
        else:
            rows = [(CLASSES[tool], {argument: arguments[argument] for argument in BINDING[tool]})]
        effects = self.contracts[tool].effects
        several = effects is not None
        if effects is not None and effects.together and Rule.TOGETHER_IS_ONE_REQUEST in self.rules:
            (effect_class, first), *rest = rows
            return [Request(effect_class, first, key, reference, free, tuple(fields for _, fields in rest))]
        return [
            Request(
                effect_class,
                fields,
                f"{key}/{i}" if key and several and Rule.KEY_PER_EFFECT in self.rules else key,
                f"{reference}/{i}" if reference and several else reference,
                free,
            )
            for i, (effect_class, fields) in enumerate(rows)
        ]

    def _serve(self, running: Running, strikes: bool, declared: int) -> Seen:
        """The tool server at work on a call that it got; the struck moment included."""
        first = not self.struck
        result = self._answered_by_memory(running) or self._work(running, strikes, first, declared)
        if isinstance(result, Disturbed):
            return result.seen
        if not strikes or self.point is not Point.RESULT:
            return result
        reads = running.tool not in self.contracts
        may = running.committed or reads or not first or Rule.STRIKE_NEEDS_COMMIT not in self.rules
        return self._strike_result(running, result, declared) if may else result

    def _work(self, running: Running, strikes: bool, first: bool, declared: int) -> Seen | Disturbed:
        """The upstream requests in order, to the first that is refused or lost."""
        while running.position < len(running.requests):
            here = strikes and running.position == self.cell.strike.upstream - 1
            seen = self._strike_request(running) if here and self.point is Point.REQUEST else None
            if seen is not None:
                return Disturbed(seen)
            answer = self._upstream(running)
            may = answer.new or not first or Rule.STRIKE_NEEDS_COMMIT not in self.rules
            if here and self.point is Point.REPLY and may:
                self.committed_before_expiry.add(declared)
                seen = self._strike_reply(running)
                if seen is not None:
                    return Disturbed(seen)
            if answer.code is not None:
                return self._refused_by_provider(answer)
        self._remember(running)
        return Seen(How.OK, tuple(running.receipts))

    def _refused_by_provider(self, answer: Answer) -> Seen:
        """What the caller reads: the code in the words of the contract, and the receipt that the provider named."""
        row = TABLE[self.adapter]
        if row.assay:
            return Seen(How.IS_ERROR, code="unavailable")
        code = "exists" if row.natural is not None and answer.code == row.taken_says else answer.code
        return Seen(How.IS_ERROR, (answer.receipt,) if answer.receipt else (), code)

    def _answered_by_memory(self, running: Running) -> Seen | None:
        if running.key is None:
            return None
        if self.traits.assay:
            return self._recorded(running, running.key)
        if (
            (running.instance, running.key) in self._busy
            and self.traits.in_progress
            and Rule.IN_PROGRESS_ANSWER in self.rules
        ):
            return Seen(How.IS_ERROR, code="in_progress")
        known = self._memory.get((running.instance, running.key))
        if known is None:
            return None
        if known[0] != [request.fields for request in running.requests]:
            return Seen(How.IS_ERROR, known[1], "mismatch")
        return Seen(How.OK, known[1])

    def _recorded(self, running: Running, key: str) -> Seen | None:
        """What a repeat is told of the attempt on record; None: there is none, and this one is recorded."""
        bound, record = [request.bound for request in running.requests], self._attempts.get(key)
        over = self.retention_s is not None and record is not None and self.now >= record.began + self.retention_s
        if record is None or (over and record.state == "done" and Rule.RETENTION_ENDS in self.rules):
            self._attempts[key] = Recorded("running", self.now, bound)
            return None
        if record.bound != bound and Rule.KEY_CONFLICTS in self.rules:
            return Seen(How.IS_ERROR, code="mismatch")
        if record.state == "running":
            if Rule.IN_PROGRESS_ANSWER not in self.rules:
                return None
            return Seen(How.IS_ERROR, code="in_progress")
        if record.state == "stalled":
            return Seen(How.IS_ERROR, code="stalled") if Rule.STOPPED_ATTEMPT_STALLS in self.rules else None
        if record.receipts is None:
            return Seen(How.IS_ERROR, code="unavailable")
        return Seen(How.OK, record.receipts)

    def _stopped(self, running: Running) -> None:
        """The attempt is over, and its server does not know what it came to."""
        if self.traits.assay and running.key is not None:
            self._attempts[running.key].state = "stalled"

    def _remember(self, running: Running) -> None:
        self._busy.discard((running.instance, running.key))
        if self.traits.assay and running.key is not None:
            record = self._attempts[running.key]
            record.state, record.receipts = "done", tuple(running.receipts)
        if self.traits.key == "instance" and running.key is not None:
            instances = [running.instance]
            if Rule.INSTANCE_MEMORY_FORGETS not in self.rules:
                instances = list(range(20))
            for instance in instances:
                self._memory[instance, running.key] = ([r.fields for r in running.requests], tuple(running.receipts))

    def _upstream(self, running: Running) -> Answer:
        """The next upstream request reaches the provider and is answered."""
        answer = self.provider.write(running.requests[running.position], self.now)
        running.position += 1
        if answer.code is None:
            running.receipts += (answer.receipt, *answer.others)
        if answer.new:
            running.committed = True
            for decoy in self._decoys_to_come:
                self.provider.add_decoy(decoy.effect_class, decoy.fields)
            self._decoys_to_come = []
            held = self._held
            later = held is not None and held[0] is not running and self.cell.variant is Variant.AFTER_RETRY
            if later and Rule.AFTER_RETRY_LETS_GO_AFTER_COMMIT in self.rules:
                self._let_held_go()
        return answer

    def _go_on(self, running: Running) -> None:
        """A call whose caller is gone goes on to its end."""
        while running.position < len(running.requests):
            if self._upstream(running).code is not None:
                self._busy.discard((running.instance, running.key))
                return
        self._remember(running)

    # the fault behind the tool server

    def _strike_request(self, running: Running) -> Seen | None:
        """None: the tool server carries on by itself."""
        self.struck = True
        if self.cell.boundary is Boundary.DURING_CANCEL:
            seen = self._time_out()
            self._held = (running, None)
            if Rule.RETRY_WAITS_FOR_HELD in self.rules:
                self._let_held_go()
            return seen
        if self.cell.boundary is Boundary.AFTER_TIMEOUT:
            seen = self._time_out()
            lookup = self.contracts[running.tool].lookup
            settles_s = lookup.settles_s if lookup is not None else None
            self._held = (running, None if settles_s is None else self.now + settles_s)
            self._busy.add((running.instance, running.key))
            return seen
        if Rule.FRONT_DOOR_FAULT_STOPS_THE_REQUEST not in self.rules:
            self._upstream(running)
        return self._lost_upstream(running)

    def _strike_reply(self, running: Running) -> Seen | None:
        self.struck = True
        if self.cell.boundary is Boundary.DOUBLE_RESUME:
            return self._stand_still(running)
        if self.cell.boundary is Boundary.PROVIDER_CRASH:
            self.provider.forget()
        if self.cell.boundary in RESTARTS:
            self._late.append(running)
            self._busy.add((running.instance, running.key))
            raise Killed
        seen = self._lost_upstream(running)
        if self.cell.boundary is Boundary.OTHER_INSTANCE:
            self._instance += 1
            self._stale = self.cell.variant is Variant.SESSION_LOST
        return seen

    def _stand_still(self, running: Running) -> Seen | None:
        """The first life is stopped here; it goes on when the second has ended and its own call has timed out."""
        began, instance = self.now, self._instance
        self._late.append(running)
        self._busy.add((running.instance, running.key))
        if self.second_life is not None and Rule.SECOND_LIVES_WHILE_FIRST_STANDS in self.rules:
            self._instance += self.cell.transport == "stdio"
            self.second_life()
            self._instance = instance
        if Rule.FIRST_GOES_ON_TIMED_OUT not in self.rules:
            self._late.remove(running)
            return None
        self.now = max(self.now, began + TOOL_CALL_S)
        return Seen(How.TIMEOUT)

    def _lost_upstream(self, running: Running) -> Seen | None:
        """The exchange with the provider is disturbed: what the tool server then does and the caller sees."""
        look_up = self.cell.boundary is Boundary.LOOKUP_FAILURE
        match Manifestation.RESET if look_up else self.cell.manifestation:
            case Manifestation.SILENCE:
                self._busy.add((running.instance, running.key))
                if self.point is Point.REPLY:
                    self._late.append(running)
                else:
                    self._dropped.append(running)
                return self._time_out()
            case Manifestation.CRASH:
                if Rule.CRASH_ENDS_THE_CALL not in self.rules:
                    self._go_on(running)
                return self._crash()
            case Manifestation.REFUSED:
                if running.position and Rule.PARTIAL_IS_NO_PROOF in self.rules:
                    return Seen(How.IS_ERROR, code="partial")
                return self._refused()
            case _:
                if self.traits.repeats and Rule.SERVER_REPEATS in self.rules:
                    if self.point is Point.REPLY:
                        running.position -= 1
                        running.receipts = running.receipts[: running.position]
                        self._upstream(running)
                    return None
                self._stopped(running)
                if Rule.LOST_ANSWER_ENDS_THE_CALL not in self.rules:
                    self._go_on(running)
                if Rule.LOST_ANSWER_IS_IS_ERROR in self.rules:
                    return Seen(How.IS_ERROR, code="upstream_unknown")
                return Seen(How.RAISED)

    def _strike_result(self, running: Running, result: Seen, declared: int) -> Seen:
        self.struck = True
        if self.cell.variant is Variant.RESUMABLE and Rule.STREAM_IS_RESUMED in self.rules:
            return result
        if self.cell.boundary is Boundary.INPUT_REQUIRED:
            return self._sent_again(running, result, declared)
        if self.cell.boundary is Boundary.AGENT_RESTART:
            self._kill_next = True
            return result
        return self._tool_wire()

    def _sent_again(self, running: Running, result: Seen, declared: int) -> Seen:
        """Asked for input, the client sends the very call again, with key and reference, before its caller sees anything."""
        kept = self.cell.variant is Variant.WITH_STATE and Rule.STATE_IS_ANSWERED in self.rules
        if kept or Rule.INPUT_MAKES_IT_AGAIN not in self.rules:
            return result
        again = replace(running, instance=self._instance, position=0, receipts=[], committed=False)
        return self._serve(again, False, declared)

    # held requests

    def _released_by_next_call(self) -> bool:
        early = self.cell.variant in (Variant.NONE, Variant.BEFORE_RETRY)
        return early and Rule.RETRY_WAITS_FOR_HELD in self.rules

    def _let_held_go(self) -> None:
        """The held request is let through and its call goes on."""
        assert self._held is not None
        held, self._held = self._held[0], None
        if Rule.HELD_REQUEST_COMMITS not in self.rules:
            return
        self._upstream(held)
        if self.cell.boundary is not Boundary.DURING_CANCEL or Rule.CANCELLED_HANDLER_FINISHES in self.rules:
            self._go_on(held)

    def _lose_late(self) -> None:
        """The held replies are lost to their tool servers: only `retrying-server` goes on, by asking once more."""
        late, self._late = self._late, []
        for running in late:
            self._busy.discard((running.instance, running.key))
            self._stopped(running)
            if self.traits.repeats and Rule.SERVER_REPEATS in self.rules:
                running.position -= 1
                running.receipts = running.receipts[: running.position]
                self._go_on(running)

    def _release_late(self) -> None:
        late, self._late = self._late, []
        for running in late:
            self._go_on(running)

    def _check_deadline(self) -> None:
        if self._held is None or self._held[1] is None or self.now < self._held[1]:
            return
        if self.cell.variant is Variant.BEFORE_RETRY:
            self._let_held_go()
        elif Rule.DEADLINE_BINDS_CONDUCTOR in self.rules:
            raise Inapplicable("contract")
