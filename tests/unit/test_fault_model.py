"""What a request to the model tells the fault: that the runtime gave a call up, or that the model was never asked again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from benchmark.boundaries import Boundary, Manifestation, Variant
from benchmark.cells import Cell
from benchmark.entries import Capabilities
from benchmark.fault import Fault
from benchmark.history import Asked, Conversation, Kind, Told
from benchmark.recorder import Recorder
from benchmark.wires.traffic import LiveCall, LiveRequest, Traffic
from tests.unit.histories import PLAIN, TWINS, fields

MIND = Capabilities(model=True)


@dataclass
class Hands:
    """Counts what the fault asks for."""

    done: list[str] = field(default_factory=list)

    async def kill_runtime(self) -> None:
        self.done.append("kill")

    def probe(self) -> None:
        self.done.append("probe")

    def outcome_written(self) -> bool:
        return False


class Play:
    """A fault with as much of a scene as it touches, and one call that it strikes."""

    def __init__(self, boundary: Boundary, variant: Variant, capabilities: Capabilities = MIND) -> None:
        shape = Manifestation.SILENCE if boundary is Boundary.DURING_CANCEL else Manifestation.RESET
        self.recorder = Recorder()
        traffic = Traffic(self.recorder, TWINS, {"charge": PLAIN})
        scene: Any = SimpleNamespace(
            cell=Cell("made-up", "made-up", boundary, variant, shape),
            recorder=self.recorder,
            traffic=traffic,
            contracts={"charge": PLAIN},
            tool_call_s=0.05,
            over=asyncio.Event(),
            spawn=asyncio.ensure_future,
        )
        self.hands = Hands()
        self.fault = Fault(scene, self.hands, TWINS, 30.0, None, capabilities)  # type: ignore[arg-type]
        self.call: LiveCall = traffic.call({"name": "charge", "arguments": fields("a")}, 1, 1, "a")
        self.call.forwarded = True
        self.request: LiveRequest = traffic.request("a", {})

    def tells(self, *declared: int) -> None:
        told = tuple(Told(declared=one, nth=1) for one in declared)
        self.recorder.record(Kind.MODEL_REQUEST, incarnation=1, asking=Conversation(identity="c", told=told))

    def of(self, kind: Kind) -> list[str | None]:
        return [event.by or event.detail for event in self.recorder.events if event.kind is kind]


@pytest.mark.parametrize(("told", "gave_up"), [((0,), True), ((), False), ((1,), False)])
def test_a_request_to_the_model_that_holds_the_struck_call_gives_it_up(told: tuple[int, ...], gave_up: bool) -> None:
    async def run() -> Play:
        play = Play(Boundary.DURING_CANCEL, Variant.NONE)
        holding = asyncio.ensure_future(play.fault.on_request(play.request))
        await asyncio.sleep(0)
        play.tells(*told)
        if gave_up:
            play.recorder.record(Kind.CANCEL_DELIVERED, call=play.call.n)
        await holding
        return play

    play = asyncio.run(run())
    assert play.of(Kind.GAVE_UP) == (["next-message"] if gave_up else [])
    assert play.of(Kind.INAPPLICABLE) == ([] if gave_up else ["never gave up"])


@pytest.mark.parametrize("capabilities", [MIND, Capabilities()])
def test_repair_drift_kills_only_a_runtime_without_a_model(capabilities: Capabilities) -> None:
    async def run() -> Play:
        play = Play(Boundary.REPAIR_DRIFT, Variant.FREE, capabilities)
        assert await play.fault.on_reply(play.request, committed=True) is Manifestation.RESET
        return play

    play = asyncio.run(run())
    assert play.hands.done == (["probe"] if capabilities.model else ["probe", "kill"])
    assert play.fault.restarts is not capabilities.model


@pytest.mark.parametrize("changed", [True, False])
def test_repair_drift_applies_only_where_the_model_was_asked_again(changed: bool) -> None:
    async def run() -> Play:
        play = Play(Boundary.REPAIR_DRIFT, Variant.FREE)
        await play.fault.on_reply(play.request, committed=True)
        asked = Asked(id="x", name="charge", arguments={}, declared=0, nth=2, changed=changed)
        play.recorder.record(Kind.MODEL_REPLY, asked=(asked,))
        play.fault.finish()
        return play

    assert asyncio.run(run()).of(Kind.INAPPLICABLE) == ([] if changed else ["model not asked"])
