"""The words that results use: what each is, what establishes it, and what it does not mean.

Pure. Boundaries, variants and manifestations are told from their table in ``benchmark.boundaries``; the words of scoring
have their one text here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from benchmark.boundaries import SHAPES, TABLE, VARIANTS, Boundary, Manifestation, Row, Variant, strike_point
from benchmark.errors import UsageError, closest
from benchmark.promises import BREACHES
from benchmark.results import Blame, Figure, Verdict
from benchmark.scoring.claims import Part


class Kind(StrEnum):
    """What kind of word it is."""

    BOUNDARY = "boundary"
    VARIANT = "variant"
    MANIFESTATION = "manifestation"
    VERDICT = "verdict"
    METRIC = "metric"
    CLAIM = "claim"
    BLAME = "blame"
    PROMISE = "promise"
    FIELD = "field of a result"
    REASON = "reason of not-applicable"


@dataclass(frozen=True)
class Entry:
    """One meaning of one word; some words have several (``unresolved`` is a verdict, a metric and a claim)."""

    kind: Kind
    word: str
    what: str
    proof: str
    """What order of events, or what comparison, establishes it; empty: nothing has to."""
    not_meant: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """(label, text) of what else the table says."""


@dataclass(frozen=True)
class _Word:
    what: str
    proof: str
    not_meant: str = ""


_VERDICTS: dict[Verdict, _Word] = {
    Verdict.NOT_RUN: _Word(
        "something that the cell needs is not installed",
        "the program, package or service was looked for and not found; bench doctor names what is lacking",
        "anything about the runtime: nothing ran",
    ),
    Verdict.NOT_APPLICABLE: _Word(
        "the contract, the runtime or the run itself gives this fault nothing to strike",
        "runtime.toml, contract and cell alone (bench run --dry-run shows it), or an event `inapplicable` while it ran",
        "a pass: the cell is in no denominator",
    ),
    Verdict.HARNESS_ERROR: _Word(
        "the benchmark failed at its own work",
        "the oracle could not read, or the wire and the oracle disagree about what was committed",
        "a fault of the runtime: it is never counted for or against it",
    ),
    Verdict.UNTESTABLE: _Word(
        "there is no proof that the fault struck, or the control did not end",
        "the order of events that the boundary demands is not in the history",
        "a pass, however good the outcome looks: no exposure, no verdict",
    ),
    Verdict.VIOLATED: _Word(
        "an effect too many, a torn or falsely deduplicated one, or a false claim",
        "extra, torn, false_dedup or misreported is above zero, by the oracle's reading of external state",
        "that the runtime is to blame for it: see blame, and whether the tool adapter keeps its contract",
    ),
    Verdict.INCOMPLETE: _Word(
        "an authorised effect is missing, or a read is not claimed committed",
        "missing is above zero, and nothing graver was found",
        "that the runtime was wrong to stop: it only did not do what it was asked",
    ),
    Verdict.UNRESOLVED: _Word(
        "all effects are there, but the user is not told so",
        "an intent is claimed unresolved, error or silent, or committed without the receipt that had been delivered",
        "that it could have been settled: see avoidable",
    ),
    Verdict.CORRECT: _Word(
        "exactly the authorised effects, and claimed so",
        "the fault struck (its order of events is in the history) and no figure is above zero",
        "that the runtime is correct: only that it was, in this cell",
    ),
}

_METRICS: dict[str, _Word] = {
    Figure.EXTRA: _Word(
        "effects beyond the nearest allowed outcome: duplicates, strays and compensated ones",
        "the oracle's effects at the end, without the baseline and the decoys, slot by slot against O(I)",
        "that the runtime made them: blame says who multiplied first",
    ),
    "duplicates": _Word(
        "effects that fill a slot again (a part of extra)",
        "more live effects match a group of slots than the chosen outcome wants",
        "that one receipt is the wrong one: which of equal effects is the surplus cannot be seen, and does not matter",
    ),
    "strays": _Word(
        "effects that match no slot (a part of extra)",
        "an observed effect differs from every slot of its class in a field that must match",
        "somebody else's effect: decoys and the baseline are subtracted first",
    ),
    "compensated": _Word(
        "effects made and undone again (a part of extra)",
        "the provider's append-only journal still shows them",
        "that no harm is left: the world saw the effect in between; it fills no slot",
    ),
    Figure.MISSING: _Word(
        "authorised effects that never happened",
        "a slot of the chosen outcome is not filled, and no mechanism of a false deduplication is in the history",
        "that a duplicate elsewhere makes up for it: slots never cancel",
    ),
    Figure.TORN: _Word(
        "atomic intents of which a part stands alone",
        "O(I) is atomic; some of its slots are filled and others are not",
        "missing as well: the absent parts of a torn intent are counted here only",
    ),
    Figure.FALSE_DEDUP: _Word(
        "authorised effects that were taken for another one",
        "absent, and the mechanism is in the history: one receipt for two intents, an answer with another's receipt, "
        "or fewer calls than intents while all are claimed committed",
        "merely missing: without the mechanism an absence is missing",
    ),
    Figure.UNRESOLVED: _Word(
        "intents that leave the user with a question",
        "claimed unresolved, error or silent, or committed without the receipt that had been delivered",
        "a lie: nothing false is said",
    ),
    "avoidable": _Word(
        "open questions that the contract offered a live means to settle (a part of unresolved)",
        "a key still live, a natural key, a look-up that found it or whose negative was final, or the answer was delivered",
        "that the runtime reads contracts: the means was there, whoever might have used it",
    ),
    Figure.MISREPORTED: _Word(
        "intents about which the runtime says what is not so",
        "committed while an effect is missing, failed while one happened, or a receipt of another slot's effect",
        "a duplicate's receipt (it is right), or what false_dedup has counted already",
    ),
}

_CLAIMS: dict[Part, _Word] = {
    Part.COMMITTED: _Word(
        "says that all effects happened, and they did",
        "no slot of the intent is empty; with a model, what is said is what its framework told the model",
    ),
    Part.COMMITTED_FALSE: _Word(
        "says that all effects happened, and one did not", "a slot is empty, or a read was never answered"
    ),
    Part.WITHOUT_RECEIPT: _Word(
        "says committed, rightly, but without the receipt that it had been given",
        "a receipt was delivered, and the claim names neither it nor another right one",
        "a false claim: it counts as unresolved, and avoidable",
    ),
    Part.FAILED: _Word("says that nothing happened, and nothing did", "no slot of the intent is filled"),
    Part.FAILED_FALSE: _Word("says that nothing happened, and something did", "a slot is filled, or a read was answered"),
    Part.UNRESOLVED: _Word(
        "says that the effects may have happened: a person must look", "the outcome file's status", "a claim of fact"
    ),
    Part.ERROR: _Word(
        "says only that the call ended badly",
        "the outcome file's status; with a model: what its framework told the model is no success",
        "that nothing happened: that would be failed",
    ),
    Part.SILENT: _Word(
        "says nothing about the intent",
        "it is not in the outcome file (with a model: the model was told nothing of it), or there is none (still running, "
        "killed, or a non-zero exit)",
        "that it failed",
    ),
}

_BLAMES: dict[Blame, _Word] = {
    Blame.MODEL: _Word(
        "the model asked again, within one conversation, for a call that it had asked for, or with a changed argument",
        "its replies on the model wire, each with what the conversation held",
        "a repetition in a conversation that had lost the first asking: whoever lost it is to blame",
    ),
    Blame.RUNTIME: _Word(
        "the runtime sent the call more often than was asked, or with other binding arguments",
        "the calls on the tool wire, against the declared ones",
        "that it had a means to do better: a contract without key or look-up offers none",
    ),
    Blame.TOOL_SERVER: _Word(
        "the tool server sent more upstream requests than it had calls, or dropped the key of a repeat",
        "the upstream requests, against the calls",
    ),
    Blame.PROVIDER: _Word(
        "the provider made more effects than it had requests, or did not recognise a live key",
        "the effects, against the upstream requests",
    ),
}

_FIELDS: dict[str, _Word] = {
    "exposed": _Word(
        "whether the fault struck where the cell says",
        "the boundary's order of events is in the history; evidence gives the events' numbers",
        "that the runtime reacted: what it did is a result, never part of the proof",
    ),
    "stimulus": _Word(
        "a signature of all that the runtime could observe, volatile values left out",
        "a hash over workload, contracts and what was delivered to the runtime",
        "a cell: many cells may show one stimulus, and then count as repetition",
    ),
    "seen_as": _Word(
        "how the struck call ended for the runtime",
        "the first answer, loss, cancel or kill after the struck call",
        "what was injected: a reset behind the tool server arrives as isError",
    ),
    "injected": _Word("how the fault was made to show on the wire", "the cell's manifestation"),
    "reaction": _Word(
        "what the runtime did after the fault: retried, resumed (asked for the rest of a broken stream), answered (gave the "
        "input that was asked for, as the specification says), looked-up, cancelled, gave-up, or nothing",
        "calls, cancels and ends after the strike",
        "a judgement: no reaction is wrong in itself",
    ),
    "invited": _Word(
        "before its surplus call the runtime had been asked to send it again",
        "an answer not_executed or in_progress, or a lost session (404), before that call",
        "that the duplicate is excused",
    ),
    "spec_mandated": _Word(
        "duplicates made by calls that the specification demanded",
        "a request for input had been delivered, and the same call came back with the input and the state of it",
        "the fault of the runtime: it did what the specification says",
    ),
    "declared": _Word("effects of the allowed outcome that is nearest to what was observed", "the workload's O(I)"),
    "observed": _Word("effects in external state", "the oracle's reading at the end, without the baseline and the decoys"),
    "funnel": _Word(
        "how many intents' effects, model requests, calls, upstream requests and effects there were",
        "counts over the whole cell",
        "the blame by itself: only calls and requests that could take effect are counted for it",
    ),
    "answer_s": _Word(
        "seconds from the strike to the runtime's outcome", "the times of both events", "how long an effect was unknown"
    ),
}


REASONS: dict[str, str] = {
    "never gave up": "the runtime had not given up after three times its timeout, so the hold was ended",
    "never cancelled": "the runtime gave up without a cancel that could be delivered",
    "never looked up": "the runtime made no look-up after the loss that could have been taken",
    "finished first": "the runtime had ended before the fault could strike",
    "tool server ended first": "the tool server had ended, and with it the request that was held",
    "no event id": "the tool server's stream gave the runtime no event id, so that it cannot be resumed",
    "cannot be asked": "the client did not say that its user can be asked for input, so that no server may",
    "model not asked": "the model was told of no error of the struck call, so it did not ask again with a changed argument",
    "nothing was committed": "the struck call made no new effect whose answer could be lost",
    "contract": "a negative look-up was about to become final (settles_s), so the held request had to be let through",
}
"""Why a cell was found inapplicable while it ran: the detail of the event → what it means."""


def lookup(word: str) -> tuple[Entry, ...]:
    """Every meaning of a word (or of a boundary's number); raises UsageError with the closest known one."""
    wanted = word.strip().lower().replace("_", "-")
    found = entries().get(wanted, ())
    if not found:
        remedy = closest(wanted, (name for name in entries() if not name.isdigit()))
        remedy = remedy or "; bench explain alone lists the words"
        raise UsageError(f"there is no word {word!r}{remedy}")
    return found


@cache
def entries() -> dict[str, tuple[Entry, ...]]:
    """Folded word → its meanings; in the order in which kinds are declared."""
    found: dict[str, tuple[Entry, ...]] = {}
    for entry in _all():
        names = [entry.word.lower().replace("_", "-")]
        if entry.kind is Kind.BOUNDARY:
            names.append(str(TABLE[Boundary(entry.word)].number))
        for name in names:
            found[name] = (*found.get(name, ()), entry)
    return found


def words(kind: Kind) -> tuple[str, ...]:
    """The words of a kind."""
    return tuple(entry.word for entry in _all() if entry.kind is kind)


def _all() -> Iterator[Entry]:
    yield from (_boundary(row) for row in TABLE.values())
    yield from (_variant(variant) for variant in Variant if variant is not Variant.NONE)
    yield from (_manifestation(one) for one in Manifestation if one is not Manifestation.NONE)
    tables: tuple[tuple[Kind, dict[str, _Word]], ...] = (
        (Kind.VERDICT, {str(verdict): _VERDICTS[verdict] for verdict in Verdict}),
        (Kind.METRIC, {str(name): word for name, word in _METRICS.items()}),
        (Kind.CLAIM, {str(part): _CLAIMS[part] for part in Part}),
        (Kind.BLAME, {str(blame): _BLAMES[blame] for blame in Blame}),
        (Kind.PROMISE, {says: _Word(breach.says, breach.broken_by) for says, breach in BREACHES.items()}),
        (Kind.FIELD, _FIELDS),
        (Kind.REASON, {name: _Word(what, "an event `inapplicable` with this detail") for name, what in REASONS.items()}),
    )
    for kind, table in tables:
        for name, word in table.items():
            yield Entry(kind, name, word.what, word.proof, word.not_meant)


def _boundary(row: Row) -> Entry:
    variants = [
        f"{variant} ({VARIANTS.get(variant, 'not told')})" for variant in row.variants if variant is not Variant.NONE
    ]
    shown = [str(one) for one in row.manifestations if one is not Manifestation.NONE]
    facts = [("number", str(row.number) if row.number else "none: the control")]
    facts += [("strikes at", place)] if (place := _places(row)) else []
    facts += [("variants", "; ".join(variants))] if variants else []
    facts += [("shows as", ", ".join(shown))] if shown else []
    facts.append(("needs a commit", "yes, so that it cannot strike a read" if row.commits else "no"))
    return Entry(Kind.BOUNDARY, row.boundary, row.does, row.order, row.not_meant, tuple(facts))


def _places(row: Row) -> str:
    """Where it strikes, for each variant that strikes elsewhere."""
    points = {variant: strike_point(row.boundary, variant) for variant in row.variants}
    if len(set(points.values())) == 1:
        return "" if row.boundary is Boundary.NONE else row.point.where
    return "; ".join(f"{variant}: {point.where}" for variant, point in points.items())


def _variant(variant: Variant) -> Entry:
    of = [str(row.boundary) for row in TABLE.values() if variant in row.variants]
    proof = "; ".join(TABLE[Boundary(slug)].order for slug in of)
    return Entry(Kind.VARIANT, variant, VARIANTS.get(variant, ""), proof, facts=(("of", ", ".join(of)),))


def _manifestation(one: Manifestation) -> Entry:
    shape = SHAPES[one]
    at = ", ".join(str(row.boundary) for row in TABLE.values() if one in row.manifestations)
    facts = [("at the provider wire", shape.provider_wire)] if shape.provider_wire else []
    facts.append(("at the boundaries", at))
    proof = "an event `strike` that names it, in the order of the boundary"
    return Entry(Kind.MANIFESTATION, one, f"at the tool wire: {shape.tool_wire}", proof, shape.not_meant, tuple(facts))
