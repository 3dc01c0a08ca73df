"""Whether a machine too busy for the test disturbed a cell: decided from the history, blind to the verdict."""

from __future__ import annotations

from benchmark.boundaries import SECOND_LIVES, Boundary, Manifestation
from benchmark.history import Event, History, Kind

NEARLY = 0.8
"""The runtime's clock starts before ours: a call that took nearly its timeout may have been too slow already."""


TAKES_TIME = frozenset({Boundary.DURING_CANCEL, Boundary.AFTER_TIMEOUT}) | SECOND_LIVES
"""Boundaries that mean the struck call to take long, or never to end."""


def disturbance(history: History) -> str | None:
    """The first call that was slow, or given up, for no reason that the cell gives; None: undisturbed."""
    struck = {event.call for event in history.of(Kind.STRIKE)} if _strike_takes_time(history) else set()
    held = {event.call for event in history.of(Kind.RELEASED) if event.call is not None} | _held_to_the_end(history)
    limit = NEARLY * history.declaration.tool_call_s
    for call in history.of(Kind.CALL):
        if call.call in struck | held or _interrupted(history, call):
            continue
        cancel = history.first(Kind.CANCEL, call=call.call)
        told = history.first(Kind.DELIVERED, Kind.CONNECTION_LOST, call=call.call)
        if cancel is not None and (told is None or cancel.n < told.n):
            return f"call {call.call} was cancelled after {cancel.t - call.t:.2f} s without a fault"
        if told is not None and told.t - call.t > limit:
            return f"call {call.call} took {told.t - call.t:.2f} s without a fault"
    return None


def _held_to_the_end(history: History) -> set[int | None]:
    """Calls behind a struck one that was held in vain: where the cell was then found inapplicable they were never let on."""
    if history.first(Kind.INAPPLICABLE) is None or history.first(Kind.STRIKE) is None:
        return set()
    forwarded = {event.call for event in history.of(Kind.CALL_FORWARDED)}
    return {event.call for event in history.of(Kind.CALL)} - forwarded


def _strike_takes_time(history: History) -> bool:
    cell = history.declaration.cell
    return cell.manifestation is Manifestation.SILENCE or cell.boundary in TAKES_TIME


def _interrupted(history: History, call: Event) -> bool:
    """The runtime was killed while the call was under way, its server was, or the run was over."""
    ends = history.of(Kind.RUNTIME_KILLED, Kind.STILL_RUNNING)
    return any(event.n > call.n for event in ends) or any(
        event.n > call.n and event.instance == call.instance for event in history.of(Kind.SERVER_KILLED)
    )
