"""The funnel (who amplified) and whom to blame for extra effects.

Stages: intents (effects declared), the model's askings, calls, upstream requests, effects. Only what could take effect is
counted when blame is given: a call that was never let through multiplies nothing. The model multiplies where, within one
conversation, it asked again for a call that it had asked for; a repetition in a conversation that has forgotten the first
asking is the doing of whoever forgot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.contracts import Contract
from benchmark.effects import Effect
from benchmark.history import Event, Kind
from benchmark.intents import json_equal
from benchmark.results import Blame
from benchmark.scoring import answers
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.effects import Partition
from benchmark.scoring.groups import Group

_ORDER = (Blame.MODEL, Blame.RUNTIME, Blame.TOOL_SERVER, Blame.PROVIDER)


def funnel(about: Attribution, effects: Partition) -> dict[str, int]:
    """Totals per stage over the whole cell."""
    return {
        "intents": effects.declared,
        "model_requests": model_requests(about),
        "calls": len(about.calls),
        "upstream_requests": len(about.requests),
        "effects": len(effects.observed),
    }


def model_requests(about: Attribution) -> int:
    """Requests on the model wire."""
    return sum(1 for _ in about.history.of(Kind.MODEL_REQUEST))


@dataclass(frozen=True)
class Account:
    """One extra effect, or group of slots with too many, traced back to the stage that multiplied."""

    subject: Effect | Group
    who: Blame | None
    why: str


def blame(about: Attribution, effects: Partition) -> Blame | None:
    """The first stage that multiplied, over all groups with extra effects and all strays; None without extra."""
    guilty = [account.who for account in accounts(about, effects) if account.who is not None]
    return min(guilty, key=_ORDER.index) if guilty else None


def accounts(about: Attribution, effects: Partition) -> tuple[Account, ...]:
    """Everything extra, each with whom to blame; strays first."""
    if not effects.extra:
        return ()
    strays = [Account(effect, *_stray_blame(about, effect)) for effect in _strays(about, effects)]
    return (*strays, *(Account(group, *_group_blame(about, effects, group)) for group in _amplified(about, effects)))


def invited(about: Attribution, effects: Partition) -> bool:
    """Before a surplus call the runtime had been told to re-issue: not executed, in progress, or its session was lost."""
    return any(
        _was_invited(about, about.declared_in(group), call)
        for group in _amplified(about, effects)
        for call in about.attempts(about.declared_in(group))[1:]
    )


def spec_mandated(about: Attribution, effects: Partition) -> int:
    """Duplicates made by calls that the specification demanded: sent again with the input that was asked for."""
    found = 0
    for group in _amplified(about, effects):
        again = sum(group.takes(e) and about.committed_by.get(e.receipt) in about.demanded for e in effects.observed)
        found += min(again, max(0, effects.present[group.number] - effects.wanted[group.number]))
    return found


def _strays(about: Attribution, effects: Partition) -> Iterator[Effect]:
    yield from effects.strays
    for effect in effects.compensated:
        if not any(group.takes(effect) for group in about.groups):
            yield effect


def _amplified(about: Attribution, effects: Partition) -> Iterator[Group]:
    """Groups that hold a duplicate or a compensated effect."""
    for group in about.groups:
        undone = any(group.takes(effect) for effect in effects.compensated)
        if undone or effects.present[group.number] > effects.wanted[group.number]:
            yield group


def _stray_blame(about: Attribution, effect: Effect) -> tuple[Blame, str]:
    """The runtime, unless the call that made it had the declared binding arguments."""
    if effect.receipt not in about.committed_by:
        if any(not _as_declared(about, call) for call in about.calls.values() if call.tool in about.contracts):
            return Blame.RUNTIME, "the wire saw no commit of it, and a call had other binding arguments than declared"
        return Blame.PROVIDER, "the wire saw no commit of it, and every call was as declared"
    number = about.committed_by[effect.receipt]
    call = about.calls.get(number) if number is not None else None
    if call is None:
        return Blame.TOOL_SERVER, "the request that made it belongs to no call"
    asking = about.asked_by(call)
    if asking is not None and asking.changed:
        return Blame.MODEL, f"the model asked for call {call.call} that made it with a changed argument"
    if _as_declared(about, call):
        return Blame.TOOL_SERVER, f"call {call.call} that made it had the declared binding arguments"
    return Blame.RUNTIME, f"call {call.call} that made it had other binding arguments than declared"


def _as_declared(about: Attribution, call: Event) -> bool:
    declared = about.declared_of(call.call)
    contract = about.contract_of(call.call)
    if declared is None or contract is None:
        return False
    return _same_binding(contract, about.declared_calls[declared][2].arguments, call.arguments or {})


def _same_binding(contract: Contract, left: dict[str, Any], right: dict[str, Any]) -> bool:
    return all(json_equal(left.get(name), right.get(name)) for name in contract.binding)


def _group_blame(about: Attribution, effects: Partition, group: Group) -> tuple[Blame | None, str]:
    """Who multiplied first for this group; None: nobody did more than was asked for."""
    declared = about.declared_in(group)
    calls = [call for call in about.attempts(declared) if _upstream_for(about, call.call, group)]
    surplus = len(calls) - len(declared)
    told = f"{_many(len(calls), 'call')} that could take effect for {len(declared)} declared"
    if surplus > 0:
        repeats = [call for call in calls if _is_keyed_repeat(about, call)]
        demanded = [call for call in calls if call.call in about.demanded and call not in repeats]
        own = surplus - len(repeats) - len(demanded)
        if own > 0:
            askings = {(asking.declared, asking.nth) for call in calls if (asking := about.asked_by(call)) is not None}
            if len(askings) > len(declared):
                again = _many(len(askings) - len(declared), "time")
                return Blame.MODEL, f"{told}; within one conversation the model asked again {again}"
            return Blame.RUNTIME, f"{told}; {own} surplus, without a live key that promises a replay"
        if demanded:
            return Blame.TOOL_SERVER, f"{told}; the surplus was sent again because the tool server asked for input"
        if all(_key_went_up(about, call) for call in repeats):
            return Blame.PROVIDER, f"{told}; the surplus carried the same live key, which went upstream"
        return Blame.TOOL_SERVER, f"{told}; the surplus carried the same live key, which did not go upstream"
    orphans = _upstream_for(about, None, group)
    requests = orphans + sum(_upstream_for(about, call.call, group) for call in calls)
    made = sum(group.takes(effect) for effect in effects.observed)
    told = f"{_many(len(calls), 'call')}, {_many(requests, 'upstream request')}, {_many(made, 'effect')}"
    if requests > len(calls) * (len(group.places) // len(declared)):
        return Blame.TOOL_SERVER, f"{told}: more requests than the calls ask for"
    if made > requests:
        return Blame.PROVIDER, f"{told}: more effects than requests"
    return None, f"{told}: no stage did more than it was asked for"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _effective_requests(about: Attribution, call: int | None) -> Sequence[Event]:
    """Requests that may have changed something: committed, or let through and never answered."""
    committed = {event.request for event in about.commits}
    forwarded = {event.request for event in about.history.of(Kind.REQUEST_FORWARDED)}
    replied = {event.request for event in about.history.of(Kind.REPLY)}
    return [
        r for r in about.requests.values() if r.call == call and (r.request in committed or r.request in forwarded - replied)
    ]


def _upstream_for(about: Attribution, call: int | None, group: Group) -> int:
    """Effective requests of a call that may have filled this group: all those not known to have filled another."""
    takers = {effect.receipt: group.takes(effect) for effect in about.history.reading.final}
    receipts = {event.request: event.receipts or () for event in about.commits}
    made = (receipts.get(request.request) for request in _effective_requests(about, call))
    return sum(not mine or any(takers.get(receipt, True) for receipt in mine) for mine in made)


def _is_keyed_repeat(about: Attribution, call: Event) -> bool:
    """It carries an earlier call's live key and binding arguments, under a contract that promises to recognise it."""
    contract = about.contract_of(call.call)
    if contract is None or contract.key is None or contract.key.on_repeat == "new" or call.key is None:
        return False
    for earlier in about.calls.values():
        same = earlier.tool == call.tool and earlier.key == call.key
        if earlier.n < call.n and same and _same_binding(contract, earlier.arguments or {}, call.arguments or {}):
            return _key_lives(about, contract.key.retention_s, call)
    return False


