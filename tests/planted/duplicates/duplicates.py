"""Sends every call twice, whatever came of the first."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    await server.call(call.request)
    return (await server.call(call.request)).settled()


if __name__ == "__main__":
    run(settle)
