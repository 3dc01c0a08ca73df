"""Runs as Hypothesis makes them: verdicts that follow from figures, repeats, and texts as bad as a runtime can write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from benchmark.results import Blame, CellResult, Figure, RunHeader, Verdict
from benchmark.scoring.claims import Part

HOSTILE = (
    "<script>alert(1)</script>",
    "\x1b[31mred\x1b[0m \x00 \x07",
    "\u202etxt.exe\u200b",
    "| a | b |\n| - | - |\n@everyone #1 ![x](javascript:alert(1))",
    "```\n</details>",
    "%0A::error::pwned\n::set-output name=a::b",
    '=HYPERLINK("http://example.invalid")',
    "]]><failure/>&amp;\ufffe\uffff",
    "\ud800 half a pair",
    "x" * 100_000,
)
"""What a runtime may put into an answer, an error or its own name."""

TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))
NO_TEXT = st.just("")
NAMES = [
    f"{workload}.{adapter}.{boundary}.-.{shown}.stdio.2025-11-25.first-once.-@{repeat}"
    for workload in ("charge-card", "transfer")
    for adapter in ("client-token", "key-dropper")
    for boundary, shown in (("none", "-"), ("after-commit", "reset"), ("during-cancel", "silence"))
    for repeat in (1, 2)
]
FIGURES = st.tuples(*[st.sampled_from((0, 0, 0, 1, 2))] * len(Figure))
UNJUDGED = st.sampled_from(
    (None, None, None, Verdict.NOT_RUN, Verdict.NOT_APPLICABLE, Verdict.HARNESS_ERROR, Verdict.UNTESTABLE)
)


def judged(figures: Sequence[int]) -> Verdict:
    """The verdict of these figures, as scoring gives it."""
    found = dict(zip(Figure, figures, strict=True))
    if any(found[figure] for figure in (Figure.EXTRA, Figure.TORN, Figure.FALSE_DEDUP, Figure.MISREPORTED)):
        return Verdict.VIOLATED
    if found[Figure.MISSING]:
        return Verdict.INCOMPLETE
    return Verdict.UNRESOLVED if found[Figure.UNRESOLVED] else Verdict.CORRECT


def one_of(name: str, figures: Sequence[int], unjudged: Verdict | None, text: str = "") -> CellResult:
    """A result of this cell."""
    workload, adapter, boundary, variant, manifestation, transport, protocol, strike, tail = name.split(".")
    counts: dict[str, Any] = {}
    if unjudged is None:
        counts = {figure.value: count for figure, count in zip(Figure, figures, strict=True)}
        counts |= {"duplicates": counts["extra"], "blame": Blame.RUNTIME if counts["extra"] else None}
        counts |= {"claims": {Part.COMMITTED: 1}, "funnel": {"intents": 1, "calls": 2}, "calls": 2, "exposed": True}
    return CellResult(
        cell=name,
        runtime="r",
        workload=workload,
        adapter=adapter,
        truthful=adapter != "key-dropper",
        contract="key",
        boundary=boundary,
        variant=variant,
        manifestation=manifestation,
        transport=transport,
        protocol=protocol,
        strike=strike,
        persona=tail.partition("@")[0],
        repeat=int(tail.partition("@")[2]),
        verdict=unjudged or judged(figures),
        reason=text,
        evidence=text,
        seen_as=text,
        stimulus=f"s{sum(figures)}",
        rerun_reasons=(text,),
        reruns=1,
        wall_s=0.5,
        **counts,
    )


def header(results: Sequence[CellResult], text: str = "r", **more: Any) -> RunHeader:
    """The head of a run of these results."""
    given: dict[str, Any] = {
        "run": "run-1",
        "started": "2026-01-01T00:00:00Z",
        "bench": "0.1.0",
        "argv": (),
        "runtime": "r",
        "title": text,
        "versions": {"mcp": text},
        "seed": 0,
        "jobs": 1,
        "preload": True,
        "plan_hash": "p",
        "suite_hash": "s" * 64,
        "cells": tuple(result.cell for result in results),
    }
    return RunHeader(**given, **more)


def results(texts: st.SearchStrategy[str] = NO_TEXT) -> st.SearchStrategy[tuple[CellResult, ...]]:
    """Results of some of the cells."""
    told = st.dictionaries(st.sampled_from(NAMES), st.tuples(FIGURES, UNJUDGED, texts), max_size=8)
    return told.map(lambda found: tuple(one_of(name, *what) for name, what in found.items()))
