"""A driver's two ends: the task file in, the outcome file out. Standard library only: it runs in every environment."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lazy  # noqa: F401


@dataclass(frozen=True)
class Task:
    """The task file (runtime contract, version 1); what is a table there is a dict here."""

    workflow_id: str
    incarnation: int
    replan: bool
    state_dir: Path
    outcome_path: Path
    turns: list[dict[str, Any]]
    intents: list[dict[str, Any]]
    server: dict[str, Any]
    contracts: dict[str, Any]
    model: dict[str, Any] | None
    timeouts: dict[str, float]
    services: dict[str, Any]

    @classmethod
    def load(cls) -> Task:
        """The task named by the environment variable ``BENCH_TASK``."""
        raw = json.loads(Path(os.environ["BENCH_TASK"]).read_text(encoding="utf-8"))
        if raw["contract"] != 1:
            raise ValueError(f"the task file has contract {raw['contract']}, this program reads contract 1")
        return cls(
            workflow_id=raw["workflow_id"],
            incarnation=raw.get("incarnation", 1),
            replan=raw.get("replan", False),
            state_dir=Path(raw["state_dir"]),
            outcome_path=Path(raw["outcome_path"]),
            turns=raw["turns"],
            intents=raw["intents"],
            server=raw["server"],
            contracts=raw.get("contracts") or {},
            model=raw.get("model"),
            timeouts=raw["timeouts"],
            services=raw.get("services") or {},
        )

    def finish(self, intents: Sequence[dict[str, Any]], status_from: str = "driver") -> None:
        """Write the outcome whole: under another name, then renamed."""
        unfinished = self.outcome_path.with_name(self.outcome_path.name + ".unfinished")
        body = {"contract": 1, "status_from": status_from, "intents": list(intents)}
        unfinished.write_text(json.dumps(body), encoding="utf-8")
        unfinished.replace(self.outcome_path)
