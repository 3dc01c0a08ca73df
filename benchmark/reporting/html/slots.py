"""A cell's truth, as scoring sees it: each declared slot beside what the oracle saw, each claim beside what happened.

Nothing is judged here: the partition and the claims are those of ``benchmark.scoring``, only put into rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from benchmark.effects import Effect
from benchmark.history import History
from benchmark.results import Claim
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.claims import OPEN, Claims, Part, claims
from benchmark.scoring.effects import Partition, partition
from benchmark.scoring.groups import Group, group_of
from benchmark.scoring.statements import claim_of, receipts_of, statements


@dataclass(frozen=True)
class Seen:
    """One effect that the oracle saw."""

    effect: Effect
    mark: str
    """fills, surplus, stray, undone, decoy, before."""
    call: int | None
    """The call whose request made it, where the wire saw it."""


@dataclass(frozen=True)
class SlotRow:
    """One group of slots (twins share theirs): what was authorised, and what filled it."""

    slots: tuple[str, ...]
    intents: tuple[str, ...]
    effect_class: str
    match: dict[str, object]
    wanted: int
    seen: tuple[Seen, ...]
    missing: int
    false_dedup: int
    torn: int

    @property
    def surplus(self) -> int:
        return sum(seen.mark == "surplus" for seen in self.seen)

    @property
    def fine(self) -> bool:
        return not (self.surplus or self.missing or self.false_dedup or self.torn)


@dataclass(frozen=True)
class ClaimRow:
    """One intent: what was asked, what the runtime says, and what is so."""

    intent: str
    say: str
    claim: Claim
    receipts: tuple[str, ...]
    part: Part
    open: bool
    avoidable: bool
    misreported: bool
    is_read: bool
    wanted: int
    filled: int


@dataclass(frozen=True)
class Truth:
    """Everything about a cell's effects and claims."""

    rows: tuple[SlotRow, ...]
    strays: tuple[Seen, ...]
    undone: tuple[Seen, ...]
    others: tuple[Seen, ...]
    """Decoys, and what was there before."""
    claims: tuple[ClaimRow, ...]
    error: str | None
    """Why the oracle could not read."""

    @property
    def surplus(self) -> frozenset[str]:
        """Receipts of effects beyond the authorised ones."""
        found = {seen.effect.receipt for row in self.rows for seen in row.seen if seen.mark == "surplus"}
        return frozenset(found | {seen.effect.receipt for seen in (*self.strays, *self.undone)})


def truth(history: History) -> Truth:
    """The truth of one history."""
    about, stated = Attribution(history), statements(history)
    effects = partition(history, about, stated)
    said = claims(about, stated, effects)
    made = about.committed_by

    def seen(effect: Effect, mark: str) -> Seen:
        return Seen(effect, mark, made.get(effect.receipt))

    observed = {(effect.effect_class, effect.receipt) for effect in effects.observed}
    others = (effect for effect in history.reading.final if (effect.effect_class, effect.receipt) not in observed)
    return Truth(
        rows=tuple(_slot_row(about, effects, group, seen_by=made) for group in about.groups),
        strays=tuple(seen(effect, "stray") for effect in effects.strays),
        undone=tuple(seen(effect, "undone") for effect in effects.compensated),
        others=tuple(seen(one, "decoy" if one.receipt in history.decoys else "before") for one in others),
        claims=tuple(_claim_rows(about, effects, said, history)),
        error=history.reading.error,
    )


def _slot_row(about: Attribution, effects: Partition, group: Group, seen_by: dict[str, int | None]) -> SlotRow:
    live = [effect for effect in effects.observed if not effect.undone and group_of(about.groups, effect) is group]
    wanted = effects.wanted[group.number]

    def absent(places: tuple[object, ...]) -> int:
        return sum(place in group.places for place in places)

    return SlotRow(
        slots=tuple(place.slot.id for place in group.places),
        intents=tuple(dict.fromkeys(place.intent for place in group.places)),
        effect_class=group.effect_class,
        match=group.match,
        wanted=wanted,
        seen=tuple(
            Seen(effect, "fills" if index < wanted else "surplus", seen_by.get(effect.receipt))
            for index, effect in enumerate(live)
        ),
        missing=absent(effects.missing),
        false_dedup=absent(effects.false_dedup),
        torn=absent(effects.torn),
    )


def _claim_rows(about: Attribution, effects: Partition, said: Claims, history: History) -> list[ClaimRow]:
    stated = statements(history)
    filled = Counter(place.intent for place in effects.filled)
    lacking = Counter(place.intent for place in effects.absent)
    return [
        ClaimRow(
            intent=intent.id,
            say=intent.say,
            claim=claim_of(stated, intent.id),
            receipts=receipts_of(stated, intent.id),
            part=said.parts[intent.id],
            open=said.parts[intent.id] in OPEN,
            avoidable=intent.id in said.avoidable,
            misreported=intent.id in said.misreported,
            is_read=intent.is_read,
            wanted=filled[intent.id] + lacking[intent.id],
            filled=filled[intent.id],
        )
        for intent in about.workload.intents
    ]
