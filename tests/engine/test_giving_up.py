"""What counts as giving up, where no cancel says so."""

from __future__ import annotations

from pathlib import Path

from benchmark.history import Kind
from benchmark.results import Verdict
from tests.engine.stage import name, swept

HANGS_UP = """
import json, os, subprocess, sys, time
task = json.load(open(os.environ["BENCH_TASK"]))
command = [task["server"]["command"], *task["server"]["args"]]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def say(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
    server.stdin.write(json.dumps(message).encode() + b"\\n")
    server.stdin.flush()
    return server.stdout.readline() if number == 1 else None


client = {"name": "hangs-up", "version": "1"}
say("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}, 1)
say("notifications/initialized", {})
(call,) = task["intents"][0]["calls"]
say("tools/call", {"name": call["tool"], "arguments": call["arguments"]}, 2)
time.sleep(task["timeouts"]["tool_call_s"])
server.stdin.close()
time.sleep(4 * task["timeouts"]["tool_call_s"])  # long beyond the conductor's patience with who has not given up
server.kill()
told = [{"id": intent["id"], "status": "error", "receipt": None} for intent in task["intents"]]
with open(task["outcome_path"], "w") as file:
    json.dump({"contract": 1, "intents": told}, file)
"""

RUNTIME = """
name = "hangs-up"
title = "Ends its connection when a call takes too long, and waits for the server's end"
kind = "mcp-client"
command = ["{python}", "hangs_up.py"]

[capabilities]
model = false
resumes = false
transports = ["stdio"]
protocols = ["2025-11-25"]
contracts = false
preload = false
"""


def test_who_hangs_up_over_stdio_has_given_up(tmp_path: Path) -> None:
    folder = tmp_path / "hangs-up"
    folder.mkdir()
    (folder / "hangs_up.py").write_text(HANGS_UP)
    (folder / "runtime.toml").write_text(RUNTIME)
    cell = name("after-timeout", variant="before-retry", manifestation="silence", pair="charge-card.find-only")
    ((result, history),) = swept(folder, [cell]).values()
    assert history is not None
    (sign,) = history.of(Kind.GAVE_UP)
    assert (sign.by, result.verdict) == ("disconnect", Verdict.UNRESOLVED), result.reason
