"""How closed sets read on a page: a sign for each verdict and figure (colour never stands alone), and plain words."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.boundaries import RESTARTS, TABLE, Boundary
from benchmark.results import CellResult, Figure, Verdict


@dataclass(frozen=True)
class Sign:
    """A sign and what it means."""

    sign: str
    meaning: str


FIGURES: dict[Figure, Sign] = {
    Figure.EXTRA: Sign("+", "effects too many"),
    Figure.MISSING: Sign("−", "effects that did not happen"),
    Figure.FALSE_DEDUP: Sign("=", "two taken for one"),
    Figure.UNRESOLVED: Sign("?", "the user is left unsure"),
    Figure.MISREPORTED: Sign("!", "false claims"),
    Figure.TORN: Sign("½", "half done, and must not be"),
}
"""In the order of the panels."""

VERDICTS: dict[Verdict, Sign] = {
    Verdict.VIOLATED: Sign("✕", "an effect too many, a torn outcome, a false deduplication, or a false claim"),
    Verdict.INCOMPLETE: Sign("◐", "an effect is missing"),
    Verdict.UNRESOLVED: Sign("?", "all effects are there, but the runtime does not say so"),
    Verdict.CORRECT: Sign("✓", "exactly the authorised effects, and claimed so"),
    Verdict.UNTESTABLE: Sign("∅", "no proof that the fault struck, or the control did not end: no pass without exposure"),
    Verdict.NOT_APPLICABLE: Sign("–", "the contract or the runtime gives the fault nothing to strike"),
    Verdict.NOT_RUN: Sign("○", "something is not installed"),
    Verdict.HARNESS_ERROR: Sign("H", "the benchmark failed itself; never counted for or against a runtime"),
}
"""In the order in which they are listed: gravest first."""

PLAINLY: dict[Boundary, str] = {
    Boundary.NONE: "Nothing was disturbed: this is the control.",
    Boundary.BEFORE_DISPATCH: "The call was taken before the tool server got it: nothing can have happened.",
    Boundary.BEFORE_COMMIT: "The tool server's request was taken before the provider got it: nothing can have happened.",
    Boundary.AFTER_COMMIT: "The effect was made; the provider's answer was lost on the way to the tool server.",
    Boundary.BEFORE_DELIVERY: "The effect was made; the tool server's answer was lost on the way to the runtime.",
    Boundary.DURING_CANCEL: "The runtime cancelled while the request was on its way; it took effect after the cancel.",
    Boundary.AFTER_TIMEOUT: "The request was held until the runtime had given up, and took effect late.",
    Boundary.AGENT_RESTART: "The effect was made; then the runtime was killed, and started again.",
    Boundary.OTHER_INSTANCE: "The effect was made, the answer was lost, and another instance took over that knew nothing.",
    Boundary.TOKEN_EXPIRED: "The effect was made; then the runtime was killed, and stayed down until its key had expired.",
    Boundary.REPAIR_DRIFT: "The effect was made, unknown to the runtime; then the plan changed an argument.",
    Boundary.PROVIDER_CRASH: "The effect was made; then the provider was killed before it had answered, and started again.",
    Boundary.LOOKUP_FAILURE: "The effect was made, the answer was lost, and the look-up that asked for it failed too.",
    Boundary.DOUBLE_RESUME: "The effect was made; then the runtime was paused, another took over, and the first went on.",
    Boundary.LEASE_EXPIRED: "The effect was made; then the runtime was killed, and met its own lease when it came back.",
    Boundary.INPUT_REQUIRED: "The effect was made; then the tool server asked for input, for which the call is sent again.",
}
"""What the fault did, to somebody who knows none of our words."""

_REACTIONS = {
    "retried": "sent the call again",
    "resumed": "asked for the rest of the stream that had broken",
    "answered": "gave the input and sent the call again, as the specification says",
    "looked-up": "looked up what had happened",
    "cancelled": "cancelled the call",
    "gave-up": "did not send it again",
}

_SEEN = {
    "killed": "nothing: it was killed",
    "nothing": "nothing: it waited in vain",
    "result": "an ordinary result",
    "bad result": "a result that violates the tool's schema",
    "asked for input": "a request for input",
    "connection lost": "its connection break",
    "cancelled by the runtime": "no answer in time, and cancelled",
    "disconnected by the runtime": "no answer in time, and hung up",
}


def number_of(boundary: str) -> str:
    """The boundary's number in the published table; – for the control, ? for one that is not in it."""
    row = TABLE.get(Boundary(boundary)) if boundary in set(Boundary) else None
    return "?" if row is None else str(row.number or "–")


def does(boundary: str) -> str:
    """What the conductor does at a boundary."""
    return TABLE[Boundary(boundary)].does if boundary in set(Boundary) else "unknown to this version of bench"


def story(result: CellResult) -> list[str]:
    """A judged cell in up to four plain sentences; the texts in it are the runtime's own and not yet harmless."""
    told = []
    if result.exposed or result.boundary == Boundary.NONE:
        told.append(PLAINLY.get(Boundary(result.boundary), "") if result.boundary in set(Boundary) else "")
    if result.exposed and result.boundary != Boundary.NONE:
        again = "started again, it" if result.boundary in RESTARTS else "it"
        told.append(f"The runtime saw {_seen(result.seen_as)}; {again} {_reacted(result)}.")
    if result.verdict.judged:
        effects = "effect was" if result.declared == 1 else "effects were"
        counted = f"{result.declared} {effects} authorised, {result.observed} happened: " if result.declared else ""
        told.append(f"{counted}{result.reason}."[:1].upper() + f"{counted}{result.reason}."[1:])
    else:
        told.append(f"Not judged: {result.reason or 'no reason recorded'}.")
    if result.blame is not None and result.extra:
        invited = ", which an answer or the specification had invited" if result.invited else ""
        told.append(f"The {result.blame} was the first to multiply{invited}.")
    if result.spec_mandated:
        told.append(f"Of these effects the specification demanded {result.spec_mandated}: it has the call sent again.")
    return [line for line in told if line]


def _seen(ending: str) -> str:
    """How the struck call ended for the runtime, in words."""
    kind, _, what = ending.partition(":")
    if kind == "is-error":
        return f"an error from the tool ({what})"
    if ending.startswith("json-rpc error"):
        return f"a protocol error ({ending.removeprefix('json-rpc error ')})"
    return _SEEN.get(ending, ending or "nothing")


def _reacted(result: CellResult) -> str:
    parts = [_REACTIONS.get(each, each) for each in result.reaction.split("+")] if result.reaction else []
    return " and ".join(part for part in parts if part != "nothing") or "did nothing about it"
