from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from benchmark.reporting.console import closing, summary
from benchmark.reporting.progress import progress
from benchmark.results import CellResult, Verdict
from benchmark.store import RunHeader
from benchmark.summary import replay

Make = Callable[..., CellResult]
NAME = "charge-card.client-token.{}.-.{}.stdio.2025-11-25.first-once.-@1"


def results(result: Make) -> list[CellResult]:
    return [
        result(NAME.format("none", "-")),
        result(
            NAME.format("after-commit", "reset"),
            verdict=Verdict.VIOLATED,
            extra=1,
            duplicates=1,
            blame="runtime",
            reason="charge: 1 duplicate",
        ),
        result(NAME.format("after-commit", "error"), verdict=Verdict.NOT_APPLICABLE, reason="because"),
        result(NAME.format("after-commit", "silence"), verdict=Verdict.VIOLATED, extra=1, duplicates=1, truthful=False),
    ]


def printed(header: RunHeader, found: list[CellResult], folder: Path | None = None) -> str:
    stream = io.StringIO()
    closing(Console(file=stream, width=100, highlight=False, markup=False), header, found, folder)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def test_the_closing_table_reads_as_promised(header: RunHeader, result: Make) -> None:
    text = printed(header, results(result), Path("results/run-1"))
    lines = text.splitlines()
    assert "blind-retry · tool adapters that keep their contract" in text
    assert [line.split() for line in lines if "3 after-commit" in line and " of " in line] == [
        ["3", "after-commit", "1", "of", "2", "1", "1", "0", "0", "0", "0", "0"],
        ["3", "after-commit", "1", "of", "1", "1", "1", "0", "0", "0", "0", "0"],
    ]
    assert "treacherous tool adapters (what they declare is untrue)" in text
    assert "  extra: a duplicate (2 cells, blame: runtime): charge: 1 duplicate" in lines
    assert "      1 not-applicable: because" in lines
    assert "Verdicts: 1 not-applicable, 2 violated, 1 correct" in lines
    assert "Results: results/run-1" in lines


def test_the_replay_command_stands_on_one_line_and_is_quoted_for_the_shell(header: RunHeader, result: Make) -> None:
    elsewhere = header.model_copy(update={"path": "/srv/my runtime", "seed": 7, "catalogs": ("/srv/own",)})
    cell = NAME.format("after-commit", "reset")
    command = f"bench run --runtime '/srv/my runtime' --cell {cell} --seed 7 --catalog /srv/own"
    assert replay(elsewhere, cell) == command
    assert f"    {command}" in printed(elsewhere, results(result)).splitlines()


def test_settings_that_are_not_the_defaults_are_told_in_the_terminal_and_in_json(header: RunHeader, result: Make) -> None:
    told = {"retries": "2 (default: 0); documented"}
    deviating = header.model_copy(update={"settings": told})
    assert "  retries = 2 (default: 0); documented" in printed(deviating, results(result)).splitlines()
    assert summary(deviating, results(result))["settings"] == told


def test_what_a_runtime_wrote_cannot_reach_the_terminal(header: RunHeader, result: Make) -> None:
    bad = result(verdict=Verdict.VIOLATED, extra=1, duplicates=1, reason="\x1b]0;pwned\x07[bold]x[/bold]")
    text = printed(header, [bad])
    assert "\x1b" not in text
    assert "\\x1b]0;pwned\\x07[bold]x[/bold]" in text


def test_flaky_cells_and_reruns_are_told(header: RunHeader, result: Make) -> None:
    one = result(NAME.format("after-commit", "reset"), reruns=1, rerun_reasons=("a call was slower than its timeout",))
    two = result(NAME.format("after-commit", "reset").replace("@1", "@2"), verdict=Verdict.VIOLATED, extra=1)
    text = printed(header, [one, two])
    assert "violated 1 of 2, correct 1 of 2" in text
    assert "1 of 2 cells" in text
    assert "a call was slower than its timeout" in text


def test_an_empty_run_says_so_without_a_table(header: RunHeader) -> None:
    assert printed(header, []).startswith("Verdicts: none")


def test_the_summary_holds_what_the_table_shows(header: RunHeader, result: Make) -> None:
    told = summary(header, results(result))
    assert told["verdicts"] == {"not-applicable": 1, "violated": 2, "correct": 1}
    assert told["truthful"]["profile"] == {"none": ["no violation in 1 stimulus"], "after-commit": ["duplicates"]}  # type: ignore[index]
    assert [one["replay"] for one in told["examples"]] == [  # type: ignore[attr-defined]
        f"bench run --runtime blind-retry --cell {NAME.format('after-commit', 'reset')}"
    ]


def test_elsewhere_than_on_a_terminal_progress_is_plain_lines(result: Make) -> None:
    stream, now = io.StringIO(), iter([0.0, 1.0, 2.0, 20.0, 21.0])
    with progress(4, Console(file=stream, width=80), lambda: next(now)) as advance:
        for verdict in (Verdict.CORRECT, Verdict.VIOLATED, Verdict.CORRECT, Verdict.UNTESTABLE):
            advance(result(verdict=verdict))
    assert stream.getvalue().splitlines() == [
        "1 of 4 cells",
        "3 of 4 cells · 1 violated · 7 s left",
        "4 of 4 cells · 1 violated, 1 untestable",
    ]


def test_on_a_terminal_progress_is_a_bar_with_the_time_left(result: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    with progress(2, Console(file=stream, width=100, force_terminal=True)) as advance:
        advance(result(verdict=Verdict.VIOLATED))
        advance(result())
    assert "2/2" in stream.getvalue()
    assert "1 violated" in stream.getvalue()
