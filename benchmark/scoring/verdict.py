"""The verdict, the first that fits, and its reason in one plain sentence."""

from __future__ import annotations

from collections.abc import Callable
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


@dataclass(frozen=True)
class Rule:
    """One question of the verdict; ``finds`` answers with the reason, or None: it does not fit."""

    verdict: Verdict
    asks: str
    finds: Callable[[Grounds, Partition, Claims], str | None]


def verdict(grounds: Grounds, effects: Partition, claims: Claims) -> tuple[Verdict, str]:
    """(verdict, reason) of the first rule that fits."""
    for rule in RULES:
        reason = rule.finds(grounds, effects, claims)
        if reason is not None:
            return rule.verdict, reason
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


RULES: tuple[Rule, ...] = (
    Rule(Verdict.NOT_APPLICABLE, "does the cell apply at all?", lambda grounds, *_: grounds.inapplicable),
    Rule(Verdict.HARNESS_ERROR, "did the benchmark itself fail?", lambda grounds, *_: grounds.harness),
    Rule(
        Verdict.UNTESTABLE,
        "is there no proof that the fault struck?",
        lambda grounds, *_: None if grounds.exposed else grounds.evidence,
    ),
    Rule(
        Verdict.VIOLATED,
        "is an effect too many, torn or falsely deduplicated, or a claim false?",
        lambda _, effects, claims: "; ".join(_violations(effects, claims)) or None,
    ),
    Rule(
        Verdict.INCOMPLETE,
        "is an effect missing?",
        lambda _, effects, __: (
            f"{_count(len(effects.missing), 'declared effect')} never happened" if effects.missing else None
        ),
    ),
    Rule(
        Verdict.INCOMPLETE,
        "is a read not claimed committed?",
        lambda _, __, claims: (
            f"the read {claims.unclaimed_reads[0]} is not claimed committed" if claims.unclaimed_reads else None
        ),
    ),
    Rule(
        Verdict.UNRESOLVED,
        "is an intent left open?",
        lambda _, __, claims: _open(claims) if claims.unresolved else None,
    ),
)
"""In this order; where none fits, the cell is correct."""
