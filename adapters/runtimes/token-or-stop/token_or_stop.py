"""token-or-stop: re-send where the provider takes a token, otherwise stop. README.md states the policy."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio

from _baseline.attempts import resend_once
from _baseline.driver import run
from _baseline.outcome import Settled
from _baseline.reply import Reply
from _baseline.server import Server
from _baseline.task import Call, Contract, Task

RETRY_AFTER_S = 0.2
"""Wait before the re-send after ``in_progress``, where the answer does not say how long."""
LONGEST_WAIT_S = 1.0


class TokenOrStop:
    """The policy, and its one durable mark."""

    def __init__(self, task: Task) -> None:
        self._marks = task.state_dir / "dispatched"

    async def settle(self, server: Server, call: Call) -> Settled:
        contract = call.contract
        if contract is None:
            return await resend_once(server, call.request)
        has_key = contract.key is not None and contract.key.protects
        if not has_key:
            if self._marked(call):
                return Settled("unresolved", (), f"{call.tool} was sent before the restart and has no key: did it happen?")
            self._mark(call)
        reply = await server.call(call.keyed)
        settled = judge(reply, contract, has_key)
        if settled is None:
            await anyio.sleep(pause(reply, contract))
            reply = await server.call(call.keyed)
            settled = judge(reply, contract, has_key)
        return settled or Settled("error", (), reply.detail)

    def _marked(self, call: Call) -> bool:
        return (self._marks / call.effect_id).exists()

    def _mark(self, call: Call) -> None:
        """Durable when it returns: the file, and the entry in its folder."""
        self._marks.mkdir(parents=True, exist_ok=True)
        for path, flags in ((self._marks / call.effect_id, os.O_CREAT | os.O_WRONLY), (self._marks, os.O_RDONLY)):
            descriptor = os.open(path, flags, 0o600)
            os.fsync(descriptor)
            os.close(descriptor)


def judge(reply: Reply, contract: Contract, has_key: bool) -> Settled | None:
    """What the reply settles; None: a re-send is right."""
    if reply.ok:
        return reply.settled()
    if reply.tells(contract, "repeat_refused"):
        return Settled("committed" if reply.receipts else "unresolved", reply.receipts, "a repeat was refused")
    if any(reply.tells(contract, answer) for answer in ("mismatch", "unavailable", "stalled")):
        return Settled("unresolved", (), reply.detail)
    if has_key or reply.tells(contract, "not_executed"):
        return None
    return Settled("unresolved", (), f"no key, so it is not sent again; did it happen? {reply.detail}")


def pause(reply: Reply, contract: Contract) -> float:
    """Seconds to wait before the re-send."""
    if not reply.tells(contract, "in_progress"):
        return 0.0
    asked = reply.content.get("retry_after_s", RETRY_AFTER_S)
    return min(float(asked), LONGEST_WAIT_S) if isinstance(asked, int | float) else RETRY_AFTER_S


if __name__ == "__main__":
    run(lambda task: TokenOrStop(task).settle)
