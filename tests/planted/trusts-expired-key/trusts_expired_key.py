"""Sends once more with the same key, also after a restart, however old the key is."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.keyed)
    if not reply.ok:
        reply = await server.call(call.keyed)
    return reply.settled()


if __name__ == "__main__":
    run(settle)
