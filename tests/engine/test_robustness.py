"""What a bad runtime costs: its own cell, one clear line; and nothing of a sweep is left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmark.results import Verdict
from benchmark.wires.scene import Scene
from tests.engine.stage import name, preceded, swept

PLANTED = Path(__file__).resolve().parents[1] / "planted"
CELLS = (name("none"), name("after-commit", manifestation="reset"))


@pytest.mark.parametrize(
    ("runtime", "detail"),
    [("exits-with-1", "exit status 1"), ("broken-outcome", "broken outcome file"), ("says-nothing", "no outcome file")],
)
def test_a_runtime_that_says_nothing_usable_costs_its_cells_one_clear_line(runtime: str, detail: str) -> None:
    for result, history in swept(PLANTED / runtime, CELLS).values():
        assert result.verdict is not Verdict.CORRECT
        assert "\n" not in result.reason
        assert history is not None
        said = [event.detail or "silent" for event in history.events if event.kind == "outcome"]
        assert any(detail in line for line in said)


def test_a_runtime_that_never_exits_is_ended_and_the_control_judges_nobody() -> None:
    cell = name("none")
    result, _ = swept(PLANTED / "hangs-at-once", [cell])[cell]
    assert result.verdict is Verdict.UNTESTABLE


def test_a_sweep_leaves_no_process_and_no_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    swept("blind-retry", CELLS)
    assert list(tmp_path.iterdir()) == []
    assert psutil.Process().children(recursive=True) == []


def test_verdicts_do_not_depend_on_preload() -> None:
    cells = [*CELLS, name("agent-restart", variant="in-flight", mode="http.2026-07-28")]
    warm = {cell: (result.verdict, result.extra) for cell, (result, _) in swept("blind-retry", cells).items()}
    cold = {cell: (result.verdict, result.extra) for cell, (result, _) in swept("blind-retry", cells, preload=False).items()}
    assert warm == cold


TWO_AT_ONCE = """
import json, os, subprocess
server = json.load(open(os.environ["BENCH_TASK"]))["server"]
both = [subprocess.Popen([server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "ab"]
for one in both:
    one.stdin.close()
for one in both:
    one.wait()
"""


def test_two_servers_that_are_launched_at_once_are_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Scene._launch

    async def slowly(scene: Scene, *of: Any) -> Any:
        await asyncio.sleep(0.5)
        return await launch(scene, *of)

    monkeypatch.setattr(Scene, "_launch", slowly)
    (result, history), *_ = swept(preceded(tmp_path, "launches-two", TWO_AT_ONCE), [name("none")]).values()
    assert result.verdict is Verdict.CORRECT, result.reason
    assert history is not None
    assert sorted(str(event.instance) for event in history.events if event.kind == "server-started") == ["a", "b", "c"]
