"""A stage on which one runtime program plays against a scripted MCP server, without the engine."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SERVER = Path(__file__).with_name("runtimes_server.py")

CHARGE = {"order": "1001", "amount": 100, "currency": "usd"}
ANSWERS = {
    "replayed": ["/structuredContent/replayed", True],
    "repeat_refused": ["/structuredContent/code", "exists"],
    "mismatch": ["/structuredContent/code", "mismatch"],
    "not_executed": ["/structuredContent/code", "not_executed"],
    "in_progress": ["/structuredContent/code", "in_progress"],
    "unavailable": ["/structuredContent/code", "unavailable"],
}
PLAIN: dict[str, Any] = {"binding": ["order", "amount", "currency"], "answers": ANSWERS}
KEYED = PLAIN | {
    "key": {"carrier": "argument", "name": "idempotency_key", "retention_s": 86400, "scope": "account", "max_length": 255}
    | {"on_repeat": "replay", "on_mismatch": "conflict"}
}
FINDABLE = PLAIN | {
    "reference": "reference",
    "lookup": {"tool": "find_charges", "by": ["order", "reference"], "settles_s": 0.3},
}


def intent(name: str = "charge-1001", *calls: dict[str, Any], tool: str = "charge") -> dict[str, Any]:
    """An intent of one call per arguments given (none: the usual charge)."""
    return {"id": name, "say": name, "calls": [{"tool": tool, "arguments": arguments} for arguments in calls or (CHARGE,)]}


@dataclass
class Stage:
    """One cell's worth of files; ``play`` runs one incarnation."""

    place: Path
    stack: ExitStack
    program: Path
    transport: str = "stdio"
    revision: str = "2025-11-25"
    sse: bool = False
    tool_call_s: float = 0.4
    incarnation: int = 0
    forked: bool = True
    url: str = ""
    steps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every call the server got, in order."""
        path = self.place / "log.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def charges(self) -> list[dict[str, Any]]:
        """The calls that were no look-ups."""
        return [entry for entry in self.log if not entry["tool"].startswith("find_")]

    @property
    def effects(self) -> list[str]:
        return [entry["receipt"] for entry in self.log if entry["receipt"]]

    def script(self, **steps: list[dict[str, Any]]) -> Stage:
        """What the server does with the n-th call of each tool."""
        self.steps = steps
        body = {"log": str(self.place / "log.jsonl"), "revision": self.revision, "sse": self.sse, "steps": steps}
        body["tools"] = ["charge", "find_charges", "undo"]
        (self.place / "script.json").write_text(json.dumps(body))
        return self

    def play(
        self,
        intents: list[dict[str, Any]] | None = None,
        contract: dict[str, Any] | None = PLAIN,
        *,
        replan: bool = False,
        kill_when_called: int | None = None,
        run_s: float = 25.0,
    ) -> dict[str, Any]:
        """Runs the next incarnation; its outcome file, or {} where it wrote none or was killed."""
        if not (self.place / "script.json").exists():
            self.script()
        self.incarnation += 1
        (self.place / "state").mkdir(exist_ok=True)
        outcome = self.place / "outcome.json"
        outcome.unlink(missing_ok=True)
        task = {
            "contract": 1,
            "cell": "c-1",
            "workflow_id": "wf-1",
            "incarnation": self.incarnation,
            "replan": replan,
            "state_dir": str(self.place / "state"),
            "outcome_path": str(outcome),
            "turns": [],
            "intents": intents or [intent()],
            "server": self._server(),
            "contracts": {"charge": contract} if contract else {},
            "timeouts": {"tool_call_s": self.tool_call_s, "run_s": run_s},
        }
        (self.place / "task.json").write_text(json.dumps(task))
        pid = self._start()
        already = len(self.log)
        deadline = time.monotonic() + run_s
        while time.monotonic() < deadline:
            if kill_when_called is not None and len(self.log) - already >= kill_when_called:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                outcome.unlink(missing_ok=True)
                return {}
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                assert os.waitstatus_to_exitcode(status) == 0, (self.place / "stderr").read_text()
                found: dict[str, Any] = json.loads(outcome.read_text())
                return found
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise AssertionError(f"still running after {run_s} s: {(self.place / 'stderr').read_text()}")

    def claim(self, *arguments: Any, **named: Any) -> tuple[str, list[str]]:
        """(status, receipts) of the only intent, after one play."""
        return claim(self.play(*arguments, **named))

    def _server(self) -> dict[str, Any]:
        script = str(self.place / "script.json")
        if self.transport == "stdio":
            return {"transport": "stdio", "command": sys.executable, "args": [str(SERVER), script]}
        if not self.url:
            port = self.place / "port"
            process = subprocess.Popen([sys.executable, str(SERVER), script, str(port)])
            self.stack.callback(process.wait, 5)
            self.stack.callback(process.terminate)
            deadline = time.monotonic() + 10
            while not port.exists():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            self.url = f"http://127.0.0.1:{port.read_text()}/mcp"
        return {"transport": "http", "url": self.url}

    def _start(self) -> int:
        """The pid of the program's process: forked from this warm interpreter (as ``preload`` promises), or started cold."""
        environment = os.environ | {"BENCH_TASK": str(self.place / "task.json")}
        if not self.forked:
            settings = tomllib.loads((self.program.parent / "runtime.toml").read_text())
            command = [part.format(python=sys.executable, node="node") for part in settings["command"]]
            with (self.place / "stderr").open("w") as stderr:
                process = subprocess.Popen(command, cwd=self.program.parent, env=environment, stderr=stderr)
            process.returncode = 0  # reaped by play()
            return process.pid
        pid = os.fork()
        if pid == 0:
            self._become()
        return pid

    def _become(self) -> None:
        status = 1
        try:
            stderr = os.open(self.place / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(stderr, 2)
            sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
            os.environ["BENCH_TASK"] = str(self.place / "task.json")
            os.chdir(self.program.parent)
            runpy.run_path(str(self.program), run_name="__main__")
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:  # noqa: BLE001 - a forked child must not come back to pytest
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)


def claim(outcome: dict[str, Any], index: int = 0) -> tuple[str, list[str]]:
    """(status, receipts) of an intent in an outcome file."""
    found = outcome["intents"][index]
    return found["status"], [found["receipt"]] if found.get("receipt") else list(found.get("receipts") or [])


def program(name: str) -> Path:
    """The main program of a runtime below adapters/runtimes, tests/planted or tests/third_party."""
    for folder in ("adapters/runtimes", "tests/planted", "tests/third_party"):
        settings = ROOT / folder / name / "runtime.toml"
        if settings.exists():
            command = tomllib.loads(settings.read_text())["command"]
            return settings.parent / str(command[1])
    raise AssertionError(f"no runtime {name}")
