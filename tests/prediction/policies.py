"""The eight baselines on paper, as their READMEs state them: what is sent next, and what is claimed in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from benchmark.contracts import Contract
from benchmark.intents import Workload
from tests.prediction.rules import Rule
from tests.prediction.simulation import TOOL_CALL_S, How, Seen, World

Status = Literal["committed", "failed", "unresolved", "error"]
RETRY_AFTER_S = 0.2
LEDGER_ATTEMPTS = 3
LEDGER_MARGIN_S = 0.1


@dataclass(frozen=True)
class Settled:
    """What is claimed: of a call, or of a whole intent."""

    status: Status
    receipts: tuple[str, ...] = ()


ERROR = Settled("error")
UNRESOLVED = Settled("unresolved")


@dataclass(frozen=True)
class Call:
    """One declared call as a policy sees it."""

    declared: int
    intent: str
    index: int
    tool: str
    arguments: dict[str, Any]
    contract: Contract | None

    @property
    def effect_id(self) -> str:
        return f"{self.intent}#{self.index}"

    @property
    def key(self) -> str | None:
        return self.effect_id if self.contract is not None and self.contract.key is not None else None

    @property
    def reference(self) -> str | None:
        return self.effect_id if self.contract is not None and self.contract.reference is not None else None

    @property
    def references(self) -> tuple[str, ...]:
        several = self.contract.effects if self.contract is not None else None
        if several is None:
            return (self.effect_id,)
        return tuple(f"{self.effect_id}/{i}" for i in range(len(self.arguments[several.each])))

    @property
    def found_by_reference(self) -> bool:
        contract = self.contract
        return contract is not None and contract.lookup is not None and contract.reference in contract.lookup.by

    @property
    def binding(self) -> dict[str, Any]:
        names = self.contract.binding if self.contract is not None else ()
        return {name: self.arguments.get(name) for name in names}


@dataclass
class Record:
    """reference-ledger's durable record of one effect; the deadline is that of its key."""

    arguments: dict[str, Any]
    binding: dict[str, Any]
    state: Literal["not_started", "in_progress", "committed", "failed_before_effect", "unknown"] = "not_started"
    receipts: tuple[str, ...] = ()
    deadline: float | None = None


@dataclass
class Memory:
    """What survives a kill: the policy's own files."""

    marks: set[str] = field(default_factory=set)
    records: dict[str, Record] = field(default_factory=dict)
    settled: dict[str, Settled] = field(default_factory=dict)


@dataclass
class Session:
    """One incarnation: the world, what is remembered, and which incarnation it is."""

    world: World
    memory: Memory
    incarnation: int

    def on(self, rule: Rule) -> bool:
        return rule in self.world.rules

    def send(self, call: Call, *, key: bool = False, reference: bool = False) -> Seen:
        """One attempt. Under a contract whose key *is* the reference, sending either sends the key."""
        same = (
            call.contract is not None and call.contract.key is not None and call.contract.key.name == call.contract.reference
        )
        with_key = call.key if key or (reference and same) else None
        with_reference = call.reference if reference or (key and same) else None
        return self.world.call(call.declared, call.tool, call.arguments, with_key, with_reference)


Policy = Callable[[Session, Call], Settled]


def run(policy: str, session: Session, workload: Workload) -> dict[str, Settled]:
    """One incarnation's walk over the intents; raises Killed. ``workload``: as this incarnation's task has it."""
    settle = POLICIES[policy]
    claims: dict[str, Settled] = {}
    declared = 0
    for intent in workload.intents:
        settled: list[Settled] = []
        for index, each in enumerate(intent.calls):
            going = not settled or settled[-1].status == "committed" or not session.on(Rule.REST_OF_INTENT_STOPS)
            earlier = all(claim.status == "committed" for claim in claims.values())
            if going and (earlier or session.on(Rule.LATER_INTENTS_GO_ON)):
                call = Call(declared, intent.id, index, each.tool, each.arguments, session.world.contracts.get(each.tool))
                settled.append(settle(session, call))
            declared += 1
        claims[intent.id] = _of_intent(settled)
    session.world.close()
    return claims


def _of_intent(settled: list[Settled]) -> Settled:
    receipts = tuple(dict.fromkeys(receipt for each in settled for receipt in each.receipts))
    bad = [each.status for each in settled if each.status != "committed"]
    if not settled:
        return ERROR
    if not bad:
        return Settled("committed", receipts)
    if bad[-1] == "failed" and any(each.receipts or each.status != "failed" for each in settled):
        return Settled("error", receipts)
    return Settled(bad[-1], receipts)


