"""What the struck call looked like to the runtime, and what the runtime then did: results, never part of the proof."""

from __future__ import annotations

from benchmark.history import Event, History, Kind, asks_for_input
from benchmark.scoring import answers
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.twins import twins_of


def struck_call(about: Attribution) -> tuple[Event, Event | None] | None:
    """(first STRIKE, the CALL it struck); None in a control."""
    strike = about.history.first(Kind.STRIKE)
    if strike is None:
        return None
    number = about.call_of(strike)
    return strike, about.calls.get(number) if number is not None else None


def reaction(about: Attribution) -> str:
    """retried, resumed, answered (a request for input), looked-up, cancelled, gave-up: joined with ``+``; or nothing."""
    struck = struck_call(about)
    if struck is None:
        return "nothing"
    strike, call = struck
    after = [event for event in about.history.events if event.n > strike.n]
    calls = [event for event in after if event.kind is Kind.CALL]
    retried = call is not None and _retried(about, strike, call)
    found = ["retried"] if retried else []
    resumed = call is not None and any(event.kind is Kind.RESUMED and event.call == call.call for event in after)
    if resumed:
        found.append("resumed")
    answered = any(event.call in about.demanded for event in calls)
    if answered:
        found.append("answered")
    if any(event.declared is None for event in calls):
        found.append("looked-up")
    if any(event.kind is Kind.CANCEL for event in after):
        found.append("cancelled")
    if not (retried or answered or resumed) and any(
        event.kind is Kind.GAVE_UP or _ended_itself(about.history, event) for event in after
    ):
        found.append("gave-up")
    return "+".join(found) or "nothing"


def _retried(about: Attribution, strike: Event, call: Event) -> bool:
    """More attempts after the strike than twins of the struck call were still to be sent."""
    declared = about.declared_of(call.call)
    if declared is None:
        return False
    twins = twins_of(about, declared)
    attempts = [event for event in about.attempts(twins) if event.call not in about.demanded]
    before = sum(event.n < strike.n for event in attempts)
    return len(attempts) - before > max(0, len(twins) - before)


def _ended_itself(history: History, event: Event) -> bool:
    if event.kind is not Kind.RUNTIME_EXITED:
        return False
    return history.first(Kind.RUNTIME_KILLED, incarnation=event.incarnation) is None


def seen_as(about: Attribution) -> str:
    """How the struck call ended for the runtime; empty in a control."""
    struck = struck_call(about)
    if struck is None or struck[1] is None:
        return ""
    call = struck[1]
    for event in about.history.events:
        if event.kind is Kind.STILL_RUNNING:
            break
        if event.n > call.n:
            ending = _ending(call, event)
            if ending:
                return ending
    return "nothing"


def _ending(call: Event, event: Event) -> str:
    """What this event is to the runtime that waits for the call; empty: not an ending."""
    mine = event.call == call.call
    same_life = event.incarnation in (None, call.incarnation)
    match event.kind:
        case Kind.DELIVERED if mine:
            return _answer(event)
        case Kind.CONNECTION_LOST if mine or (event.call is None and same_life):
            return "disconnected by the runtime" if event.by == "runtime" else "connection lost"
        case Kind.CANCEL if mine:
            return "cancelled by the runtime"
        case Kind.RUNTIME_KILLED if same_life:
            return "killed"
        case _:
            return ""


def _answer(event: Event) -> str:
    error = answers.rpc_error(event)
    if error is not None:
        code = error.get("code", "?")
        return f"http {code}" if isinstance(code, int) and 400 <= code < 600 else f"json-rpc error {code}"
    result = answers.payload(event)
    if result is None:
        return f"http {event.status}" if event.status is not None else "no result"
    if asks_for_input(event.result):
        return "asked for input"
    if not result.get("isError", False):
        return "bad result" if event.altered else "result"
    code = answers.structured(event).get("code")
    return f"is-error:{code}" if isinstance(code, str) else f"is-error:{_text(result)}"


def _text(result: dict[str, object]) -> str:
    content = result.get("content")
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return str(block["text"])[:60]
    return "?"
