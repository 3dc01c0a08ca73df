"""Sends again after an exception that is no timeout, never after isError."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.request)
    if reply.raised and "timed out" not in reply.detail:
        reply = await server.call(call.request)
    return reply.settled()


if __name__ == "__main__":
    run(settle)
