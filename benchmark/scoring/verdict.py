"""The verdict, the first that fits, and its reason in one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.results import Verdict
from benchmark.scoring.claims import Claims
from benchmark.scoring.effects import Partition


@dataclass(frozen=True)
class Grounds:
    """What may keep a cell from being judged."""

    inapplicable: str | None
    harness: str | None
    exposed: bool
    evidence: str


def verdict(grounds: Grounds, effects: Partition, claims: Claims) -> tuple[Verdict, str]:
    """(verdict, reason)."""
    if grounds.inapplicable is not None:
        return Verdict.NOT_APPLICABLE, grounds.inapplicable
    if grounds.harness is not None:
        return Verdict.HARNESS_ERROR, grounds.harness
    if not grounds.exposed:
        return Verdict.UNTESTABLE, grounds.evidence
    if violations := _violations(effects, claims):
        return Verdict.VIOLATED, "; ".join(violations)
    if effects.missing:
        return Verdict.INCOMPLETE, f"{_count(len(effects.missing), 'declared effect')} never happened"
    if claims.unclaimed_reads:
        return Verdict.INCOMPLETE, f"the read {claims.unclaimed_reads[0]} is not claimed committed"
    if claims.unresolved:
        return Verdict.UNRESOLVED, _open(claims)
    return Verdict.CORRECT, "exactly the declared effects, and claimed so"


def _violations(effects: Partition, claims: Claims) -> list[str]:
    parts = (
        (effects.duplicates, _count(effects.duplicates, "duplicate effect")),
        (len(effects.strays), f"{_count(len(effects.strays), 'effect')} that nobody declared"),
        (len(effects.compensated), f"{_count(len(effects.compensated), 'effect')} made and undone again"),
        (len(effects.torn_intents), f"{_count(len(effects.torn_intents), 'atomic intent')} done in part"),
        (len(effects.false_dedup), f"{_count(len(effects.false_dedup), 'declared effect')} taken for another one"),
        (len(claims.misreported), f"{_count(len(claims.misreported), 'intent')} misreported"),
    )
    return [text for count, text in parts if count]


def _open(claims: Claims) -> str:
    first = claims.unresolved[0]
    more = f" (and {len(claims.unresolved) - 1} more)" if len(claims.unresolved) > 1 else ""
    avoidable = f", {len(claims.avoidable)} avoidable" if claims.avoidable else ""
    return f"all effects happened, but {first}{more} is claimed {claims.parts[first]}{avoidable}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
