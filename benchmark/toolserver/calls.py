"""One tool call from arguments to result, in one thread: check, key, steps, answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmark.contracts import Key
from benchmark.entries import Tool
from benchmark.toolserver.answers import Done, Refused, Result, error, found, meaning, refusal, success
from benchmark.toolserver.arguments import Invalid, Taken, checked
from benchmark.toolserver.steps import Around, Lost, Reply, Send, Serving, Step, plan
from benchmark.toolserver.upstream import Attempt

Json = dict[str, Any]
Transport = Callable[[Step, Attempt], Reply]
RETRY_AFTER_S = 0.2

Guard = Callable[[str, Json, str, Callable[[], Result]], Result]
"""Stands around a whole call that carries a key: tool, checked arguments, key, and what does the work."""


def directly(step: Step, send: Send) -> Reply:
    """The default of ``around``."""
    return send(step)


class Calls:
    """The tools of one server instance."""

    def __init__(
        self, tools: Mapping[str, Tool], transport: Transport, around: Around = directly, guard: Guard | None = None
    ) -> None:
        self._tools = {name: (tool, Serving.model_validate(tool.serving)) for name, tool in tools.items()}
        self._transport = transport
        self._around = around
        self._guard = guard
        self._running: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def call(self, name: str, given: Mapping[str, Any], params: Mapping[str, Any], attempt: Attempt) -> Result:
        """Runs a call to its end. ``params``: the raw parameters of ``tools/call``, where a key may travel."""
        tool, serving = self._tools[name]
        try:
            arguments = checked(tool.arguments, given)
            key = _key(tool, arguments, params)
            steps = plan(tool, serving, arguments, key)
            if self._guard is not None and key is not None:
                return self._guard(name, arguments, key, lambda: self._make(tool, serving, steps, attempt))
            with self._only_one(name, tool, key) as alone:
                return (
                    self._make(tool, serving, steps, attempt) if alone else error("in_progress", retry_after_s=RETRY_AFTER_S)
                )
        except Invalid as wrong:
            return error("invalid_arguments", message=str(wrong))
        except Taken as taken:
            return error("mismatch", receipt=taken.receipt)

    def _make(self, tool: Tool, serving: Serving, steps: tuple[Step, ...], attempt: Attempt) -> Result:
        """The steps in order; the first that is refused or lost is the last."""

        def send(step: Step) -> Reply:
            return self._transport(step, attempt)

        done: list[Done] = []
        try:
            if tool.contract is None:
                return found(self._around(steps[0], send), serving.listed)
            for step in steps:
                answer = meaning(self._around(step, send), tool.contract)
                if isinstance(answer, Refused):
                    return refusal(answer, done)
                done.append(answer)
        except Lost:
            return error("upstream_unknown", done)
        return success(done, several=tool.contract.effects is not None)

    @contextmanager
    def _only_one(self, name: str, tool: Tool, key: str | None) -> Iterator[bool]:
        """False where the contract says that a repeat is told of the running first, and it runs."""
        if key is None or tool.contract is None or tool.contract.answers.in_progress is None:
            yield True
            return
        with self._lock:
            alone = (name, key) not in self._running
            self._running.add((name, key))
        try:
            yield alone
        finally:
            if alone:
                with self._lock:
                    self._running.discard((name, key))


def _key(tool: Tool, arguments: Json, params: Mapping[str, Any]) -> str | None:
    """The caller's key, never made up; raises Invalid."""
    declared = tool.contract.key if tool.contract is not None else None
    if declared is None:
        return None
    key = _carried(declared, arguments, params)
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= declared.max_length or not (key.isascii() and key.isprintable()):
        raise Invalid(f"the key must be 1 to {declared.max_length} printable ASCII characters")
    return key


def _carried(declared: Key, arguments: Json, params: Mapping[str, Any]) -> Any:
    match declared.carrier:
        case "argument":
            return arguments.get(declared.name)
        case "meta":
            return (params.get("_meta") or {}).get(declared.name)
        case "param":
            return params.get(declared.name)
