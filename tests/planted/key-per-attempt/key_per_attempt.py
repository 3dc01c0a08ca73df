"""Sends once more, with a key that names the attempt instead of the effect."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.keyed)
    if not reply.ok:
        reply = await server.call(replace(call, workflow=f"{call.workflow}-again").keyed)
    return reply.settled()


if __name__ == "__main__":
    run(settle)
