"""Which cells can be judged at all: each rule once granted and once refused, with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.applicability import EVERYTHING, cast, inapplicable, meaningless, struck
from benchmark.cells import Cell
from benchmark.entries import Capabilities, Provider, ToolAdapter
from benchmark.intents import Workload

PROOF = {"not_executed": ["/structuredContent/code", "not_executed"]}


def workload(calls: int = 1, *, recipients: int = 2, drift: bool = True, tool: str = "send") -> Workload:
    """One intent of so many sends to so many recipients each."""
    people = [f"p{number}" for number in range(recipients)]
    arguments = {"recipients": people, "subject": "s", "body": "b"} if tool == "send" else {"subject": "s"}
    slots = [
        {"id": f"{person}-{call}", "class": "message", "call": call, "match": {"to": person, "subject": "s"}}
        for call in range(calls)
        for person in people
    ]
    changes = {
        "free": {"intent": "i", "argument": "body", "value": "c"},
        "binding": {"intent": "i", "argument": "subject", "value": "t"},
    }
    intent: dict[str, Any] = {"id": "i", "say": "", "calls": [{"tool": tool, "arguments": arguments}] * calls}
    if tool == "send":
        intent |= {"slots": slots, "outcomes": [{"fulfils": True, "slots": {slot["id"]: 1 for slot in slots}}]}
    return Workload.model_validate(
        {"name": "w", "title": "", "summary": "", "intents": [intent], "drift": changes if drift else None}
    )


def adapter(*, several: bool = True, **contract: Any) -> ToolAdapter:
    effects = {"each": "recipients"} if several else None
    whole = {"binding": ["recipients", "subject"], "effects": effects, **contract}
    arguments = {"recipients": "string[]", "subject": "string", "body": "string"}
    return ToolAdapter.model_validate(
        {
            "name": "a",
            "title": "",
            "summary": "",
            "provider": "p",
            "command": ["x"],
            "tools": {
                "send": {"description": "", "arguments": arguments, "contract": whole},
                "find": {"description": "", "arguments": {"subject": "string"}},
            },
        }
    )


def provider(kind: str = "http", *, proof: bool = True) -> Provider:
    proved = {"status": 503, "body": {}} if proof and kind == "http" else None
    return Provider.model_validate(
        {"name": "p", "title": "", "summary": "", "kind": kind, "oracle": "o", "not_executed": proved}
    )


def cell(
    place: str, manifestation: str = "-", wire: str = "stdio.2025-11-25", strike: str = "first-once", persona: str = "-"
) -> Cell:
    """``place``: boundary, or boundary.variant."""
    where = place if "." in place else f"{place}.-"
    return Cell.parse(f"w.a.{where}.{manifestation}.{wire}.{strike}.{persona}@1")


def reason(
    what: Cell,
    *,
    capabilities: Capabilities = EVERYTHING,
    on: Workload | None = None,
    by: ToolAdapter | None = None,
    at: Provider | None = None,
) -> str | None:
    return inapplicable(capabilities, on or workload(), by or adapter(), at or provider(), what)


@pytest.mark.parametrize(
    "what",
    [
        cell("none"),
        cell("before-dispatch", "reset", "http.2025-11-25"),
        cell("before-dispatch", "crash"),
        cell("before-commit", "reset"),
        cell("after-commit", "silence", strike="first-every"),
        cell("after-commit", "error", strike="first/2-once"),
        cell("before-delivery", "bad-result"),
        cell("during-cancel", "silence"),
        cell("after-timeout.after-retry", "silence"),
        cell("agent-restart.delivered"),
        cell("agent-restart.in-flight", strike="first/2-once"),
        cell("other-instance", "reset", "http.2026-07-28"),
        cell("other-instance.session-lost", "error", "http.2025-11-25"),
        cell("repair-drift.free", "reset"),
        cell("repair-drift.binding", "error"),
    ],
    ids=lambda each: each.name,
)
def test_a_coordinate_that_the_tables_and_the_contract_allow_is_applicable(what: Cell) -> None:
    assert reason(what) is None


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (cell("before-dispatch", "reset"), "reset of a stdio tool wire is crash"),
        (cell("before-delivery", "reset"), "reset of a stdio tool wire is crash"),
        (cell("before-commit", "is-error"), "before-commit has no manifestation is-error"),
        (cell("none", "reset"), "none has no manifestation reset"),
        (cell("after-timeout", "silence"), "after-timeout has no variant -"),
        (cell("other-instance.session-lost", "reset"), "another instance over stdio is after-commit crash"),
        (cell("other-instance", "reset", "http.2025-11-25"), "2025-11-25 has sessions, name what becomes of it"),
        (cell("other-instance.session-kept", "reset", "http.2026-07-28"), "2026-07-28 has no sessions"),
        (cell("none", strike="first-every"), "none has the strike first-once only"),
        (cell("repair-drift.free", "reset", strike="first/2-once"), "repair-drift has the strike first-once only"),
        (cell("during-cancel", "silence", strike="first-every"), "during-cancel strikes once only"),
        (cell("after-commit", "reset", strike="last-once"), "of 1 declared call, last is none of its own"),
        (
            cell("before-delivery", "error", strike="first/2-once"),
            "before-delivery strikes the call, not one of its upstream",
        ),
        (cell("agent-restart.delivered", strike="first~2-once"), "agent-restart strikes the call, not one of its upstream"),
        (cell("after-commit", "reset", strike="first/3-once"), "the struck call makes 2 upstream requests"),
        (cell("after-commit", "reset", strike="first/0-once"), "the struck call makes 2 upstream requests"),
    ],
    ids=lambda each: each.name if isinstance(each, Cell) else None,
)
def test_a_coordinate_without_a_meaning_of_its_own_says_why(what: Cell, said: str) -> None:
    assert (meaningless(workload(), adapter(), provider(), what) or "").startswith(said)
    assert reason(what) == meaningless(workload(), adapter(), provider(), what)


@pytest.mark.parametrize("place", ["before-commit", "after-commit", "other-instance.session-lost", "repair-drift.free"])
@pytest.mark.parametrize("manifestation", ["reset", "error"])
def test_at_a_gate_nothing_is_reset(place: str, manifestation: str) -> None:
    said = reason(cell(place, manifestation, "http.2025-11-25"), at=provider("files"))
    assert said == (None if manifestation == "error" else "a gate cannot show reset")


def test_at_a_gate_nothing_is_refused_but_the_tool_wire_may_refuse() -> None:
    proved = adapter(answers=PROOF)
    assert reason(cell("before-commit", "refused"), by=proved, at=provider("files")) == "a gate cannot show refused"
    assert reason(cell("before-dispatch", "refused"), by=proved, at=provider("files")) is None


def test_refused_needs_the_declared_answer_and_before_the_provider_its_proof() -> None:
    proved = adapter(answers=PROOF)
    assert reason(cell("before-dispatch", "refused")) == "send declares no not_executed"
    assert reason(cell("before-commit", "refused"), by=proved) is None
    assert (
        reason(cell("before-commit", "refused"), by=proved, at=provider(proof=False))
        == "provider p has no proof of not_executed"
    )
    assert reason(cell("before-dispatch", "refused"), by=proved, at=provider(proof=False)) is None


def test_a_middle_is_none_of_its_own_in_two_calls_but_in_three() -> None:
    what = cell("after-commit", "error", strike="middle-once")
    assert reason(what, on=workload(2)) == "of 2 declared calls, middle is none of its own"
    assert reason(what, on=workload(3)) is None
    assert reason(cell("after-commit", "error", strike="last-once"), on=workload(2)) is None


def test_a_call_of_one_effect_has_no_second_upstream_request() -> None:
    said = reason(cell("after-commit", "error", strike="first/2-once"), by=adapter(several=False))
    assert said == "the struck call makes 1 upstream request"


@pytest.mark.parametrize("place", ["none", "before-dispatch", "before-delivery", "before-commit", "agent-restart.in-flight"])
def test_a_read_is_struck_only_where_nothing_has_to_be_committed(place: str) -> None:
    manifestation = "-" if place in ("none", "agent-restart.in-flight") else "error"
    said = reason(cell(place, manifestation), on=workload(tool="find", drift=False))
    allowed = place in ("none", "before-dispatch", "before-delivery")
    assert said == (None if allowed else "find only reads, nothing is committed")


def test_a_read_cannot_be_refused() -> None:
    said = reason(cell("before-dispatch", "refused"), on=workload(tool="find", drift=False))
    assert said == "find only reads, it declares no not_executed"


@pytest.mark.parametrize(
    ("retention", "said"), [("none", "send has no key"), (None, "the key of send never expires"), (900.0, None)]
)
def test_a_token_expires_only_with_a_finite_retention(retention: Any, said: str | None) -> None:
    key = None if retention == "none" else {"carrier": "meta", "name": "k", "retention_s": retention}
    assert reason(cell("token-expired"), by=adapter(key=key)) == said


def test_a_drift_must_be_free_or_binding_in_this_contract() -> None:
    wider = adapter(binding=["recipients", "subject", "body"])
    narrower = adapter(binding=["recipients"])
    assert reason(cell("repair-drift.free", "reset"), by=wider) == "body binds in this contract"
    assert reason(cell("repair-drift.binding", "reset"), by=narrower) == "subject does not bind in this contract"
    assert reason(cell("repair-drift.free", "reset"), on=workload(drift=False)) == "the workload has no drift"


def test_an_adapter_without_the_tool_says_which_one() -> None:
    assert reason(cell("none"), on=workload(tool="charge", drift=False)) == "the adapter has no tool charge"


def test_a_runtime_without_the_transport_or_the_protocol_says_so() -> None:
    what = cell("none", "-", "http.2026-07-28")
    assert reason(what, capabilities=Capabilities(transports=("stdio",))) == "the runtime has no http transport"
    said = reason(what, capabilities=Capabilities(protocols=("2025-11-25",)))
    assert said == "the runtime does not reach protocol 2026-07-28"


def test_only_a_runtime_with_a_model_has_personas() -> None:
    model = Capabilities(model=True)
    assert reason(cell("none", persona="once")) == "persona once is not one of - here"
    assert reason(cell("none"), capabilities=model) == "persona - is not one of once, retry here"
    assert reason(cell("none", persona="retry"), capabilities=model) is None
    assert reason(cell("repair-drift.free", "reset", persona="repair"), capabilities=model) is None
    assert reason(cell("repair-drift.free", "reset", persona="once"), capabilities=model) is not None


def test_a_plan_is_cast_with_the_personas_of_the_runtime() -> None:
    cells = (cell("none"), cell("repair-drift.free", "reset"))
    assert cast(EVERYTHING, cells) == cells
    played = cast(Capabilities(model=True), cells)
    assert [each.persona for each in played] == ["once", "retry", "repair"]
    assert cast(Capabilities(model=True), played) == played


def test_what_is_struck_is_the_named_declared_call() -> None:
    assert struck(workload(3), adapter(), cell("after-commit", "error", strike="last-once")).upstream_requests == 2


def test_a_lease_is_tried_only_on_a_runtime_that_declares_one() -> None:
    what = cell("lease-expired.at-once")
    assert reason(what) is None
    assert reason(what, capabilities=Capabilities()) == "the runtime declares no lease"


def test_input_is_asked_for_only_in_the_revision_that_has_it_and_of_a_runtime_that_can_give_it() -> None:
    what = cell("input-required.with-state", "asked", "stdio.2026-07-28")
    assert reason(what) is None
    assert reason(what, capabilities=Capabilities()) == "the runtime cannot be asked for input"
    assert reason(cell("input-required.with-state", "asked")) == "in 2025-11-25 no result asks for input"
    assert reason(what, on=workload(tool="find", drift=False)) == "find only reads, nothing is committed"


def test_only_a_broken_event_stream_of_the_revision_with_sessions_is_resumed() -> None:
    what = cell("before-delivery.resumable", "reset", "http.2025-11-25")
    assert reason(what) is None
    assert reason(what, by=adapter().model_copy(update={"http_answers": "json"})) == "a answers without a stream"
    assert reason(cell("before-delivery.resumable", "crash")) == "no stream is resumed over stdio in 2025-11-25"
    newer = cell("before-delivery.resumable", "reset", "http.2026-07-28")
    assert reason(newer) == "no stream is resumed over http in 2026-07-28"
    other = cell("before-delivery.resumable", "error", "http.2025-11-25")
    assert reason(other) == "what is resumed is a stream that broke (reset)"


def test_a_look_up_fails_only_where_the_struck_tool_has_one() -> None:
    looked = adapter(lookup={"tool": "find", "by": ["subject"], "settles_s": 1.5})
    assert reason(cell("lookup-failure", "error")) == "send has no look-up"
    assert reason(cell("lookup-failure", "error"), by=looked) is None
    assert reason(cell("lookup-failure", "reset"), by=looked) == "reset of a stdio tool wire is crash"
    assert reason(cell("lookup-failure", "reset", "http.2025-11-25"), by=looked) is None


def test_a_provider_without_a_process_cannot_crash() -> None:
    what = cell("provider-crash", "reset")
    assert reason(what) is None
    assert reason(what, at=provider("files")) == "a gate cannot show reset"
