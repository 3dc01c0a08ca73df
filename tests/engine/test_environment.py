"""A runtime in an environment of its own: forked from an interpreter that knows nothing of ours, with its services."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from benchmark import builds, environments
from benchmark.catalog import load
from benchmark.cells import Cell
from benchmark.history import History
from benchmark.results import CellResult, Verdict
from benchmark.sweep import SweepSettings, run_sweep
from tests.engine.stage import CONTROL, name

THIRD_PARTY = Path(__file__).resolve().parents[1] / "third_party"
HTTP = name("none", mode="http.2026-07-28")
RESTART = name("agent-restart", variant="in-flight")
AFTER = name("after-commit", manifestation="error")

TOML = """\
name = "mine"
title = "Mine"
kind = "mcp-client"
command = {command}
[environment]
{environment}
[capabilities]
contracts = true
preload = {preload}
[timeouts]
run_s = 12
"""

Found = dict[str, tuple[CellResult, History | None]]


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A scratch root in which nothing may be left, and no process that was started with it."""
    root = tmp_path / "tmp"
    root.mkdir()
    monkeypatch.setenv("TMPDIR", str(root))
    monkeypatch.setenv("BENCH_ENVIRONMENTS", str(tmp_path / "cache"))
    yield
    assert list(root.iterdir()) == []
    left = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("TMPDIR") == str(root):
                left.append(process.cmdline())
        except psutil.Error:
            continue
    assert left == []


class Stage:
    """A runtime that is the third parties' plain Python program, in an environment of its own that holds nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "mine"
        shutil.copytree(THIRD_PARTY / "python-keyed-blind-retry", self.folder)
        (self.folder / "requirements.txt").touch()
        self.notes: list[str] = []
        self.declare()

    def declare(
        self, more: str = "", *, preload: bool = True, command: str = '["{python}", "keyed_blind_retry.py"]'
    ) -> None:
        text = TOML.format(command=command, environment='python = "requirements.txt"', preload=str(preload).lower())
        (self.folder / "runtime.toml").write_text(text + more)

    def prepend(self, lines: str) -> None:
        """Lines at the program's top level, before its own."""
        program = self.folder / "keyed_blind_retry.py"
        program.write_text(program.read_text().replace("import hashlib\n", f"import hashlib\n{lines}\n", 1))

    def begin(self, line: str) -> None:
        """A line with which its work begins, behind its guard."""
        program = self.folder / "keyed_blind_retry.py"
        guard = 'if __name__ == "__main__":\n'
        program.write_text(program.read_text().replace(guard, f"{guard}    {line}\n"))

    def __call__(self, *cells: str, preload: bool = True) -> Found:
        found: Found = {}
        catalogue = load()
        runtime = catalogue.runtime(self.folder)
        environment = environments.of(runtime)
        assert environment is not None
        builds.install(environment)
        settings = SweepSettings(
            runtime, tuple(map(Cell.parse, cells)), catalogue, jobs=2, preload=preload, on_note=self.notes.append
        )
        run_sweep(settings, lambda result, history: found.update({result.cell: (result, history)}))
        return found


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def verdicts(found: Found) -> dict[str, tuple[Verdict, int]]:
    return {cell: (result.verdict, result.observed) for cell, (result, _) in found.items()}


SAYS = """
import json as _json, os as _os, sys as _sys, importlib.util as _util
_os.environ["SET_AT_IMPORT"] = "yes"
class Defined:
    pass
def _say():
    import pickle
    told = {
        "main": __name__, "argv": _sys.argv[1:], "pid": _os.getpid(), "imported_in": IMPORTED_IN, "prefix": _sys.prefix,
        "ours": _util.find_spec("benchmark") is not None, "set": _os.environ.get("SET_AT_IMPORT"),
        "variables": sorted(_os.environ), "pickled": type(pickle.loads(pickle.dumps(Defined()))) is Defined,
        "first": _sys.path[0], "file": __file__, "cwd": _os.getcwd(),
    }
    with open(PLACE, "a") as file:
        file.write(_json.dumps(told) + "\\n")
IMPORTED_IN = _os.getpid()
import atexit as _atexit
"""


