"""Claims `committed` whatever came of its one attempt."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    return Settled("committed", (await server.call(call.request)).receipts)


if __name__ == "__main__":
    run(settle)
