"""Markdown for a pull-request comment or a job summary: short, bounded, and with every foreign text in a code span."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from benchmark.comparison import Change, Comparison, Pair
from benchmark.reporting.comparison import SIGNS, described
from benchmark.reporting.untrusted import plain
from benchmark.results import Figure
from benchmark.summary import Counts, Side, Summary

MARKER = "<!-- declared-effect-bench -->"
"""The first line, by which a workflow finds its own comment again."""

MOST = 20
"""Lines of any one list; a comment holds 65,536 characters."""


def run(summary: Summary) -> str:
    """A run: the answer, the tables, an example for each kind, what was not judged."""
    header = summary.header
    versions = ", ".join(f"{name} {version}" for name, version in header.versions.items())
    parts = [
        f"{MARKER}\n### Declared-Effect Bench: {code(header.runtime)}" + (f" ({code(versions)})" if versions else ""),
        prose(summary.answer),
        *(part for side in summary.sides for part in _side(side)),
        *folded("One cell for each kind of violation", examples(summary)),
        *folded(
            "Flaky", (f"{code(one.cell)}: {', '.join(f'{v} {n}' for v, n in one.verdicts.items())}" for one in summary.flaky)
        ),
        *folded("Not judged", (f"{one.runs} {one.verdict}: {code(one.reason or '–')}" for one in summary.unjudged)),
        *folded("Could not be read", (code(note, 300) for note in summary.notes)),
        _foot(summary),
    ]
    return "\n\n".join(parts) + "\n"


def comparison(found: Comparison) -> str:
    """A comparison: the marks by boundary, and the cells that moved, gravest first."""
    parts = [f"{MARKER}\n### Declared-Effect Bench: what changed"]
    parts += [f"- {code(one.label)}: {code(described(one), 400)}" for one in found.runs]
    parts += [part for pair in found.pairs for part in _pair(pair)]
    return "\n\n".join(parts) + "\n"


def code(text: object, limit: int = 160) -> str:
    """Foreign text as a code span: no markup, no mention, no link, no HTML comes alive in it. Not for tables."""
    told = plain(text, limit)
    if not told.strip():
        return "` `"
    fence = "`" * (max((len(run) for run in re.findall("`+", told)), default=0) + 1)
    return f"{fence} {told} {fence}" if told.startswith("`") or told.endswith("`") else f"{fence}{told}{fence}"


def prose(text: object, limit: int = 1000) -> str:
    """A sentence of ours, with whatever names stand in it, as plain text."""
    return re.sub(r"([\\`*_{}\[\]<>#!|~@$])", r"\\\1", plain(text, limit))


def _side(side: Side) -> Iterator[str]:
    rows = [(f"{row.number or '–'} {row.boundary}", row.counts, ", ".join(row.words)) for row in side.boundaries]
    rows.append(("**all**", side.whole, ""))
    listed = table(
        ("boundary", "judged", "stimuli", *(figure.value for figure in Figure), "seen"),
        ((prose(name) if name != "**all**" else name, *_counts(counts), prose(words)) for name, counts, words in rows),
    )
    if side.truthful:
        yield listed
    else:
        title = "Treacherous tool adapters (what they declare is untrue)"
        yield f"<details><summary>{title}</summary>\n\n{listed}\n\n</details>"


def _counts(counts: Counts) -> Iterator[str]:
    yield f"{counts.judged} of {counts.cells}"
    yield str(counts.stimuli)
    for figure in Figure:
        shown = counts.figure(figure)
        yield "n/a" if not counts.judged else f"**{shown}**" if shown else "0"


def examples(summary: Summary) -> Iterator[str]:
    """A line for each kind that occurs: what it is, in how many cells, and the command that runs one of them again."""
    for one in summary.examples:
        blame = f", blame: {one.result.blame}" if one.result.blame and one.result.extra else ""
        lied = "" if one.result.truthful else ", treacherous adapter"
        cells = f"{one.cells} cell{'' if one.cells == 1 else 's'}{blame}{lied}"
        yield f"**{one.kind}** ({cells}): {code(one.result.reason)}<br>{code(one.replay, 600)}"


def _pair(pair: Pair) -> Iterator[str]:
    yield f"**{code(pair.before)} → {code(pair.after)}**: {pair.compared} cells judged in both"
    yield from folded("Mind", (prose(caveat) for caveat in pair.caveats))
    if pair.marks:
        marks = list(pair.marks)
        rows = [(slug, counts) for slug, counts in pair.boundaries.items()] + [("**all**", pair.marks)]
        yield table(
            ("boundary", *(f"{SIGNS[mark]} {mark}" for mark in marks)),
            (
                (slug if slug == "**all**" else prose(slug), *(str(counts.get(mark, 0)) for mark in marks))
                for slug, counts in rows
            ),
        )
    yield from folded("What moved", (_change(change) for change in pair.changes if change.mark.moved))


def _change(change: Change) -> str:
    lied = "" if change.truthful else " (treacherous adapter)"
    return f"{SIGNS[change.mark]} **{change.mark}** {code(change.cell)}{lied}<br>{code(change.why, 300)}"


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A folded list, if there is anything in it; cut at ``MOST``."""
    every = list(lines)
    if every:
        more = [f"… {len(every) - MOST} more"] if len(every) > MOST else []
        told = "\n".join(f"- {line}" for line in (*every[:MOST], *more))
        yield f"<details><summary>{title} ({len(every)})</summary>\n\n{told}\n\n</details>"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Of fields that are Markdown already."""
    lines = [titles, ["---"] + ["--:"] * (len(titles) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _foot(summary: Summary) -> str:
    header = summary.header
    told = (
        f"{summary.results} of {summary.planned} planned cells, bench {header.bench}, "
        f"suite {header.suite_hash[:12]}, {header.started}"
    )
    return f"<sub>{prose(told)}. Each figure: how many of the judged cells show it; figures are never added up.</sub>"
