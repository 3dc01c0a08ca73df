"""Blame goes to the first stage that multiplied, and only for extra effects."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.contracts import Contract, Key
from benchmark.history import Kind
from benchmark.results import Blame, Judgement
from benchmark.scoring import judge
from tests.unit.histories import (
    ANSWERS,
    BINDING,
    INPUT,
    KEYED,
    LOST,
    NOT_EXECUTED,
    PLAIN,
    TRANSFER,
    TWINS,
    Story,
    asked,
    control,
    effect,
    fields,
    reset,
    success,
)


def test_the_funnel_counts_every_stage() -> None:
    story = reset()
    story.succeed()
    assert judge(story.finish(i="error")).funnel == {
        "intents": 1,
        "model_requests": 0,
        "calls": 2,
        "upstream_requests": 2,
        "effects": 2,
    }


def test_nobody_is_to_blame_where_nothing_is_extra() -> None:
    assert judge(control().finish(i="committed")).blame is None
    story = control()
    assert judge(story.finish(i=("committed", story.succeed()))).blame is None


def test_a_runtime_that_calls_again_is_to_blame() -> None:
    story = reset()
    story.succeed()
    assert judge(story.finish(i="error")).blame is Blame.RUNTIME


def test_a_tool_server_that_asks_twice_is_to_blame() -> None:
    story = control()
    call = story.call()
    story.commit(story.request(call))
    receipt = story.commit(story.request(call))
    story.answer(call, success(receipt))
    assert judge(story.finish(i=("committed", receipt))).blame is Blame.TOOL_SERVER


def test_a_request_that_belongs_to_no_call_is_the_tool_servers() -> None:
    story = control()
    receipt = story.succeed()
    story.commit(story.request(None))
    assert judge(story.finish(i=("committed", receipt))).blame is Blame.TOOL_SERVER


def test_a_provider_that_makes_two_effects_of_one_request_is_to_blame() -> None:
    story = control()
    receipt = story.succeed()
    story.final.append(effect("ch_twice", fields("a")))
    assert judge(story.finish(i=("committed", receipt))).blame is Blame.PROVIDER


def test_a_call_that_never_took_effect_multiplies_nothing() -> None:
    story = Story(boundary=Boundary.BEFORE_DISPATCH, manifestation=Manifestation.RESET).start()
    story.strike(story.call(forward=False))
    call = story.call()
    story.commit(story.request(call))
    receipt = story.commit(story.request(call))
    assert judge(story.finish(i=("committed", receipt))).blame is Blame.TOOL_SERVER


def test_a_stray_of_a_drifted_call_is_the_runtimes() -> None:
    story = reset()
    story.succeed(0, arguments={"amount": 999})
    assert judge(story.finish(i="error")).blame is Blame.RUNTIME


def test_a_stray_of_a_call_as_declared_is_the_tool_servers() -> None:
    story = control()
    story.commit(story.request(story.call()), given=fields("elsewhere"))
    assert judge(story.finish(i="error")).blame is Blame.TOOL_SERVER


def test_a_stray_that_no_call_accounts_for_is_the_providers() -> None:
    story = control()
    receipt = story.succeed()
    story.final.append(effect("ch_odd", fields("elsewhere")))
    assert judge(story.finish(i=("committed", receipt))).blame is Blame.PROVIDER


def test_a_duplicate_undone_by_a_runtime_that_called_twice_is_the_runtimes() -> None:
    story = reset()
    story.commit(story.request(story.call()), undone=True)
    assert judge(story.finish(i="error")).blame is Blame.RUNTIME


def test_the_earliest_stage_is_blamed_of_several() -> None:
    story = control(TWINS)
    call = story.call(0)
    story.commit(story.request(call))
    story.commit(story.request(call))
    story.succeed(1)
    story.succeed(1, arguments={"amount": 999})
    assert judge(story.finish(i="error", j="error")).blame is Blame.RUNTIME


def test_a_call_of_two_effects_may_send_two_requests() -> None:
    story = control(TRANSFER)
    call = story.call()
    story.commit(story.request(call), given=fields("a"))
    story.commit(story.request(call), given=fields("b"))
    story.final.append(effect("ch_twice", fields("b")))
    assert judge(story.finish(i="error")).blame is Blame.PROVIDER


def test_a_request_that_makes_both_legs_is_counted_for_each() -> None:
    story = control(TRANSFER)
    for _ in range(2):
        request = story.request(story.call())
        story.commit(request, given=fields("a"))
        receipt = f"{request}b"
        story.final.append(effect(receipt, fields("b")))
        story.events[-2] = story.events[-2].model_copy(update={"receipts": (*(story.events[-2].receipts or ()), receipt)})
    found = judge(story.finish(i="error"))
    assert (found.extra, found.blame) == (2, Blame.RUNTIME)


def _keyed(contract: Contract, *, second: str = "k", up: str | None = "k", **given: Any) -> Judgement:
    story = reset(contract=contract, key="k")
    call = story.call(key=second, **given)
    receipt = story.commit(story.request(call, key=up), given=fields("a"))
    story.answer(call, success(receipt))
    return judge(story.finish(i=("committed", receipt)))


REFUSES = Contract(binding=BINDING, key=Key(carrier="argument", name="token", retention_s=None, on_repeat="refuse"))
NEW = Contract(binding=BINDING, key=Key(carrier="argument", name="token", retention_s=None, on_repeat="new"))


@pytest.mark.parametrize("contract", [KEYED, REFUSES])
def test_a_keyed_repeat_is_the_providers_where_the_key_went_up(contract: Contract) -> None:
    assert _keyed(contract).blame is Blame.PROVIDER
    assert _keyed(contract, up="k/0").blame is Blame.PROVIDER


@pytest.mark.parametrize("up", [None, "kk", "other/k"])
def test_a_keyed_repeat_is_the_tool_servers_where_the_key_stayed(up: str | None) -> None:
    assert _keyed(KEYED, up=up).blame is Blame.TOOL_SERVER


def test_a_repeat_is_the_runtimes_where_no_promise_covers_it() -> None:
    assert _keyed(KEYED, second="k2").blame is Blame.RUNTIME
    assert _keyed(KEYED.with_retention(0.01)).blame is Blame.RUNTIME
    assert _keyed(NEW).blame is Blame.RUNTIME
    assert _keyed(PLAIN).blame is Blame.RUNTIME
    assert _keyed(KEYED, arguments={"amount": 999}).blame is Blame.RUNTIME


def test_a_changed_free_argument_does_not_void_the_promise() -> None:
    assert _keyed(KEYED, arguments={"memo": "other"}).blame is Blame.PROVIDER


def test_a_repeat_after_the_retention_is_the_runtimes() -> None:
    story = reset(contract=KEYED, key="k")
    story.add(Kind.RETENTION_OVER)
    story.commit(story.request(story.call(key="k"), key="k"))
    assert judge(story.finish(i="error")).blame is Blame.RUNTIME


# --- invited -----------------------------------------------------------------------------------------------------------

IN_PROGRESS = {"result": {"isError": True, "structuredContent": {"code": "in_progress"}}}
SESSION = {"error": {"code": -32600, "message": "Session not found"}}


@pytest.mark.parametrize(
    ("told", "invited"),
    [(NOT_EXECUTED, True), (IN_PROGRESS, True), (SESSION, True), (LOST, False), ({"error": {"code": -32603}}, False)],
)
def test_a_repeat_is_invited_where_the_answer_asked_for_it(told: dict[str, Any], invited: bool) -> None:
    story = control(contract=Contract(binding=BINDING, answers=ANSWERS))
    call = story.call()
    story.commit(story.request(call))
    story.answer(call, told)
    story.succeed()
    assert judge(story.finish(i="error")).invited is invited


def test_an_invitation_that_came_after_the_repeat_was_none() -> None:
    story = control()
    story.lose()
    story.lose()
    story.deliver(1, NOT_EXECUTED)
    assert not judge(story.finish(i="error")).invited


def test_nothing_is_invited_where_nothing_is_extra() -> None:
    story = control()
    story.answer(story.call(), NOT_EXECUTED)
    assert not judge(story.finish(i=("committed", story.succeed()))).invited


# --- demanded by the specification -------------------------------------------------------------------------------------


def _again(story: Story, *, key: str | None = None, **given: Any) -> Judgement:
    """Sent again and made again."""
    call = story.call(key=key, **given)
    receipt = story.commit(story.request(call))
    story.answer(call, success(receipt))
    return judge(story.finish(i=("committed", receipt)))


def test_what_is_sent_again_with_the_input_that_was_asked_for_is_not_the_runtimes() -> None:
    found = _again(asked(), inputs=INPUT)
    assert (found.extra, found.spec_mandated, found.blame, found.reaction) == (1, 1, Blame.TOOL_SERVER, "answered")
    assert found.seen_as == "asked for input"


@pytest.mark.parametrize(
    "given",
    [{}, {"inputs": {}}, {"inputs": INPUT | {"more": {}}}, {"inputs": INPUT, "state": "s"}],
    ids=["anew", "without input", "with other input", "with a state that was not given"],
)
def test_what_is_sent_again_in_another_way_is_the_runtimes(given: dict[str, Any]) -> None:
    found = _again(asked(), **given)
    assert (found.extra, found.spec_mandated, found.blame, found.reaction) == (1, 0, Blame.RUNTIME, "retried")


def test_a_state_that_is_not_brought_back_makes_it_another_call() -> None:
    assert _again(asked(Variant.WITH_STATE), inputs=INPUT).spec_mandated == 0
    assert _again(asked(Variant.WITH_STATE), inputs=INPUT, state="s").spec_mandated == 1


def test_changed_arguments_make_it_another_call() -> None:
    assert _again(asked(), inputs=INPUT, arguments={"memo": "other"}).spec_mandated == 0


def test_one_request_for_input_demands_one_call() -> None:
    story = asked()
    story.succeed(inputs=INPUT)
    found = _again(story, inputs=INPUT)
    assert (found.extra, found.spec_mandated, found.blame, found.reaction) == (2, 1, Blame.RUNTIME, "retried+answered")


def test_a_key_that_came_back_with_the_input_is_asked_about_first() -> None:
    found = _again(asked(contract=KEYED, key="k"), inputs=INPUT, key="k")
    assert (found.spec_mandated, found.blame) == (1, Blame.TOOL_SERVER)


def test_a_request_for_input_is_no_success() -> None:
    assert judge(asked().finish(i="error")).unresolved == 1
    assert judge(asked().finish(i=("committed", "ch_1"))).unresolved == 0