def _plain(seen: Seen) -> Settled:
    return Settled("committed", seen.receipts) if seen.ok else ERROR


def _blindly(session: Session, call: Call, *, key: bool) -> Settled:
    """Two attempts, whatever went wrong."""
    done = session.memory.settled.get(call.effect_id)
    if done is not None and not session.on(Rule.MEMORYLESS_START_OVER):
        return done
    seen = session.send(call, key=key)
    again = Rule.BLIND_RETRIES_EXCEPTION if seen.raised else Rule.BLIND_RETRIES_IS_ERROR
    if not seen.ok and session.on(again):
        seen = session.send(call, key=key)
    if seen.code == "exists" and not session.on(Rule.BLIND_READS_NO_ANSWERS):
        seen = Seen(How.OK, seen.receipts)
    if seen.ok:
        session.memory.settled[call.effect_id] = _plain(seen)
    return _plain(seen)


def _once(session: Session, call: Call) -> Settled:
    return _plain(session.send(call))


def blind_retry(session: Session, call: Call) -> Settled:
    return _blindly(session, call, key=False)


def keyed_blind_retry(session: Session, call: Call) -> Settled:
    return _blindly(session, call, key=session.on(Rule.KEYED_SENDS_KEY))


def mcp_python_retry(session: Session, call: Call) -> Settled:
    seen = session.send(call)
    retries = seen.raised and session.on(Rule.BLIND_RETRIES_EXCEPTION)
    if retries or (seen.how is How.IS_ERROR and not session.on(Rule.PYTHON_RETRY_IGNORES_IS_ERROR)):
        seen = session.send(call)
    return _plain(seen)


def token_or_stop(session: Session, call: Call) -> Settled:
    """Re-sends once with the key; without one it stops, before a restart and after it."""
    if call.contract is None:
        return _blindly(session, call, key=False)
    keyed = call.key is not None
    if keyed and session.incarnation > 1 and session.world.expired and not session.on(Rule.TOKEN_IGNORES_DEADLINE):
        return UNRESOLVED
    if not keyed:
        if call.effect_id in session.memory.marks and session.on(Rule.TOKEN_MARK_IS_DURABLE):
            return UNRESOLVED
        session.memory.marks.add(call.effect_id)
    seen = session.send(call, key=True)
    settled = _token_judges(session, seen, keyed)
    if settled is None:
        if seen.code == "in_progress":
            session.world.wait(RETRY_AFTER_S)
        seen = session.send(call, key=True)
        settled = _token_judges(session, seen, keyed)
    return settled or ERROR


def _token_judges(session: Session, seen: Seen, keyed: bool) -> Settled | None:
    """None: a re-send is right."""
    if seen.ok:
        return _plain(seen)
    if seen.code == "exists":
        return Settled("committed", seen.receipts) if seen.receipts else UNRESOLVED
    if seen.code in ("mismatch", "unavailable", "stalled"):
        return UNRESOLVED
    if (keyed and session.on(Rule.TOKEN_RESENDS_WITH_KEY)) or seen.code == "not_executed":
        return None
    return UNRESOLVED


def lookup_or_stop(session: Session, call: Call) -> Settled:
    """Sends once, with a reference; anything but a result is looked up, once and at once; nothing is ever sent again."""
    if call.contract is None:
        return _blindly(session, call, key=False)
    if session.incarnation == 1 or not session.on(Rule.LOOKUP_AMBIGUOUS_AFTER_RESTART):
        seen = session.send(call, reference=True)
        if seen.ok:
            return _plain(seen)
    if not call.found_by_reference or not session.on(Rule.LOOKUP_LOOKS):
        return UNRESOLVED
    found = _look(session, call)
    if found is not None and None not in found:
        return Settled("committed", tuple(receipt for receipt in found if receipt is not None))
    return UNRESOLVED


def _look(session: Session, call: Call) -> list[str | None] | None:
    """The receipt of each effect of the call, None where the look-up listed none; None: a look-up failed."""
    receipts: list[str | None] = []
    for reference in call.references:
        made = session.world.find(call.tool, "reference", reference)
        if made is None:
            return None
        receipts.append(made[0].receipt if made else None)
    return receipts


def reference_ledger(session: Session, call: Call) -> Settled:
    """A durable record before every dispatch; after every doubt the key that still protects, the look-up, or a question."""
    if call.contract is None:
        return _blindly(session, call, key=False)
    record = session.memory.records.setdefault(call.effect_id, Record(call.arguments, call.binding))
    if record.state in ("not_started", "failed_before_effect") and call.binding == record.binding:
        record.arguments = call.arguments
    if call.binding == record.binding or session.on(Rule.LEDGER_SEES_DRIFT):
        call = replace(call, arguments=record.arguments)
    return Settlement(session, call, record).run()


