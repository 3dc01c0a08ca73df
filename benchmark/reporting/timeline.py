"""A cell's history as a readable timeline: who sent what, where the fault struck, what the oracle saw, claim and truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from rich.console import Console

from benchmark.effects import Effect
from benchmark.history import Event, History, Kind
from benchmark.intents import Intent, matches
from benchmark.reporting.console import NARROW, paragraph, say
from benchmark.reporting.untrusted import fields, plain, value
from benchmark.results import CellResult, Judgement
from benchmark.scoring.statements import statements


class Lane(IntEnum):
    """The columns of the picture, left to right; ``conductor`` is the benchmark itself."""

    MODEL = 0
    """Only where the runtime asks one."""
    RUNTIME = 1
    WIRE = 2
    SERVER = 3
    PROVIDER = 4
    CONDUCTOR = 5


TITLES = ("model", "runtime", "wire", "server", "provider", "conductor")
STEP = 9
"""Columns from one lane to the next."""


@dataclass(frozen=True)
class Move:
    """One line of the picture: from a lane to another (the same: it happened there), in words."""

    start: Lane
    end: Lane
    text: str
    mark: str = "●"
    style: str = ""


def show(out: Console, history: History, result: CellResult | Judgement, notes: Sequence[str] = ()) -> None:
    """Print the whole story of one cell."""
    _heading(out, history)
    narrow = out.width < NARROW
    first = Lane.MODEL if any(history.of(Kind.MODEL_REQUEST)) else Lane.RUNTIME
    say(out, f"{'seconds':>8} {'no.':>4}  what" if narrow else _titles(first), "bold")
    for event in history.events:
        move = told(event)
        clock = f"{event.t:>8.3f} {event.n:>4}  "
        if narrow:
            paragraph(out, clock, f"{_way(move)}: {move.text}", move.style)
        else:
            say(out, f"{_lanes(move, first)}  {clock}{move.text}", move.style)
    out.print()
    _oracle(out, history)
    _claims(out, history)
    _verdict(out, result)
    for note in notes:
        say(out, f"note: {plain(note)}", "yellow")


def _heading(out: Console, history: History) -> None:
    declared, cell = history.declaration, history.declaration.cell
    say(out, plain(cell.name), "bold")
    lies = "" if declared.truthful else " (treacherous: what it declares is untrue)"
    where = f"{cell.transport}, {cell.protocol}"
    say(
        out, f"{plain(declared.runtime)} on {plain(cell.adapter)}{lies} over {where}: {plain(declared.workload.summary)}", ""
    )
    out.print()


def _way(move: Move) -> str:
    """The lanes in words, where there is no room for the picture."""
    names = dict.fromkeys((TITLES[move.start], TITLES[move.end]))
    return " → ".join(names)


def _titles(first: Lane) -> str:
    lanes = "".join(title.ljust(STEP) for title in TITLES[first:])
    return f"{lanes}  {'seconds':>8} {'no.':>4}  what"


def _lanes(move: Move, first: Lane) -> str:
    """The lanes from the first one shown, with an arrow between the two that the event joins."""
    row = [" "] * (STEP * (len(TITLES) - 1 - first) + len(TITLES[-1]))
    for lane in Lane:
        if lane >= first:
            row[(lane - first) * STEP] = "│"
    start, end = move.start - first, move.end - first
    left, right = sorted((start, end))
    for column in range(left * STEP + 1, right * STEP):
        row[column] = "─"
    if start < end:
        row[end * STEP - 1] = "▶"
    elif start > end:
        row[end * STEP + 1] = "◀"
    row[start * STEP] = move.mark
    return "".join(row)


def told(event: Event) -> Move:
    """The event in words."""
    return _TOLD[event.kind](event)


def _struck(event: Event) -> Move:
    where = f"request {event.request}" if event.request is not None else f"call {event.call}"
    return Move(Lane.CONDUCTOR, Lane.WIRE, f"THE FAULT STRIKES {where}: {plain(event.detail or '')}", "✖", "bold red")


def _process(lane: Lane, what: str, style: str = "") -> Callable[[Event], Move]:
    def tell(event: Event) -> Move:
        which = f"instance {plain(event.instance)}" if lane is Lane.SERVER else f"incarnation {event.incarnation}"
        status = f", status {event.status}" if event.status is not None else ""
        return Move(lane, lane, f"{TITLES[lane]} {what} ({which}{status})", "■", style)

    return tell


def _message(event: Event) -> Move:
    ends = (Lane.SERVER, Lane.RUNTIME) if event.by == "server" else (Lane.RUNTIME, Lane.SERVER)
    return Move(*ends, plain(event.method or "message"), style="dim")


def _call(event: Event) -> Move:
    key = f" key={plain(event.key, 48)}" if event.key is not None else ""
    added = "" if event.declared is not None else " (added)"
    added += " (again, with input)" if event.inputs is not None else ""
    tool = plain(event.tool, 48)
    return Move(
        Lane.RUNTIME, Lane.WIRE, f"call {event.call}{added}: {tool} {fields(event.arguments or {})}{key}", style="bold"
    )


def _delivered(event: Event) -> Move:
    altered = " (ours, not the server's)" if event.altered else ""
    return Move(Lane.WIRE, Lane.RUNTIME, f"call {event.call} answered{altered}: {_answer(event.result)}")


def _cancel(event: Event) -> Move:
    return Move(Lane.RUNTIME, Lane.WIRE, f"call {event.call} cancelled ({plain(event.by)})", style="yellow")


def _gave_up(event: Event) -> Move:
    return Move(Lane.RUNTIME, Lane.RUNTIME, f"gave up on call {event.call} ({plain(event.by)})", style="yellow")


def _request(event: Event) -> Move:
    upstream = event.upstream or {}
    what = f"{plain(upstream.get('method', ''), 12)} {plain(upstream.get('path', ''), 80)}".strip() or value(upstream)
    body = upstream.get("body")
    shown = f" {_body(body)}" if body else ""
    return Move(Lane.SERVER, Lane.WIRE, f"request {event.request} of call {event.call}: {what}{shown}")


def _reply(event: Event) -> Move:
    new = "" if event.committed or event.committed is None else " (no new effect)"
    return Move(Lane.PROVIDER, Lane.WIRE, f"request {event.request}: status {event.status}{new}{_receipts(event)}")


def _reply_delivered(event: Event) -> Move:
    told = "ours, not the provider's" if event.altered else f"status {event.status}"
    return Move(Lane.WIRE, Lane.SERVER, f"request {event.request} answered: {told}")


def _lost(event: Event) -> Move:
    which = f" of call {event.call}" if event.call is not None else ""
    return Move(Lane.WIRE, Lane.RUNTIME, f"connection{which} lost", style="yellow")


def _released(event: Event) -> Move:
    what = f"request {event.request}" if event.request is not None else f"call {event.call}"
    return Move(Lane.CONDUCTOR, Lane.WIRE, f"{what} released")


def _outcome(event: Event) -> Move:
    if event.result is None:
        return Move(Lane.RUNTIME, Lane.CONDUCTOR, f"no outcome: {plain(event.detail or '')}", style="yellow")
    return Move(
        Lane.RUNTIME, Lane.CONDUCTOR, f"outcome: {value(event.result.get('intents', event.result), 400)}", style="bold"
    )


def _model_request(event: Event) -> Move:
    asking = event.asking
    if asking is None or asking.turn is None:
        return Move(
            Lane.RUNTIME, Lane.MODEL, f"asks the model ({plain(event.detail)}): nothing about the user's turns", style="dim"
        )
    last = asking.told[-1] if asking.told else None
    news = f", told {last.word or 'nothing'} of ({last.declared + 1}.{last.nth}): {plain(last.text, 120)}" if last else ""
    return Move(Lane.RUNTIME, Lane.MODEL, f"asks the model, turn {asking.turn + 1}{news}")


def _model_reply(event: Event) -> Move:
    asked = [
        f"({(call.declared or 0) + 1}.{call.nth}) {plain(call.name, 48)} {fields(call.arguments)}"
        + (" (changed)" if call.changed else "")
        for call in event.asked or ()
        if call.declared is not None
    ]
    if asked:
        return Move(Lane.MODEL, Lane.RUNTIME, "the model asks for " + "; ".join(asked), style="bold")
    return Move(Lane.MODEL, Lane.RUNTIME, f"the model says: {plain(event.detail or 'its last word')}", style="dim")


def _conductor(what: str, style: str = "") -> Callable[[Event], Move]:
    return lambda event: Move(Lane.CONDUCTOR, Lane.CONDUCTOR, f"{what}{_receipts(event)}{_detail(event)}", style=style)


_TOLD: dict[Kind, Callable[[Event], Move]] = {
    Kind.RUNTIME_STARTED: _process(Lane.RUNTIME, "starts"),
    Kind.RUNTIME_KILLED: _process(Lane.RUNTIME, "killed by us", "bold red"),
    Kind.RUNTIME_STOPPED: _process(Lane.RUNTIME, "stopped by us", "bold red"),
    Kind.RUNTIME_CONTINUED: _process(Lane.RUNTIME, "goes on"),
    Kind.RUNTIME_EXITED: _process(Lane.RUNTIME, "ends"),
    Kind.SERVER_STARTED: _process(Lane.SERVER, "starts"),
    Kind.SERVER_KILLED: _process(Lane.SERVER, "killed by us", "bold red"),
    Kind.SERVER_EXITED: _process(Lane.SERVER, "ends"),
    Kind.PROVIDER_KILLED: _process(Lane.PROVIDER, "killed by us", "bold red"),
    Kind.PROVIDER_STARTED: _process(Lane.PROVIDER, "starts again"),
    Kind.MESSAGE: _message,
    Kind.CALL: _call,
    Kind.CALL_FORWARDED: lambda event: Move(
        Lane.WIRE, Lane.SERVER, f"call {event.call} forwarded to {plain(event.instance)}"
    ),
    Kind.RESULT: lambda event: Move(Lane.SERVER, Lane.WIRE, f"call {event.call} result: {_answer(event.result)}"),
    Kind.DELIVERED: _delivered,
    Kind.CONNECTION_LOST: _lost,
    Kind.PRIMED: lambda event: Move(Lane.WIRE, Lane.RUNTIME, f"call {event.call}: an event id of its stream", style="dim"),
    Kind.RESUMED: lambda event: Move(Lane.RUNTIME, Lane.WIRE, f"call {event.call}: the rest of its stream asked for"),
    Kind.CANCEL: _cancel,
    Kind.CANCEL_DELIVERED: lambda event: Move(Lane.WIRE, Lane.SERVER, f"cancel of call {event.call} delivered"),
    Kind.CLOSED: lambda event: Move(Lane.RUNTIME, Lane.WIRE, "connection closed by the runtime", style="dim"),
    Kind.MODEL_REQUEST: _model_request,
    Kind.MODEL_REPLY: _model_reply,
    Kind.REQUEST: _request,
    Kind.REQUEST_FORWARDED: lambda event: Move(Lane.WIRE, Lane.PROVIDER, f"request {event.request} let through"),
    Kind.COMMIT: lambda event: Move(
        Lane.PROVIDER, Lane.PROVIDER, f"COMMITTED {plain(event.effect_class)}{_receipts(event)}", "◆", "bold green"
    ),
    Kind.REPLY: _reply,
    Kind.REPLY_DELIVERED: _reply_delivered,
    Kind.DECOY: _conductor("somebody else's look-alike made:", "dim"),
    Kind.STRIKE: _struck,
    Kind.PROBE: _conductor("the oracle sees, while the answer is held:", "cyan"),
    Kind.GAVE_UP: _gave_up,
    Kind.RELEASED: _released,
    Kind.RETENTION_OVER: _conductor("the provider's retention of the key is over"),
    Kind.LEASE_OVER: _conductor("the killed runtime's own lease is over"),
    Kind.OUTCOME: _outcome,
    Kind.STILL_RUNNING: _process(Lane.RUNTIME, "is still running when its time is over", "bold red"),
    Kind.QUIESCENT: _conductor("nothing is in flight any more", "dim"),
    Kind.INAPPLICABLE: _conductor("not applicable:", "yellow"),
    Kind.NOTE: _conductor("note:", "dim"),
}


def _answer(message: dict[str, Any] | None) -> str:
    """A JSON-RPC answer in a few words: the error, or the tool's structured content, else what the result holds."""
    if message is None:
        return "nothing"
    failure = message.get("error")
    if isinstance(failure, dict):
        return f"JSON-RPC error {plain(failure.get('code'))} {plain(failure.get('message'))}"
    result = message.get("result", message)
    if not isinstance(result, dict):
        return value(result)
    error = "isError " if result.get("isError") else ""
    return error + value(result.get("structuredContent") or result.get("content") or result)


