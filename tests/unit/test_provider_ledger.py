"""The ledger provider over HTTP: what it remembers and refuses, and that its declared commit rules are true."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from benchmark.effects import Effect
from benchmark.entries import Provider, Request
from tests.unit.toolserver_world import ROOT, oracle, provider

DECLARED = Provider.model_validate(tomllib.loads((ROOT / "adapters/providers/ledger/provider.toml").read_text()))
CHARGE: dict[str, Any] = {"order": "1001", "amount": 10000, "currency": "usd"}
BINDING = {"Idempotency-Binding": "order,amount,currency"}
KEY = {"Idempotency-Key": "k", **BINDING}
UNIQUE = {"Reference-Unique": "true", **BINDING}


class Namespace:
    """A namespace of the running provider, made and ended as ``provider.toml`` says."""

    def __init__(self, session: aiohttp.ClientSession, name: str, scratch: Path) -> None:
        self.session = session
        self.values = {"namespace": name, "place": DECLARED.place.format(scratch=scratch)}

    async def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        prefix = DECLARED.prefix.format_map(self.values)
        async with self.session.request(method, prefix + path, json=body, headers=headers) as response:
            return response.status, await response.json()

    async def charge(self, headers: dict[str, str] | None = None, **changed: Any) -> tuple[int, Any]:
        return await self.ask("POST", "/charges", {**CHARGE, **changed}, headers)

    async def manage(self, request: Request | None, retention_s: float | None = None) -> int:
        assert request is not None
        values = {**self.values, "retention_s": retention_s}
        body = {name: value.format_map(values) for name, value in (request.body or {}).items()}
        async with self.session.request(request.method, request.path.format_map(values), json=body) as response:
            return response.status

    def effects(self) -> list[Effect]:
        return oracle(DECLARED.oracle, Path(self.values["place"]))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with provider() as found:
        yield found


@asynccontextmanager
async def namespace(port: int, scratch: Path, retention_s: float | None = 60.0) -> AsyncIterator[Namespace]:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        made = Namespace(session, scratch.name, scratch)
        assert await made.manage(DECLARED.namespace, retention_s) == 201
        yield made
        assert await made.manage(DECLARED.drop) == 200


async def test_it_is_ready_where_it_says_so(port: int) -> None:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session, session.get(DECLARED.ready) as response:
        assert response.status == 200


async def test_namespaces_share_nothing_and_stay_readable_when_they_end(port: int, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    async with namespace(port, tmp_path / "one") as one, namespace(port, tmp_path / "two") as two:
        assert (await one.charge(KEY))[1]["receipt"] == "ch_1"
        assert two.effects() == []
        assert (await two.charge(KEY))[1].get("replayed") is None
    assert len(one.effects()) == len(two.effects()) == 1
    async with namespace(port, tmp_path / "one") as again:
        assert (await again.charge())[1]["receipt"] == "ch_2"
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        assert (await Namespace(session, "never", tmp_path).charge())[0] == 404


async def test_a_key_replays_status_and_body_for_its_endpoint_only(port: int, tmp_path: Path) -> None:
    async with namespace(port, tmp_path) as ledger:
        status, first = await ledger.charge(KEY, memo="a", reference="r")
        assert (status, first) == (201, {"receipt": "ch_1", **CHARGE, "memo": "a", "reference": "r"})
        assert await ledger.charge(KEY, memo="b", amount=10000.0) == (201, {**first, "replayed": True})
        assert await ledger.charge(KEY, amount=5) == (422, {"code": "mismatch", "receipt": "ch_1"})
        assert (await ledger.charge({"Idempotency-Key": "k"}, memo="a"))[0] == 422  # without names the whole body binds
        resource = await ledger.ask("POST", "/resources", {"name": "n", "size": 1}, {"Idempotency-Key": "k"})
        assert (resource[0], resource[1]["receipt"]) == (201, "res_1")
        assert len(ledger.effects()) == 2


async def test_a_refusal_is_not_remembered_under_a_key(port: int, tmp_path: Path) -> None:
    async with namespace(port, tmp_path) as ledger:
        assert (await ledger.charge({"Idempotency-Key": "k"}, amount="much"))[0] == 400
        assert (await ledger.charge({"Idempotency-Key": "k"}))[0] == 201


@pytest.mark.parametrize(("retention_s", "receipt"), [(0.2, "ch_2"), (None, "ch_1")])
async def test_keys_are_forgotten_after_the_retention_if_there_is_one(
    port: int, tmp_path: Path, retention_s: float | None, receipt: str
) -> None:
    async with namespace(port, tmp_path, retention_s) as ledger:
        await ledger.charge(KEY)
        await asyncio.sleep(0.1)
        assert (await ledger.charge(KEY))[1]["receipt"] == "ch_1"
        await asyncio.sleep(0.15)
        assert (await ledger.charge(KEY))[1]["receipt"] == receipt


async def test_a_unique_reference_is_refused_again_and_null_never_collides(port: int, tmp_path: Path) -> None:
    async with namespace(port, tmp_path) as ledger:
        for receipt in ("ch_1", "ch_2"):
            assert (await ledger.charge(UNIQUE))[1]["receipt"] == receipt
        assert (await ledger.charge(UNIQUE, reference="r"))[0] == 201
        assert await ledger.charge(UNIQUE, reference="r", memo="b") == (409, {"code": "exists", "receipt": "ch_3"})
        assert await ledger.charge(UNIQUE, reference="r", amount=5) == (409, {"code": "mismatch", "receipt": "ch_3"})
        assert (await ledger.charge(reference="r"))[0] == 201
        assert len(ledger.effects()) == 4


async def test_bad_requests_change_nothing(port: int, tmp_path: Path) -> None:
    async with namespace(port, tmp_path) as ledger:
        bad: list[dict[str, Any]] = [
            {"order": None},
            {"amount": True},
            {"amount": 1.5},
            {"amount": []},
            {"colour": "red"},
            {"memo": 1},
        ]
        for changed in bad:
            assert (await ledger.charge(**changed))[0] == 400, changed
        assert (await ledger.ask("POST", "/charges", [1]))[0] == 400
        assert (await ledger.ask("GET", "/charges?colour=red"))[0] == 400
        assert (await ledger.ask("DELETE", "/charges"))[0] == 404
        assert ledger.effects() == []


def committed(method: str, path: str, status: int, body: Any) -> str | None:
    """The receipt of a commit by the rules of ``provider.toml``; None where there was none."""
    for rule in DECLARED.commit:
        if (rule.method, True) == (method, re.fullmatch(rule.path, path) is not None) and status in rule.status:
            marker, value = rule.unless or ("/", None)
            if body.get(marker[1:]) != value or value is None:
                found: str = body[rule.receipt[1:]]
                return found
    return None


async def test_the_commit_rules_name_exactly_the_effects_that_the_oracle_sees(port: int, tmp_path: Path) -> None:
    message, resource, leg = {"to": "a", "subject": "s"}, {"name": "n", "size": 1}, {"account": "a", "amount": -1}
    create = {"If-None-Match": "*"}
    exchanges: list[tuple[str, str, Any, dict[str, str]]] = [
        ("POST", "/charges", CHARGE, KEY),
        ("POST", "/charges", CHARGE, KEY),
        ("POST", "/charges", {**CHARGE, "amount": 1}, KEY),
        ("POST", "/messages", message, {}),
        ("POST", "/resources", {**resource, "reference": "r"}, {"Reference-Unique": "true"}),
        ("POST", "/resources", {**resource, "reference": "r"}, {"Reference-Unique": "true"}),
        ("POST", "/legs", leg, {}),
        ("GET", "/charges?order=1001", None, {}),
        ("PUT", "/objects/a/b", {"content": "x"}, create),
        ("PUT", "/objects/a/b", {"content": "x"}, create),
        ("PUT", "/objects/a/b", {"content": "x"}, {}),
        ("PUT", "/objects/a/b", {"content": "y"}, {}),
        ("PUT", "/objects/a/b", {"content": "y", "note": "n"}, {"Idempotency-Key": "k"}),
        ("PUT", "/objects/c", {"content": "x"}, {"Idempotency-Key": "k"}),
        ("PUT", "/objects/c", {"content": "x"}, {"Idempotency-Key": "k"}),
        ("POST", "/undo", {"receipt": "ch_1"}, {}),
    ]
    receipts = []
    async with namespace(port, tmp_path) as ledger:
        for method, path, body, headers in exchanges:
            receipt = committed(method, path, *await ledger.ask(method, path, body, headers))
            receipts += [] if receipt is None else [receipt]
            assert [effect.receipt for effect in ledger.effects()] == receipts, (method, path, body)
    assert receipts == ["ch_1", "msg_1", "res_1", "leg_1", "a/b@1", "a/b@2", "c@1"]


async def test_hundreds_of_namespaces_are_served_by_one_process(port: int, tmp_path: Path) -> None:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        many = [Namespace(session, f"many-{number}", tmp_path / str(number)) for number in range(300)]
        for each in many:
            Path(each.values["place"]).parent.mkdir()
        assert {await each.manage(DECLARED.namespace) for each in many} == {201}
        answers = await asyncio.gather(*(each.charge(KEY) for each in many))
        assert {body["receipt"] for _, body in answers} == {"ch_1"}
        assert {await each.manage(DECLARED.drop) for each in many} == {200}
        assert len(many[-1].effects()) == 1
