"""Exposure: the proof, from the order of events, that the fault struck where the cell says.

What the conductor did and saw, never what the runtime did about it. Each boundary has one rule (``_RULES``); a rule collects
the events that must be there in order, and stops at the first that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmark.boundaries import Boundary, Variant
from benchmark.history import Event, History, Kind, asks_for_input
from benchmark.proof import Proof, Unproven, names


@dataclass(frozen=True)
class Exposure:
    """Whether the fault struck, and one sentence with the numbers of the events that show it (or what is lacking)."""

    exposed: bool
    evidence: str


def exposure(history: History) -> Exposure:
    """Exposure of one cell."""
    boundary = history.declaration.cell.boundary
    rule = _control if boundary is Boundary.NONE else _RULES[boundary]
    try:
        return Exposure(True, rule(Proof(history)))
    except Unproven as lacking:
        return Exposure(False, f"not exposed: {lacking}" if boundary is not Boundary.NONE else str(lacking))


def _control(proof: Proof) -> str:
    history = proof.history
    if (running := history.first(Kind.STILL_RUNNING)) is not None:
        raise Unproven(f"the control did not end: still running at #{running.n}")
    if (killed := history.first(Kind.RUNTIME_KILLED)) is not None:
        raise Unproven(f"the control did not end: killed at #{killed.n}")
    if (struck := history.first(Kind.STRIKE)) is not None:
        raise Unproven(f"the control was struck at #{struck.n}")
    exits = list(history.of(Kind.RUNTIME_EXITED))
    if not exits:
        raise Unproven("the control did not end: no exit in the history")
    return f"control: the runtime exited by itself (#{exits[-1].n})"


def _before_dispatch(proof: Proof) -> str:
    strikes = proof.strikes()
    for strike in strikes:
        call = proof.calls[proof.call_of(strike)]
        if call.n > strike.n:
            raise Unproven(f"the call (#{call.n}) came after the strike (#{strike.n})")
        proof.never(f"call {call.call} was forwarded", Kind.CALL_FORWARDED, call=call.call)
    first = proof.calls[proof.call_of(strikes[0])]
    return f"call {first.call} (#{first.n}) taken at the tool wire (#{strikes[0].n}), never forwarded{_more(strikes)}"


def _before_commit(proof: Proof) -> str:
    strikes = proof.strikes()
    for strike in strikes:
        request, call = _held_request(proof, strike)
        if not call.n < request.n < strike.n:
            raise Unproven(f"the order call, upstream request, strike is broken at #{strike.n}")
        proof.never(f"request {strike.request} was let through", Kind.REQUEST_FORWARDED, request=strike.request)
        proof.never(f"request {strike.request} was committed", Kind.COMMIT, request=strike.request)
    request, call = _held_request(proof, strikes[0])
    return (
        f"call {call.call} (#{call.n}) led to upstream request {request.request} (#{request.n}), "
        f"taken (#{strikes[0].n}), never let through{_more(strikes)}"
    )


def _held_request(proof: Proof, strike: Event) -> tuple[Event, Event]:
    """(REQUEST, CALL) of a strike at the provider's front door."""
    request = proof.requests.get(strike.request) if strike.request is not None else None
    if request is None:
        raise Unproven(f"the strike (#{strike.n}) names no upstream request")
    return request, proof.calls[proof.call_of(request)]


def _commit_lost(proof: Proof) -> tuple[Event, Event, Event]:
    """(COMMIT, PROBE, STRIKE) of an answer that never reached the tool server."""
    strikes = proof.strikes()
    first = strikes[0]
    commit = proof.commit_of(first.request, before=first.n)
    probe = proof.probe([commit], before=first.n)
    proof.told_before(proof.call_of(first), before=commit.n)
    for strike in strikes:
        proof.not_replied(strike.request)
    return commit, probe, first


def _after_commit(proof: Proof) -> str:
    commit, probe, strike = _commit_lost(proof)
    return f"{_seen(commit, probe)} before the {_fault(strike)} (#{strike.n}); the answer never reached the tool server"


