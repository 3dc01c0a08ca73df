"""A cell's page: what was authorised beside what happened, the sequence of events, the claim against the truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.history import Event, History
from benchmark.reporting.html import diagram, slots, steps
from benchmark.reporting.html.environment import environment
from benchmark.reporting.html.words import FIGURES, VERDICTS, number_of, story
from benchmark.reporting.untrusted import value
from benchmark.results import CellResult, RunHeader
from benchmark.scoring import judge
from benchmark.summary import replay

EVENTS = 1000
"""Events that are listed."""


@dataclass(frozen=True)
class Stage:
    """One stage of the funnel."""

    name: str
    count: int
    percent: float
    guilty: bool


_STAGES = (
    ("intents", "effects authorised", None),
    ("model_requests", "model requests", "model"),
    ("calls", "calls", "runtime"),
    ("upstream_requests", "upstream requests", "tool-server"),
    ("effects", "effects", "provider"),
)
"""Stage, its name on the page, and whom its growth is blamed on."""


def render(header: RunHeader, result: CellResult, history: History) -> str:
    """The page of one cell."""
    found = slots.truth(history)
    told = steps.tell(history, found.surplus)
    proof = [int(number) for number in re.findall(r"#(\d{1,9})", result.evidence)]
    again = judge(history)
    return (
        environment()
        .get_template("cell.html.j2")
        .render(
            header=header,
            result=result,
            declared=history.declaration,
            cell=history.declaration.cell,
            number=number_of(result.boundary),
            sign=VERDICTS[result.verdict],
            figures=FIGURES,
            story=story(result),
            truth=found,
            diagram=diagram.draw(history, told, proof),
            story_steps=told,
            proof=frozenset(proof),
            evidence=_linked(result.evidence),
            funnel=_funnel(result),
            replay=replay(header, result.cell),
            outdated=again.verdict != result.verdict,
            now=again.verdict,
            events=[(event, _content(event)) for event in history.events[:EVENTS]],
            events_more=max(0, len(history.events) - EVENTS),
            contracts=[
                (name, value(contract.model_dump(mode="json", exclude_none=True), 2000))
                for name, contract in history.declaration.contracts.items()
            ],
            root="..",
        )
    )


def _linked(evidence: str) -> list[tuple[str, int | None]]:
    """The evidence in pieces: text, or the number of an event."""
    pieces = (piece for piece in re.split(r"(#\d{1,9})", evidence) if piece)
    return [(piece, int(piece[1:]) if re.fullmatch(r"#\d{1,9}", piece) else None) for piece in pieces]


def _funnel(result: CellResult) -> Sequence[Stage]:
    counts = {name: result.funnel.get(name, 0) for name, _, _ in _STAGES}
    most = max([*counts.values(), 1])
    return [
        Stage(title, counts[name], 100 * counts[name] / most, bool(result.extra) and result.blame == guilty)
        for name, title, guilty in _STAGES
        if name != "model_requests" or counts[name]
    ]


_PLAIN = {"n", "t", "kind"}


def _content(event: Event) -> str:
    """Everything that an event holds, as JSON, cut."""
    held: dict[str, Any] = event.model_dump(mode="json", exclude_none=True, exclude=_PLAIN)
    return value(held, 600) if held else ""
