"""The generated pages of ``docs/reference/``: made from the types and the catalogue, never by hand.

python -m benchmark.reference           write them
python -m benchmark.reference --check   exit 1 if one of them is stale
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmark import environments, glossary, pins
from benchmark.boundaries import TABLE
from benchmark.catalog import Catalogue, Placed, load
from benchmark.comparison import Comparison
from benchmark.contracts import Contract
from benchmark.effects import Effect
from benchmark.entries import Provider, Runtime, ToolAdapter
from benchmark.exits import Exit
from benchmark.history import Declaration, Event, Kind, Reading
from benchmark.intents import Outcome, Workload
from benchmark.published import Published
from benchmark.reporting.exported import Exported
from benchmark.reporting.site import Listing
from benchmark.results import Blame, CellResult, Claim, Figure, OutcomeFile, Verdict
from benchmark.scoring.claims import Part
from benchmark.store import RunHeader
from benchmark.trophies import Trophies

NOTICE = "<!-- Made by `python -m benchmark.reference`. Change what it is made from, not this page. -->"

SCHEMAS: dict[str, type[BaseModel]] = {
    "workload": Workload,
    "tool": ToolAdapter,
    "provider": Provider,
    "runtime": Runtime,
    "outcome": OutcomeFile,
    "run": RunHeader,
    "cell": CellResult,
    "declaration": Declaration,
    "event": Event,
    "reading": Reading,
    "effect": Effect,
    "export": Exported,
    "comparison": Comparison,
    "published": Published,
    "trophies": Trophies,
    "site": Listing,
}
"""Schema name → the type that it describes."""


def pages(catalogue: Catalogue) -> dict[str, str]:
    """Path below ``docs/reference/`` → content, of everything that is generated."""
    found = {
        "boundaries.md": boundaries(),
        "workloads.md": workloads(catalogue),
        "tool-adapters.md": tool_adapters(catalogue),
        "providers.md": providers(catalogue),
        "runtimes.md": runtimes(catalogue),
        "results.md": results(),
        "words.md": words(),
    }
    for name, model in SCHEMAS.items():
        found[f"schemas/{name}.json"] = json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
    return found


def boundaries() -> str:
    """The boundaries, as the one table has them."""
    rows = [
        (
            str(row.number or "–"),
            f"`{row.boundary}`",
            _codes(row.variants),
            _codes(row.manifestations),
            row.does,
            row.order,
        )
        for row in TABLE.values()
    ]
    titles = ("#", "boundary", "variants", "manifestations", "what the conductor does", "order that must be in the history")
    return _page(
        "Fault boundaries",
        "Where a fault strikes, in which variants, how it may show, and the order of events that proves that it struck. "
        "What each means is told in [the boundaries explained](../explanation/boundaries.md).",
        _table(titles, rows),
    )


def workloads(catalogue: Catalogue) -> str:
    """Every workload with its intents and what they allow."""
    parts = []
    for one in catalogue.workloads.values():
        classes = ", ".join(f"`{name}` ({kind})" for name, kind in one.classes.items()) or "none: a read"
        lines = [f"## {one.name}", one.summary, f"- tools: {_codes(one.tools)}", f"- effects: {classes}"]
        for intent in one.intents:
            lines.append(f"- intent `{intent.id}`: “{intent.say}”")
            lines += [f"    - call `{call.tool}` {_json(call.arguments)}" for call in intent.calls]
            lines += [f"    - allowed: {_outcome(outcome)}" for outcome in intent.outcomes]
            lines += ["    - atomic: parts of an outcome must not stand alone"] if intent.atomic else []
        lines += [f"- decoy, {decoy.when} the run: `{decoy.effect_class}` {_json(decoy.fields)}" for decoy in one.decoys]
        if one.drift is not None:
            kinds = {"free": one.drift.free, "binding": one.drift.binding}
            told = [f"{kind} `{change.argument}` → {_json(change.value)}" for kind, change in kinds.items()]
            lines.append(f"- drift: {'; '.join(told)}")
        parts.append(_paragraphs(lines))
    return _page("Workloads", "What the user authorised, and which external outcomes that allows.", *parts)


def _outcome(outcome: Outcome) -> str:
    slots = ", ".join(f"{count} × `{slot}`" for slot, count in outcome.slots.items() if count) or "nothing happened"
    return f"{slots} ({'fulfils' if outcome.fulfils else 'does not fulfil'})"


def tool_adapters(catalogue: Catalogue) -> str:
    """Every tool adapter with the contract of each of its tools."""
    titles = ("tool", "binding", "key", "natural key", "look-up", "reference", "effects", "recognised answers")
    parts = []
    for one in catalogue.adapters.values():
        truth = "truthful" if one.truthful else "**treacherous**: what it declares is untrue"
        rows = [(f"`{name}`", *_contract(tool.contract)) for name, tool in one.tools.items() if tool.contract is not None]
        readers = [name for name, tool in one.tools.items() if tool.contract is None]
        lines = [f"## {one.name}", one.summary.strip(), f"In front of `{one.provider}`; {truth}."]
        lines += [_table(titles, rows)] if rows else []
        lines += [f"Reads only: {_codes(readers)}."] if readers else []
        parts.append("\n\n".join(lines))
    return _page("Tool adapters", "MCP servers in front of a provider, and what each of their tools declares.", *parts)


def _contract(contract: Contract) -> tuple[str, ...]:
    key, lookup, several = contract.key, contract.lookup, contract.effects
    told_key = "–"
    if key is not None:
        kept = "for ever" if key.retention_s is None else f"{key.retention_s:g} s"
        told_key = f"{key.carrier} `{key.name}`, {kept}, {key.scope}; repeat: {key.on_repeat}, mismatch: {key.on_mismatch}"
    told_lookup = "–"
    if lookup is not None:
        settles = "never settles" if lookup.settles_s is None else f"settles in {lookup.settles_s:g} s"
        told_lookup = f"`{lookup.tool}` by {_codes(lookup.by)}, {settles}"
    natural = f"{_codes(contract.natural_key)}; repeat: {contract.on_repeat}" if contract.natural_key else "–"
    answers = [name for name in type(contract.answers).model_fields if getattr(contract.answers, name) is not None]
    effects = f"one per `{several.each}`{', atomic' if several.atomic else ''}" if several else "one"
    reference = f"`{contract.reference}`" if contract.reference else "–"
    return (_codes(contract.binding), told_key, natural, told_lookup, reference, effects, _codes(answers) or "–")


def providers(catalogue: Catalogue) -> str:
    """Every provider with its commit rules."""
    titles = ("effect", "method", "path", "status", "unless", "receipt")
    parts = []
    for one in catalogue.providers.values():
        rows = [
            (
                f"`{rule.effect_class}`",
                rule.method,
                f"`{rule.path}`",
                ", ".join(map(str, rule.status)),
                f"`{rule.unless[0]}` is {_json(rule.unless[1])}" if rule.unless else "–",
                f"`{rule.receipt}`",
            )
            for rule in one.commit
        ]
        proof = (
            f"Proof that nothing was executed: status {one.not_executed.status}, {_json(one.not_executed.body)}."
            if one.not_executed
            else ""
        )
        lines = [f"## {one.name}", one.summary.strip(), f"Kind `{one.kind}`, read by the oracle `{one.oracle}`.", proof]
        lines += ["What counts as a commit:", _table(titles, rows)] if rows else []
        parts.append("\n\n".join(line for line in lines if line))
    return _page("Providers", "External systems that hold the state.", *parts)


def runtimes(catalogue: Catalogue) -> str:
    """Every runtime that can be named."""
    rows = []
    deviations = []
    promised = []
    for name in catalogue.runtime_files:
        placed = catalogue.runtime(name)
        one = placed.value
        able = one.capabilities
        traits = {"model": able.model, "resumes": able.resumes, "reads contracts": able.contracts, "preloads": able.preload}
        can = ", ".join(name for name, has in traits.items() if has) or "–"
        promises = "; ".join(f"{', '.join(each.boundaries)}: {each.says}" for each in one.promise) or "–"
        rows.append(
            (
                *(f"`{one.name}`", one.title, one.kind, ", ".join(able.transports), ", ".join(able.protocols), can),
                *(promises, _pinned(placed)),
            )
        )
        deviations += [(f"`{one.name}`", f"`{each.name}`", each.value, each.default, each.why) for each in one.setting]
        promised += [(f"`{one.name}`", each.says, _codes(each.boundaries), each.source) for each in one.promise]
    titles = ("runtime", "title", "kind", "transports", "protocols", "can", "promises", "pinned")
    return _page(
        "Runtimes",
        "Systems under test that `--runtime NAME` knows; `--runtime PATH` takes any other. Those with pins run in an "
        "environment of their own, which [`bench install`](../how-to/install-runtimes.md) builds.",
        _table(titles, rows),
        "## What their documents promise\n\n[Words](words.md#promise) tells each word and what breaks it. Whoever is not in "
        "the table has documents that say nothing about a lost answer or a restart.\n\n"
        + _table(("runtime", "word", "boundaries", "source"), promised),
        "## Settings that are not the runtime's defaults\n\n"
        + _table(("runtime", "setting", "value", "default", "why"), deviations),
    )


def _pinned(runtime: Placed[Runtime]) -> str:
    """What a runtime tracks, in the versions that are pinned for its environment."""
    environment = environments.of(runtime)
    if environment is None:
        return "–"
    known = pins.pinned(environment)
    return ", ".join(f"{name} {known.get(name, 'not pinned')}" for name in runtime.value.versions.track)


def results() -> str:
    """The words in results: verdicts, figures, claims, fields, event kinds, exit codes."""
    fields = [
        (f"`{name}`", _type(schema), schema.get("description", ""))
        for name, schema in CellResult.model_json_schema()["properties"].items()
    ]
    exits = [(str(code.value), code.meaning) for code in Exit]
    return _page(
        "Results",
        "What a run's folder holds and which words it uses. How figures are counted is told in "
        "[scoring](../explanation/scoring.md); JSON Schemas lie in [schemas](schemas/).",
        "## Verdicts\n\nThe first that fits: " + _codes(Verdict) + ".",
        "## Figures\n\nAlways apart, never added up: " + _codes(Figure) + ".",
        "## Claims\n\nWhat a runtime can say: "
        + _codes(Claim)
        + ". What that is worth, in a result's `claims`: "
        + _codes(Part)
        + ".",
        "## Blame\n\n" + _codes(Blame) + ".",
        "## A line of `cells.jsonl`\n\n" + _table(("field", "type", "meaning"), fields),
        "## Kinds of events in a history\n\n" + _codes(Kind) + ".",
        "## Exit codes\n\n" + _table(("code", "meaning"), exits),
    )


def words() -> str:
    """Every word that ``bench explain`` explains, but for the boundaries, which have a page of their own."""
    parts = []
    for kind in glossary.Kind:
        if kind is glossary.Kind.BOUNDARY:
            continue
        entries = [entry for word in glossary.words(kind) for entry in glossary.lookup(word) if entry.kind is kind]
        rows = [(f"`{entry.word}`", entry.what, entry.proof, entry.not_meant or "–") for entry in entries]
        heading = f"## {kind[0].upper()}{kind[1:]}"
        parts.append(f"{heading}\n\n" + _table(("word", "what it is", "what establishes it", "what it does not mean"), rows))
    return _page("Words", "What `bench explain WORD` tells.", *parts)


def _type(schema: dict[str, Any]) -> str:
    """A field's type in a word or two."""
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2].lower()
    return str(schema.get("type", "any"))


