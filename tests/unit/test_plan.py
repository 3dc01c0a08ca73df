"""The plan: breadth with all pairs, spine by contract kind, and what stays out."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmark.applicability import meaningless
from benchmark.boundaries import TABLE, Boundary, Manifestation, Variant
from benchmark.catalog import load
from benchmark.cells import Cell, Strike
from benchmark.contracts import ContractKind
from benchmark.entries import Capabilities, Provider, ToolAdapter
from benchmark.intents import Workload
from benchmark.plan import (
    CI_SIZE,
    PROTOCOLS,
    TRANSPORTS,
    Goal,
    Pair,
    Spine,
    breadth,
    ci_subset,
    features,
    judgeable,
    pairs,
    plan,
    plan_hash,
    shuffled,
    spine,
    stage,
    stages,
)

WORKLOADS = Path(__file__).parents[2] / "workloads"

TOOLS: dict[str, tuple[dict[str, str], list[str], dict[str, Any] | None]] = {
    "charge": (
        {"order": "string", "amount": "integer", "currency": "string", "memo": "string?"},
        ["order", "amount", "currency"],
        None,
    ),
    "send": (
        {"recipients": "string[]", "subject": "string", "body": "string"},
        ["recipients", "subject"],
        {"each": "recipients"},
    ),
    "create": ({"name": "string", "size": "integer", "note": "string?"}, ["name", "size"], None),
    "append": ({"path": "string", "line": "string", "note": "string?"}, ["path", "line"], None),
    "put": ({"path": "string", "content": "string", "note": "string?"}, ["path", "content"], None),
    "transfer": (
        {"accounts": "string[]", "amount": "integer", "memo": "string?"},
        ["accounts", "amount"],
        {"each": "accounts", "atomic": True},
    ),
    "refund": (
        {"order": "string", "amount": "integer", "currency": "string", "memo": "string?"},
        ["order", "amount", "currency"],
        None,
    ),
    "delete": ({"name": "string", "note": "string?"}, ["name"], None),
    "start": ({"job": "string", "input": "string", "note": "string?"}, ["job", "input"], None),
    "book": ({"slot": "string", "attendee": "string", "note": "string?"}, ["slot", "attendee"], None),
}
LOOKUPS = {
    "charge": "find_charges",
    "send": "find_messages",
    "create": "find_resources",
    "transfer": "find_legs",
    "refund": "find_refunds",
    "delete": "find_deletions",
    "start": "find_jobs",
}


def adapter(
    name: str,
    tools: str,
    *,
    key_s: float | None = 0.0,
    lookup: bool = False,
    natural: str | None = None,
    binds_all: bool = False,
    polls: bool = False,
    together: bool = False,
    proof: bool = False,
    provider: str = "ledger",
    answers: str = "sse",
) -> ToolAdapter:
    """An adapter of the published table; ``key_s`` 0: no key, None: a key for ever."""
    declared: dict[str, Any] = {}
    for tool in tools.split():
        arguments, binding, effects = TOOLS[tool]
        contract: dict[str, Any] = {
            "binding": list(arguments) if binds_all else binding,
            "effects": effects and {**effects, "together": together},
        }
        if key_s != 0.0:
            contract["key"] = {"carrier": "argument", "name": "token", "retention_s": key_s}
        if natural:
            contract |= {"natural_key": [natural], "on_repeat": "overwrite"}
        if proof:
            contract["answers"] = {"not_executed": ["/structuredContent/code", "not_executed"]}
        if lookup:
            contract["lookup"] = {"tool": LOOKUPS[tool], "by": ["reference"], "settles_s": 1.5}
            declared[LOOKUPS[tool]] = {
                "description": "",
                "arguments": {"reference": "string?", "order": "string?", "job": "string?"},
            }
        declared[tool] = {"description": "", "arguments": {**arguments, "token": "string?"}, "contract": contract}
    if polls:
        declared["find_jobs"] = {"description": "", "arguments": {"job": "string?"}}
    words = {"title": "", "summary": "", "command": ["server"], "provider": provider, "http_answers": answers}
    return ToolAdapter.model_validate({"name": name, "tools": declared, **words})


@dataclass(frozen=True)
class House:
    """A suite in memory."""

    workloads: dict[str, Workload]
    adapters: dict[str, ToolAdapter]
    providers: dict[str, Provider]
    spine: tuple[Pair, ...]


@cache
def house() -> House:
    """The shipped workloads and spine on adapters that declare what the published table says."""
    files = sorted(WORKLOADS.glob("[!_]*.toml"))
    workloads = [Workload.model_validate(tomllib.loads(file.read_text("utf-8"))) for file in files]
    adapters = [
        adapter("append-line", "append", provider="files"),
        adapter("send-message", "send", proof=True),
        adapter("append-once", "append", key_s=None, provider="files"),
        adapter("create-resource", "create delete"),
        adapter("find-only", "charge send create transfer refund delete start", lookup=True, proof=True),
        adapter("find-unsettled", "charge create", lookup=True),
        adapter("client-token", "create charge transfer refund delete", key_s=86400, proof=True, answers="json"),
        adapter("idempotency-key", "charge send transfer", key_s=86400, lookup=True, proof=True),
        adapter("meta-key", "charge send", key_s=900, binds_all=True),
        adapter("unique-key", "charge create", key_s=None),
        adapter("staged-rename", "put", natural="path", provider="files"),
        adapter("conditional-put", "put", natural="path", proof=True, answers="json"),
        adapter("plain-put", "put"),
        adapter("plain-or-abort", "charge create", proof=True),
        adapter("token-or-abort", "charge create", key_s=86400, proof=True),
        adapter("one-transaction", "transfer", key_s=86400, proof=True, together=True),
        adapter("param-key", "charge send delete", key_s=86400, binds_all=True),
        adapter("delete-by-name", "delete", natural="name"),
        adapter("job-by-handle", "start", natural="job", polls=True),
        adapter("hint-honest", "start", polls=True),
        adapter("hint-liar", "charge start", polls=True),
        adapter("calendar", "book", natural="slot", provider="radicale"),
        adapter("calendar-anew", "book", provider="radicale"),
        *(adapter(name, "charge", key_s=86400) for name in ("instance-memory", "argument-hash")),
        adapter("key-dropper", "charge create", key_s=86400),
        adapter("retrying-server", "charge"),
    ]
    proof = {"status": 503, "body": {"code": "not_executed"}}
    words = {"title": "", "summary": "", "oracle": "x"}
    providers = {
        "ledger": Provider.model_validate({"name": "ledger", "kind": "http", "not_executed": proof, **words}),
        "radicale": Provider.model_validate({"name": "radicale", "kind": "http", **words}),
        "files": Provider.model_validate({"name": "files", "kind": "files", **words}),
    }
    declared = Spine.model_validate(tomllib.loads((WORKLOADS / "_spine.toml").read_text("utf-8")))
    return House({each.name: each for each in workloads}, {each.name: each for each in adapters}, providers, declared.pair)


@cache
def whole(seed: int = 0) -> tuple[Cell, ...]:
    return plan(house(), seed)


@cache
def wide(seed: int = 0) -> tuple[Cell, ...]:
    return breadth(house(), seed)


def test_the_breadth_has_every_stage_at_every_boundary() -> None:
    found = {(cell.workload, cell.adapter, cell.boundary) for cell in wide()}
    assert found == {
        (here.workload.name, here.adapter.name, boundary)
        for here in stages(house())
        for boundary in Boundary
        if any(here.coordinates(TABLE[boundary], here.strikes))
    }
    everywhere = {boundary for boundary in Boundary if TABLE[boundary].number <= 10}
    for here in stages(house()):
        assert {place[2] for place in found if place[:2] == (here.workload.name, here.adapter.name)} >= everywhere


def test_a_control_stands_for_every_workload_and_adapter() -> None:
    controls = {(cell.workload, cell.adapter) for cell in wide() if cell.boundary is Boundary.NONE}
    assert controls == {(here.workload.name, here.adapter.name) for here in stages(house())}


@cache
def possible() -> frozenset[Goal]:
    """Every pair that some cell of the suite has that an all-capable runtime can run."""
    found: set[Goal] = set()
    for here in stages(house()):
        for row in TABLE.values():
            for cell in here.coordinates(row, here.strikes):
                values = features(here, cell)
                if not found.issuperset(pairs(values)) and here.reason(cell) is None:
                    found.update(pairs(values))
    return frozenset(found)


@pytest.mark.parametrize("seed", [0, 7])
def test_all_possible_pairs_of_coordinates_occur_in_the_breadth(seed: int) -> None:
    usable = judgeable(house(), wide(seed))
    occurring = {pair for cell in usable for pair in pairs(features(stage(house(), cell.workload, cell.adapter), cell))}
    assert occurring == possible()


def test_the_breadth_holds_an_inapplicable_cell_only_where_no_coordinate_is_applicable() -> None:
    for cell in set(wide()) - set(judgeable(house(), wide())):
        here = stage(house(), cell.workload, cell.adapter)
        row = TABLE[cell.boundary]
        assert all(here.reason(other) for other in here.coordinates(row, here.strikes)), cell.name


def test_the_spine_stands_for_each_contract_kind_twice() -> None:
    kinds = [pair.kind for pair in house().spine]
    assert {kind: kinds.count(kind) for kind in ContractKind} == dict.fromkeys(ContractKind, 2)
    for pair in house().spine:
        assert house().adapters[pair.adapter].kind(house().workloads[pair.workload].tools) is pair.kind


def test_the_spine_has_every_variant_manifestation_transport_and_protocol_that_means_something() -> None:
    cells = set(spine(house()))
    for pair in house().spine:
        here = stage(house(), pair.workload, pair.adapter)
        for row in TABLE.values():
            for variant in Variant:
                for manifestation in Manifestation:
                    for transport in TRANSPORTS:
                        for protocol in PROTOCOLS:
                            cell = Cell(
                                pair.workload, pair.adapter, row.boundary, variant, manifestation, transport, protocol
                            )
                            reason = meaningless(here.workload, here.adapter, here.provider, cell)
                            wanted = reason is None and (pair.beyond or not row.beyond(variant))
                            assert (cell in cells) == wanted, (cell.name, reason)


def test_no_cell_of_the_plan_is_meaningless() -> None:
    for cell in whole():
        here = stage(house(), cell.workload, cell.adapter)
        assert meaningless(here.workload, here.adapter, here.provider, cell) is None


def test_no_cell_stands_twice_in_the_plan() -> None:
    names = [cell.name for cell in whole()]
    assert len(names) == len(set(names))


def test_the_shipped_adapters_are_planned_as_the_published_table_says() -> None:
    assert plan(load()) == whole()


def test_the_quick_plan_is_the_breadth_alone_and_part_of_the_whole() -> None:
    quick = plan(house(), quick=True)
    assert quick == wide()
    assert set(quick) < set(whole())
    assert set(whole()) == set(quick) | set(spine(house()))


def test_what_is_beyond_the_ten_is_added_behind_and_changes_no_other_cell() -> None:
    beyond = [TABLE[cell.boundary].beyond(cell.variant) for cell in wide()]
    assert beyond == sorted(beyond)
    assert {cell.boundary for cell in wide() if TABLE[cell.boundary].beyond(cell.variant)} > {Boundary.BEFORE_DELIVERY}


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    assert breadth(house(), 7) == wide(7)
    assert wide(7) != wide()


def test_the_order_in_which_the_catalogue_was_read_does_not_matter() -> None:
    turned = replace(
        house(), workloads=dict(reversed(house().workloads.items())), adapters=dict(reversed(house().adapters.items()))
    )
    assert breadth(turned) == wide()


def test_repeat_gives_each_cell_that_often_with_its_number() -> None:
    cells = plan(house(), quick=True, repeat=3)
    assert {cell.repeat for cell in cells} == {1, 2, 3}
    assert len(cells) == 3 * len(wide())
    assert len({cell.name for cell in cells}) == len(cells)


def test_every_name_in_the_plan_is_read_back_as_its_cell() -> None:
    assert all(Cell.parse(cell.name) == cell for cell in whole())


def test_several_effects_of_one_call_are_struck_in_the_middle_and_at_the_end() -> None:
    here = stage(house(), "broadcast", "find-only")
    assert {strike.upstream for strike in here.strikes} == {1, 3, 5}
    struck = {cell.strike.upstream for cell in wide() if cell.workload == "broadcast"}
    assert struck == {1, 3, 5}


def test_the_ci_subset_is_small_applicable_and_has_every_workload_adapter_and_strike() -> None:
    cells = ci_subset(house(), whole())
    usable = judgeable(house(), whole())
    assert len(cells) <= CI_SIZE
    assert set(cells) <= set(usable)
    for name in ("workload", "adapter", "boundary", "variant", "manifestation", "transport", "protocol", "strike"):
        assert {getattr(cell, name) for cell in cells} == {getattr(cell, name) for cell in usable}, name


def test_the_ci_subset_has_every_manifestation_of_every_boundary_and_variant() -> None:
    def places(cells: tuple[Cell, ...]) -> set[tuple[Boundary, Variant, Manifestation]]:
        return {(cell.boundary, cell.variant, cell.manifestation) for cell in cells}

    assert places(ci_subset(house(), whole())) == places(judgeable(house(), whole()))


def test_shuffling_changes_the_order_only_and_the_plan_hash_ignores_it() -> None:
    mixed = shuffled(whole(), 5)
    assert mixed != whole()
    assert sorted(mixed) == sorted(whole())
    assert mixed == shuffled(whole(), 5)
    assert plan_hash(mixed) == plan_hash(whole())
    assert plan_hash(whole()[1:]) != plan_hash(whole())


def test_a_runtime_that_can_do_less_gets_the_same_plan_and_fewer_judgeable_cells() -> None:
    less = Capabilities(transports=("stdio",), protocols=("2025-11-25",))
    usable = judgeable(house(), whole(), less)
    assert 0 < len(usable) < len(judgeable(house(), whole()))
    assert all(cell.transport == "stdio" and cell.strike.which in ("first", "middle", "last") for cell in usable)


def test_a_read_is_struck_only_where_nothing_has_to_be_committed() -> None:
    usable = {cell.boundary for cell in judgeable(house(), wide()) if cell.workload == "read-only"}
    assert usable == {Boundary.NONE, Boundary.BEFORE_DISPATCH, Boundary.BEFORE_DELIVERY}


def test_every_cell_of_the_spine_strikes_the_first_call_once() -> None:
    assert {cell.strike for cell in spine(house())} == {Strike()}
