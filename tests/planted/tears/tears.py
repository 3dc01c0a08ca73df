"""Makes all effects of a call and undoes the last of them with the tool `undo`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Request, Server, Settled, once, run


async def settle(server: Server, call: Call) -> Settled:
    settled = await once(server, call)
    if len(settled.receipts) > 1:
        await server.call(Request("undo", {"receipt": settled.receipts[-1]}))
        return replace(settled, status="unresolved", receipts=settled.receipts[:-1])
    return settled


if __name__ == "__main__":
    run(settle)
