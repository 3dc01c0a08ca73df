"""Leaves out the last intent and truthfully says that it did not happen."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, Task, once, run


async def settle(server: Server, call: Call) -> Settled:
    last = Task.load().intents[-1].id
    return Settled("failed") if call.intent == last else await once(server, call)


if __name__ == "__main__":
    run(settle)
