"""Sends every call, and another one for something that nobody asked for."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, once, run


async def settle(server: Server, call: Call) -> Settled:
    name, value = next(iter(call.arguments.items()))
    await server.call(call.request.with_argument(name, [*value, "stray"] if isinstance(value, list) else f"{value}-stray"))
    return await once(server, call)


if __name__ == "__main__":
    run(settle)
