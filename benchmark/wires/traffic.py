"""The calls and upstream requests of one cell, as the wires see them, and which call an upstream request belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmark.contracts import Contract
from benchmark.history import Kind, asks_for_input
from benchmark.intents import Call, Workload, json_equal
from benchmark.recorder import Recorder

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
INVALID_STATE = {"error": {"code": -32602, "message": "Invalid or expired requestState"}}


def _can_ask(meta: dict[str, Any] | None) -> bool:
    """Whether the client may be asked: the specification forbids to ask one that does not say so."""
    found = (meta or {}).get(CAPABILITIES)
    return isinstance(found, dict) and isinstance(found.get("elicitation"), dict)


@dataclass(eq=False)
class LiveCall:
    """One ``tools/call`` on the tool wire."""

    n: int
    tool: str
    arguments: dict[str, Any]
    rpc_id: int | str
    incarnation: int
    instance: str
    declared: int | None
    forwarded: bool = False
    answered: bool = False
    succeeded: bool = False
    cancelled: bool = False
    held: bool = False
    asks: bool = False
    """Its client says that it can ask its user (elicitation)."""
    state: str | None = None
    """The requestState that it brings back."""
    answer: dict[str, Any] | None = None
    """The tool server's own answer, as a JSON-RPC payload."""
    kept_as: str | None = None
    """The requestState under which the answer is kept for the call that brings it back."""
    lost: bool = False
    """One of its upstream answers was lost to the tool server, which sends nothing more for it (or repeats itself)."""
    requests: list[LiveRequest] = field(default_factory=list)

    def delivered(self, payload: dict[str, Any]) -> None:
        """The runtime is given this JSON-RPC payload, unaltered."""
        result = payload.get("result")
        self.succeeded = isinstance(result, dict) and not result.get("isError") and not asks_for_input(payload)


@dataclass(eq=False)
class LiveRequest:
    """One upstream request of a tool server (or one bracket at the gate)."""

    n: int
    call: LiveCall | None
    instance: str
    nth: int
    """Which of its call's upstream requests it is, from 1."""
    done: bool = False


class Traffic:
    """Numbers calls and requests, and attributes them."""

    def __init__(self, recorder: Recorder, workload: Workload, contracts: dict[str, Contract]) -> None:
        self._recorder = recorder
        self._contracts = contracts
        self.workload = workload
        self._plans = [workload]
        self.calls: list[LiveCall] = []
        self.requests: list[LiveRequest] = []

    def replan(self, workload: Workload) -> None:
        """From now on calls may also be attempts at the changed plan."""
        self._plans.insert(0, workload)

    def call(self, params: dict[str, Any], rpc_id: int | str, incarnation: int, instance: str) -> LiveCall:
        """Record a call that arrived at the tool wire."""
        tool = str(params.get("name"))
        arguments = params.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else None
        inputs, state = params.get("inputResponses"), params.get("requestState")
        call = LiveCall(
            n=len(self.calls) + 1,
            tool=tool,
            arguments=arguments,
            rpc_id=rpc_id,
            incarnation=incarnation,
            instance=instance,
            declared=self._declared(tool, arguments),
            asks=_can_ask(meta),
            state=state if isinstance(state, str) else None,
        )
        self.calls.append(call)
        self._recorder.record(
            Kind.CALL,
            call=call.n,
            incarnation=incarnation,
            instance=instance,
            tool=tool,
            arguments=arguments,
            meta=meta,
            rpc_id=rpc_id,
            declared=call.declared,
            key=self._key(tool, params),
            inputs=inputs if isinstance(inputs, dict) else None,
            state=call.state,
        )
        return call

    def kept(self, call: LiveCall) -> dict[str, Any] | None:
        """The answer that is kept under the requestState which a call brings back, with the same tool and arguments."""
        for earlier in self.calls:
            if call.state is not None and earlier.kept_as == call.state:
                same = earlier.tool == call.tool and json_equal(earlier.arguments, call.arguments)
                return earlier.answer if same else INVALID_STATE
        return None

    def request(self, instance: str, upstream: dict[str, Any]) -> LiveRequest:
        """Record an upstream request that arrived at the provider's front door."""
        call = self._sender(instance)
        nth = len(call.requests) + 1 if call is not None else 1
        request = LiveRequest(n=len(self.requests) + 1, call=call, instance=instance, nth=nth)
        self.requests.append(request)
        if call is not None:
            call.requests.append(request)
        self._recorder.record(
            Kind.REQUEST, request=request.n, call=call.n if call else None, instance=instance, upstream=upstream
        )
        return request

    def by_rpc_id(self, rpc_id: Any, incarnation: int, connection_calls: list[LiveCall]) -> LiveCall | None:
        """The latest call with this id on a connection."""
        found = [call for call in connection_calls if call.rpc_id == rpc_id and call.incarnation == incarnation]
        return found[-1] if found else None

    def _sender(self, instance: str) -> LiveCall | None:
        """Handlers send one request after another, and one for each effect.

        So a call with an unanswered request cannot be the sender, and one that has sent all of its requests only where no
        other can (a server that repeats itself).
        """
        candidates = [
            call
            for call in self.calls
            if call.instance == instance
            and call.forwarded
            and not call.answered
            and all(request.done for request in call.requests)
        ]
        unfinished = [call for call in candidates if not call.lost and len(call.requests) < self._expected(call)]
        return next(iter(unfinished or candidates), None)

    def _expected(self, call: LiveCall) -> int:
        contract = self._contracts.get(call.tool)
        if contract is None or contract.effects is None or contract.effects.together:
            return 1
        several = call.arguments.get(contract.effects.each)
        return len(several) if isinstance(several, list) else 1

    def _key(self, tool: str, params: dict[str, Any]) -> str | None:
        contract = self._contracts.get(tool)
        if contract is None or contract.key is None:
            return None
        carriers = {"argument": params.get("arguments"), "meta": params.get("_meta"), "param": params}
        holder = carriers[contract.key.carrier]
        value = holder.get(contract.key.name) if isinstance(holder, dict) else None
        return value if isinstance(value, str) else None

    def _declared(self, tool: str, arguments: dict[str, Any]) -> int | None:
        """The declared call that this one is an attempt at; of twins the first that has not succeeded yet."""
        for plan in self._plans:
            twins = [
                index for index, (_, _, call) in enumerate(plan.declared_calls) if self._same_effect(call, tool, arguments)
            ]
            if twins:
                succeeded = {call.declared for call in self.calls if call.succeeded}
                return next((index for index in twins if index not in succeeded), twins[-1])
        return None

    def _same_effect(self, declared: Call, tool: str, arguments: dict[str, Any]) -> bool:
        if declared.tool != tool:
            return False
        contract = self._contracts.get(tool)
        names = contract.binding if contract is not None else tuple(declared.arguments)
        return all(json_equal(declared.arguments.get(name), arguments.get(name)) for name in names)
