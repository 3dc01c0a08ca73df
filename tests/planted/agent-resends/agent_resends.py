"""An agent that sends a call again when it ended badly; its model asked once, and is told of the last attempt only."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "agents"))

from _agent.loop import Reply, Request, Server, run


async def make(server: Server, request: Request) -> Reply:
    reply = await server.call(request)
    return reply if reply.ok else await server.call(request)


if __name__ == "__main__":
    run(make)