def _before_delivery(proof: Proof) -> str:
    strikes = proof.strikes()
    for strike in strikes:
        call = proof.call_of(strike)
        proof.need("the tool server's result", Kind.RESULT, call=call, before=strike.n)
        resumed = _resumed(proof, call, strike) if proof.variant is Variant.RESUMABLE else None
        proof.not_delivered(call, before=resumed.n if resumed is not None else None)
    first = strikes[0]
    call = proof.call_of(first)
    result = proof.need("the tool server's result", Kind.RESULT, call=call, before=first.n)
    told = f"the {_fault(first)} (#{first.n}); answer not delivered"
    if proof.variant is Variant.RESUMABLE:
        resumed = _resumed(proof, call, first)
        told += f" until the stream was resumed (#{resumed.n})" if resumed is not None else ", the stream not resumed"
    if proof.is_read(call):
        return f"result of the read (#{result.n}) before {told}"
    commits = proof.commits_of_call(call, before=result.n)
    probe = proof.probe(commits, before=first.n)
    return f"{_seen(commits[-1], probe)}, result (#{result.n}) before {told}"


def _resumed(proof: Proof, call: int, strike: Event) -> Event | None:
    """The stream could be resumed when it broke; when the runtime did so, if it did."""
    proof.need("an event id of the call's stream", Kind.PRIMED, call=call, before=strike.n)
    return proof.history.first(Kind.RESUMED, after=strike.n, call=call)


def _during_cancel(proof: Proof) -> str:
    strike = proof.strikes()[0]
    _, call = _held_request(proof, strike)
    cancel = proof.need("the cancel's delivery", Kind.CANCEL_DELIVERED, after=strike.n, call=call.call)
    through = proof.need("the held request's release", Kind.REQUEST_FORWARDED, request=strike.request)
    if through.n < cancel.n:
        raise Unproven(f"the request (#{through.n}) was let through before the cancel was delivered (#{cancel.n})")
    done = proof.need("its commit", Kind.COMMIT, Kind.REPLY, after=through.n, request=strike.request)
    _before_next_call(proof, strike, done)
    return (
        f"request {strike.request} held (#{strike.n}), cancel delivered (#{cancel.n}) before it was let through "
        f"(#{through.n}) and {_done(done)} (#{done.n})"
    )


def _before_next_call(proof: Proof, strike: Event, done: Event) -> None:
    following = proof.next_mutating(strike.n, proof.call_of(strike))
    if following is not None and following.n < done.n:
        raise Unproven(f"call {following.call} was forwarded (#{following.n}) before the held request ended (#{done.n})")


def _after_timeout(proof: Proof) -> str:
    strike = proof.strikes()[0]
    _, call = _held_request(proof, strike)
    through = proof.need("the held request's release", Kind.REQUEST_FORWARDED, request=strike.request)
    reply = proof.need("its answer", Kind.REPLY, after=through.n, request=strike.request)
    gave_up = _gave_up(proof, strike, call, through)
    proof.never(
        "the cancel reached the tool server first", Kind.CANCEL_DELIVERED, call=call.call, after=strike.n, before=through.n
    )
    order = _late_order(proof, strike, call, through, reply)
    return (
        f"request {strike.request} held (#{strike.n}), given up (#{gave_up.n}) before it was let through (#{through.n}) "
        f"and answered (#{reply.n}), {order}"
    )


def _gave_up(proof: Proof, strike: Event, call: Event, through: Event) -> Event:
    """How the runtime gave up the held call, before the request was let through."""
    for event in proof.history.of(Kind.GAVE_UP, Kind.RUNTIME_EXITED):
        if strike.n < event.n < through.n and event.call in (None, call.call):
            return event
    raise Unproven(f"the runtime had not given up before the request was let through (#{through.n})")


