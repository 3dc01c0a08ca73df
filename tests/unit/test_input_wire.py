"""What the tool wire asks is what a server of the SDK would ask, of nobody who cannot be asked, and a state is kept to."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.cells import Cell
from benchmark.entries import Capabilities
from benchmark.fault import Fault
from benchmark.history import Kind
from benchmark.recorder import Recorder
from benchmark.wires.altered import substitute
from benchmark.wires.traffic import CAPABILITIES, INVALID_STATE, LiveCall, Traffic
from tests.unit.histories import ONE, PLAIN, fields, success
from tests.unit.test_fault_model import Hands

CAN: dict[str, Any] = {CAPABILITIES: {"elicitation": {}}}
PARAMS = {"name": "charge", "arguments": fields("a"), "_meta": CAN}
ANSWER = success("ch_1")


class Play:
    """A tool wire of one cell, and a call whose effect has been made."""

    def __init__(self, variant: Variant = Variant.WITH_STATE, meta: dict[str, Any] = CAN) -> None:
        self.recorder = Recorder()
        self.traffic = Traffic(self.recorder, ONE, {"charge": PLAIN})
        self.scene: Any = SimpleNamespace(
            cell=Cell("made-up", "made-up", Boundary.INPUT_REQUIRED, variant, Manifestation.ASKED, "http", "2026-07-28"),
            recorder=self.recorder,
            traffic=self.traffic,
            contracts={"charge": PLAIN},
        )
        self.hands = Hands()
        self.fault = Fault(self.scene, self.hands, ONE, 30.0, None, Capabilities(input=True))  # type: ignore[arg-type]
        self.call: LiveCall = self.traffic.call(PARAMS | {"_meta": meta}, 1, 1, "a")
        self.call.forwarded, self.call.answer = True, ANSWER
        self.recorder.record(Kind.COMMIT, request=self.traffic.request("a", {}).n, receipts=("ch_1",))

    def asked(self) -> dict[str, Any]:
        payload = substitute(self.scene, self.call, Manifestation.ASKED)
        assert payload is not None
        return dict(payload["result"])

    def again(self, **params: Any) -> dict[str, Any] | None:
        """What the wire itself answers to the call that is sent again; None: it is forwarded."""
        return self.traffic.kept(self.traffic.call(PARAMS | {"inputResponses": {"confirm": {}}} | params, 2, 1, "a"))


@pytest.mark.parametrize("variant", [Variant.WITH_STATE, Variant.WITHOUT_STATE])
def test_a_request_for_input_is_what_the_sdk_would_send(variant: Variant) -> None:
    asked = Play(variant).asked()
    read = types.InputRequiredResult.model_validate(asked)
    assert read.model_dump(by_alias=True, mode="json", exclude_none=True) == asked
    assert (read.request_state is not None) is (variant is Variant.WITH_STATE)


def test_a_state_brings_the_kept_answer() -> None:
    play = Play()
    state = play.asked()["requestState"]
    assert play.again(requestState=state) == ANSWER


def test_a_state_is_bound_to_its_call() -> None:
    play = Play()
    state = play.asked()["requestState"]
    assert play.again(requestState=state, arguments=fields("a", 999)) == INVALID_STATE
    assert play.again(requestState=state, name="refund") == INVALID_STATE


@pytest.mark.parametrize("params", [{}, {"requestState": "another"}, {"requestState": 7}], ids=str)
def test_without_its_state_a_call_is_like_any_other(params: dict[str, Any]) -> None:
    play = Play()
    play.asked()
    assert play.again(**params) is None


@pytest.mark.parametrize(("meta", "struck"), [(CAN, True), ({}, False), ({CAPABILITIES: {"sampling": {}}}, False)])
def test_only_a_client_that_says_so_is_asked(meta: dict[str, Any], struck: bool) -> None:
    play = Play(meta=meta)
    shown = asyncio.run(play.fault.on_result(play.call))
    assert shown is (Manifestation.ASKED if struck else None)
    assert any(event.kind is Kind.STRIKE for event in play.recorder.events) is struck
    assert [event.detail for event in play.recorder.events if event.kind is Kind.INAPPLICABLE] == (
        [] if struck else ["cannot be asked"]
    )
