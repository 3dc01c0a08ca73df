"""Every tool adapter keeps its contract, driven by the stock MCP client against the real provider."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.unit.toolserver_world import (
    ADAPTERS,
    CHARGE,
    ENVIRONMENT,
    EXAMPLES,
    MODES,
    TOOLS,
    Connected,
    Result,
    World,
    adapter_of,
    charge,
    clients,
    keyed,
    oracle,
    running,
    soon,
)

EIO = {"errno": 5}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("world")) as found:
        yield found


@pytest.mark.parametrize(("name", "where"), [(name, MODES[index % 4]) for index, name in enumerate(ADAPTERS)])
async def test_every_tool_is_listed_as_declared_and_makes_one_effect_per_request(
    world: World, name: str, where: tuple[str, str]
) -> None:
    declared = adapter_of(TOOLS / name)
    async with clients(world) as connect:
        tool = await connect(name, *where)
        assert tool.client.protocol_version == ("2025-11-25" if where[1] == "legacy" else "2026-07-28")
        listed = {entry.name: entry for entry in (await tool.client.list_tools()).tools}
        assert list(listed) == list(declared.tools)
        for each, wanted in declared.tools.items():
            shown = listed[each]
            assert set(shown.input_schema["properties"]) == set(wanted.arguments)
            assert shown.input_schema["required"] == [key for key, kind in wanted.arguments.items() if "?" not in kind]
            assert shown.annotations is not None
            assert shown.annotations.read_only_hint == (wanted.contract is None)
            assert shown.annotations.idempotent_hint == (wanted.contract is None or wanted.contract.idempotent_hint)
        receipts: list[str] = []
        for each in declared.tools:
            if each in EXAMPLES:
                answer = await tool.call(each, **EXAMPLES[each])
                assert answer["isError"] is False
                receipts += answer.get("receipts") or [answer["receipt"]]
        assert [effect.receipt for effect in tool.effects()] == receipts
        once = any(
            each.contract and each.contract.effects and each.contract.effects.together for each in declared.tools.values()
        )
        assert len(tool.traffic.requests) == (0 if tool.kind == "files" else 1 if once else len(receipts))


@pytest.mark.parametrize("name", ["client-token", "idempotency-key"])
@pytest.mark.parametrize("where", MODES)
async def test_a_key_is_replayed_by_any_instance_bound_and_optional(world: World, name: str, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect(name, *where)
        first = await charge(tool, name, "k", memo="a")
        assert first == {"receipt": "ch_1", "isError": False}
        assert await charge(tool, name, "k", amount=10000.0, memo="b") == {**first, "replayed": True}
        other = await charge(tool, name, "k", amount=5)
        assert (other["code"], other["receipt"], other["isError"]) == ("mismatch", "ch_1", True)
        if where == ("http", "auto"):
            beside = await connect(name, *where, beside=tool)
            assert await charge(beside, name, "k") == {**first, "replayed": True}
        assert (await charge(tool, name, "other"))["receipt"] == "ch_2"
        assert (await tool.call("charge", **CHARGE))["receipt"] == "ch_3"
        assert tool.counted() == 3


async def test_each_of_several_effects_has_its_own_key(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("idempotency-key")
        arguments: Result = {**EXAMPLES["send"], "idempotency_key": "k", "reference": "r"}
        first = await tool.call("send", **arguments)
        assert first == {"receipts": ["msg_1", "msg_2"], "isError": False}
        assert await tool.call("send", **arguments) == {**first, "replayed": True}
        sent = [(headers["Idempotency-Key"], body["reference"]) for _, _, headers, body in tool.traffic.requests]
        assert sent == [("k/0", "r/0"), ("k/1", "r/1")] * 2
        wider = await tool.call("send", **{**arguments, "recipients": ["a@x", "c@x"]})
        assert (wider["code"], wider["receipt"], wider["receipts"]) == ("mismatch", "msg_2", ["msg_1"])
        legs = await tool.call("transfer", **EXAMPLES["transfer"])
        assert [effect.fields["amount"] for effect in tool.effects() if effect.receipt in legs["receipts"]] == [-75, 75]


async def test_a_transfer_in_one_transaction_is_one_request_with_one_key(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("one-transaction")
        first = await tool.call("transfer", **EXAMPLES["transfer"], idempotency_key="k")
        assert first == {"receipts": ["leg_1", "leg_2"], "isError": False}
        assert await tool.call("transfer", **EXAMPLES["transfer"], memo="m", idempotency_key="k") == {
            **first,
            "replayed": True,
        }
        other = await tool.call("transfer", accounts=["one", "two"], amount=5, idempotency_key="k")
        assert (other["code"], other["isError"]) == ("mismatch", True)
        assert [headers["Idempotency-Key"] for _, _, headers, _ in tool.traffic.requests] == ["k"] * 3
        assert [(effect.fields["account"], effect.fields["amount"]) for effect in tool.effects()] == [
            ("one", -75),
            ("two", 75),
        ]


async def test_a_key_is_forgotten_when_its_retention_is_over(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("client-token", retention_s=0.3)
        assert (await charge(tool, "client-token", "k"))["receipt"] == "ch_1"
        assert (await charge(tool, "client-token", "k"))["replayed"] is True
        await asyncio.sleep(0.35)
        assert await charge(tool, "client-token", "k") == {"receipt": "ch_2", "isError": False}


@pytest.mark.parametrize("where", MODES)
async def test_a_unique_reference_refuses_a_repeat_and_names_the_effect(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("unique-key", *where)
        assert await charge(tool, "unique-key", "r") == {"receipt": "ch_1", "isError": False}
        again, other = await charge(tool, "unique-key", "r", memo="b"), await charge(tool, "unique-key", "r", amount=5)
        assert (again["code"], again["receipt"]) == ("exists", "ch_1")
        assert (other["code"], other["receipt"]) == ("mismatch", "ch_1")
        for _ in range(2):
            await tool.call("charge", **CHARGE)
        assert (await tool.call("create", **EXAMPLES["create"], reference="r"))["receipt"] == "res_1"
        assert [effect.reference for effect in tool.effects()] == ["r", None, None, "r"]


@pytest.mark.parametrize("where", MODES)
async def test_a_key_in_the_parameters_binds_every_argument_and_replays_errors_too(
    world: World, where: tuple[str, str]
) -> None:
    async with clients(world) as connect:
        tool = await connect("param-key", *where)
        first = await charge(tool, "param-key", "k", memo="a")
        assert await charge(tool, "param-key", "k", amount=10000.0, memo="a") == {**first, "replayed": True}
        assert (await charge(tool, "param-key", "k", memo="b"))["code"] == "mismatch"
        refused = [await tool.call("delete", name="nothing", **keyed("param-key", "d")) for _ in range(2)]
        assert [answer["code"] for answer in refused] == ["not_found", "not_found"]
        await tool.call("delete", name="archive-9101", **keyed("param-key", "e"))
        again = await tool.call("delete", name="archive-9101", **keyed("param-key", "e"))
        assert (again["receipt"], again["replayed"]) == ("del_1", True)
        assert tool.counted() == 2


@pytest.mark.parametrize("where", MODES)
async def test_what_is_deleted_is_not_found_by_a_second_deletion(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("delete-by-name", *where)
        assert (await tool.call("delete", name="archive-9101"))["receipt"] == "del_1"
        again = await tool.call("delete", name="archive-9101", note="n")
        assert (again["code"], again["isError"], "receipt" in again) == ("not_found", True, False)
        assert (await tool.call("delete", name="archive-9102"))["receipt"] == "del_2"
        assert tool.counted() == 2


async def test_a_resource_that_was_made_can_be_deleted_once(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("create-resource")
        assert (await tool.call("delete", name="disk"))["code"] == "not_found"
        await tool.call("create", **EXAMPLES["create"])
        answers = [await tool.call("delete", name="disk") for _ in range(2)]
        assert [answer["isError"] for answer in answers] == [False, True]


async def test_a_refund_stands_beside_its_charge(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("find-only")
        for each in ("charge", "refund"):
            await tool.call(each, **CHARGE)
        assert [(effect.effect_class, effect.undone) for effect in tool.effects()] == [("charge", False), ("refund", False)]


@pytest.mark.parametrize(
    ("name", "again", "other", "jobs"),
    [("job-by-handle", "exists", "mismatch", 1), ("hint-honest", None, "mismatch", 1), ("hint-liar", None, None, 3)],
)
async def test_a_handle_is_one_job_where_the_tool_keeps_its_word(
    world: World, name: str, again: str | None, other: str | None, jobs: int
) -> None:
    async with clients(world) as connect:
        tool = await connect(name)
        first = await tool.call("start", job="render", input="scene")
        repeat = await tool.call("start", job="render", input="scene", note="n")
        changed = await tool.call("start", job="render", input="another")
        assert (repeat.get("code"), changed.get("code"), tool.counted()) == (again, other, jobs)
        assert (repeat["receipt"] == first["receipt"]) == (jobs == 1)
        assert len((await tool.call("find_jobs", job="render"))["found"]) == jobs


@pytest.mark.parametrize("where", MODES)
async def test_a_conditional_put_creates_once(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("conditional-put", *where)
        assert (await tool.call("put", path="a/ü b.txt", content="x"))["receipt"] == "a/ü b.txt@1"
        again = await tool.call("put", path="a/ü b.txt", content="x", note="n")
        other = await tool.call("put", path="a/ü b.txt", content="y")
        assert [(answer["code"], answer["isError"]) for answer in (again, other)] == [("exists", True), ("mismatch", True)]
        assert again["receipt"] == other["receipt"] == "a/ü b.txt@1"
        assert tool.counted() == 1


@pytest.mark.parametrize("where", MODES)
async def test_a_line_under_an_id_is_appended_once(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("append-once", *where)
        first, again = [await tool.call("append", path="a", line="x", note=note, line_id="k") for note in ("m", "n")]
        other = await tool.call("append", path="a", line="y", line_id="k")
        assert first == again
        assert (other["code"], other["receipt"], other["isError"]) == ("mismatch", first["receipt"], True)
        for _ in range(2):
            await tool.call("append", path="a", line="x")
        assert tool.counted() == 3


@pytest.mark.parametrize("where", MODES)
async def test_a_staged_rename_overwrites_and_leaves_nothing_behind(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("staged-rename", *where)
        first, again, other = [await tool.call("put", path="a/b", content=content) for content in ("x", "x", "y")]
        assert first == again != other
        assert [effect.receipt for effect in tool.effects()] == [other["receipt"]]
        assert list((tool.place / ".staging").iterdir()) == []


@pytest.mark.parametrize("where", MODES)
async def test_a_look_up_finds_by_reference_and_by_natural_field(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("find-only", *where)
        await tool.call("charge", **CHARGE, reference="r")
        await tool.call("send", **EXAMPLES["send"], reference="r")
        entry = {"receipt": "ch_1", "reference": "r", "arguments": {**CHARGE, "memo": None}}
        searches: list[Result] = [{"order": "1001"}, {"reference": "r"}, {"order": "1001", "reference": "r"}]
        for wanted in searches:
            assert await tool.call("find_charges", **wanted) == {"found": [entry], "isError": False}
        assert await tool.call("find_charges", reference="r2") == {"found": [], "isError": False}
        message = (await tool.call("find_messages", reference="r/1"))["found"][0]
        assert (message["receipt"], message["arguments"]["recipients"]) == ("msg_2", ["b@x"])
        assert (await tool.call("find_charges"))["isError"] is True


async def test_an_undone_effect_is_found_no_more_but_stays_in_the_journal(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("find-only")
        await tool.call("charge", **CHARGE)
        assert (await tool.call("undo", receipt="ch_1"))["receipt"] == "ch_1"
        assert (await tool.call("undo", receipt="ch_9"))["code"] == "unknown"
        assert (await tool.call("find_charges", order="1001"))["found"] == []
        assert [effect.undone for effect in tool.effects()] == [True]


@pytest.mark.parametrize(
    ("where", "fault", "effects"),
    [*((where, "lose", 1) for where in MODES), (MODES[1], "drop", 0), (MODES[2], "502", 0)],
)
async def test_a_lost_upstream_answer_is_unknown_and_nothing_more_is_sent(
    world: World, where: tuple[str, str], fault: str, effects: int
) -> None:
    async with clients(world) as connect:
        tool = await connect("send-message", *where)
        tool.traffic.faults += ["", fault]
        answer = await tool.call("send", recipients=["a@x", "b@x", "c@x"], subject="s", body="t")
        assert (answer["code"], answer["isError"], answer["receipts"]) == ("upstream_unknown", True, ["msg_1"])
        assert (len(tool.traffic.requests), tool.counted()) == (2, 1 + effects)


@pytest.mark.parametrize(("name", "code"), [("client-token", "not_executed"), ("create-resource", "upstream_unknown")])
async def test_a_proof_of_non_execution_counts_only_where_it_is_declared(world: World, name: str, code: str) -> None:
    async with clients(world) as connect:
        tool = await connect(name)
        tool.traffic.faults += ["503"]
        answer = await tool.call("create", **EXAMPLES["create"])
        assert (answer["code"], answer["isError"], tool.counted()) == (code, True, 0)


async def test_a_call_that_did_something_never_says_that_nothing_was_executed(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("send-message")
        tool.traffic.faults += ["", "503"]
        answer = await tool.call("send", **EXAMPLES["send"])
        assert (answer["code"], answer["receipts"], answer["isError"]) == ("partial", ["msg_1"], True)


async def test_a_repeat_is_told_of_the_call_that_still_runs(world: World) -> None:
    async with clients(world) as connect:
        tool = await connect("param-key")
        tool.traffic.faults += ["hold"]
        first = asyncio.create_task(charge(tool, "param-key", "k"))
        assert await soon(tool.traffic.held.is_set)
        second = await charge(tool, "param-key", "k")
        assert (second["code"], second["retry_after_s"], second["isError"]) == ("in_progress", 0.2, True)
        assert (await charge(tool, "param-key", "other"))["receipt"] == "ch_1"
        tool.traffic.let_go.set()
        assert await first == {"receipt": "ch_2", "isError": False}
        assert (await charge(tool, "param-key", "k"))["replayed"] is True


@pytest.mark.parametrize("where", MODES)
async def test_a_cancelled_call_finishes_all_its_effects(world: World, where: tuple[str, str]) -> None:
    async with clients(world) as connect:
        tool = await connect("send-message", *where)
        tool.traffic.faults += ["hold"]
        with pytest.raises(MCPError):
            await tool.client.call_tool("send", EXAMPLES["send"], read_timeout_seconds=0.3)
        assert tool.traffic.held.is_set()
        tool.traffic.let_go.set()
        assert await soon(lambda: tool.counted() == 2)


@pytest.mark.parametrize("where", MODES)
async def test_a_server_that_aborts_sends_nothing_more_once_cancelled(
    world: World, tmp_path: Path, where: tuple[str, str]
) -> None:
    text = (TOOLS / "send-message/tool.toml").read_text()
    (tmp_path / "tool.toml").write_text(text.replace("preload = true", 'on_cancel = "abort"'))
    (tmp_path / "server.py").write_text((TOOLS / "send-message/server.py").read_text())
    async with clients(world) as connect:
        tool = await connect(tmp_path, *where)
        tool.traffic.faults += ["hold"]
        with pytest.raises(MCPError):
            await tool.client.call_tool("send", EXAMPLES["send"], read_timeout_seconds=0.3)
        await asyncio.sleep(0.1)
        tool.traffic.let_go.set()
        assert await soon(lambda: tool.counted() == 1)
        await asyncio.sleep(0.1)
        assert len(tool.traffic.requests) == 1


@pytest.mark.parametrize(
    ("where", "before", "after", "lines"),
    [*((where, None, EIO, 1) for where in MODES), (MODES[0], EIO, None, 0), (MODES[3], "close", None, 0)],
)
async def test_the_gate_brackets_the_mutation(
    world: World, tmp_path: Path, where: tuple[str, str], before: Any, after: Any, lines: int
) -> None:
    asked: list[Any] = []

    async def gate(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            asked.append((json.loads(line), tool.counted()))
            answer = before if asked[-1][0]["bracket"] == "before" else after
            if answer == "close":
                break
            writer.write((json.dumps(answer or {"go": True}) + "\n").encode())
        writer.close()

    async with clients(world) as connect, await asyncio.start_unix_server(gate, tmp_path / "gate"):
        tool = await connect("append-line", *where, gate=str(tmp_path / "gate"))
        answer = await tool.call("append", **EXAMPLES["append"])
        assert (answer["code"], answer["isError"], tool.counted()) == ("upstream_unknown", True, lines)
        operation = {"class": "line", "fields": EXAMPLES["append"]}
        assert asked[0] == ({"instance": "a", "bracket": "before", "op": operation}, 0)
        if lines:
            assert asked[1] == ({"bracket": "after", "receipt": tool.effects()[0].receipt, "committed": True}, 1)
        before = after = None
        assert (await tool.call("append", **EXAMPLES["append"]))["receipt"] == tool.effects()[-1].receipt


async def test_the_gate_is_told_that_a_put_of_the_same_content_changed_nothing(world: World, tmp_path: Path) -> None:
    committed = []

    async def gate(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            bracket = json.loads(line)
            committed.extend([bracket["committed"]] if "committed" in bracket else [])
            writer.write(b'{"go": true}\n')
        writer.close()

    async with clients(world) as connect, await asyncio.start_unix_server(gate, tmp_path / "gate"):
        tool = await connect("staged-rename", gate=str(tmp_path / "gate"))
        for content in ("x", "x", "y"):
            await tool.call("put", path="a", content=content)
    assert committed == [True, False, True]


WRONG: list[tuple[str, str, Result]] = [
    ("idempotency-key", "charge", {"order": "1", "amount": 1}),
    ("idempotency-key", "charge", {**CHARGE, "amount": "1"}),
    ("idempotency-key", "charge", {**CHARGE, "amount": 1.5}),
    ("idempotency-key", "charge", {**CHARGE, "amount": True}),
    ("idempotency-key", "charge", {**CHARGE, "colour": "red"}),
    ("idempotency-key", "charge", {**CHARGE, "idempotency_key": "k" * 256}),
    ("idempotency-key", "charge", {**CHARGE, "idempotency_key": ""}),
    ("idempotency-key", "charge", {**CHARGE, "idempotency_key": "k\r\nX: y"}),
    ("idempotency-key", "send", {"recipients": [], "subject": "s", "body": "t"}),
    ("idempotency-key", "send", {"recipients": "a@x", "subject": "s", "body": "t"}),
    ("idempotency-key", "transfer", {"accounts": ["a", "b", "c"], "amount": 1}),
    ("append-line", "append", {"path": "../a", "line": "x"}),
    ("append-line", "append", {"path": "/etc/a", "line": "x"}),
    ("append-line", "append", {"path": "objects/a", "line": "x"}),
    ("conditional-put", "put", {"path": "a/../../b", "content": "x"}),
]


async def test_wrong_arguments_are_refused_before_anything_is_sent(world: World) -> None:
    async with clients(world) as connect:
        tools: dict[str, Connected] = {}
        for name, each, arguments in WRONG:
            tools[name] = tools.get(name) or await connect(name)
            answer = await tools[name].call(each, **arguments)
            assert (answer["code"], answer["isError"]) == ("invalid_arguments", True), arguments
            assert answer["message"]
        assert all(tool.traffic.requests == [] and tool.counted() == 0 for tool in tools.values())
        with pytest.raises(MCPError, match="Unknown tool: destroy"):
            await tools["append-line"].client.call_tool("destroy", {})
        with_null = await tools["idempotency-key"].call("charge", **CHARGE, idempotency_key=None)
        assert with_null["receipt"] == "ch_1"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_servers_end_when_the_other_side_does(world: World, mode: str) -> None:
    async with clients(world) as connect:
        stdio = await connect("send-message", "stdio", mode)
        await stdio.call("send", **EXAMPLES["send"])
        served = await connect("send-message", "http", mode)
        await served.call("send", **EXAMPLES["send"])
    assert await stdio.ended()
    assert await served.ended()


async def test_a_cold_start_needs_nothing_but_the_assignment(world: World, tmp_path: Path) -> None:
    (tmp_path / "tool.json").write_text(json.dumps({"instance": "a", "transport": "stdio", "root": str(tmp_path)}))
    environment = {**ENVIRONMENT, "BENCH_TOOL": str(tmp_path / "tool.json")}
    program = str(TOOLS / "append-line/server.py")
    async with Client(StdioServerParameters(command=sys.executable, args=[program], env=environment)) as client:
        assert (await client.call_tool("append", EXAMPLES["append"])).is_error is False
    assert len(oracle("files", tmp_path / "log")) == 1