def _late_order(proof: Proof, strike: Event, call: Event, through: Event, reply: Event) -> str:
    """The variant's order, or that of a runtime that ended without a retry: accepted as ``after-exit``."""
    exited = next((e for e in proof.history.of(Kind.RUNTIME_EXITED) if strike.n < e.n < through.n), None)
    committed = [e for e in _later_commits(proof, call) if strike.n < e.n < through.n]
    following = proof.next_mutating(strike.n, call.call or 0)
    as_exit = f"after the runtime's exit (#{exited.n})" if exited is not None else ""
    match proof.variant:
        case Variant.BEFORE_RETRY if following is None or following.n > reply.n:
            return as_exit or "before any further mutating call"
        case Variant.AFTER_RETRY if committed:
            return f"after a later call's own commit (#{committed[0].n})"
        case Variant.AFTER_EXIT if as_exit:
            return as_exit
        case _:
            pass
    retried = [e for e in committed if proof.calls[proof.call_of(e)].declared == call.declared]
    if as_exit and not retried:
        return f"{as_exit} without a retry that committed"
    raise Unproven(f"the request was let through (#{through.n}) out of the order of {proof.variant}")


def _later_commits(proof: Proof, call: Event) -> list[Event]:
    """Committing replies to requests of later calls."""
    found = []
    for event in proof.history.of(Kind.REPLY):
        request = proof.requests.get(event.request)
        later = request is not None and request.call in proof.calls and proof.calls[request.call].n > call.n
        if event.committed and later:
            found.append(event)
    return found


def _restarted(proof: Proof, strike: Event) -> tuple[Event, Event]:
    """(RUNTIME_KILLED, RUNTIME_STARTED of the next incarnation) after the strike."""
    killed = proof.need("the kill", Kind.RUNTIME_KILLED, after=strike.n)
    following = killed.incarnation + 1 if killed.incarnation is not None else 2
    started = proof.need("the next incarnation", Kind.RUNTIME_STARTED, after=killed.n, incarnation=following)
    return killed, started


def _killed_in_flight(proof: Proof) -> tuple[str, Event, Event]:
    """(what was proven, RUNTIME_KILLED, RUNTIME_STARTED): killed while the answer was held."""
    strike = proof.strikes()[0]
    commit = proof.commit_of(strike.request, before=strike.n)
    probe = proof.probe([commit], before=strike.n)
    killed, started = _restarted(proof, strike)
    proof.told_before(proof.call_of(strike), before=commit.n)
    proof.not_delivered(proof.call_of(strike), before=killed.n)
    return f"{_seen(commit, probe)} before the kill (#{killed.n}), answer not delivered", killed, started


def _agent_restart(proof: Proof) -> str:
    if proof.variant is not Variant.DELIVERED:
        proven, _, started = _killed_in_flight(proof)
        return f"{proven}; incarnation {started.incarnation} (#{started.n})"
    strike = proof.strikes()[0]
    call = proof.call_of(strike)
    killed, started = _restarted(proof, strike)
    delivered = next((e for e in proof.history.of(Kind.DELIVERED) if e.call == call and not e.altered), None)
    if delivered is None or delivered.n > killed.n:
        raise Unproven(f"the answer had not been delivered before the kill (#{killed.n})")
    commit = proof.commits_of_call(call, before=delivered.n)[-1]
    return (
        f"commit {names([commit])} (#{commit.n}), answer delivered (#{delivered.n}) before the kill (#{killed.n}); "
        f"incarnation {started.incarnation} (#{started.n})"
    )


def _other_instance(proof: Proof) -> str:
    commit, probe, strike = _commit_lost(proof)
    request = proof.requests[strike.request]
    first = request.instance or commit.instance
    if first is None:
        raise Unproven("the struck request names no instance")
    other = next((e for e in proof.history.of(Kind.SERVER_STARTED) if e.instance not in (None, first)), None)
    if other is None:
        raise Unproven("no other instance was started")
    ended = [e.n for e in proof.history.of(Kind.RUNTIME_EXITED, Kind.STILL_RUNNING)]
    gone = (Kind.SERVER_KILLED, Kind.SERVER_EXITED)
    proof.never(
        f"instance {first} was gone before the runtime ended", *gone, instance=first, before=max(ended, default=None)
    )
    proof.never(f"instance {first} was given a later call", Kind.CALL_FORWARDED, instance=first, after=strike.n)
    return (
        f"{_seen(commit, probe)} on instance {first} before the {_fault(strike)} (#{strike.n}); "
        f"instance {other.instance} up (#{other.n}), {first} alive"
    )


