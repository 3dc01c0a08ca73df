"""Why a cell got its verdict, step by step, each step with the numbers of the events that show it.

Pure: told from a history and the very parts that judged it (``benchmark.scoring``). Nothing is decided here. Texts may hold
what a runtime, a tool server or a provider wrote: whoever shows them makes them harmless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmark.boundaries import SHAPES, TABLE, VARIANTS, Boundary, Manifestation, Variant
from benchmark.cells import Cell
from benchmark.effects import Effect
from benchmark.glossary import REASONS
from benchmark.history import Event, History, Kind
from benchmark.intents import Intent, json_equal
from benchmark.results import Claim, Verdict
from benchmark.scoring.attribution import Attribution
from benchmark.scoring.avoidable import means
from benchmark.scoring.claims import OPEN, Part, wrong_receipts
from benchmark.scoring.dedup import mechanisms
from benchmark.scoring.funnel import Account, accounts, blame, invited, spec_mandated
from benchmark.scoring.groups import Group, Place, fulfilling
from benchmark.scoring.judge import Weighed, weigh
from benchmark.scoring.reaction import reaction, seen_as
from benchmark.scoring.statements import claim_of
from benchmark.scoring.told import heard as told_to_the_model
from benchmark.scoring.verdict import RULES, verdict

MOST = 12
"""Effects of one kind that are told one by one; more are counted."""


@dataclass(frozen=True)
class Line:
    """One sentence, the numbers of the events that show it, and how deep it is indented."""

    text: str
    events: tuple[int, ...] = ()
    level: int = 0


@dataclass(frozen=True)
class Step:
    """One question on the way to the verdict, its answer in a few words, and how one sees that."""

    title: str
    finding: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """The whole way to a verdict."""

    cell: str
    runtime: str
    verdict: Verdict
    reason: str
    steps: tuple[Step, ...]


def explain(history: History) -> Explanation:
    """Every step from what was asked to the verdict."""
    weighed = weigh(history)
    decided, reason = verdict(weighed.grounds, weighed.effects, weighed.said)
    steps = [_asked(history), _witnessed(weighed), _struck(weighed)]
    if history.reading.error is None:
        steps += [_effects(weighed), _claims(weighed)]
        steps += [_blame(weighed)] if weighed.effects.extra else []
    steps.append(_rules(weighed))
    declared = history.declaration
    return Explanation(declared.cell.name, declared.runtime, decided, reason, tuple(steps))


def coordinates(cell: Cell) -> tuple[tuple[str, str], ...]:
    """(part of the cell's name, what it says) in the order of the name."""
    which = {"first": "the first declared call", "middle": "the middle one", "last": "the last one"}[cell.strike.which]
    nth = f", at its upstream request {cell.strike.upstream}" if cell.strike.upstream > 1 else ""
    often = "at every attempt" if cell.strike.every else "once"
    shape = SHAPES.get(cell.manifestation)
    return (
        (cell.workload, "the workload: what the user authorised"),
        (cell.adapter, "the tool adapter: the MCP server, and the contract it declares"),
        (cell.boundary, f"the boundary: {TABLE[cell.boundary].does}"),
        (cell.variant, VARIANTS.get(cell.variant, "no variant")),
        (cell.manifestation, "no manifestation: a kill or a control" if shape is None else _shape(cell)),
        (cell.transport, "the transport between runtime and tool server"),
        (cell.protocol, "the MCP revision, the only one that the server side offers"),
        (str(cell.strike), f"the strike: {which}{nth}, {often}"),
        (f"{cell.persona}@{cell.repeat}", f"the persona of the scripted model (- : none), and repeat {cell.repeat}"),
    )


def _shape(cell: Cell) -> str:
    """How the manifestation shows at the wire of the cell's boundary."""
    shape = SHAPES[cell.manifestation]
    at_tool = TABLE[cell.boundary].point.where.startswith("tool wire")
    return (shape.tool_wire if at_tool else shape.provider_wire) or shape.tool_wire


def _asked(history: History) -> Step:
    declared, cell = history.declaration, history.declaration.cell
    lies = "" if declared.truthful else " (treacherous: what it declares is untrue)"
    lines = [Line(f"{intent.id}: “{intent.say}”") for intent in declared.workload.intents]
    if cell.boundary is Boundary.NONE:
        lines.append(Line("The fault: none, this is the control."))
    else:
        variant = "" if cell.variant is Variant.NONE else f", {cell.variant}: {VARIANTS.get(cell.variant, '')}"
        shown = "" if cell.manifestation is Manifestation.NONE else f"; shown as {cell.manifestation}: {_shape(cell)}"
        lines.append(Line(f"The fault: {cell.boundary} ({TABLE[cell.boundary].does}{variant}{shown})"))
    where = f"{cell.adapter}{lies} over {cell.transport}, {cell.protocol}"
    return Step("What was asked", f"{declared.workload.summary.strip()} On {where}.", tuple(lines))


def _witnessed(weighed: Weighed) -> Step:
    """Whether the cell can be judged at all: it applies, and the wire and the oracle agree."""
    about, grounds = weighed.about, weighed.grounds
    lines = [
        Line(f"not applicable: {_reason(event.detail or 'no reason recorded')}", (event.n,))
        for event in about.history.of(Kind.INAPPLICABLE)
    ]
    seen = [receipt for event in about.commits for receipt in event.receipts or ()]
    lines.append(Line(f"the wire saw committed: {_listed(seen)}", tuple(event.n for event in about.commits)))
    if about.history.reading.error is None:
        lines.append(Line(f"the oracle lists: {_listed([effect.receipt for effect in weighed.effects.observed])}"))
    if about.history.decoys:
        made = tuple(event.n for event in about.history.of(Kind.DECOY))
        lines.append(Line(f"somebody else's, subtracted everywhere: {_listed(sorted(about.history.decoys))}", made))
    if grounds.inapplicable is not None:
        return Step("Can it be judged?", f"no: {grounds.inapplicable}", tuple(lines))
    told = "yes: the wire and the oracle agree" if grounds.harness is None else f"no: {grounds.harness}"
    return Step("Can it be judged?", told, tuple(lines))


def _reason(detail: str) -> str:
    """Why a cell was found inapplicable while it ran, with what the short word means."""
    return f"{detail} ({REASONS[detail]})" if detail in REASONS else detail


def _struck(weighed: Weighed) -> Step:
    about, exposed = weighed.about, weighed.exposed
    cell = about.history.declaration.cell
    numbers = tuple(int(number) for number in re.findall(r"#(\d+)", exposed.evidence))
    lines = [Line(f"the order that must be in the history: {TABLE[cell.boundary].order}"), Line(exposed.evidence, numbers)]
    strike = about.history.first(Kind.STRIKE)
    if strike is not None:
        lines.append(Line(f"the runtime saw: {seen_as(about) or 'nothing'}; it then: {reaction(about)}", (strike.n,)))
    title = "Did the control end?" if cell.boundary is Boundary.NONE else "Did the fault strike?"
    return Step(title, "yes" if exposed.exposed else "no: without that proof there is no verdict", tuple(lines))


def _effects(weighed: Weighed) -> Step:
    """Effects against O(I), slot by slot."""
    effects = weighed.effects
    lines = [line for group in weighed.about.groups for line in _group(weighed, group)]
    lines += _some([_stray(weighed, effect) for effect in effects.strays], "strays")
    undone = [_made(weighed.about, f"made and undone again: {_shown(effect)}", [effect]) for effect in effects.compensated]
    lines += _some(undone, "undone effects")
    if not weighed.about.groups:
        lines.append(Line("a read: no effect is declared"))
    counts = {
        "extra": effects.extra,
        "missing": len(effects.missing),
        "false_dedup": len(effects.false_dedup),
        "torn": len(effects.torn_intents),
    }
    found = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    wanted = f"{_many(effects.declared, 'effect')} authorised, {len(effects.observed)} happened"
    return Step("What happened outside, slot by slot", f"{wanted}: {found or 'each once'}", tuple(lines))


def _group(weighed: Weighed, group: Group) -> Iterator[Line]:
    """A group of slots: what it wants, what filled it, what is too many, what is absent and why."""
    about, effects = weighed.about, weighed.effects
    wanted, live = effects.wanted[group.number], [e for e in effects.observed if not e.undone and group.takes(e)]
    places = ", ".join(f"{place.intent}/{place.slot.id}" for place in group.places)
    twins = " (twins, judged together)" if len({place.intent for place in group.places}) > 1 else ""
    choices = [len(fulfilling(intent)) for intent in about.workload.intents if intent.id in _intents(group)]
    chosen = " by the nearest of the allowed outcomes" if max(choices, default=1) > 1 else ""
    yield Line(f"slot {places}{twins}: wants {wanted} × {group.effect_class} {_json(group.match)}{chosen}")
    yield from _some([_made(about, f"filled by {effect.receipt}", [effect], 1) for effect in live[:wanted]], "filled")
    surplus = [_made(about, f"one too many: {effect.receipt}", [effect], 1) for effect in live[wanted:]]
    yield from _some(surplus, "too many")
    why = {name: count for name, count in mechanisms(about, weighed.stated, group, effects.observed).items() if count}
    for name, places_of in (
        ("missing", effects.missing),
        ("falsely deduplicated", effects.false_dedup),
        ("torn", effects.torn),
    ):
        for place in places_of:
            if place in group.places:
                told = f"{name}: {place.intent}/{place.slot.id}{_absence(weighed, place, why, name)}"
                yield Line(told, level=1)


def _intents(group: Group) -> set[str]:
    return {place.intent for place in group.places}


def _absence(weighed: Weighed, place: Place, why: Mapping[str, int], name: str) -> str:
    """How far the absent effect got, or which mechanism explains it."""
    if name == "falsely deduplicated":
        return f" ({max(why, key=lambda each: why[each])})" if why else ""
    if name == "torn":
        return " (the intent is atomic, and a part of it stands alone)"
    about = weighed.about
    wanted = [n for n in about.declared_by(place.intent) if about.declared_calls[n][1] == place.slot.call]
    sent = about.attempts(wanted)
    if not sent:
        return " (its call was never sent)"
    requests = [request for call in sent for request in about.requests_of(call.call or 0)]
    forwarded = {event.request for event in about.history.of(Kind.REQUEST_FORWARDED)}
    got = "no upstream request came of it" if not requests else "no upstream request of it was let through"
    if any(request.request in forwarded for request in requests):
        got = "a request was let through, but made no such effect"
    return f" ({_many(len(sent), 'call')} sent {_numbers(sent)}, {got})"


def _stray(weighed: Weighed, effect: Effect) -> Line:
    """An effect that matches no slot, and where it differs from the nearest one."""
    same = [group for group in weighed.about.groups if group.effect_class == effect.effect_class]
    told = "no slot is of its class"
    if same:
        fewest = min((_differing(group, effect) for group in same), key=len)
        told = "; ".join(fewest)
    return _made(weighed.about, f"matches no slot: {_shown(effect)}: {told}", [effect])


def _differing(group: Group, effect: Effect) -> list[str]:
    return [
        f"{name} is {_json(effect.fields.get(name))}, declared {_json(value)}"
        for name, value in group.match.items()
        if name not in effect.fields or not json_equal(value, effect.fields[name])
    ]


def _made(about: Attribution, text: str, effects: Sequence[Effect], level: int = 0) -> Line:
    """The sentence with how the effects came about: commit, request, call."""
    receipts = {effect.receipt for effect in effects}
    events: list[Event] = []
    how: list[str] = []
    for commit in about.commits:
        if receipts & set(commit.receipts or ()):
            call = about.calls.get(about.call_of(commit) or 0)
            events += [commit, *([call] if call is not None else [])]
            how.append(f"call {call.call}" if call is not None else "a request of no call")
    told = f", by {', '.join(dict.fromkeys(how))}" if how else ", which the wire did not see committed"
    return Line(text + told, tuple(sorted(event.n for event in events)), level)


def _claims(weighed: Weighed) -> Step:
    """Each intent's claim against the truth."""
    about, said = weighed.about, weighed.said
    outcomes = list(about.history.of(Kind.OUTCOME))
    heard = outcomes[-1] if outcomes else None
    lines = [line for intent in about.workload.intents for line in _claim(weighed, intent, _sources(about, intent, heard))]
    if not weighed.stated:
        lines.insert(0, _unheard(about.history, heard))
    parts = ", ".join(f"{count} {part}" for part, count in said.counts.items() if count)
    lies = f"; misreported {len(said.misreported)}" if said.misreported else ""
    left = f"; unresolved {len(said.unresolved)} ({len(said.avoidable)} avoidable)" if said.unresolved else ""
    return Step("What the runtime says, and what is so", f"{parts or 'no intent'}{lies}{left}", tuple(lines))


def _sources(about: Attribution, intent: Intent, outcome: Event | None) -> tuple[int, ...]:
    """The events that bring an intent's claim: the outcome, or with a model what it was told about the intent's calls."""
    words = told_to_the_model(about.history)
    told = [words[number].event.n for number in about.declared_by(intent.id) if number in words]
    return tuple(sorted(set(told))) or ((outcome.n,) if outcome is not None else ())


def _claim(weighed: Weighed, intent: Intent, sources: tuple[int, ...]) -> Iterator[Line]:
    part, said = weighed.said.parts[intent.id], weighed.said
    claim = claim_of(weighed.stated, intent.id)
    named = weighed.stated[intent.id].all_receipts if intent.id in weighed.stated else ()
    receipts = f" with {_listed(named)}" if named else ""
    shown = sources if intent.id in weighed.stated else ()
    yield Line(f"{intent.id} is claimed {claim}{receipts}: {_TRUTH[part]}", shown)
    wrong = wrong_receipts(weighed.about, weighed.stated, weighed.effects, intent) if claim is Claim.COMMITTED else ()
    if wrong:
        yield Line(f"{_listed(wrong)} is no receipt of this intent's own effects", level=1)
    if intent.id in said.misreported:
        yield Line("misreported", level=1)
    elif part is Part.COMMITTED_FALSE or wrong:
        yield Line("counted as false_dedup already, so not as misreported too", level=1)
    if part in OPEN:
        yield Line(_settled(weighed, intent, part), level=1)


def _settled(weighed: Weighed, intent: Intent, part: Part) -> str:
    """Whether an open question was avoidable, and by what means."""
    if part is Part.WITHOUT_RECEIPT:
        return "avoidable: a receipt had been delivered, and the claim names none that is right"
    settled, why = means(weighed.about, weighed.stated, weighed.effects, intent)
    return f"{'avoidable' if settled else 'unavoidable'}: {why}"


_TRUTH: dict[Part, str] = {
    Part.COMMITTED: "true",
    Part.COMMITTED_FALSE: "false, not all of it happened",
    Part.WITHOUT_RECEIPT: "true, but it leaves the user without the receipt",
    Part.FAILED: "true, nothing of it happened",
    Part.FAILED_FALSE: "false, something of it happened",
    Part.UNRESOLVED: "it asserts nothing, a person must look",
    Part.ERROR: "it asserts nothing about the effect",
    Part.SILENT: "it says nothing",
}


def _unheard(history: History, heard: Event | None) -> Line:
    """Why no statement counts."""
    if heard is None or heard.result is None:
        running = history.first(Kind.STILL_RUNNING)
        if running is not None:
            return Line("no outcome: the runtime was still running when its time was over", (running.n,))
        why = f": {heard.detail}" if heard is not None and heard.detail else ""
        return Line(f"no outcome file counts{why}", (heard.n,) if heard is not None else ())
    exits = [event for event in history.of(Kind.RUNTIME_EXITED) if event.status not in (None, 0)]
    if exits:
        return Line(f"the outcome does not count: the runtime exited with status {exits[-1].status}", (exits[-1].n,))
    if history.declaration.model:
        return Line("the model was told nothing about any call, and the framework itself states nothing", (heard.n,))
    return Line("the outcome does not count: it is not as the contract says", (heard.n,))


def _blame(weighed: Weighed) -> Step:
    about = weighed.about
    who = blame(about, weighed.effects)
    lines = _some([_account(about, account) for account in accounts(about, weighed.effects)], "accounts")
    if invited(about, weighed.effects):
        lines.append(Line("invited: before a surplus call the runtime had been asked to send it again"))
    if mandated := spec_mandated(about, weighed.effects):
        again = tuple(about.calls[call].n for call in sorted(about.demanded))
        lines.append(Line(f"spec-mandated: {mandated}, by calls that give the input which was asked for", again))
    return Step("Who multiplied first", str(who) if who is not None else "nobody did more than was asked for", tuple(lines))


def _account(about: Attribution, account: Account) -> Line:
    if isinstance(account.subject, Effect):
        made = _made(about, "", [account.subject]).events
        return Line(f"{account.subject.receipt}: {account.who}: {account.why}", made)
    calls = about.attempts(about.declared_in(account.subject))
    what = ", ".join(dict.fromkeys(place.slot.id for place in account.subject.places))
    replies = {found[0].n for call in calls if (found := about.asking_of(call)) is not None}
    shown = sorted(replies | {call.n for call in calls})
    return Line(f"{what}: {account.who or 'nobody'}: {account.why}", tuple(shown))


def _rules(weighed: Weighed) -> Step:
    """The rules in order, up to the first that fits."""
    lines = []
    for rule in RULES:
        reason = rule.finds(weighed.grounds, weighed.effects, weighed.said)
        lines.append(Line(f"{rule.verdict}: {rule.asks} {'no' if reason is None else f'YES: {reason}'}"))
        if reason is not None:
            return Step("The verdict, the first rule that fits", str(rule.verdict), tuple(lines))
    lines.append(Line(f"{Verdict.CORRECT}: nothing above fits"))
    return Step("The verdict, the first rule that fits", str(Verdict.CORRECT), tuple(lines))


def _some(lines: Sequence[Line], what: str) -> list[Line]:
    """The first lines, and how many more there are."""
    if len(lines) <= MOST:
        return list(lines)
    return [*lines[:MOST], Line(f"… and {len(lines) - MOST} more ({what})", level=lines[0].level)]


def _listed(receipts: Iterable[str]) -> str:
    names = list(receipts)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return (", ".join(names[:MOST]) or "nothing") + more


def _shown(effect: Effect) -> str:
    return f"{effect.receipt} {effect.effect_class} {_json(effect.fields)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _numbers(events: Sequence[Event]) -> str:
    return ", ".join(f"#{event.n}" for event in events)
