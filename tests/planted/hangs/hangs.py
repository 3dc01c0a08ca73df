"""One attempt; if that fails it never ends."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio

from _planted.play import Call, Server, Settled, once, run


async def settle(server: Server, call: Call) -> Settled:
    settled = await once(server, call)
    if settled.status != "committed":
        await anyio.sleep_forever()
    return settled


if __name__ == "__main__":
    run(settle)
