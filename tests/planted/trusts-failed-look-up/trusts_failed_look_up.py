"""Looks up what was not answered, and sends again unless it was found: also where the look-up itself failed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, find, run


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.referenced)
    if reply.ok:
        return reply.settled()
    found = await find(server, call)
    if found.every:
        return Settled("committed", found.known)
    return (await server.call(call.referenced)).settled()


if __name__ == "__main__":
    run(settle)
