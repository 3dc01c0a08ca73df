"""Every boundary's exposure is proven by its order of events, and by no other order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.exposure import exposure
from benchmark.history import Asked, Event, History, Kind
from tests.unit.histories import (
    INPUT,
    LOST,
    ONE,
    READ,
    SETTLING,
    TWINS,
    Story,
    added,
    asked,
    changed,
    control,
    moved,
    of,
    reset,
    success,
    without,
)

Mutation = Callable[[History], History]


def before_dispatch() -> History:
    story = Story(boundary=Boundary.BEFORE_DISPATCH, manifestation=Manifestation.RESET).start()
    call = story.call(forward=False)
    story.strike(call)
    story.add(Kind.CONNECTION_LOST, incarnation=1, call=call)
    receipt = story.succeed()
    return story.finish(i=("committed", receipt))


def before_commit() -> History:
    story = Story(boundary=Boundary.BEFORE_COMMIT, manifestation=Manifestation.RESET).start()
    call = story.call()
    request = story.request(call, through=False)
    story.strike(call, request)
    story.answer(call, LOST)
    receipt = story.succeed()
    return story.finish(i=("committed", receipt))


def after_commit() -> History:
    return reset().finish(i="unresolved")


def before_delivery() -> History:
    story = Story(boundary=Boundary.BEFORE_DELIVERY, manifestation=Manifestation.IS_ERROR).start()
    call = story.call()
    receipt = story.commit(story.request(call))
    story.result(call, success(receipt))
    story.probe(receipt)
    story.strike(call)
    story.deliver(call, {"result": {"isError": True, "content": []}}, altered=True)
    return story.finish(i="error")


def read_before_delivery() -> History:
    story = Story(READ, boundary=Boundary.BEFORE_DELIVERY, manifestation=Manifestation.SILENCE).start()
    call = story.call()
    story.result(call, {"result": {"structuredContent": {"found": []}}})
    story.strike(call)
    return story.finish(r="error")


def resumable() -> History:
    story = Story(boundary=Boundary.BEFORE_DELIVERY, variant=Variant.RESUMABLE, manifestation=Manifestation.RESET).start()
    call = story.call()
    story.add(Kind.PRIMED, call=call)
    receipt = story.commit(story.request(call))
    story.result(call, success(receipt))
    story.probe(receipt)
    story.strike(call)
    story.add(Kind.CONNECTION_LOST, incarnation=1, call=call)
    story.add(Kind.RESUMED, incarnation=1, call=call)
    story.deliver(call, success(receipt))
    return story.finish(i=("committed", receipt))


def held(boundary: Boundary, variant: Variant = Variant.NONE) -> tuple[Story, int, int]:
    """A story up to the hold of its first request."""
    story = Story(TWINS, boundary=boundary, variant=variant, manifestation=Manifestation.SILENCE).start()
    call = story.call()
    request = story.request(call, through=False)
    story.strike(call, request)
    return story, call, request


def let_through(story: Story, request: int) -> None:
    story.add(Kind.RELEASED, request=request)
    story.add(Kind.REQUEST_FORWARDED, request=request)
    story.commit(request)


def during_cancel() -> History:
    story, call, request = held(Boundary.DURING_CANCEL)
    story.add(Kind.CANCEL, call=call, incarnation=1, by="notification")
    story.add(Kind.GAVE_UP, call=call, by="cancel")
    story.add(Kind.CANCEL_DELIVERED, call=call)
    let_through(story, request)
    story.succeed(1)
    return story.finish(i="error", j=("committed", "ch_2"))


def late_before_retry() -> History:
    story, call, request = held(Boundary.AFTER_TIMEOUT, Variant.BEFORE_RETRY)
    story.add(Kind.GAVE_UP, call=call, by="cancel")
    retry = story.call(forward=False)
    let_through(story, request)
    story.add(Kind.CALL_FORWARDED, call=retry, instance="a")
    receipt = story.commit(story.request(retry))
    story.answer(retry, success(receipt))
    return story.finish(i=("committed", receipt))


def late_after_retry() -> History:
    story, call, request = held(Boundary.AFTER_TIMEOUT, Variant.AFTER_RETRY)
    story.add(Kind.GAVE_UP, call=call, by="cancel")
    receipt = story.succeed()
    let_through(story, request)
    return story.finish(i=("committed", receipt))


def late_after_exit(variant: Variant = Variant.AFTER_EXIT) -> History:
    story, call, request = held(Boundary.AFTER_TIMEOUT, variant)
    story.add(Kind.GAVE_UP, call=call, by="outcome")
    story.finish(i="error")
    let_through(story, request)
    return story.history()


def killed(boundary: Boundary, variant: Variant = Variant.NONE) -> History:
    story = Story(boundary=boundary, variant=variant).start()
    call = story.call()
    request = story.request(call)
    receipt = story.commit(request)
    story.probe(receipt)
    story.strike(call, request)
    story.add(Kind.RUNTIME_KILLED, incarnation=1, pid=2)
    if boundary is Boundary.TOKEN_EXPIRED:
        story.add(Kind.RETENTION_OVER)
    story.start(2, instance="b")
    return story.finish(i="unresolved")


def in_flight() -> History:
    return killed(Boundary.AGENT_RESTART, Variant.IN_FLIGHT)


def delivered() -> History:
    story = Story(boundary=Boundary.AGENT_RESTART, variant=Variant.DELIVERED).start()
    call = story.call()
    receipt = story.commit(story.request(call))
    story.answer(call, success(receipt))
    story.strike(call)
    story.add(Kind.RUNTIME_KILLED, incarnation=1, pid=2)
    story.start(2, instance="b")
    return story.finish(i="unresolved")


def other_instance() -> History:
    story = Story(boundary=Boundary.OTHER_INSTANCE, manifestation=Manifestation.RESET).start()
    call = story.call()
    request = story.request(call)
    story.probe(story.commit(request))
    story.add(Kind.SERVER_STARTED, instance="b", pid=3)
    story.strike(call, request)
    story.answer(call, LOST)
    story.instance = "b"
    receipt = story.succeed()
    history = story.finish(i=("committed", receipt))
    return added(history, Kind.SERVER_EXITED, after=of(Kind.RUNTIME_EXITED), instance="a", status=0)


def token_expired() -> History:
    return killed(Boundary.TOKEN_EXPIRED)


def repair_drift() -> History:
    return killed(Boundary.REPAIR_DRIFT, Variant.BINDING)


def repair_drift_by_model() -> History:
    story = Story(boundary=Boundary.REPAIR_DRIFT, variant=Variant.BINDING, manifestation=Manifestation.RESET, model=True)
    story.start()
    story.asks(0)
    call = story.call()
    request = story.request(call)
    story.probe(story.commit(request))
    story.strike(call, request)
    story.add(Kind.REPLY_DELIVERED, request=request, altered=True)
    story.answer(call, LOST)
    story.tells((0, 1, "error"))
    story.asks(0, 2, amount=999)
    story.succeed(arguments={"amount": 999})
    return story.finish(i="error")


def provider_crash() -> History:
    story = Story(boundary=Boundary.PROVIDER_CRASH, manifestation=Manifestation.RESET).start()
    call = story.call()
    request = story.request(call)
    story.probe(story.commit(request))
    story.strike(call, request)
    story.add(Kind.PROVIDER_KILLED, pid=7)
    story.add(Kind.REPLY_DELIVERED, request=request, altered=True)
    story.answer(call, LOST)
    story.add(Kind.PROVIDER_STARTED, pid=8)
    return story.finish(i=("committed", story.succeed()))


def lookup_failure() -> History:
    story = Story(ONE, SETTLING, Boundary.LOOKUP_FAILURE, manifestation=Manifestation.ERROR).start()
    call = story.call()
    request = story.request(call)
    story.probe(story.commit(request))
    story.strike(call, request)
    story.add(Kind.REPLY_DELIVERED, request=request, altered=True)
    story.answer(call, LOST)
    look = story.call(None, forward=False)
    story.strike(look)
    story.deliver(look, {"error": {"code": -32603, "message": "internal error"}}, altered=True)
    return story.finish(i="unresolved")


def double_resume() -> History:
    story = Story(boundary=Boundary.DOUBLE_RESUME).start()
    call = story.call()
    request = story.request(call)
    story.probe(story.commit(request))
    story.strike(call, request)
    story.add(Kind.RUNTIME_STOPPED, incarnation=1, pid=2)
    story.start(2, instance="b")
    story.finish(i="unresolved")
    story.incarnation = 1
    story.add(Kind.RUNTIME_CONTINUED, incarnation=1, pid=2)
    story.add(Kind.CANCEL, call=call, incarnation=1, by="notification")
    return story.finish(i="error")


def at_once() -> History:
    history = killed(Boundary.LEASE_EXPIRED, Variant.AT_ONCE)
    return history.model_copy(update={"declaration": history.declaration.model_copy(update={"lease_s": 0.5})})


def after_lease() -> History:
    history = killed(Boundary.LEASE_EXPIRED, Variant.AFTER_LEASE)
    return added(history, Kind.LEASE_OVER, after=of(Kind.RUNTIME_KILLED))


def input_required() -> History:
    story = asked(Variant.WITH_STATE)
    story.deliver(story.call(inputs=INPUT, state="s", forward=False), success("ch_1"))
    return story.finish(i=("committed", "ch_1"))


EXPOSED: dict[str, Callable[[], History]] = {
    "before-dispatch": before_dispatch,
    "before-commit": before_commit,
    "after-commit": after_commit,
    "before-delivery": before_delivery,
    "before-delivery of a read": read_before_delivery,
    "before-delivery resumable": resumable,
    "during-cancel": during_cancel,
    "after-timeout before-retry": late_before_retry,
    "after-timeout after-retry": late_after_retry,
    "after-timeout after-exit": late_after_exit,
    "agent-restart in-flight": in_flight,
    "agent-restart delivered": delivered,
    "other-instance": other_instance,
    "token-expired": token_expired,
    "repair-drift": repair_drift,
    "repair-drift by a model": repair_drift_by_model,
    "provider-crash": provider_crash,
    "lookup-failure": lookup_failure,
    "double-resume": double_resume,
    "lease-expired at-once": at_once,
    "lease-expired after-lease": after_lease,
    "input-required": input_required,
}


@pytest.mark.parametrize("name", EXPOSED)
def test_the_right_order_is_exposed(name: str) -> None:
    found = exposure(EXPOSED[name]())
    assert found.exposed, found.evidence
    assert "#" in found.evidence


@pytest.mark.parametrize("name", EXPOSED)
def test_without_its_strike_nothing_is_exposed(name: str) -> None:
    found = exposure(without(EXPOSED[name](), of(Kind.STRIKE)))
    assert not found.exposed
    assert found.evidence == "not exposed: the fault never struck"


def test_a_stream_that_could_be_resumed_is_exposed_although_nobody_resumed_it() -> None:
    found = exposure(without(without(resumable(), of(Kind.RESUMED)), of(Kind.DELIVERED)))
    assert found.exposed
    assert found.evidence.endswith("the stream not resumed")


def test_every_boundary_has_an_exposed_example() -> None:
    assert {example().declaration.cell.boundary for example in EXPOSED.values()} == set(Boundary) - {Boundary.NONE}


_COMMIT, _PROBE, _STRIKE = of(Kind.COMMIT), of(Kind.PROBE), of(Kind.STRIKE)
_KILL, _SECOND = of(Kind.RUNTIME_KILLED), of(Kind.RUNTIME_STARTED, incarnation=2)
_THROUGH = of(Kind.REQUEST_FORWARDED, request=1)


def _CHANGED(event: Event) -> bool:  # noqa: N802 - a selector, like those of ``of``
    return any(asked.changed for asked in event.asked or ())


def _asked(history: History) -> Asked:
    """The asking with a changed argument."""
    return next(asked for event in history.events for asked in event.asked or () if asked.changed)


_RESTART: dict[str, Mutation] = {
    "strike before the commit": lambda h: moved(h, _STRIKE, before=_COMMIT),
    "no probe": lambda h: without(h, _PROBE),
    "probe after the strike": lambda h: moved(h, _PROBE, after=_STRIKE),
    "no commit": lambda h: without(h, _COMMIT),
    "no kill": lambda h: without(h, _KILL),
    "never started again": lambda h: without(h, _SECOND),
    "started again before the kill": lambda h: moved(h, _SECOND, before=_KILL),
    "answer delivered before the kill": lambda h: added(
        h, Kind.DELIVERED, after=_STRIKE, call=1, result=success("ch_1"), altered=False
    ),
}

BROKEN: dict[str, dict[str, Mutation]] = {
    "before-dispatch": {
        "forwarded": lambda h: added(h, Kind.CALL_FORWARDED, after=_STRIKE, call=1, instance="a"),
        "call after the strike": lambda h: moved(h, of(Kind.CALL, call=1), after=_STRIKE),
    },
    "before-commit": {
        "let through": lambda h: added(h, Kind.REQUEST_FORWARDED, after=_STRIKE, request=1),
        "committed": lambda h: added(h, Kind.COMMIT, after=_STRIKE, request=1, receipts=("ch_9",)),
        "request after the strike": lambda h: moved(h, of(Kind.REQUEST, request=1), after=_STRIKE),
        "no request": lambda h: without(h, of(Kind.REQUEST, request=1)),
    },
    "after-commit": {
        "no commit": lambda h: without(h, _COMMIT),
        "strike before the commit": lambda h: moved(h, _STRIKE, before=_COMMIT),
        "no probe": lambda h: without(h, _PROBE),
        "probe before the commit": lambda h: moved(h, _PROBE, before=_COMMIT),
        "probe shows another effect": lambda h: added(
            without(h, _PROBE), Kind.PROBE, after=of(Kind.REPLY), receipts=("ch_9",)
        ),
        "answer reached the tool server": lambda h: added(
            h, Kind.REPLY_DELIVERED, after=_STRIKE, request=1, status=201, altered=False
        ),
        "told before the commit": lambda h: moved(h, of(Kind.DELIVERED), before=_COMMIT),
        "given up before the commit": lambda h: added(h, Kind.CANCEL, after=of(Kind.CALL), call=1, by="notification"),
    },
    "before-delivery": {
        "no result": lambda h: without(h, of(Kind.RESULT)),
        "result after the strike": lambda h: moved(h, of(Kind.RESULT), after=_STRIKE),
        "commit after the result": lambda h: moved(h, _COMMIT, after=of(Kind.RESULT)),
        "no probe": lambda h: without(h, _PROBE),
        "delivered after all": lambda h: added(h, Kind.DELIVERED, after=_STRIKE, call=1, result=success("ch_1")),
    },
    "before-delivery of a read": {
        "result after the strike": lambda h: moved(h, of(Kind.RESULT), after=_STRIKE),
        "delivered after all": lambda h: added(h, Kind.DELIVERED, after=_STRIKE, call=1, result=success("ch_1")),
    },
    "before-delivery resumable": {
        "no result": lambda h: without(h, of(Kind.RESULT)),
        "no probe": lambda h: without(h, _PROBE),
        "no event id": lambda h: without(h, of(Kind.PRIMED)),
        "the event id came after the strike": lambda h: moved(h, of(Kind.PRIMED), after=_STRIKE),
        "delivered on the stream that broke": lambda h: moved(h, of(Kind.DELIVERED), before=of(Kind.CONNECTION_LOST)),
        "delivered without having been resumed": lambda h: without(h, of(Kind.RESUMED)),
        "resumed before the strike": lambda h: moved(h, of(Kind.RESUMED), before=_STRIKE),
    },
    "during-cancel": {
        "cancel never delivered": lambda h: without(h, of(Kind.CANCEL_DELIVERED)),
        "cancel delivered too late": lambda h: moved(h, of(Kind.CANCEL_DELIVERED), after=_THROUGH),
        "cancel delivered before the hold": lambda h: moved(h, of(Kind.CANCEL_DELIVERED), before=_STRIKE),
        "never let through": lambda h: without(h, _THROUGH),
        "next call forwarded first": lambda h: moved(h, of(Kind.CALL_FORWARDED, call=2), before=_COMMIT),
    },
    "after-timeout before-retry": {
        "never gave up": lambda h: without(h, of(Kind.GAVE_UP)),
        "gave up too late": lambda h: moved(h, of(Kind.GAVE_UP), after=_THROUGH),
        "the cancel was not withheld": lambda h: added(h, Kind.CANCEL_DELIVERED, after=of(Kind.GAVE_UP), call=1),
        "retry forwarded first": lambda h: moved(h, of(Kind.CALL_FORWARDED, call=2), before=of(Kind.REPLY)),
        "never let through": lambda h: without(h, _THROUGH),
        "never answered": lambda h: without(h, of(Kind.REPLY, request=1)),
    },
    "after-timeout after-retry": {
        "never gave up": lambda h: without(h, of(Kind.GAVE_UP)),
        "let through before the retry's commit": lambda h: moved(h, _THROUGH, before=of(Kind.CALL, call=2)),
        "the retry committed nothing": lambda h: without(h, of(Kind.REPLY, request=2)),
    },
    "after-timeout after-exit": {
        "let through before the exit": lambda h: moved(h, _THROUGH, before=of(Kind.OUTCOME)),
        "never exited": lambda h: without(h, of(Kind.RUNTIME_EXITED)),
        "never let through": lambda h: without(h, _THROUGH),
    },
    "agent-restart in-flight": _RESTART,
    "agent-restart delivered": {
        "not delivered": lambda h: without(h, of(Kind.DELIVERED)),
        "delivered after the kill": lambda h: moved(h, of(Kind.DELIVERED), after=_KILL),
        "no commit": lambda h: without(h, _COMMIT),
        "commit after the delivery": lambda h: moved(h, _COMMIT, after=of(Kind.DELIVERED)),
        "never started again": lambda h: without(h, _SECOND),
    },
    "other-instance": {
        "no other instance": lambda h: without(h, of(Kind.SERVER_STARTED, instance="b")),
        "the first instance died": lambda h: added(h, Kind.SERVER_KILLED, after=_STRIKE, instance="a"),
        "the first instance got the retry": lambda h: added(h, Kind.CALL_FORWARDED, after=_STRIKE, call=2, instance="a"),
        "no probe": lambda h: without(h, _PROBE),
        "strike before the commit": lambda h: moved(h, _STRIKE, before=_COMMIT),
    },
    "token-expired": _RESTART
    | {
        "retention never over": lambda h: without(h, of(Kind.RETENTION_OVER)),
        "retention over before the kill": lambda h: moved(h, of(Kind.RETENTION_OVER), before=_KILL),
        "started again before it was over": lambda h: moved(h, of(Kind.RETENTION_OVER), after=_SECOND),
    },
    "repair-drift": _RESTART,
    "repair-drift by a model": {
        "no commit": lambda h: without(h, _COMMIT),
        "the answer was delivered": lambda h: changed(h, of(Kind.REPLY_DELIVERED), altered=False),
        "the model never asked again": lambda h: without(h, of(Kind.MODEL_REPLY)),
        "it asked again unchanged": lambda h: changed(h, of(Kind.MODEL_REPLY), asked=next(h.of(Kind.MODEL_REPLY)).asked),
        "it asked again before the strike": lambda h: moved(h, _CHANGED, before=of(Kind.STRIKE)),
        "it changed another call": lambda h: changed(h, _CHANGED, asked=(_asked(h).model_copy(update={"declared": 1}),)),
    },
    "lease-expired at-once": _RESTART
    | {
        "no lease declared": lambda h: killed(Boundary.LEASE_EXPIRED, Variant.AT_ONCE),
        "started again too late": lambda h: h.model_copy(
            update={"declaration": h.declaration.model_copy(update={"lease_s": 0.05})}
        ),
    },
    "lease-expired after-lease": _RESTART
    | {
        "lease never over": lambda h: without(h, of(Kind.LEASE_OVER)),
        "lease over before the kill": lambda h: moved(h, of(Kind.LEASE_OVER), before=_KILL),
        "started again before it was over": lambda h: moved(h, of(Kind.LEASE_OVER), after=_SECOND),
    },
    "input-required": {
        "no commit": lambda h: without(h, _COMMIT),
        "no probe": lambda h: without(h, _PROBE),
        "probe after the strike": lambda h: moved(h, _PROBE, after=_STRIKE),
        "no result": lambda h: without(h, of(Kind.RESULT)),
        "commit after the result": lambda h: moved(h, _COMMIT, after=of(Kind.RESULT)),
        "never asked": lambda h: without(h, of(Kind.DELIVERED, call=1)),
        "asked before the strike": lambda h: moved(h, of(Kind.DELIVERED, call=1), before=_STRIKE),
        "something else was delivered": lambda h: changed(h, of(Kind.DELIVERED, call=1), result=success("ch_1")),
        "the tool server itself asked": lambda h: changed(h, of(Kind.DELIVERED, call=1), altered=False),
        "delivered after all": lambda h: added(
            h, Kind.DELIVERED, after=of(Kind.DELIVERED, call=1), call=1, result=success("ch_1")
        ),
        "sent again before it was asked": lambda h: moved(h, of(Kind.CALL, call=2), before=of(Kind.DELIVERED, call=1)),
    },
    "double-resume": {
        "no commit": lambda h: without(h, _COMMIT),
        "no probe": lambda h: without(h, _PROBE),
        "strike before the commit": lambda h: moved(h, _STRIKE, before=_COMMIT),
        "never stopped": lambda h: without(h, of(Kind.RUNTIME_STOPPED)),
        "never a second one": lambda h: without(h, _SECOND),
        "the second one started first": lambda h: moved(h, _SECOND, before=of(Kind.RUNTIME_STOPPED)),
        "the second one never ended": lambda h: without(h, of(Kind.RUNTIME_EXITED, incarnation=2)),
        "went on before the second one ended": lambda h: moved(
            h, of(Kind.RUNTIME_CONTINUED), before=of(Kind.RUNTIME_EXITED, incarnation=2)
        ),
        "never went on": lambda h: without(h, of(Kind.RUNTIME_CONTINUED)),
        "the first was killed": lambda h: added(h, Kind.RUNTIME_KILLED, after=of(Kind.RUNTIME_STOPPED), incarnation=1),
        "the first ended before it went on": lambda h: moved(
            h, of(Kind.RUNTIME_EXITED, incarnation=1), before=of(Kind.RUNTIME_CONTINUED)
        ),
        "the first spoke while stopped": lambda h: added(h, Kind.CALL, after=_SECOND, call=9, incarnation=1),
        "answer reached the tool server": lambda h: added(
            h, Kind.REPLY_DELIVERED, after=_STRIKE, request=1, status=201, altered=False
        ),
        "answer delivered": lambda h: added(h, Kind.DELIVERED, after=_SECOND, call=1, altered=False),
    },
    "lookup-failure": {
        "no commit": lambda h: without(h, _COMMIT),
        "no probe": lambda h: without(h, _PROBE),
        "never looked up": lambda h: without(h, of(Kind.STRIKE, call=2)),
        "looked up before the loss": lambda h: moved(h, of(Kind.CALL, call=2), before=_STRIKE),
        "look-up forwarded": lambda h: added(h, Kind.CALL_FORWARDED, after=of(Kind.CALL, call=2), call=2, instance="a"),
        "look-up answered": lambda h: added(h, Kind.DELIVERED, after=of(Kind.STRIKE, call=2), call=2, altered=False),
        "another call taken": lambda h: changed(h, of(Kind.CALL, call=2), tool="charge"),
        "a declared read taken": lambda h: changed(h, of(Kind.CALL, call=2), declared=0),
        "an earlier look-up came through": lambda h: added(
            added(h, Kind.CALL_FORWARDED, after=of(Kind.DELIVERED, call=1), call=3, instance="a"),
            Kind.CALL,
            after=of(Kind.DELIVERED, call=1),
            call=3,
            tool="find_charges",
        ),
        "two look-ups taken": lambda h: added(h, Kind.STRIKE, after=of(Kind.STRIKE, call=2), call=2),
    },
    "provider-crash": {
        "no commit": lambda h: without(h, _COMMIT),
        "no probe": lambda h: without(h, _PROBE),
        "probe after the strike": lambda h: moved(h, _PROBE, after=_STRIKE),
        "the provider lived on": lambda h: without(h, of(Kind.PROVIDER_KILLED)),
        "killed before the commit": lambda h: moved(h, of(Kind.PROVIDER_KILLED), before=_COMMIT),
        "never started again": lambda h: without(h, of(Kind.PROVIDER_STARTED)),
        "started again before it was killed": lambda h: moved(h, of(Kind.PROVIDER_STARTED), before=of(Kind.PROVIDER_KILLED)),
        "asked while it was down": lambda h: moved(
            h, of(Kind.REQUEST_FORWARDED, request=2), before=of(Kind.PROVIDER_STARTED)
        ),
        "answer reached the tool server": lambda h: added(
            h, Kind.REPLY_DELIVERED, after=_STRIKE, request=1, status=201, altered=False
        ),
    },
}


@pytest.mark.parametrize(("name", "mutation"), [(name, how) for name, mutations in BROKEN.items() for how in mutations])
def test_a_broken_order_is_not_exposed(name: str, mutation: str) -> None:
    found = exposure(BROKEN[name][mutation](EXPOSED[name]()))
    assert not found.exposed, found.evidence
    assert found.evidence.startswith("not exposed: ")


def test_every_example_is_broken_in_some_way() -> None:
    assert BROKEN.keys() == EXPOSED.keys()


@pytest.mark.parametrize("variant", [Variant.BEFORE_RETRY, Variant.AFTER_RETRY, Variant.AFTER_EXIT])
def test_a_runtime_that_ends_without_a_retry_is_released_at_its_end_whatever_the_variant(variant: Variant) -> None:
    assert exposure(late_after_exit(variant)).exposed


def test_a_held_request_that_is_answered_with_a_replay_still_counts_as_let_through() -> None:
    history = without(late_after_retry(), of(Kind.COMMIT, request=1))
    assert exposure(history).exposed


def test_a_strike_at_every_attempt_is_exposed_although_the_repeat_is_a_replay() -> None:
    story = reset()
    call = story.call()
    request = story.request(call)
    story.add(Kind.REPLY, request=request, status=201, receipts=("ch_1",), committed=False)
    story.strike(call, request)
    story.answer(call, LOST)
    assert exposure(story.finish(i="error")).exposed


def test_evidence_names_the_events_in_one_sentence() -> None:
    assert exposure(before_delivery()).evidence == (
        "commit ch_1 (#7) seen by the oracle (#10), result (#9) before the is-error (#11); answer not delivered"
    )


def test_a_control_that_ended_is_a_control() -> None:
    assert exposure(control().finish(i="error")).exposed


@pytest.mark.parametrize("kind", [Kind.STILL_RUNNING, Kind.RUNTIME_KILLED, Kind.STRIKE])
def test_a_control_that_did_not_end_by_itself_is_none(kind: Kind) -> None:
    story = control()
    story.add(kind, incarnation=1, call=1)
    found = exposure(story.finish(i="error"))
    assert not found.exposed
    assert "the control" in found.evidence


def test_a_control_without_an_exit_did_not_end() -> None:
    assert not exposure(Story(ONE).start().history()).exposed
