"""What is printed stays readable on terminals of 40 to 80 columns, and without colour where NO_COLOR says so."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from benchmark.cli import run as bench
from benchmark.history import History
from benchmark.reporting import timeline
from benchmark.reporting.console import closing, console, pairs
from benchmark.results import CellResult, Verdict
from benchmark.scoring import judge
from benchmark.store import RunHeader

Make = Callable[..., CellResult]
NAME = "charge-card.client-token.{}.-.{}.stdio.2025-11-25.first-once.-@1"


def on(width: int) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False), stream


def lines(stream: io.StringIO) -> list[str]:
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.fixture
def results(result: Make) -> list[CellResult]:
    more = {"extra": 1, "duplicates": 1, "blame": "runtime", "reason": "1 duplicate effect"}
    return [
        result(NAME.format("none", "-")),
        result(NAME.format("after-commit", "reset"), verdict=Verdict.VIOLATED, **more),
        result(NAME.format("after-commit", "error"), verdict=Verdict.NOT_APPLICABLE, reason="because"),
    ]


def test_on_40_columns_each_boundary_is_a_paragraph(header: RunHeader, results: list[CellResult]) -> None:
    out, stream = on(40)
    closing(out, header, results)
    assert lines(stream)[:12] == [
        "blind-retry · tool adapters that keep",
        "their contract",
        " – none: 1 of 1 judged, 1 stimuli",
        "     none shows a figure",
        " 3 after-commit: 1 of 2 judged, 1",
        "     stimuli",
        "     extra 1",
        "   all: 2 of 3 judged, 1 stimuli",
        "     extra 1",
        "each figure: how many of the judged",
        "cells show it",
        "",
    ]


@pytest.mark.parametrize("width", [40, 50, 60, 72, 76, 80, 100])
def test_no_figure_and_no_boundary_is_ever_cut_off(header: RunHeader, results: list[CellResult], width: int) -> None:
    out, stream = on(width)
    closing(out, header, results)
    text = stream.getvalue()
    assert "…" not in text
    assert text.count("after-commit") >= 2
    assert all(len(line) <= width for line in lines(stream)[:12])


def test_on_80_columns_the_table_is_whole_but_for_the_room_between(header: RunHeader, results: list[CellResult]) -> None:
    out, stream = on(80)
    closing(out, header, results)
    assert "boundary" in lines(stream)[3]
    assert [line.split() for line in lines(stream) if "3 after-commit" in line][:1] == [
        ["3", "after-commit", "1", "of", "2", "1", "1", "0", "0", "0", "0", "0"]
    ]


def test_a_timeline_on_50_columns_says_the_lanes_in_words(history: Callable[..., History]) -> None:
    out, stream = on(50)
    told = history()
    timeline.show(out, told, judge(told))
    text = lines(stream)
    start = next(number for number, line in enumerate(text) if "seconds" in line)
    assert text[start : start + 10] == [
        " seconds  no.  what",
        "   0.010    1  server: server starts (instance a)",
        "   0.020    2  runtime: runtime starts",
        "               (incarnation 1)",
        "   0.030    3  runtime → server: initialize",
        "   0.040    4  runtime → wire: call 1: charge",
        '               order="1001" amount=10000',
        '               currency="usd"',
        "   0.050    5  wire → server: call 1 forwarded to",
        "               a",
    ]
    assert "│" not in stream.getvalue()


@pytest.mark.parametrize("kind", ["workloads", "adapters", "runtimes", "boundaries", "providers"])
@pytest.mark.parametrize("width", [40, 60])
def test_lists_on_a_narrow_terminal_are_paragraphs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert bench(["list", kind]) == 0
    assert all(len(line) <= width for line in capsys.readouterr().out.splitlines())


def test_a_list_on_40_columns_reads_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    bench(["list", "boundaries"])
    assert capsys.readouterr().out.splitlines()[6:13] == [
        "before-dispatch",
        "  no.: 1",
        "  variants: -",
        "  manifestations: reset, silence, error,",
        "      refused, crash",
        "  what the conductor does: takes the",
        "      call at the tool wire, never",
    ]


def test_pairs_stand_one_below_the_other_where_there_is_no_room() -> None:
    out, stream = on(30)
    pairs(out, [("what it is", "a thing"), ("proof", "x " * 20)])
    assert lines(stream) == ["what it is", "  a thing", "proof", "  " + "x " * 13 + "x", "  " + "x " * 5 + "x"]


@pytest.mark.parametrize("command", [["list", "boundaries"], ["explain", "torn"], ["doctor", "--runtime", "no-retry"]])
def test_no_color_is_obeyed_even_where_colour_is_forced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    bench(command)
    assert "\x1b[3" not in capsys.readouterr().out, "no foreground colour"


def test_without_no_color_a_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = io.StringIO()
    out = console(stream)
    pairs(out, [("a", "b")])
    out.print("x", style="red")
    assert "\x1b[31m" in stream.getvalue()