class Settlement:
    """One call of reference-ledger on its way to an end."""

    def __init__(self, session: Session, call: Call, record: Record) -> None:
        assert call.contract is not None
        self.session, self.call, self.record, self.contract = session, call, record, call.contract
        self.doubt_since = session.world.now
        self.repeatable = True

    def run(self) -> Settled:
        attempts = 0
        while True:
            proven = self.record.state in ("not_started", "failed_before_effect")
            if self.record.state == "committed" and self.session.on(Rule.LEDGER_REMEMBERS_COMMITTED):
                return Settled("committed", self.record.receipts)
            if proven and attempts == LEDGER_ATTEMPTS:
                return Settled("failed")
            if proven or (attempts < LEDGER_ATTEMPTS and self._may_repeat()):
                attempts += 1
                settled = self._attempt()
            else:
                settled = self._reconcile()
            if settled is not None:
                return settled

    def _attempt(self) -> Settled | None:
        record, world = self.record, self.session.world
        doubted = record.state not in ("not_started", "failed_before_effect")
        key = self.contract.key
        if record.deadline is None and key is not None and key.retention_s is not None:
            record.deadline = world.now + key.retention_s
        record.state = "in_progress"
        seen = self.session.send(self.call, key=True, reference=True)
        if seen.ok:
            return self._commit(seen.receipts)
        record.state = "unknown"
        if seen.code == "not_executed":
            if not doubted:
                self._nothing_happened()
            return None
        self.doubt_since = world.now
        if seen.code == "exists":
            ours = bool(seen.receipts) and (key is not None or doubted)
            return self._commit(seen.receipts) if ours else UNRESOLVED
        if seen.code == "mismatch":
            return UNRESOLVED
        if seen.code == "in_progress":
            world.wait(RETRY_AFTER_S)
        self.repeatable = self.repeatable and seen.code not in ("unavailable", "stalled")
        return None

    def _may_repeat(self) -> bool:
        if not self.repeatable:
            return False
        key, deadline = self.contract.key, self.record.deadline
        if key is not None and key.on_repeat != "new" and key.scope in ("account", "endpoint"):
            if key.retention_s is None or not self.session.on(Rule.LEDGER_HEEDS_DEADLINE):
                return True
            return deadline is not None and self.session.world.now + TOOL_CALL_S < deadline
        return self.contract.natural_key is not None

    def _reconcile(self) -> Settled | None:
        """None: proven that nothing happened."""
        lookup = self.contract.lookup
        if lookup is None or not self.call.found_by_reference or not self.session.on(Rule.LEDGER_LOOKS):
            return UNRESOLVED
        found = self._find()
        if found is not None and None in found and lookup.settles_s is not None:
            self.session.world.wait(max(0.0, self.doubt_since + lookup.settles_s + LEDGER_MARGIN_S - self.session.world.now))
            found = self._find()
            if found is not None and not any(found):
                if not self.session.on(Rule.LEDGER_SENDS_AFTER_SETTLED_NEGATIVE):
                    return UNRESOLVED
                self._nothing_happened()
                return None
        receipts = tuple(receipt for receipt in found or () if receipt is not None)
        if found is not None and len(receipts) == len(found):
            return self._commit(receipts)
        return Settled("unresolved", receipts)

    def _find(self) -> list[str | None] | None:
        found = _look(self.session, self.call)
        again = found is None and self.session.on(Rule.LEDGER_LOOKS_AGAIN)
        return _look(self.session, self.call) if again else found

    def _nothing_happened(self) -> None:
        self.record.state, self.record.deadline = "failed_before_effect", None

    def _commit(self, receipts: tuple[str, ...]) -> Settled:
        """Two effects of its own cannot share a receipt: then the tool took this one for another."""
        others = (other for name, other in self.session.memory.records.items() if name != self.call.effect_id)
        shared = any(set(other.receipts) & set(receipts) for other in others)
        if shared and self.contract.natural_key is None and self.session.on(Rule.LEDGER_CHECKS_OWNER):
            return UNRESOLVED
        self.record.state, self.record.receipts = "committed", receipts
        return Settled("committed", receipts)


POLICIES: dict[str, Policy] = {
    "blind-retry": blind_retry,
    "keyed-blind-retry": keyed_blind_retry,
    "no-retry": _once,
    "token-or-stop": token_or_stop,
    "lookup-or-stop": lookup_or_stop,
    "reference-ledger": reference_ledger,
    "mcp-python": _once,
    "mcp-python-retry": mcp_python_retry,
}
