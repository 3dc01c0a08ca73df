"""The paper model stands on its rules: each one decides something, and the model says what the pages say."""

from __future__ import annotations

import ast
import random
import tomllib
from pathlib import Path

import pytest

from benchmark.contracts import Contract
from benchmark.entries import ToolAdapter
from tests.prediction.contracts_world import TABLE, TRAITS, TREACHEROUS, contract, readers
from tests.prediction.coordinates import case, cases
from tests.prediction.counting import Prediction
from tests.prediction.predict import POLICIES
from tests.prediction.rules import Rule, flipped

FORBIDDEN = ("scoring", "conductor", "exposure", "witnesses", "profile", "sweep")


def shuffled() -> list[int]:
    order = list(range(len(cases())))
    random.Random(1).shuffle(order)
    return order


@pytest.fixture(scope="module")
def unflipped() -> dict[tuple[int, str], Prediction]:
    """Predictions under all rules, made as they are asked for."""
    return {}


@pytest.mark.parametrize("rule", Rule, ids=lambda rule: rule.name)
def test_flipping_any_one_rule_changes_a_prediction(rule: Rule, unflipped: dict[tuple[int, str], Prediction]) -> None:
    rules = flipped(rule)
    for number in shuffled():
        found = cases()[number]
        for policy in POLICIES:
            if (number, policy) not in unflipped:
                unflipped[number, policy] = found.predicted(policy)
            if found.predicted(policy, rules) != unflipped[number, policy]:
                return
    pytest.fail(f"{rule.name} decides nothing")


def test_the_model_imports_neither_scoring_nor_conductor() -> None:
    for file in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            assert not [name for name in names if name.startswith("benchmark.") and name.split(".")[1] in FORBIDDEN], (
                file.name
            )


def test_every_rule_stands_in_the_readme() -> None:
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert [rule.name for rule in Rule if f"`{rule.name}`" not in text] == []


@pytest.mark.parametrize("policy", POLICIES)
def test_a_truthful_control_is_correct_for_everybody(policy: str) -> None:
    controls = [found for found in cases() if found.cell.boundary == "none" and found.cell.adapter != "argument-hash"]
    assert controls
    assert {found.predicted(policy).verdict for found in controls} == {"correct"}


CLAIMED = [
    # policy, cell, what the founding pages say comes of it
    ("mcp-python-retry", "charge-card.find-only.after-commit.-.silence.stdio.2025-11-25.first-once.-@1", {"extra": 1}),
    ("mcp-python-retry", "charge-card.find-only.after-commit.-.crash.stdio.2025-11-25.first-once.-@1", {"extra": 1}),
    ("mcp-python-retry", "charge-card.find-only.after-commit.-.silence.http.2025-11-25.first-once.-@1", {"extra": 1}),
    ("blind-retry", "charge-card.client-token.before-dispatch.-.reset.http.2026-07-28.first-once.-@1", {"extra": 0}),
    ("blind-retry", "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1", {"duplicates": 1}),
    ("keyed-blind-retry", "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1", {"extra": 0}),
    ("keyed-blind-retry", "charge-card.key-dropper.after-commit.-.reset.stdio.2025-11-25.first-once.-@1", {"duplicates": 1}),
    ("token-or-stop", "charge-card.client-token.token-expired.-.-.stdio.2025-11-25.first-once.-@1", {"duplicates": 1}),
    (
        "reference-ledger",
        "charge-card.client-token.token-expired.-.-.stdio.2025-11-25.first-once.-@1",
        {"verdict": "unresolved", "extra": 0, "avoidable": 0},
    ),
    (
        "reference-ledger",
        "charge-card.idempotency-key.token-expired.-.-.stdio.2025-11-25.first-once.-@1",
        {"verdict": "correct"},
    ),
    (
        "blind-retry",
        "charge-twice.argument-hash.none.-.-.stdio.2025-11-25.first-once.-@1",
        {"verdict": "violated", "false_dedup": 1, "missing": 0, "misreported": 0},
    ),
    (
        "no-retry",
        "transfer.find-only.after-commit.-.reset.stdio.2025-11-25.first-once.-@1",
        {"torn": 1, "missing": 0, "avoidable": 1},
    ),
    ("blind-retry", "charge-card.find-only.repair-drift.binding.reset.stdio.2025-11-25.first-once.-@1", {"strays": 1}),
    ("no-retry", "read-only.find-only.before-delivery.-.error.stdio.2025-11-25.first-once.-@1", {"verdict": "incomplete"}),
    (
        "lookup-or-stop",
        "charge-card.find-only.after-timeout.after-exit.silence.stdio.2025-11-25.first-once.-@1",
        {"verdict": "not-applicable", "reason": "contract"},
    ),
    (
        "blind-retry",
        "charge-card.find-only.agent-restart.delivered.-.http.2026-07-28.first-once.-@1",
        {"verdict": "not-applicable", "reason": "finished first"},
    ),
]


@pytest.mark.parametrize(("policy", "cell", "expected"), CLAIMED)
def test_the_model_says_what_the_founding_pages_say(policy: str, cell: str, expected: dict[str, object]) -> None:
    found = case(cell).predicted(policy)
    assert {name: getattr(found, name) for name in expected} == expected


def told(contract: Contract) -> dict[str, object]:
    """What the model reads of a contract."""
    key, lookup = contract.key, contract.lookup
    return {
        "key": key and (key.carrier, key.name, key.retention_s, key.on_repeat, key.on_mismatch, key.scope),
        "natural key": (contract.natural_key, contract.on_repeat),
        "look-up": lookup and (lookup.tool, sorted(lookup.by), lookup.settles_s),
        "reference": contract.reference,
        "binding": contract.binding,
        "hint": contract.idempotent_hint if contract.natural_key is None else None,
        "effects": contract.effects,
        "answers": [
            getattr(contract.answers, name)
            for name in ("repeat_refused", "mismatch", "not_executed", "in_progress", "unavailable", "stalled")
        ],
    }


@pytest.mark.parametrize("adapter", TABLE)
def test_the_table_that_the_model_read_is_the_catalogue_s(adapter: str) -> None:
    file = Path(__file__).resolve().parents[2] / "adapters" / "tools" / adapter / "tool.toml"
    entry = ToolAdapter.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    assert entry.truthful == (adapter not in TREACHEROUS)
    assert (entry.provider == "files") == TRAITS[adapter].files
    assert (entry.http_answers == "sse") == TRAITS[adapter].streams
    assert set(entry.tools) >= {*TABLE[adapter].tools, *readers(adapter)}
    for tool in TABLE[adapter].tools:
        declared = entry.tools[tool].contract
        assert declared is not None
        assert told(declared) == told(contract(adapter, tool))