def test_a_forked_program_is_as_one_that_was_started(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's interpreter, the program's folder and arguments, ``__main__``, a user's variables alone."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    said = tmp_path / "said"
    stage.prepend(SAYS.replace("PLACE", repr(str(said))))
    stage.begin("_say()")
    stage.declare(command='["{python}", "keyed_blind_retry.py", "with", "arguments"]')
    for preload in (False, True):
        assert verdicts(stage(CONTROL, HTTP, preload=preload)) == {
            CONTROL: (Verdict.CORRECT, 1),
            HTTP: (Verdict.CORRECT, 1),
        }
    cold, _, warm, other = (json.loads(line) for line in said.read_text().splitlines())
    assert stage.notes == []
    assert cold["pid"] == cold["imported_in"]
    assert warm["imported_in"] == other["imported_in"] != warm["pid"] != other["pid"]
    for each in ("pid", "imported_in"):
        cold.pop(each)
        warm.pop(each)
    assert cold == warm
    assert (cold["main"], cold["argv"], cold["ours"], cold["pickled"]) == ("__main__", ["with", "arguments"], False, True)
    assert "PYTHONHASHSEED" not in cold["variables"]


def test_warm_and_cold_give_the_same_verdicts(stage: Stage) -> None:
    cells = (CONTROL, AFTER, RESTART)
    warm, cold = (verdicts(stage(*cells, preload=preload)) for preload in (True, False))
    assert warm == cold
    assert {verdict for verdict, _ in warm.values()} > {Verdict.CORRECT}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,), daemon=True, name='ticker').start()",
            "its imports start threads (ticker)",
        ),
        ("", 'it does not end with `if __name__ == "__main__":`'),
    ],
)
def test_a_program_that_cannot_be_forked_is_started_cold_and_that_is_said_once(stage: Stage, lines: str, why: str) -> None:
    if lines:
        stage.prepend(lines)
    else:
        program = stage.folder / "keyed_blind_retry.py"
        program.write_text(program.read_text() + "\nAFTERWARDS = 1\n")
    assert verdicts(stage(CONTROL, HTTP)) == {CONTROL: (Verdict.CORRECT, 1), HTTP: (Verdict.CORRECT, 1)}
    assert stage.notes == [f"mine is started cold for each cell: {why}"]


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("this is no Python", "SyntaxError: invalid syntax"),
    ],
)
def test_a_program_that_cannot_be_imported_is_a_harness_error_with_the_last_line(
    stage: Stage, lines: str, last: str
) -> None:
    stage.prepend(lines)
    found = stage(CONTROL, HTTP)
    reason = f"the runtime's program cannot be imported: {last}"
    assert {(result.verdict, result.reason) for result, _ in found.values()} == {(Verdict.HARNESS_ERROR, reason)}


def test_an_interpreter_that_dies_while_it_imports_is_a_harness_error(stage: Stage) -> None:
    stage.prepend("import os\nos._exit(7)")
    result, _ = stage(CONTROL)[CONTROL]
    assert (result.verdict, result.reason) == (Verdict.HARNESS_ERROR, "the warm interpreter died")


