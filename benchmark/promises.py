"""What breaks a runtime's own word: the words that its documents may be held to, as data."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.entries import Says
from benchmark.results import Blame, CellResult


@dataclass(frozen=True)
class Breach:
    """Any of these figures above zero breaks the word; ``by``: only where this one was the first to multiply."""

    says: str
    """What a runtime promises that gives this word."""

    figures: tuple[str, ...] = ()
    by: Blame | None = None

    @property
    def broken_by(self) -> str:
        """Which results break the word, in words."""
        if not self.figures:
            return "nothing breaks it"
        shown = " or ".join([", ".join(self.figures[:-1]), self.figures[-1]] if self.figures[1:] else self.figures)
        blamed = f", where the {self.by} was the first to repeat" if self.by else ""
        judged = "above zero in a judged cell of the boundary, on an adapter that keeps its contract"
        return f"broken by {shown} {judged}{blamed}"


_EXCEEDS = ("extra",)
_LACKS = ("missing", "torn", "false_dedup")

BREACHES: dict[Says, Breach] = {
    "exactly-once": Breach("every authorised effect happens, and none twice", (*_EXCEEDS, *_LACKS)),
    "at-most-once": Breach("no effect happens twice, whoever asks for it", _EXCEEDS),
    "at-least-once": Breach("every authorised effect happens, though it may happen twice", _LACKS),
    "sent-once": Breach("the runtime itself sends a call once, whatever its model asks for", _EXCEEDS, Blame.RUNTIME),
    "may-repeat": Breach("a call may be sent again"),
    "nothing": Breach("there is no guarantee"),
}


def breaks(says: Says, result: CellResult) -> bool:
    """Whether a judged cell shows what the word excludes."""
    breach = BREACHES[says]
    shown = any(getattr(result, figure) > 0 for figure in breach.figures)
    return shown and breach.by in (None, result.blame)
