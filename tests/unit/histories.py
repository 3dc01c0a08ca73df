"""Builders of histories: a story is told event by event, and its effects appear in the oracle's reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.cells import Cell
from benchmark.contracts import Answers, Contract, Key, Lookup
from benchmark.effects import Effect
from benchmark.history import Asked, Conversation, Declaration, Event, History, Kind, Reading, Told
from benchmark.intents import Call, Change, ClassKind, Drift, Intent, Outcome, Slot, Workload

BINDING = ("order", "amount")
ANSWERS = Answers(
    replayed=("/structuredContent/replayed", True),
    repeat_refused=("/structuredContent/code", "exists"),
    mismatch=("/structuredContent/code", "mismatch"),
    not_executed=("/structuredContent/code", "not_executed"),
    in_progress=("/structuredContent/code", "in_progress"),
)
PLAIN = Contract(binding=BINDING, answers=ANSWERS)
KEYED = Contract(binding=BINDING, answers=ANSWERS, key=Key(carrier="argument", name="token", retention_s=600.0))
SETTLING = Contract(binding=BINDING, answers=ANSWERS, lookup=Lookup(tool="find_charges", by=("order",), settles_s=1.5))
UNSETTLED = Contract(binding=BINDING, answers=ANSWERS, lookup=Lookup(tool="find_charges", by=("order",), settles_s=None))
NATURAL = Contract(binding=BINDING, answers=ANSWERS, natural_key=("order",), on_repeat="overwrite")

LOST = {"result": {"isError": True, "content": [], "structuredContent": {"code": "upstream_unknown"}}}
NOT_EXECUTED = {"result": {"isError": True, "content": [], "structuredContent": {"code": "not_executed"}}}


def fields(order: str, amount: float = 100) -> dict[str, Any]:
    return {"order": order, "amount": amount}


def slot(name: str, order: str, call: int = 0, amount: float = 100) -> Slot:
    return Slot.model_validate({"id": name, "class": "charge", "call": call, "match": fields(order, amount)})


def intent(name: str, *orders: str, atomic: bool = False, together: bool = False) -> Intent:
    """An intent of one charge per order: a call each, or all together by one call."""
    slots = tuple(slot(f"s{n}", order, 0 if together else n) for n, order in enumerate(orders))
    calls = tuple(Call(tool="charge", arguments=fields(order)) for order in (orders[:1] if together else orders))
    whole = Outcome(fulfils=True, slots={slot.id: 1 for slot in slots})
    nothing = Outcome(fulfils=False, slots={})
    return Intent(
        id=name, say=name, calls=calls, slots=slots, outcomes=(whole, nothing) if atomic else (whole,), atomic=atomic
    )


def read(name: str, order: str = "a") -> Intent:
    return Intent(id=name, say=name, calls=(Call(tool="find_charges", arguments={"order": order}),))


def workload(*intents: Intent, state: bool = False) -> Workload:
    first = intents[0].id if intents else "none"
    return Workload(
        name="made-up",
        title="Made up",
        summary="For a test.",
        classes={"charge": ClassKind.STATE if state else ClassKind.EVENT},
        intents=intents,
        drift=Drift(
            free=Change(intent=first, argument="memo", value="other"),
            binding=Change(intent=first, argument="amount", value=999),
        ),
    )


ONE = workload(intent("i", "a"))
TWINS = workload(intent("i", "a"), intent("j", "a"))
TRANSFER = workload(intent("i", "a", "b", atomic=True, together=True))
READ = workload(read("r"))


def effect(receipt: str, given: Mapping[str, Any], *, undone: bool = False, effect_class: str = "charge") -> Effect:
    return Effect.model_validate({"class": effect_class, "receipt": receipt, "fields": dict(given), "undone": undone})


def success(*receipts: str, **more: Any) -> dict[str, Any]:
    """A successful answer's payload."""
    content: dict[str, Any] = {"receipt": receipts[0]} if len(receipts) == 1 else {"receipts": list(receipts)}
    return {"result": {"content": [], "structuredContent": content | more, "isError": False}}


def asking(state: str | None = None) -> dict[str, Any]:
    """A payload that asks for input."""
    found: dict[str, Any] = {"resultType": "input_required", "inputRequests": {"confirm": {"method": "elicitation/create"}}}
    return {"result": found | ({"requestState": state} if state is not None else {})}


INPUT = {"confirm": {"action": "accept", "content": {}}}
"""What answers it."""