def test_what_a_forked_runtime_leaves_running_is_ended_with_its_cell(stage: Stage, tmp_path: Path) -> None:
    """A daemon in a session of its own, without its environment: only who its parent was can tell whose it is."""
    place = tmp_path / "daemon"
    daemon = f"""
import os, time
def _leave():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open({str(place)!r}, "a").write(f"{{os.getpid()}}\\n")
            time.sleep(3600)
        os._exit(0)
    os.wait()
"""
    stage.prepend(daemon)
    stage.begin("_leave()")
    found = stage(CONTROL, RESTART)
    assert {result.verdict for result, _ in found.values()} <= {Verdict.CORRECT, Verdict.VIOLATED}
    pids = [int(line) for line in place.read_text().splitlines()]
    assert len(pids) == 3
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_forked_runtime_that_kills_its_parents_process_group_hits_its_own_cell_only(stage: Stage) -> None:
    stage.prepend("""
def _strike():
    import os, json, signal
    if json.load(open(os.environ["BENCH_TASK"]))["server"]["transport"] == "http":
        os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
""")
    stage.begin("_strike()")
    found = stage(HTTP, CONTROL, name("none", pair="append-line.append-line"), HTTP.replace("find-only", "client-token"))
    for cell, (result, _) in found.items():
        assert (result.verdict is Verdict.CORRECT) is (".stdio." in cell), cell


def test_a_runtime_that_is_not_installed_is_not_run_and_the_command_is_told(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_ENVIRONMENTS", str(tmp_path / "none"))
    monkeypatch.setattr(builds, "install", lambda _: None)
    result, history = stage(CONTROL)[CONTROL]
    assert (result.verdict, history) == (Verdict.NOT_RUN, None)
    assert result.reason == f"mine is not installed; bench install {stage.folder}"


# --- Node --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node")
def test_a_node_program_finds_its_packages_and_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a copy beside the environment's ``node_modules``; the catalogue's folder stays as it was."""
    around = tmp_path / "catalogue/adapters/runtimes"
    shutil.copytree(THIRD_PARTY / "node-blind-retry", around / "mine")
    (around / "_shared").mkdir()
    shutil.move(around / "mine/mcp.mjs", around / "_shared/mcp.mjs")
    program = around / "mine/blind_retry.mjs"
    text = program.read_text().replace('"./mcp.mjs"', '"../_shared/mcp.mjs"')
    program.write_text(f'import {{ needed }} from "tiny";\nif (!needed) throw new Error("no tiny");\n{text}')
    text = TOML.format(command='["{node}", "blind_retry.mjs"]', environment='node = "package-lock.json"', preload="false")
    (around / "mine/runtime.toml").write_text(text + '[versions]\ntrack = ["tiny"]\n')
    (around / "mine/package.json").write_text("{}")
    (around / "mine/package-lock.json").write_text("{}")
    catalogue = load([tmp_path / "catalogue"])
    runtime = catalogue.runtime("mine")
    environment = environments.of(runtime)
    assert environment is not None
    package = environment.modules / "tiny"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "tiny", "version": "3.1.4", "type": "module", "exports": "./index.js"}')
    (package / "index.js").write_text("export const needed = true;\n")
    environment.marker.write_text('{"size": 1, "seconds": 1}')
    before = sorted(around.rglob("*"))
    found: Found = {}
    settings = SweepSettings(runtime, (Cell.parse(CONTROL), Cell.parse(HTTP)), catalogue, jobs=1)
    run_sweep(settings, lambda result, history: found.update({result.cell: (result, history)}))
    assert verdicts(found) == {CONTROL: (Verdict.CORRECT, 1), HTTP: (Verdict.CORRECT, 1)}
    assert environments.versions(runtime) == {"tiny": "3.1.4"}
    assert sorted(around.rglob("*")) == before


# --- services ----------------------------------------------------------------------------------------------------

SERVER = """
import http.server, os, sys
from pathlib import Path
state, port, admin = sys.argv[1:]
with open(LOG, "a") as log:
    log.write(f"{os.getpid()} {state} {port} {admin} {os.environ['ADMIN']}\\n")
(Path(state) / "mine").touch()
http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), http.server.SimpleHTTPRequestHandler).serve_forever()
"""

SERVICE = """
[[service]]
name = "store"
command = ["{python}", "server.py", "{state}", "{port}", "{port.admin}"]
ready = "/"
environment = { ADMIN = "http://127.0.0.1:{port.admin}" }
"""

ASKS = """
def _ask():
    import json, os, urllib.request
    task = json.load(open(os.environ["BENCH_TASK"]))
    ports = task["services"]["store"]["ports"]
    urllib.request.urlopen(f"http://127.0.0.1:{ports['main']}/").read()
    with open(LOG, "a") as log:
        log.write(f"asked {ports['main']} {ports['admin']}\\n")
