"""The calendar adapters in front of the real Radicale, and what becomes of their cells where it is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark import installed
from benchmark.catalog import load
from benchmark.plan import plan
from benchmark.results import CellResult, Verdict
from benchmark.sweep import SweepSettings, run_sweep
from benchmark.toolserver import icalendar
from tests.unit.toolserver_world import MODES, Result, World, clients, oracle, running

pytest.importorskip("radicale")
SLOT: Result = {"slot": "20270105T090000Z", "attendee": "ada@example.com"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("world"), "radicale") as found:
        yield found


@pytest.mark.parametrize("where", MODES)
async def test_a_slot_is_booked_once_and_a_repeat_is_told_by_whom(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("calendar", *where)
        assert await tool.call("book", **SLOT, note="n") == {"receipt": "20270105T090000Z.ics", "isError": False}
        again = await tool.call("book", **SLOT)
        other = await tool.call("book", **{**SLOT, "attendee": "ben@example.com"})
        assert [(answer["code"], answer["receipt"]) for answer in (again, other)] == [
            ("exists", "20270105T090000Z.ics"),
            ("mismatch", "20270105T090000Z.ics"),
        ]
        (effect,) = tool.effects()
        assert effect.fields == {**SLOT, "note": "n"}


async def test_a_call_for_a_new_event_books_the_slot_again(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("calendar-anew")
        receipts = {(await tool.call("book", **SLOT))["receipt"] for _ in range(2)}
        assert {effect.receipt for effect in tool.effects()} == receipts
        assert len(receipts) == 2


async def test_a_lost_answer_is_unknown_and_the_booking_stands(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("calendar")
        tool.traffic.faults += ["lose"]
        assert (await tool.call("book", **SLOT))["code"] == "upstream_unknown"
        assert (len(tool.traffic.requests), tool.counted()) == (1, 1)


def test_long_and_awkward_text_survives_the_calendar_format(tmp_path: Path) -> None:
    text = "a, b; c\\d\nü " * 20
    written = icalendar.event("u", "20270105T090000Z", text, None)
    assert max(len(line.encode()) for line in written.split("\r\n")) <= 75
    assert icalendar.property_of(written, "SUMMARY") == text
    (tmp_path / "u.ics").write_text(written, newline="")
    assert [effect.fields["attendee"] for effect in oracle("caldav", tmp_path)] == [text]


def test_a_provider_that_is_not_installed_is_not_run_and_the_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = load()
    cells = tuple(cell for cell in plan(catalogue) if cell.workload == "book-slot")
    assert cells
    monkeypatch.setattr(installed, "find_spec", lambda name: None)
    told: list[CellResult] = []
    run_sweep(SweepSettings(catalogue.runtime("no-retry"), cells, catalogue), lambda result, _: told.append(result))
    assert {result.verdict for result in told} == {Verdict.NOT_RUN}
    assert {result.reason for result in told} == {"radicale is not installed; pip install 'declared-effect-bench[radicale]'"}
