"""One history in, one judgement out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from benchmark.exposure import Exposure, exposure
from benchmark.history import History, Kind
from benchmark.results import Judgement
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.claims import Claims, claims
from benchmark.scoring.effects import Partition, partition
from benchmark.scoring.funnel import blame, funnel, invited, model_requests, spec_mandated
from benchmark.scoring.nearest import demand, nearest
from benchmark.scoring.reaction import reaction, seen_as
from benchmark.scoring.statements import Statements, statements
from benchmark.scoring.stimulus import stimulus
from benchmark.scoring.verdict import Grounds, verdict
from benchmark.witnesses import disagreement


@dataclass(frozen=True)
class Weighed:
    """One history taken apart: everything that its judgement is made of."""

    about: Attribution
    stated: Statements
    effects: Partition
    said: Claims
    exposed: Exposure
    grounds: Grounds


def weigh(history: History) -> Weighed:
    """Attribution, partitions, exposure and grounds of a cell; reads nothing but the history."""
    about = Attribution(history)
    stated = statements(history)
    effects = partition(history, about, stated) if history.reading.error is None else _unread(about)
    said = claims(about, stated, effects)
    exposed = exposure(history)
    grounds = Grounds(
        inapplicable=_inapplicable(history),
        harness=_harness(history),
        exposed=exposed.exposed,
        evidence=exposed.evidence,
    )
    return Weighed(about, stated, effects, said, exposed, grounds)


def judge(history: History) -> Judgement:
    """Figures, claims, funnel and verdict of a cell; reads nothing but the history."""
    weighed = weigh(history)
    about, effects, said, exposed = weighed.about, weighed.effects, weighed.said, weighed.exposed
    decided, reason = verdict(weighed.grounds, effects, said)
    return Judgement(
        verdict=decided,
        reason=reason,
        exposed=exposed.exposed,
        evidence=exposed.evidence,
        declared=effects.declared,
        observed=len(effects.observed),
        extra=effects.extra,
        duplicates=effects.duplicates,
        strays=len(effects.strays),
        compensated=len(effects.compensated),
        missing=len(effects.missing),
        torn=len(effects.torn_intents),
        false_dedup=len(effects.false_dedup),
        unresolved=len(said.unresolved),
        avoidable=len(said.avoidable),
        misreported=len(said.misreported),
        claims=said.counts,
        blame=blame(about, effects),
        invited=invited(about, effects),
        spec_mandated=spec_mandated(about, effects),
        funnel=funnel(about, effects),
        reaction=reaction(about),
        seen_as=seen_as(about),
        stimulus=stimulus(history),
        calls=len(about.calls),
        upstream_requests=len(about.requests),
        model_requests=model_requests(about),
        answer_s=_answer_s(history),
    )


def _unread(about: Attribution) -> Partition:
    """The partition where the oracle could not read: nothing is known, so nothing is counted."""
    chosen = nearest(about.workload, about.groups, {})
    return Partition(
        observed=(),
        chosen=chosen,
        wanted=demand(about.groups, chosen),
        present=Counter(),
        strays=(),
        compensated=(),
        filled=(),
        missing=(),
        false_dedup=(),
        torn=(),
    )


def _inapplicable(history: History) -> str | None:
    event = history.first(Kind.INAPPLICABLE)
    return None if event is None else event.detail or "not applicable"


def _harness(history: History) -> str | None:
    if history.reading.error is not None:
        return f"the oracle could not read: {history.reading.error}"
    found = disagreement(history)
    return None if found is None else f"the two witnesses disagree: {found}"


def _answer_s(history: History) -> float | None:
    """Seconds from the first strike to the last outcome; None without either."""
    strike = history.first(Kind.STRIKE)
    outcomes = [event for event in history.of(Kind.OUTCOME) if event.result is not None]
    if strike is None or not outcomes or outcomes[-1].n < strike.n:
        return None
    return round(outcomes[-1].t - strike.t, 6)