class Story:
    """The events of a cell as they are told, and the effects that come of them."""

    def __init__(
        self,
        told: Workload = ONE,
        contract: Contract = PLAIN,
        boundary: Boundary = Boundary.NONE,
        variant: Variant = Variant.NONE,
        manifestation: Manifestation = Manifestation.NONE,
        *,
        model: bool = False,
    ) -> None:
        self.workload = told
        self.contract = contract
        self.cell = Cell("made-up", "made-up", boundary, variant, manifestation)
        self.model = model
        self.events: list[Event] = []
        self.baseline: list[Effect] = []
        self.final: list[Effect] = []
        self.error: str | None = None
        self.incarnation = 1
        self.instance = "a"
        self._counts = {"call": 0, "request": 0, "receipt": 0}
        self._arguments: dict[int, dict[str, Any]] = {}

    def add(self, kind: Kind, **given: Any) -> Event:
        number = len(self.events) + 1
        event = Event(n=number, t=number / 100, kind=kind, **given)
        self.events.append(event)
        return event

    def start(self, incarnation: int = 1, instance: str | None = "a") -> Story:
        self.incarnation = incarnation
        if instance is not None:
            self.instance = instance
            self.add(Kind.SERVER_STARTED, instance=instance, pid=1)
        self.add(Kind.RUNTIME_STARTED, incarnation=incarnation, pid=2)
        return self

    def call(
        self,
        declared: int | None = 0,
        *,
        key: str | None = None,
        arguments: dict[str, Any] | None = None,
        forward: bool = True,
        **given: Any,
    ) -> int:
        """A call on the tool wire (None: an added look-up); its number."""
        number = self._next("call")
        wanted = {"order": "a"} if declared is None else self.workload.declared_calls[declared][2].arguments
        tool = "find_charges" if declared is None else self.workload.declared_calls[declared][2].tool
        self._arguments[number] = dict(wanted) | (arguments or {})
        self.add(
            Kind.CALL,
            call=number,
            incarnation=self.incarnation,
            instance=self.instance,
            tool=tool,
            arguments=self._arguments[number],
            declared=declared,
            key=key,
            **given,
        )
        if forward:
            self.add(Kind.CALL_FORWARDED, call=number, instance=self.instance)
        return number

    def request(self, call: int | None, *, key: str | None = None, through: bool = True) -> int:
        number = self._next("request")
        upstream = {"method": "POST", "path": "/charges", "headers": {"Idempotency-Key": key} if key else {}}
        self.add(Kind.REQUEST, request=number, call=call, instance=self.instance, upstream=upstream)
        if through:
            self.add(Kind.REQUEST_FORWARDED, request=number)
        return number

    def commit(self, request: int, *, given: Mapping[str, Any] | None = None, undone: bool = False) -> str:
        """The request's commit and the provider's answer; the receipt."""
        receipt = f"ch_{self._next('receipt')}"
        call = next(event.call for event in self.events if event.kind is Kind.REQUEST and event.request == request)
        made = given if given is not None else self._arguments.get(call or 0, fields("a"))
        self.final.append(effect(receipt, made, undone=undone))
        self.add(Kind.COMMIT, request=request, receipts=(receipt,), effect_class="charge")
        self.add(Kind.REPLY, request=request, status=201, receipts=(receipt,), committed=True)
        return receipt

    def decoy(self, given: Mapping[str, Any]) -> str:
        receipt = f"decoy_{self._next('receipt')}"
        self.final.append(effect(receipt, given))
        self.add(Kind.DECOY, receipts=(receipt,))
        return receipt

    def probe(self, *receipts: str) -> None:
        self.add(Kind.PROBE, receipts=receipts)

    def strike(self, call: int, request: int | None = None) -> None:
        self.add(Kind.STRIKE, call=call, request=request, detail=str(self.cell.manifestation))

    def result(self, call: int, payload: dict[str, Any]) -> None:
        self.add(Kind.RESULT, call=call, result=payload)

    def deliver(self, call: int, payload: dict[str, Any], *, altered: bool = False) -> None:
        self.add(Kind.DELIVERED, call=call, result=payload, altered=altered)

    def answer(self, call: int, payload: dict[str, Any]) -> None:
        self.result(call, payload)
        self.deliver(call, payload)

    def succeed(self, declared: int = 0, **given: Any) -> str:
        """A call that goes well; the receipt."""
        call = self.call(declared, **given)
        receipt = self.commit(self.request(call))
        self.add(Kind.REPLY_DELIVERED, request=self._counts["request"], status=201, altered=False)
        self.answer(call, success(receipt))
        return receipt

    def lose(self, declared: int = 0, *, key: str | None = None) -> str:
        """A call whose effect happens while its answer is lost behind the tool server; the receipt."""
        call = self.call(declared, key=key)
        receipt = self.commit(self.request(call))
        self.answer(call, LOST)
        return receipt

    def tells(self, *told: tuple[int, int, str | None] | tuple[int, int, str | None, str]) -> None:
        """The runtime asks the model; what its conversation tells: (declared call, which asking, word, receipt)."""
        heard = tuple(
            Told.model_validate({"declared": one[0], "nth": one[1], "word": one[2], "receipts": one[3:]}) for one in told
        )
        self.add(Kind.MODEL_REQUEST, incarnation=self.incarnation, asking=Conversation(identity="c", turn=0, told=heard))

    def asks(self, declared: int | None = None, nth: int = 1, **changed: Any) -> None:
        """The model asks for a declared call, with changed arguments where they are given; None: it says its last word."""
        asked: tuple[Asked, ...] = ()
        if declared is not None:
            call = self.workload.declared_calls[declared][2]
            asked = (
                Asked(
                    id=f"call_{declared}x{nth}",
                    name=call.tool,
                    tool=call.tool,
                    arguments=call.arguments | changed,
                    declared=declared,
                    nth=nth,
                    changed=bool(changed),
                ),
            )
        self.add(Kind.MODEL_REPLY, incarnation=self.incarnation, asked=asked)

    def outcome(self, **claims: str | tuple[str, ...] | dict[str, Any]) -> None:
        """``i="failed"``, ``i=("committed", "ch_1", …)`` or a whole entry."""
        entries: list[dict[str, Any]] = []
        for name, said in claims.items():
            if isinstance(said, dict):
                entries.append({"id": name} | said)
                continue
            status, *receipts = (said,) if isinstance(said, str) else said
            entries.append({"id": name, "status": status, "receipts": receipts})
        self.add(Kind.OUTCOME, incarnation=self.incarnation, result={"contract": 1, "intents": entries})

    def exit(self, status: int = 0) -> None:
        self.add(Kind.RUNTIME_EXITED, incarnation=self.incarnation, status=status)

    def finish(self, **claims: str | tuple[str, ...] | dict[str, Any]) -> History:
        self.outcome(**claims)
        self.exit()
        return self.history()

    def history(self) -> History:
        tools = {call.tool for _, _, call in self.workload.declared_calls} - {"find_charges"}
        return History(
            declaration=Declaration(
                runtime="made-up",
                model=self.model,
                cell=self.cell,
                workload=self.workload,
                contracts=dict.fromkeys(sorted(tools), self.contract),
                truthful=True,
                tool_call_s=1.0,
                run_s=30.0,
            ),
            events=tuple(self.events),
            reading=Reading(baseline=tuple(self.baseline), final=tuple(self.final), error=self.error),
        )

    def _next(self, what: str) -> int:
        self._counts[what] += 1
        return self._counts[what]


