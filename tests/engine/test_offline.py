"""Who asks for anything outside of the machine is seen: the experiment that says of the real runtimes that they do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.stage import preceded
from tests.experiments import offline

pytestmark = [
    pytest.mark.cells,
    pytest.mark.skipif(not offline.possible(), reason="needs user namespaces, unshare and ip"),
]

PHONES_HOME = """
import socket

try:
    socket.getaddrinfo("telemetry.example.org", 443)
except OSError:
    pass
with socket.socket() as line:
    line.settimeout(0.2)
    line.connect_ex(("198.51.100.7", 443))
"""


def told(*runtimes: str) -> str:
    command = [sys.executable, "-m", "tests.experiments.offline", *runtimes]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_names_and_addresses_that_are_asked_for_are_seen(tmp_path: Path) -> None:
    folder = preceded(tmp_path, "phones-home", PHONES_HOME)
    heard = told(str(folder))
    assert "asked outside for tcp 198.51.100.7 port 443, the name telemetry.example.org" in heard, heard


def test_a_plain_client_asks_nobody() -> None:
    assert told("no-retry") == "no-retry: 12 cells judged; asked outside for nothing\n"
