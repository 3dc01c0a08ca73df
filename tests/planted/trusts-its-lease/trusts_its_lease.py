"""Works only under a lease; leaves the work of a live one to its holder, does that of an expired one all over again."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, Task, once, run

LEASE_S = 2.5
LEASE = Task.load().state_dir / "lease"
HELD = LEASE.exists() and time.time() < float(LEASE.read_text()) + LEASE_S


async def settle(server: Server, call: Call) -> Settled:
    if HELD:
        return Settled("unresolved", (), "another holds the lease")
    LEASE.write_text(str(time.time()))
    return await once(server, call)


if __name__ == "__main__":
    run(settle)