def _key_lives(about: Attribution, retention_s: float | None, repeat: Event) -> bool:
    """From the first commit under the key to the repeat, the retention was not over."""
    same = {event.call for event in about.calls.values() if event.key == repeat.key and event.tool == repeat.tool}
    first = next((event for event in about.commits if about.call_of(event) in same), None)
    if first is None or retention_s is None:
        return True
    over = about.history.first(Kind.RETENTION_OVER, after=first.n)
    return (over is None or over.n > repeat.n) and repeat.t - first.t < retention_s


def _key_went_up(about: Attribution, call: Event) -> bool:
    """The key, or KEY/i, stands somewhere in each of the call's upstream requests."""
    key = call.key or ""
    requests = about.requests_of(call.call or 0)
    return all(any(text == key or text.startswith(f"{key}/") for text in _texts(r.upstream)) for r in requests)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _session_lost(event: Event) -> bool:
    """An HTTP 404 for a session: the specification asks for a new one, and so for the call again."""
    error = answers.rpc_error(event) or {}
    return error.get("code") == 404 or "session" in str(error.get("message", "")).lower()


def _was_invited(about: Attribution, declared: Sequence[int], call: Event) -> bool:
    contract = about.contract_of(call.call)
    for event in about.history.of(Kind.DELIVERED, Kind.CONNECTION_LOST):
        if event.n >= call.n or event.incarnation not in (None, call.incarnation):
            continue
        if event.status == 404 or _session_lost(event):
            return True
        if contract is None or event.altered or about.declared_of(event.call) not in declared:
            continue
        if answers.says(event, contract.answers.not_executed) or answers.says(event, contract.answers.in_progress):
            return True
    return False
