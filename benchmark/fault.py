"""The fault of one cell: asked by the wires at every moment at which it could strike, it lets pass, holds, or takes.

The wires ask (``on_…``) and carry out the manifestation that they are given; the conductor lends its hands (kill, probe,
another instance). Everything is triggered by an event, never by a sleep.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from benchmark.boundaries import Boundary, Manifestation, Point, Variant, restarts, strike_point
from benchmark.entries import Capabilities
from benchmark.history import Event, Kind
from benchmark.intents import Workload
from benchmark.recorder import Predicate
from benchmark.wires.scene import Scene
from benchmark.wires.traffic import LiveCall, LiveRequest

SETTLE_MARGIN_S = 0.3
"""A held request is let through this long before a negative look-up would be final."""
RETENTION_MARGIN_S = 0.25
TIMEOUT_MARGIN_S = 0.25
"""A call counts as timed out this long after its timeout."""
DONE_S = 0.1
"""A tool server that has its answer from the provider is done within this time, result or no result."""
LATE = (Boundary.DURING_CANCEL, Boundary.AFTER_TIMEOUT)


class Hands(Protocol):
    """What the conductor does for the fault."""

    async def kill_runtime(self) -> None: ...
    async def stop_runtime(self) -> None: ...
    async def kill_server(self, instance: str) -> None: ...
    def other_instance(self, *, keep_sessions: bool) -> None: ...
    async def crash_provider(self) -> None: ...
    async def make_decoys(self) -> None: ...
    def probe(self) -> None: ...
    def outcome_written(self) -> bool: ...


class Fault:
    """Strikes the declared call of its cell, once or at every attempt."""

    def __init__(
        self,
        scene: Scene,
        hands: Hands,
        workload: Workload,
        run_s: float,
        retention_s: float | None,
        capabilities: Capabilities,
    ) -> None:
        self._scene = scene
        self._hands = hands
        self._run_s = run_s
        self._retention_s = retention_s
        self._lease_s = capabilities.lease_s
        self._model = capabilities.model
        cell = scene.cell
        self._boundary = cell.boundary
        self._variant = cell.variant
        self._manifestation = cell.manifestation
        self._point = strike_point(cell.boundary, cell.variant)
        self._target = cell.strike.index(len(workload.declared_calls))
        self._decoys_due = any(decoy.when == "during" for decoy in workload.decoys)
        self._struck: LiveCall | None = None
        self._struck_at: Event | None = None
        self._held: LiveRequest | None = None
        self._landed = asyncio.Event()
        self._armed: LiveCall | None = None
        self._look_up_due: str | None = None
        """The look-up tool whose next call is taken."""

    @property
    def restarts(self) -> bool:
        """Whether a killed runtime is started again."""
        return restarts(self._boundary, model=self._model)

    # --- the wires ask -------------------------------------------------------------------------------------------

    async def on_message(self, method: str | None, incarnation: int) -> bool:
        """A message, end of file or close of the runtime; False: it is not forwarded."""
        call = self._armed
        if call is None or incarnation != call.incarnation:
            return True
        if self._find(lambda event: event.kind is Kind.DELIVERED and event.call == call.n) is None:
            return True
        self._armed = None
        if self._hands.outcome_written():
            self._inapplicable("finished first")
            return True
        self._strike(call, None, f"kill at {method}")
        await self._hands.kill_runtime()
        return False

    async def on_call(self, call: LiveCall) -> Manifestation | None:
        """A call, before it is forwarded."""
        if self._point is Point.CALL and self._hits(call):
            self._strike(call, None)
            return self._manifestation
        if call.declared is None and call.tool == self._look_up_due:
            self._look_up_due = None
            self._scene.recorder.record(Kind.STRIKE, call=call.n, detail=f"look-up {self._manifestation}")
            return self._manifestation
        if self._must_wait(call):
            call.held = True
            await self._first(self._landed, self._scene.over)
            if not self._landed.is_set():
                return Manifestation.SILENCE  # the run is over; what nobody waits for is not forwarded
            self._scene.recorder.record(Kind.RELEASED, call=call.n)
        return None

    async def on_request(self, live: LiveRequest) -> Manifestation | None:
        """An upstream request at the provider's front door."""
        if self._point is not Point.REQUEST or not self._hits_request(live):
            return None
        assert live.call is not None
        self._strike(live.call, live)
        if self._boundary is Boundary.BEFORE_COMMIT:
            return self._manifestation
        self._held = live
        if self._boundary is Boundary.DURING_CANCEL:
            await self._until_cancelled(live.call)
        else:
            await self._until_late(live.call)
        self._scene.recorder.record(Kind.RELEASED, request=live.n)
        return None

    async def on_reply(self, live: LiveRequest, *, committed: bool) -> Manifestation | None:
        """The provider's answer, before the tool server gets it."""
        struck = self._point is Point.REPLY and self._hits_request(live)
        if committed and self._decoys_due and (struck or live is self._held or self._decoy_at_any_commit(live)):
            self._decoys_due = False
            await self._hands.make_decoys()
        if live is self._held:
            self._scene.spawn(self._land(live))
        if not struck or (not committed and self._nothing_to_strike()):
            return None
        assert live.call is not None
        self._hands.probe()
        if self.restarts:
            self._strike(live.call, live, "kill")
            await self._hands.kill_runtime()
            return self._manifestation if self._boundary is Boundary.REPAIR_DRIFT else None
        if self._boundary is Boundary.OTHER_INSTANCE:
            self._hands.other_instance(keep_sessions=self._variant is Variant.SESSION_KEPT)
        if self._boundary is Boundary.DOUBLE_RESUME:
            self._strike(live.call, live, "stop")
            await self._hands.stop_runtime()
            return Manifestation.SILENCE
        if self._boundary is Boundary.LOOKUP_FAILURE:
            return self._lose_before_look_up(live.call, live)
        self._strike(live.call, live)
        if self._boundary is Boundary.PROVIDER_CRASH:
            await self._hands.crash_provider()
        return self._manifestation

    def on_lost(self, live: LiveRequest) -> None:
        """At a gate the mutation is the tool server's own: a server that ended before it was let through wrote nothing."""
        if live is self._held:
            self._landed.set()
            self._inapplicable("tool server ended first")

    async def on_result(self, call: LiveCall) -> Manifestation | None:
        """The tool server's result, before the runtime gets it."""
        if self._point is not Point.RESULT or not self._hits(call):
            return None
        if call.tool in self._scene.contracts and not self._committed(call) and self._nothing_to_strike():
            return None
        if self._variant is Variant.DELIVERED:
            self._struck = self._armed = call
            return None
        if self._manifestation is Manifestation.ASKED and not call.asks:
            self._inapplicable("cannot be asked")
            return None
        if self._variant is Variant.RESUMABLE and not await self._primed(call):
            self._inapplicable("no event id")
            return None
        self._hands.probe()
        self._strike(call, None)
        return self._manifestation

    async def _primed(self, call: LiveCall) -> bool:
        """Whether the runtime has an event id of the call's stream; it was sent before the answer."""
        found = await self._scene.recorder.until(lambda event: event.kind is Kind.PRIMED and event.call == call.n, DONE_S)
        return found is not None

    async def on_cancel(self, call: LiveCall) -> bool:
        """The runtime cancelled a call; False: the tool server is not told."""
        return not (self._boundary is Boundary.AFTER_TIMEOUT and call is self._struck)

    async def crash(self, instance: str) -> None:
        """Manifestation ``crash`` at the provider's side."""
        await self._hands.kill_server(instance)

    # --- the conductor asks --------------------------------------------------------------------------------------

    async def before_restart(self) -> None:
        """Keep the runtime down for as long as the boundary says."""
        if self._variant is Variant.AFTER_LEASE:
            await self._until_lease_over()
        if self._boundary is not Boundary.TOKEN_EXPIRED:
            return
        assert self._retention_s is not None
        assert self._struck_at is not None
        struck = self._struck_at.request
        commit = self._find(lambda event: event.kind is Kind.COMMIT and event.request == struck)
        assert commit is not None
        now = self._scene.recorder.record(Kind.NOTE, detail="the runtime stays down until the retention is over")
        await asyncio.sleep(max(0.0, commit.t + self._retention_s + RETENTION_MARGIN_S - now.t))
        self._scene.recorder.record(Kind.RETENTION_OVER)

    async def _until_lease_over(self) -> None:
        """Whenever it was renewed last, that was before the kill."""
        killed = self._find(lambda event: event.kind is Kind.RUNTIME_KILLED)
        assert killed is not None
        assert self._lease_s is not None
        now = self._scene.recorder.record(Kind.NOTE, detail="the runtime stays down until its lease is over")
        await asyncio.sleep(max(0.0, killed.t + self._lease_s + RETENTION_MARGIN_S - now.t))
        self._scene.recorder.record(Kind.LEASE_OVER)

    async def before_continuing(self) -> None:
        """Keep the first runtime still until its call has timed out, so that no machine's speed decides what it sees."""
        struck = self._struck
        call = self._find(lambda event: event.kind is Kind.CALL and struck is not None and event.call == struck.n)
        assert call is not None
        now = self._scene.recorder.record(Kind.NOTE, detail="the first runtime stands still until its call has timed out")
        await asyncio.sleep(max(0.0, call.t + self._scene.tool_call_s + TIMEOUT_MARGIN_S - now.t))

    def finish(self) -> None:
        """The runtime has ended: a kill that still waited for its next message can no longer come."""
        if self._armed is not None:
            self._armed = None
            self._inapplicable("finished first")
        if self._look_up_due is not None:
            self._inapplicable("never looked up")
        self.ended()

    def ended(self) -> None:
        """The runtime's time is over, or it has ended: the model can no longer be asked again."""
        if self._boundary is not Boundary.REPAIR_DRIFT or not self._model or self._struck_at is None:
            return
        if self._find(lambda event: any(asked.changed for asked in event.asked or ())) is None:
            self._inapplicable("model not asked")

    # --- inside --------------------------------------------------------------------------------------------------

    def _hits(self, call: LiveCall) -> bool:
        if call.declared != self._target:
            return False
        return self._struck is None or (self._scene.cell.strike.every and call is not self._struck)

    def _hits_request(self, live: LiveRequest) -> bool:
        return live.call is not None and live.nth == self._scene.cell.strike.upstream and self._hits(live.call)

    def _strike(self, call: LiveCall, live: LiveRequest | None, detail: str = "") -> None:
        event = self._scene.recorder.record(
            Kind.STRIKE, call=call.n, request=live.n if live else None, detail=detail or str(self._manifestation)
        )
        if self._struck_at is None:
            self._struck_at = event
        self._struck = call

    def _lose_before_look_up(self, call: LiveCall, live: LiveRequest) -> Manifestation:
        contract = self._scene.contracts[call.tool]
        assert contract.lookup is not None
        self._look_up_due = contract.lookup.tool
        self._strike(call, live, str(Manifestation.RESET))
        return Manifestation.RESET

    def _committed(self, call: LiveCall) -> bool:
        requests = {live.n for live in call.requests}
        return self._find(lambda event: event.kind is Kind.COMMIT and event.request in requests) is not None

    def _nothing_to_strike(self) -> bool:
        """The struck call made no effect (a tool took it for a repeat): there is no commit to strike after."""
        if self._struck_at is not None:
            return False
        if self._find(lambda event: event.kind is Kind.INAPPLICABLE) is None:
            self._inapplicable("nothing was committed")
        return True

    def _inapplicable(self, reason: str) -> None:
        self._scene.recorder.record(Kind.INAPPLICABLE, detail=reason)

    def _find(self, predicate: Predicate) -> Event | None:
        return self._scene.recorder.find(predicate)

    def _decoy_at_any_commit(self, live: LiveRequest) -> bool:
        """Where no commit is struck, the decoy appears after the first one; at a RESULT after the struck call's."""
        if self._point is Point.RESULT:
            return live.call is not None and self._hits(live.call)
        return self._point in (Point.NOWHERE, Point.CALL) or self._boundary is Boundary.BEFORE_COMMIT

    def _must_wait(self, call: LiveCall) -> bool:
        """The next call waits at the tool wire until the held request has been answered.

        Over a cancel a look-up waits too: it would race the commit, and the verdict with it.
        """
        held = self._held is not None and not self._landed.is_set() and call is not self._struck
        if self._boundary is Boundary.DURING_CANCEL:
            return held
        return held and self._variant is Variant.BEFORE_RETRY and call.declared is not None

    async def _land(self, live: LiveRequest) -> None:
        """The held request is answered: let the next call in once the tool server is done with the struck one.

        A server that was told to cancel sends no result; then its answer from the provider is all there is to wait for.
        """
        await self._scene.recorder.until(
            lambda event: event.kind is Kind.RESULT and live.call is not None and event.call == live.call.n, DONE_S
        )
        self._landed.set()

    async def _first(self, *happenings: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(happening.wait()) for happening in happenings]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=self._run_s)
        finally:
            for wait in waits:
                wait.cancel()

    def _gave_up(self, call: LiveCall) -> Predicate:
        """The closed set of signs that the runtime no longer waits for the call."""
        assert self._struck_at is not None
        after = self._struck_at.n

        def sign(event: Event) -> bool:
            if event.n <= after:
                return False
            if event.kind is Kind.CANCEL:
                return event.call == call.n
            if event.kind is Kind.CLOSED:  # over stdio nothing can be answered any more; over HTTP a session may outlive it
                return event.instance == call.instance
            if event.kind is Kind.CALL:
                return event.declared is None or self._same_intent(event.declared, call)
            if event.kind is Kind.MODEL_REQUEST and event.asking is not None:
                return any(told.declared == call.declared for told in event.asking.told)
            return event.kind in (Kind.OUTCOME, Kind.RUNTIME_EXITED)

        return sign

    def _same_intent(self, declared: int, call: LiveCall) -> bool:
        calls = self._scene.traffic.workload.declared_calls
        return call.declared is not None and calls[declared][0] == calls[call.declared][0]

    async def _until_gave_up(self, call: LiveCall) -> Event | None:
        """Wait for the runtime to give up; after 3 × its timeout the cell is not applicable."""
        sign = await self._scene.recorder.until(self._gave_up(call), 3 * self._scene.tool_call_s)
        if sign is None:
            self._inapplicable("never gave up")
            return None
        message = {Kind.CALL: "next-message", Kind.MODEL_REQUEST: "next-message"}
        by = {Kind.CANCEL: sign.by or "cancel", Kind.CLOSED: "disconnect", Kind.OUTCOME: "outcome", **message}.get(
            sign.kind, "exit"
        )
        return self._scene.recorder.record(Kind.GAVE_UP, call=call.n, by=by)

    async def _until_cancelled(self, call: LiveCall) -> None:
        """Boundary 5: hold until the cancel has reached the tool server."""
        if await self._until_gave_up(call) is None:
            return
        told = await self._scene.recorder.until(
            lambda event: event.kind is Kind.CANCEL_DELIVERED and event.call == call.n, 1.0
        )
        if told is None:
            self._inapplicable("never cancelled")

    async def _until_late(self, call: LiveCall) -> None:
        """Boundary 6: hold until the variant's moment, or until a negative look-up would be final."""
        gave_up = await self._until_gave_up(call)
        if gave_up is None:
            return
        contract = self._scene.contracts.get(call.tool)
        settles = contract.lookup.settles_s if contract is not None and contract.lookup is not None else None
        limit = self._run_s if settles is None else max(0.0, settles - SETTLE_MARGIN_S)
        moment = await self._scene.recorder.until(self._moment(call), limit)
        if moment is None and settles is not None and self._variant is not Variant.BEFORE_RETRY:
            self._inapplicable("contract")

    def _moment(self, call: LiveCall) -> Predicate:
        """When the variant lets the held request through; the runtime's end always does."""
        assert self._struck_at is not None
        after = self._struck_at.n
        requests = self._scene.traffic.requests

        def happened(event: Event) -> bool:
            if event.n <= after:
                return False
            if event.kind is Kind.RUNTIME_EXITED:
                return True
            if self._variant is Variant.BEFORE_RETRY:
                return event.kind is Kind.CALL and event.declared is not None
            if self._variant is Variant.AFTER_RETRY and event.kind is Kind.REPLY and event.committed:
                later = next((live for live in requests if live.n == event.request), None)
                return later is not None and later.call is not call
            return False

        return happened
