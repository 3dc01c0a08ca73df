"""A history as steps of a sequence diagram: who sent what to whom, what was held, dropped or made up on a wire.

Two events that are one movement (a call, and that it was let through at once) are one step. A wire is a place of its own:
what the conductor held or took stands there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmark.history import Event, History, Kind
from benchmark.reporting.untrusted import fields, plain, value

MOST = 400
"""Steps that are drawn; of more the first and the last are."""

MODEL, TOOL_WIRE, PROVIDER_WIRE, PROVIDER = "model", "tool-wire", "provider-wire", "provider"


@dataclass(frozen=True)
class Step:
    """One row of the diagram: an arrow from a lane to another, or (the same lane) a mark on it."""

    n: int
    """Number of the (first) event."""
    t: float
    start: str
    end: str
    text: str
    look: str = ""
    """A CSS class: call, answer, commit, surplus, fault, kill, life, claim, oracle, quiet, warn."""
    stopped: bool = False
    """An arrow that does not arrive: taken at the wire."""
    also: tuple[int, ...] = ()
    """Numbers of the events that are part of the step."""


@dataclass(frozen=True)
class Hold:
    """A wire kept something from event to event; ``lost``: it never went on."""

    lane: str
    first: int
    last: int
    lost: bool


@dataclass
class Story:
    """The steps and holds of one history, and its lanes from left to right."""

    lanes: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    cut: int = 0
    """Steps that were left out in the middle."""


def runtime(incarnation: int | None) -> str:
    """The lane of an incarnation."""
    return f"runtime-{incarnation or 1}"


def server(instance: str | None) -> str:
    """The lane of a tool-server instance."""
    return f"server-{plain(instance or 'a', 12)}"


def tell(history: History, surplus: frozenset[str] = frozenset()) -> Story:
    """The story of a history; ``surplus``: receipts of effects beyond the authorised ones."""
    return _Teller(history, surplus).tell()


class _Teller:
    def __init__(self, history: History, surplus: frozenset[str]) -> None:
        self._events = history.events
        self.surplus = surplus
        self._calls = {event.call: event for event in history.of(Kind.CALL)}
        self._instances = {event.call: event.instance for event in history.of(Kind.CALL_FORWARDED)}
        self._requests = {event.request: event for event in history.of(Kind.REQUEST)}
        self._probe = next(history.of(Kind.PROBE), None)
        self._merged: set[int] = set()
        self._dead: set[int] = set()

    def tell(self) -> Story:
        story = Story(lanes=self._lanes(), holds=list(self._holds()))
        for index, event in enumerate(self._events):
            if event.n not in self._merged:
                story.steps.extend(self._step(index, event))
        if len(story.steps) > MOST:
            story.cut = len(story.steps) - MOST
            story.steps = [*story.steps[: MOST // 2], *story.steps[-MOST // 2 :]]
        return story

    def _lanes(self) -> list[str]:
        lives = sorted({event.incarnation or 1 for event in self._events if event.incarnation} | {1})
        instances = sorted({event.instance for event in self._events if event.instance} | {"a"})
        mind = [MODEL] if any(event.kind.startswith("model") for event in self._events) else []
        return [
            *mind,
            *(runtime(life) for life in lives[:6]),
            TOOL_WIRE,
            *(server(instance) for instance in instances[:6]),
            PROVIDER_WIRE,
            PROVIDER,
        ]

    def runtime_of(self, event: Event) -> str:
        call = self._calls.get(event.call)
        return runtime(event.incarnation or (call.incarnation if call else None))

    def server_of(self, event: Event) -> str:
        request = self._requests.get(event.request) if event.request is not None else None
        call = event.call if event.call is not None else (request.call if request else None)
        known = event.instance or (request.instance if request else None) or self._instances.get(call)
        return server(known or (self._calls[call].instance if call in self._calls else None))

    def closed_before(self, event: Event) -> bool:
        """Whether this incarnation had closed its connection itself."""
        return any(
            one.kind is Kind.CLOSED and one.n < event.n and one.incarnation == event.incarnation for one in self._events
        )

    def _after(self, index: int, kind: Kind, **same: object) -> Event | None:
        """The next event, if it is of this kind and has these values."""
        following = self._events[index + 1] if index + 1 < len(self._events) else None
        if following is None or following.kind is not kind:
            return None
        return following if all(getattr(following, name) == each for name, each in same.items()) else None

    def _step(self, index: int, event: Event) -> Iterator[Step]:
        if event.kind is Kind.MESSAGE:
            yield self._messages(index, event)
            return
        if (told := _MOVES.get(event.kind)) is not None:
            step = told(self, event)
            onward, kind, same = _ONWARD.get(event.kind, (None, None, ""))
            if onward is not None and kind is not None:
                following = self._after(index, kind, **{same: getattr(event, same)})
                if following is not None and not following.altered:
                    self._merged.add(following.n)
                    step = replace(step, end=onward(self, following), also=(following.n,))
                elif event.n in self._dead:
                    step = replace(step, stopped=True)
            yield step
        elif event.kind.startswith("model"):
            yield self._model(event)
        elif event.kind is Kind.RELEASED and self._forwarded_next(index, event):
            return
        else:
            yield _mark(self, event)

    def _forwarded_next(self, index: int, event: Event) -> bool:
        return (
            self._after(index, Kind.REQUEST_FORWARDED, request=event.request) is not None
            or self._after(index, Kind.CALL_FORWARDED, call=event.call) is not None
        )

    def _messages(self, index: int, event: Event) -> Step:
        """A run of protocol messages of one life in one step."""
        names = [plain(event.method or "message", 40)]
        also = []
        for following in self._events[index + 1 :]:
            if following.kind is not Kind.MESSAGE or following.incarnation != event.incarnation:
                break
            self._merged.add(following.n)
            also.append(following.n)
            names.append(plain(following.method or "message", 40))
        ends = (runtime(event.incarnation), self.server_of(event))
        start, end = ends[::-1] if event.by == "server" else ends
        return Step(event.n, event.t, start, end, ", ".join(dict.fromkeys(names)), "quiet", also=tuple(also))

    def _model(self, event: Event) -> Step:
        ends = (runtime(event.incarnation), MODEL)
        start, end = ends if event.kind is Kind.MODEL_REQUEST else ends[::-1]
        text, look = _asks(event) if event.kind is Kind.MODEL_REQUEST else _answers(event)
        return Step(event.n, event.t, start, end, text, look)

    def _holds(self) -> Iterator[Hold]:
        """What stood at a wire for a while; ``_dead`` gets what ended there at once."""
        last = self._events[-1].n if self._events else 0
        strikes = [event.n for event in self._events if event.kind is Kind.STRIKE]
        for index, event in enumerate(self._events):
            onward = _ONWARD.get(event.kind)
            if onward is None or self._after(index, onward[1], **{onward[2]: getattr(event, onward[2])}) is not None:
                continue
            lane = TOOL_WIRE if event.kind in (Kind.CALL, Kind.RESULT, Kind.CANCEL) else PROVIDER_WIRE
            ends = (
                one.n
                for one in self._events
                if one.n > event.n and one.kind is onward[1] and getattr(one, onward[2]) == getattr(event, onward[2])
            )
            end = next(ends, None)
            struck = next((n for n in strikes if n >= event.n), None)
            if end is None and struck is None:
                self._dead.add(event.n)
            else:
                yield Hold(lane, event.n, min(end or struck or last, last), end is None)


def _asks(event: Event) -> tuple[str, str]:
    """(text, look) of a request to the model: its turn, and the latest that it is told about a call."""
    asking = event.asking
    if asking is None or asking.turn is None:
        return "asks the model about something else", "quiet"
    if not asking.told:
        return f"asks the model: turn {asking.turn + 1}", "quiet"
    last = asking.told[-1]
    receipts = f" {', '.join(plain(receipt, 40) for receipt in last.receipts)}" if last.receipts else ""
    heard = f"{last.word}{receipts}: {plain(last.text, 60)}" if last.word else "nothing"
    return f"tells the model of ({last.declared + 1}.{last.nth}): {heard}", "answer"


def _answers(event: Event) -> tuple[str, str]:
    """(text, look) of what the model answers."""
    calls = [call for call in event.asked or () if call.declared is not None]
    if not calls:
        return f"says: {plain(event.detail or 'its last word', 80)}", "quiet"
    told = [
        f"asks for ({(call.declared or 0) + 1}.{call.nth}) {plain(call.name, 40)} {fields(call.arguments, 80)}"
        + (" (changed)" if call.changed else "")
        for call in calls
    ]
    return "; ".join(told), "call"


def _call(teller: _Teller, event: Event) -> Step:
    key = f"  key={plain(event.key, 40)}" if event.key is not None else ""
    added = "" if event.declared is not None else " (added)"
    text = f"call {event.call}{added}: {plain(event.tool, 40)} {fields(event.arguments or {}, 100)}{key}"
    return Step(event.n, event.t, runtime(event.incarnation), TOOL_WIRE, text, "call")


def _call_forwarded(teller: _Teller, event: Event) -> Step:
    return Step(event.n, event.t, TOOL_WIRE, teller.server_of(event), f"call {event.call} let through", "call")


def _result(teller: _Teller, event: Event) -> Step:
    return Step(event.n, event.t, teller.server_of(event), TOOL_WIRE, f"call {event.call}: {answer(event.result)}", "answer")


def _delivered(teller: _Teller, event: Event) -> Step:
    made = "made up by the fault: " if event.altered else ""
    text = f"call {event.call}: {made}{answer(event.result)}"
    return Step(event.n, event.t, TOOL_WIRE, teller.runtime_of(event), text, "fault" if event.altered else "answer")


def _request(teller: _Teller, event: Event) -> Step:
    upstream = event.upstream or {}
    what = f"{plain(upstream.get('method', ''), 12)} {plain(upstream.get('path', ''), 40)}".strip() or value(upstream, 80)
    text = f"request {event.request} of call {event.call}: {what} {_body(upstream.get('body'))}"
    return Step(event.n, event.t, teller.server_of(event), PROVIDER_WIRE, text.strip(), "call")


def _request_forwarded(teller: _Teller, event: Event) -> Step:
    return Step(event.n, event.t, PROVIDER_WIRE, PROVIDER, f"request {event.request} let through", "call")


def _commit(teller: _Teller, event: Event) -> Step:
    told = ", ".join(plain(receipt, 40) for receipt in event.receipts or ()) or "nothing"
    extra = bool(teller.surplus & set(event.receipts or ()))
    text = f"{plain(event.effect_class or '', 30)} {told} {'— one too many' if extra else 'takes effect'}"
    return Step(event.n, event.t, PROVIDER, PROVIDER, text, "surplus" if extra else "commit")


def _reply(teller: _Teller, event: Event) -> Step:
    told = f" {', '.join(plain(receipt, 40) for receipt in event.receipts)}" if event.receipts else ""
    new = "" if event.committed or event.committed is None else " (nothing new)"
    return Step(event.n, event.t, PROVIDER, PROVIDER_WIRE, f"request {event.request}: {event.status}{told}{new}", "answer")


def _reply_delivered(teller: _Teller, event: Event) -> Step:
    text = f"request {event.request}: " + ("an error made up by the fault" if event.altered else str(event.status))
    return Step(event.n, event.t, PROVIDER_WIRE, teller.server_of(event), text, "fault" if event.altered else "answer")


def _cancel(teller: _Teller, event: Event) -> Step:
    how = "" if event.by in (None, "notification") else f" ({plain(event.by, 30)})"
    return Step(event.n, event.t, teller.runtime_of(event), TOOL_WIRE, f"cancels call {event.call}{how}", "warn")


def _cancel_delivered(teller: _Teller, event: Event) -> Step:
    return Step(event.n, event.t, TOOL_WIRE, teller.server_of(event), f"cancel of call {event.call} arrives", "warn")


def _lost(teller: _Teller, event: Event) -> Step:
    which = f" of call {event.call}" if event.call is not None else ""
    if teller.closed_before(event):  # the end of a connection that the runtime has left is no fault
        return Step(event.n, event.t, TOOL_WIRE, teller.runtime_of(event), f"connection{which} ends", "quiet")
    return Step(event.n, event.t, TOOL_WIRE, teller.runtime_of(event), f"connection{which} breaks", "fault", stopped=True)


def _strike(teller: _Teller, event: Event) -> Step:
    lane = PROVIDER_WIRE if event.request is not None else TOOL_WIRE
    return Step(event.n, event.t, lane, lane, f"THE FAULT STRIKES: {plain(event.detail or '', 60)}", "strike")


_MOVES: dict[Kind, Callable[[_Teller, Event], Step]] = {
    Kind.CALL: _call,
    Kind.CALL_FORWARDED: _call_forwarded,
    Kind.RESULT: _result,
    Kind.DELIVERED: _delivered,
    Kind.REQUEST: _request,
    Kind.REQUEST_FORWARDED: _request_forwarded,
    Kind.COMMIT: _commit,
    Kind.REPLY: _reply,
    Kind.REPLY_DELIVERED: _reply_delivered,
    Kind.CANCEL: _cancel,
    Kind.CANCEL_DELIVERED: _cancel_delivered,
    Kind.CONNECTION_LOST: _lost,
    Kind.STRIKE: _strike,
}

_ONWARD: dict[Kind, tuple[Callable[[_Teller, Event], str], Kind, str]] = {
    Kind.CALL: (lambda teller, event: teller.server_of(event), Kind.CALL_FORWARDED, "call"),
    Kind.RESULT: (lambda teller, event: teller.runtime_of(event), Kind.DELIVERED, "call"),
    Kind.REQUEST: (lambda teller, event: PROVIDER, Kind.REQUEST_FORWARDED, "request"),
    Kind.REPLY: (lambda teller, event: teller.server_of(event), Kind.REPLY_DELIVERED, "request"),
    Kind.CANCEL: (lambda teller, event: teller.server_of(event), Kind.CANCEL_DELIVERED, "call"),
}
"""What reaches a wire → where it goes on to, by which event, told by which field."""


def _mark(teller: _Teller, event: Event) -> Step:
    lane, text, look = _place(teller, event)
    return Step(event.n, event.t, lane, lane, text, look)


def _place(teller: _Teller, event: Event) -> tuple[str, str, str]:
    """(lane, text, look) of what happens at one place."""
    if event.kind in _LIFE:
        what, look = _LIFE[event.kind]
        again = " again" if event.kind is Kind.RUNTIME_STARTED and (event.incarnation or 1) > 1 else ""
        status = "" if event.status in (None, 0) else f", status {event.status}"
        lane = runtime(event.incarnation) if event.incarnation is not None else server(event.instance)
        return lane, f"{what}{again}{status}", look
    seen = ", ".join(plain(receipt, 40) for receipt in event.receipts or ()) or "nothing"
    match event.kind:
        case Kind.GAVE_UP:
            return teller.runtime_of(event), f"gives up on call {event.call} ({plain(event.by, 30)})", "warn"
        case Kind.OUTCOME:
            return runtime(event.incarnation), _said(event), "claim"
        case Kind.PROBE:
            return PROVIDER, f"the oracle looks while the answer is held: {seen}", "oracle"
        case Kind.DECOY:
            return PROVIDER, f"somebody else's look-alike: {seen}", "quiet"
        case Kind.RETENTION_OVER:
            return PROVIDER, "forgets the key: its retention is over", "warn"
        case Kind.PRIMED:
            return teller.runtime_of(event), f"has an event id of the stream of call {event.call}", "quiet"
        case Kind.RESUMED:
            return teller.runtime_of(event), f"asks for the rest of the stream of call {event.call}", "warn"
        case Kind.LEASE_OVER:
            return TOOL_WIRE, "the killed runtime's own lease is over", "warn"
        case Kind.PROVIDER_KILLED:
            return PROVIDER, "KILLED by the fault", "kill"
        case Kind.PROVIDER_STARTED:
            return PROVIDER, "starts again, on the same port and state", "life"
        case Kind.RELEASED:
            return PROVIDER_WIRE if event.request is not None else TOOL_WIRE, "let go", "quiet"
        case Kind.QUIESCENT:
            return PROVIDER, "nothing is in flight any more; the oracle reads", "oracle"
        case _:
            return TOOL_WIRE, f"{event.kind.value.replace('-', ' ')}: {plain(event.detail or '', 120)}", "quiet"


_LIFE: dict[Kind, tuple[str, str]] = {
    Kind.RUNTIME_STARTED: ("starts", "life"),
    Kind.RUNTIME_KILLED: ("KILLED by the fault", "kill"),
    Kind.RUNTIME_STOPPED: ("STOPPED by the fault", "kill"),
    Kind.RUNTIME_CONTINUED: ("goes on", "life"),
    Kind.RUNTIME_EXITED: ("ends", "life"),
    Kind.SERVER_STARTED: ("starts", "life"),
    Kind.SERVER_KILLED: ("KILLED by the fault", "kill"),
    Kind.SERVER_EXITED: ("ends", "life"),
    Kind.CLOSED: ("closes its connection", "quiet"),
    Kind.STILL_RUNNING: ("still running when its time is over", "warn"),
}
"""What happens to a process: how it is told."""


def _said(event: Event) -> str:
    """The outcome file in a few words."""
    entries = (event.result or {}).get("intents")
    if not isinstance(entries, list):
        return f"says nothing: {plain(event.detail or 'no outcome file', 80)}"
    told = []
    for entry in entries[:8]:
        if isinstance(entry, dict):
            receipt = entry.get("receipt") or ", ".join(map(str, entry.get("receipts") or ()))
            told.append(f"{plain(entry.get('id'), 30)} {plain(entry.get('status'), 20)} {plain(receipt or '', 30)}".strip())
    more = f" and {len(entries) - 8} more" if len(entries) > 8 else ""
    return f"says: {'; '.join(told) or 'nothing'}{more}"


def answer(message: dict[str, Any] | None) -> str:
    """A JSON-RPC answer in a few words."""
    if message is None:
        return "nothing"
    failure = message.get("error")
    if isinstance(failure, dict):
        return f"JSON-RPC error {plain(failure.get('code'), 20)} {plain(failure.get('message'), 80)}"
    result = message.get("result", message)
    if not isinstance(result, dict):
        return value(result, 100)
    wrong = "error " if result.get("isError") else ""
    structured = result.get("structuredContent")
    if isinstance(structured, dict) and (told := _known(structured)):
        return wrong + told
    return wrong + value(structured or _texts(result.get("content")) or result, 100)


def _known(structured: dict[str, Any]) -> str:
    """What our tools answer with, in words; empty for anything else."""
    receipts = structured.get("receipts") if isinstance(structured.get("receipts"), list) else [structured.get("receipt")]
    named = ", ".join(plain(receipt, 40) for receipt in receipts or () if isinstance(receipt, str))
    code = structured.get("code")
    parts = [plain(code, 40)] if isinstance(code, str) else []
    parts += [f"receipt {named}"] if named else []
    parts += ["replayed"] if structured.get("replayed") is True else []
    return ", ".join(parts)


def _texts(content: Any) -> Any:
    """The text of the first block; anything else as it is."""
    blocks: Sequence[Any] = content if isinstance(content, list) else []
    return next(
        (block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)), content
    )


def _body(body: object) -> str:
    if not body:
        return ""
    try:
        parsed = json.loads(body) if isinstance(body, str) else body
    except ValueError:
        return plain(body, 80)
    return fields(parsed, 80) if isinstance(parsed, dict) else value(parsed, 80)
