"""The partition of claims: every intent falls into exactly one part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from benchmark.intents import Intent
from benchmark.results import Claim
from benchmark.scoring import answers
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.avoidable import is_avoidable
from benchmark.scoring.effects import Partition
from benchmark.scoring.groups import group_of
from benchmark.scoring.statements import Statements, claim_of, receipts_of
from benchmark.scoring.twins import answered, receipt_delivered, twins_of


class Part(StrEnum):
    """What a claim is worth."""

    COMMITTED = "committed"
    COMMITTED_FALSE = "committed-false"
    WITHOUT_RECEIPT = "committed-without-receipt"
    FAILED = "failed"
    FAILED_FALSE = "failed-false"
    UNRESOLVED = "unresolved"
    ERROR = "error"
    SILENT = "silent"


OPEN = frozenset({Part.WITHOUT_RECEIPT, Part.UNRESOLVED, Part.ERROR, Part.SILENT})
"""Parts that leave the user with a question."""


@dataclass(frozen=True)
class Claims:
    """Intent id → part, and what follows from it."""

    parts: dict[str, Part]
    misreported: tuple[str, ...]
    avoidable: tuple[str, ...]
    unclaimed_reads: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Part → intents; every part is listed and they sum up to all intents."""
        found = Counter(self.parts.values())
        return {part.value: found[part] for part in Part}

    @property
    def unresolved(self) -> tuple[str, ...]:
        return tuple(intent for intent, part in self.parts.items() if part in OPEN)


def claims(about: Attribution, stated: Statements, effects: Partition) -> Claims:
    """Judge every intent's claim against the partition of effects."""
    parts: dict[str, Part] = {}
    misreported: list[str] = []
    for intent in about.workload.intents:
        wrong = claim_of(stated, intent.id) is Claim.COMMITTED and _wrong_receipt(about, stated, effects, intent)
        parts[intent.id] = part = _part(about, stated, effects, intent, wrong)
        lacking = [place for place in effects.missing + effects.torn if place.intent == intent.id]
        deduplicated = any(place.intent == intent.id for place in effects.false_dedup)
        explained = deduplicated and not lacking
        if part is Part.FAILED_FALSE or ((part is Part.COMMITTED_FALSE or wrong) and not explained):
            misreported.append(intent.id)
    return Claims(
        parts=parts,
        misreported=tuple(misreported),
        avoidable=tuple(
            intent.id
            for intent in about.workload.intents
            if parts[intent.id] in OPEN
            and (parts[intent.id] is Part.WITHOUT_RECEIPT or is_avoidable(about, stated, effects, intent))
        ),
        unclaimed_reads=tuple(
            intent.id
            for intent in about.workload.intents
            if intent.is_read and claim_of(stated, intent.id) is not Claim.COMMITTED
        ),
    )


def _part(about: Attribution, stated: Statements, effects: Partition, intent: Intent, wrong: bool) -> Part:
    match claim_of(stated, intent.id):
        case Claim.COMMITTED:
            if not _all_happened(about, stated, effects, intent):
                return Part.COMMITTED_FALSE
            return Part.WITHOUT_RECEIPT if not wrong and _unnamed(about, stated, effects, intent) else Part.COMMITTED
        case Claim.FAILED:
            return Part.FAILED_FALSE if _any_happened(about, stated, effects, intent) else Part.FAILED
        case Claim.UNRESOLVED:
            return Part.UNRESOLVED
        case Claim.ERROR:
            return Part.ERROR
        case Claim.SILENT:
            return Part.SILENT


def _answered(about: Attribution, stated: Statements, intent: Intent) -> bool:
    """Every call of a read has been answered."""
    return all(answered(about, stated, declared) for declared in about.declared_by(intent.id))


def _all_happened(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> bool:
    if intent.is_read:
        return _answered(about, stated, intent)
    return not any(place.intent == intent.id for place in effects.absent)


def _any_happened(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> bool:
    if intent.is_read:
        return _answered(about, stated, intent)
    return any(place.intent == intent.id for place in effects.filled)


def _wrong_receipt(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> bool:
    """A committed claim names a receipt of another slot's effect, of a decoy, or of no effect at all."""
    return bool(wrong_receipts(about, stated, effects, intent))


def wrong_receipts(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> tuple[str, ...]:
    """Receipts that a claim names and that are none of its own, without repeats.

    A duplicate's receipt is right; a stray's is counted as the stray already. A receipt named for one call must fit that
    call's slots.
    """
    if intent.is_read or intent.id not in stated:
        return ()
    status = stated[intent.id]
    named: list[tuple[str, int | None]] = [(receipt, None) for receipt in status.all_receipts]
    named += [
        (receipt, call.index) for call in status.calls for receipt in (call.receipt, *(call.receipts or ())) if receipt
    ]
    wrong = [receipt for receipt, call in named if not _fits(about, effects, intent, receipt, call)]
    return tuple(dict.fromkeys(wrong))


def _fits(about: Attribution, effects: Partition, intent: Intent, receipt: str, call: int | None) -> bool:
    own = {
        group.number
        for group in about.groups
        for place in group.places
        if place.intent == intent.id and call in (None, place.slot.call)
    }
    matching = [effect for effect in effects.observed if effect.receipt == receipt]
    if not matching:
        # A version of a state-like object that was overwritten is no longer listed, but the wire saw it committed.
        return receipt in about.committed_by and receipt not in about.history.decoys
    groups = [group_of(about.groups, effect) for effect in matching]
    return any(group is None or group.number in own for group in groups)


def _unnamed(about: Attribution, stated: Statements, effects: Partition, intent: Intent) -> bool:
    """A receipt had been delivered for the intent's calls, and the claim names neither it nor another right one."""
    if intent.is_read or not any(receipt_delivered(about, stated, declared) for declared in about.declared_by(intent.id)):
        return False
    named = set(receipts_of(stated, intent.id))
    twins = {twin for declared in about.declared_by(intent.id) for twin in twins_of(about, declared)}
    delivered = {receipt for event in about.delivered(tuple(twins)) for receipt in answers.receipts(event)}
    own = [group for group in about.groups if any(place.intent == intent.id for place in group.places)]
    right = {effect.receipt for effect in effects.observed if group_of(own, effect) is not None}
    return not named & (delivered | right)
