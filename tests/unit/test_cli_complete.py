"""Shell completion works under the console script, and offers the names that there are."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.cli import run as bench
from benchmark.exits import Exit


def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What bash offers after these words; the last one is being typed."""
    monkeypatch.setenv("_BENCH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["bench", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit) as ended:
        bench([])
    assert ended.value.code == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("ex",), ["explain", "export"]),
        (("run", "--runtime", "mcp-python"), ["mcp-python", "mcp-python-retry"]),
        (("run", "--workload", "charge-"), ["charge-card", "charge-then-notify", "charge-twice"]),
        (("run", "--adapter", "instance"), ["instance-memory"]),
        (("run", "--boundary", "after"), ["after-commit", "after-timeout"]),
        (("run", "--manifestation", "re"), ["refused", "reset"]),
        (("run", "--fail-on", "mis"), ["misreported", "missing"]),
        (("explain", "false"), ["false_dedup"]),
        (("doctor", "--runtime", "no"), ["no-retry"]),
        (("install", "mcp-t"), ["mcp-typescript-1", "mcp-typescript-2"]),
        (("install", "mcp-typescript-1", "mcp-typescript-1-"), ["mcp-typescript-1-retry"]),
        (("update", "mcp-python-1"), ["mcp-python-1", "mcp-python-1-retry"]),
        (("list", "work"), ["workloads"]),
        (("show", "no-such-run"), []),
    ],
)
def test_names_are_offered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], names: list[str]
) -> None:
    assert [name for name in offered(monkeypatch, capsys, *words) if name in names] == names


def test_what_has_no_environment_or_was_named_already_is_not_offered_for_installation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no-retry" not in offered(monkeypatch, capsys, "install", "")
    assert "mcp-python-1" not in offered(monkeypatch, capsys, "install", "mcp-python-1", "mcp-p")


def test_runs_and_their_cells_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "results" / "run-1"
    run.mkdir(parents=True)
    (run / "run.json").write_text('{"cells": ["one.cell", "another", 3]}', "utf-8")
    monkeypatch.chdir(tmp_path)
    assert offered(monkeypatch, capsys, "show", "ru") == ["run-1"]
    assert offered(monkeypatch, capsys, "explain", "run-1", "one") == ["one.cell"]
    (run / "run.json").write_text("{", "utf-8")
    assert offered(monkeypatch, capsys, "explain", "run-1", "one") == []


def test_completion_is_installed_for_the_shell_that_asks_for_it(tmp_path: Path) -> None:
    script = f"{shlex.quote(sys.executable)} -c 'from benchmark.cli import main; main()' --install-completion; exit $?"
    env = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert "bash completion installed" in done.stdout
    assert "_BENCH_COMPLETE=complete_bash" in (tmp_path / ".bash_completions" / "bench.sh").read_text("utf-8")


def test_a_home_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".bashrc").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    assert bench(["--install-completion"]) == Exit.USAGE
    assert capsys.readouterr().err == f"bench: {tmp_path}/.bashrc: Is a directory\n"