def _body(body: object) -> str:
    """What an upstream request carries: JSON as JSON, anything else as text."""
    try:
        return value(json.loads(body) if isinstance(body, str) else body)
    except ValueError:
        return plain(body)


def _receipts(event: Event) -> str:
    if event.receipts is None:
        return ""
    return " " + (" ".join(plain(receipt, 60) for receipt in event.receipts) or "nothing")


def _detail(event: Event) -> str:
    return f" {plain(event.detail)}" if event.detail else ""


def _oracle(out: Console, history: History) -> None:
    say(out, "What the oracle found at the end", "bold")
    reading = history.reading
    if reading.error is not None:
        say(out, f"  it could not read: {plain(reading.error, 400)}", "bold red")
    before = {effect.receipt for effect in reading.baseline}
    slots = [slot for intent in history.declaration.workload.intents for slot in intent.slots]
    for effect in reading.final:
        if effect.receipt in before and effect.receipt not in history.decoys:
            continue
        fits = any(slot.effect_class == effect.effect_class and matches(slot.match, effect.fields) for slot in slots)
        somebody = "  (somebody else's look-alike)" if effect.receipt in history.decoys else ""
        stray = "" if fits or somebody else "  (matches no slot)"
        undone = "  (undone again)" if effect.undone else ""
        say(out, f"  {_effect(effect)}{somebody}{stray}{undone}", "dim" if somebody else "")
    if not reading.final and reading.error is None:
        say(out, "  nothing", "")
    out.print()


