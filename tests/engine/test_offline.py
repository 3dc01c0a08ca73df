"""Who asks for anything outside of the machine is seen: the experiment that says of the real runtimes that they do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.catalog.folders import own
from tests.experiments import offline

pytestmark = [
    pytest.mark.cells,
    pytest.mark.skipif(not offline.possible(), reason="needs user namespaces, unshare and ip"),
]

PHONES_HOME = """
import os, socket, sys

try:
    socket.getaddrinfo("telemetry.example.org", 443)
except OSError:
    pass
with socket.socket() as line:
    line.settimeout(0.2)
    line.connect_ex(("198.51.100.7", 443))
os.execv(sys.executable, [sys.executable, sys.argv[1]])
"""


def told(*runtimes: str) -> str:
    command = [sys.executable, "-m", "tests.experiments.offline", *runtimes]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_names_and_addresses_that_are_asked_for_are_seen(tmp_path: Path) -> None:
    source = own() / "adapters" / "runtimes" / "no-retry"
    declared = (source / "runtime.toml").read_text().replace('name = "no-retry"', 'name = "phones-home"')
    program = next(source.glob("*.py"))
    command = f'"phone.py", "{program}"'
    assert f'"{program.name}"' in declared
    declared = declared.replace(f'"{program.name}"', command).replace("preload = true", "preload = false")
    folder = tmp_path / "phones-home"
    folder.mkdir()
    (folder / "runtime.toml").write_text(declared)
    (folder / "phone.py").write_text(PHONES_HOME)
    heard = told(str(folder))
    assert "asked outside for tcp 198.51.100.7 port 443, the name telemetry.example.org" in heard, heard


def test_a_plain_client_asks_nobody() -> None:
    assert told("no-retry") == "no-retry: 12 cells judged; asked outside for nothing\n"
