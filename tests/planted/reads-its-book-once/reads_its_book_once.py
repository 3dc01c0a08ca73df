"""Notes every call before it sends it, looks up what it finds noted, but never sees what another life of its own notes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, Task, find, run

BOOK = Task.load().state_dir / "sent"
NOTED = frozenset(BOOK.read_text().split()) if BOOK.exists() else frozenset()


async def settle(server: Server, call: Call) -> Settled:
    if call.effect_id not in NOTED:
        with BOOK.open("a") as book:
            book.write(call.effect_id + "\n")
        reply = await server.call(call.referenced)
        if reply.ok:
            return reply.settled()
    found = await find(server, call)
    return Settled("committed", found.known) if found.every else Settled("unresolved")


if __name__ == "__main__":
    run(settle)