def _effect(effect: Effect) -> str:
    reference = f" reference={plain(effect.reference, 60)}" if effect.reference else ""
    return f"{plain(effect.receipt, 60):<12} {plain(effect.effect_class, 30)} {fields(effect.fields)}{reference}"


def _claims(out: Console, history: History) -> None:
    say(out, "What was claimed, and what is true", "bold")
    claims = _claimed(history)
    for intent in history.declaration.workload.intents:
        said = claims.get(intent.id, "silent")
        say(out, f"  {plain(intent.id, 60)}: claimed {said}", "")
        truth = " ".join(_true(history, intent)) or "no effect that matches it"
        say(out, f"    in the world: {truth}" if not intent.is_read else "    a read: no effect is declared", "")
    out.print()


def _claimed(history: History) -> dict[str, str]:
    """Intent → status and receipts of the last outcome file, or of what the model was told."""
    if history.declaration.model:
        return {
            intent: f"{status.status} {' '.join(plain(receipt, 60) for receipt in status.all_receipts)}".strip()
            for intent, status in statements(history).items()
        }
    outcomes = [event.result for event in history.of(Kind.OUTCOME)]
    intents = (outcomes[-1] or {}).get("intents") if outcomes else None
    found = {}
    for entry in intents if isinstance(intents, list) else []:
        if isinstance(entry, dict):
            receipts = entry.get("receipts") or ([entry["receipt"]] if entry.get("receipt") else [])
            told = " ".join(plain(receipt, 60) for receipt in receipts) if isinstance(receipts, list) else value(receipts)
            found[str(entry.get("id"))] = f"{plain(entry.get('status'), 20)} {told}".strip()
    return found


