"""Sends every call twice and undoes the second effect with the tool `undo`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Request, Server, Settled, once, run


async def settle(server: Server, call: Call) -> Settled:
    settled = await once(server, call)
    for receipt in (await server.call(call.request)).receipts:
        await server.call(Request("undo", {"receipt": receipt}))
    return settled


if __name__ == "__main__":
    run(settle)
