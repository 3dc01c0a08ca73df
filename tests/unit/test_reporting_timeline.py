from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from benchmark.history import Event, History, Kind
from benchmark.reporting import timeline
from benchmark.results import CellResult, Verdict

Make = Callable[..., CellResult]
MakeHistory = Callable[..., History]

STORY = """\
charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1
blind-retry on client-token over stdio, 2025-11-25: One charge.

runtime  wire     server   provider conductor   seconds  no.  what
│        │        ■        │        │             0.010    1  server starts (instance a)
■        │        │        │        │             0.020    2  runtime starts (incarnation 1)
●────────────────▶│        │        │             0.030    3  initialize
●───────▶│        │        │        │             0.040    4  call 1: charge order="1001" amount=10000 currency="usd"
│        ●───────▶│        │        │             0.050    5  call 1 forwarded to a
│        │◀───────●        │        │             0.060    6  request 1 of call 1: POST /charges {"order": "1001", "amount": 10000, "currency": "usd"}
│        ●────────────────▶│        │             0.070    7  request 1 let through
│        │        │        ◆        │             0.080    8  COMMITTED charge ch_1
│        │◀────────────────●        │             0.090    9  request 1: status 201 ch_1
│        │        │        │        ●             0.100   10  the oracle sees, while the answer is held: ch_1
│        │◀─────────────────────────✖             0.110   11  THE FAULT STRIKES request 1: reset
│        ●───────▶│        │        │             0.120   12  request 1 answered: ours, not the provider's
│        │◀───────●        │        │             0.130   13  call 1 result: isError {"isError": true, "content": []}
│◀───────●        │        │        │             0.140   14  call 1 answered: isError {"isError": true, "content": []}
●───────▶│        │        │        │             0.150   15  call 2: charge order="1001" amount=10000 currency="usd"
│        ●───────▶│        │        │             0.160   16  call 2 forwarded to a
│        │◀───────●        │        │             0.170   17  request 2 of call 2: POST /charges {"order": "1001", "amount": 10000, "currency": "usd"}
│        ●────────────────▶│        │             0.180   18  request 2 let through
│        │        │        ◆        │             0.190   19  COMMITTED charge ch_2
│        │◀────────────────●        │             0.200   20  request 2: status 201 ch_2
│        ●───────▶│        │        │             0.210   21  request 2 answered: status 201
│        │◀───────●        │        │             0.220   22  call 2 result: {"receipt": "ch_2"}
│◀───────●        │        │        │             0.230   23  call 2 answered: {"receipt": "ch_2"}
●──────────────────────────────────▶│             0.240   24  outcome: [{"id": "charge-1001", "status": "committed", "receipt": "ch_2"}]
■        │        │        │        │             0.250   25  runtime ends (incarnation 1, status 0)
│        │        │        │        ●             0.260   26  nothing is in flight any more

What the oracle found at the end
  ch_1         charge order="1001" amount=10000 currency="usd"
  ch_2         charge order="1001" amount=10000 currency="usd"

What was claimed, and what is true
  charge-1001: claimed committed ch_2
    in the world: ch_1 ch_2

violated: charge: 1 duplicate
  declared 1, observed 2: extra 1, missing 0, false_dedup 0, unresolved 0, torn 0, misreported 0
  exposed: yes, ch_1 was there before the fault
  seen as: is-error; reaction: retried
  blame for the extra effects: runtime
  funnel: intents 1 → calls 2 → upstream requests 2 → effects 2
"""  # noqa: E501


def shown(history: History, result: CellResult) -> str:
    stream = io.StringIO()
    timeline.show(Console(file=stream, width=100, highlight=False, markup=False), history, result)
    return stream.getvalue()


def test_a_duplicate_charge_reads_as_a_story(history: MakeHistory, result: Make) -> None:
    told = result(
        verdict=Verdict.VIOLATED,
        reason="charge: 1 duplicate",
        evidence="ch_1 was there before the fault",
        extra=1,
        duplicates=1,
        declared=1,
        observed=2,
        blame="runtime",
        reaction="retried",
        seen_as="is-error",
        funnel={"intents": 1, "calls": 2, "upstream_requests": 2, "effects": 2},
    )
    assert shown(history(), told) == STORY


@pytest.mark.parametrize("kind", list(Kind))
def test_an_event_of_any_kind_is_told_even_with_nothing_in_it(kind: Kind) -> None:
    assert timeline.told(Event(n=1, t=0.0, kind=kind)).text


@pytest.mark.parametrize("kind", list(Kind))
def test_nothing_that_an_event_carries_reaches_the_terminal_unescaped(
    kind: Kind, history: MakeHistory, result: Make
) -> None:
    bad = "\x1b[2J[red]"
    event = Event(
        n=1,
        t=0.0,
        kind=kind,
        instance=bad,
        tool=bad,
        arguments={bad: bad},
        key=bad,
        rpc_id=bad,
        method=bad,
        by=bad,
        upstream={"method": bad, "path": bad, "body": {bad: bad}},
        result={"intents": [{"id": bad, "status": bad, "receipt": bad}], "content": bad},
        receipts=(bad,),
        effect_class=bad,
        detail=bad,
    )
    text = shown(history(events=(event,)), result(reason=bad, evidence=bad, seen_as=bad, funnel={bad: 1}))
    assert "\x1b" not in text
    assert "[red]" in text


@pytest.mark.parametrize("outcome", [{"intents": 7}, {"intents": [7]}, {"intents": [{"receipts": 7}]}, {}, None])
def test_an_outcome_that_is_no_outcome_does_not_break_the_story(outcome: object, history: MakeHistory, result: Make) -> None:
    event = Event.model_validate({"n": 1, "t": 0.0, "kind": Kind.OUTCOME, "result": outcome, "detail": "broken"})
    assert "claimed silent" in shown(history(events=(event,)), result())
