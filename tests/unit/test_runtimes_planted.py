"""Each planted runtime does its one wrong thing, and its list of convictions is well-formed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mcp  # noqa: F401 - warm before the programs are forked
import pytest

from benchmark.cells import Cell
from benchmark.entries import Runtime
from benchmark.results import Figure, Verdict
from tests.unit.runtimes_stage import CHARGE, FINDABLE, KEYED, ROOT, Stage, claim, intent, program

Make = Callable[..., Stage]
PLANTED = ROOT / "tests" / "planted"
NAMES = sorted(folder.parent.name for folder in PLANTED.glob("*/runtime.toml"))
CONVICTIONS = tomllib.loads((PLANTED / "convictions.toml").read_text())["conviction"]
ONE, TWO = intent("one"), intent("two")
OTHER = intent("other", CHARGE | {"order": "2002"})


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda name, **settings: Stage(tmp_path, stack, program(name), **settings)


@pytest.mark.parametrize("name", NAMES)
def test_every_planted_runtime_is_valid_and_has_a_conviction(name: str) -> None:
    runtime = Runtime.model_validate(tomllib.loads((PLANTED / name / "runtime.toml").read_text()))
    assert runtime.name == name
    assert runtime.title.startswith("Convicted of ")
    assert name in {conviction["runtime"] for conviction in CONVICTIONS}


@pytest.mark.parametrize("conviction", CONVICTIONS, ids=lambda conviction: f"{conviction['runtime']}-{conviction['cell']}")
def test_every_conviction_names_a_cell_a_verdict_and_figures(conviction: dict[str, Any]) -> None:
    assert conviction["runtime"] in NAMES
    assert Cell.parse(conviction["cell"]).name == conviction["cell"]
    assert Verdict(conviction["verdict"]) is not Verdict.CORRECT
    assert [Figure(figure) for figure in conviction["figures"]]


@pytest.mark.parametrize(
    ("name", "intents", "effects", "claims"),
    [
        ("duplicates", [ONE], 2, [("committed", ["r_2"])]),
        ("strays", [ONE], 2, [("committed", ["r_2"])]),
        ("skips-last", [ONE, TWO], 1, [("committed", ["r_1"]), ("failed", [])]),
        ("merges-twins", [ONE, TWO, OTHER], 2, [("committed", ["r_1"]), ("committed", ["r_1"]), ("committed", ["r_2"])]),
        ("always-unresolved", [ONE], 1, [("unresolved", [])]),
        ("denies", [ONE], 1, [("failed", [])]),
        ("swaps-receipts", [ONE, OTHER], 2, [("committed", ["r_2"]), ("committed", ["r_1"])]),
        ("omits-receipts", [ONE], 1, [("committed", [])]),
    ],
)
def test_what_a_planted_runtime_does_without_any_fault(
    stage: Make, name: str, intents: list[Any], effects: int, claims: list[Any]
) -> None:
    on = stage(name)
    outcome = on.play(intents)
    assert [claim(outcome, index) for index in range(len(intents))] == claims
    assert len(on.effects) == effects


def test_compensates_undoes_its_duplicate_and_claims_the_other(stage: Make) -> None:
    on = stage("compensates").script(undo=[{"commit": False}])
    assert on.claim() == ("committed", ["r_1"])
    assert on.log[-1]["arguments"] == {"receipt": "r_2"}


def test_tears_undoes_one_leg(stage: Make) -> None:
    on = stage("tears").script(charge=[{"content": {"receipts": ["a", "b"]}}], undo=[{"commit": False}])
    assert on.claim() == ("unresolved", ["a"])
    assert on.log[-1]["arguments"] == {"receipt": "b"}


def test_binds_look_alike_sends_nothing_where_it_finds_anything(stage: Make) -> None:
    theirs = {"receipt": "r_9", "reference": None, "arguments": CHARGE}
    on = stage("binds-look-alike").script(find_charges=[{"content": {"found": [theirs]}}])
    assert on.claim(contract=FINDABLE) == ("committed", ["r_9"])
    assert not on.effects


@pytest.mark.parametrize(
    ("name", "step", "effects"),
    [
        ("assumes-committed", {"then": "rpc-error", "commit": False}, 0),
        ("resends-is-error", {"then": "is-error"}, 2),
        ("resends-is-error", {"then": "silence"}, 1),
        ("resends-when-disconnected", {"then": "crash"}, 2),
        ("resends-when-disconnected", {"then": "silence"}, 1),
        ("resends-on-timeout", {"then": "silence"}, 2),
        ("resends-on-timeout", {"then": "crash"}, 1),
        ("forgets-on-restart", {"then": "is-error"}, 1),
    ],
)
def test_what_a_planted_runtime_makes_of_a_lost_answer(stage: Make, name: str, step: dict[str, Any], effects: int) -> None:
    on = stage(name).script(charge=[step])
    status, _ = on.claim()
    assert len(on.effects) == effects
    assert status == ("committed" if effects != 1 else "error")


def test_keys_of_the_planted_runtimes_name_the_wrong_thing(stage: Make) -> None:
    on = stage("key-per-attempt").script(charge=[{"then": "is-error"}])
    on.play(contract=KEYED)
    first, second = (entry["arguments"]["idempotency_key"] for entry in on.charges)
    assert first != second


def test_key_from_arguments_cannot_tell_twins_apart(stage: Make) -> None:
    on = stage("key-from-arguments")
    on.play([ONE, TWO, OTHER], KEYED)
    one, two, other = (entry["arguments"]["idempotency_key"] for entry in on.charges)
    assert one == two != other


@pytest.mark.parametrize("name", ["says-nothing", "broken-outcome", "exits-with-1", "hangs-at-once", "hangs"])
def test_the_games_leave_no_readable_outcome(stage: Make, name: str) -> None:
    on = stage(name).script(charge=[{"then": "is-error"}])
    with pytest.raises((AssertionError, FileNotFoundError, ValueError)):
        on.play(run_s=2)


def test_does_nothing_says_nothing_of_any_intent(stage: Make) -> None:
    assert stage("does-nothing").play()["intents"] == []