"""


@pytest.fixture
def served(stage: Stage, tmp_path: Path) -> Callable[..., list[str]]:
    """Sweeps with a runtime that asks its service before it works; what server and runtime wrote down."""
    log = tmp_path / "log"
    (stage.folder / "server.py").write_text(SERVER.replace("LOG", repr(str(log))))
    stage.prepend(ASKS.replace("LOG", repr(str(log))))
    stage.begin("_ask()")

    def sweep(more: str, *cells: str) -> list[str]:
        stage.declare(SERVICE + more)
        for result, _ in stage(*cells).values():
            assert result.verdict in (Verdict.CORRECT, Verdict.VIOLATED), result.reason
        return log.read_text().splitlines()

    return sweep


def test_each_cell_has_a_service_of_its_own_that_survives_the_runtimes_kill(served: Callable[..., list[str]]) -> None:
    lines = served("", RESTART)
    pid, state, port, admin, variable = lines[0].split()
    assert lines[1:] == [f"asked {port} {admin}"] * 2
    assert variable == f"http://127.0.0.1:{admin}"
    assert not psutil.pid_exists(int(pid))
    assert not Path(state).exists()
    lines = served("", CONTROL, HTTP)[3:]
    assert len({line.split()[0] for line in lines if not line.startswith("asked")}) == 2


def test_a_shared_service_is_one_for_the_whole_sweep(served: Callable[..., list[str]]) -> None:
    lines = served("shared = true\n", CONTROL, HTTP, RESTART)
    started = [line for line in lines if not line.startswith("asked")]
    assert (len(started), len(lines)) == (1, 5)
    assert not psutil.pid_exists(int(started[0].split()[0]))


@pytest.mark.parametrize("shared", ["true", "false"])
def test_a_service_that_does_not_come_up_is_a_harness_error_with_its_last_line(stage: Stage, shared: str) -> None:
    (stage.folder / "server.py").write_text("import sys\nprint('reading …')\nsys.exit('the licence is lost')\n")
    stage.declare(f"{SERVICE}shared = {shared}\n")
    for result, _ in stage(CONTROL, HTTP).values():
        assert result.verdict is Verdict.HARNESS_ERROR
        assert result.reason == "service store ended with status 1 while starting: the licence is lost"


def test_a_service_whose_port_was_taken_meanwhile_is_started_on_another(stage: Stage, tmp_path: Path) -> None:
    log = tmp_path / "starts"
    taken = f"import sys\nopen({str(log)!r}, 'a').write(sys.argv[2] + chr(10))\n"
    taken += f"if len(open({str(log)!r}).readlines()) < 3:\n    sys.exit('address already in use')\n"
    (stage.folder / "server.py").write_text(taken + SERVER.replace("LOG", repr(str(tmp_path / "log"))))
    stage.declare(SERVICE)
    (result, _), *_ = stage(CONTROL).values()
    assert result.verdict is Verdict.CORRECT, result.reason
    ports = log.read_text().split()
    assert len(ports) == 3
    assert len(set(ports)) > 1


def test_a_service_that_ends_during_a_cell_makes_it_a_harness_error(stage: Stage) -> None:
    (stage.folder / "server.py").write_text(
        "import socket, sys\nsocket.create_server(('127.0.0.1', int(sys.argv[2]))).accept()\nsys.exit('enough')\n"
    )
    stage.declare(SERVICE.replace('ready = "/"', 'ready = "tcp"'))
    result, _ = stage(CONTROL)[CONTROL]
    assert (result.verdict, result.reason) == (Verdict.HARNESS_ERROR, "service store ended with status 1: enough")
