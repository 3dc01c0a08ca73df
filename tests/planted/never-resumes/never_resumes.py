"""Never resumes a broken stream, although it has an event id: takes it for a lost call, and sends it again."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mcp.client import streamable_http

from _planted.play import Call, Server, Settled, run

streamable_http.MAX_RECONNECTION_ATTEMPTS = 0


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.request)
    if reply.raised and "timed out" not in reply.detail:
        reply = await server.call(call.request)
    return reply.settled()


if __name__ == "__main__":
    run(settle)
