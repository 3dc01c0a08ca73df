"""lookup-or-stop: never re-send; look once by reference, otherwise stop. README.md states the policy."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _baseline.attempts import resend_once
from _baseline.driver import Policy, run
from _baseline.lookup import find
from _baseline.outcome import Settled
from _baseline.server import Server
from _baseline.task import Call, Task


def policy(task: Task) -> Policy:
    async def settle(server: Server, call: Call) -> Settled:
        if call.contract is None:
            return await resend_once(server, call.request)
        if task.incarnation > 1:
            return await look(server, call, "it may have been sent before the restart")
        reply = await server.call(call.referenced)
        return reply.settled() if reply.ok else await look(server, call, reply.detail)

    return settle


async def look(server: Server, call: Call, why: str) -> Settled:
    """One look-up at once: found is ``committed``, everything else ``unresolved``."""
    if call.contract is None or not call.contract.lookup_by_reference:
        return Settled("unresolved", (), f"{why}; it cannot be looked up: did it happen?")
    found = await find(server, call)
    if found.every:
        return Settled("committed", found.known, f"{why}; found by its reference")
    return Settled("unresolved", found.known, f"{why}; {found.detail or 'not found by its reference'}: did it happen?")


if __name__ == "__main__":
    run(policy)
