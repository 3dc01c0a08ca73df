"""Two histories of one cell in one table: what happened in both stands in one row, what only one has beside a gap."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from benchmark.history import Event, History
from benchmark.reporting.timeline import Move, told


@dataclass(frozen=True)
class Told:
    """An event of one side, in words."""

    n: int
    t: float
    kind: str
    move: Move


@dataclass(frozen=True)
class Row:
    """What happened at one place of both stories; None: nothing there."""

    left: Told | None
    right: Told | None

    @property
    def apart(self) -> bool:
        """Whether only one side has it."""
        return self.left is None or self.right is None

    @property
    def differs(self) -> bool:
        """Whether the sides say different things."""
        return self.left is None or self.right is None or self.left.move.text != self.right.move.text


def rows(left: History, right: History) -> tuple[Row, ...]:
    """Both stories, told side by side, each in its own order."""
    return tuple(_pairs([*_told(left.events)], [*_told(right.events)], _keys(left), _keys(right)))


def _pairs(
    left: Sequence[Told], right: Sequence[Told], ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> Iterator[Row]:
    for tag, start, end, begin, stop in SequenceMatcher(a=ours, b=theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (Row(one, other) for one, other in zip(left[start:end], right[begin:stop], strict=True))
        else:
            yield from (Row(one, None) for one in left[start:end])
            yield from (Row(None, other) for other in right[begin:stop])


def _keys(history: History) -> list[Hashable]:
    """What makes an event the same one in both stories: its kind and its place, but no time, process or receipt."""
    return [(event.kind, event.incarnation, event.call, event.request, event.method, event.by) for event in history.events]


def _told(events: Sequence[Event]) -> Iterator[Told]:
    return (Told(event.n, event.t, event.kind.value, told(event)) for event in events)