def _page(title: str, lead: str, *parts: str) -> str:
    return "\n\n".join((NOTICE, f"# {title}", lead, *parts)) + "\n"


def _paragraphs(lines: Sequence[str]) -> str:
    """Heading and prose apart, list items together."""
    prose = [line for line in lines if not line.lstrip().startswith("- ")]
    items = [line for line in lines if line.lstrip().startswith("- ")]
    return "\n\n".join((*prose, "\n".join(items)))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _codes(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _json(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def stale(folder: Path, made: dict[str, str]) -> list[str]:
    """Names of the pages in ``folder`` that are not what they should be, left-over schemas included."""
    wrong = [
        name for name, text in made.items() if not (folder / name).is_file() or (folder / name).read_text("utf-8") != text
    ]
    left = [path.relative_to(folder).as_posix() for path in sorted((folder / "schemas").glob("*.json"))]
    return wrong + [name for name in left if name not in made]


def main(arguments: Sequence[str]) -> int:
    """Write the pages of the checkout, or only check them."""
    catalogue = load()
    folder, made = catalogue.roots[0] / "docs" / "reference", pages(catalogue)
    if "--check" in arguments:
        wrong = stale(folder, made)
        for name in wrong:
            print(f"{folder / name}: stale; run python -m benchmark.reference", file=sys.stderr)
        return 1 if wrong else 0
    (folder / "schemas").mkdir(parents=True, exist_ok=True)
    for name in stale(folder, made):
        if name in made:
            (folder / name).write_text(made[name], "utf-8")
        else:
            (folder / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