def _true(history: History, intent: Intent) -> Iterator[str]:
    """Receipts of the effects that match one of the intent's slots (twins share theirs)."""
    before = {effect.receipt for effect in history.reading.baseline} | history.decoys
    for effect in history.reading.final:
        fits = any(slot.effect_class == effect.effect_class and matches(slot.match, effect.fields) for slot in intent.slots)
        if fits and effect.receipt not in before:
            yield plain(effect.receipt, 60) + (" (undone)" if effect.undone else "")


def _verdict(out: Console, result: CellResult | Judgement) -> None:
    style = "bold red" if result.verdict.judged and result.verdict != "correct" else "bold"
    say(out, f"{result.verdict}: {plain(result.reason, 600)}", style)
    figures = ("extra", "missing", "false_dedup", "unresolved", "torn", "misreported")
    counts = ", ".join(f"{name} {getattr(result, name)}" for name in figures)
    say(out, f"  declared {result.declared}, observed {result.observed}: {counts}", "")
    say(
        out,
        f"  exposed: {'yes' if result.exposed else 'no'}{', ' + plain(result.evidence, 400) if result.evidence else ''}",
        "",
    )
    say(out, f"  seen as: {plain(result.seen_as) or '–'}; reaction: {plain(result.reaction) or 'nothing'}", "")
    if result.blame is not None:
        invited = ", invited to by the tool's answer or the specification" if result.invited else ""
        mandated = f"; demanded by the specification: {result.spec_mandated}" if result.spec_mandated else ""
        say(out, f"  blame for the extra effects: {result.blame}{invited}{mandated}", "")
    funnel = {stage: count for stage, count in result.funnel.items() if count or stage != "model_requests"}
    if funnel:
        say(
            out,
            "  funnel: " + " → ".join(f"{plain(stage, 30).replace('_', ' ')} {count}" for stage, count in funnel.items()),
            "",
        )
