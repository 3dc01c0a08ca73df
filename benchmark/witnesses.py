"""The two witnesses: what the wire saw committed, and what the oracle lists at the end."""

from __future__ import annotations

from collections.abc import Iterable

from benchmark.history import History, Kind
from benchmark.intents import ClassKind


def disagreement(history: History) -> str | None:
    """One clause where the witnesses disagree, else None; nothing to compare where the oracle could not read."""
    if history.reading.error is not None:
        return None
    return _events(history) or _states(history)


def _known_before(history: History) -> frozenset[str]:
    return history.decoys | {effect.receipt for effect in history.reading.baseline}


def _is_state(history: History, effect_class: str | None) -> bool:
    return history.declaration.workload.classes.get(effect_class or "") is ClassKind.STATE


def _class_of(history: History) -> dict[str, str]:
    return {effect.receipt: effect.effect_class for effect in history.reading.final}


def _committed(history: History) -> list[tuple[str, str | None]]:
    """(receipt, class) in the order in which the wire saw them committed."""
    classes = _class_of(history)
    return [
        (receipt, event.effect_class or classes.get(receipt))
        for event in history.of(Kind.COMMIT)
        for receipt in event.receipts or ()
    ]


def _events(history: History) -> str | None:
    """Event-like: the same set of receipts."""
    before = _known_before(history)
    wire = {receipt for receipt, name in _committed(history) if not _is_state(history, name)} - before
    oracle = {e.receipt for e in history.reading.final if not _is_state(history, e.effect_class)} - before
    if unseen := wire - oracle:
        return f"the wire saw {_list(unseen)} committed, the oracle does not list it"
    if (unheard := oracle - wire) and len(unheard) > _unanswered(history):
        return f"the oracle lists {_list(unheard)}, the wire saw no commit of it"
    return None


def _states(history: History) -> str | None:
    """State-like: the last version committed per object is the final one, and no other version is listed."""
    before = _known_before(history)
    wire = [receipt for receipt, name in _committed(history) if _is_state(history, name)]
    oracle = {e.receipt for e in history.reading.final if _is_state(history, e.effect_class)}
    last = {_object(receipt): receipt for receipt in wire}
    if unseen := set(last.values()) - oracle:
        return f"the wire saw {_list(unseen)} committed last, the oracle does not list it"
    if (unheard := oracle - set(wire) - before) and len(unheard) > _unanswered(history):
        return f"the oracle lists {_list(unheard)}, the wire saw no commit of it"
    return None


def _object(receipt: str) -> str:
    """The object of a version's receipt, ``OBJECT@VERSION``."""
    return receipt.rsplit("@", 1)[0]


def _unanswered(history: History) -> int:
    """Requests let through and never heard of again (a server killed between the brackets): the oracle alone counts."""
    forwarded = {event.request for event in history.of(Kind.REQUEST_FORWARDED)}
    return len(forwarded - {event.request for event in history.of(Kind.REPLY, Kind.COMMIT)})


def _list(receipts: Iterable[str]) -> str:
    return ", ".join(sorted(receipts))
