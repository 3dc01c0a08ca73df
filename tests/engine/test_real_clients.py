"""The SDKs that people use, stock, as they are installed: the founding reproductions, one call intended and two effects.

These install small packages into the user's cache (``bench install``); ``-m "not installs"`` leaves them out.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import shutil
from pathlib import Path

import pytest

from benchmark import builds, environments
from benchmark.catalog import load
from benchmark.history import History, Kind
from benchmark.results import CellResult, Verdict
from tests.engine.stage import name, swept

pytestmark = [pytest.mark.cells, pytest.mark.installs]

needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node and npm")
CLIENTS = (
    "mcp-python-1",
    pytest.param("mcp-typescript-1", marks=needs_node),
    pytest.param("mcp-typescript-2", marks=needs_node),
)
TIMEOUT_STDIO = name("after-commit", manifestation="silence")
KILLED_STDIO = name("after-commit", manifestation="crash")
TIMEOUT_HTTP = name("after-commit", manifestation="silence", mode="http.2025-11-25")
CONTROL = name("none")
SCENARIOS = (TIMEOUT_STDIO, KILLED_STDIO, TIMEOUT_HTTP)

Swept = dict[str, tuple[CellResult, History | None]]
_swept: dict[str, Swept] = {}


def installed(runtime: str) -> environments.Environment:
    """The runtime's environment, built if it was not there."""
    found = environments.of(load().runtime(runtime))
    assert found is not None
    builds.install(found)
    return found


def scenarios(runtime: str) -> Swept:
    """The control and the founding scenarios, swept once for each runtime."""
    if runtime not in _swept:
        installed(runtime)
        _swept[runtime] = swept(runtime, (CONTROL, *SCENARIOS))
    return _swept[runtime]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("cell", SCENARIOS)
def test_the_usual_retry_makes_two_effects_of_one_call(client: str, cell: str) -> None:
    result, _ = scenarios(f"{client}-retry")[cell]
    assert (result.exposed, result.declared, result.observed, result.calls) == (True, 1, 2, 2), result.reason
    assert (result.verdict, result.duplicates, result.blame) == (Verdict.VIOLATED, 1, "runtime")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("cell", SCENARIOS)
def test_the_client_alone_sends_nothing_twice_and_nobody_knows(client: str, cell: str) -> None:
    result, _ = scenarios(client)[cell]
    assert (result.exposed, result.observed, result.calls) == (True, 1, 1), result.reason
    assert result.verdict is Verdict.UNRESOLVED


@pytest.mark.parametrize("client", CLIENTS)
def test_without_a_fault_one_call_is_one_effect_with_its_receipt(client: str) -> None:
    result, _ = scenarios(client)[CONTROL]
    assert (result.verdict, result.observed, result.calls) == (Verdict.CORRECT, 1, 1)


@pytest.mark.parametrize(
    ("client", "cancels"), [("mcp-python-1", False), pytest.param("mcp-typescript-1", True, marks=needs_node)]
)
def test_whether_a_timeout_is_followed_by_a_cancel_depends_on_the_sdk(client: str, cancels: bool) -> None:
    _, history = scenarios(client)[TIMEOUT_STDIO]
    assert history is not None
    sent = history.first(Kind.CANCEL, call=1)
    assert (sent is not None and sent.by == "notification") is cancels


# --- a framework that retries by itself --------------------------------------------------------------------------

EVERY_SERVER_KILLED = name("after-commit", manifestation="crash", strike="first-every")


@pytest.fixture(scope="module")
def node_retry() -> Swept:
    installed("langgraph-node-retry")
    return swept("langgraph-node-retry", (CONTROL, KILLED_STDIO, EVERY_SERVER_KILLED))


@pytest.mark.parametrize(("cell", "effects", "says"), [(KILLED_STDIO, 2, "committed"), (EVERY_SERVER_KILLED, 3, "error")])
def test_langgraphs_default_retry_policy_repeats_the_effect_of_one_node(
    node_retry: Swept, cell: str, effects: int, says: str
) -> None:
    control, _ = node_retry[CONTROL]
    assert (control.verdict, control.observed) == (Verdict.CORRECT, 1)
    result, _ = node_retry[cell]
    assert (result.exposed, result.declared, result.observed) == (True, 1, effects), result.reason
    assert (result.verdict, result.blame, says in str(result.claims)) == (Verdict.VIOLATED, "runtime", True)


# --- nothing patched ---------------------------------------------------------------------------------------------


def altered(environment: environments.Environment) -> list[str]:
    """Installed files that are not what their package's RECORD says (made at install: no hash)."""
    found = []
    for record in environment.folder.glob("lib/python*/site-packages/*.dist-info/RECORD"):
        for path, wanted, _ in csv.reader(record.read_text().splitlines()):
            if not wanted:
                continue
            kind, _, digest = wanted.partition("=")
            file = record.parent.parent / path
            raw = hashlib.new(kind, file.read_bytes()).digest() if file.is_file() else b""
            if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != digest:
                found.append(path)
    return found


def in_python() -> list[str]:
    """The catalogue's runtimes with Python packages of their own."""
    catalogue = load()
    declared = {name: runtime.environment for name, runtime in catalogue.runtimes.items()}
    return [name for name, environment in declared.items() if environment is not None and environment.python is not None]


@pytest.mark.parametrize("runtime", in_python())
def test_nothing_that_is_installed_was_patched(runtime: str) -> None:
    environment = environments.of(load().runtime(runtime))
    assert environment is not None
    if environment.facts is None and runtime not in ("mcp-python-1", "mcp-python-1-retry"):
        pytest.skip(f"not installed; bench install {runtime}")
    builds.install(environment)
    assert list(environment.folder.glob("lib/python*/site-packages/*.dist-info/RECORD"))
    assert altered(environment) == []


def test_a_patched_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = installed("mcp-python-1")
    copy = tmp_path / environment.key
    shutil.copytree(environment.folder, copy, symlinks=True)
    monkeypatch.setenv("BENCH_ENVIRONMENTS", str(tmp_path))
    (patched,) = copy.glob("lib/python*/site-packages/mcp/client/session.py")
    patched.write_text(patched.read_text() + "\n")
    assert altered(environment) == ["mcp/client/session.py"]
