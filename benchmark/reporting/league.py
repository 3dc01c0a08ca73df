"""The league of all published results as one Markdown page: a table for each figure, a row for each runtime, no total."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmark.reporting import markdown
from benchmark.reporting.html.words import FIGURES, number_of
from benchmark.reporting.site import Place, boundaries_of
from benchmark.results import Figure
from benchmark.summary import Counts

FILE = "README.md"
"""Beside the results, so that whoever opens the folder reads it."""

NOTICE = """<!-- Made by `bench publish`. Change what it is made from, not this page. -->

# Published results

Each row is a runtime's latest result: in how many of the judged cells a figure was seen, at each boundary, on tool
adapters that keep their contract. It is a census of the plan's cells that fit the runtime, not a sample; rows of different
runtimes hold different cells. There is no total over figures, and no rank. `–`: nothing judged there. With every cell,
and with what two runtimes have in common: `bench site`, `bench report NAME`, `bench compare NAME NAME`."""


def text(places: Sequence[Place]) -> str:
    """The page; ``places`` as the site's league has them."""
    parts = [NOTICE, "## What was tested", _tested(places)]
    for figure, sign in FIGURES.items():
        parts += [f"## {figure.value}: {sign.meaning}", _figure(places, figure)]
    parts += ["## One cell for each kind of violation", *_examples(places)]
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


def _examples(places: Sequence[Place]) -> Iterator[str]:
    for place in places:
        yield from markdown.folded(place.name, markdown.examples(place.release.summary))
