"""Whether a machine too busy for the test disturbed a cell: decided from the history, blind to the verdict."""

from __future__ import annotations

from benchmark.history import History, Kind

NEARLY = 0.8
"""The runtime's clock starts before ours: a call that took nearly its timeout may have been too slow already."""


def disturbance(history: History) -> str | None:
    """The first call that nothing of ours touched and that still took longer than the runtime waits; None: undisturbed."""
    struck = {event.call for event in history.of(Kind.STRIKE)}
    held = {event.call for event in history.of(Kind.RELEASED) if event.call is not None}
    limit = NEARLY * history.declaration.tool_call_s
    for call in history.of(Kind.CALL):
        if call.call in struck or call.call in held or _interrupted(history, call.n):
            continue
        cancel = history.first(Kind.CANCEL, call=call.call)
        delivered = history.first(Kind.DELIVERED, call=call.call)
        if cancel is not None and (delivered is None or cancel.n < delivered.n):
            return f"call {call.call} was cancelled after {cancel.t - call.t:.2f} s without a fault"
        if delivered is not None and delivered.t - call.t > limit:
            return f"call {call.call} took {delivered.t - call.t:.2f} s without a fault"
    return None


def _interrupted(history: History, after: int) -> bool:
    """A tool server or the runtime was killed while the call was under way, or the run was over."""
    return any(event.n > after for event in history.of(Kind.SERVER_KILLED, Kind.RUNTIME_KILLED, Kind.STILL_RUNNING))
