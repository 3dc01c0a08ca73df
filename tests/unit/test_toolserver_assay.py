"""The adapter in the manner of Assay: five answers to a repeat, kept beyond the process, and what outlives them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.toolserver.attempts import Record, Records
from tests.unit.toolserver_world import (
    CHARGE,
    EXAMPLES,
    MODES,
    Connected,
    Result,
    World,
    charge,
    clients,
    keyed,
    running,
    soon,
)

REPLAYED = {"assay/replayed": True}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("world")) as found:
        yield found


def code(answer: Result) -> str:
    assert answer["isError"]
    assert answer["assay/error"]["code"] == answer["code"]
    found: str = answer["code"]
    return found


async def send(tool: Connected, key: str, **changed: Any) -> Result:
    return await tool.call("send", **{**EXAMPLES["send"], **changed}, **keyed("meta-key", key))


@pytest.mark.parametrize("where", MODES)
async def test_a_result_is_given_again_by_any_instance_and_the_key_stands_for_one_call(
    world: World, where: tuple[str, str]
) -> None:
    async with clients(world) as connect:
        tool = await connect("meta-key", *where)
        first = await charge(tool, "meta-key", "k", memo="a")
        assert first == {"receipt": "ch_1", "isError": False}
        assert await charge(tool, "meta-key", "k", amount=10000.0, memo="a") == {**first, **REPLAYED}
        assert code(await charge(tool, "meta-key", "k", memo="b")) == "IDEMPOTENCY_KEY_REUSED"
        assert code(await send(tool, "k")) == "IDEMPOTENCY_KEY_REUSED"
        beside = await connect("meta-key", *where, beside=tool)
        assert await charge(beside, "meta-key", "k", memo="a") == {**first, **REPLAYED}
        assert (await tool.call("charge", **CHARGE))["receipt"] == "ch_2"
        assert (len(tool.traffic.requests), tool.counted()) == (2, 2)


async def test_a_repeat_is_told_of_the_attempt_that_runs_by_any_instance(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("meta-key")
        beside = await connect("meta-key", beside=tool)
        tool.traffic.faults += ["hold"]
        first = asyncio.create_task(charge(tool, "meta-key", "k"))
        assert await soon(tool.traffic.held.is_set)
        for each in (tool, beside):
            answer = await charge(each, "meta-key", "k")
            assert code(answer) == "IDEMPOTENCY_IN_PROGRESS"
            assert answer["assay/error"]["retryAfter"] == 1
        tool.traffic.let_go.set()
        assert await first == {"receipt": "ch_1", "isError": False}
        assert await charge(beside, "meta-key", "k") == {"receipt": "ch_1", "isError": False, **REPLAYED}


async def test_an_attempt_whose_answer_was_lost_has_stalled(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("meta-key")
        tool.traffic.faults += ["lose"]
        assert (await charge(tool, "meta-key", "k"))["code"] == "upstream_unknown"
        assert code(await charge(tool, "meta-key", "k")) == "IDEMPOTENCY_ATTEMPT_STALLED"
        assert (len(tool.traffic.requests), tool.counted()) == (1, 1)


async def test_a_paid_call_is_unique_beyond_the_replay_window_and_a_free_one_is_not(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("meta-key", retention_s=0.3)
        await charge(tool, "meta-key", "c")
        await send(tool, "s")
        await asyncio.sleep(0.35)
        assert code(await charge(tool, "meta-key", "c")) == "IDEMPOTENCY_RESULT_UNAVAILABLE"
        assert (await send(tool, "s"))["receipts"] == ["msg_3", "msg_4"]
        assert [effect.effect_class for effect in tool.effects()] == ["charge", *["message"] * 4]


async def test_a_void_charge_releases_its_key(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("meta-key", retention_s=0.3)
        await charge(tool, "meta-key", "k")
        undoing = await connect("find-only", beside=tool)
        await undoing.call("undo", receipt="ch_1")
        await asyncio.sleep(0.35)
        assert (await charge(tool, "meta-key", "k"))["receipt"] == "ch_2"


def records(folder: Path, **terms: float) -> Records:
    return Records(folder / "a.sqlite", **{"window_s": 60.0, "lease_s": 60.0, **terms})


OWNER = ("org", "agent")


def test_a_result_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    kept = records(tmp_path)
    for key, output, state in (("a", {"x": "y"}, {"x": "y"}), ("b", {"x": "y" * 100}, None)):
        assert kept.begin(OWNER, key, "charge", {}) is None
        kept.done(OWNER, key, output, 50)
        assert kept.begin(OWNER, key, "charge", {}) == Record("done", state)


def test_an_attempt_whose_lease_is_over_has_stalled(tmp_path: Path) -> None:
    assert records(tmp_path).begin(OWNER, "k", "charge", {}) is None
    assert records(tmp_path).begin(OWNER, "k", "charge", {}) == Record("running")
    time.sleep(0.02)
    assert records(tmp_path, lease_s=0.01).begin(OWNER, "k", "charge", {}) == Record("stalled")


def test_a_key_is_the_organisation_s_and_the_agent_s_own_and_can_be_released(tmp_path: Path) -> None:
    kept = records(tmp_path)
    assert kept.begin(OWNER, "k", "charge", {"amount": 1}) is None
    assert kept.begin(("org", "other"), "k", "charge", {"amount": 1}) is None
    assert kept.begin(("other", "agent"), "k", "charge", {"amount": 1}) is None
    assert kept.begin(OWNER, "k", "charge", {"amount": 2}) == Record("reused")
    kept.released(OWNER, "k")
    assert kept.begin(OWNER, "k", "send", {}) is None


def test_records_are_on_disk_before_the_call_goes_on(tmp_path: Path) -> None:
    records(tmp_path).begin(OWNER, "k", "charge", {})
    with sqlite3.connect(tmp_path / "a.sqlite") as database:
        assert json.loads(database.execute("SELECT request FROM attempts").fetchone()[0]) == ["charge", {}]
    database.close()
