"""The treacherous adapters really break the contract that they declare, and the others do not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.toolserver_world import ADAPTERS, CHARGE, TOOLS, World, adapter_of, charge, clients, running


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("world")) as found:
        yield found


async def test_instance_memory_forgets_with_its_process_and_with_a_lost_answer(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("instance-memory")
        beside = await connect("instance-memory", beside=tool)
        assert (await charge(tool, "instance-memory", "k"))["receipt"] == "ch_1"
        assert (await charge(tool, "instance-memory", "k"))["replayed"] is True
        assert (await charge(tool, "instance-memory", "k", amount=5))["code"] == "mismatch"
        assert await charge(beside, "instance-memory", "k") == {"receipt": "ch_2", "isError": False}
        tool.traffic.faults += ["lose"]
        assert (await charge(tool, "instance-memory", "l"))["code"] == "upstream_unknown"
        assert await charge(tool, "instance-memory", "l") == {"receipt": "ch_4", "isError": False}


async def test_argument_hash_takes_twins_for_one_and_another_request_for_new(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("argument-hash")
        assert (await charge(tool, "argument-hash", "k1", memo="a"))["receipt"] == "ch_1"
        twin = await charge(tool, "argument-hash", "k2", memo="b")
        assert twin == {"receipt": "ch_1", "replayed": True, "isError": False}
        assert (await tool.call("charge", **CHARGE))["replayed"] is True
        assert (await charge(tool, "argument-hash", "k1", amount=5)) == {"receipt": "ch_2", "isError": False}


async def test_key_dropper_hands_no_key_on(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("key-dropper")
        receipts = [(await charge(tool, "key-dropper", "k"))["receipt"] for _ in range(2)]
        assert receipts == ["ch_1", "ch_2"]
        assert all("Idempotency-Key" not in headers for _, _, headers, _ in tool.traffic.requests)


@pytest.mark.parametrize(("fault", "effects"), [("lose", 2), ("drop", 1), ("502", 1)])
async def test_retrying_server_repeats_its_own_request_once(world: World, fault: str, effects: int) -> None:
    async with clients(world) as connect:
        tool = await connect("retrying-server")
        tool.traffic.faults += [fault]
        assert (await tool.call("charge", **CHARGE))["receipt"] == f"ch_{effects}"
        assert tool.counted() == effects
        tool.traffic.faults += ["drop", "drop"]
        assert (await tool.call("charge", **CHARGE))["code"] == "upstream_unknown"
        assert len(tool.traffic.requests) == 4


OTHERS = sorted({name for name in ADAPTERS if "charge" in adapter_of(TOOLS / name).tools} - {"retrying-server"})


@pytest.mark.parametrize("name", OTHERS)
async def test_no_other_server_repeats_its_own_request(world: World, name: str) -> None:
    async with clients(world) as connect:
        tool = await connect(name)
        tool.traffic.faults += ["lose"]
        assert (await tool.call("charge", **CHARGE))["code"] == "upstream_unknown"
        assert (len(tool.traffic.requests), tool.counted()) == (1, 1)