def asked(variant: Variant = Variant.WITHOUT_STATE, contract: Contract = PLAIN, key: str | None = None) -> Story:
    """An input-required cell, up to the moment at which the runtime has been asked."""
    story = Story(ONE, contract, Boundary.INPUT_REQUIRED, variant, Manifestation.ASKED).start()
    call = story.call(key=key)
    receipt = story.commit(story.request(call, key=key))
    story.result(call, success(receipt))
    story.probe(receipt)
    story.strike(call)
    story.deliver(call, asking("s" if variant is Variant.WITH_STATE else None), altered=True)
    return story


Selector = Callable[[Event], bool]


def numbered(history: History, events: Sequence[Event]) -> History:
    """The same history with these events, numbered and timed anew."""
    anew = tuple(event.model_copy(update={"n": n, "t": n / 100}) for n, event in enumerate(events, 1))
    return history.model_copy(update={"events": anew})


def without(history: History, selected: Selector) -> History:
    kept = [event for event in history.events if not selected(event)]
    assert len(kept) < len(history.events), "nothing was removed"
    return numbered(history, kept)


def moved(history: History, selected: Selector, *, before: Selector | None = None, after: Selector | None = None) -> History:
    """The first selected event put right before the first, or right after the last, event that another selector finds."""
    event = next(event for event in history.events if selected(event))
    rest = [other for other in history.events if other is not event]
    if before is not None:
        place = next(n for n, other in enumerate(rest) if before(other))
    else:
        assert after is not None
        place = max(n for n, other in enumerate(rest) if after(other)) + 1
    return numbered(history, [*rest[:place], event, *rest[place:]])


def added(history: History, kind: Kind, *, after: Selector, **given: Any) -> History:
    """One event more, right after the first that the selector finds."""
    place = next(n for n, other in enumerate(history.events) if after(other)) + 1
    event = Event(n=1, t=0.0, kind=kind, **given)
    return numbered(history, [*history.events[:place], event, *history.events[place:]])


def changed(history: History, selected: Selector, **given: Any) -> History:
    """The selected events with other fields."""
    return numbered(history, [event.model_copy(update=given) if selected(event) else event for event in history.events])


def of(kind: Kind, **given: Any) -> Selector:
    """Selects events of a kind with these fields."""
    return lambda event: event.kind is kind and all(getattr(event, name) == value for name, value in given.items())


def control(told: Workload = ONE, contract: Contract = PLAIN) -> Story:
    """The beginning of a control."""
    return Story(told, contract).start()


def reset(told: Workload = ONE, contract: Contract = PLAIN, key: str | None = None) -> Story:
    """An after-commit cell, up to the moment at which the runtime has been told that the answer was lost."""
    story = Story(told, contract, Boundary.AFTER_COMMIT, manifestation=Manifestation.RESET).start()
    call = story.call(key=key)
    request = story.request(call, key=key)
    receipt = story.commit(request)
    story.probe(receipt)
    story.strike(call, request)
    story.add(Kind.REPLY_DELIVERED, request=request, altered=True)
    story.answer(call, LOST)
    return story
