"""keyed-blind-retry: blind-retry with the same key in both attempts, where the contract has one. See README.md."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _baseline.attempts import resend_once
from _baseline.driver import run
from _baseline.outcome import Settled
from _baseline.server import Server
from _baseline.task import Call


async def settle(server: Server, call: Call) -> Settled:
    return await resend_once(server, call.keyed)


if __name__ == "__main__":
    run(lambda task: settle)
