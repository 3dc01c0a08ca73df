"""An MCP server over stdio with one tool, ``charge``: it appends a line to LEDGER, and only then may something go wrong.

``python ledger_server.py LEDGER FAULT``, standard library only. FAULT: ``none``; ``die`` or ``die-once``: SIGKILL to itself
after the line is on disk; ``hang`` or ``hang-once``: never answer; ``error`` or ``error-once``: say that it failed, as a
server does that lost its own upstream's answer. ``…-once``: only at the first call that LEDGER sees.
"""

import json
import os
import signal
import sys
from pathlib import Path

TOOL = {
    "name": "charge",
    "description": "Charge the customer's card.",
    "inputSchema": {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]},
}


def charge(ledger: Path, fault: str) -> dict[str, object] | None:
    """Make the effect; then answer, or not."""
    with ledger.open("a") as file:
        file.write("charged\n")
        file.flush()
        os.fsync(file.fileno())
    struck = not fault.endswith("-once") or len(ledger.read_text().splitlines()) == 1
    if fault.startswith("die") and struck:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault.startswith("hang") and struck:
        return None
    failed = fault.startswith("error") and struck
    return {"content": [{"type": "text", "text": "no answer from the bank" if failed else "charged"}], "isError": failed}


def answer(message: dict[str, object], ledger: Path, fault: str) -> dict[str, object] | None:
    """The answer to one message; None: there is none."""
    if "id" not in message:
        return None
    head = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "initialize":
            result: dict[str, object] | None = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "ledger", "version": "1"},
            }
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [TOOL]}
        case "tools/call":
            result = charge(ledger, fault)
        case _:
            return head | {"error": {"code": -32601, "message": "method not found"}}
    return None if result is None else head | {"result": result}


def main() -> None:
    """Serve until the end of file."""
    ledger, fault = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin:
        said = answer(json.loads(line), ledger, fault)
        if said is not None:
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