def _token_expired(proof: Proof) -> str:
    proven, killed, started = _killed_in_flight(proof)
    over = proof.need("the end of the retention", Kind.RETENTION_OVER, after=killed.n, before=started.n)
    return f"{proven}; retention over (#{over.n}) before incarnation {started.incarnation} (#{started.n})"


def _repair_drift(proof: Proof) -> str:
    drift = proof.history.declaration.workload.drift
    if drift is None:
        raise Unproven("the workload has no drift")
    change = drift.free if proof.variant is Variant.FREE else drift.binding
    if proof.history.declaration.model:
        commit, probe, strike = _commit_lost(proof)
        reply = _changed_reply(proof, strike)
        return (
            f"{_seen(commit, probe)} before the {_fault(strike)} (#{strike.n}); "
            f"then the model asked again with another {change.argument} (#{reply.n})"
        )
    proven, _, started = _killed_in_flight(proof)
    return f"{proven}; incarnation {started.incarnation} (#{started.n}) planned with another {change.argument}"


def _changed_reply(proof: Proof, strike: Event) -> Event:
    """The reply in which the model asks for the struck call with a changed argument."""
    declared = proof.calls[proof.call_of(strike)].declared
    for event in proof.history.of(Kind.MODEL_REPLY):
        if event.n > strike.n and any(asked.changed and asked.declared == declared for asked in event.asked or ()):
            return event
    raise Unproven(f"the model did not ask again with a changed argument after #{strike.n}")


def _provider_crash(proof: Proof) -> str:
    commit, probe, strike = _commit_lost(proof)
    killed = proof.need("the provider's death", Kind.PROVIDER_KILLED, after=strike.n)
    started = proof.need("the provider's next start", Kind.PROVIDER_STARTED, after=killed.n)
    proof.never("a request was let through to no provider", Kind.REQUEST_FORWARDED, after=commit.n, before=started.n)
    return f"{_seen(commit, probe)} before the provider was killed (#{killed.n}); up again (#{started.n}), answer lost"


def _lookup_failure(proof: Proof) -> str:
    commit, probe, strike = _commit_lost(proof)
    contract = proof.history.declaration.contracts.get(proof.calls[proof.call_of(strike)].tool or "")
    tool = contract.lookup.tool if contract is not None and contract.lookup is not None else None
    taken = proof.strikes()[1:]
    if len(taken) != 1:
        raise Unproven(f"{len(taken)} look-ups were taken, not one")
    look = proof.calls[proof.call_of(taken[0])]
    if look.tool != tool or look.declared is not None:
        raise Unproven(f"call {look.call} (#{look.n}) is no look-up of the struck call's contract")
    if not strike.n < look.n < taken[0].n:
        raise Unproven(f"the order loss, look-up, strike is broken at #{taken[0].n}")
    for event in proof.history.of(Kind.CALL_FORWARDED):
        call = proof.calls.get(event.call)
        if call is not None and call.tool == tool and call.declared is None and strike.n < event.n < taken[0].n:
            raise Unproven(f"an earlier look-up was forwarded (#{event.n})")
    proof.never(f"look-up {look.call} was forwarded", Kind.CALL_FORWARDED, call=look.call)
    proof.not_delivered(proof.call_of(taken[0]))
    return (
        f"{_seen(commit, probe)} before its answer was lost (#{strike.n}); look-up {look.call} (#{look.n}) "
        f"taken at the tool wire (#{taken[0].n})"
    )


