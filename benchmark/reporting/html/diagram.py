"""Where the lanes, arrows, marks and holds of a sequence diagram stand: numbers for an SVG, no drawing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise

from benchmark.history import History, Kind
from benchmark.reporting.html.steps import MODEL, PROVIDER, PROVIDER_WIRE, TOOL_WIRE, Step, Story, runtime, server

GUTTER, TOP, ROW, EDGE = 132, 64, 34, 130
NARROW, LEAST, MOST, WHOLE = 112, 150, 250, 1200
"""Pixels: what stands left of the lanes, above the first row, the height of a row, the right margin; from one incarnation or
instance to the next; from another lane to the next, so that the whole fits a page if it can."""

_CHARACTER = 6.9
"""Width of a character of a label."""


@dataclass(frozen=True)
class Lane:
    """A lifeline."""

    title: str
    note: str
    x: int
    look: str
    """actor, or wire."""
    top: int
    bottom: int


@dataclass(frozen=True)
class Row:
    """One step, placed."""

    step: Step
    y: int
    start: int
    end: int
    text_x: int
    anchor: str
    """start or end, as SVG calls it."""
    label: str
    evidence: bool

    @property
    def is_mark(self) -> bool:
        return self.start == self.end

    @property
    def tip(self) -> int:
        """Where the arrow's line ends, a little short of the lane."""
        return self.end - (1 if self.end > self.start else -1)


@dataclass(frozen=True)
class Bar:
    """A hold, placed."""

    x: int
    top: int
    bottom: int
    lost: bool


@dataclass(frozen=True)
class Diagram:
    """The whole picture."""

    width: int
    height: int
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]
    cut_y: int | None
    cut: int


def draw(history: History, story: Story, evidence: Iterable[int] = ()) -> Diagram:
    """The layout of a story; ``evidence``: numbers of the events that prove the exposure."""
    x = _places(story.lanes)
    gap = len(story.steps) // 2 if story.cut else None
    y = {}
    rows = []
    shown = frozenset(evidence)
    width = max(x.values()) + EDGE
    for index, step in enumerate(story.steps):
        y[step.n] = TOP + ROW * (index + (gap is not None and index >= gap)) + ROW
        rows.append(_row(step, x, y[step.n], width, shown))
    height = (max(y.values(), default=TOP) + ROW) if y else TOP + ROW
    return Diagram(
        width=width,
        height=height,
        lanes=tuple(_lane(history, name, x[name], y, height) for name in story.lanes),
        rows=tuple(rows),
        bars=tuple(
            Bar(x[hold.lane], _at(y, hold.first), max(_at(y, hold.last), _at(y, hold.first) + ROW // 2), hold.lost)
            for hold in story.holds
            if hold.lane in x
        ),
        cut_y=None if gap is None else TOP + ROW * (gap + 1),
        cut=story.cut,
    )


def _places(lanes: list[str]) -> dict[str, int]:
    """Lane → its x; incarnations stand close to each other, instances too."""
    kinds = ("runtime-", "server-")
    close = [any(left.startswith(kind) and right.startswith(kind) for kind in kinds) for left, right in pairwise(lanes)]
    room = WHOLE - GUTTER - EDGE - NARROW * sum(close)
    wide = max(LEAST, min(MOST, room // max(1, close.count(False))))
    places = accumulate((NARROW if near else wide for near in close), initial=GUTTER)
    return dict(zip(lanes, places, strict=True))


def _at(y: dict[int, int], n: int) -> int:
    """The y of an event: its row's, or that of the last row before it."""
    return max((place for number, place in y.items() if number <= n), default=TOP)


def _row(step: Step, x: dict[str, int], y: int, width: int, evidence: frozenset[int]) -> Row:
    start = x.get(step.start, x[TOOL_WIRE])
    end = x.get(step.end, start)
    left = min(start, end)
    room = width - left - 8
    anchor, text_x = "start", left + 8
    if start == end:
        anchor, text_x, room = (
            ("end", start - 14, start - GUTTER) if start > width / 2 else ("start", start + 14, width - start - 20)
        )
    most = max(12, int(room / _CHARACTER))
    label = step.text if len(step.text) <= most else f"{step.text[: most - 1]}…"
    return Row(
        step=step,
        y=y,
        start=start,
        end=end,
        text_x=text_x,
        anchor=anchor,
        label=label,
        evidence=bool(evidence & {step.n, *step.also}),
    )


def _lane(history: History, name: str, x: int, y: dict[int, int], height: int) -> Lane:
    titles = {MODEL: ("model", ""), TOOL_WIRE: ("wire", "ours"), PROVIDER_WIRE: ("wire", "ours"), PROVIDER: ("provider", "")}
    top, bottom = TOP, height - ROW // 2
    if name in titles:
        title, note = titles[name]
        return Lane(title, note, x, "wire" if name.endswith("wire") else "actor", top, bottom)
    kind, _, which = name.partition("-")
    born, dead = (
        (Kind.RUNTIME_STARTED, (Kind.RUNTIME_KILLED, Kind.RUNTIME_EXITED))
        if kind == "runtime"
        else (Kind.SERVER_STARTED, (Kind.SERVER_KILLED, Kind.SERVER_EXITED))
    )
    for event in history.of(born, *dead):
        if (runtime(event.incarnation) if kind == "runtime" else server(event.instance)) != name:
            continue
        if event.kind is born:
            top = _at(y, event.n) if _at(y, event.n) > TOP + 2 * ROW else TOP
        else:
            bottom = _at(y, event.n)
    title = "runtime" if kind == "runtime" else "tool server"
    note = f"life {which}" if kind == "runtime" else f"instance {which}"
    return Lane(title, note, x, "actor", top, bottom)
