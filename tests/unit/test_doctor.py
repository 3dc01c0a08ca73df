"""``bench doctor``: whatever is lacking is found, costs what it says, and has its remedy."""

from __future__ import annotations

import json
import resource
import shutil
import socket
import sys
import tempfile
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from benchmark import doctor, machine
from benchmark.catalog import Catalogue, load
from benchmark.cli import run as bench
from benchmark.exits import Exit
from benchmark.machine import Finding, State

RUNTIME = """\
name = "mine"
title = "Mine"
kind = "baseline"
command = {command}
[versions]
track = {track}
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def on(findings: tuple[Finding, ...], name: str) -> Finding:
    return next(finding for finding in findings if finding.name == name)


def here(tmp_path: Path, jobs: int = 2) -> tuple[Finding, ...]:
    return machine.machine(jobs=jobs, results=tmp_path / "results")


def test_here_nothing_keeps_a_sweep_from_working(catalogue: Catalogue, tmp_path: Path) -> None:
    findings = doctor.examine(catalogue, jobs=2, results=tmp_path / "results")
    assert [finding for finding in findings if finding.state is State.BROKEN] == []
    assert set(catalogue.runtime_files) <= {finding.name for finding in findings}


def test_whatever_is_not_right_says_what_it_costs_and_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = namedtuple("memory", "available")
    disk = namedtuple("disk", "free")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory(100 * machine.MIB))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk(10 * machine.MIB))
    monkeypatch.setattr("os.getloadavg", lambda: (999.0, 0.0, 0.0))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ["mcp==0.0.1", "no-such-package>=1"])
    wrong = {finding.name: finding for finding in here(tmp_path) if finding.state is not State.OK}
    assert set(wrong) == {"packages", "bytecode", "open files", "processes", "memory", "load", "temporary space"}
    assert all(finding.costs and finding.remedy for finding in wrong.values())
    assert wrong["packages"].state is State.BROKEN
    assert "no-such-package is not installed" in wrong["packages"].found
    assert "needed ==0.0.1" in wrong["packages"].found
    assert "pip install mcp==0.0.1" in wrong["packages"].remedy
    assert wrong["temporary space"].state is State.BROKEN


def test_a_temporary_folder_whose_sockets_would_be_too_long_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("x" * 90)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    found = on(here(tmp_path), "socket path")
    assert found.state is State.BROKEN
    assert "107 are allowed" in found.costs
    with pytest.raises(OSError, match="too long"), socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder) + machine.BELOW_SCRATCH)


def test_a_probe_that_fails_is_a_finding_and_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "create_server", refused)
    monkeypatch.setattr("os.pidfd_open", refused)
    findings = here(tmp_path)
    for name in ("loopback", "pidfd"):
        assert on(findings, name).state is State.BROKEN
        assert "Operation not permitted" in on(findings, name).found


def test_results_that_cannot_be_written_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", read_only)
    found = on(here(tmp_path), "results")
    assert found.state is State.BROKEN
    assert "--out" in found.remedy


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = psutil.Process().children(recursive=True)
    here(tmp_path)
    assert psutil.Process().children(recursive=True) == before
    assert list(tmp_path.iterdir()) == []


def own(tmp_path: Path, command: str, track: str = "[]") -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "runtime.toml").write_text(RUNTIME.format(command=command, track=track), "utf-8")
    (folder / "agent.py").touch()
    return folder


@pytest.mark.parametrize(
    ("command", "track", "found", "remedy"),
    [
        ('["no-such-program-at-all"]', "[]", "there is no program 'no-such-program-at-all'", "install no-such-program"),
        ('["{python}", "gone.py"]', "[]", "there is no file", "restore it"),
        ('["{python}", "agent.py"]', '["no-such-package"]', "no-such-package not installed", "pip install no-such-package"),
        ('["{node}", "agent.py"]', "[]", "node is not installed", "nodejs"),
    ],
)
def test_a_runtime_that_would_be_not_run_is_told_with_its_remedy(
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    track: str,
    found: str,
    remedy: str,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    told = doctor.alone(catalogue, str(own(tmp_path, command, track)))
    assert told.state is State.LACKING
    assert found in told.found
    assert remedy in told.remedy
    assert told.costs == "every cell of mine"


def test_a_runtime_that_lacks_nothing_is_well(catalogue: Catalogue, tmp_path: Path) -> None:
    assert doctor.alone(catalogue, str(own(tmp_path, '["{python}", "agent.py"]', '["mcp"]'))).state is State.OK


def test_one_wrong_runtime_costs_its_own_cells_only(catalogue: Catalogue, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "runtime.toml"
    broken.parent.mkdir()
    broken.write_text("name = 3\n", "utf-8")
    some = replace(catalogue, runtime_files={**catalogue.runtime_files, "broken": broken})
    found = on(doctor.entries(some), "broken")
    assert found.state is State.LACKING
    assert f"{broken}:1: name: should be a valid string" in found.found


def test_a_provider_that_is_not_installed_costs_the_cells_behind_it(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    needing = next(one for one in catalogue.providers.values() if one.needs is not None)
    monkeypatch.setattr("benchmark.installed.find_spec", lambda *_: None)
    found = on(doctor.entries(catalogue), f"provider {needing.name}")
    assert found.state is State.LACKING
    assert needing.needs is not None
    assert found.remedy == needing.needs.install
    assert all(name in found.costs for name, one in catalogue.adapters.items() if one.provider == needing.name)


def test_the_command_tells_all_and_ends_with_zero_where_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["doctor", "--json"]) == Exit.COMPLETED
    told = json.loads(capsys.readouterr().out)
    assert told["exit"] == 0
    assert {"loopback", "pidfd", "open files", "socket path", "temporary space"} <= {one["name"] for one in told["findings"]}


def test_a_runtime_that_would_be_not_run_ends_with_its_own_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = own(tmp_path, '["no-such-program-at-all"]')
    assert bench(["doctor", "--runtime", str(folder)]) == Exit.NOTHING_RAN
    out = capsys.readouterr().out
    assert "not-run: every cell of mine" in out
    assert "→ install no-such-program-at-all" in out


def test_what_no_sweep_can_do_without_ends_as_a_harness_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr("os.pidfd_open")
    assert bench(["doctor"]) == Exit.HARNESS
    assert "1 things keep every sweep from working" in capsys.readouterr().out


def test_it_stays_readable_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    assert bench(["doctor", "--runtime", "no-retry"]) == Exit.COMPLETED
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 44 for line in lines if "→" not in line)
    assert any(line.startswith("  ok loopback") for line in lines)