def _double_resume(proof: Proof) -> str:
    commit, probe, strike = _commit_lost(proof)
    call = proof.call_of(strike)
    stopped = proof.need("the first runtime's stop", Kind.RUNTIME_STOPPED, after=strike.n, incarnation=1)
    proof.need("the second runtime", Kind.RUNTIME_STARTED, after=stopped.n, incarnation=2)
    ended = proof.need("the second runtime's end", Kind.RUNTIME_EXITED, Kind.STILL_RUNNING, after=stopped.n, incarnation=2)
    went_on = proof.need("the first runtime's going on", Kind.RUNTIME_CONTINUED, after=ended.n, incarnation=1)
    proof.never("the first runtime died", Kind.RUNTIME_KILLED, Kind.RUNTIME_EXITED, incarnation=1, before=went_on.n)
    proof.never("the stopped runtime spoke", Kind.CALL, incarnation=1, after=stopped.n, before=went_on.n)
    proof.not_delivered(call, before=went_on.n)
    return (
        f"{_seen(commit, probe)} before the first runtime was stopped (#{stopped.n}); the second lived from start to end "
        f"(#{ended.n}) before the first went on (#{went_on.n})"
    )


def _lease_expired(proof: Proof) -> str:
    proven, killed, started = _killed_in_flight(proof)
    if proof.variant is Variant.AFTER_LEASE:
        over = proof.need("the end of the lease", Kind.LEASE_OVER, after=killed.n, before=started.n)
        return f"{proven}; its lease over (#{over.n}) before incarnation {started.incarnation} (#{started.n})"
    first = proof.need("the first start", Kind.RUNTIME_STARTED)
    lease_s = proof.history.declaration.lease_s
    # A lease is taken no earlier than its holder starts: before that much time has passed it cannot be over.
    if lease_s is None or started.t - first.t >= lease_s:
        raise Unproven(f"the lease may have been over before incarnation {started.incarnation} (#{started.n})")
    return f"{proven}; incarnation {started.incarnation} (#{started.n}) while its lease of {lease_s:g} s lived"


def _input_required(proof: Proof) -> str:
    strike = proof.strikes()[0]
    call = proof.call_of(strike)
    result = proof.need("the tool server's result", Kind.RESULT, call=call, before=strike.n)
    commits = proof.commits_of_call(call, before=result.n)
    probe = proof.probe(commits, before=strike.n)
    asked = proof.need("the request for input", Kind.DELIVERED, after=strike.n, call=call)
    if not asked.altered or not asks_for_input(asked.result):
        raise Unproven(f"the answer that was delivered (#{asked.n}) does not ask for input")
    declared = proof.calls[call].declared
    proof.never("the call was sent again before", Kind.CALL, declared=declared, after=result.n, before=asked.n)
    proof.not_delivered(call)
    return f"{_seen(commits[-1], probe)}, result (#{result.n}) before input was asked for (#{asked.n}) in its place"


def _seen(commit: Event, probe: Event) -> str:
    return f"commit {names([commit])} (#{commit.n}) seen by the oracle (#{probe.n})"


def _fault(strike: Event) -> str:
    return strike.detail if strike.detail not in (None, "", "-") else "strike"


def _done(event: Event) -> str:
    return "committed" if event.kind is Kind.COMMIT else "answered"


def _more(strikes: Sequence[Event]) -> str:
    return f" ({len(strikes)} strikes)" if len(strikes) > 1 else ""


_RULES: dict[Boundary, Callable[[Proof], str]] = {
    Boundary.BEFORE_DISPATCH: _before_dispatch,
    Boundary.BEFORE_COMMIT: _before_commit,
    Boundary.AFTER_COMMIT: _after_commit,
    Boundary.BEFORE_DELIVERY: _before_delivery,
    Boundary.DURING_CANCEL: _during_cancel,
    Boundary.AFTER_TIMEOUT: _after_timeout,
    Boundary.AGENT_RESTART: _agent_restart,
    Boundary.OTHER_INSTANCE: _other_instance,
    Boundary.TOKEN_EXPIRED: _token_expired,
    Boundary.REPAIR_DRIFT: _repair_drift,
    Boundary.PROVIDER_CRASH: _provider_crash,
    Boundary.LOOKUP_FAILURE: _lookup_failure,
    Boundary.DOUBLE_RESUME: _double_resume,
    Boundary.LEASE_EXPIRED: _lease_expired,
    Boundary.INPUT_REQUIRED: _input_required,
}
