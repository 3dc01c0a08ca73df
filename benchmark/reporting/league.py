"""The league of all published results as one Markdown page: a table for each figure, a row for each runtime, no total."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmark.reporting import markdown
from benchmark.reporting.html.words import FIGURES, number_of
from benchmark.reporting.site import Place, Release, boundaries_of
from benchmark.results import Blame, Figure
from benchmark.summary import Counts, Side

FILE = "README.md"
"""Beside the results, so that whoever opens the folder reads it."""

NOTICE = """<!-- Made by `bench publish`. Change what it is made from, not this page. -->

# Published results

Each row is a runtime's latest result: in how many of the judged cells a figure was seen, at each boundary, on tool
adapters that keep their contract. It is a census of the plan's cells that fit the runtime, not a sample; rows of different
runtimes hold different cells. There is no total over figures, and no rank. `–`: nothing judged there. With every cell,
and with what two runtimes have in common: `bench site`, `bench report NAME`, `bench compare NAME NAME`."""


WORDS = """“seen” are the profile's words; “first to repeat”: who multiplied first, in how many cells with effects too many;
the last column names the kinds of contract on which nothing was made twice there, and in how many cells: what to ask of
a tool."""


def text(places: Sequence[Place]) -> str:
    """The page; ``places`` as the site's league has them."""
    parts = [NOTICE, "## What was tested", _tested(places)]
    for figure, sign in FIGURES.items():
        parts += [f"## {figure.value}: {sign.meaning}", _figure(places, figure)]
    parts += ["## Each runtime, boundary by boundary", WORDS]
    for place in places:
        parts += _runtime(place)
    return "\n\n".join(parts) + "\n"


def _tested(places: Sequence[Place]) -> str:
    rows = []
    for place in places:
        header, whole = place.release.header, place.counts(True, "all") or Counts()
        versions = ", ".join(f"{name} {version}" for name, version in header.versions.items()) or header.bench
        link = f"[{markdown.prose(place.name)}]({place.name}/{place.release.path.name})"
        suite = header.suite_hash[:12] if place.current else f"{header.suite_hash[:12]} (an older one)"
        told = (versions, header.started[:10], suite, f"{whole.judged} of {whole.cells}", str(whole.stimuli))
        rows.append((link, *(markdown.prose(value) for value in told)))
    return markdown.table(("runtime", "versions", "day", "suite", "judged", "stimuli"), rows)


def _figure(places: Sequence[Place], figure: Figure) -> str:
    slugs = boundaries_of(places).get(True, [])
    rows = [(markdown.prose(place.name), *(_share(place.counts(True, slug), figure) for slug in slugs)) for place in places]
    return markdown.table(("runtime", *(_title(slug) for slug in slugs)), rows)


def _title(slug: str) -> str:
    return slug if slug in ("none", "all") else f"{number_of(slug)} {slug}"


def _share(counts: Counts | None, figure: Figure) -> str:
    if counts is None or not counts.judged:
        return "–"
    shown = counts.figure(figure)
    return f"**{shown}**/{counts.judged}" if shown else f"0/{counts.judged}"


def _runtime(place: Place) -> Iterator[str]:
    """What was found of one runtime: the answer, its promises, its boundaries, its settings, a cell for each kind."""
    release = place.release
    run = release.summary
    yield f"### {markdown.prose(place.name)}"
    yield markdown.prose(f"{run.header.title}. {run.answer}")
    promised = [
        f"{markdown.prose(same[0].says)} ({markdown.prose(same[0].source, 300)}): "
        + ", ".join(f"{word.boundary} **{word.held}**" for word in same)
        + "".join(f"<br>{markdown.code(word.replay, 600)}" for word in same if word.replay)
        for same in run.promises
    ]
    yield from markdown.folded("What its documents promise, and whether it held", promised)
    side = run.truthful
    if side is not None:
        first = _first_to_repeat(release)
        rows = [
            (
                f"{row.number or '–'} {row.boundary}",
                f"{row.counts.judged} of {row.counts.cells}",
                markdown.prose(", ".join(row.words)),
                ", ".join(f"{who} {cells}" for who, cells in first[row.boundary].items()) or "–",
                ", ".join(_spared(side, row.boundary)) or "–",
            )
            for row in side.boundaries
        ]
        table = markdown.table(("boundary", "judged", "seen", "first to repeat", "nothing twice where the tool has"), rows)
        yield f"<details><summary>Boundaries ({len(rows)})</summary>\n\n{table}\n\n</details>"
    settings = (f"{markdown.code(name)} = {markdown.code(told, 400)}" for name, told in sorted(run.header.settings.items()))
    yield from markdown.folded("Settings that are not its defaults", settings)
    yield from markdown.folded("One cell for each kind of violation", markdown.examples(run))


def _first_to_repeat(release: Release) -> dict[str, Counter[Blame]]:
    """Boundary → who was the first to repeat, in how many cells (truthful adapters)."""
    found: dict[str, Counter[Blame]] = defaultdict(Counter)
    for result in release.results:
        if result.verdict.judged and result.truthful and result.extra and result.blame is not None:
            found[result.boundary][result.blame] += 1
    return found


def _spared(side: Side, boundary: str) -> Iterator[str]:
    """The kinds of contract on which no effect too many was seen, where on others there was."""
    panes = [pane for pane in side.contracts if pane.boundary == boundary and pane.counts.judged]
    if any(pane.counts.figure(Figure.EXTRA) for pane in panes):
        for pane in panes:
            if not pane.counts.figure(Figure.EXTRA):
                yield f"{pane.value} ({pane.counts.judged})"
