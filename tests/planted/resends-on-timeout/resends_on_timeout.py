"""Sends again after its own timeout, and never else."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.request)
    if reply.raised and "timed out" in reply.detail:
        reply = await server.call(call.request)
    return reply.settled()


if __name__ == "__main__":
    run(settle)
