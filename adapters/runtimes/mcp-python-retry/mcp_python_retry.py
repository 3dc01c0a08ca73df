"""mcp-python-retry: the stock SDK client, and one retry where it raised. README.md states the policy."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _baseline.driver import run
from _baseline.outcome import Settled
from _baseline.server import Server
from _baseline.task import Call


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.request)
    if reply.raised:
        reply = await server.call(call.request)
    return reply.settled()


if __name__ == "__main__":
    run(lambda task: settle)
