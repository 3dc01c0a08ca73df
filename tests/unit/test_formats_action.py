"""The GitHub action: what it would run is run here, with a stand-in for ``bench``."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from benchmark.trophies import Trophies

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]

STAND_IN = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
case "$1" in
  run) mkdir -p out; echo '{}' > out/run.json; exit "$RUN_CODE" ;;
  compare) exit "$COMPARE_CODE" ;;
esac
"""


def sweep(tmp_path: Path, run: int = 0, compare: int = 0, fail_on: str = "", **inputs: str) -> tuple[int, list[str], str]:
    """Exit code, calls of bench, and outputs of the action's sweep."""
    (tmp_path / "bin").mkdir()
    bench = tmp_path / "bin" / "bench"
    bench.write_text(STAND_IN)
    bench.chmod(0o755)
    (script,) = [step["run"] for step in STEPS if step.get("id") == "sweep"]
    given = {
        "runtime": "./mine",
        "arguments": "--quick",
        "expect": "",
        "fail-on": fail_on,
        "against": "",
        "out": "out",
        **inputs,
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={
            **{f"BENCH_{name.upper().replace('-', '_')}": value for name, value in given.items()},
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(tmp_path / "outputs"),
            "CALLS": str(tmp_path / "calls"),
            "RUN_CODE": str(run),
            "COMPARE_CODE": str(compare),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (tmp_path / "calls").read_text().splitlines(), (tmp_path / "outputs").read_text()


@pytest.mark.parametrize("code", [0, 1, 3, 4, 5])
def test_the_jobs_exit_code_is_ours(tmp_path: Path, code: int) -> None:
    ended, _, outputs = sweep(tmp_path, run=code)
    assert ended == code
    assert outputs == f"exit-code={code}\nrun=out\n"


@pytest.mark.parametrize(("run", "compare", "code"), [(0, 1, 1), (0, 4, 4), (3, 1, 3), (0, 0, 0)])
def test_a_comparison_fails_the_job_only_if_the_sweep_did_not(tmp_path: Path, run: int, compare: int, code: int) -> None:
    ended, calls, _ = sweep(tmp_path, run=run, compare=compare, against="results/published/mine/x.json")
    assert ended == code
    assert "compare results/published/mine/x.json out --out out/comparison --fail-on worse" in calls


def test_inputs_become_arguments_and_never_shell(tmp_path: Path) -> None:
    (tmp_path / "a.b").write_text("a glob would find it")
    _, calls, _ = sweep(
        tmp_path, runtime="./my runtime; touch pwned", arguments="--cell *.b $(touch pwned)", expect="known violations.txt"
    )
    ran = "run --runtime ./my runtime; touch pwned --out out --cell *.b $(touch pwned) --expect known violations.txt"
    assert calls[0] == ran
    assert not (tmp_path / "pwned").exists()
    for step in STEPS:
        assert "${{" not in step.get("run", ""), "an expression in a script is code"


def test_every_gate_is_passed_on_and_every_format_is_made(tmp_path: Path) -> None:
    _, calls, _ = sweep(tmp_path, fail_on="extra torn")
    assert calls == [
        "run --runtime ./mine --out out --quick --fail-on extra --fail-on torn",
        "export out --format github",
        "export out --format junit --out out/junit.xml",
        "export out --format markdown --out out/comment.md",
    ]


def test_the_page_tells_every_input_and_its_workflow_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / "run-in-ci.md").read_text()
    workflow = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    (ours,) = [step for step in workflow["jobs"]["effects"]["steps"] if step.get("id") == "bench"]
    assert set(ours["with"]) <= set(ACTION["inputs"])
    told = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    assert set(ACTION["inputs"]) - {"out", "python-version"} <= told


def test_the_trophy_on_the_page_is_one() -> None:
    text = (ROOT / "docs" / "how-to" / "publish.md").read_text()
    assert Trophies.model_validate(tomllib.loads(text.split("```toml\n")[1].split("```")[0])).trophy
