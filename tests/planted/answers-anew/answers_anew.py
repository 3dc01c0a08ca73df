"""Asked for input, asks its user and then makes a new call, instead of sending the one that was asked about again."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mcp import types

from _planted.play import Call, Server, Settled, run

LATER = "the user is asked first"


async def put_off(context: object, params: object) -> types.ErrorData:
    return types.ErrorData(code=types.INTERNAL_ERROR, message=LATER)


async def settle(server: Server, call: Call) -> Settled:
    reply = await server.call(call.request)
    if LATER in reply.detail:
        reply = await server.call(call.request)
    return reply.settled()


if __name__ == "__main__":
    run(settle, answer=put_off)
