"""A run's finding in one plain sentence: what the runtime does wrong, how often, and what it never did."""

from __future__ import annotations

from collections.abc import Iterable

from benchmark.boundaries import Boundary
from benchmark.results import Blame
from benchmark.summary import Counts, Side

_LOST = (
    Boundary.AFTER_COMMIT,
    Boundary.BEFORE_DELIVERY,
    Boundary.OTHER_INSTANCE,
    Boundary.PROVIDER_CRASH,
    Boundary.LOOKUP_FAILURE,
)
_LATE = (Boundary.DURING_CANCEL, Boundary.AFTER_TIMEOUT)
_RESTART = (Boundary.AGENT_RESTART, Boundary.TOKEN_EXPIRED, Boundary.DOUBLE_RESUME, Boundary.LEASE_EXPIRED)
_REPEATS: tuple[tuple[tuple[Boundary, ...], str, str], ...] = (
    (_LOST, "re-sends a call whose answer was lost", "when an answer was lost"),
    (_LATE, "re-sends a call that it gave up on while it still ran", "after a timeout"),
    (_RESTART, "does its work again after a restart", "after a restart"),
    ((Boundary.INPUT_REQUIRED,), "makes a call again about which it was asked for input", "when input was asked for"),
    ((Boundary.REPAIR_DRIFT,), "re-sends a call, repaired, after it had taken effect", "after a new plan"),
    ((Boundary.NONE,), "makes effects twice although nothing went wrong", "when nothing went wrong"),
)
"""Boundaries at which a duplicate has one cause: how the cause is told alone, and how after another."""


def answer(side: Side | None) -> str:
    """The sentence for one side of a run; it asserts nothing that the counts do not hold."""
    if side is None or not side.whole.judged:
        return "Nothing could be judged: no statement about this runtime is possible."
    whole = side.whole
    told = [_extra(side), *_absent(side), _unsure(whole), *_false(whole)]
    return _sentence(f"{'; '.join(told)}; {_of(whole.stimuli, 'distinct stimulus', 'distinct stimuli')} tried.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _of(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _in(counts: Counts, field: str) -> str:
    return f"in {counts.shown[field]:,}"


def _extra(side: Side) -> str:
    whole = side.whole
    if not whole.totals["extra"]:
        return f"never made an effect that was not authorised in {_of(whole.judged, 'eligible cell')}"
    kinds = (
        ("duplicates", "duplicate effect"),
        ("strays", "effect that nobody authorised"),
        ("compensated", "effect made and undone again"),
    )
    counted = [_counted(whole.totals[field], one) for field, one in kinds if whole.totals[field]]
    counted = counted or [_counted(whole.totals["extra"], "effect too many")]
    told = f"{_join(counted)} {_in(whole, 'extra')} of {_of(whole.judged, 'eligible cell')}"
    if side.spec_mandated == whole.shown["extra"]:
        return f"makes effects twice only where the specification has the call sent again: {told}"
    others = "; ".join((*_mandated(side), *_others(side)))
    return f"{_cause(side)}: {told}" + (f" ({others})" if others else "")


def _mandated(side: Side) -> Iterable[str]:
    if side.spec_mandated:
        yield f"in {side.spec_mandated:,} of these the specification demanded it"


def _others(side: Side) -> Iterable[str]:
    """Who else was the first to repeat, and in how many cells."""
    if len(side.blame) > 1:
        others = [f"the {who} in {cells:,}" for who, cells in side.blame.items() if who is not Blame.RUNTIME]
        yield f"first repeated by {_join(others)}"


def _counted(count: int, one: str) -> str:
    """``effect made and undone again`` → ``3 effects made and undone again``."""
    return f"{count:,} {one if count == 1 else one.replace('effect', 'effects', 1)}"


def _cause(side: Side) -> str:
    found = []
    for boundaries, alone, after in _REPEATS:
        rows = [side.row(boundary) for boundary in boundaries]
        if any(row is not None and row.counts.shown["duplicates"] for row in rows):
            found.append((alone, after))
    if not found:
        return "makes effects that were not authorised"
    others = f" (also {_join([after for _, after in found[1:]])})" if found[1:] else ""
    whose = "its model " if set(side.blame) == {Blame.MODEL} else ""
    return whose + found[0][0] + others


def _absent(side: Side) -> Iterable[str]:
    whole = side.whole
    if whole.totals["missing"]:
        could_not = f" (in {side.barred:,} of these the fault took every attempt)" if side.barred else ""
        yield f"left {_of(whole.totals['missing'], 'effect')} out {_in(whole, 'missing')}{could_not}"
    else:
        yield "never lost one"
    if whole.totals["torn"]:
        yield f"left work half done that must not stand alone {_in(whole, 'torn')}"
    if whole.totals["false_dedup"]:
        yield f"took two authorised effects for one {_in(whole, 'false_dedup')}"


def _unsure(whole: Counts) -> str:
    if not whole.totals["unresolved"]:
        return "never said it was unsure"
    settled = whole.shown["avoidable"]
    more = f" ({settled:,} of these could have been settled)" if settled else ""
    return f"left the user unsure {_in(whole, 'unresolved')}{more}"


def _false(whole: Counts) -> Iterable[str]:
    if whole.totals["misreported"]:
        yield f"said something false {_in(whole, 'misreported')}"


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
