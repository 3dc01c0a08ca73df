"""Takes two authorised calls with equal arguments for one, and claims one receipt for both."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, once, run

settled: dict[str, Settled] = {}


async def settle(server: Server, call: Call) -> Settled:
    content = json.dumps([call.tool, call.arguments], sort_keys=True)
    if content not in settled:
        settled[content] = await once(server, call)
    return settled[content]


if __name__ == "__main__":
    run(settle)
