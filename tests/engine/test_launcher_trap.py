"""The trap that once "measured" two effects and proved nothing: SIGKILL hit a launcher, the server lived on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmark.catalog import load
from benchmark.catalog.folders import own
from benchmark.results import Verdict
from tests.engine.stage import name, swept

DETACHING = """
import os, sys, time
if os.fork():
    os.wait()
    os.close(0), os.close(1)
    time.sleep(60)  # the launcher: what the benchmark believes to be the server
    sys.exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.execv(sys.executable, [sys.executable, {server!r}])
"""


@pytest.fixture
def launched(tmp_path: Path) -> Path:
    """A catalogue folder with one more adapter: send-message behind a launcher that the server outlives."""
    source = own() / "adapters" / "tools" / "send-message"
    folder = tmp_path / "adapters" / "tools" / "launched"
    shutil.copytree(source, folder)
    declaration = (folder / "tool.toml").read_text()
    declaration = declaration.replace('name = "send-message"', 'name = "launched"').replace("server.py", "launch.py")
    (folder / "tool.toml").write_text(declaration.replace("preload = true", "preload = false"))
    (folder / "launch.py").write_text(DETACHING.format(server=str(folder / "server.py")))
    return tmp_path


def test_a_sigkill_that_hits_a_launcher_is_a_harness_error_and_never_a_verdict(launched: Path) -> None:
    cell = name("after-commit", manifestation="crash", pair="broadcast.launched")
    result, _ = swept("no-retry", [cell], catalogue=load([launched]))[cell]
    assert result.verdict is Verdict.HARNESS_ERROR
    assert "launcher" in result.reason
