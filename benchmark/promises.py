"""What breaks a runtime's own word: the words that its documents may be held to, as data."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.entries import Says
from benchmark.results import Blame, CellResult


@dataclass(frozen=True)
class Breach:
    """Any of these figures above zero breaks the word; ``by``: only where this one was the first to multiply."""

    figures: tuple[str, ...] = ()
    by: Blame | None = None


_EXCEEDS = ("extra",)
_LACKS = ("missing", "torn", "false_dedup")

BREACHES: dict[Says, Breach] = {
    "exactly-once": Breach((*_EXCEEDS, *_LACKS)),
    "at-most-once": Breach(_EXCEEDS),
    "at-least-once": Breach(_LACKS),
    "sent-once": Breach(_EXCEEDS, Blame.RUNTIME),
    "may-repeat": Breach(),
    "nothing": Breach(),
}


def breaks(says: Says, result: CellResult) -> bool:
    """Whether a judged cell shows what the word excludes."""
    breach = BREACHES[says]
    shown = any(getattr(result, figure) > 0 for figure in breach.figures)
    return shown and breach.by in (None, result.blame)
